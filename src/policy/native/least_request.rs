//! Least request in `behavior: native`: the least busy of a few hosts drawn by weight.
//!
//! A pick takes one random number. It chooses the portion, and what `splitmix64` makes of it and
//! its successors draws the candidates. A host is as busy as its active requests divided by its
//! weight, and of equally busy ones the first drawn is taken: idle hosts get traffic in proportion
//! to their weights, and busy ones are passed over whatever they weigh.
//!
//! The second candidate is never the first. A third and further one may be one that has lost
//! before, which changes nothing. With as many choices as there are hosts all are looked at, and
//! of equally busy ones one is taken by weight.
//!
//! Two choices by active requests alone, out of hosts that are one lottery, are what a pick looks
//! into first: the other ways end in calls of their own.

use super::chunk::Chunks;
use super::flat::FLAT_HOSTS;
use super::pool::{Pool, Ticket};
use super::portions::{Portion, low_half, portions, share};
use crate::host::Cells;
use crate::policy::{
    Candidate, Chosen, Counter, HostId, NoHost, PriorityChoice, Recorder, Selection, State,
};
use crate::priority::Loads;
use crate::rng::splitmix64;
use crate::schedule::{Guide, Interval, Load, Lottery};

/// See the module.
#[derive(Debug)]
pub(crate) struct LeastRequest {
    portions: Guide<Pooled>,
    cells: Cells,
    selection: Selection,
    /// How many picks may be peeked ahead.
    healthy_hosts: u64,
}

/// A portion and its hosts.
#[derive(Debug)]
struct Pooled {
    start: u64,
    last: u64,
    choice: PriorityChoice,
    /// The pool's lottery, at hand, unless the pool or the selection is out of the ordinary.
    ordinary: Option<Lottery<HostId>>,
    pool: Result<Pool, NoHost>,
}

impl Interval for Pooled {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }
}

impl LeastRequest {
    /// The tables for these loads; `chunks` has an element for each priority.
    pub(crate) fn new(
        fail_traffic_on_panic: bool,
        loads: &Loads,
        chunks: &[Chunks],
        cells: Cells,
        selection: Selection,
    ) -> Self {
        let portions = portions(fail_traffic_on_panic, loads, chunks);
        let few = portions.iter().map(Portion::hosts).sum::<usize>() <= FLAT_HOSTS;
        let pooled = portions.iter().map(|portion| Pooled::new(portion, few, selection));
        let portions = Guide::new(pooled.collect());
        Self { portions, cells, selection, healthy_hosts: loads.healthy_hosts }
    }

    /// One draw, prepared or new.
    #[inline(always)]
    pub(crate) fn pick<R: Recorder, T>(
        &self,
        state: &mut State,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        if state.has_prepared_numbers() {
            return self.pick_as_prepared(state, recorder, end);
        }
        let number = state.draws.generate();
        self.choose(state, number, recorder, end)
    }

    #[cold]
    #[inline(never)]
    fn pick_as_prepared<R: Recorder, T>(
        &self,
        state: &mut State,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        let number = state.next_number();
        self.choose(state, number, recorder, end)
    }

    /// One draw, stashed for the pick that it looks ahead at: it comes to the same host as long as
    /// loads are what they are now.
    pub(crate) fn peek(&self, state: &mut State) -> Chosen {
        let number = state.stash_number(self.healthy_hosts)?;
        self.choose(state, number, &mut (), |chosen, _| chosen)
    }

