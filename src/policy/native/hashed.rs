//! `ring_hash` and `maglev`: the hash of the request decides everything.
//!
//! One bijection of it chooses the level, that is the priority and the health class; another one
//! the locality, if traffic divides among localities; and the hash itself chooses the host in the
//! locality's table. Keys keep to their level as long as loads let them. Localities stand in a small
//! table by their names, so that one that leaves takes its own keys along and few others, and so
//! that proxies in different places agree.
//!
//! envoy-differs: degraded hosts have tables of their own, attempts find different hosts, and a
//! bounded host has no more than its bound unless its locality as a whole gets more than its part.

mod leaf;

use super::portions::{Portion, low_half, portions, share};
use super::{Candidate, Chosen, Chunks, NoHost};
use crate::hashing::{Maglev, Modulus, Permutation};
use crate::host::Locality;
use crate::policy::hashed::{Balance, HashTable};
use crate::policy::{Counter, PriorityChoice, Recorder, Source, State};
use crate::priority::Loads;
use crate::rng::splitmix64;
use crate::schedule::{Guide, Interval};
use crate::sync::Arc;
use leaf::Leaf;

/// Places in a table of localities, a prime: shares are as exact as one in so many.
const PLACES: u32 = 4093;

/// See the module.
#[derive(Debug)]
pub(crate) struct Hashed {
    levels: Guide<Level>,
    balance: Option<Balance>,
}

/// The hosts of one portion of the traffic: their table, and where they are if that matters.
pub(crate) type Located = (Option<Arc<Locality>>, Arc<HashTable<u64>>);

/// One kind of hosts of a priority, and the part of the unit interval that leads to it.
#[derive(Debug)]
struct Level {
    last: u64,
    choice: PriorityChoice,
    leaves: Result<Leaves, NoHost>,
}

/// The tables of a level: one, or one for each locality.
#[derive(Debug)]
struct Leaves {
    leaves: Box<[Leaf]>,
    by_number: Option<Maglev>,
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
        mut table: impl FnMut(&Portion<'_>) -> Option<Located>,
    ) -> Self {
        let portions = portions(fail_traffic_on_panic, loads, chunks);
        let kind = |portion: &Portion<'_>| (portion.priority, portion.source, portion.panic);
        let of_one_kind = portions.chunk_by(|one, next| {
            kind(one) == kind(next) && one.locality.is_some() && next.locality.is_some()
        });
        let levels = of_one_kind.map(|portions| Level::new(portions, &mut table));
        Self { levels: Guide::new(levels.collect()), balance }
    }

    /// The first attempt: by the hash of the request, or by a number.
    pub(crate) fn pick<R: Recorder>(
        &self,
        hash: Option<u64>,
        state: &mut State,
        recorder: &mut R,
    ) -> Chosen {
        let hash = state.begin_hashed(hash, recorder);
        self.at(state, hash, recorder)
    }

    /// Another attempt of the same pick, at another host.
    pub(crate) fn again<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        state.request.attempt = state.request.attempt.saturating_add(1);
        self.at(state, state.attempt, recorder)
    }

    #[inline]
    fn at<R: Recorder>(&self, state: &State, hash: u64, recorder: &mut R) -> Chosen {
        let number = splitmix64(hash);
        let level = self.level(number);
        if level.choice.panic {
            state.count(Counter::HealthyPanic);
        }
        let choice = PriorityChoice { hash, ..level.choice };
        let leaves = level.leaves.as_ref().map_err(|&why| {
            recorder.priority(choice);
            why
        })?;
        let leaf = leaves.get(number);
        recorder.priority(PriorityChoice { locality: leaf.locality, ..choice });
        recorder.hosts(leaf.table.len());
        let attempt = state.request.attempt;
        let member = match &self.balance {
            None => leaf.table.distinct(hash, attempt),
            Some(balance) => leaf.balanced(balance, state, (hash, attempt)),
        };
        Ok(Candidate { host: leaf.table.host(member), priority: level.choice.priority })
    }

    #[inline]
    fn level(&self, number: u64) -> &Level {
        match self.levels.items() {
            [level] => level,
            _ => self.levels.walk(number).unwrap_or_else(|| self.levels.find(number)),
        }
    }

    /// Whether hosts are bounded.
    pub(crate) fn is_balanced(&self) -> bool {
        self.balance.is_some()
    }

    /// Calls `each` with every host that can be picked and its share of the traffic. A host may
    /// come several times.
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
        for leaf in self.levels.items().iter().flat_map(Level::leaves) {
            leaf.table.shares(leaf.share, &mut each);
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
        levels.filter(is_asked).flat_map(Level::leaves).map(|leaf| &*leaf.table)
    }
}

impl Level {
    /// The level of at least one portion: of a single one, or of all localities of one kind.
    fn new(
        portions: &[Portion<'_>],
        mut table: impl FnMut(&Portion<'_>) -> Option<Located>,
    ) -> Self {
        let (first, last) = (&portions[0], &portions[portions.len() - 1]);
        let (from, to) = (low_half(first.start), low_half(last.end - 1));
        let located = |portion| Some((portion, table(portion)?));
        let leaves = match &first.chunks {
            Ok(_) => Leaves::new(portions.iter().filter_map(located).collect(), share(from, to)),
            Err(why) => Err(*why),
        };
        let choice = PriorityChoice { locality: None, ..first.choice(0) };
        Self { last: to, choice, leaves }
    }

    fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter().flat_map(|leaves| &leaves.leaves)
    }
}

impl Leaves {
    /// The leaves of these portions, all of whose traffic is `share`.
    fn new(portions: Vec<(&Portion<'_>, Located)>, share: f64) -> Result<Self, NoHost> {
        let name = |locality: &Option<Arc<Locality>>| {
            locality.as_ref().map_or_else(String::new, |locality| locality.to_string())
        };
        let named = |(portion, (locality, table))| (name(&locality), portion, table);
        let mut portions: Vec<(String, &Portion<'_>, Arc<HashTable<u64>>)> =
            portions.into_iter().map(named).collect();
        portions.sort_by(|one, other| one.0.cmp(&other.0));
        let by_number = (portions.len() > 1).then(|| {
            let modulus = Modulus::new(PLACES);
            let permutations: Vec<Permutation> =
                portions.iter().map(|(name, ..)| Permutation::new(name, modulus)).collect();
            // Halved, so that the whole of them fits.
            let weight = |portion: &Portion<'_>| low_half((portion.end - portion.start) >> 1);
            let weights: Vec<u64> =
                portions.iter().map(|(_, portion, _)| weight(portion).max(1)).collect();
            Maglev::new(modulus, &permutations, &weights)
        });
        let places = by_number.as_ref().map_or_else(|| vec![1], Maglev::counts);
        let all = f64::from(places.iter().sum::<u32>());
        let leaf = |((_, portion, table), places): ((_, &Portion<'_>, _), u32)| {
            Leaf::new(portion.locality, table, share * (f64::from(places) / all))
        };
        let leaves: Box<[Leaf]> = portions.into_iter().zip(places).map(leaf).collect();
        if leaves.is_empty() { Err(NoHost::Empty) } else { Ok(Self { leaves, by_number }) }
    }

    /// The leaf of the number that chose the level.
    #[inline]
    fn get(&self, number: u64) -> &Leaf {
        let leaf = match &self.by_number {
            None => 0,
            Some(maglev) => maglev.member(maglev.find(splitmix64(number))),
        };
        &self.leaves[leaf as usize]
    }
}
