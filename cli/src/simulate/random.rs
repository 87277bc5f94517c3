//! Random numbers, in streams that do not disturb each other: what one proxy draws never changes
//! what comes to another, and both behaviors meet the same requests.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One stream.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

/// What a stream is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Arrivals,
    Service,
    Start,
    Engine,
}

impl Random {
    /// The stream of this purpose and number.
    pub(crate) fn new(seed: u64, purpose: Purpose, number: usize) -> Self {
        let mut mixer = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (a, b) = (mixer.next_u64() | 1, mixer.next_u64() | 1);
        let number = a.wrapping_mul(number as u64 + 1);
        Self(Xoshiro256PlusPlus::seed_from_u64(number ^ b.wrapping_mul(purpose as u64 + 1)))
    }

    /// Any number.
    pub(crate) fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From 0 to less than 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.fraction()).ln()
    }

    /// Whether something of this probability happens.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        // Without a draw where nothing is open, so that a setting of 0 costs nothing.
        probability > 0.0 && self.fraction() < probability
    }
}
