//! How the loads of the priorities cut the unit interval.

use super::chunk::{Chunk, Chunks, Group};
use crate::policy::{NoHost, PriorityChoice, Source};
use crate::priority::Loads;
use crate::priority::native::SCALE;
use crate::sync::Arc;

/// The part of the unit interval that goes to one kind of hosts of one priority, or of one locality
/// in it.
#[derive(Debug)]
pub(crate) struct Portion<'a> {
    pub(super) start: u128,
    /// One more than the last number.
    pub(super) end: u128,
    pub(crate) priority: u32,
    pub(crate) source: Source,
    pub(super) panic: bool,
    /// Its index, if the traffic was divided among localities first.
    pub(crate) locality: Option<u32>,
    /// The chunks that divide it, of some weight in all; or why it leads nowhere.
    pub(crate) chunks: Result<Vec<&'a Arc<Chunk>>, NoHost>,
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
            let panic = loads.panic[index];
            let source = if panic { Source::All } else { source };
            let start = u128::from(sum) << 32;
            sum += load;
            debug_assert!(sum <= SCALE, "loads exceed the whole");
            let end = u128::from(sum) << 32;
            let mut part = |start, end, locality, chunks| {
                if start < end {
                    portions.push(Portion {
                        start,
                        end,
                        priority,
                        source,
                        panic,
                        locality,
                        chunks,
                    });
                }
            };
            if panic && fail_traffic_on_panic {
                part(start, end, None, Err(NoHost::Panic));
                continue;
            }
            let groups = chunks.groups(source);
            if groups.is_empty() {
                part(start, end, None, Err(NoHost::Empty));
                continue;
            }
            divide(
                (start, end),
                groups,
                |group| group.share,
                |Group { locality, chunks, .. }, from, to| {
                    part(from, to, locality, Ok(chunks));
                },
            );
        }
    }
    portions
}

/// Divides numbers from `start` to `end` among items by their weight; calls `each` with every item
/// and the interval that it gets.
pub(super) fn divide<T>(
    (start, end): (u128, u128),
    items: Vec<T>,
    weight: impl Fn(&T) -> u128,
    mut each: impl FnMut(T, u128, u128),
) {
    let total: u128 = items.iter().map(&weight).sum();
    // Products fit if the total has at most 63 bits; what is shifted out is below a billionth.
    let shift = (u128::BITS - total.leading_zeros()).saturating_sub(63);
    let (mut sum, mut from) = (0, start);
    for item in items {
        sum += weight(&item);
        let to = start + (end - start) * (sum >> shift) / (total >> shift);
        each(item, from, to);
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
        let Self { priority, source, panic, locality, .. } = *self;
        PriorityChoice { hash, priority, source, panic, locality }
    }
}
