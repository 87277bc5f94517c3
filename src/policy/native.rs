//! The tables of `behavior: native`: nested intervals.
//!
//! The unit interval is cut into levels, one for each chunk (priority, health class, locality)
//! that gets traffic, as long as the chunk's share. Inside a level the hosts of its chunk divide
//! it again. A health change rebuilds the chunks it touches and the few levels on top.
//!
//! `random` draws one number, which chooses the level; `splitmix64` of it chooses the host, so
//! that the two decisions are independent. `round_robin` walks a cursor in golden-ratio steps over
//! the same intervals: the rest of the number inside the level chooses the host, so that no
//! priority, locality or host is ever more than a few picks ahead or behind.

use super::{
    Candidate, Counter, HostId, Mode, NoHost, PriorityChoice, Recorder, Source, State, attempts,
};
use crate::config::Policy;
use crate::priority::{Loads, native::SCALE};
use crate::rng::{GOLDEN, splitmix64};
use crate::schedule::{Guide, Schedule, Walk};
use crate::sync::Arc;

/// The hosts of one priority, health class and locality.
#[derive(Debug)]
pub(crate) struct Chunk {
    hosts: Box<[HostId]>,
    weights: Box<[u32]>,
    total: u64,
    walk: Walk,
    schedule: Schedule,
}

impl Chunk {
    /// A chunk of at least one host; `weights` goes with `hosts`.
    pub(crate) fn new(hosts: Vec<HostId>, weights: Vec<u32>, walk: Walk) -> Self {
        Self {
            schedule: Schedule::new(&weights, walk),
            total: weights.iter().map(|&weight| u64::from(weight)).sum(),
            hosts: hosts.into(),
            weights: weights.into(),
            walk,
        }
    }

    /// Whether the chunk was made from these hosts and weights for this walk.
    pub(crate) fn is_made_from(&self, hosts: &[HostId], weights: &[u32], walk: Walk) -> bool {
        self.walk == walk && *self.hosts == *hosts && *self.weights == *weights
    }
}

/// What kind of numbers a policy looks hosts up with.
pub(crate) fn walk(policy: Policy) -> Walk {
    match policy {
        Policy::Random => Walk::Random,
        Policy::RoundRobin => Walk::Cursor,
    }
}

/// The chunks of one priority, by health, each in the order of its localities.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    pub(crate) healthy: Vec<Arc<Chunk>>,
    pub(crate) degraded: Vec<Arc<Chunk>>,
    /// Unhealthy hosts that panic may use.
    pub(crate) failed: Vec<Arc<Chunk>>,
}

/// One chunk's share of the unit interval.
#[derive(Debug)]
struct Level {
    /// What a number in here leads to.
    chunk: Result<Arc<Chunk>, NoHost>,
    start: u64,
    /// The last number's distance from `start`.
    span: u64,
    /// [`rest`](Self::rest) multiplies instead of dividing: 2^127 over the normalized length.
    inverse: u64,
    shift: u32,
    priority: u32,
    source: Source,
    panic: bool,
}

