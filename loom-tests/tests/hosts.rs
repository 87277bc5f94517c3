//! Slots, counters and host data through the public interface.
//!
//! The control side runs as it is, lock included; what it does beside a worker is the model.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::cell::UnsafeCell;
use loom::thread;
use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints, Policy};
use plimsoll::{Cluster, Options, Outcome, PickContext, Update, Worker};
use plimsoll_loom_tests::check;

const ADDRESS: &str = "10.0.0.1:80";

fn assignment(addresses: &[&str]) -> Assignment {
    let endpoints = addresses.iter().map(|&address| Endpoint::new(address)).collect();
    let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
    Assignment { endpoints: vec![group], ..Assignment::default() }
}

fn open() -> Cluster {
    let config = ClusterConfig { policy: Policy::Random, ..ClusterConfig::new("model") };
    let options = Options { seed: Some(1), ..Options::default() };
    Cluster::open(config, &assignment(&[ADDRESS]), options).unwrap()
}

/// Host data whose every use must come before its release.
struct Data {
    uses: UnsafeCell<u32>,
    released: Arc<AtomicUsize>,
}

// SAFETY: the models have one thread at a time use it; loom reports any other order.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl Drop for Data {
    fn drop(&mut self) {
        // SAFETY: `&mut self` is exclusive; loom checks that it really is.
        self.uses.with_mut(|uses| unsafe { *uses += 1 });
        self.released.fetch_add(1, Ordering::Relaxed);
    }
}

fn attach(cluster: &Cluster) -> Arc<AtomicUsize> {
    let released = Arc::new(AtomicUsize::new(0));
    let data = Data { uses: UnsafeCell::new(0), released: Arc::clone(&released) };
    cluster.set_host_data(ADDRESS, Box::new(data)).unwrap();
    released
}

fn use_data(worker: &Worker, pick: plimsoll::Pick) {
    if let Some(host) = worker.host(pick) {
        let data = host.data().expect("data").downcast_ref::<Data>().expect("its type");
        // SAFETY: the model's one worker thread is the only one that uses it.
        data.uses.with_mut(|uses| unsafe { *uses += 1 });
    }
}

#[test]
fn h1_h2_host_data_is_released_after_the_last_request_and_once() {
    check(|| {
        let cluster = open();
        let released = attach(&cluster);
        let mut worker = cluster.worker().unwrap();
        let picking = thread::spawn(move || {
            if let Ok(pick) = worker.pick(&PickContext::default()) {
                use_data(&worker, pick);
                worker.done(pick, Outcome::Success).unwrap();
            }
        });
        cluster.apply(&Update::new().remove(ADDRESS)).unwrap();
        picking.join().unwrap();
        cluster.tick(1).unwrap();
        assert_eq!(released.load(Ordering::Relaxed), 1, "releases once nothing names the host");
    });
}

#[test]
fn h1_a_request_keeps_its_slot_until_it_ends() {
    check(|| {
        let cluster = open();
        let released = attach(&cluster);
        let mut worker = cluster.worker().unwrap();
        let picking = thread::spawn(move || {
            let pick = worker.pick(&PickContext::default());
            worker.refresh();
            (worker, pick)
        });
        let other = Update::new().remove(ADDRESS);
        cluster.apply(&other).unwrap();
        let (mut worker, pick) = picking.join().unwrap();
        worker.refresh();
        cluster.tick(1).unwrap();
        if let Ok(pick) = pick {
            assert_eq!(released.load(Ordering::Relaxed), 0, "released under an active request");
            worker.done(pick, Outcome::Success).unwrap();
            cluster.tick(2).unwrap();
            assert!(worker.done(pick, Outcome::Success).is_err(), "a stale handle was accepted");
        }
        assert_eq!(released.load(Ordering::Relaxed), 1);
    });
}

/// A cell of the caller's that the host's data refers to.
struct Shared(Arc<UnsafeCell<u32>>);

// SAFETY: the model orders its uses by the end of the request alone; loom reports any other order.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn use_it(&self) {
        // SAFETY: loom checks that no other use runs beside it.
        self.0.with_mut(|uses| unsafe { *uses += 1 });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.use_it();
    }
}

#[test]
fn h2_what_was_done_with_the_host_comes_before_its_release() {
    check(|| {
        let cluster = open();
        let data = Shared(Arc::new(UnsafeCell::new(0)));
        let mine = Shared(Arc::clone(&data.0));
        cluster.set_host_data(ADDRESS, Box::new(data)).unwrap();
        let mut worker = cluster.worker().unwrap();
        let pick = worker.pick(&PickContext::default()).unwrap();
        // No snapshot is named any more: only the request keeps the host, and its end orders.
        worker.quiesce();
        let ending = thread::spawn(move || {
            mine.use_it();
            std::mem::forget(mine);
            worker.done(pick, Outcome::Success).unwrap();
            worker
        });
        cluster.apply(&Update::new().remove(ADDRESS)).unwrap();
        // Loom switches threads where two of them meet at one atomic. That they also meet after the
        // request has ended takes a hint.
        thread::yield_now();
        cluster.tick(1).unwrap();
        drop(ending.join().unwrap());
        cluster.tick(2).unwrap();
    });
}

#[test]
fn a_slot_that_is_used_again_counts_for_its_new_host_only() {
    check(|| {
        let cluster = open();
        let mut worker = cluster.worker().unwrap();
        let picking = thread::spawn(move || {
            let pick = worker.pick(&PickContext::default()).ok();
            let ended = pick.map(|pick| worker.done(pick, Outcome::Success));
            assert!(ended.is_none_or(|ended| ended.is_ok()));
            worker.quiesce();
        });
        cluster.assign(&assignment(&["10.0.0.2:80"])).unwrap();
        cluster.tick(1).unwrap();
        cluster.assign(&assignment(&["10.0.0.3:80"])).unwrap();
        picking.join().unwrap();
        let view = cluster.view();
        assert_eq!(view.hosts()[0].active, 0, "a request of another host was counted here");
    });
}

#[test]
fn two_workers_count_on_one_host() {
    check(|| {
        let cluster = open();
        let workers = [cluster.worker().unwrap(), cluster.worker().unwrap()];
        let picking = workers.map(|mut worker| {
            thread::spawn(move || {
                let pick = worker.pick(&PickContext::default()).unwrap();
                (worker, pick)
            })
        });
        let [(first, a), (second, b)] = picking.map(|thread| thread.join().unwrap());
        assert_eq!(cluster.view().hosts()[0].active, 2);
        // Each ends the other's request.
        first.done(b, Outcome::Success).unwrap();
        second.done(a, Outcome::Error).unwrap();
        assert_eq!(cluster.view().hosts()[0].active, 0);
    });
}

#[test]
fn a_worker_outlives_its_cluster() {
    check(|| {
        let cluster = open();
        let released = attach(&cluster);
        let mut worker = cluster.worker().unwrap();
        let picking = thread::spawn(move || {
            let pick = worker.pick(&PickContext::default()).expect("the last snapshot serves");
            use_data(&worker, pick);
            worker.done(pick, Outcome::Success).unwrap();
        });
        drop(cluster);
        picking.join().unwrap();
        assert_eq!(released.load(Ordering::Relaxed), 1, "the last handle frees everything");
    });
}
