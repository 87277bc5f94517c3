//! Envoy's weights, number for number: doubles, each operation in Envoy's order.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/load_aware_locality_lb.cc#computeSourceWeights

use std::collections::HashMap;
use std::time::Duration;

use super::{Flags, Zone, smoothing};
use crate::config::LoadAware;
use crate::host::Locality;
use crate::rng::splitmix64;
use crate::sync::Arc;

/// What a tick goes by besides the hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    pub(super) alpha: f64,
    pub(super) threshold: f64,
    pub(super) probe: f64,
}

impl Settings {
    /// Envoy's alpha is made of the configured period, however long it really was.
    //= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/config.cc#loadConfig
    pub(crate) fn new(config: &LoadAware) -> Self {
        let period = seconds(config.weight_update_period);
        Self {
            alpha: smoothing(period, seconds(config.smoothing_time_constant)),
            threshold: config.utilization_variance_threshold,
            probe: config.remote_probe_fraction,
        }
    }
}

/// Seconds, after whole milliseconds.
#[allow(clippy::cast_precision_loss)] // exact up to 285 000 years
fn seconds(period: Duration) -> f64 {
    period.as_millis() as f64 / 1000.0
}

/// Smoothed utilizations by locality, for one priority and source.
#[derive(Debug, Clone, Default)]
pub(crate) struct History(HashMap<Arc<Locality>, f64>);

/// What a tick computes, by locality in the order of the input where there are several.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outcome {
    /// In no particular unit; all of them 0 if no host is eligible.
    pub(crate) weights: Vec<f64>,
    /// Smoothed; 0 where nothing has been reported.
    pub(crate) utilizations: Vec<f64>,
    pub(crate) flags: Flags,
    /// Localities that go by what they reported once.
    pub(crate) stale: u64,
}

impl History {
    /// One tick. A locality that is not in `zones` or has no hosts loses its history.
    pub(crate) fn tick(
        &mut self,
        zones: &[Zone<'_>],
        has_local: bool,
        settings: &Settings,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let mut next = HashMap::with_capacity(zones.len());
        for zone in zones {
            let (utilization, is_stale) = self.smooth(zone, settings.alpha);
            if let Some(utilization) = utilization {
                next.insert(Arc::clone(zone.identity), utilization);
            }
            let utilization = utilization.unwrap_or(0.0);
            outcome.utilizations.push(utilization);
            outcome.weights.push(headroom(zone, utilization, is_stale));
            outcome.stale += u64::from(is_stale);
        }
        self.0 = next;
        outcome.decide(zones, has_local, settings);
        outcome
    }

    /// The smoothed utilization, and whether it is an old one. A first sample counts as it is.
    fn smooth(&self, zone: &Zone<'_>, alpha: f64) -> (Option<f64>, bool) {
        if zone.hosts == 0 {
            return (None, false);
        }
        let before = self.0.get(zone.identity).copied();
        match (zone.mean_utilization(), before) {
            (Some(mean), Some(before)) => (Some(alpha * mean + (1.0 - alpha) * before), false),
            (Some(mean), None) => (Some(mean), false),
            (None, before) => (before, before.is_some()),
        }
    }
}

/// Envoy gives a locality whose reports have expired its number of hosts: as if it were idle.
fn headroom(zone: &Zone<'_>, utilization: f64, is_stale: bool) -> f64 {
    let hosts = f64::from(zone.eligible);
    if is_stale { hosts } else { hosts * f64::max(0.0, 1.0 - utilization) }
}

impl Outcome {
    fn decide(&mut self, zones: &[Zone<'_>], has_local: bool, settings: &Settings) {
        if sum(&self.weights) > 0.0 {
            if let Some((local, remotes)) = zones.split_first().filter(|_| has_local) {
                self.compare(local, remotes, settings);
                self.probe(remotes, settings.probe);
            }
        } else if zones.iter().any(|zone| zone.eligible > 0) {
            self.flags.all_overloaded = true;
            self.weights = zones.iter().map(|zone| f64::from(zone.eligible)).collect();
        }
    }

    /// Everything to the local locality, unless it is busier than the others by the threshold.
    fn compare(&mut self, local: &Zone<'_>, remotes: &[Zone<'_>], settings: &Settings) {
        let hosts = count(remotes);
        if local.eligible == 0 || hosts <= 0.0 {
            return;
        }
        let load = remotes.iter().zip(&self.utilizations[1..]);
        let load = load.fold(0.0, |sum, (zone, used)| sum + used * f64::from(zone.eligible));
        if self.utilizations[0] <= load / hosts + settings.threshold {
            self.weights.fill(0.0);
            self.weights[0] = 1.0;
            self.flags.local_preferred = true;
            self.flags.all_local = true;
        } else {
            self.flags.spill_active = true;
        }
    }

    /// Moves what the others lack of `fraction` from the local locality to them.
    fn probe(&mut self, remotes: &[Zone<'_>], fraction: f64) {
        let hosts = count(remotes);
        if hosts <= 0.0 || fraction <= 0.0 {
            return;
        }
        let total = sum(&self.weights);
        let (goal, present) = (total * fraction, total - self.weights[0]);
        if present < goal {
            let moved = (goal - present).min(self.weights[0]);
            self.weights[0] -= moved;
            for (weight, zone) in self.weights[1..].iter_mut().zip(remotes) {
                *weight += moved * f64::from(zone.eligible) / hosts;
            }
            self.flags.probe_active = true;
            self.flags.all_local = false;
        }
    }
}

fn sum(weights: &[f64]) -> f64 {
    weights.iter().fold(0.0, |sum, weight| sum + weight)
}

/// Eligible hosts in all of them.
fn count(zones: &[Zone<'_>]) -> f64 {
    zones.iter().fold(0.0, |sum, zone| sum + f64::from(zone.eligible))
}

/// Running sums, for [`pick`]. A locality that is not in `zones` at the tick weighs 0.
pub(crate) fn prefix_sums(weights: &[f64]) -> Vec<f64> {
    let running = weights.iter().scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    running.collect()
}

/// Which locality a random number chooses, by running sums of weights; the first if there is
/// nothing to go by. One number in 2^54 gives a fraction of exactly 1, which chooses the last
/// locality even if that weighs nothing.
//= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/load_aware_locality_lb.cc#chooseLocality
#[inline]
#[allow(clippy::cast_precision_loss)] // Envoy rounds as well
pub(crate) fn pick(sums: &[f64], random: u64) -> usize {
    let total = sums.last().copied().unwrap_or(0.0);
    if sums.len() <= 1 || total <= 0.0 {
        return 0;
    }
    let target = splitmix64(random) as f64 / u64::MAX as f64 * total;
    sums.partition_point(|&sum| sum <= target).min(sums.len() - 1)
}
