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
//!
//! As long as the hosts that get traffic are few, and none of the levels is out of the ordinary,
//! the two levels are also laid out as one table over all hosts, which a pick looks into first.

use super::{Candidate, Chosen, Counter, HostId, NoHost, PriorityChoice, Recorder, Source, State};
use crate::config::Policy;
use crate::priority::{Loads, native::SCALE};
use crate::rng::splitmix64;
use crate::schedule::{Alias, Guide, Interval, Schedule, Share, Walk};
use crate::sync::Arc;

/// The hosts of one priority, health class and locality.
#[derive(Debug)]
pub(crate) struct Chunk {
    weights: Box<[u32]>,
    total: u64,
    walk: Walk,
    schedule: Schedule<HostId>,
}

impl Chunk {
    /// A chunk of at least one host; `weights` goes with `hosts`.
    pub(crate) fn new(hosts: &[HostId], weights: Vec<u32>, walk: Walk) -> Self {
        Self {
            schedule: Schedule::new(hosts, &weights, walk),
            total: weights.iter().map(|&weight| u64::from(weight)).sum(),
            weights: weights.into(),
            walk,
        }
    }

    /// Whether the chunk was made from these hosts and weights for this walk.
    pub(crate) fn is_made_from(&self, hosts: &[HostId], weights: &[u32], walk: Walk) -> bool {
        self.walk == walk && *self.weights == *weights && self.schedule.is_over(hosts)
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
    start: u64,
    last: u64,
    /// [`rest`](Self::rest) multiplies instead of dividing: 2^127 over the normalized length.
    inverse: u64,
    shift: u32,
    priority: u32,
    /// The chunk's schedule, at hand, unless the level is out of the ordinary.
    ordinary: Option<Schedule<HostId>>,
    /// What a number in here leads to.
    chunk: Result<Arc<Chunk>, NoHost>,
    source: Source,
    panic: bool,
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
    fn rest(&self, x: u64) -> u64 {
        let offset = (x - self.start) << self.shift;
        ((u128::from(offset) * u128::from(self.inverse)) >> 63) as u64
    }

    fn choice(&self, x: u64) -> PriorityChoice {
        let Self { priority, source, panic, .. } = *self;
        PriorityChoice { hash: x, priority, source, panic }
    }

    fn record<R: Recorder>(&self, x: u64, schedule: Option<&Schedule<HostId>>, recorder: &mut R) {
        recorder.priority(self.choice(x));
        recorder.hosts(schedule.map_or(0, Schedule::len));
    }

    /// The level's share of all numbers.
    #[allow(clippy::cast_precision_loss)] // for people
    fn share(&self) -> f64 {
        ((self.last - self.start) as f64 + 1.0) / 18_446_744_073_709_551_616.0
    }
}

/// One host in the table over all of them, and the level it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flat {
    host: HostId,
    priority: u32,
    level: u32,
}

/// A table over all hosts, of the kind that a policy's numbers want. An empty one finds nothing.
pub(crate) trait Flattened {
    fn new(hosts: &[Flat], lengths: &[u64]) -> Self;
    fn walk(&self, x: u64) -> Option<Flat>;
}

/// For `round_robin`, which walks.
pub(crate) type Walked = Guide<Share<Flat>>;

/// For `random`, which draws.
pub(crate) type Drawn = Alias<Flat>;

impl Flattened for Walked {
    fn new(hosts: &[Flat], lengths: &[u64]) -> Self {
        Self::of_shares(hosts, lengths)
    }

    #[inline(always)]
    fn walk(&self, x: u64) -> Option<Flat> {
        Some(self.walk(x)?.item())
    }
}

impl Flattened for Drawn {
    fn new(hosts: &[Flat], lengths: &[u64]) -> Self {
        Self::new(hosts, lengths)
    }

    #[inline(always)]
    fn walk(&self, x: u64) -> Option<Flat> {
        self.walk(x)
    }
}

/// The most hosts that are laid out in one table: each publish makes it anew.
const FLAT_HOSTS: usize = 4096;

/// See the module.
#[derive(Debug)]
pub(crate) struct Tables<F> {
    flat: F,
    levels: Guide<Level>,
    /// How many picks may be peeked ahead.
    healthy_hosts: u64,
}

impl<F: Flattened> Tables<F> {
    /// The tables for these loads; `chunks` has an element for each priority.
    pub(crate) fn new(fail_traffic_on_panic: bool, loads: &Loads, chunks: &[Chunks]) -> Self {
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
        let (hosts, lengths) = flatten(&builder.levels).unwrap_or_default();
        let flat = F::new(&hosts, &lengths);
        let levels = Guide::new(builder.levels.into());
        Self { flat, levels, healthy_hosts: loads.healthy_hosts }
    }

    /// A step of the cursor, which takes no draw.
    #[inline(always)]
    pub(crate) fn round_robin<R: Recorder, T>(
        &self,
        state: &mut State,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        let x = state.step();
        self.choose(state, x, Level::rest, recorder, end)
    }

    /// The step after those that were peeked.
    pub(crate) fn peek_round_robin(&self, state: &mut State) -> Chosen {
        let x = state.peek_step(self.healthy_hosts)?;
        self.choose(state, x, Level::rest, &mut (), |chosen, _| chosen)
    }

    /// One draw, prepared or new.
    #[inline(always)]
    pub(crate) fn random<R: Recorder, T>(
        &self,
        state: &mut State,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        if state.has_prepared_numbers() {
            return self.random_as_prepared(state, recorder, end);
        }
        let number = state.draws.generate();
        self.at_random(state, number, recorder, end)
    }

