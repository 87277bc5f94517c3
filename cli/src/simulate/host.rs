//! One host: how many requests it takes, and what it measures of them.

use super::agenda::Load;
use super::units::{SECOND, Time};
use super::written::Reports;

/// A window is counted in so many parts; the oldest one counts for what the window still covers.
const PARTS: usize = 100;

/// See the module.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) address: String,
    pub(crate) zone: usize,
    pub(crate) capacity: f64,
    /// It serves.
    pub(crate) up: bool,
    /// The proxies know that it does not.
    pub(crate) ejected: bool,
    /// Requests that it may take at once: at most those of one second.
    tokens: f64,
    filled_ns: u64,
    rate: Rate,
    /// The rate that its utilization comes from.
    busy: Rate,
    tells_rps: bool,
    /// Requests of the present second.
    pub(crate) requests: u32,
}

impl Host {
    /// A host that has served nothing yet.
    pub(crate) fn new(address: String, zone: usize, capacity: f64, reports: &Reports) -> Self {
        Self {
            address,
            zone,
            capacity,
            up: true,
            ejected: false,
            tokens: capacity.max(1.0),
            filled_ns: 0,
            rate: Rate::new(reports.window),
            busy: Rate::new(reports.utilization_window.unwrap_or(reports.window)),
            tells_rps: reports.rps,
            requests: 0,
        }
    }

    /// Takes a request; says whether it is within the host's capacity.
    pub(crate) fn serve(&mut self, now_ns: u64) -> bool {
        self.requests += 1;
        self.rate.count(now_ns);
        self.busy.count(now_ns);
        let passed = Time(now_ns - self.filled_ns).seconds();
        self.filled_ns = now_ns;
        self.tokens = (self.tokens + passed * self.capacity).min(self.capacity.max(1.0));
        let within = self.tokens >= 1.0;
        if within {
            self.tokens -= 1.0;
        }
        within
    }

    /// What it measures now.
    pub(crate) fn load(&mut self, now_ns: u64) -> Load {
        let rps = if self.tells_rps { self.rate.rps(now_ns) } else { 0.0 };
        Load { rps, utilization: self.busy.rps(now_ns) / self.capacity }
    }

    /// Requests of the present second by its capacity.
    pub(crate) fn utilization(&self) -> f64 {
        f64::from(self.requests) / self.capacity
    }

    /// Starts anew, with nothing measured.
    pub(crate) fn restart(&mut self) {
        self.up = true;
        self.rate = self.rate.afresh();
        self.busy = self.busy.afresh();
    }
}

/// Requests per second over a window that slides.
#[derive(Debug)]
struct Rate {
    part_ns: u64,
    /// One more than there are in a window: the oldest one is partly outside.
    counts: [u32; PARTS + 1],
    /// The number of the newest part since the start.
    newest: u64,
    sum: u32,
}

impl Rate {
    fn new(window: Time) -> Self {
        Self { part_ns: window.0 / PARTS as u64, counts: [0; PARTS + 1], newest: 0, sum: 0 }
    }

    /// The same with nothing counted.
    fn afresh(&self) -> Self {
        Self { part_ns: self.part_ns, counts: [0; PARTS + 1], newest: 0, sum: 0 }
    }

    fn count(&mut self, now_ns: u64) {
        self.slide(now_ns);
        let place = Self::place(self.newest);
        self.counts[place] += 1;
        self.sum += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "parts of a window are short")]
    fn rps(&mut self, now_ns: u64) -> f64 {
        self.slide(now_ns);
        let oldest = self.counts[Self::place(self.newest + 1)];
        let outside = (now_ns % self.part_ns) as f64 / self.part_ns as f64;
        let inside = f64::from(self.sum) - outside * f64::from(oldest);
        inside * SECOND as f64 / (self.part_ns * PARTS as u64) as f64
    }

    fn slide(&mut self, now_ns: u64) {
        let now = now_ns / self.part_ns;
        if now > self.newest + PARTS as u64 {
            (self.counts, self.sum, self.newest) = ([0; PARTS + 1], 0, now);
        }
        while self.newest < now {
            self.newest += 1;
            let place = Self::place(self.newest);
            self.sum -= std::mem::take(&mut self.counts[place]);
        }
    }

    fn place(part: u64) -> usize {
        usize::try_from(part % (PARTS as u64 + 1)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(capacity: f64) -> Host {
        Host::new("a".to_owned(), 0, capacity, &Reports::default())
    }

    #[test]
    fn a_utilization_may_lag_behind_the_rate_and_the_rate_may_be_left_out() {
        let window = |seconds| Time(seconds * SECOND);
        let lags = Reports {
            window: window(1),
            utilization_window: Some(window(10)),
            ..Reports::default()
        };
        let silent = Reports { rps: false, ..lags };
        for (reports, expected) in [(lags, 50.0), (silent, 0.0)] {
            let mut host = Host::new("a".to_owned(), 0, 100.0, &reports);
            for request in 0..100 {
                assert!(host.serve(10 * SECOND + request * SECOND / 50));
            }
            let Load { rps, utilization } = host.load(12 * SECOND);
            assert!((rps - expected).abs() < 1.0, "{rps}");
            assert!((utilization - 0.1).abs() < 0.01, "100 requests in 10 s: {utilization}");
        }
    }

    #[test]
    fn a_steady_stream_measures_as_its_rate() {
        let mut host = host(100.0);
        for request in 0..1000 {
            let now_ns = request * SECOND / 50;
            assert!(host.serve(now_ns));
            let Load { rps, utilization } = host.load(now_ns);
            if now_ns > 5 * SECOND {
                assert!((rps - 50.0).abs() < 0.3, "{rps}");
                assert!((utilization - 0.5).abs() < 0.003, "{utilization}");
            }
        }
        // Half of the window is empty, then all of it.
        let end_ns = 999 * SECOND / 50;
        assert!((host.load(end_ns + 5 * SECOND / 2).rps - 25.0).abs() < 0.3);
        assert!(host.load(end_ns + 60 * SECOND).rps.abs() < 1e-9);
    }

    #[test]
    fn requests_beyond_the_capacity_are_told_apart() {
        let mut host = host(10.0);
        let beyond = (0..200).filter(|request| !host.serve(request * SECOND / 20)).count();
        // 20 a second for 10 s, of which 10 a second fit and 10 more at the start.
        assert!((89..=91).contains(&beyond), "{beyond}");
        assert!(host.load(199 * SECOND / 20).utilization > 1.9);
    }
}
