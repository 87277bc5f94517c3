//! The hosts of one priority, health class and locality: what is shared between snapshots.

use crate::config::Policy;
use crate::policy::HostId;
use crate::schedule::{Schedule, Walk};
use crate::sync::Arc;

/// The hosts of one priority, health class and locality.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(super) weights: Box<[u32]>,
    pub(super) total: u64,
    pub(super) schedule: Schedule<HostId>,
    walk: Walk,
}

impl Chunk {
    /// A chunk of at least one host; `weights` goes with `hosts`.
    pub(crate) fn new(hosts: &[HostId], weights: Vec<u32>, walk: Walk) -> Self {
        Self {
            schedule: Schedule::new(hosts, &weights, walk),
            total: weights.iter().map(|&weight| u64::from(weight)).sum(),
            weights: weights.into(),
            walk,
        }
    }

    /// Whether the chunk was made from these hosts and weights for this walk.
    pub(crate) fn is_made_from(&self, hosts: &[HostId], weights: &[u32], walk: Walk) -> bool {
        self.walk == walk && *self.weights == *weights && self.schedule.is_over(hosts)
    }
}

/// What kind of numbers a policy looks hosts up with.
pub(crate) fn walk(policy: Policy) -> Walk {
    match policy {
        Policy::Random => Walk::Random,
        Policy::RoundRobin => Walk::Cursor,
    }
}

/// The chunks of one priority, by health, each in the order of its localities.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    pub(crate) healthy: Vec<Arc<Chunk>>,
    pub(crate) degraded: Vec<Arc<Chunk>>,
    /// Unhealthy hosts that panic may use.
    pub(crate) failed: Vec<Arc<Chunk>>,
}
