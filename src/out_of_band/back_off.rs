//! How long to wait before the next attempt. Arithmetic only: random numbers in, milliseconds out.

/// The bound of the first delay.
const FIRST_MS: u64 = 1_000;

/// The largest bound.
const LAST_MS: u64 = 30_000;

/// Delays with full jitter below a bound that doubles.
#[derive(Debug, Clone, Copy)]
pub(super) struct BackOff {
    bound_ms: u64,
}

impl BackOff {
    pub(super) const NEW: Self = Self { bound_ms: FIRST_MS };

    /// The delay before the next attempt, less than the bound: it may be 0.
    pub(super) fn next_ms(&mut self, random: u64) -> u64 {
        let delay_ms = random % self.bound_ms;
        self.bound_ms = self.bound_ms.saturating_mul(2).min(LAST_MS);
        delay_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_double_up_to_half_a_minute() {
        let (mut back_off, mut other) = (BackOff::NEW, BackOff::NEW);
        // One less than a common multiple of all bounds, so that each delay is the longest.
        let random = 480_000_000 - 1;
        let delays: Vec<u64> = (0..8).map(|_| back_off.next_ms(random) + 1).collect();
        assert_eq!(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!([other.next_ms(7_123), other.next_ms(7_123)], [123, 1_123]);
    }
}
