//! Who is eligible at each priority, and how much of the traffic each priority gets.
//!
//! Arithmetic only: counts in, loads out. [`Tally`] counts the hosts of a priority by health;
//! [`envoy`] and [`native`] turn the tallies of all priorities into [`Loads`].

pub(crate) mod envoy;
pub(crate) mod native;
mod tally;

pub use tally::Tally;

/// How the traffic divides among the priorities, in units of the behaviour's own scale.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Loads {
    /// For each priority, what its healthy hosts get.
    pub(crate) healthy: Vec<u64>,
    /// For each priority, what its degraded hosts get.
    pub(crate) degraded: Vec<u64>,
    /// For each priority, whether it sends to all its hosts whatever their health.
    pub(crate) panic: Vec<bool>,
    /// Healthy hosts over all priorities: how many picks may be peeked ahead.
    pub(crate) healthy_hosts: u64,
}

impl Loads {
    fn resize(&mut self, priorities: usize) {
        self.healthy.resize(priorities, 0);
        self.degraded.resize(priorities, 0);
        self.panic.resize(priorities, false);
    }
}

/// What decides about availability besides the hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rules {
    /// Percent by which a priority counts as more available than it is.
    pub(crate) overprovisioning_factor: u32,
    /// Availability in weight instead of in hosts.
    pub(crate) weighted: bool,
    /// Percent of available hosts below which a priority panics.
    pub(crate) panic_threshold: f64,
}

/// Gives out `scale` in order: each amount is cut to what is left, and what is left in the end
/// goes to the first priority that has any of its kind, healthy before degraded.
///
/// `part(availability)` is what an availability deserves of the whole.
fn distribute(
    loads: &mut Loads,
    availability: &[(u64, u64)],
    scale: u64,
    part: impl Fn(u64) -> u64,
) {
    let mut left = scale;
    let mut take = |wanted: u64| {
        let amount = wanted.min(left);
        left -= amount;
        amount
    };
    for (load, &(healthy, _)) in loads.healthy.iter_mut().zip(availability) {
        *load = take(part(healthy));
    }
    for (load, &(_, degraded)) in loads.degraded.iter_mut().zip(availability) {
        *load = take(part(degraded));
    }
    if let Some(first) = availability.iter().position(|&(healthy, _)| healthy > 0) {
        loads.healthy[first] += left;
    } else if let Some(first) = availability.iter().position(|&(_, degraded)| degraded > 0) {
        loads.degraded[first] += left;
    }
}

/// Spreads all traffic over all priorities by `hosts`, the remainder to the first that has any;
/// all of it to priority 0 when none has. The degraded loads are left alone in that last case.
fn spread_by_hosts(loads: &mut Loads, hosts: &[u64], scale: u64) {
    let total: u64 = hosts.iter().sum();
    if total == 0 {
        loads.healthy[0] = scale;
        return;
    }
    let mut left = scale;
    for ((healthy, degraded), &hosts) in
        loads.healthy.iter_mut().zip(&mut loads.degraded).zip(hosts)
    {
        *healthy = scaled(scale, hosts, total);
        *degraded = 0;
        left -= *healthy;
    }
    if let Some(first) = hosts.iter().position(|&hosts| hosts > 0) {
        loads.healthy[first] += left;
    }
}

/// `scale * part / whole`, rounded down; `part` is at most `whole`.
#[allow(clippy::cast_possible_truncation)] // at most `scale`
fn scaled(scale: u64, part: u64, whole: u64) -> u64 {
    (u128::from(scale) * u128::from(part) / u128::from(whole)) as u64
}

#[cfg(test)]
mod tests;
