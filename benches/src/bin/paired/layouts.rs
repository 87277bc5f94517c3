//! The clusters that picks are measured on.

use plimsoll::Cluster;
use plimsoll::config::{Behavior, Policy};
use plimsoll_benches::peer::{Kind, PeerCluster, PeerWorker};
use plimsoll_benches::scenario::{Layout, assignment, cluster, hosts};

/// From one small list to more hosts than caches hold.
pub(crate) const SIZES: [Size; 5] = [
    Size { layout: Layout::Flat, hosts: 100 },
    Size { layout: Layout::Layered, hosts: 90 },
    Size { layout: Layout::Layered, hosts: 1_000 },
    Size { layout: Layout::Layered, hosts: 10_000 },
    Size { layout: Layout::Layered, hosts: 100_000 },
];

/// One of them.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) layout: Layout,
    pub(crate) hosts: u32,
}

impl Size {
    pub(crate) fn title(self) -> String {
        match self.layout {
            Layout::Flat => format!("{} hosts, one list", self.hosts),
            _ => format!("{} hosts, 3 priorities of 10 localities", self.hosts),
        }
    }

    pub(crate) fn engine(self, behavior: Behavior, policy: Policy, equal_weights: bool) -> Cluster {
        cluster(behavior, policy, &assignment(self.layout, self.hosts, equal_weights))
    }

    pub(crate) fn peer(self, equal_weights: bool) -> PeerCluster {
        PeerCluster::new(self.layout, &hosts(self.layout, self.hosts, equal_weights))
    }
}

/// A peer's worker that has picked for a while: one in the middle of its life, as the engine's
/// schedulers are from the start. Heaps that are new are in order, and faster.
pub(crate) fn seasoned(size: Size, peers: &PeerCluster, kind: Kind, seed: u64) -> PeerWorker {
    let mut worker = peers.worker(kind, seed);
    std::hint::black_box(worker.picks(50 * u64::from(size.hosts)));
    worker
}
