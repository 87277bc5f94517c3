//! What one publish contains: everything a pick reads, and everything a dump shows.

use crate::config::ClusterConfig;
use crate::host::{Directory, Locality};
use crate::policy::{Identity, Tables};
use crate::priority::{Loads, Tally};
use crate::sync::Arc;

/// One immutable state of a cluster.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) tables: Tables,
    pub(crate) identity: Identity,
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
