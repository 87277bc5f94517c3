//! How long the slowest of many single operations take.

use crate::counter;

/// Longer operations are counted as this many ticks: some microseconds.
const TICKS: usize = 1 << 14;

/// How often an operation took how many ticks, its measurement included.
#[derive(Debug, Clone)]
pub struct Durations {
    counts: Vec<u32>,
    total: u64,
}

impl Default for Durations {
    fn default() -> Self {
        Self { counts: vec![0; TICKS], total: 0 }
    }
}

impl Durations {
    /// Does an operation and takes its time.
    #[inline]
    pub fn time(&mut self, operation: impl FnOnce()) -> u64 {
        let ticks = counter::ticks_of(operation);
        self.add(ticks);
        ticks
    }

    #[inline]
    fn add(&mut self, ticks: u64) {
        let place = usize::try_from(ticks).unwrap_or(TICKS).min(TICKS - 1);
        self.counts[place] += 1;
        self.total += 1;
    }

    /// The ticks that this part of all operations did not exceed.
    ///
    /// ```
    /// # use plimsoll_benches::tail::Durations;
    /// assert_eq!(Durations::default().quantile(0.5), 0.0);
    /// ```
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    pub fn quantile(&self, part: f64) -> f64 {
        let wanted = part * self.total as f64;
        let mut sum = 0;
        let reached = self.counts.iter().position(|&count| {
            sum += u64::from(count);
            sum as f64 >= wanted
        });
        reached.unwrap_or(TICKS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_what_was_added() {
        let mut durations = Durations::default();
        (1..=1_000).for_each(|ticks| durations.add(ticks));
        durations.add(u64::MAX);
        let quantiles = [0.5, 0.99, 0.999, 1.0].map(|part| durations.quantile(part));
        assert!(quantiles.into_iter().eq([501.0, 991.0, 1_000.0, 16_383.0]), "{quantiles:?}");
    }
}
