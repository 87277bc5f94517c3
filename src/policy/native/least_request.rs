//! Least request in `behavior: native`: the least busy of a few hosts drawn by weight.
//!
//! A pick takes one random number. It chooses the portion, and what `splitmix64` makes of it and
//! its successors draws the candidates. A host is as busy as its active requests divided by its
//! weight, and of equally busy ones the first drawn is taken: idle hosts get traffic in proportion
//! to their weights, and busy ones are passed over whatever they weigh.
//!
//! The second candidate is never the first. A third and further one may be one that has lost
//! before, which changes nothing. With as many choices as there are hosts all are looked at.

use super::chunk::Chunks;
use super::pool::{Pool, Ticket};
use super::portions::{low_half, portions, share};
use crate::host::Cells;
use crate::policy::{
    Candidate, Chosen, Counter, NoHost, PriorityChoice, Recorder, Selection, State,
};
use crate::priority::Loads;
use crate::rng::splitmix64;
use crate::schedule::{Guide, Interval};

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
        let pooled =
            portions(fail_traffic_on_panic, loads, chunks).into_iter().map(|portion| Pooled {
                start: low_half(portion.start),
                last: low_half(portion.end - 1),
                choice: portion.choice(0),
                pool: portion.chunks.map(Pool::new),
            });
        let portions = Guide::new(pooled.collect());
        Self { portions, cells, selection, healthy_hosts: loads.healthy_hosts }
    }

    /// One draw, prepared or new.
    #[inline]
    pub(crate) fn pick<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        let number = state.next_number();
        let best = |pool: &Pool, first, number| self.best(pool, first, number);
        self.choose(state, number, recorder, best)
    }

    /// One draw, stashed for the pick that it looks ahead at: it comes to the same host as long as
    /// loads are what they are now.
    pub(crate) fn peek(&self, state: &mut State) -> Chosen {
        let number = state.stash_number(self.healthy_hosts)?;
        let best = |pool: &Pool, first, number| self.best(pool, first, number);
        self.choose(state, number, &mut (), best)
    }

    /// Another attempt of the same pick, which goes on from the last one's number: a host by weight
    /// alone. The least busy one was refused, and would be found again and again.
    pub(crate) fn again<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        let number = splitmix64(!state.attempt);
        self.choose(state, number, recorder, |_, first, _| first)
    }

    #[inline]
    fn choose<R: Recorder>(
        &self,
        state: &mut State,
        number: u64,
        recorder: &mut R,
        best: impl FnOnce(&Pool, Ticket, u64) -> Ticket,
    ) -> Chosen {
        state.attempt = number;
        recorder.draw(number);
        let Pooled { choice, pool, .. } = self.portions.find(number);
        recorder.priority(PriorityChoice { hash: number, ..*choice });
        if choice.panic {
            state.count(Counter::HealthyPanic);
        }
        let pool = pool.as_ref().map_err(|why| *why)?;
        recorder.hosts(pool.hosts);
        let first = pool.draw(splitmix64(number)).ok_or(NoHost::Empty)?;
        let host = best(pool, first, number).host;
        Ok(Candidate { host, priority: choice.priority })
    }

    /// The least busy of the hosts that are looked at, the first of which is drawn.
    #[inline]
    fn best(&self, pool: &Pool, first: Ticket, number: u64) -> Ticket {
        match self.selection.choices {
            _ if pool.hosts == 1 => first,
            Some(2) => self.best_of_two(pool, first, number),
            Some(choices) if (choices as usize) < pool.hosts => {
                self.best_of(choices, pool, first, number)
            }
            _ => self.best_of_all(pool, first, number),
        }
    }

    #[inline]
    fn best_of_two(&self, pool: &Pool, first: Ticket, number: u64) -> Ticket {
        let second = challenger(pool, &first, number.wrapping_add(1));
        if self.is_busier(&first, &second) { second } else { first }
    }

    fn best_of(&self, choices: u32, pool: &Pool, first: Ticket, number: u64) -> Ticket {
        let mut best = first;
        for choice in 1..u64::from(choices) {
            let next = challenger(pool, &best, number.wrapping_add(choice));
            if self.is_busier(&best, &next) {
                best = next;
            }
        }
        best
    }

    /// The least busy host; of several, `first` if it is one of them, else one by weight.
    fn best_of_all(&self, pool: &Pool, first: Ticket, mut number: u64) -> Ticket {
        let (mut best, mut tied) = (first, None);
        for next in pool.iter() {
            if self.is_busier(&best, &next) {
                (best, tied) = (next, Some(next.weight));
            } else if let Some(weight) = &mut tied
                && next.host != best.host
                && !self.is_busier(&next, &best)
            {
                *weight += next.weight;
                number = splitmix64(number);
                if unit(number) * *weight < next.weight {
                    best = next;
                }
            }
        }
        best
    }

    /// Whether `a` has more requests for its weight than `b`.
    #[inline]
    fn is_busier(&self, a: &Ticket, b: &Ticket) -> bool {
        self.load(b) * a.weight < self.load(a) * b.weight
    }

    /// How busy a host counts, its weight aside: `(active + 1) ^ bias - 1`.
    #[inline]
    #[allow(clippy::cast_precision_loss, clippy::float_cmp)] // compared only; a shortcut
    fn load(&self, host: &Ticket) -> f64 {
        let active = if self.selection.counts_pending {
            self.cells.load_with_pending(host.host.slot) as f64
        } else {
            f64::from(self.cells.load(host.host.slot))
        };
        let bias = self.selection.active_request_bias;
        if bias == 1.0 { active } else { (active + 1.0).powf(bias) - 1.0 }
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

/// A host by weight that is not `taken`.
#[inline]
fn challenger(pool: &Pool, taken: &Ticket, number: u64) -> Ticket {
    let x = splitmix64(number);
    match pool.draw(x) {
        Some(other) if other.host != taken.host => other,
        _ => pool.draw_other(splitmix64(!x), taken).unwrap_or(*taken),
    }
}

/// A number from 0 up to 1.
#[allow(clippy::cast_precision_loss)] // 53 bits
fn unit(number: u64) -> f64 {
    (number >> 11) as f64 / 9_007_199_254_740_992.0
}
