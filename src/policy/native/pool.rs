//! The hosts that a least request pick chooses among: all of one portion.
//!
//! They are one lottery if they come from one chunk, whose own it is; or if they are few and their
//! weights fit, in which case each publish makes it anew. Else they are drawn in two steps: a chunk
//! by its weight, and one of its hosts.

mod scan;

use super::chunk::Chunk;
use super::portions::{divide, low_half};
use super::weights::FRACTION;
use crate::policy::HostId;
use crate::rng::splitmix64;
use crate::schedule::{Guide, Interval, Load, Lot, Lottery};
use crate::sync::Arc;

/// See the module. Shares its memory when it is cloned.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    /// One if the pool is one lottery.
    parts: Guide<Part>,
    pub(super) hosts: usize,
    /// By how many bits sums of weights are shifted to fit.
    shift: u32,
    chunks: Vec<Arc<Chunk>>,
}

/// Hosts of a pool that are drawn at once.
#[derive(Debug)]
struct Part {
    index: usize,
    /// The last number that leads here.
    last: u64,
    lottery: Lottery<HostId>,
    /// The sum of its weights in the pool's unit.
    total: u64,
    /// By how many bits its lottery's weights are shifted to be in the unit of tickets.
    up: u32,
}

impl Interval for Part {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }
}

/// A host that was drawn from a pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    pub(super) host: HostId,
    /// Its weight, exactly, in a unit that the whole pool has.
    pub(super) weight: u64,
    part: usize,
    index: usize,
}

impl Pool {
    /// A pool over chunks of some weight in all, which are laid out in one table if they are `few`.
    pub(super) fn new(chunks: &[&Arc<Chunk>], few: bool) -> Self {
        let lottery = match chunks {
            [chunk] => chunk.lottery().cloned(),
            _ if few => merged(chunks),
            _ => None,
        };
        let total: u128 = chunks.iter().map(|chunk| chunk.total).sum();
        let (parts, shift) = match lottery {
            Some(lottery) => (vec![Part::whole(lottery)], 0),
            None => {
                let shift = (u128::BITS - total.leading_zeros()).saturating_sub(63);
                (parts(chunks, shift), shift)
            }
        };
        let hosts = parts.iter().map(|part| part.lottery.len()).sum();
        let chunks = chunks.iter().map(|&chunk| Arc::clone(chunk)).collect();
        Self { parts: Guide::new(parts.into()), hosts, shift, chunks }
    }

    /// The one lottery of a pool that is one.
    pub(super) fn lottery(&self) -> Option<&Lottery<HostId>> {
        match self.parts.items() {
            [part] => Some(&part.lottery),
            _ => None,
        }
    }

    /// A host by weight; none if the pool is empty.
    #[inline(always)]
    pub(super) fn draw(&self, x: u64) -> Option<Ticket> {
        match self.parts.items() {
            [part] => Some(part.ticket(part.lottery.draw(x))),
            parts => {
                let part = self.parts.walk(x).or_else(|| parts.get(self.parts.index(x)))?;
                Some(part.ticket(part.lottery.draw(splitmix64(x))))
            }
        }
    }

    /// A host by weight that is not `taken`, in a pool of at least two.
    #[inline(always)]
    pub(super) fn draw_another(&self, x: u64, taken: &Ticket) -> Ticket {
        if let [part] = self.parts.items() {
            let fallback = || splitmix64(!x);
            return part.ticket(part.lottery.draw_another(x, fallback, taken.index));
        }
        match self.draw(x) {
            Some(other) if other.host != taken.host => other,
            _ => self.draw_other(splitmix64(!x), taken).unwrap_or(*taken),
        }
    }

    /// The same from what is left of each part without `taken`.
    fn draw_other(&self, x: u64, taken: &Ticket) -> Option<Ticket> {
        let parts = self.parts.items();
        let left = |part: &Part| match taken.part == part.index {
            true => part.total - self.in_unit(taken.weight).min(part.total),
            false => part.total,
        };
        let total = parts.iter().map(left).sum::<u64>();
        let mut place = low_half((u128::from(x) * u128::from(total)) >> 64);
        let part = parts.iter().find(|part| {
            let left = left(part);
            let is_here = place < left;
            place -= if is_here { 0 } else { left };
            is_here
        })?;
        let inner = splitmix64(x);
        Some(part.ticket(match taken.part == part.index {
            true => part.lottery.draw_other(inner, taken.index),
            false => part.lottery.draw(inner),
        }))
    }

    /// A ticket's weight in the unit of sums.
    fn in_unit(&self, weight: u64) -> u64 {
        weight >> self.shift
    }

    /// The least busy host; of several, one by weight.
    pub(super) fn least_busy<L: Load>(
        &self,
        number: u64,
        load: impl Fn(HostId) -> L,
    ) -> Option<HostId> {
        scan::least_busy(self.parts.items(), number, load)
    }

    /// Calls `each` with every slot and its part of the pool's traffic, all of which is `share`.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(super) fn shares(&self, share: f64, each: &mut impl FnMut(u32, f64)) {
        let total = self.chunks.iter().map(|chunk| chunk.total as f64).sum::<f64>();
        for chunk in &self.chunks {
            chunk.shares(share * chunk.total as f64 / total, each);
        }
    }
}

impl Part {
    /// The only part of a pool.
    fn whole(lottery: Lottery<HostId>) -> Self {
        Self { index: 0, last: u64::MAX, total: lottery.total(), lottery, up: 0 }
    }

    #[inline]
    fn ticket(&self, lot: Lot<HostId>) -> Ticket {
        let Lot { index, item, weight } = lot;
        Ticket { host: item, weight: weight << self.up, part: self.index, index }
    }
}

/// A part for each chunk that a number leads to; sums of weights are shifted by `shift`.
fn parts(chunks: &[&Arc<Chunk>], shift: u32) -> Vec<Part> {
    let mut parts = Vec::with_capacity(chunks.len());
    let weight = |chunk: &&Arc<Chunk>| chunk.total;
    divide((0, 1 << 64), chunks.to_vec(), weight, |chunk, from, to| {
        let lottery = chunk.lottery().filter(|_| to > from);
        let index = parts.len();
        parts.extend(lottery.map(|lottery| Part {
            index,
            last: low_half(to - 1),
            lottery: lottery.clone(),
            total: low_half(chunk.total >> shift),
            up: FRACTION - chunk.weights.fraction(),
        }));
    });
    parts
}

/// One lottery over all hosts, unless their weights would have to be rounded to fit.
fn merged(chunks: &[&Arc<Chunk>]) -> Option<Lottery<HostId>> {
    let fraction = chunks.iter().map(|chunk| chunk.weights.fraction()).max()?;
    let (mut hosts, mut weights) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let up = fraction - chunk.weights.fraction();
        for lot in chunk.lottery()?.iter() {
            hosts.push(lot.item);
            weights.push(lot.weight.checked_mul(1 << up)?);
        }
    }
    let largest = weights.iter().copied().max()?;
    let bound = u128::from(largest) * weights.len() as u128;
    (bound < 1 << 63).then(|| Lottery::new(&hosts, &weights))
}

#[cfg(test)]
mod tests;
