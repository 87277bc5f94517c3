//! Envoy's earliest-deadline-first scheduler, bit for bit.
//!
//! Time is virtual. An item of weight `w` that is picked at `now` is due again at `now + 1/w`; the
//! item that is due first is picked next, and of several the one that was inserted first. All
//! arithmetic is in 64-bit floats in exactly the order written here, because ties and near-ties
//! decide picks.
//!
//! //= envoy v1.40 source/common/upstream/edf_scheduler.h#EdfScheduler
//!
//! The heap is a plain array whose top is replaced in place: a pick is one way down.

use std::collections::VecDeque;

/// Picks are taken modulo this before a scheduler is set forward by them.
const MAX_INITIAL_PICKS: u32 = 429_496_729;
/// Added to weights while a scheduler is set forward, to break exact ties.
const EPSILON: f64 = 1e-13;

/// An item on the heap.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    deadline: f64,
    order: u64,
    item: u32,
}

impl Entry {
    /// What entries are ordered by. Deadlines are not negative, so that their bits are in order.
    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.deadline.to_bits()) << 64 | u128::from(self.order)
    }

    /// Whether this one is picked before the other. A total order: no two have the same `order`.
    #[inline(always)]
    fn is_before(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}

/// See the module. Items are indexes of a list.
#[derive(Debug, Clone)]
pub(crate) struct Edf {
    now: f64,
    next_order: u64,
    heap: Vec<Entry>,
    /// Items that were peeked and not picked yet.
    peeked: VecDeque<u32>,
}

impl Edf {
    /// A scheduler over `weights`, each finite and at least 0, as it is after `seed` picks; only
    /// the low 32 bits of the seed count.
    pub(crate) fn new(weights: &[f64], seed: u64) -> Self {
        let picks = low_half(seed) % MAX_INITIAL_PICKS;
        let weight = |&weight: &f64| weight + EPSILON;
        let sum = weights.iter().map(weight).fold(0.0, |sum, weight| sum + weight);
        let mut scheduler = Self {
            now: 0.0,
            next_order: 0,
            heap: Vec::with_capacity(weights.len()),
            peeked: VecDeque::new(),
        };
        let mut done = 0;
        for (item, weight) in (0..).zip(weights.iter().map(weight)) {
            let count = initial_picks(weight, picks, sum);
            scheduler.push(item, f64::from(count + 1) / weight);
            scheduler.now = scheduler.now.max(f64::from(count) / weight);
            done += count;
        }
        for place in (0..scheduler.heap.len() / 2).rev() {
            scheduler.sift_down(place);
        }
        // Rounding down leaves fewer than two picks for each item.
        for _ in done..picks {
            scheduler.advance(|item| weights.get(item as usize).copied().unwrap_or(1.0));
        }
        scheduler
    }

    /// The next item: of those that were peeked, else by deadline. `weight` gives the item's
    /// weight of this moment, which decides when its next turn comes.
    pub(crate) fn pick(&mut self, weight: impl FnOnce(u32) -> f64) -> Option<u32> {
        self.peeked.pop_front().or_else(|| self.advance(weight))
    }

    /// The item of the pick after those that were peeked; `weight` as for a pick.
    pub(crate) fn peek(&mut self, weight: impl FnOnce(u32) -> f64) -> Option<u32> {
        let item = self.advance(weight)?;
        self.peeked.push_back(item);
        Some(item)
    }

    fn push(&mut self, item: u32, deadline: f64) {
        self.heap.push(Entry { deadline, order: self.next_order, item });
        self.next_order += 1;
    }

    /// Moves time to the earliest deadline and gives its item a new one. A weight of 0 puts it off
    /// for ever, and once time itself is infinite items come in the order of their insertion.
    fn advance(&mut self, weight: impl FnOnce(u32) -> f64) -> Option<u32> {
        let top = self.heap.first_mut()?;
        self.now = top.deadline;
        let item = top.item;
        top.deadline = self.now + 1.0 / weight(item);
        top.order = self.next_order;
        self.next_order += 1;
        self.sift_down(0);
        Some(item)
    }

    /// Moves an entry down to where both entries below it come later.
    fn sift_down(&mut self, mut place: usize) {
        let heap = self.heap.as_mut_slice();
        let entry = heap[place];
        loop {
            let left = 2 * place + 1;
            let Some(first) = heap.get(left) else { break };
            let right = heap.get(left + 1);
            let child = left + usize::from(right.is_some_and(|right| right.is_before(first)));
            if !heap[child].is_before(&entry) {
                break;
            }
            heap[place] = heap[child];
            place = child;
        }
        heap[place] = entry;
    }
}

/// How many of the initial picks an item certainly gets: its share rounded down, and one less if
/// its last one would not be due before the others.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most `picks`
fn initial_picks(weight: f64, picks: u32, sum: f64) -> u32 {
    let count = (weight * f64::from(picks) / sum) as u32;
    if count > 0 && f64::from(count) / weight >= f64::from(picks) / sum { count - 1 } else { count }
}

#[allow(clippy::cast_possible_truncation)]
fn low_half(seed: u64) -> u32 {
    seed as u32
}

#[cfg(test)]
mod tests;
