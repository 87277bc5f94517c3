//! The hosts that a least request pick chooses among: all of one portion.

use super::chunk::Chunk;
use super::portions::{divide, low_half};
use super::weights::FRACTION;
use crate::policy::HostId;
use crate::rng::splitmix64;
use crate::schedule::{Guide, Interval, Lot, Lottery};
use crate::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Pool {
    parts: Guide<Part>,
    pub(super) hosts: usize,
    /// By how many bits sums of weights are shifted to fit.
    shift: u32,
}

/// One chunk of a pool.
#[derive(Debug)]
struct Part {
    index: usize,
    /// The last number that leads here.
    last: u64,
    lottery: Lottery<HostId>,
    /// The sum of its weights in the pool's unit.
    total: u64,
    /// What one unit of its lottery's weights is.
    unit: f64,
    chunk: Arc<Chunk>,
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
    pub(super) weight: f64,
    part: usize,
    lot: Lot<HostId>,
}

impl Pool {
    /// A pool over chunks of some weight in all.
    pub(super) fn new(chunks: Vec<&Arc<Chunk>>) -> Self {
        let total: u128 = chunks.iter().map(|chunk| chunk.total).sum();
        let shift = (u128::BITS - total.leading_zeros()).saturating_sub(63);
        let mut parts = Vec::with_capacity(chunks.len());
        divide(
            (0, 1 << 64),
            chunks,
            |chunk| chunk.total,
            |chunk, from, to| {
                let lottery = chunk.lottery().filter(|_| to > from);
                let index = parts.len();
                parts.extend(lottery.map(|lottery| Part {
                    index,
                    last: low_half(to - 1),
                    lottery: lottery.clone(),
                    total: low_half(chunk.total >> shift),
                    unit: chunk.weights.unit(),
                    chunk: Arc::clone(chunk),
                }));
            },
        );
        let hosts = parts.iter().map(|part| part.lottery.len()).sum();
        Self { parts: Guide::new(parts.into()), hosts, shift }
    }

    /// A host by weight; none if the pool is empty.
    #[inline]
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
    pub(super) fn draw_other(&self, x: u64, taken: &Ticket) -> Option<Ticket> {
        let parts = self.parts.items();
        let left = |part: &Part| match taken.part == part.index {
            true => part.total - self.in_unit(part, taken.lot.weight),
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
            true => part.lottery.draw_other(inner, taken.lot.index),
            false => part.lottery.draw(inner),
        }))
    }

    /// A weight of a part's lottery in the pool's unit; at most the part's total.
    fn in_unit(&self, part: &Part, weight: u64) -> u64 {
        let fraction = part.chunk.weights.fraction();
        low_half((u128::from(weight) << (FRACTION - fraction)) >> self.shift).min(part.total)
    }

    /// Every host.
    pub(super) fn iter(&self) -> impl Iterator<Item = Ticket> {
        let parts = self.parts.items().iter();
        parts.flat_map(|part| part.lottery.iter().map(|lot| part.ticket(lot)))
    }

    /// Calls `each` with every slot and its part of the pool's traffic, all of which is `share`.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(super) fn shares(&self, share: f64, each: &mut impl FnMut(u32, f64)) {
        let total = self.parts.items().iter().map(|part| part.total as f64).sum::<f64>();
        for part in self.parts.items() {
            part.chunk.shares(share * part.total as f64 / total, each);
        }
    }
}

impl Part {
    #[inline]
    #[allow(clippy::cast_precision_loss)] // compared only
    fn ticket(&self, lot: Lot<HostId>) -> Ticket {
        let weight = lot.weight as f64 * self.unit;
        Ticket { host: lot.item, weight, part: self.index, lot }
    }
}