    #[cold]
    #[inline(never)]
    fn random_as_prepared<R: Recorder, T>(
        &self,
        state: &mut State,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        let number = state.next_number();
        self.at_random(state, number, recorder, end)
    }

    /// One draw, stashed for the pick that it looks ahead at.
    pub(crate) fn peek_random(&self, state: &mut State) -> Chosen {
        if state.stash.is_full(self.healthy_hosts) {
            return Err(NoHost::PeekLimit);
        }
        let number = state.draws.next();
        state.stash.push(number);
        self.at_random(state, number, &mut (), |chosen, _| chosen)
    }

    /// Another attempt of the same pick, which goes on from the last one's number.
    pub(crate) fn random_again<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        let number = splitmix64(!state.attempt);
        self.at_random(state, number, recorder, |chosen, _| chosen)
    }

    #[inline(always)]
    fn at_random<R: Recorder, T>(
        &self,
        state: &mut State,
        number: u64,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        state.attempt = number;
        recorder.draw(number);
        self.choose(state, number, |_, number| splitmix64(number), recorder, end)
    }

    /// The level of `x`, and in it the host of the number that `inner` makes of `x`.
    ///
    /// What follows goes to `end`, so that whatever is out of the ordinary ends in a call of its
    /// own and the common path has no registers to save.
    #[inline(always)]
    fn choose<R: Recorder, T>(
        &self,
        state: &mut State,
        x: u64,
        inner: impl FnOnce(&Level, u64) -> u64,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        if let Some(Flat { host, priority, level }) = self.flat.walk(x) {
            if R::RECORDS {
                let level = &self.levels.items()[level as usize];
                level.record(x, level.ordinary.as_ref(), recorder);
            }
            return end(Ok(Candidate { host, priority }), state);
        }
        self.choose_nested(state, x, inner, recorder, end)
    }

    /// The same without the table over all hosts.
    #[inline(never)]
    fn choose_nested<R: Recorder, T>(
        &self,
        state: &mut State,
        x: u64,
        inner: impl FnOnce(&Level, u64) -> u64,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        if let Some(level) = self.levels.walk(x)
            && let Some(schedule) = &level.ordinary
        {
            let number = inner(level, x);
            if let Some(host) = schedule.walk(number) {
                level.record(x, Some(schedule), recorder);
                return end(Ok(Candidate { host, priority: level.priority }), state);
            }
            return crowded(level, schedule, (x, number), state, recorder, end);
        }
        self.extraordinary(state, x, inner, recorder, end)
    }

    /// The same for a crowded part of the levels, a level in panic, or one that leads nowhere.
    #[cold]
    #[inline(never)]
    fn extraordinary<R: Recorder, T>(
        &self,
        state: &mut State,
        x: u64,
        inner: impl FnOnce(&Level, u64) -> u64,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        let level = self.levels.find(x);
        if level.panic {
            state.count(Counter::HealthyPanic);
        }
        match &level.chunk {
            Ok(chunk) => {
                let numbers = (x, inner(level, x));
                crowded(level, &chunk.schedule, numbers, state, recorder, end)
            }
            Err(why) => {
                recorder.priority(level.choice(x));
                end(Err(*why), state)
            }
        }
    }

    /// Calls `each` with every host that can be picked and its share of the unit interval. A host
    /// may come several times.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
        for level in self.levels.items() {
            let Ok(chunk) = &level.chunk else { continue };
            let unit = level.share() / chunk.total as f64;
            let mut weights = chunk.weights.iter();
            chunk.schedule.each(|host| {
                let weight = weights.next().copied().unwrap_or(0);
                each(host.slot, unit * f64::from(weight));
            });
        }
    }
}

/// All hosts and their shares of the unit interval in units of 2^-48, if they are few and every
/// level is ordinary.
fn flatten(levels: &[Level]) -> Option<(Vec<Flat>, Vec<u64>)> {
    let mut hosts = Vec::new();
    let mut lengths = Vec::new();
    for (index, level) in (0..).zip(levels) {
        let (schedule, chunk) = (level.ordinary.as_ref()?, level.chunk.as_ref().ok()?);
        if hosts.len() + schedule.len() > FLAT_HOSTS {
            return None;
        }
        schedule.each(|host| hosts.push(Flat { host, priority: level.priority, level: index }));
        // 2^48 times 4096 hosts is what the alias table can multiply.
        let length = u128::from((level.last - level.start) >> 16) + 1;
        let mut from = 0;
        let mut sum = 0;
        lengths.extend(chunk.weights.iter().map(|&weight| {
            sum += u128::from(weight);
            let to = low_half(length * sum / u128::from(chunk.total));
            (to - std::mem::replace(&mut from, to)).max(1)
        }));
    }
    Some((hosts, lengths))
}

/// The host of the second of two numbers, by bisection if need be; the first chose the level.
#[cold]
#[inline(never)]
fn crowded<R: Recorder, T>(
    level: &Level,
    schedule: &Schedule<HostId>,
    (x, number): (u64, u64),
    state: &mut State,
    recorder: &mut R,
    end: impl FnOnce(Chosen, &mut State) -> T,
) -> T {
    level.record(x, Some(schedule), recorder);
    let host = schedule.find(number);
    end(Ok(Candidate { host, priority: level.priority }), state)
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
fn low_half(x: u128) -> u64 {
    x as u64
}

#[cfg(test)]
mod tests;
