//! What the benchmarks share.
//!
//! | module | what it holds |
//! |---|---|
//! | [`scenario`] | the hosts, the same for every contender |
//! | [`paired`] | how contenders are timed against each other |
//! | [`table`] | how results are printed |
//! | [`counter`] | the time stamp counter |
//! | [`cold`] | how a single cold operation is timed |
//! | [`tail`] | how the slowest of many single operations are found |
//! | [`reporting`] | load reports in their forms, and mutexes to compare with |
//! | [`zones`] | clusters that route by locality |
//! | [`peer`] | Envoy-like structures, in C++ |
//! | [`choosers`] | the weighted choice on its own: the engine's, and others |
//! | [`hashed`] | from a hash to a host, on its own: the engine's tables, and others |
//! | [`c_loops`] | the engine, called from C |
//! | [`schemes`] | ways to share a snapshot |

pub mod c_loops;
#[cfg(not(test))]
pub mod choosers;
pub mod cold;
pub mod counter;
#[cfg(not(test))]
pub mod hashed;
pub mod paired;
pub mod peer;
pub mod reporting;
pub mod scenario;
pub mod schemes;
pub mod table;
pub mod tail;
pub mod zones;

// The engine keeps its tables to itself, so they are compiled in here once more, to be measured on
// their own. Their tests stay with the engine, and what its other modules use is unused here.
#[cfg(not(test))]
#[allow(unused, unreachable_pub)]
#[path = "../../src/hashing/mod.rs"]
mod hashing;
#[cfg(not(test))]
#[allow(unused)]
#[path = "../../src/rng.rs"]
mod rng;
#[cfg(not(test))]
#[allow(unused)]
#[path = "../../src/schedule/mod.rs"]
mod schedule;

/// Where they import from.
#[cfg(not(test))]
mod sync {
    pub(crate) use std::sync::Arc;
}
#[cfg(not(test))]
mod config {
    pub(crate) use plimsoll::config::{HashFunction, MAX_TABLE_SIZE};
}
