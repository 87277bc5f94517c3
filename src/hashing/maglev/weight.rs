//! What members of a table weigh, and whose turn that makes it.
//!
//! A member's target grows by the heaviest weight with each slot that it claims; in a turn it is
//! due if its weight times the turn's number has reached its target.

/// A weight as a float, in exactly Envoy's arithmetic, or as a whole number, without rounding.
pub(crate) trait Weight: Copy + PartialOrd {
    /// A sum of weights, one for each slot.
    type Target: Copy;
    /// What a member starts with.
    const NOTHING: Self::Target;
    /// What members weigh if none has a weight.
    const ONE: Self;

    /// The weight as far as tables go by it: never less than nothing, and so small that targets
    /// are finite.
    fn sound(self) -> Self;
    fn is_positive(self) -> bool;
    fn plus(target: Self::Target, weight: Self) -> Self::Target;
    /// Whether a member of this weight with this target claims a slot in a turn.
    fn is_due(self, turn: u32, target: Self::Target) -> bool;
    /// About the turn from which on it is due.
    fn due(self, target: Self::Target) -> f64;
    fn as_float(self) -> f64;
}

impl Weight for f64 {
    type Target = f64;
    const NOTHING: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn sound(self) -> f64 {
        if self > 0.0 { self.min(1e300) } else { 0.0 }
    }

    fn is_positive(self) -> bool {
        self > 0.0
    }

    fn plus(target: f64, weight: f64) -> f64 {
        target + weight
    }

    #[inline(always)]
    fn is_due(self, turn: u32, target: f64) -> bool {
        // A sound weight makes this the opposite of Envoy's `<`.
        f64::from(turn) * self >= target
    }

    fn due(self, target: f64) -> f64 {
        target / self
    }

    fn as_float(self) -> f64 {
        self
    }
}

#[allow(clippy::cast_precision_loss)] // an estimate is asked for
impl Weight for u64 {
    type Target = u128;
    const NOTHING: u128 = 0;
    const ONE: u64 = 1;

    fn sound(self) -> u64 {
        self
    }

    fn is_positive(self) -> bool {
        self > 0
    }

    fn plus(target: u128, weight: u64) -> u128 {
        target + u128::from(weight)
    }

    #[inline(always)]
    fn is_due(self, turn: u32, target: u128) -> bool {
        u128::from(turn) * u128::from(self) >= target
    }

    fn due(self, target: u128) -> f64 {
        // The conversion of 128 bits is slow, and most targets do not need them.
        let target = u64::try_from(target).map_or(target as f64, |target| target as f64);
        target / self as f64
    }

    fn as_float(self) -> f64 {
        self as f64
    }
}

/// The first turn after `turn` in which a member of this weight is due; at most `last`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
pub(super) fn next_turn<W: Weight>(weight: W, target: W::Target, turn: u32, last: u32) -> u32 {
    let first = turn.saturating_add(1);
    let mut next = (weight.due(target).ceil() as u32).max(first).min(last);
    // The estimate is off by one at most, for a number of turns is far from the limits of floats.
    while next > first && weight.is_due(next - 1, target) {
        next -= 1;
    }
    while next < last && !weight.is_due(next, target) {
        next += 1;
    }
    next
}
