//! The static stride scheduler of gRPC: a counter goes round and round over the hosts, and of the
//! rounds each host takes part in a share that its weight decides.
//!
//! Weights are scaled so that the largest is 2^16 - 1. In gRPC's C++ no weight counts as more than
//! ten times the mean, or less than a hundredth of it: skewed weights get other shares of the
//! traffic than they ask for, and a pick passes over ten hosts or so. In its Go they are as given.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Chooser, Maker};

const LARGEST: u32 = u16::MAX as u32;
const MOST_TIMES_MEAN: f64 = 10.0;
const LEAST_TIMES_MEAN: f64 = 0.01;

/// The scaled weights. A table that does not change.
struct Strides(Box<[u16]>);

impl Strides {
    fn bounded(weights: &[u32]) -> Self {
        let sum: f64 = weights.iter().copied().map(f64::from).sum();
        let mean = sum / length(weights);
        let cap = largest(weights).min(mean * MOST_TIMES_MEAN);
        let scale = f64::from(LARGEST) / cap;
        let least = ((scale * mean).round() * LEAST_TIMES_MEAN).round().max(1.0);
        Self::scaled(weights, |weight| (scale * weight.min(cap)).round().max(least))
    }

    fn as_given(weights: &[u32]) -> Self {
        let scale = f64::from(LARGEST) / largest(weights);
        Self::scaled(weights, |weight| (scale * weight).round())
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 2^16 - 1
    fn scaled(weights: &[u32], scale: impl Fn(f64) -> f64) -> Self {
        Self(weights.iter().map(|&weight| scale(f64::from(weight)) as u16).collect())
    }

    /// The host of the first number that is not passed over.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // there are fewer hosts than 2^32
    fn pick(&self, mut next: impl FnMut() -> u32) -> u32 {
        let count = self.0.len() as u32;
        loop {
            let number = next();
            let (index, round) = (number % count, u64::from(number / count));
            let weight = self.0[index as usize];
            let offset = u64::from(index) * u64::from(LARGEST / 2);
            let turn = (u64::from(weight) * round + offset) % u64::from(LARGEST);
            if turn >= u64::from(LARGEST) - u64::from(weight) {
                return index;
            }
        }
    }
}

/// With a counter of its own, as each worker could have one.
struct Own {
    strides: Strides,
    number: u32,
}

impl Chooser for Own {
    #[inline]
    fn pick(&mut self) -> u32 {
        self.strides.pick(|| {
            let number = self.number;
            self.number = number.wrapping_add(1);
            number
        })
    }
}

/// With one counter for all threads, as gRPC has it.
struct Shared {
    strides: Strides,
    number: AtomicU32,
}

impl Shared {
    fn new(strides: Strides) -> Box<Self> {
        Box::new(Self { strides, number: AtomicU32::new(0) })
    }
}

impl Chooser for Shared {
    #[inline]
    fn pick(&mut self) -> u32 {
        self.strides.pick(|| self.number.fetch_add(1, Ordering::Relaxed))
    }
}

/// As in C++, but for the counter.
pub(super) fn own(weights: &[u32]) -> Maker {
    let weights = weights.to_vec();
    Box::new(move || Box::new(Own { strides: Strides::bounded(&weights), number: 0 }))
}

/// As in C++.
pub(super) fn shared(weights: &[u32]) -> Maker {
    let weights = weights.to_vec();
    Box::new(move || Shared::new(Strides::bounded(&weights)))
}

/// As in Go.
pub(super) fn as_given(weights: &[u32]) -> Maker {
    let weights = weights.to_vec();
    Box::new(move || Shared::new(Strides::as_given(&weights)))
}

fn largest(weights: &[u32]) -> f64 {
    weights.iter().copied().max().map_or(1.0, f64::from)
}

#[allow(clippy::cast_precision_loss)] // far below 2^53
fn length(weights: &[u32]) -> f64 {
    weights.len() as f64
}
