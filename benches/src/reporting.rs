//! Load reports to measure with, and what to compare the engine's records with: a mutex for each
//! host.

use std::sync::Mutex;

use plimsoll::config::{ClientSideWeightedRoundRobin, Policy};
use plimsoll::orca::{Headers, LoadReport, MetricNames, Parser};

/// A moment after the blackout of hosts that reported at 1 s.
pub const NOW_NS: u64 = 20_000_000_000;

/// The metric that is the utilization of [`Metrics::Named`].
const QUEUE: &str = "queue";

/// The three metrics of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metrics {
    /// `cpu_utilization`, `rps_fractional` and `eps`.
    Scalar,
    /// The same, with all the digits that a double has.
    Long,
    /// `cpu_utilization`, `rps_fractional` and `named_metrics.queue`, which is the utilization.
    Named,
}

/// The two forms of a report that are read without allocating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `endpoint-load-metrics: TEXT `
    Text,
    /// `endpoint-load-metrics-bin`
    Binary,
}

impl Form {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self == Self::Text { "TEXT" } else { "binary" }
    }

    /// The value of the header.
    #[must_use]
    pub fn value(self, report: &LoadReport) -> Vec<u8> {
        if self == Self::Text { text(report) } else { binary(report) }
    }

    /// What a response has with such a value.
    #[must_use]
    pub fn headers(self, value: &[u8]) -> Headers<'_> {
        match self {
            Self::Text => Headers { text: Some(value), binary: None },
            Self::Binary => Headers { text: None, binary: Some(value) },
        }
    }
}

/// Client-side weighted round robin that goes by these metrics, all other settings as they are.
#[must_use]
pub fn policy(metrics: Metrics) -> Policy {
    Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin {
        metric_names_for_computing_utilization: names(metrics),
        ..ClientSideWeightedRoundRobin::default()
    })
}

fn names(metrics: Metrics) -> Vec<String> {
    if metrics == Metrics::Named { vec![format!("named_metrics.{QUEUE}")] } else { Vec::new() }
}

/// What the host of this number reports: numbers of one to five digits.
#[must_use]
pub fn report(metrics: Metrics, host: u32) -> LoadReport {
    let number = |factor: u32, below: u32| host.wrapping_mul(factor) % below;
    let hundredths = |number: u32| f64::from(number) / 100.0;
    let mut report = LoadReport {
        cpu_utilization: hundredths(number(37, 90) + 10),
        rps_fractional: f64::from(number(7_919, 99_990) + 1) / 10.0,
        ..LoadReport::default()
    };
    match metrics {
        Metrics::Scalar => report.eps = hundredths(number(53, 200)),
        Metrics::Named => {
            report.named_metrics.insert(QUEUE.to_owned(), hundredths(number(61, 90) + 5));
        }
        Metrics::Long => {
            report.cpu_utilization /= 1.1;
            report.rps_fractional *= 1.1;
            report.eps = hundredths(number(53, 200) + 1) / 1.1;
        }
    }
    report
}

fn text(report: &LoadReport) -> Vec<u8> {
    let LoadReport { cpu_utilization, rps_fractional, eps, named_metrics, .. } = report;
    let start = format!("TEXT cpu_utilization={cpu_utilization},rps_fractional={rps_fractional}");
    let last = match named_metrics.iter().next() {
        Some((name, value)) => format!(",named_metrics.{name}={value}"),
        None => format!(",eps={eps}"),
    };
    (start + &last).into_bytes()
}

/// The message in base64.
fn binary(report: &LoadReport) -> Vec<u8> {
    let mut message = Vec::new();
    double(&mut message, 1, report.cpu_utilization);
    double(&mut message, 6, report.rps_fractional);
    if report.eps != 0.0 {
        double(&mut message, 7, report.eps);
    }
    for (name, &value) in &report.named_metrics {
        let mut entry = vec![0x0a, short(name.len())];
        entry.extend(name.as_bytes());
        double(&mut entry, 2, value);
        message.extend([0x42, short(entry.len())]);
        message.extend(entry);
    }
    base64(&message)
}

/// A field of eight bytes.
fn double(message: &mut Vec<u8>, field: u8, value: f64) {
    message.push(field << 3 | 1);
    message.extend(value.to_le_bytes());
}

/// A length of one byte.
fn short(length: usize) -> u8 {
    u8::try_from(length).ok().filter(|&length| length < 0x80).expect("a short field")
}

/// Without padding, as gRPC sends it.
fn base64(message: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::new();
    for group in message.chunks(3) {
        let byte = |index: usize| usize::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = [18, 12, 6, 0].map(|shift| DIGITS[bits >> shift & 63]);
        text.extend(&digits[..=group.len()]);
    }
    text
}

