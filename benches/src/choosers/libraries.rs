//! Tables of the crate `rand_distr`, with the engine's generator.

use rand_distr::Distribution;
use rand_distr::weighted::{WeightedAliasIndex, WeightedTreeIndex};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::{Chooser, Maker};

/// A distribution and its numbers.
struct Draw<D> {
    distribution: D,
    generator: Xoshiro256PlusPlus,
}

impl<D> Draw<D> {
    fn new(distribution: D) -> Box<Self> {
        Box::new(Self { distribution, generator: Xoshiro256PlusPlus::seed_from_u64(1) })
    }
}

impl Chooser for Draw<WeightedAliasIndex<u32>> {
    #[inline]
    fn pick(&mut self) -> u32 {
        index(self.distribution.sample(&mut self.generator))
    }
}

impl Chooser for Draw<WeightedTreeIndex<u32>> {
    #[inline]
    fn pick(&mut self) -> u32 {
        index(self.distribution.sample(&mut self.generator))
    }
}

pub(super) fn alias(weights: &[u32]) -> Maker {
    let weights = weights.to_vec();
    Box::new(move || Draw::new(WeightedAliasIndex::new(weights.clone()).expect("valid weights")))
}

pub(super) fn tree(weights: &[u32]) -> Maker {
    let weights = weights.to_vec();
    Box::new(move || Draw::new(WeightedTreeIndex::new(&weights).expect("valid weights")))
}

#[inline]
#[allow(clippy::cast_possible_truncation)] // there are fewer hosts than 2^32
fn index(index: usize) -> u32 {
    index as u32
}
