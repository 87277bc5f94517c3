//! From a number to one of many things: tables over weights. Arithmetic only; no atomics, no time.
//!
//! Each table divides the numbers below 2^64 among its items, each in proportion to its weight,
//! and finds the item of a number. Tables share their memory when they are cloned.

mod alias;
mod edf;
mod guide;
mod lottery;
mod slow_start;

pub(crate) use alias::Alias;
pub(crate) use edf::Edf;
pub(crate) use guide::{Guide, Interval};
pub(crate) use lottery::{Load, Lot, Lottery};
pub(crate) use slow_start::Ramp;

use crate::sync::Arc;

/// What kind of numbers a schedule is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Independent random numbers.
    Random,
    /// A low-discrepancy cursor.
    Cursor,
}

/// How the items of one list divide the unit interval among them.
#[derive(Debug, Clone)]
pub(crate) enum Schedule<T> {
    /// All weights are equal: the interval is cut into equal pieces.
    Uniform(Arc<[T]>),
    /// The fastest table; an item's share is scattered over the interval, so it wants random
    /// numbers.
    Alias(Alias<T>),
    /// An item's share is one piece of the interval, so that a cursor which walks the interval
    /// evenly visits every item evenly.
    Guide(Guide<Share<T>>),
}

/// A weight that tables take.
pub(crate) trait Weight: Copy + PartialEq + Into<u64> {}

impl Weight for u32 {}
impl Weight for u64 {}

/// An item and where its piece of the interval ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share<T> {
    last: u64,
    item: T,
}

impl<T> Interval for Share<T> {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }
}

impl<T: Copy + PartialEq> Schedule<T> {
    /// A schedule over at least one item; `weights` go with `items`, each at least 1. Their sum,
    /// and each of them times their number, are less than 2^64.
    pub(crate) fn new<W: Weight>(items: &[T], weights: &[W], walk: Walk) -> Self {
        if weights.windows(2).all(|pair| pair[0] == pair[1]) {
            return Self::Uniform(items.into());
        }
        match walk {
            Walk::Random => Self::Alias(Alias::new(items, weights)),
            Walk::Cursor => Self::Guide(Guide::of_shares(items, weights)),
        }
    }

    /// The item that `x` belongs to, if it can be had in a few steps.
    #[inline(always)]
    pub(crate) fn walk(&self, x: u64) -> Option<T> {
        // Not a `match`: that would become a jump through a table.
        if let Self::Guide(guide) = self {
            guide.walk(x).map(|share| share.item)
        } else if let Self::Alias(alias) = self {
            alias.walk(x)
        } else {
            Some(self.uniform(x))
        }
    }

    /// The item that `x` belongs to.
    pub(crate) fn find(&self, x: u64) -> T {
        match self {
            Self::Guide(guide) => guide.find(x).item,
            Self::Alias(alias) => alias.walk(x).unwrap_or_else(|| self.uniform(x)),
            Self::Uniform(_) => self.uniform(x),
        }
    }

    #[inline]
    fn uniform(&self, x: u64) -> T {
        let items = self.items();
        items[scale(x, items.len()).0]
    }

    /// The items of a uniform schedule; none of the others.
    #[inline]
    fn items(&self) -> &[T] {
        match self {
            Self::Uniform(items) => items,
            _ => &[],
        }
    }

    /// Whether the schedule was made from these items, in this order.
    pub(crate) fn is_over(&self, items: &[T]) -> bool {
        match self {
            Self::Uniform(own) => **own == *items,
            Self::Alias(alias) => alias.is_over(items),
            Self::Guide(guide) => guide.items().iter().map(|share| &share.item).eq(items),
        }
    }

    /// Calls `each` with every item in order.
    pub(crate) fn each(&self, mut each: impl FnMut(T)) {
        match self {
            Self::Uniform(items) => items.iter().for_each(|&item| each(item)),
            Self::Alias(alias) => alias.items().for_each(each),
            Self::Guide(guide) => guide.items().iter().for_each(|share| each(share.item)),
        }
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Uniform(items) => items.len(),
            Self::Alias(alias) => alias.items().len(),
            Self::Guide(guide) => guide.items().len(),
        }
    }
}

impl<T: Copy> Guide<Share<T>> {
    /// A guide to the shares of `items`; `weights` go with them, each at least 1.
    pub(crate) fn of_shares<W: Weight>(items: &[T], weights: &[W]) -> Self {
        Self::new(shares(items, weights))
    }
}

impl<T: Copy> Share<T> {
    /// What the share belongs to.
    #[inline]
    pub(crate) fn item(&self) -> T {
        self.item
    }
}

/// The pieces of the interval, end to end.
#[allow(clippy::cast_possible_truncation)] // at most 2^64 - 1, since `sum` is at most `total`
fn shares<T: Copy, W: Weight>(items: &[T], weights: &[W]) -> Arc<[Share<T>]> {
    let total: u64 = weights.iter().map(|&weight| weight.into()).sum();
    let mut sum = 0;
    let share = |(&item, &weight): (&T, &W)| {
        sum += weight.into();
        let last = ((u128::from(sum) << 64) / u128::from(total) - 1) as u64;
        Share { last, item }
    };
    items.iter().zip(weights).map(share).collect()
}

/// Cuts the unit interval into `length` equal pieces: the piece that `x` is in, and where in it.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the two halves of a product
fn scale(x: u64, length: usize) -> (usize, u64) {
    let product = u128::from(x) * length as u128;
    ((product >> 64) as usize, product as u64)
}

#[cfg(test)]
mod tests;
