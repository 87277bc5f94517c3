//! How much of the traffic stays in the local locality: an integrator that knows what it has
//! already done.
//!
//! docs/load-aware-locality.md says why it is stable, and how the constants were found.

use super::super::smoothing;
use super::estimate::{Belief, mean};
use super::{Mode, NOTHING_LEFT, Settings};

/// The local locality shares its traffic from this much above the threshold on, so that it keeps
/// what Envoy does on average between its swings.
const ABOVE: f64 = 0.08;

/// So much below that it gets traffic back. Between the two nothing moves.
const SLACK: f64 = 0.005;

/// In how many time constants of the smoothing a difference is made up for, as far as 63 %.
const LAG: f64 = 3.0;

/// The least of it in seconds, however little is smoothed: hosts average before they report.
const LEAST_LAG: f64 = 10.0;

/// How many times the age of reports adds to it: no control is faster than what it hears.
const AGES: f64 = 2.0;

/// How much faster the share falls for each 100 % of utilization that is too much.
const URGENCY: f64 = 2.0;

/// A tick takes at most this part of the share away, or gives this part of the traffic back.
const MOST_STEP: f64 = 0.5;

/// How fast the share rises, a second: what it returns to may have less room than it had.
const RISE: f64 = 0.05;

/// The local locality keeps this much, so that its reports go on.
const LEAST_SHARE: f64 = 0.02;

/// From here to 1 a local locality is preferred less and less.
const ALMOST_FULL: f64 = 0.9;

/// Traffic is shared from the lower share on, and no longer from the higher one on.
const SPILLS: (f64, f64) = (0.95, 0.99);

/// The local locality against the others together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparison {
    capacity: f64,
    utilization: f64,
    remote_capacity: f64,
    remote_utilization: f64,
    /// The mean age of the local reports in seconds; `None` without any.
    age: Option<f64>,
}

/// The share of the local locality.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Law {
    share: f64,
    /// The share smoothed like the utilizations that follow from it.
    seen: f64,
    /// The local capacity that the share was made for.
    capacity: f64,
    spills: bool,
}

impl Comparison {
    pub(super) fn new(local: &Belief, remotes: &[Belief]) -> Self {
        Self {
            capacity: local.capacity,
            utilization: local.utilization,
            remote_capacity: remotes.iter().map(|remote| remote.capacity).sum(),
            remote_utilization: mean(
                remotes.iter().map(|remote| (remote.capacity, remote.utilization)),
            ),
            age: local.age,
        }
    }

    /// By how much a local locality with this utilization is too busy. One that is full is not
    /// preferred any more.
    fn excess(&self, utilization: f64, settings: &Settings) -> f64 {
        let threshold = settings.threshold * (1.0 - fullness(utilization));
        utilization - self.remote_utilization - threshold
    }

    /// The part of this local load that makes up for `excess` when the others take it: what the
    /// local utilization falls by and what theirs rises by.
    fn part(&self, excess: f64, utilization: f64) -> f64 {
        excess / utilization / (1.0 + self.capacity / self.remote_capacity)
    }

    /// How far utilizations say no more than that everything is full, 0 to 1: on both sides they
    /// are 1, where most hosts stop counting.
    fn silence(&self) -> f64 {
        let least = self.utilization.min(self.remote_utilization);
        (1.0 - (least - 1.0).abs() / NOTHING_LEFT).clamp(0.0, 1.0)
    }

    /// The local part of all capacity.
    fn fair(&self) -> f64 {
        self.capacity / (self.capacity + self.remote_capacity)
    }
}

/// How full a locality counts as, 0 to 1.
fn fullness(utilization: f64) -> f64 {
    ((utilization - ALMOST_FULL) / (1.0 - ALMOST_FULL)).clamp(0.0, 1.0)
}

impl Law {
    /// Until reports say more, each locality is taken to have the same traffic of its own, and the
    /// local one keeps what its capacity takes of that.
    pub(super) fn new(local: &Belief, remotes: &[Belief]) -> Self {
        let all = || std::iter::once(local).chain(remotes);
        let localities = all().map(|zone| if zone.capacity > 0.0 { 1.0 } else { 0.0 }).sum::<f64>();
        let capacity: f64 = all().map(|zone| zone.capacity).sum();
        let share = (localities * local.capacity / capacity).clamp(LEAST_SHARE, 1.0);
        Self { share, seen: share, capacity: local.capacity, spills: share < SPILLS.0 }
    }

    /// Moves the share by a part of what would make up for the difference of utilizations. Without
    /// local reports nothing would show what that does, and it stays.
    pub(super) fn tick(&mut self, compared: &Comparison, elapsed: f64, settings: &Settings) {
        self.seen += smoothing(elapsed, settings.time_constant) * (self.share - self.seen);
        self.share = self.at_capacity(compared, settings);
        self.capacity = compared.capacity;
        if let Some(age) = compared.age {
            let lag = (LAG * settings.time_constant).max(LEAST_LAG) + AGES * age;
            self.correct(compared, smoothing(elapsed, lag), elapsed, settings);
        }
        self.share = self.share.clamp(LEAST_SHARE, 1.0);
        self.spills = self.share < if self.spills { SPILLS.1 } else { SPILLS.0 };
    }

    fn correct(&mut self, compared: &Comparison, gain: f64, elapsed: f64, settings: &Settings) {
        let utilization = self.foreseen(compared);
        let excess = compared.excess(utilization, settings);
        let missing = ABOVE - SLACK - excess;
        if excess > ABOVE {
            let excess = excess - ABOVE;
            let step = gain * (1.0 + URGENCY * excess) * compared.part(excess, utilization);
            self.share *= 1.0 - step.min(MOST_STEP);
        } else if missing > 0.0 {
            // Where everybody says 1, nothing is known to be missing.
            let known = 1.0 - compared.silence();
            let step = gain * known * compared.part(missing, utilization) * self.share;
            self.share += step.min(RISE * elapsed).min(MOST_STEP);
        }
        let unfair = (self.share - compared.fair()).max(0.0);
        self.share -= gain * compared.silence() * unfair;
    }

    /// The share at the present capacity. What the local locality has lost since the last tick
    /// does not wait: no more than that goes, and no more than needed.
    pub(super) fn at_capacity(&self, compared: &Comparison, settings: &Settings) -> f64 {
        let lost = 1.0 - compared.capacity / self.capacity;
        let utilization = self.foreseen(compared);
        let needed = compared.part(compared.excess(utilization, settings), utilization);
        if lost > 0.0 && needed > 0.0 { self.share * (1.0 - needed.min(lost)) } else { self.share }
    }

    /// The local utilization as it will be reported when smoothing has caught up with the share.
    /// Without this, the integrator would go on while what it did is still under way.
    fn foreseen(&self, compared: &Comparison) -> f64 {
        compared.utilization * (self.share / self.seen).clamp(0.5, 2.0)
    }

    pub(super) fn mode(&self) -> Mode {
        if self.spills { Mode::Spill } else { Mode::Local }
    }
}