    /// Another attempt of the same pick, which goes on from the last one's number: a host by weight
    /// alone. The least busy one was refused, and would be found again and again.
    pub(crate) fn again<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        let number = splitmix64(!state.attempt);
        state.attempt = number;
        recorder.draw(number);
        let (pool, priority) = self.find(state, number, recorder)?;
        let ticket = pool.draw(splitmix64(number)).ok_or(NoHost::Empty)?;
        Ok(Candidate { host: ticket.host, priority })
    }

    /// What follows goes to `end`, so that whatever is out of the ordinary ends in a call of its
    /// own and the common path has no registers to save.
    #[inline(always)]
    fn choose<R: Recorder, T>(
        &self,
        state: &mut State,
        number: u64,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        state.attempt = number;
        recorder.draw(number);
        if let Some(pooled) = self.walk(number)
            && let Some(lottery) = &pooled.ordinary
            && let Some(host) = lottery
                .less_busy((candidate(number, 0), candidate(number, 1)), |it| {
                    self.cells.load(it.slot)
                })
        {
            if R::RECORDS {
                pooled.record(number, recorder);
            }
            return end(Ok(Candidate { host, priority: pooled.choice.priority }), state);
        }
        self.extraordinary(state, number, recorder, end)
    }

    /// The portion of `number`, if it can be had in a few steps.
    #[inline(always)]
    fn walk(&self, number: u64) -> Option<&Pooled> {
        // One that has everything is mostly the only one.
        match self.portions.items() {
            [portion] => Some(portion),
            _ => self.portions.walk(number),
        }
    }

    /// The same for any pool and selection, and for numbers that draw the same host twice.
    #[inline(never)]
    fn extraordinary<R: Recorder, T>(
        &self,
        state: &mut State,
        number: u64,
        recorder: &mut R,
        end: impl FnOnce(Chosen, &mut State) -> T,
    ) -> T {
        let chosen = self.find(state, number, recorder).and_then(|(pool, priority)| {
            let host = self.best(pool, number).ok_or(NoHost::Empty)?;
            Ok(Candidate { host, priority })
        });
        end(chosen, state)
    }

    /// The pool that `number` leads to, and its priority.
    fn find<R: Recorder>(
        &self,
        state: &State,
        number: u64,
        recorder: &mut R,
    ) -> Result<(&Pool, u32), NoHost> {
        let pooled = self.walk(number).unwrap_or_else(|| self.portions.find(number));
        if pooled.choice.panic {
            state.count(Counter::HealthyPanic);
        }
        pooled.record(number, recorder);
        let pool = pooled.pool.as_ref().map_err(|why| *why)?;
        Ok((pool, pooled.choice.priority))
    }

    /// The least busy of the hosts that are looked at.
    #[allow(clippy::float_cmp)] // the default
    fn best(&self, pool: &Pool, number: u64) -> Option<HostId> {
        let Selection { choices, active_request_bias: bias, counts_pending } = self.selection;
        let active = |host: HostId| self.cells.load(host.slot);
        let all = |host: HostId| self.cells.load_with_pending(host.slot);
        match counts_pending {
            false if bias == 1.0 => best(pool, choices, number, active),
            true if bias == 1.0 => best(pool, choices, number, all),
            false => best(pool, choices, number, |host| biased(active(host).into(), bias)),
            true => best(pool, choices, number, |host| biased(all(host), bias)),
        }
    }

    /// Calls `each` with every host that can be picked and its share of the unit interval while
    /// all are idle. A host may come several times.
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
        for Pooled { start, last, pool, .. } in self.portions.items() {
            if let Ok(pool) = pool {
                pool.shares(share(*start, *last), &mut each);
            }
        }
    }
}

impl Pooled {
    fn new(portion: &Portion<'_>, few: bool, selection: Selection) -> Self {
        let pool = portion.chunks.as_ref().map(|chunks| Pool::new(chunks, few)).map_err(|why| *why);
        let is_ordinary = selection.is_two_by_requests() && !portion.panic;
        let lottery = pool.as_ref().ok().filter(|_| is_ordinary).and_then(Pool::lottery);
        Self {
            start: low_half(portion.start),
            last: low_half(portion.end - 1),
            choice: portion.choice(0),
            ordinary: lottery.filter(|lottery| lottery.len() > 1).cloned(),
            pool,
        }
    }

    fn record<R: Recorder>(&self, number: u64, recorder: &mut R) {
        recorder.priority(PriorityChoice { hash: number, ..self.choice });
        if let Ok(pool) = &self.pool {
            recorder.hosts(pool.hosts);
        }
    }
}

impl Portion<'_> {
    /// The number of its hosts, once for each chunk that they are in.
    fn hosts(&self) -> usize {
        let chunks = self.chunks.as_deref().unwrap_or_default();
        chunks.iter().filter_map(|chunk| chunk.lottery()).map(Lottery::len).sum()
    }
}

impl Selection {
    /// Whether a pick is the less busy of two by the active requests that they have.
    #[allow(clippy::float_cmp)] // the default
    fn is_two_by_requests(self) -> bool {
        self.choices == Some(2) && self.active_request_bias == 1.0 && !self.counts_pending
    }
}

/// The least busy of `choices` hosts, or of all.
#[inline]
fn best<L: Load>(
    pool: &Pool,
    choices: Option<u32>,
    number: u64,
    load: impl Fn(HostId) -> L,
) -> Option<HostId> {
    let drawn = choices.filter(|&choices| choices == 2 || (choices as usize) < pool.hosts);
    let Some(choices) = drawn else { return pool.least_busy(number, load) };
    let first = pool.draw(candidate(number, 0))?;
    if pool.hosts == 1 {
        return Some(first.host);
    }
    let best = (1..u64::from(choices)).fold(first, |best, choice| {
        let next = pool.draw_another(candidate(number, choice), &best);
        less_busy(best, next, &load)
    });
    Some(best.host)
}

/// What draws one of the hosts that are looked at.
#[inline]
fn candidate(number: u64, choice: u64) -> u64 {
    splitmix64(number.wrapping_add(choice))
}

/// The less busy of two hosts; the first, if they are equally busy.
fn less_busy<L: Load>(first: Ticket, second: Ticket, load: impl Fn(HostId) -> L) -> Ticket {
    let own = load(second.host).product(first.weight);
    if own < load(first.host).product(second.weight) { second } else { first }
}

/// How busy a host counts, its weight aside: `(active + 1) ^ bias - 1`.
#[allow(clippy::cast_precision_loss)] // compared only
fn biased(active: u64, bias: f64) -> f64 {
    (active as f64 + 1.0).powf(bias) - 1.0
}

#[cfg(test)]
mod tests;
