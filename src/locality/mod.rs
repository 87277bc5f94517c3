//! How the traffic of a priority divides among its localities.
//!
//! Arithmetic only: counts, weights and utilizations in, shares out. Native shares are whole
//! numbers of [`WHOLE`] in all, so that they nest into the intervals that picks look into.

pub(crate) mod load_aware;
pub(crate) mod weighted;
pub(crate) mod zone_aware;

/// What native shares add up to.
pub(crate) const WHOLE: u64 = 1 << 32;

/// Cuts [`WHOLE`] into parts in these proportions; `None` if all of them are 0. A proportion of 0
/// gets nothing, and any other differs from what it deserves by less than 1.
pub(crate) fn parts(proportions: &[u128]) -> Option<Box<[u64]>> {
    let total: u128 = proportions.iter().sum();
    if total == 0 {
        return None;
    }
    // Products fit if the total has at most 95 bits; what is shifted out is far below a part.
    let shift = (u128::BITS - total.leading_zeros()).saturating_sub(95);
    let (mut sum, mut from) = (0, 0);
    let part = |proportion: &u128| {
        sum += proportion;
        let to = (sum >> shift) * u128::from(WHOLE) / (total >> shift);
        let to = u64::try_from(to).unwrap_or(WHOLE).min(WHOLE);
        to - std::mem::replace(&mut from, to)
    };
    Some(proportions.iter().map(part).collect())
}

/// A part of `total` as a number of [`WHOLE`]; 0 of nothing.
pub(crate) fn part(amount: u64, total: u64) -> u64 {
    let part = u128::from(amount) * u128::from(WHOLE) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(WHOLE).min(WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_proportional_and_sum_to_the_whole() {
        let table: [&[u128]; 5] =
            [&[1], &[1, 0, 3], &[1, 1, 1], &[u128::from(u64::MAX) << 40, 1, 7], &[0, 5, 0]];
        for proportions in table {
            let parts = parts(proportions).unwrap();
            assert_eq!(parts.iter().sum::<u64>(), WHOLE, "{proportions:?}");
            let total: u128 = proportions.iter().sum();
            for (&part, &proportion) in parts.iter().zip(proportions) {
                let exact = proportion as f64 / total as f64 * WHOLE as f64;
                assert!((part as f64 - exact).abs() <= 1.0, "{proportions:?}: {part}");
                assert!(proportion > 0 || part == 0);
            }
        }
        assert_eq!(parts(&[]), None);
        assert_eq!(parts(&[0, 0]), None);
    }
}
