//! A lottery of unequal weights.
//!
//! What a pick needs of a candidate stands in the alias table itself, its weight included, so that
//! a candidate is one place in memory.

use std::hint::select_unpredictable;

use super::Lot;
use crate::schedule::{Alias, Weight};
use crate::sync::Arc;

/// See the module. Of at least two items.
#[derive(Debug, Clone)]
pub(crate) struct Ballot<T, W> {
    alias: Alias<Entry<T, W>>,
    /// The sums of the weights up to and with each item.
    sums: Arc<[u64]>,
}

/// An item, its weight, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry<T, W> {
    item: T,
    weight: W,
    index: u32,
}

impl<T: Copy, W: Weight> From<&Entry<T, W>> for Lot<T> {
    #[inline]
    fn from(entry: &Entry<T, W>) -> Self {
        Self { index: entry.index as usize, item: entry.item, weight: entry.weight.into() }
    }
}

impl<T: Copy + PartialEq, W: Weight> Ballot<T, W> {
    /// A lottery of at least two items, as [`Lottery::new`](super::Lottery::new) takes them.
    pub(super) fn new(items: &[T], weights: &[W]) -> Self {
        let both = items.iter().zip(weights);
        let entry = |((&item, &weight), index)| Entry { item, weight, index };
        let entries: Vec<_> = both.zip(0..).map(entry).collect();
        let mut sum = 0;
        let add = |&weight: &W| {
            sum += weight.into();
            sum
        };
        Self { sums: weights.iter().map(add).collect(), alias: Alias::new(&entries, weights) }
    }

    /// One item by weight.
    #[inline(always)]
    pub(super) fn draw(&self, x: u64) -> &Entry<T, W> {
        self.alias.look(x).unwrap_or_else(|| self.entry(0))
    }

    /// See [`Lottery::draw_another`](super::Lottery::draw_another).
    #[inline(always)]
    pub(super) fn draw_another(
        &self,
        x: u64,
        fallback: impl FnOnce() -> u64,
        index: usize,
    ) -> &Entry<T, W> {
        let drawn = self.draw(x);
        if drawn.index as usize == index { self.draw_other(fallback(), index) } else { drawn }
    }

    /// See [`Lottery::draw_other`](super::Lottery::draw_other).
    #[cold]
    #[inline(never)]
    pub(super) fn draw_other(&self, x: u64, index: usize) -> &Entry<T, W> {
        let skipped: u64 = self.entry(index).weight.into();
        let start = self.sums[index] - skipped;
        let total = self.total() - skipped;
        let place = high_half(u128::from(x) * u128::from(total));
        let place = if place < start { place } else { place + skipped };
        self.entry(self.sums.partition_point(|&sum| sum <= place))
    }

    /// The item at an index.
    #[inline]
    pub(super) fn entry(&self, index: usize) -> &Entry<T, W> {
        self.alias.item(index)
    }

    /// The sum of the weights.
    pub(super) fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }
}

impl<T: Copy + PartialEq> Ballot<T, u32> {
    /// See [`Lottery::less_busy`](super::Lottery::less_busy): none if both numbers draw the same.
    #[inline(always)]
    pub(super) fn less_busy(&self, (x, y): (u64, u64), load: impl Fn(T) -> u32) -> Option<T> {
        let (first, second) = (self.alias.look(x)?, self.alias.look(y)?);
        if first.index == second.index {
            return None;
        }
        // As `Load::product`, but in 64 bits.
        let product = |item, weight: u32| u64::from(load(item)) * u64::from(weight);
        let own = product(second.item, first.weight);
        let is_less = own < product(first.item, second.weight);
        Some(select_unpredictable(is_less, second.item, first.item))
    }
}

#[allow(clippy::cast_possible_truncation)] // 64 bits are left
fn high_half(product: u128) -> u64 {
    (product >> 64) as u64
}
