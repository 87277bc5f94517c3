//! What a cluster is told: its settings, its hosts, and what is wrong with them.
//!
//! These are plain values with public fields. The `plimsoll-envoy-config` crate makes them from
//! Envoy's own JSON and YAML; nothing here reads text.

mod assignment;
mod cluster;
mod error;
mod hashing;
mod locality;
mod override_host;
mod policy;
mod weighted;

pub(crate) use assignment::check_priority;
pub use assignment::{Assignment, Endpoint, LocalityEndpoints, MAX_PRIORITY};
pub use cluster::{Behavior, ClusterConfig};
pub use error::{ConfigError, Problem};
pub use hashing::{
    ConsistentHashing, HashFunction, HashPolicy, HashPolicyKind, MAX_RING_SIZE, MAX_TABLE_SIZE,
    Maglev, RingHash,
};
pub use locality::{LoadAware, LocalityBasis, LocalityRouting, ZoneAware};
pub use override_host::{
    HostStatuses, MetadataKey, OverrideHost, OverrideSource, override_addresses,
};
pub use policy::{
    LeastRequest, MAX_CHOICE_COUNT, Policy, RoundRobin, RuntimeDouble, SelectionMethod, SlowStart,
};
pub use weighted::{ClientSideWeightedRoundRobin, MIN_WEIGHT_UPDATE_PERIOD, OutOfBandReporting};