/// Weights and the times that they were reported at, a mutex for each host: what a balancer is
/// likely to do without an engine. Reports are read and weighed as the engine does it.
#[derive(Debug)]
pub struct Mutexes {
    hosts: Vec<Mutex<(f64, u64)>>,
    weights: Mutex<Vec<f64>>,
}

impl Mutexes {
    /// For so many hosts.
    #[must_use]
    pub fn new(hosts: usize) -> Self {
        let hosts: Vec<_> = (0..hosts).map(|_| Mutex::new((0.0, 0))).collect();
        Self { weights: Mutex::new(vec![0.0; hosts.len()]), hosts }
    }

    /// Reads a report and stores its weight.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn report(&self, host: usize, reader: &mut Reader, headers: Headers<'_>, now_ns: u64) {
        let report = reader.parser.read(headers, None).expect("a good report");
        let (qps, eps) = (report.rps_fractional(), report.eps());
        let weight = qps / (report.utilization(&reader.names, true) + eps / qps);
        self.store(host, weight, now_ns);
    }

    /// Stores a weight.
    ///
    /// # Panics
    ///
    /// If another thread did.
    #[inline]
    pub fn store(&self, host: usize, weight: f64, now_ns: u64) {
        *self.hosts[host].lock().expect("no panic") = (weight, now_ns);
    }

    /// Takes over what was reported in the last three minutes: hosts without a report weigh the
    /// median, none less than a hundredth of the average. Returns the sum.
    ///
    /// # Panics
    ///
    /// If another thread did.
    #[must_use]
    pub fn recompute(&self, now_ns: u64) -> f64 {
        const EXPIRATION_NS: u64 = 180_000_000_000;
        let mut weights = self.weights.lock().expect("no panic");
        for (weight, host) in weights.iter_mut().zip(&self.hosts) {
            let (reported, at_ns) = *host.lock().expect("no panic");
            let is_usable = at_ns > 0 && now_ns.saturating_sub(at_ns) <= EXPIRATION_NS;
            *weight = if is_usable { reported } else { 0.0 };
        }
        let mut known: Vec<f64> = weights.iter().copied().filter(|&weight| weight > 0.0).collect();
        known.sort_unstable_by(f64::total_cmp);
        let median = known.get(known.len() / 2).copied().unwrap_or(1.0);
        weights.iter_mut().filter(|weight| **weight <= 0.0).for_each(|weight| *weight = median);
        let sum: f64 = weights.iter().sum();
        let hosts = u32::try_from(weights.len()).map_or(f64::INFINITY, f64::from);
        weights.iter_mut().for_each(|weight| *weight = weight.max(sum / hosts / 100.0));
        sum
    }

    /// The mean of what the hosts of each locality, so many in a row, reported.
    ///
    /// # Panics
    ///
    /// If another thread did.
    pub fn means(&self, hosts_each: usize) -> Vec<f64> {
        let reported = |host: &Mutex<(f64, u64)>| host.lock().expect("no panic").0;
        let mean = |hosts: &[Mutex<(f64, u64)>]| {
            let length = u32::try_from(hosts.len()).map_or(f64::INFINITY, f64::from);
            hosts.iter().map(reported).sum::<f64>() / length
        };
        self.hosts.chunks(hosts_each).map(mean).collect()
    }
}

/// What reads reports for [`Mutexes`].
#[derive(Debug)]
pub struct Reader {
    parser: Parser,
    names: MetricNames,
}

impl Reader {
    /// By the same metrics as [`policy`].
    #[must_use]
    pub fn new(metrics: Metrics) -> Self {
        Self { parser: Parser::new(), names: MetricNames::new(names(metrics)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_what_was_reported() {
        let mut parser = Parser::new();
        for metrics in [Metrics::Scalar, Metrics::Long, Metrics::Named] {
            for host in 0..1_000 {
                let report = report(metrics, host);
                let read = parser.text(&Form::Text.value(&report)[5..]).unwrap().to_owned_report();
                assert_eq!(read, report);
                assert_eq!(
                    parser.binary(&Form::Binary.value(&report)).unwrap().to_owned_report(),
                    report
                );
            }
        }
    }

    #[test]
    fn mutexes_hold_the_weights_of_the_policy() {
        let mutexes = Mutexes::new(3);
        let mut reader = Reader::new(Metrics::Scalar);
        for (host, rps) in [(0, 10), (1, 20)] {
            let value = format!("TEXT cpu_utilization=0.5,rps_fractional={rps}");
            let headers = Headers { text: Some(value.as_bytes()), ..Headers::default() };
            mutexes.report(host, &mut reader, headers, 1);
        }
        let sum = mutexes.recompute(2);
        assert!((sum - (20.0 + 40.0 + 40.0)).abs() < 1e-9, "{sum}");
        let means = mutexes.means(2);
        assert!((means[0] - 30.0).abs() < 1e-9 && means[1] == 0.0, "{means:?}");
    }
}
