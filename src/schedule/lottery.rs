//! Drawing one of many things by weight, and then another one.
//!
//! The first draw takes an alias table, or none if all weights are equal. A second one is drawn in
//! the same way, and only if it comes to the same thing, among all others by bisection of the
//! running sums. Both steps are exact, so that the second thing is drawn in proportion to the
//! weights of the others however much one of them outweighs the rest, and there is no loop that
//! could go on.

mod ballot;
mod load;

pub(crate) use ballot::Ballot;
pub(crate) use load::Load;

use std::hint::select_unpredictable;

use super::{Weight, scale};
use crate::sync::Arc;

/// See the module. Shares its memory when it is cloned.
#[derive(Debug, Clone)]
pub(crate) enum Lottery<T> {
    /// All weights are equal.
    Uniform {
        /// At least one.
        items: Arc<[T]>,
        /// The weight of each.
        weight: u64,
    },
    /// They are not; as they mostly are.
    Narrow(Ballot<T, u32>),
    /// Some of them are large, or in small units.
    Wide(Ballot<T, u64>),
}

/// An item that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lot<T> {
    pub(crate) index: usize,
    pub(crate) item: T,
    pub(crate) weight: u64,
}

impl<T: Copy + PartialEq> Lottery<T> {
    /// A lottery of at least one item; `weights` go with `items`, each at least 1. Their sum, and
    /// each of them times their number, are less than 2^64.
    pub(crate) fn new<W: Weight>(items: &[T], weights: &[W]) -> Self {
        if weights.windows(2).all(|pair| pair[0] == pair[1]) {
            let weight = weights.first().map_or(1, |&weight| weight.into());
            return Self::Uniform { items: items.into(), weight };
        }
        let weights: Vec<u64> = weights.iter().map(|&weight| weight.into()).collect();
        let narrow = weights.iter().map(|&weight| u32::try_from(weight));
        match narrow.collect::<Result<Vec<u32>, _>>() {
            Ok(narrow) => Self::Narrow(Ballot::new(items, &narrow)),
            Err(_) => Self::Wide(Ballot::new(items, &weights)),
        }
    }

    /// One item by weight.
    #[inline(always)]
    pub(crate) fn draw(&self, x: u64) -> Lot<T> {
        match self {
            Self::Uniform { items, .. } => self.lot(scale(x, items.len()).0),
            Self::Narrow(ballot) => ballot.draw(x).into(),
            Self::Wide(ballot) => ballot.draw(x).into(),
        }
    }

    /// One of at least two items by weight, but not that at `index`; by another number than `x`, if
    /// `x` comes to it.
    #[inline(always)]
    pub(crate) fn draw_another(
        &self,
        x: u64,
        fallback: impl FnOnce() -> u64,
        index: usize,
    ) -> Lot<T> {
        match self {
            Self::Uniform { .. } => self.draw_other(x, index),
            Self::Narrow(ballot) => ballot.draw_another(x, fallback, index).into(),
            Self::Wide(ballot) => ballot.draw_another(x, fallback, index).into(),
        }
    }

    /// The same by one number, with which the index grows: by bisection if weights differ.
    pub(crate) fn draw_other(&self, x: u64, index: usize) -> Lot<T> {
        match self {
            Self::Uniform { items, .. } => self.lot(other(x, items.len(), index)),
            Self::Narrow(ballot) => ballot.draw_other(x, index).into(),
            Self::Wide(ballot) => ballot.draw_other(x, index).into(),
        }
    }

    /// The less busy of the items that two numbers come to, or the first of them: what the first
    /// number [draws](Self::draw), and what the second [draws besides](Self::draw_another). None if
    /// that takes more than a look.
    #[inline(always)]
    pub(crate) fn less_busy(&self, (x, y): (u64, u64), load: impl Fn(T) -> u32) -> Option<T> {
        // Not a `match`: that would become a jump through a table.
        if let Self::Narrow(ballot) = self {
            ballot.less_busy((x, y), load)
        } else if let Self::Uniform { items, .. } = self {
            let first = scale(x, items.len()).0;
            let second = *items.get(other(y, items.len(), first))?;
            let first = *items.get(first)?;
            Some(select_unpredictable(load(second) < load(first), second, first))
        } else {
            None
        }
    }

    /// The item at an index, drawn or not.
    #[inline]
    pub(crate) fn lot(&self, index: usize) -> Lot<T> {
        match self {
            Self::Uniform { items, weight } => Lot { index, item: items[index], weight: *weight },
            Self::Narrow(ballot) => ballot.entry(index).into(),
            Self::Wide(ballot) => ballot.entry(index).into(),
        }
    }

    /// All items, if their weights are equal.
    pub(crate) fn equals(&self) -> Option<&[T]> {
        match self {
            Self::Uniform { items, .. } => Some(items),
            _ => None,
        }
    }

    /// The sum of the weights.
    pub(crate) fn total(&self) -> u64 {
        match self {
            Self::Uniform { items, weight } => items.len() as u64 * weight,
            Self::Narrow(ballot) => ballot.total(),
            Self::Wide(ballot) => ballot.total(),
        }
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Uniform { items, .. } => items.len(),
            Self::Narrow(ballot) => ballot.len(),
            Self::Wide(ballot) => ballot.len(),
        }
    }

    /// Every item in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Lot<T>> {
        (0..self.len()).map(|index| self.lot(index))
    }
}

/// An index below `length`, which is at least 2, but not `taken`.
#[inline]
fn other(x: u64, length: usize, taken: usize) -> usize {
    let index = scale(x, length.wrapping_sub(1)).0;
    index + usize::from(index >= taken)
}

#[cfg(test)]
mod tests;
