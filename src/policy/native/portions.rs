//! How the loads of the priorities cut the unit interval.

use super::chunk::{Chunk, Chunks};
use crate::policy::{NoHost, PriorityChoice, Source};
use crate::priority::Loads;
use crate::priority::native::SCALE;
use crate::sync::Arc;

/// The part of the unit interval that goes to one kind of hosts of one priority.
#[derive(Debug)]
pub(super) struct Portion<'a> {
    pub(super) start: u128,
    /// One more than the last number.
    pub(super) end: u128,
    pub(super) priority: u32,
    pub(super) source: Source,
    pub(super) panic: bool,
    /// The chunks that divide it, of some weight in all; or why it leads nowhere.
    pub(super) chunks: Result<Vec<&'a Arc<Chunk>>, NoHost>,
}

/// The portions of these loads, end to end: all healthy hosts by priority, then all degraded ones.
/// `chunks` has an element for each priority.
pub(super) fn portions<'a>(
    fail_traffic_on_panic: bool,
    loads: &Loads,
    chunks: &'a [Chunks],
) -> Vec<Portion<'a>> {
    let mut portions = Vec::new();
    let mut sum = 0;
    for source in [Source::Healthy, Source::Degraded] {
        for (priority, chunks) in (0..).zip(chunks) {
            let index = priority as usize;
            let load = match source {
                Source::Degraded => loads.degraded[index],
                _ => loads.healthy[index],
            };
            if load == 0 {
                continue;
            }
            let panic = loads.panic[index];
            let source = if panic { Source::All } else { source };
            let chunks = match chunks_of(chunks, source) {
                _ if panic && fail_traffic_on_panic => Err(NoHost::Panic),
                chunks if chunks.is_empty() => Err(NoHost::Empty),
                chunks => Ok(chunks),
            };
            let start = u128::from(sum) << 32;
            sum += load;
            debug_assert!(sum <= SCALE, "loads exceed the whole");
            let end = u128::from(sum) << 32;
            portions.push(Portion { start, end, priority, source, panic, chunks });
        }
    }
    portions
}

fn chunks_of(chunks: &Chunks, source: Source) -> Vec<&Arc<Chunk>> {
    match source {
        Source::Healthy => chunks.healthy.iter().collect(),
        Source::Degraded => chunks.degraded.iter().collect(),
        Source::All => {
            chunks.healthy.iter().chain(&chunks.degraded).chain(&chunks.failed).collect()
        }
    }
}

/// Divides numbers from `start` to `end` among chunks by their weight; calls `each` with every
/// chunk and the interval that it gets.
pub(super) fn divide<'a>(
    (start, end): (u128, u128),
    chunks: &[&'a Arc<Chunk>],
    mut each: impl FnMut(&'a Arc<Chunk>, u128, u128),
) {
    let total: u128 = chunks.iter().map(|chunk| chunk.total).sum();
    // Products fit if the total has at most 63 bits; what is shifted out is below a billionth.
    let shift = (u128::BITS - total.leading_zeros()).saturating_sub(63);
    let (mut sum, mut from) = (0, start);
    for chunk in chunks {
        sum += chunk.total;
        let to = start + (end - start) * (sum >> shift) / (total >> shift);
        each(chunk, from, to);
        from = to;
    }
}

/// The low 64 bits.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn low_half(x: u128) -> u64 {
    x as u64
}

/// The length of an interval in parts of the whole.
#[allow(clippy::cast_precision_loss)] // for people
pub(super) fn share(start: u64, last: u64) -> f64 {
    ((last - start) as f64 + 1.0) / 18_446_744_073_709_551_616.0
}

impl Portion<'_> {
    /// What a recorder is told of a number in here.
    pub(super) fn choice(&self, hash: u64) -> PriorityChoice {
        let Self { priority, source, panic, .. } = *self;
        PriorityChoice { hash, priority, source, panic }
    }
}
