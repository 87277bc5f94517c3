//! Envoy-like balancers, written in C++ after descriptions of its structures: `peers/*.cc`.
//!
//! They have what a pick there goes through: a virtual call, a virtual source of random numbers, a
//! loop over priorities, a hash map of schedulers, binary heaps of weak pointers whose weights come
//! from a `std::function`, and a shared pointer to the host as the result. They lack what would
//! make it slower still: runtime look-ups, statistics, contexts and predicates. They are peers to
//! measure against; nothing here was run against Envoy itself.

use std::sync::Once;

use crate::scenario::{Host, Layout};

/// How a peer's worker chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Uniform, by one random number.
    Random = 0,
    /// Earliest deadline first over all hosts of the priority; by turns if all weights are equal.
    RoundRobin = 1,
    /// The same for localities first, then for the hosts of one.
    Localities = 2,
    /// The less busy of two hosts drawn at random; earliest deadline first if weights differ.
    TwoChoices = 3,
    /// The least busy of all hosts; earliest deadline first if weights differ.
    FullScan = 4,
}

pub(crate) mod raw {
    #[repr(C)]
    pub(super) struct Host {
        pub(super) index: u32,
        pub(super) priority: u32,
        pub(super) locality: u32,
        pub(super) weight: u32,
        pub(super) healthy: u32,
    }

    #[repr(C)]
    #[derive(Debug)]
    pub(crate) struct Cluster {
        _opaque: [u8; 0],
    }

    #[repr(C)]
    pub(super) struct Worker {
        _opaque: [u8; 0],
    }

    unsafe extern "C" {
        pub(super) fn peer_cluster_new(
            hosts: *const Host,
            count: usize,
            overprovisioning: u32,
        ) -> *mut Cluster;
        pub(super) fn peer_cluster_free(cluster: *mut Cluster);
        pub(super) fn peer_cluster_flip(cluster: *mut Cluster, index: u32);
        pub(super) fn peer_cluster_rebuild(cluster: *mut Cluster, priority: u32);
        pub(super) fn peer_worker_new(cluster: *mut Cluster, kind: u32, seed: u64) -> *mut Worker;
        pub(super) fn peer_worker_free(worker: *mut Worker);
        pub(super) fn peer_worker_refresh(worker: *mut Worker, priority: u32);
        pub(super) fn peer_worker_pick(worker: *mut Worker) -> u32;
        pub(super) fn peer_worker_picks(worker: *mut Worker, count: u64) -> u64;
        pub(super) fn peer_worker_pairs(worker: *mut Worker, count: u64) -> u64;
        pub(super) fn peer_worker_overlapping(worker: *mut Worker, count: u64) -> u64;
    }
}

/// The hosts of a peer.
#[derive(Debug)]
pub struct PeerCluster {
    pub(crate) raw: *mut raw::Cluster,
    hosts: usize,
    priorities: u32,
}

// SAFETY: what may be shared takes `&self`: making workers, which only reads. Counters of hosts
// are atomic in C++ too.
unsafe impl Sync for PeerCluster {}

impl PeerCluster {
    /// The hosts of a scenario.
    #[must_use]
    pub fn new(layout: Layout, hosts: &[Host]) -> Self {
        start_a_thread();
        let raw_host = |host: &Host| raw::Host {
            index: host.index,
            priority: host.priority,
            locality: host.locality,
            weight: host.weight,
            healthy: u32::from(host.healthy),
        };
        let given: Vec<raw::Host> = hosts.iter().map(raw_host).collect();
        let priorities = hosts.iter().map(|host| host.priority + 1).max().unwrap_or(0);
        let factor = layout.overprovisioning_factor();
        // SAFETY: the array is alive during the call, and indices are below the count.
        let raw = unsafe { raw::peer_cluster_new(given.as_ptr(), given.len(), factor) };
        Self { raw, hosts: hosts.len(), priorities }
    }

