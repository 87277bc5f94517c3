//! When something is due that is done every so often.

use std::time::Duration;

use crate::config::Behavior;
use crate::rng::splitmix64;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period {
    pub(super) length_ns: u64,
    /// When it is due next.
    pub(super) next_ns: u64,
}

impl Period {
    /// Of this length. In Envoy it is due one period from now. In native it is due as it was before,
    /// so that settings which keep changing put nothing off; and at first earlier by up to half a
    /// period, by the seed, so that clusters which get their settings together move apart.
    pub(super) fn new(
        length: Duration,
        behavior: Behavior,
        before: Option<Self>,
        (now_ns, seed): (u64, u64),
    ) -> Self {
        let length_ns = nanoseconds(length);
        let later_ns = now_ns.saturating_add(length_ns);
        let next_ns = match (behavior, before) {
            (Behavior::Envoy, _) => later_ns,
            (Behavior::Native, None) => later_ns - splitmix64(seed) % (length_ns / 2 + 1),
            (Behavior::Native, Some(before)) => later_ns.min(before.next_ns),
        };
        Self { length_ns, next_ns }
    }

    /// Whether it is due; then it is due again a whole period later, however late this is.
    pub(super) fn take(&mut self, now_ns: u64) -> bool {
        let is_due = now_ns >= self.next_ns;
        if is_due {
            self.next_ns = now_ns.saturating_add(self.length_ns);
        }
        is_due
    }
}

/// A period in nanoseconds.
pub(super) fn nanoseconds(period: Duration) -> u64 {
    u64::try_from(period.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn late_or_bunched_calls_keep_a_period_between_them() {
        let mut period =
            Period::new(Duration::from_secs(1), Behavior::Envoy, None, (5 * SECOND, 0));
        assert!(!period.take(6 * SECOND - 1) && period.take(6 * SECOND));
        assert!(!period.take(6 * SECOND) && period.take(9 * SECOND) && !period.take(9 * SECOND));
        assert_eq!(period.next_ns, 10 * SECOND);
    }

    #[test]
    fn the_longest_period_never_comes() {
        let mut period = Period::new(Duration::MAX, Behavior::Envoy, None, (SECOND, 0));
        assert!(!period.take(u64::MAX - 1));
    }
}
