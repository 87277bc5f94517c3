//! Plimsoll chooses the host for the next request.
//!
//! Hosts, health and load reports go in; the host for the next request comes out, in nanoseconds,
//! without a lock. It does what Envoy 1.40's upstream load balancing does, exactly where asked to
//! ([`Behavior::Envoy`](config::Behavior::Envoy)) and better by default
//! ([`Behavior::Native`](config::Behavior::Native)).
//!
//! # Trade-offs
//!
//! * **Reads are wait-free, writes are not free.** Each change publishes a whole new snapshot,
//!   which shares what did not change. One health change among 100 000 hosts costs tens of
//!   microseconds on the control side and nothing on the worker side.
//! * **Memory**: `W` workers keep at most `2 W + 1` snapshots alive, however long one of them
//!   stalls; a guard of [`Cluster::view`] keeps all later ones.
//! * **Passive**: no threads, no timers, no clock, no logger, no global state. The caller passes
//!   the time and calls [`Cluster::tick`].
//! * **A worker is a handle** for one thread at a time, never a thread-local.
//!
//! # Map
//!
//! [`Cluster`] is the control side, [`Worker`] picks, [`config`] holds what a cluster is told,
//! [`View`] and [`Explanation`] tell what it does and why. [`orca`] reads the load reports of
//! backends.

mod cluster;
pub mod config;
mod error;
mod explain;
mod hashing;
mod host;
mod locality;
pub mod orca;
mod out_of_band;
mod override_host;
mod pick;
mod policy;
mod priority;
mod published;
mod reports;
mod request_hash;
// Public for the models and the benchmarks only; not part of the interface.
#[doc(hidden)]
pub mod records;
mod rng;
mod routes;
mod schedule;
// Public for the models and the benchmarks only; not part of the interface.
#[doc(hidden)]
pub mod snapshot;
mod stats;
mod sync;
mod view;
mod worker;

pub use cluster::{
    Applied, Cluster, HostChange, HostLoad, LocalCluster, Options, Runtime, RuntimeValue,
    StreamTarget, Update,
};
pub use error::Error;
pub use explain::{ExplainedHost, Explanation, LocalityDecision, PriorityDecision};
pub use host::{
    Address, CoarseHealth, EdsHealth, HealthEvent, HealthFlags, HostData, HostRef, Locality,
    MAX_LOAD,
};
pub use out_of_band::{
    ReportStreams, StreamAction, StreamEnd, StreamFrame, StreamHost, StreamStats,
};
pub use pick::{DoneError, MAX_RETRIES, Outcome, Pick, PickContext};
pub use policy::{NoHost, Source};
pub use priority::Tally;
pub use published::Warmup;
pub use reports::{ExportedReports, ReportFailure, ReportRejected, ResponseLoad};
pub use request_hash::{HashInput, NewCookie, RequestHash, hash_request};
pub use routes::{LocalityRoute, Routes};
pub use stats::Stats;
pub use view::{HostView, LocalityView, PriorityView, ReportedLoad, View};
pub use worker::{MAX_PEEKS, Worker, WorkerOptions};

#[cfg(doctest)]
#[doc = include_str!("../docs/localities.md")]
struct Localities;

#[cfg(doctest)]
#[doc = include_str!("../docs/hashing.md")]
struct Hashing;
