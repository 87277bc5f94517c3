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
/// As many intervals and their guide stay in the near caches, so that twice as many buckets cost
/// nothing: fewer walks go on, which the processor does not foresee.
const NEAR: usize = 1 << 14;

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
        let buckets_each = if items.len() <= NEAR { 4 } else { 2 };
        let bits = (buckets_each * items.len()).next_power_of_two().ilog2().max(1);
        let shift = u64::BITS - bits;
        let bucket = |x: u64| usize::try_from(x >> shift).unwrap_or(usize::MAX);
        let mut buckets = Vec::with_capacity(1 << bits);
        for (number, item) in (0..).zip(&*items) {
            let last = bucket(item.last());
            if last < buckets.len() {
                continue;
            }
            // Those before its last one it covers to their ends.
            buckets.resize(last, number);
            let after_steps = items.get(number as usize + STEPS);
            let is_crowded = after_steps.is_some_and(|item| bucket(item.last()) <= last);
            buckets.push(if is_crowded { CROWDED } else { number });
        }
        buckets.resize(1 << bits, CROWDED);
        let buckets = buckets.into();
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
