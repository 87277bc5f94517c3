//! The weighted choice on its own: a number of hosts, their weights, and the next host again and
//! again. No snapshots, priorities, localities or counters.
//!
//! | module | what it holds |
//! |---|---|
//! | `native` | the engine's tables, and its EDF scheduler |
//! | `peers` | Envoy's EDF scheduler and nginx's smooth round robin, in C++ |
//! | `stride` | gRPC's static stride scheduler |
//! | `libraries` | the tables of the crate `rand_distr` |
//! | `pingora` | the round robin of `pingora-load-balancing`, if the feature `pingora` is on |

mod libraries;
mod native;
mod peers;
#[cfg(feature = "pingora")]
mod pingora;
mod stride;

pub use peers::heap_bytes;

use std::hint::black_box;

/// A choice among hosts.
pub trait Chooser {
    /// The index of the next host.
    fn pick(&mut self) -> u32;

    /// The sum of the indices of the next `count` hosts.
    fn picks(&mut self, count: u64) -> u64 {
        (0..count).map(|_| u64::from(black_box(&mut *self).pick())).sum()
    }
}

/// Makes a chooser from what is there whether anybody chooses or not: hosts and their weights.
pub type Maker = Box<dyn Fn() -> Box<dyn Chooser>>;

/// One way to choose.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// How tables call it.
    pub name: &'static str,
    /// The hosts and their weights, from 1 up.
    pub prepare: fn(&[u32]) -> Maker,
    /// With more hosts than that it takes too long, or does not work.
    pub most_hosts: usize,
    /// A pick looks at every host, or may have to.
    pub visits_all: bool,
    /// Picks a host before it is measured: a new heap is in order, and faster.
    pub seasoning: u64,
}

impl Kind {
    const fn new(name: &'static str, prepare: fn(&[u32]) -> Maker) -> Self {
        Self { name, prepare, most_hosts: usize::MAX, visits_all: false, seasoning: 0 }
    }
}

/// All that give one host a pick; the first is the reference.
pub const KINDS: &[Kind] = &[
    PEER_EDF,
    EDF,
    GUIDE,
    ALIAS,
    Kind {
        most_hosts: 10_000,
        visits_all: true,
        ..Kind::new("smooth round robin (nginx)", peers::smooth)
    },
    Kind::new("static stride, a counter each", stride::own),
    Kind::new("static stride, shared counter (gRPC C++)", stride::shared),
    Kind {
        visits_all: true,
        ..Kind::new("static stride, shared counter (gRPC Go)", stride::as_given)
    },
    Kind::new("rand_distr WeightedAliasIndex", libraries::alias),
    Kind::new("rand_distr WeightedTreeIndex", libraries::tree),
    #[cfg(feature = "pingora")]
    Kind { most_hosts: 65_535, ..Kind::new("pingora round robin", pingora::round_robin) },
];

/// Envoy's scheduler of weighted round robin, in C++.
pub const PEER_EDF: Kind = Kind { seasoning: SEASONING, ..Kind::new("peer: EDF", peers::edf) };

/// The same in the engine.
pub const EDF: Kind = Kind { seasoning: SEASONING, ..Kind::new("the engine's EDF", native::edf) };

/// The table of `round_robin`.
pub const GUIDE: Kind = Kind::new("native guide, golden cursor", native::guide);

/// The table of `random`.
pub const ALIAS: Kind = Kind::new("native alias, random", native::alias);

/// The table of `least_request`: two different hosts a pick, of which the second is given.
pub const LOTTERY: Kind = Kind::new("native lottery, two hosts", native::lottery);

/// As many as other peers get.
const SEASONING: u64 = 50;
