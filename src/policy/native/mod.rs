//! The tables of `behavior: native`: nested intervals.
//!
//! The unit interval is cut into levels, one for each chunk (priority, health class, locality)
//! that gets traffic, as long as the chunk's share: that of its priority, times that of its locality
//! or of its hosts. Inside a level the hosts of its chunk divide
//! it again. A health change rebuilds the chunks it touches and the few levels on top.
//!
//! `random` draws one number, which chooses the level; `splitmix64` of it chooses the host, so
//! that the two decisions are independent. `round_robin` walks a cursor in golden-ratio steps over
//! the same intervals: the rest of the number inside the level chooses the host, so that no
//! priority, locality or host is ever more than a few picks ahead or behind.
//!
//! As long as the hosts that get traffic are few, and none of the levels is out of the ordinary,
//! the two levels are also laid out as one table over all hosts, which a pick looks into first.

mod chunk;
mod flat;
mod hashed;
mod least_request;
mod levels;
mod pool;
mod portions;
mod weights;

pub(crate) use chunk::{Chunk, Chunks, Layout};
pub(crate) use flat::{Drawn, Flattened, Walked};
use flat::{Flat, flatten};
pub(crate) use hashed::{Hashed, Located};
pub(crate) use least_request::LeastRequest;
use levels::{Level, levels};
pub(crate) use portions::Portion;
use portions::portions;
pub(crate) use weights::Weights;

use super::{Candidate, Chosen, Counter, HostId, NoHost, Recorder, State};
use crate::priority::Loads;
use crate::rng::splitmix64;
use crate::schedule::{Guide, Schedule};

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
        let levels = levels(portions(fail_traffic_on_panic, loads, chunks));
        let (hosts, lengths) = flatten(&levels).unwrap_or_default();
        let flat = F::new(&hosts, &lengths);
        let levels = Guide::new(levels.into());
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
        let number = state.stash_number(self.healthy_hosts)?;
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
        if level.panics() {
            state.count(Counter::HealthyPanic);
        }
        let schedule = level.chunk.as_ref().map(|chunk| chunk.schedule());
        match schedule {
            Ok(Some(schedule)) => {
                let numbers = (x, inner(level, x));
                crowded(level, schedule, numbers, state, recorder, end)
            }
            other => {
                recorder.priority(level.choice(x));
                end(Err(other.err().copied().unwrap_or(NoHost::Empty)), state)
            }
        }
    }

    /// Calls `each` with every host that can be picked and its share of the unit interval. A host
    /// may come several times.
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
        for level in self.levels.items() {
            if let Ok(chunk) = &level.chunk {
                chunk.shares(level.share(), &mut each);
            }
        }
    }
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

#[cfg(test)]
mod tests;
