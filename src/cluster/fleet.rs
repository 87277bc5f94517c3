//! What a cluster shows of itself to clusters that it is the local cluster of: where its hosts are
//! and how they are.
//!
//! Clusters never call each other. One leaves a new picture of itself whenever it changed; the
//! others look at it when they are called anyway.

use super::model::Model;
use crate::cluster::Cluster;
use crate::host::Locality;
use crate::priority::Tally;
use crate::sync::{Arc, Mutex};

/// The cluster that this proxy itself belongs to, for zone-aware routing: Envoy's
/// `local_cluster_name`. Cheap to copy; it stays valid, and does not change any more, when the
/// cluster is dropped.
///
/// ```
/// use plimsoll::config::{Assignment, ClusterConfig};
/// use plimsoll::{Cluster, Options};
///
/// let proxies = Cluster::open(ClusterConfig::new("proxies"), &Assignment::default(), Options::default())?;
/// let options = Options { local_cluster: Some(proxies.as_local_cluster()), ..Options::default() };
/// let cluster = Cluster::open(ClusterConfig::new("api"), &Assignment::default(), options)?;
/// # Ok::<(), plimsoll::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LocalCluster(Arc<Mutex<Arc<Fleet>>>);

/// The hosts of priority 0 by locality.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    pub(super) zones: Vec<(Arc<Locality>, Tally)>,
}

/// Two handles are the same if they are of the same cluster.
impl PartialEq for LocalCluster {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Cluster {
    /// This cluster as the local cluster of others. They follow its changes with their next control
    /// call, a tick at the latest.
    #[must_use]
    pub fn as_local_cluster(&self) -> LocalCluster {
        self.shared.as_local.clone()
    }
}

impl LocalCluster {
    /// A cluster without hosts.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Arc::default())))
    }

    /// The newest picture.
    pub(super) fn fleet(&self) -> Arc<Fleet> {
        // Nothing can panic while it is locked.
        self.0.lock().map(|fleet| Arc::clone(&fleet)).unwrap_or_default()
    }

    /// Leaves another picture, if it is another.
    pub(super) fn show(&self, model: &Model) {
        let Some(set) = model.priorities.first() else { return };
        let zones = || set.buckets.iter().map(|bucket| (&bucket.locality, bucket.tally));
        let Ok(mut fleet) = self.0.lock() else { return };
        if !fleet.zones.iter().map(|(locality, tally)| (locality, *tally)).eq(zones()) {
            let zones = zones().map(|(locality, tally)| (Arc::clone(locality), tally)).collect();
            *fleet = Arc::new(Fleet { zones });
        }
    }
}

impl Fleet {
    /// The hosts in a locality; none if there is no such locality.
    pub(super) fn zone(&self, locality: &Locality) -> Tally {
        let found = self.zones.iter().find(|(other, _)| **other == *locality);
        found.map_or_else(Tally::default, |(_, tally)| *tally)
    }

    /// All hosts.
    pub(super) fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        self.zones.iter().for_each(|(_, tally)| sum += *tally);
        sum
    }
}
