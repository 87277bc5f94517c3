//! `ring_hash` and `maglev`: the hash of the request decides everything.
//!
//! One bijection of it chooses the level, that is the priority, the health class and, if traffic
//! divides among localities, the locality; the hash itself chooses the host in the level's table.
//! Keys keep to their level as long as loads and shares let them, and to their host inside it.
//!
//! envoy-differs: degraded hosts have tables of their own, attempts find different hosts, and a
//! bounded host has no more than its bound unless its level as a whole gets more than its part.

use super::portions::{Portion, low_half, portions, share};
use super::{Candidate, Chosen, Chunks, NoHost};
use crate::hashing::Bound;
use crate::policy::hashed::{Balance, HashTable};
use crate::policy::{Counter, PriorityChoice, Recorder, Source, State};
use crate::priority::Loads;
use crate::rng::{GOLDEN, splitmix64};
use crate::schedule::{Guide, Interval};
use crate::sync::Arc;

/// How many hosts are drawn for a request whose own is full, before all of them are asked. Each
/// has room with a chance of 1 - 100 / factor at least, so that 16 of them seldom all are full.
const DRAWS: u64 = 16;

/// See the module.
#[derive(Debug)]
pub(crate) struct Hashed {
    levels: Guide<Level>,
    balance: Option<Balance>,
}

/// One table and the part of the unit interval that leads to it.
#[derive(Debug)]
struct Level {
    start: u64,
    last: u64,
    choice: PriorityChoice,
    table: Result<Arc<HashTable<u64>>, NoHost>,
}

impl Interval for Level {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }
}

impl Hashed {
    /// The tables for these loads. `table` gives the one for the hosts of a portion.
    pub(crate) fn new(
        fail_traffic_on_panic: bool,
        loads: &Loads,
        chunks: &[Chunks],
        balance: Option<Balance>,
        mut table: impl FnMut(&Portion<'_>) -> Option<Arc<HashTable<u64>>>,
    ) -> Self {
        let level = |portion: Portion<'_>| Level {
            start: low_half(portion.start),
            last: low_half(portion.end - 1),
            choice: portion.choice(0),
            table: match portion.chunks {
                Ok(_) => table(&portion).ok_or(NoHost::Empty),
                Err(why) => Err(why),
            },
        };
        let levels = portions(fail_traffic_on_panic, loads, chunks).into_iter().map(level);
        Self { levels: Guide::new(levels.collect()), balance }
    }

    /// The first attempt: by the hash of the request, or by a number.
    pub(crate) fn pick<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        let hash = state.request.hash.unwrap_or_else(|| {
            let number = state.draws.next();
            recorder.draw(number);
            number
        });
        state.attempt = hash;
        self.at(state, hash, recorder)
    }

    /// Another attempt of the same pick, at another host.
    pub(crate) fn again<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        state.request.attempt = state.request.attempt.saturating_add(1);
        self.at(state, state.attempt, recorder)
    }

    #[inline]
    fn at<R: Recorder>(&self, state: &State, hash: u64, recorder: &mut R) -> Chosen {
        let level = self.level(splitmix64(hash));
        recorder.priority(PriorityChoice { hash, ..level.choice });
        if level.choice.panic {
            state.count(Counter::HealthyPanic);
        }
        let table = level.table.as_ref().map_err(|&why| why)?;
        recorder.hosts(table.len());
        let attempt = state.request.attempt;
        let member = match &self.balance {
            None => table.distinct(hash, attempt),
            Some(balance) => level.balanced(table, balance, state, (hash, attempt)),
        };
        Ok(Candidate { host: table.host(member), priority: level.choice.priority })
    }

    #[inline]
    fn level(&self, x: u64) -> &Level {
        match self.levels.items() {
            [level] => level,
            _ => self.levels.walk(x).unwrap_or_else(|| self.levels.find(x)),
        }
    }

    /// Whether hosts are bounded.
    pub(crate) fn is_balanced(&self) -> bool {
        self.balance.is_some()
    }

    /// Calls `each` with every host that can be picked and its share of the traffic. A host may
    /// come several times.
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
        for level in self.levels.items() {
            if let Ok(table) = &level.table {
                table.shares(share(level.start, level.last), &mut each);
            }
        }
    }

    /// The tables of one kind of hosts of a priority, one for each locality if traffic divides
    /// among them first.
    pub(crate) fn tables(
        &self,
        priority: u32,
        source: Source,
    ) -> impl Iterator<Item = &HashTable<u64>> {
        let levels = self.levels.items().iter();
        let is_asked = move |level: &&Level| {
            (level.choice.priority, level.choice.source) == (priority, source)
        };
        levels.filter(is_asked).filter_map(|level| level.table.as_deref().ok())
    }
}

impl Level {
    /// The host of a hash, unless it has as many requests as it may have; then the first of some
    /// drawn ones that has room, always the same for a hash; then any that has. All together have
    /// room for the level's part of the requests only, so that if more come here than that, none
    /// may have any; then it is the one that is least full.
    //= the bound is that of Mirrokni, Thorup and Zadimoghaddam, Consistent Hashing with Bounded Loads
    #[inline(never)]
    fn balanced(
        &self,
        table: &HashTable<u64>,
        balance: &Balance,
        state: &State,
        (hash, attempt): (u64, u32),
    ) -> u32 {
        let bound = Bound::new(balance.total(), balance.factor);
        let active = |member: u32| balance.load(table.host(member));
        // The level's own part of all requests.
        let length = u128::from(self.last - self.start) + 1;
        let has_room = |member: u32| {
            let part = low_half((u128::from(table.part(member)) * length) >> 64);
            bound.has_room(active(member), part)
        };
        let own = table.distinct(hash, attempt);
        if has_room(own) {
            return own;
        }
        state.count(Counter::BoundedLoad);
        let drawn =
            |step: u64| table.find(splitmix64(hash.wrapping_add(GOLDEN.wrapping_mul(step))));
        let first = u64::from(attempt) * DRAWS;
        let drawn = (first + 1..=first + DRAWS).map(drawn).find(|&member| has_room(member));
        drawn.unwrap_or_else(|| {
            let count = u32::try_from(table.len()).unwrap_or(u32::MAX);
            let start = drawn_start(hash, count);
            let all = (start..count).chain(0..start);
            let fullness = |member: &u32| {
                ((u128::from(active(*member)) + 1) << 32) / u128::from(table.part(*member).max(1))
            };
            let found = all.clone().find(|&member| has_room(member));
            found.or_else(|| all.min_by_key(fullness)).unwrap_or(own)
        })
    }
}

/// Where a hash begins to look through all hosts.
fn drawn_start(hash: u64, count: u32) -> u32 {
    u32::try_from((u128::from(splitmix64(!hash)) * u128::from(count)) >> 64).unwrap_or(0)
}
