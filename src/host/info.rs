//! A host as snapshots name it, and what the caller attached to it.

use std::any::Any;
use std::fmt;

use super::directory::Entry;
use super::{Address, CoarseHealth, EdsHealth, HealthFlags, Locality};
use crate::sync::OnceLock;

/// What the caller attaches to a host, a connection pool for instance. It is dropped once no
/// pick and no snapshot can name the host any more, on the thread that notices: one that calls a
/// control function, or that frees the last handle of the cluster; never inside a pick, and never
/// while the engine holds a lock.
pub type HostData = Box<dyn Any + Send + Sync>;

/// What stays the same for a host's whole life. Shared by the model and by every snapshot that
/// names the host, so that the last reference tells when the slot may be used again.
pub(crate) struct HostInfo {
    pub(crate) address: Address,
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    pub(crate) data: OnceLock<HostData>,
}

impl HostInfo {
    pub(crate) fn new(address: Address, slot: u32, generation: u32) -> Self {
        Self { address, slot, generation, data: OnceLock::new() }
    }
}

impl fmt::Debug for HostInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostInfo")
            .field("address", &self.address)
            .field("slot", &self.slot)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

/// A host as one snapshot knows it.
#[derive(Debug, Clone, Copy)]
pub struct HostRef<'a>(&'a Entry);

impl<'a> HostRef<'a> {
    pub(crate) fn new(entry: &'a Entry) -> Self {
        Self(entry)
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> &'a Address {
        &self.0.info.address
    }

    /// Its name; may be empty.
    #[must_use]
    pub fn hostname(&self) -> &'a str {
        &self.0.place.hostname
    }

    /// Where it is.
    #[must_use]
    pub fn locality(&self) -> &'a Locality {
        &self.0.place.locality
    }

    /// Its priority, 0 first.
    #[must_use]
    pub fn priority(&self) -> u32 {
        self.0.priority
    }

    /// Its configured weight.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.0.weight
    }

    /// All its health flags.
    #[must_use]
    pub fn health(&self) -> HealthFlags {
        self.0.flags
    }

    /// What the control plane says of its health.
    #[must_use]
    pub fn eds_health(&self) -> EdsHealth {
        self.0.eds
    }

    /// What balancing makes of its health.
    #[must_use]
    pub fn coarse_health(&self) -> CoarseHealth {
        self.0.flags.coarse()
    }

    /// What was attached to it with [`Cluster::set_host_data`](crate::Cluster::set_host_data).
    #[must_use]
    pub fn data(&self) -> Option<&'a (dyn Any + Send + Sync)> {
        self.0.info.data.get().map(|data| &**data)
    }
}
