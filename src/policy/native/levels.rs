//! From loads and chunks to levels: how the unit interval is cut.

use super::chunk::{Chunk, Chunks};
use crate::policy::{HostId, NoHost, PriorityChoice, Recorder, Source};
use crate::priority::{Loads, native::SCALE};
use crate::schedule::{Interval, Schedule};
use crate::sync::Arc;

/// The levels for these loads, in order; `chunks` has an element for each priority.
pub(super) fn levels(fail_traffic_on_panic: bool, loads: &Loads, chunks: &[Chunks]) -> Vec<Level> {
    let mut builder = Builder { levels: Vec::new(), sum: 0, fail_traffic_on_panic };
    for source in [Source::Healthy, Source::Degraded] {
        for (priority, chunks) in (0..).zip(chunks) {
            let index = priority as usize;
            let load = match source {
                Source::Healthy => loads.healthy[index],
                _ => loads.degraded[index],
            };
            let panic = loads.panic[index];
            builder.priority(Portion { load, priority, source, panic }, chunks);
        }
    }
    builder.levels
}

/// One chunk's share of the unit interval.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) start: u64,
    pub(super) last: u64,
    /// [`rest`](Self::rest) multiplies instead of dividing: 2^127 over the normalized length.
    inverse: u64,
    shift: u32,
    pub(super) priority: u32,
    /// The chunk's schedule, at hand, unless the level is out of the ordinary.
    pub(super) ordinary: Option<Schedule<HostId>>,
    /// What a number in here leads to.
    pub(super) chunk: Result<Arc<Chunk>, NoHost>,
    source: Source,
    pub(super) panic: bool,
}

impl Interval for Level {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }
}

impl Level {
    /// Where in the level `x` is, stretched to the whole of 2^64.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // less than 2^64, see `inverse`
    pub(super) fn rest(&self, x: u64) -> u64 {
        let offset = (x - self.start) << self.shift;
        ((u128::from(offset) * u128::from(self.inverse)) >> 63) as u64
    }

    pub(super) fn choice(&self, x: u64) -> PriorityChoice {
        let Self { priority, source, panic, .. } = *self;
        PriorityChoice { hash: x, priority, source, panic }
    }

    pub(super) fn record<R: Recorder>(
        &self,
        x: u64,
        schedule: Option<&Schedule<HostId>>,
        recorder: &mut R,
    ) {
        recorder.priority(self.choice(x));
        recorder.hosts(schedule.map_or(0, Schedule::len));
    }

    /// The level's share of all numbers.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(super) fn share(&self) -> f64 {
        ((self.last - self.start) as f64 + 1.0) / 18_446_744_073_709_551_616.0
    }
}

/// What a priority gets of one kind.
#[derive(Debug, Clone, Copy)]
struct Portion {
    load: u64,
    priority: u32,
    source: Source,
    panic: bool,
}

/// Lays levels end to end.
struct Builder {
    levels: Vec<Level>,
    /// The loads of all levels so far.
    sum: u64,
    fail_traffic_on_panic: bool,
}

impl Builder {
    /// The levels of one priority and kind: one for each chunk, by its weight.
    fn priority(&mut self, share: Portion, chunks: &Chunks) {
        if share.load == 0 {
            return;
        }
        let start = u128::from(self.sum) << 32;
        self.sum += share.load;
        let end = u128::from(self.sum) << 32;
        debug_assert!(self.sum <= SCALE, "loads exceed the whole");
        if share.panic && self.fail_traffic_on_panic {
            self.level(start, end, Err(NoHost::Panic), share);
            return;
        }
        let chunks: Vec<&Arc<Chunk>> = match share.source {
            _ if share.panic => {
                chunks.healthy.iter().chain(&chunks.degraded).chain(&chunks.failed).collect()
            }
            Source::Degraded => chunks.degraded.iter().collect(),
            _ => chunks.healthy.iter().collect(),
        };
        let total: u64 = chunks.iter().map(|chunk| chunk.total).sum();
        if total == 0 {
            self.level(start, end, Err(NoHost::Empty), share);
            return;
        }
        let mut sum = 0;
        let mut from = start;
        for chunk in chunks {
            sum += chunk.total;
            let to = start + (end - start) * u128::from(sum) / u128::from(total);
            self.level(from, to, Ok(Arc::clone(chunk)), share);
            from = to;
        }
    }

    fn level(&mut self, from: u128, to: u128, chunk: Result<Arc<Chunk>, NoHost>, share: Portion) {
        let length = to - from;
        if length == 0 {
            return;
        }
        // Normalized to 64 significant bits; a level of the whole interval has 65 and is left.
        let shift = length.leading_zeros().saturating_sub(64);
        let normalized = length << shift;
        let inverse = u64::try_from((1_u128 << 127) / normalized).unwrap_or(u64::MAX);
        let plain = chunk.as_ref().ok().filter(|_| !share.panic);
        self.levels.push(Level {
            start: low_half(from),
            last: low_half(to - 1),
            inverse,
            shift,
            priority: share.priority,
            ordinary: plain.map(|chunk| chunk.schedule.clone()),
            chunk,
            source: if share.panic { Source::All } else { share.source },
            panic: share.panic,
        });
    }
}

/// The low 64 bits.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn low_half(x: u128) -> u64 {
    x as u64
}
