//! The weights of a chunk's hosts in the form that tables take.

use crate::schedule::Weight;

/// Fractional bits of totals, and of weights that are not whole if there is room.
pub(super) const FRACTION: u32 = 32;

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Weights {
    /// As configured.
    Whole(Vec<u32>),
    /// While hosts are in slow start, times their factors: in units of 2^-`fraction`.
    Scaled { weights: Vec<u64>, fraction: u32 },
}

impl Weights {
    /// Weights times `factors`, each more than 0 and at most 1. Nothing comes to less than the
    /// smallest unit, so that no host is left out.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    pub(crate) fn scaled(weights: &[u32], factors: &[f64]) -> Self {
        // Tables need the largest weight times the number of hosts to fit.
        let largest = weights.iter().max().map_or(0, |weight| u32::BITS - weight.leading_zeros());
        let count = usize::BITS - weights.len().leading_zeros();
        let fraction = FRACTION.min(63_u32.saturating_sub(largest + count));
        let unit = (1_u64 << fraction) as f64;
        let scale = |(&weight, factor): (&u32, &f64)| {
            ((f64::from(weight) * factor * unit).round() as u64).max(1)
        };
        Self::Scaled { weights: weights.iter().zip(factors).map(scale).collect(), fraction }
    }

    /// How many bits of the tables' weights are fractional.
    pub(super) fn fraction(&self) -> u32 {
        match self {
            Self::Whole(_) => 0,
            Self::Scaled { fraction, .. } => *fraction,
        }
    }

    /// The sum in units of 2^-[`FRACTION`].
    pub(super) fn total(&self) -> u128 {
        let sum = match self {
            Self::Whole(weights) => sum(weights),
            Self::Scaled { weights, .. } => sum(weights),
        };
        u128::from(sum) << (FRACTION - self.fraction())
    }

    /// The sums of the weights up to and with each one, in the tables' units.
    pub(super) fn sums(&self) -> Vec<u64> {
        match self {
            Self::Whole(weights) => running_sums(weights),
            Self::Scaled { weights, .. } => running_sums(weights),
        }
    }
}

fn sum<W: Weight>(weights: &[W]) -> u64 {
    weights.iter().map(|&weight| weight.into()).sum()
}

fn running_sums<W: Weight>(weights: &[W]) -> Vec<u64> {
    let mut sum = 0;
    let add = |&weight: &W| {
        sum += weight.into();
        sum
    };
    weights.iter().map(add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_scale_and_nothing_is_left_out() {
        let Weights::Scaled { weights, fraction } =
            Weights::scaled(&[1, 100, 1], &[1.0, 0.25, 0.0])
        else {
            panic!("not scaled")
        };
        assert_eq!((weights, fraction), (vec![1 << 32, 25 << 32, 1], 32));
    }

    #[test]
    fn totals_of_both_kinds_are_in_the_same_unit() {
        let whole = Weights::Whole(vec![1, 2, 3]);
        assert_eq!(whole.total(), Weights::scaled(&[1, 2, 3], &[1.0; 3]).total());
    }

    #[test]
    fn the_largest_weights_leave_room_for_their_sum() {
        let many = vec![u32::MAX; 1 << 16];
        let scaled = Weights::scaled(&many, &vec![1.0; many.len()]);
        let expected = u128::from(u32::MAX) << 16 << FRACTION;
        assert_eq!(scaled.total(), expected);
        assert_eq!(scaled.sums().len(), many.len());
    }
}
