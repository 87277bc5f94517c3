//! What one run leaves behind: figures of every second.

use super::proxy::Route;

/// All seconds of one run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Record {
    pub(crate) seconds: Vec<Second>,
    /// Requests that came, with and without a host.
    pub(crate) arrived: u64,
    /// The mean utilization of each host after the warm-up, while it was up.
    pub(crate) hosts: Vec<Mean>,
}

/// What happened in one second, by index of zones and proxies.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Second {
    pub(crate) zones: Vec<ZoneSecond>,
    pub(crate) proxies: Vec<ProxySecond>,
    /// The utilization of each host that is up; empty in scenarios that do not show hosts.
    pub(crate) hosts: Vec<Option<f64>>,
}

/// A zone's part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ZoneSecond {
    /// Requests that its hosts took.
    pub(crate) requests: u32,
    /// Of those, the ones beyond the capacity of their host.
    pub(crate) overload: u32,
    /// Requests that went to a host that was down.
    pub(crate) failed: u32,
    /// What its hosts that are up can take, at the end of the second.
    pub(crate) capacity: f64,
    /// The mean of what its hosts that are up measure.
    pub(crate) measured: f64,
    /// The utilization of its busiest host.
    pub(crate) busiest: f64,
}

/// A proxy's part of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ProxySecond {
    /// Requests by zone.
    pub(crate) requests: Vec<u32>,
    /// Requests that found no host.
    pub(crate) no_host: u32,
    /// The part that the engine means to send to each zone at the end of the second; `None` for a
    /// zone that it does not have.
    pub(crate) intended: Vec<Option<f64>>,
    /// How that comes about.
    pub(crate) routes: Vec<Route>,
}

impl ZoneSecond {
    /// Requests by capacity; `None` while no host is up.
    pub(crate) fn utilization(&self) -> Option<f64> {
        (self.capacity > 0.0).then(|| f64::from(self.requests) / self.capacity)
    }
}

impl ProxySecond {
    /// The part of its requests that went to this zone; `None` without any.
    pub(crate) fn share(&self, zone: usize) -> Option<f64> {
        let all: u32 = self.requests.iter().sum();
        (all > 0).then(|| f64::from(self.requests[zone]) / f64::from(all))
    }

    /// The part that the engine means to send to this zone; `None` if it has no zone at all.
    pub(crate) fn intended_share(&self, zone: usize) -> Option<f64> {
        let any = self.intended.iter().any(Option::is_some);
        any.then(|| self.intended[zone].unwrap_or(0.0))
    }
}

impl Second {
    /// A second in which nothing has happened yet.
    pub(crate) fn new(zones: usize, proxies: usize) -> Self {
        let proxy = ProxySecond { requests: vec![0; zones], ..ProxySecond::default() };
        let zones = vec![ZoneSecond::default(); zones];
        Self { zones, proxies: vec![proxy; proxies], hosts: Vec::new() }
    }
}

/// A mean that grows, and how values lie around it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Mean {
    sum: f64,
    squares: f64,
    count: u32,
}

impl Mean {
    /// Takes in one more value.
    pub(crate) fn add(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
        self.count += 1;
    }

    /// The mean, if there is one.
    pub(crate) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    /// The standard deviation, if there is one.
    pub(crate) fn deviation(&self) -> Option<f64> {
        let mean = self.value()?;
        Some((self.squares / f64::from(self.count) - mean * mean).max(0.0).sqrt())
    }
}
