//! What is known of each locality, and what is assumed of the rest.

use std::collections::HashMap;

use super::super::{Zone, finite, smoothing};
use super::{Settings, seconds};
use crate::host::Locality;
use crate::sync::Arc;

/// Hosts that say they are busier than this, on average, are believed so much and no more.
const MOST_UTILIZATION: f64 = 4.0;

/// A locality that nobody knows is not assumed to be busier than this, so that a local one that is
/// overloaded tries it.
const MOST_ASSUMED: f64 = 0.8;

/// Remote shares go by utilizations that are smoothed for so many time constants, and ages of reports:
/// the faster they moved, the more proxies would chase each other.
const SLOWER: f64 = 8.0;

/// By how much a change of capacity corrects a utilization until reports show it.
const LEAST_CORRECTION: f64 = 0.5;
const MOST_CORRECTION: f64 = 4.0;

/// A locality that has no hosts is forgotten after so many seconds if reports never expire.
const FORGOTTEN_AFTER: f64 = 180.0;

/// The estimates by locality.
#[derive(Debug, Clone, Default)]
pub(super) struct Estimates(HashMap<Arc<Locality>, Estimate>);

/// What the reports of one locality come to.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    /// Smoothed by the time constant.
    utilization: f64,
    /// Smoothed for [`SLOWER`].
    slow: f64,
    /// The capacity that took this load, smoothed alike.
    capacity: f64,
    /// Seconds since the last tick with a report; 0 at such a tick.
    silent: f64,
}

/// What is thought of one locality.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Belief {
    /// The weight of its eligible hosts; 0 if there is none.
    pub(super) capacity: f64,
    /// Its utilization, as far as known; else what is assumed.
    pub(super) utilization: f64,
    /// The same smoothed for longer.
    pub(super) slow: f64,
    pub(super) confidence: f64,
    /// The mean age of its reports in seconds; `None` without any.
    pub(super) age: Option<f64>,
}

impl Estimates {
    /// Takes in what was reported in the time since the last tick.
    pub(super) fn observe(&mut self, zones: &[Zone<'_>], elapsed: f64, settings: &Settings) {
        for estimate in self.0.values_mut() {
            estimate.silent += elapsed;
        }
        let others = self.mean_slow(zones);
        for zone in zones {
            let Some(sample) = zone.mean_utilization() else { continue };
            let sample = sample.min(MOST_UTILIZATION);
            let capacity = capacity(zone);
            // What a newcomer first says is mostly that it has not been busy for long.
            let slow = others.map_or(sample, |slow| slow.max(sample));
            let first = Estimate { utilization: sample, slow, capacity, silent: 0.0 };
            let entry = self.0.entry(Arc::clone(zone.identity));
            let add = |known: &mut Estimate| known.add(zone, sample, settings.time_constant);
            entry.and_modify(add).or_insert(first);
        }
        let keep = if settings.expiration.is_finite() { settings.expiration } else { 0.0 };
        let keep = keep.max(FORGOTTEN_AFTER);
        self.0.retain(|identity, estimate| {
            estimate.silent < keep || zones.iter().any(|zone| zone.identity == identity)
        });
    }

    /// What a locality is assumed to be while the others are known; `None` if none is.
    fn mean_slow(&self, zones: &[Zone<'_>]) -> Option<f64> {
        let known = |zone: &Zone<'_>| Some((capacity(zone), self.0.get(zone.identity)?.slow));
        let mut known = zones.iter().filter_map(known).peekable();
        known.peek()?;
        Some(mean(known).min(MOST_ASSUMED))
    }

    /// Whether it has reported.
    pub(super) fn has(&self, identity: &Locality) -> bool {
        self.0.contains_key(identity)
    }

    /// What is thought of each locality now.
    pub(super) fn beliefs(&self, zones: &[Zone<'_>], settings: &Settings) -> Vec<Belief> {
        let mut beliefs: Vec<Belief> =
            zones.iter().map(|zone| self.known(zone, settings)).collect();
        let of = |value: fn(&Belief) -> f64| {
            mean(beliefs.iter().map(|belief| (belief.capacity * belief.confidence, value(belief))))
        };
        let utilization = of(|belief| belief.utilization).min(MOST_ASSUMED);
        let slow = of(|belief| belief.slow).min(MOST_ASSUMED);
        for belief in &mut beliefs {
            let doubt = 1.0 - belief.confidence;
            belief.utilization = belief.confidence * belief.utilization + doubt * utilization;
            belief.slow = belief.confidence * belief.slow + doubt * slow;
        }
        beliefs
    }

    /// What is known of a locality, before assumptions.
    fn known(&self, zone: &Zone<'_>, settings: &Settings) -> Belief {
        let capacity = capacity(zone);
        let age = (zone.reporting > 0).then(|| seconds(zone.age_ns));
        let Some(estimate) = self.0.get(zone.identity) else {
            return Belief { capacity, age, ..Belief::default() };
        };
        let correction = match capacity > 0.0 && estimate.capacity > 0.0 {
            true => (estimate.capacity / capacity).clamp(LEAST_CORRECTION, MOST_CORRECTION),
            false => 1.0,
        };
        Belief {
            capacity,
            utilization: estimate.utilization * correction,
            slow: estimate.slow * correction,
            confidence: (-estimate.silent / settings.expiration).exp(),
            age,
        }
    }
}

impl Estimate {
    /// Another sample, after however long a silence.
    fn add(&mut self, zone: &Zone<'_>, sample: f64, time_constant: f64) {
        let weight = smoothing(self.silent, time_constant);
        self.utilization += weight * (sample - self.utilization);
        self.capacity += weight * (capacity(zone) - self.capacity);
        let weight = smoothing(self.silent, SLOWER * (time_constant + seconds(zone.age_ns)));
        self.slow += weight * (sample - self.slow);
        self.silent = 0.0;
    }
}

/// What the eligible hosts can take, in the unit of their configured weights, which are whole
/// numbers from 1 on.
fn capacity(zone: &Zone<'_>) -> f64 {
    let hosts = f64::from(zone.eligible);
    finite(zone.weight).clamp(hosts, hosts * f64::from(u32::MAX))
}

/// The mean of (weight, value) pairs; 0 if nothing weighs anything.
pub(super) fn mean(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let add =
        |(weights, sum): (f64, f64), (weight, value)| (weights + weight, sum + weight * value);
    let (weights, sum) = values.fold((0.0, 0.0), add);
    if weights > 0.0 { sum / weights } else { 0.0 }
}
