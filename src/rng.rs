//! Random numbers: a generator per worker, and the queue of draws that a replay puts before it.
//!
//! xoshiro256++ by Blackman and Vigna, seeded through `splitmix64` of the cluster's seed and the
//! worker's number, so that no two workers share a stream.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// 2^64 divided by the golden ratio, odd: the step of splitmix64 and of every cursor.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number that undoes a multiplication by [`GOLDEN`], mod 2^64.
pub(crate) const GOLDEN_INVERSE: u64 = {
    // Newton's iteration doubles the correct bits; an odd number is its own inverse to three.
    let mut inverse = GOLDEN;
    let mut round = 0;
    while round < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(GOLDEN.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
};

/// A bijection that turns related numbers into unrelated ones (the finalizer of splitmix64).
pub(crate) fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A seed that differs from process to process.
///
/// The standard library keys its hash maps from the operating system's entropy; hashing nothing
/// under two such keys gives 64 bits of it without another dependency.
pub(crate) fn entropy() -> u64 {
    let word = || RandomState::new().build_hasher().finish();
    splitmix64(word()) ^ word()
}

/// The random numbers of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    queued: VecDeque<u64>,
    generator: Xoshiro256PlusPlus,
}

impl Draws {
    pub(crate) fn new(seed: u64, worker: u64) -> Self {
        let seed = splitmix64(splitmix64(seed).wrapping_add(worker));
        let generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { queued: VecDeque::new(), generator }
    }

    /// Puts numbers after those that are queued already.
    pub(crate) fn queue(&mut self, values: &[u64]) {
        self.queued.extend(values);
    }

    /// Puts one number before all others.
    pub(crate) fn queue_first(&mut self, value: u64) {
        self.queued.push_front(value);
    }

    /// Whether the next number is a queued one.
    #[inline]
    pub(crate) fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// The next number: a queued one, else a generated one.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.queued.pop_front().unwrap_or_else(|| self.generate())
    }

    /// The next number of the generator.
    #[inline]
    pub(crate) fn generate(&mut self) -> u64 {
        self.generator.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_gives_the_published_sequence_of_seed_zero() {
        let outputs: Vec<u64> = (0..3).map(|k| splitmix64(GOLDEN.wrapping_mul(k))).collect();
        assert_eq!(outputs, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]);
    }

    #[test]
    fn the_golden_step_has_an_inverse() {
        assert_eq!(GOLDEN.wrapping_mul(GOLDEN_INVERSE), 1);
    }

    #[test]
    fn queued_numbers_come_first_and_in_order() {
        let mut plain = Draws::new(1, 0);
        let mut queued = Draws::new(1, 0);
        queued.queue(&[7, 8]);
        queued.queue_first(6);
        let first: Vec<u64> = (0..5).map(|_| queued.next()).collect();
        assert_eq!(first, [6, 7, 8, plain.next(), plain.next()]);
    }

    #[test]
    fn workers_and_seeds_do_not_share_a_stream() {
        let first = |seed, worker| Draws::new(seed, worker).next();
        let all = [first(0, 0), first(0, 1), first(1, 0), first(1, 1)];
        for (index, value) in all.iter().enumerate() {
            assert!(!all[..index].contains(value), "stream {index} repeats an earlier one");
        }
    }

    #[test]
    fn two_processes_worth_of_entropy_differ() {
        assert_ne!(entropy(), entropy());
    }
}