impl Level {
    /// Where in the level `x` is, stretched to the whole of 2^64.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // less than 2^64, see `inverse`
    fn rest(&self, x: u64) -> u64 {
        let offset = (x - self.start) << self.shift;
        ((u128::from(offset) * u128::from(self.inverse)) >> 63) as u64
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Tables {
    policy: Policy,
    guide: Guide,
    levels: Box<[Level]>,
    /// How many picks may be peeked ahead.
    healthy_hosts: u64,
}

impl Tables {
    /// The tables for these loads; `chunks` has an element for each priority.
    pub(crate) fn new(
        policy: Policy,
        fail_traffic_on_panic: bool,
        loads: &Loads,
        chunks: &[Chunks],
    ) -> Self {
        let mut builder = Builder { levels: Vec::new(), sum: 0 };
        for source in [Source::Healthy, Source::Degraded] {
            for (priority, chunks) in (0..).zip(chunks) {
                let index = priority as usize;
                let load = match source {
                    Source::Healthy => loads.healthy[index],
                    _ => loads.degraded[index],
                };
                let panic = loads.panic[index];
                let share = Share { load, priority, source, panic };
                builder.priority(share, chunks, fail_traffic_on_panic);
            }
        }
        let levels = builder.levels.into_boxed_slice();
        let lasts = levels.iter().map(|level| level.start + level.span).collect();
        let guide = Guide::from_lasts(lasts);
        Self { policy, guide, levels, healthy_hosts: loads.healthy_hosts }
    }

    #[inline]
    pub(crate) fn choose<R: Recorder>(
        &self,
        state: &mut State,
        mode: Mode,
        retries: u32,
        accept: impl FnMut(Candidate) -> bool,
        recorder: &mut R,
    ) -> Result<Candidate, NoHost> {
        match self.policy {
            Policy::Random => self.random(state, mode, retries, accept, recorder),
            Policy::RoundRobin => self.round_robin(state, mode, retries, accept, recorder),
        }
    }

    /// One draw; each further attempt goes on from it.
    #[inline]
    fn random<R: Recorder>(
        &self,
        state: &mut State,
        mode: Mode,
        retries: u32,
        accept: impl FnMut(Candidate) -> bool,
        recorder: &mut R,
    ) -> Result<Candidate, NoHost> {
        let mut number = match mode {
            Mode::Pick => state.stash.pop(),
            Mode::Peek if state.stash.is_full(self.healthy_hosts) => {
                return Err(NoHost::PeekLimit);
            }
            Mode::Peek => None,
        }
        .unwrap_or_else(|| state.draws.next());
        recorder.draw(number);
        if mode == Mode::Peek {
            state.stash.push(number);
        }
        let once = || {
            let x = number;
            number = splitmix64(!x);
            self.find(state, x, |_| splitmix64(x), recorder)
        };
        attempts(retries, once, accept)
    }

    /// No draw; each attempt is a step of the cursor.
    #[inline]
    fn round_robin<R: Recorder>(
        &self,
        state: &mut State,
        mode: Mode,
        retries: u32,
        accept: impl FnMut(Candidate) -> bool,
        recorder: &mut R,
    ) -> Result<Candidate, NoHost> {
        if mode == Mode::Peek {
            let ahead = state.ahead;
            state.look_ahead(self.healthy_hosts)?;
            let x = state.position.wrapping_add(GOLDEN.wrapping_mul(ahead));
            return self.find(state, x, |level| level.rest(x), recorder);
        }
        let once = || {
            let x = state.position;
            state.position = x.wrapping_add(GOLDEN);
            state.ahead = state.ahead.saturating_sub(1);
            self.find(state, x, |level| level.rest(x), recorder)
        };
        attempts(retries, once, accept)
    }

    /// The level of `x`, and in it the host of `inner`'s number.
    #[inline]
    fn find<R: Recorder>(
        &self,
        state: &State,
        x: u64,
        inner: impl FnOnce(&Level) -> u64,
        recorder: &mut R,
    ) -> Result<Candidate, NoHost> {
        let level = &self.levels[self.guide.find(x)];
        let Level { priority, source, panic, .. } = *level;
        recorder.priority(PriorityChoice { hash: x, priority, source, panic });
        if panic {
            state.count(Counter::HealthyPanic);
        }
        let chunk = match &level.chunk {
            Ok(chunk) => chunk,
            Err(why) => return Err(*why),
        };
        let index = chunk.schedule.find(chunk.hosts.len(), inner(level));
        recorder.host(index, chunk.hosts.len());
        Ok(Candidate { host: chunk.hosts[index], priority })
    }

    /// Calls `each` with every host that can be picked and its share of the unit interval. A host
    /// may come several times.
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
        for level in &self.levels {
            let Ok(chunk) = &level.chunk else { continue };
            let unit = (exact(level.span) + 1.0) / TWO_TO_THE_64 / exact(chunk.total);
            for (host, &weight) in chunk.hosts.iter().zip(&chunk.weights) {
                each(host.slot, unit * f64::from(weight));
            }
        }
    }
}

/// What a priority gets of one kind.
#[derive(Debug, Clone, Copy)]
struct Share {
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
}

impl Builder {
    /// The levels of one priority and kind: one for each chunk, by its weight.
    fn priority(&mut self, share: Share, chunks: &Chunks, fail_traffic_on_panic: bool) {
        if share.load == 0 {
            return;
        }
        let start = u128::from(self.sum) << 32;
        self.sum += share.load;
        let end = u128::from(self.sum) << 32;
        debug_assert!(self.sum <= SCALE, "loads exceed the whole");
        if share.panic && fail_traffic_on_panic {
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

    fn level(&mut self, from: u128, to: u128, chunk: Result<Arc<Chunk>, NoHost>, share: Share) {
        let length = to - from;
        if length == 0 {
            return;
        }
        // Normalized to 64 significant bits; a level of the whole interval has 65 and is left.
        let shift = length.leading_zeros().saturating_sub(64);
        let normalized = length << shift;
        let inverse = u64::try_from((1_u128 << 127) / normalized).unwrap_or(u64::MAX);
        self.levels.push(Level {
            chunk,
            start: low_half(from),
            span: low_half(length - 1),
            inverse,
            shift,
            priority: share.priority,
            source: if share.panic { Source::All } else { share.source },
            panic: share.panic,
        });
    }
}

/// The low 64 bits.
#[allow(clippy::cast_possible_truncation)]
fn low_half(x: u128) -> u64 {
    x as u64
}

const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;

#[allow(clippy::cast_precision_loss)] // for shares that people read
fn exact(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
