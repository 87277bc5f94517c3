//! What the benchmarks share.
//!
//! | module | what it holds |
//! |---|---|
//! | [`scenario`] | the hosts, the same for every contender |
//! | [`paired`] | how contenders are timed against each other |
//! | [`table`] | how results are printed |
//! | [`cold`] | how a single cold operation is timed |
//! | [`peer`] | Envoy-like structures, in C++ |
//! | [`c_loops`] | the engine, called from C |
//! | [`schemes`] | ways to share a snapshot |

pub mod c_loops;
pub mod cold;
pub mod paired;
pub mod peer;
pub mod scenario;
pub mod schemes;
pub mod table;
