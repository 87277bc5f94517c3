//! Intervals end to end with a guide table (Chen and Asau): the interval of a number is found in
//! constant expected time.
//!
//! The guide has a bucket for every interval or more and says which interval a bucket begins in.
//! A walk looks there and goes on. A bucket that many tiny intervals share is crowded and sends to
//! a bisection instead, so that the worst case is logarithmic.

use crate::sync::Arc;

/// Intervals that may be walked over before bisection is worth its mispredicted branches.
const STEPS: usize = 8;
/// What a bucket with more than that holds: an index that no interval has.
const CROWDED: u32 = u32::MAX;

/// One of several intervals that together cover all numbers below 2^64.
pub(crate) trait Interval {
    /// The last number of it.
    fn last(&self) -> u64;
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Guide<I> {
    items: Arc<[I]>,
    /// For each bucket the interval that its first number is in.
    buckets: Arc<[u32]>,
    /// A number's bucket is its high bits.
    shift: u32,
}

impl<I> Clone for Guide<I> {
    fn clone(&self) -> Self {
        let Self { items, buckets, shift } = self;
        Self { items: Arc::clone(items), buckets: Arc::clone(buckets), shift: *shift }
    }
}

impl<I: Interval> Guide<I> {
    /// A guide to intervals in order, the last one ending at `u64::MAX`; or to none, where every
    /// walk fails.
    pub(crate) fn new(items: Arc<[I]>) -> Self {
        // At least two buckets, so that the shift is less than the width.
        let bits = (2 * items.len()).next_power_of_two().ilog2().max(1);
        let shift = u64::BITS - bits;
        let mut next = 0;
        let buckets = (0..1_u64 << bits).map(|bucket| {
            while items.get(next).is_some_and(|item| item.last() < bucket << shift) {
                next += 1;
            }
            let end = (bucket << shift) | (u64::MAX >> bits);
            let is_walkable = items.get(next + STEPS).is_none_or(|item| item.last() > end);
            if is_walkable { u32::try_from(next).unwrap_or(CROWDED) } else { CROWDED }
        });
        let buckets = buckets.collect();
        Self { items, buckets, shift }
    }

    /// The interval that `x` is in, unless its bucket is crowded.
    #[inline(always)]
    pub(crate) fn walk(&self, x: u64) -> Option<&I> {
        let bucket = usize::try_from(x >> self.shift).unwrap_or(usize::MAX);
        let mut index = self.buckets[bucket] as usize;
        loop {
            let item = self.items.get(index)?;
            if x <= item.last() {
                return Some(item);
            }
            index += 1;
        }
    }

    /// The interval that `x` is in.
    pub(crate) fn find(&self, x: u64) -> &I {
        &self.items[self.index(x)]
    }

    /// The index of the interval that `x` is in; of none if there are no intervals.
    pub(crate) fn index(&self, x: u64) -> usize {
        self.items.partition_point(|item| item.last() < x)
    }

    /// All intervals in order.
    #[inline]
    pub(crate) fn items(&self) -> &[I] {
        &self.items
    }
}
