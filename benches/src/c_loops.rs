//! The engine as a C program calls it: the loops are compiled C, `peers/c_loops.c`.

use std::ffi::c_void;
use std::ptr;

use plimsoll::Cluster;
use plimsoll_ffi::cluster::{ClusterHandle, plimsoll_cluster_free};
use plimsoll_ffi::pick::PLIMSOLL_PICK_UNCOUNTED;
use plimsoll_ffi::status::Status;
use plimsoll_ffi::worker::{WorkerHandle, plimsoll_worker_free, plimsoll_worker_new};

unsafe extern "C" {
    fn c_picks(worker: *mut c_void, flags: u32, count: u64) -> u64;
    fn c_pairs(worker: *mut c_void, count: u64) -> u64;
    fn c_batches(worker: *mut c_void, flags: u32, count: u64) -> u64;
}

/// A cluster in the hands of C.
#[derive(Debug)]
pub struct CCluster(*mut ClusterHandle);

// SAFETY: the header lets any thread use a cluster.
unsafe impl Sync for CCluster {}

impl CCluster {
    /// Hands a cluster over.
    #[must_use]
    pub fn new(cluster: Cluster) -> Self {
        Self(ClusterHandle::into_raw(cluster))
    }

    /// A worker of it.
    ///
    /// # Panics
    ///
    /// If the engine refuses.
    #[must_use]
    pub fn worker(&self) -> CWorker {
        let mut worker = ptr::null_mut();
        // SAFETY: the cluster is alive, `worker` is writable, and there need not be an error.
        let status = unsafe { plimsoll_worker_new(self.0, &raw mut worker, ptr::null_mut()) };
        assert_eq!(status, Status::Ok);
        CWorker(worker)
    }
}

impl Drop for CCluster {
    fn drop(&mut self) {
        // SAFETY: alive, and nobody uses it any more; workers outlive it.
        unsafe { plimsoll_cluster_free(self.0) };
    }
}

/// A worker in the hands of C.
#[derive(Debug)]
pub struct CWorker(*mut WorkerHandle);

// SAFETY: the header lets a worker move between threads.
unsafe impl Send for CWorker {}

impl CWorker {
    /// Picks, one call each; not ended if counted. The sum of the slots.
    pub fn picks(&mut self, uncounted: bool, count: u64) -> u64 {
        // SAFETY: alive and exclusive.
        unsafe { c_picks(self.0.cast(), flags(uncounted), count) }
    }

    /// Picks that are counted and ended at once, two calls each.
    pub fn pairs(&mut self, count: u64) -> u64 {
        // SAFETY: alive and exclusive.
        unsafe { c_pairs(self.0.cast(), count) }
    }

    /// Picks, 64 by one call.
    pub fn batches(&mut self, uncounted: bool, count: u64) -> u64 {
        // SAFETY: alive and exclusive.
        unsafe { c_batches(self.0.cast(), flags(uncounted), count) }
    }
}

impl Drop for CWorker {
    fn drop(&mut self) {
        // SAFETY: alive, and nobody uses it any more.
        unsafe { plimsoll_worker_free(self.0) };
    }
}

fn flags(uncounted: bool) -> u32 {
    if uncounted { PLIMSOLL_PICK_UNCOUNTED } else { 0 }
}
