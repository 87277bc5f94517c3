//! What one publish contains: everything a pick reads, and everything a dump shows.

use crate::config::{Behavior, ClusterConfig, Policy};
use crate::host::{Cells, Directory, HostRef, Locality};
use crate::policy::{Identity, Tables};
use crate::priority::{Loads, Tally, envoy, native};
use crate::sync::Arc;

/// One immutable state of a cluster.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) tables: Tables,
    pub(crate) identity: Identity,
    /// The counters of the hosts that the tables name.
    pub(crate) cells: Cells,
    pub(crate) directory: Directory,
    pub(crate) version: u64,
    /// What the cluster's clock showed.
    pub(crate) published_ns: u64,
    pub(crate) config: Arc<ClusterConfig>,
    pub(crate) loads: Loads,
    pub(crate) priorities: Box<[Priority]>,
}

/// The hosts of one priority.
#[derive(Debug)]
pub(crate) struct Priority {
    /// Slots in the assignment's order.
    pub(crate) order: Arc<[u32]>,
    pub(crate) tally: Tally,
    /// The local one first, then by name.
    pub(crate) localities: Box<[LocalityTally]>,
}

/// The hosts of one priority and locality.
#[derive(Debug)]
pub(crate) struct LocalityTally {
    pub(crate) locality: Arc<Locality>,
    /// What the assignment gave, or 0.
    pub(crate) weight: u32,
    pub(crate) tally: Tally,
}

/// The weight that the policy uses for a host now.
pub(crate) fn effective_weight(snapshot: &Published, host: HostRef<'_>) -> f64 {
    match (snapshot.config.behavior, snapshot.config.policy) {
        // Envoy's random policy ignores weights.
        (Behavior::Envoy, Policy::Random) => 1.0,
        _ => f64::from(host.weight()),
    }
}

/// A load in percent of all traffic.
#[allow(clippy::cast_precision_loss)] // at most 2^32
pub(crate) fn percent(load: u64, behavior: Behavior) -> f64 {
    let scale = match behavior {
        Behavior::Native => native::SCALE,
        Behavior::Envoy => envoy::SCALE,
    };
    100.0 * load as f64 / scale as f64
}
