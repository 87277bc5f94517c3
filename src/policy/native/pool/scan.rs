//! The least busy of all hosts.
//!
//! They are looked at in blocks, each host once. A bit for each says whether it is one of the least
//! busy of its block so far; so ties cost nothing until the block is done, and then one number.

use super::Part;
use crate::policy::HostId;
use crate::rng::splitmix64;
use crate::schedule::{Load, Lot};

/// A bit for each host.
const BLOCK: usize = u64::BITS as usize;

/// See the module. Of several hosts that are least busy one by weight; none of none.
pub(super) fn least_busy<L: Load>(
    parts: &[Part],
    number: u64,
    load: impl Fn(HostId) -> L,
) -> Option<HostId> {
    let mut scan = Scan { number, best: None, tied: 0 };
    for part in parts {
        for first in (0..part.lottery.len()).step_by(BLOCK) {
            let end = part.lottery.len().min(first + BLOCK);
            let (busy, bits) = match part.lottery.equals() {
                // Any weight will do, as long as it is the same.
                Some(hosts) => least(hosts[first..end].iter().map(|&host| (load(host), 1))),
                None => least((first..end).map(|index| {
                    let lot = part.lottery.lot(index);
                    (load(lot.item), lot.weight << part.up)
                })),
            };
            scan.take(&Block { part, first, bits }, busy);
        }
    }
    scan.best.map(|(host, ..)| host)
}

/// The least load for its weight, and a bit for each item that has it.
#[inline(always)]
fn least<L: Load>(mut items: impl Iterator<Item = (L, u64)>) -> (Option<L>, u64) {
    let Some((mut least, mut its_weight)) = items.next() else { return (None, 0) };
    let (mut bits, mut bit) = (1, 1);
    for (load, weight) in items {
        bit <<= 1;
        let (own, other) = (load.product(its_weight), least.product(weight));
        let is_less = own < other;
        // Selected, since nothing predicts which of many hosts is less busy than those before.
        let kept = std::hint::select_unpredictable(is_less, 0, bits);
        bits = kept | if own <= other { bit } else { 0 };
        least = std::hint::select_unpredictable(is_less, load, least);
        its_weight = std::hint::select_unpredictable(is_less, weight, its_weight);
    }
    (Some(least), bits)
}

/// What the blocks so far have come to.
struct Scan<L> {
    number: u64,
    /// A host, its load, and its weight.
    best: Option<(HostId, L, u64)>,
    /// The weight of all hosts that are as busy.
    tied: u128,
}

impl<L: Load> Scan<L> {
    /// Goes on with a block and the least load of it.
    fn take(&mut self, block: &Block<'_>, busy: Option<L>) {
        let (Some(busy), Some(lot)) = (busy, block.lots().next()) else { return };
        let weight = block.part.ticket(lot).weight;
        if let Some((_, load, its_weight)) = self.best {
            let (own, other) = (busy.product(its_weight), load.product(weight));
            if own > other {
                return;
            }
            self.tied = if own < other { 0 } else { self.tied };
        }
        let tied = block.weight();
        self.tied += tied;
        self.number = splitmix64(self.number);
        if scaled(self.number, self.tied) < tied {
            let lot = block.draw(splitmix64(!self.number)).unwrap_or(lot);
            self.best = Some((lot.item, busy, block.part.ticket(lot).weight));
        }
    }
}

/// Hosts of a part from one on, those that have a bit.
struct Block<'a> {
    part: &'a Part,
    first: usize,
    bits: u64,
}

impl Block<'_> {
    fn lots(&self) -> impl Iterator<Item = Lot<HostId>> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let index = self.first + bits.trailing_zeros() as usize;
            let lot = (bits != 0).then(|| self.part.lottery.lot(index));
            bits &= bits.wrapping_sub(1);
            lot
        })
    }

    fn weight(&self) -> u128 {
        let weight = |lot| u128::from(self.part.ticket(lot).weight);
        match self.part.lottery.equals() {
            Some(_) => self.lots().next().map_or(0, weight) * u128::from(self.bits.count_ones()),
            None => self.lots().map(weight).sum(),
        }
    }

    /// One of the hosts by weight.
    fn draw(&self, x: u64) -> Option<Lot<HostId>> {
        if self.part.lottery.equals().is_some() {
            let skipped = scaled(x, self.bits.count_ones().into());
            let bits = (0..skipped).fold(self.bits, |bits, _| bits & (bits - 1));
            return Block { bits, ..*self }.lots().next();
        }
        let mut place = scaled(x, self.weight());
        self.lots().find(|&lot| {
            let weight = u128::from(self.part.ticket(lot).weight);
            let is_here = place < weight;
            place -= if is_here { 0 } else { weight };
            is_here
        })
    }
}

/// `total` times `x / 2^64`, where `total` has at most 96 bits.
fn scaled(x: u64, total: u128) -> u128 {
    let low = total & u128::from(u64::MAX);
    u128::from(x) * (total >> 64) + ((u128::from(x) * low) >> 64)
}