    /// Turns the health of one host around. The lists do not show it before they are rebuilt.
    pub fn flip(&mut self, index: u32) {
        assert!((index as usize) < self.hosts, "no such host");
        // SAFETY: alive, exclusive, and the index was checked.
        unsafe { raw::peer_cluster_flip(self.raw, index) };
    }

    /// Makes the lists of one priority anew.
    pub fn rebuild(&mut self, priority: u32) {
        assert!(priority < self.priorities, "no such priority");
        // SAFETY: alive, exclusive, and the priority was checked.
        unsafe { raw::peer_cluster_rebuild(self.raw, priority) };
    }

    /// A worker, which takes the lists as they are.
    #[must_use]
    pub fn worker(&self, kind: Kind, seed: u64) -> PeerWorker {
        // SAFETY: alive.
        let raw = unsafe { raw::peer_worker_new(self.raw, kind as u32, seed) };
        PeerWorker { raw, cluster: self.raw, priorities: self.priorities }
    }
}

impl Drop for PeerCluster {
    fn drop(&mut self) {
        // SAFETY: alive; the lists that workers hold are shared pointers of their own.
        unsafe { raw::peer_cluster_free(self.raw) };
    }
}

/// A worker of a peer.
#[derive(Debug)]
pub struct PeerWorker {
    raw: *mut raw::Worker,
    cluster: *mut raw::Cluster,
    priorities: u32,
}

// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for PeerWorker {}

impl PeerWorker {
    /// One pick, counted. The index of the host.
    pub fn pick(&mut self) -> u32 {
        // SAFETY: alive and exclusive.
        unsafe { raw::peer_worker_pick(self.raw) }
    }

    /// Picks that are counted and not ended. The sum of the hosts' indices.
    pub fn picks(&mut self, count: u64) -> u64 {
        // SAFETY: alive and exclusive.
        unsafe { raw::peer_worker_picks(self.raw, count) }
    }

    /// Picks that are counted and ended at once.
    pub fn pairs(&mut self, count: u64) -> u64 {
        // SAFETY: alive and exclusive.
        unsafe { raw::peer_worker_pairs(self.raw, count) }
    }

    /// Picks that are counted, each of which ends the request of 64 picks ago.
    pub fn overlapping(&mut self, count: u64) -> u64 {
        // SAFETY: alive and exclusive.
        unsafe { raw::peer_worker_overlapping(self.raw, count) }
    }

    /// Takes the lists of one priority over and makes their schedulers anew.
    pub fn refresh(&mut self, cluster: &PeerCluster, priority: u32) {
        assert!(cluster.raw == self.cluster && priority < self.priorities, "not of this cluster");
        // SAFETY: alive and exclusive; the worker's own cluster is, too.
        unsafe { raw::peer_worker_refresh(self.raw, priority) };
    }
}

impl Drop for PeerWorker {
    fn drop(&mut self) {
        // SAFETY: alive.
        unsafe { raw::peer_worker_free(self.raw) };
    }
}

/// The C++ library counts shared pointers without atomics as long as a process has one thread,
/// which no proxy has. So there must be a second one, for good.
pub(crate) fn start_a_thread() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::park();
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::hosts;

    #[test]
    fn a_peer_divides_the_traffic_as_the_scenario_means() {
        let layout = Layout::Layered;
        // Twenty hosts in each locality, so that the percentages come out exactly.
        let hosts = hosts(layout, 600, false);
        let cluster = PeerCluster::new(layout, &hosts);
        let mut of_priority = [0_u32; 3];
        let mut worker = cluster.worker(Kind::RoundRobin, 7);
        let mut priority_of = vec![0; hosts.len()];
        hosts.iter().for_each(|host| priority_of[host.index as usize] = host.priority as usize);
        (0..100_000).for_each(|_| of_priority[priority_of[worker.pick() as usize]] += 1);
        for (picks, percent) in of_priority.into_iter().zip([80_u32, 15, 5]) {
            assert!(picks.abs_diff(percent * 1_000) < 1_000, "{of_priority:?}");
        }
    }
}
