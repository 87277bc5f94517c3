//! From portions to levels: how the unit interval is cut down to chunks.

use super::chunk::Chunk;
use super::portions::{Portion, divide, low_half, share};
use crate::policy::{HostId, NoHost, PriorityChoice, Recorder};
use crate::schedule::{Interval, Schedule};
use crate::sync::Arc;

/// The levels of these portions, end to end.
pub(super) fn levels(portions: Vec<Portion<'_>>) -> Vec<Level> {
    let mut levels = Vec::new();
    for portion in portions {
        let interval = (portion.start, portion.end);
        let choice = portion.choice(0);
        let mut level = |from, to, chunk| levels.extend(Level::new(from, to, chunk, choice));
        match portion.chunks {
            Ok(chunks) => {
                let weight = |chunk: &&Arc<Chunk>| chunk.total;
                divide(interval, chunks, weight, |chunk, from, to| {
                    level(from, to, Ok(Arc::clone(chunk)));
                });
            }
            Err(why) => level(interval.0, interval.1, Err(why)),
        }
    }
    levels
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
    /// What a recorder is told of it, but for the number.
    choice: PriorityChoice,
}

impl Interval for Level {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }
}

impl Level {
    /// The level from one number up to another, unless it is empty.
    fn new(
        from: u128,
        to: u128,
        chunk: Result<Arc<Chunk>, NoHost>,
        choice: PriorityChoice,
    ) -> Option<Self> {
        let length = to - from;
        if length == 0 {
            return None;
        }
        // Normalized to 64 significant bits; a level of the whole interval has 65 and is left.
        let shift = length.leading_zeros().saturating_sub(64);
        let normalized = length << shift;
        let inverse = u64::try_from((1_u128 << 127) / normalized).unwrap_or(u64::MAX);
        let plain = chunk.as_ref().ok().filter(|_| !choice.panic);
        Some(Self {
            start: low_half(from),
            last: low_half(to - 1),
            inverse,
            shift,
            priority: choice.priority,
            ordinary: plain.and_then(|chunk| chunk.schedule().cloned()),
            chunk,
            choice,
        })
    }

    /// Where in the level `x` is, stretched to the whole of 2^64.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // less than 2^64, see `inverse`
    pub(super) fn rest(&self, x: u64) -> u64 {
        let offset = (x - self.start) << self.shift;
        ((u128::from(offset) * u128::from(self.inverse)) >> 63) as u64
    }

    pub(super) fn choice(&self, x: u64) -> PriorityChoice {
        PriorityChoice { hash: x, ..self.choice }
    }

    pub(super) fn panics(&self) -> bool {
        self.choice.panic
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
    pub(super) fn share(&self) -> f64 {
        share(self.start, self.last)
    }
}
