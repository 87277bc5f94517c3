//! From beliefs to shares: what is due to probes, and in which proportions the rest divides.

use super::Settings;
use super::estimate::{Belief, mean};
use crate::locality::{WHOLE, parts};

/// How much less traffic a locality attracts for each time that it is busier than the mean, as an
/// exponent: one that has traffic of its own is left what it can take.
const STEEPNESS: f64 = 3.0;

/// Differences count by the mean utilization, and by no less than this: where little is going on
/// little chance makes them large.
const LEAST_MEAN: f64 = 0.25;

/// What fresh samples leave of a locality's need for probes.
const LEAST_NEED: f64 = 1.0 / 64.0;

/// The same where report streams keep them fresh: next to nothing.
const LEAST_NEED_WITH_STREAMS: f64 = 1e-6;

/// Samples this many stream periods old show that a stream has broken off.
const LATE: f64 = 2.0;

/// What each locality is due as a probe. Together they are at most the configured fraction, which
/// they reach when no sample is fresh; those with the oldest samples get the most of it.
pub(super) fn probes(zones: &[Belief], settings: &Settings) -> Vec<f64> {
    let needs = || zones.iter().map(|zone| (need(zone, settings), zone.capacity));
    let total: f64 = needs().map(|(need, capacity)| need * capacity).sum();
    let probe = |(need, capacity): (f64, f64)| match capacity > 0.0 {
        true => settings.probe * need * (need * capacity / total),
        false => 0.0,
    };
    needs().map(probe).collect()
}

/// How much a locality needs to be asked, 0 to 1: all of it when its samples are as old as what
/// smoothing forgets.
fn need(zone: &Belief, settings: &Settings) -> f64 {
    match (zone.age, settings.stream_period) {
        (None, _) => 1.0,
        (Some(age), Some(period)) => (age / period - LATE).clamp(LEAST_NEED_WITH_STREAMS, 1.0),
        (Some(age), None) => (age / settings.time_constant).clamp(LEAST_NEED, 1.0),
    }
}

/// The proportions in which traffic divides that is not due to anybody.
pub(super) fn attractions(zones: &[Belief]) -> Vec<f64> {
    let mean = mean(zones.iter().map(|zone| (zone.capacity, zone.slow)));
    let attraction = |zone: &Belief| {
        let difference = ((zone.slow - mean) / mean.max(LEAST_MEAN)).clamp(-1.0, 1.0);
        zone.capacity * (-STEEPNESS * difference).exp()
    };
    zones.iter().map(attraction).collect()
}

/// Adds `amount` to `shares` in these proportions.
pub(super) fn add(shares: &mut [f64], amount: f64, proportions: &[f64]) {
    let total: f64 = proportions.iter().sum();
    if total > 0.0 {
        for (share, proportion) in shares.iter_mut().zip(proportions) {
            *share += amount * (proportion / total);
        }
    }
}

/// The same shares as parts of [`WHOLE`]; all of them 0 if they are.
pub(super) fn whole(shares: &[f64]) -> Box<[u64]> {
    let proportions: Box<[u128]> = shares.iter().map(|&share| proportion(share)).collect();
    parts(&proportions).unwrap_or_else(|| shares.iter().map(|_| 0).collect())
}

/// A share in 2^-60. One that is not 0 is enough for a part of [`WHOLE`] however others are rounded.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 1
fn proportion(share: f64) -> u128 {
    const UNIT: u64 = 1 << 60;
    const LEAST: u64 = 4 * (UNIT / WHOLE);
    #[allow(clippy::cast_precision_loss)] // a power of 2
    let scaled = (share.min(1.0) * UNIT as f64) as u64;
    if share > 0.0 { scaled.max(LEAST).into() } else { 0 }
}
