//! Prefix sums with a guide table (Chen and Asau): each index is one interval, found in constant
//! expected time.
//!
//! The guide has a bucket for every interval or more and says which interval a bucket begins in.
//! A find looks there and walks on; where many tiny intervals share a bucket it finishes by
//! bisection, so that the worst case is logarithmic.

/// Steps taken one by one before bisection is worth its mispredicted branches.
const STEPS: usize = 8;

/// See the module.
#[derive(Debug)]
pub(crate) struct Guide {
    /// The last number of each interval; the final one is `u64::MAX`.
    lasts: Box<[u64]>,
    /// For each bucket the interval that its first number is in.
    buckets: Box<[u32]>,
    /// A number's bucket is its high bits.
    shift: u32,
}

impl Guide {
    /// Intervals in proportion to `weights`, which are at least 1, at least one, and sum to less
    /// than 2^64.
    pub(crate) fn new(weights: impl Iterator<Item = u64> + Clone) -> Self {
        let total: u64 = weights.clone().sum();
        let mut sum = 0;
        let lasts = weights.map(|weight| {
            sum += weight;
            last(sum, total)
        });
        Self::from_lasts(lasts.collect())
    }

    /// Intervals that end at these numbers, ascending, the last one `u64::MAX`.
    pub(crate) fn from_lasts(lasts: Box<[u64]>) -> Self {
        // At least two buckets, so that the shift is less than the width.
        let bits = lasts.len().next_power_of_two().ilog2().max(1);
        let shift = u64::BITS - bits;
        let mut interval = 0;
        let buckets = (0..1_u64 << bits).map(|bucket| {
            while lasts[interval] < bucket << shift {
                interval += 1;
            }
            u32::try_from(interval).unwrap_or(u32::MAX)
        });
        Self { buckets: buckets.collect(), lasts, shift }
    }

    /// The interval that `x` is in.
    #[inline]
    pub(crate) fn find(&self, x: u64) -> usize {
        let bucket = usize::try_from(x >> self.shift).unwrap_or(usize::MAX);
        let first = self.buckets[bucket] as usize;
        for (step, &last) in self.lasts[first..].iter().enumerate() {
            if x <= last {
                return first + step;
            }
            if step == STEPS {
                break;
            }
        }
        self.bisect(first, x)
    }

    #[cold]
    fn bisect(&self, first: usize, x: u64) -> usize {
        first + self.lasts[first..].partition_point(|&last| last < x)
    }
}

/// The last number of the interval that ends at `sum` of `total`.
#[allow(clippy::cast_possible_truncation)] // at most 2^64 - 1, since sum is at most total
fn last(sum: u64, total: u64) -> u64 {
    ((u128::from(sum) << 64) / u128::from(total) - 1) as u64
}
