//! What the benchmarks share.

pub mod scenario;
