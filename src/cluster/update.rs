//! What one update changes.

use crate::config::{Assignment, ClusterConfig, Endpoint};
use crate::host::{Address, HealthEvent, Locality};

/// A batch of changes, applied all or nothing by [`Cluster::apply`](crate::Cluster::apply) and
/// published at most once.
///
/// Whatever the order of the calls that build it, a batch applies its settings first, then its
/// assignment, removals, single hosts, and health events.
///
/// ```
/// use plimsoll::{HealthEvent, Update};
///
/// let update = Update::new()
///     .health("10.0.0.1:80", HealthEvent::Fail)
///     .health("10.0.0.2:80", HealthEvent::Pass);
/// assert!(!update.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Update {
    pub(super) config: Option<ClusterConfig>,
    pub(super) assignment: Option<Assignment>,
    pub(super) removals: Vec<Address>,
    pub(super) upserts: Vec<HostChange>,
    pub(super) health: Vec<(Address, HealthEvent)>,
}

/// One host to add, or to change if its address is known.
#[derive(Debug, Clone, PartialEq)]
pub struct HostChange {
    /// The host.
    pub endpoint: Endpoint,
    /// Its priority, at most [`MAX_PRIORITY`](crate::config::MAX_PRIORITY).
    pub priority: u32,
    /// Where it is.
    pub locality: Locality,
}

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// Whether a snapshot was published; false when nothing changed.
    pub published: bool,
    /// The newest snapshot's version.
    pub version: u64,
}

impl Update {
    /// An update that changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the settings. Workers and host records stay, and where the policy means the same,
    /// positions too.
    pub fn reconfigure(mut self, config: ClusterConfig) -> Self {
        self.config = Some(config);
        self
    }

    /// Replaces all hosts.
    pub fn assign(mut self, assignment: Assignment) -> Self {
        self.assignment = Some(assignment);
        self
    }

    /// Takes one host out, at once. It must be there.
    pub fn remove(mut self, address: impl Into<Address>) -> Self {
        self.removals.push(address.into());
        self
    }

    /// Adds one host, or changes it if its address is known.
    pub fn upsert(mut self, host: HostChange) -> Self {
        self.upserts.push(host);
        self
    }

    /// Reports about one host's health. The host must be there, and in the assignment if the
    /// update has one.
    pub fn health(mut self, address: impl Into<Address>, event: HealthEvent) -> Self {
        self.health.push((address.into(), event));
        self
    }

    /// Whether the update has no change at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
