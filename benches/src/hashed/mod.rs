//! From the hash of a request to a host, on its own: the engine's tables and others. No snapshots,
//! priorities or counters.
//!
//! | module | what it holds |
//! |---|---|
//! | `native` | the engine's tables, and Maglev's rule taken literally |
//! | `peers` | Envoy-like tables, in C++ |
//! | `libraries` | the crates `maglev`, `hashring`, `conhash` and `pingora-ketama` |
//! | [`request`] | a request to be hashed |

mod libraries;
mod native;
mod peers;
pub mod request;

pub use native::{MaglevTable, RingTable, filled_literally, ring_minimum};
pub use peers::PeerTable;

use crate::scenario;

/// The number of slots of all Maglev tables.
pub const SLOTS: u32 = 65_537;

/// A table.
pub trait Table {
    /// The index of the host of a hash.
    fn find(&self, hash: u64) -> u32;

    /// The sum of the indexes of the hosts of many hashes: those of the numbers from `first` on.
    fn finds(&self, first: u64, count: u64) -> u64 {
        (first..first + count).map(|number| u64::from(self.find(hash(number)))).sum()
    }
}

/// A hash without pattern for each number; the peers have the same.
#[inline(always)]
#[must_use]
pub fn hash(number: u64) -> u64 {
    let x = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// The hosts of a table in the order of their keys.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// Their addresses.
    pub keys: Vec<String>,
    /// Their weights.
    pub weights: Vec<u32>,
}

impl Hosts {
    /// As many hosts, each with the weight that belongs to its number.
    #[must_use]
    pub fn new(count: u32, weight: impl Fn(u32) -> u32) -> Self {
        let mut hosts: Vec<(String, u32)> =
            (0..count).map(|index| (scenario::address(index), weight(index))).collect();
        hosts.sort();
        let (keys, weights) = hosts.into_iter().unzip();
        Self { keys, weights }
    }
}

/// A way to make a table.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// How lines call it.
    pub name: &'static str,
    /// Makes one over these hosts with so many slots, or about as many points.
    pub make: fn(&Hosts, u32) -> Box<dyn Table>,
    /// With more hosts than that it takes too long.
    pub most_hosts: u32,
    /// It goes by weights.
    pub weighs: bool,
}

impl Kind {
    const fn new(name: &'static str, make: fn(&Hosts, u32) -> Box<dyn Table>) -> Self {
        Self { name, make, most_hosts: u32::MAX, weighs: true }
    }
}

/// Maglev tables; the first is the reference.
pub const MAGLEVS: &[Kind] = &[
    Kind::new("peer: Maglev of shared pointers", peers::pointer_maglev),
    Kind::new("peer: Maglev of bits", peers::compact_maglev),
    Kind::new("native Maglev", native::maglev),
    Kind::new("envoy Maglev", native::envoy_maglev),
    // Last, as it takes half a gigabyte to make, and whoever comes next finds the caches empty.
    Kind { most_hosts: 1_000, weighs: false, ..Kind::new("crate maglev", libraries::maglev) },
];

/// Rings over hosts of equal weight; the first is the reference.
pub const RINGS: &[Kind] = &[
    Kind::new("peer: ketama", peers::ring),
    Kind::new("crate hashring", libraries::hashring),
    Kind::new("crate conhash", libraries::conhash),
    Kind::new("crate pingora-ketama", libraries::pingora),
    Kind::new("native ring", native::ring),
    Kind::new("envoy ring", native::envoy_ring),
];

/// The reference of Maglev tables.
pub const PEER_MAGLEV: Kind = MAGLEVS[0];
/// The reference of rings.
pub const PEER_RING: Kind = RINGS[0];
/// The engine's Maglev table.
pub const NATIVE_MAGLEV: Kind = MAGLEVS[2];
/// The engine's ring.
pub const NATIVE_RING: Kind = RINGS[4];
