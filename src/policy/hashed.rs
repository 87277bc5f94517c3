//! A table from hashes to hosts, as snapshots share it.

use super::HostId;
use crate::hashing::{Maglev, Ring};
use crate::host::Cells;

/// See the module. `W` is what the policy's behaviour has for weights.
#[derive(Debug)]
pub(crate) struct HashTable<W> {
    /// In the order in which bounded load looks at them.
    hosts: Box<[HostId]>,
    /// What each of them deserves of the whole: in units of 2^-32, or as Envoy's normalized weight.
    parts: Box<[W]>,
    /// For each member of the shape, which host it is; `None` if members are the hosts in order.
    members: Option<Box<[u32]>>,
    shape: Shape,
    pub(crate) figures: TableFigures,
}

/// How hashes find their hosts.
#[derive(Debug)]
pub(crate) enum Shape {
    Ring(Ring),
    Maglev(Maglev),
}

/// How the places of a table divide among its hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TableFigures {
    pub(crate) size: u64,
    pub(crate) fewest: u64,
    pub(crate) most: u64,
    /// Hosts without a place.
    pub(crate) without: u64,
}

/// What bounded load goes by, besides a table.
#[derive(Debug)]
pub(crate) struct Balance {
    /// Percent of its fair share that a host may have.
    pub(crate) factor: u32,
    pub(crate) cells: Cells,
}

impl<W: Copy> HashTable<W> {
    /// A table over at least one host. `parts` go with `hosts`, and `size` is what it is said to be.
    pub(crate) fn new(
        hosts: Box<[HostId]>,
        parts: Box<[W]>,
        (shape, members): (Shape, Option<Box<[u32]>>),
        size: u64,
    ) -> Self {
        let figures = TableFigures::default();
        let mut table = Self { hosts, parts, members, shape, figures };
        let counts = table.counts();
        let extreme = |extreme: Option<&u32>| extreme.copied().unwrap_or(0).into();
        table.figures = TableFigures {
            size,
            fewest: extreme(counts.iter().min()),
            most: extreme(counts.iter().max()),
            without: counts.iter().filter(|&&count| count == 0).count() as u64,
        };
        table
    }

    /// How many hosts there are.
    pub(crate) fn len(&self) -> usize {
        self.hosts.len()
    }

    /// The shape, for a table that differs in a few hosts only.
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    #[inline]
    pub(super) fn host(&self, index: u32) -> HostId {
        self.hosts[index as usize]
    }

    #[inline]
    pub(super) fn part(&self, index: u32) -> W {
        self.parts[index as usize]
    }

    /// The index of the host that a member of the shape is.
    #[inline]
    fn index(&self, member: u32) -> u32 {
        self.members.as_ref().map_or(member, |members| members[member as usize])
    }

    /// The index of the host that a hash belongs to.
    #[inline]
    pub(super) fn find(&self, hash: u64) -> u32 {
        self.index(match &self.shape {
            Shape::Ring(ring) => ring.member(ring.find(hash)),
            Shape::Maglev(maglev) => maglev.member(maglev.find(hash)),
        })
    }

    /// The same at an attempt: another host each time, until all have had their turn.
    #[inline]
    pub(super) fn distinct(&self, hash: u64, attempt: u32) -> u32 {
        if attempt == 0 {
            return self.find(hash);
        }
        self.index(match &self.shape {
            Shape::Ring(ring) => ring.distinct(hash, attempt),
            Shape::Maglev(maglev) => maglev.distinct(hash, attempt),
        })
    }

    /// The same as Envoy has it, which may be the same host again.
    pub(super) fn as_envoy(&self, hash: u64, attempt: u32) -> u32 {
        self.index(match &self.shape {
            Shape::Ring(ring) => ring.attempt(hash, attempt),
            Shape::Maglev(maglev) => maglev.attempt(hash, attempt),
        })
    }

    /// The host of every place, in order.
    pub(crate) fn places(&self) -> Box<dyn Iterator<Item = HostId> + '_> {
        let host = |member| self.host(self.index(member));
        match &self.shape {
            Shape::Ring(ring) => Box::new(ring.iter().map(move |(_, member)| host(member))),
            Shape::Maglev(maglev) => Box::new(maglev.iter().map(host)),
        }
    }

    /// How many places each member has.
    fn counts(&self) -> Vec<u32> {
        match &self.shape {
            Shape::Ring(ring) => {
                let mut counts = vec![0; self.hosts.len()];
                ring.iter().for_each(|(_, member)| counts[member as usize] += 1);
                counts
            }
            Shape::Maglev(maglev) => maglev.counts(),
        }
    }

    /// Calls `each` with every slot and the part of all hashes that it gets, all of which is
    /// `share`. A host may come several times.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(super) fn shares(&self, share: f64, each: &mut impl FnMut(u32, f64)) {
        const HASHES: f64 = 18_446_744_073_709_551_616.0;
        match &self.shape {
            Shape::Ring(ring) => {
                // The first point also has what comes after the last, and everything if all are
                // at one place.
                let mut before = ring.iter().last().map_or(0, |(last, _)| last);
                for (index, (hash, member)) in ring.iter().enumerate() {
                    let hashes = hash.wrapping_sub(std::mem::replace(&mut before, hash));
                    let has_all = index == 0 && hashes == 0;
                    let part = if has_all { 1.0 } else { hashes as f64 / HASHES };
                    each(self.host(self.index(member)).slot, share * part);
                }
            }
            Shape::Maglev(_) => {
                let counts = self.counts();
                let places = counts.iter().copied().map(f64::from).sum::<f64>();
                for (member, count) in (0..).zip(counts) {
                    each(self.host(self.index(member)).slot, share * (f64::from(count) / places));
                }
            }
        }
    }
}

impl Balance {
    /// The active requests of a host.
    #[inline]
    pub(super) fn load(&self, host: HostId) -> u32 {
        self.cells.load(host.slot)
    }

    /// Those of all hosts.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.cells.total()
    }
}
