//! C and Rust agree on where a hash leads: in single picks, in further attempts and in batches.

// Calling the interface as C does takes raw pointers.
#![allow(unsafe_code)]

use std::ptr::null_mut;

use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, Endpoint, LocalityEndpoints, Maglev, Policy, RingHash,
};
use plimsoll::{Cluster, Options};
use plimsoll_ffi::batch::plimsoll_worker_pick_batch;
use plimsoll_ffi::cluster::{ClusterHandle, plimsoll_cluster_free};
use plimsoll_ffi::pick::{
    PLIMSOLL_PICK_HASHED, PLIMSOLL_PICK_UNCOUNTED, Pick, PickContext, plimsoll_worker_pick,
};
use plimsoll_ffi::status::Status;
use plimsoll_ffi::worker::{WorkerHandle, plimsoll_worker_free, plimsoll_worker_new};

const NO_PICK: Pick = Pick { slot: 0, generation: 0, priority: 0, flags: 0 };

fn cluster(policy: Policy, behavior: Behavior) -> Cluster {
    let host = |index| Endpoint {
        load_balancing_weight: index,
        ..Endpoint::new(format!("10.0.0.{index}:80"))
    };
    let group = LocalityEndpoints {
        endpoints: (1..=7).map(host).collect(),
        ..LocalityEndpoints::default()
    };
    let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
    let config = ClusterConfig { policy, behavior, ..ClusterConfig::new("api") };
    Cluster::open(config, &hosts, Options::default()).expect("a good configuration")
}

fn context(hash: u64, attempt: u32) -> PickContext {
    PickContext {
        size: size_of::<PickContext>(),
        flags: PLIMSOLL_PICK_HASHED | PLIMSOLL_PICK_UNCOUNTED,
        hash,
        attempt,
        ..PickContext::default()
    }
}

fn slot(worker: *mut WorkerHandle, context: &PickContext) -> u32 {
    let mut pick = NO_PICK;
    // SAFETY: the worker is alive and used by this thread only; the rest is ours.
    let status = unsafe { plimsoll_worker_pick(worker, context, &raw mut pick) };
    assert_eq!(status, Status::Ok);
    pick.slot
}

fn slots(worker: *mut WorkerHandle, context: &PickContext) -> Vec<u32> {
    let mut picks = [NO_PICK; 4];
    let mut count = 0;
    // SAFETY: as above; there is room for four.
    let status = unsafe {
        plimsoll_worker_pick_batch(worker, context, picks.as_mut_ptr(), 4, &raw mut count)
    };
    assert_eq!((status, count), (Status::Ok, 4));
    picks.iter().map(|pick| pick.slot).collect()
}

#[test]
fn a_hash_leads_to_the_same_host_as_in_rust() {
    let policies = [Policy::Maglev(Maglev::default()), Policy::RingHash(RingHash::default())];
    for (policy, behavior) in policies
        .iter()
        .flat_map(|policy| [Behavior::Native, Behavior::Envoy].map(|it| (policy.clone(), it)))
    {
        let engine = cluster(policy, behavior);
        let mut rust = engine.worker().expect("a worker");
        let handle = ClusterHandle::into_raw(engine);
        let mut c = null_mut();
        // SAFETY: the cluster is alive.
        assert_eq!(unsafe { plimsoll_worker_new(handle, &raw mut c, null_mut()) }, Status::Ok);
        for number in 0..300_u64 {
            let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for attempt in 0..7 {
                let asked = plimsoll::PickContext {
                    hash: Some(hash),
                    attempt,
                    ..plimsoll::PickContext::uncounted()
                };
                let expected = rust.pick(&asked).expect("a host").slot;
                let given = context(hash, attempt);
                assert_eq!(slot(c, &given), expected, "{behavior:?}, {hash}, {attempt}");
                assert_eq!(slots(c, &given), [expected; 4], "{behavior:?}, {hash}, {attempt}");
            }
        }
        // SAFETY: not used any more. So is the cluster.
        unsafe { plimsoll_worker_free(c) };
        // SAFETY: as above.
        unsafe { plimsoll_cluster_free(handle) };
    }
}
