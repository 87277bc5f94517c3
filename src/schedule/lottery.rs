//! Drawing one of many things by weight, and then another one.
//!
//! The first draw takes an alias table. A second one is drawn in the same way, and only if it comes
//! to the same thing, among all others by bisection of the running sums. Both steps are exact, so
//! that the second thing is drawn in proportion to the weights of the others however much one of
//! them outweighs the rest, and there is no loop that could go on.

use super::{Alias, Weight, scale};
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
    /// They are not.
    Weighted {
        /// Finds indexes of `tickets`.
        alias: Alias<u32>,
        /// At least two.
        tickets: Arc<[Ticket<T>]>,
    },
}

/// An item, and the sum of the weights up to and with its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket<T> {
    end: u64,
    item: T,
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
        let indexes: Vec<u32> = (0..).take(items.len()).collect();
        let mut end = 0;
        let ticket = |(&item, &weight): (&T, &W)| {
            end += weight.into();
            Ticket { end, item }
        };
        let tickets = items.iter().zip(weights).map(ticket).collect();
        Self::Weighted { alias: Alias::new(&indexes, weights), tickets }
    }

    /// One item by weight.
    #[inline]
    pub(crate) fn draw(&self, x: u64) -> Lot<T> {
        match self {
            Self::Uniform { items, weight } => {
                let index = scale(x, items.len()).0;
                Lot { index, item: items[index], weight: *weight }
            }
            Self::Weighted { alias, tickets } => {
                lot(tickets, alias.walk(x).map_or(0, |index| index as usize))
            }
        }
    }

    /// One of at least two items by weight, but not that at `index`.
    pub(crate) fn draw_other(&self, x: u64, index: usize) -> Lot<T> {
        match self {
            Self::Uniform { items, weight } => {
                let other = scale(x, items.len().saturating_sub(1)).0;
                let other = other + usize::from(other >= index);
                let other = other.min(items.len() - 1);
                Lot { index: other, item: items[other], weight: *weight }
            }
            Self::Weighted { tickets, .. } => {
                let skipped = lot(tickets, index).weight;
                let start = tickets[index].end - skipped;
                let total = self.total() - skipped;
                let place = high_half(u128::from(x) * u128::from(total));
                let place = if place < start { place } else { place + skipped };
                lot(tickets, tickets.partition_point(|ticket| ticket.end <= place))
            }
        }
    }

    /// The sum of the weights.
    pub(crate) fn total(&self) -> u64 {
        match self {
            Self::Uniform { items, weight } => items.len() as u64 * weight,
            Self::Weighted { tickets, .. } => tickets.last().map_or(0, |ticket| ticket.end),
        }
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Uniform { items, .. } => items.len(),
            Self::Weighted { tickets, .. } => tickets.len(),
        }
    }

    /// Every item in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Lot<T>> {
        (0..self.len()).map(|index| match self {
            Self::Uniform { items, weight } => Lot { index, item: items[index], weight: *weight },
            Self::Weighted { tickets, .. } => lot(tickets, index),
        })
    }
}

#[inline]
fn lot<T: Copy>(tickets: &[Ticket<T>], index: usize) -> Lot<T> {
    let start = index.checked_sub(1).map_or(0, |before| tickets[before].end);
    let Ticket { end, item } = tickets[index];
    Lot { index, item, weight: end - start }
}

#[allow(clippy::cast_possible_truncation)] // 64 bits are left
fn high_half(product: u128) -> u64 {
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::splitmix64;
    use proptest::prelude::*;

    fn lottery(weights: &[u32]) -> Lottery<usize> {
        let items: Vec<usize> = (0..weights.len()).collect();
        Lottery::new(&items, weights)
    }

    /// The index that a running sum comes to, without that of `skip`.
    fn naive_other(weights: &[u32], x: u64, skip: usize) -> usize {
        let of = |index: usize| if index == skip { 0 } else { u128::from(weights[index]) };
        let total: u128 = (0..weights.len()).map(of).sum();
        let place = (u128::from(x) * total) >> 64;
        let mut sum = 0;
        (0..weights.len())
            .find(|&index| {
                sum += of(index);
                place < sum
            })
            .unwrap()
    }

    proptest! {
        #[test]
        fn another_draw_is_that_of_a_list_without_the_first(
            weights in prop_oneof![
                prop::collection::vec(1..=u32::MAX, 2..50),
                prop::collection::vec(1..=2_u32, 2..5),
            ],
            x: u64,
            index: prop::sample::Index,
        ) {
            let (lottery, index) = (lottery(&weights), index.index(weights.len()));
            let other = lottery.draw_other(x, index);
            prop_assert_eq!(other.index, naive_other(&weights, x, index));
            prop_assert_eq!((other.item, other.weight), (other.index, weights[other.index].into()));
            for extreme in [0, u64::MAX] {
                prop_assert_ne!(lottery.draw_other(extreme, index).index, index);
            }
        }

        #[test]
        fn a_lottery_knows_its_items_and_weights(weights in prop::collection::vec(1..=3_u32, 1..6)) {
            let lottery = lottery(&weights);
            let seen: Vec<u64> = lottery.iter().map(|lot| lot.weight).collect();
            let expected: Vec<u64> = weights.iter().map(|&weight| weight.into()).collect();
            prop_assert_eq!(lottery.total(), expected.iter().sum::<u64>());
            prop_assert_eq!((seen, lottery.len()), (expected, weights.len()));
            let drawn = lottery.draw(1 << 63);
            prop_assert_eq!(drawn.weight, u64::from(weights[drawn.index]));
        }
    }

    #[test]
    fn two_different_draws_go_by_the_weights_even_beside_one_that_has_nearly_all() {
        let weights = [1, 997, 2];
        let lottery = lottery(&weights);
        let mut counts = [0.0; 3];
        for number in 0..300_000 {
            let first = lottery.draw(splitmix64(number));
            let other = lottery.draw_other(splitmix64(!number), 1);
            assert_ne!(other.index, 1);
            counts[first.index] += 1.0;
            counts[other.index] += 1.0;
        }
        // 300 and 100 000, 299 100, 600 and 200 000; six standard deviations, on fixed numbers.
        for (count, expected) in counts.into_iter().zip([100_300.0, 299_100.0, 200_600.0]) {
            let off: f64 = count - expected;
            assert!(off.abs() < 1_700.0, "{counts:?}");
        }
    }
}
