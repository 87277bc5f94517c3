//! What policies share between threads besides snapshots: counts of requests, the clock and the
//! start of slow start, and positions that are installed while workers pick.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loom::thread;
use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, Endpoint, LocalityEndpoints, Policy, RoundRobin, SlowStart,
};
use plimsoll::{Cluster, HealthEvent, HostLoad, Options, Outcome, PickContext, Update};
use plimsoll_loom_tests::check;

const ADDRESSES: [&str; 2] = ["10.0.0.1:80", "10.0.0.2:80"];
const MS: u64 = 1_000_000;

fn group(priority: u32, addresses: &[&str]) -> LocalityEndpoints {
    let endpoints = addresses.iter().map(|&address| Endpoint::new(address)).collect();
    LocalityEndpoints { priority, endpoints, ..LocalityEndpoints::default() }
}

fn open(behavior: Behavior, policy: Policy, checked: bool) -> Cluster {
    let config = ClusterConfig {
        behavior,
        policy,
        active_health_checks: checked,
        ..ClusterConfig::new("model")
    };
    let hosts = Assignment { endpoints: vec![group(0, &ADDRESSES)], ..Assignment::default() };
    let options = Options { seed: Some(2), ..Options::default() };
    Cluster::open(config, &hosts, options).unwrap()
}

#[test]
fn least_request_counts_what_every_worker_counts() {
    let together = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let outcomes = Arc::clone(&together);
    check(move || {
        let cluster = open(Behavior::Native, Policy::LEAST_REQUEST, false);
        let workers = [cluster.worker().unwrap(), cluster.worker().unwrap()];
        let picking = workers.map(|mut worker| {
            thread::spawn(move || {
                let pick = worker.pick(&PickContext::default()).unwrap();
                (worker, pick)
            })
        });
        let [(mut first, a), (_, b)] = picking.map(|thread| thread.join().unwrap());
        let active: Vec<u32> = cluster.view().hosts().iter().map(|host| host.active).collect();
        assert_eq!(active.iter().sum::<u32>(), 2, "a count was lost");
        outcomes[usize::from(a.slot == b.slot)].fetch_add(1, Ordering::Relaxed);
        // The next pick sees both, and goes where there is less.
        let next = first.pick(&PickContext::default()).unwrap();
        if a.slot == b.slot {
            assert_ne!(next.slot, a.slot, "two requests on one of two hosts");
        }
        [a, b, next].into_iter().for_each(|pick| first.done(pick, Outcome::Success).unwrap());
        assert!(cluster.view().hosts().iter().all(|host| host.active == 0));
    });
    // Both draw the same host first: the later one sees the count of the earlier or does not.
    let [apart, same] = together.each_ref().map(|runs| runs.load(Ordering::Relaxed));
    assert!(apart > 0 && same > 0, "{apart} runs apart, {same} together");
}

#[test]
fn loads_that_are_set_while_requests_end_never_go_below_none() {
    check(|| {
        let cluster = open(Behavior::Native, Policy::LEAST_REQUEST, false);
        let mut worker = cluster.worker().unwrap();
        let pick = worker.pick(&PickContext::default()).unwrap();
        let ending = thread::spawn(move || {
            worker.done(pick, Outcome::Success).unwrap();
            worker.pick(&PickContext::default()).unwrap()
        });
        let loads = ADDRESSES.map(|address| (address, HostLoad::active(0)));
        cluster.set_loads(&loads).unwrap();
        let next = ending.join().unwrap();
        for host in cluster.view().hosts() {
            // Whether the request had ended or not when its load was said to be 0.
            assert!(host.active <= 1, "{} requests", host.active);
        }
        assert!(next.counted);
    });
}

#[test]
fn slow_start_begins_once_for_everybody() {
    let starts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let seen_starts = Arc::clone(&starts);
    check(move || {
        let slow_start = Some(SlowStart::new(Duration::from_millis(10)));
        let policy = Policy::RoundRobin(RoundRobin { slow_start });
        let cluster = loom::sync::Arc::new(open(Behavior::Envoy, policy, true));
        let mut worker = cluster.worker().unwrap();
        let checker = {
            let cluster = loom::sync::Arc::clone(&cluster);
            thread::spawn(move || {
                let pass = Update::new().health(ADDRESSES[0], HealthEvent::Pass);
                cluster.apply(&pass).unwrap();
            })
        };
        cluster.tick(5 * MS).unwrap();
        // The pick reads the clock and the start while both may change.
        let explained = worker.explain(&PickContext::default(), None, |_, _| true);
        checker.join().unwrap();
        let seen = explained.host.ok().and_then(|host| host.slow_start);
        let view = cluster.view();
        let agreed = view.hosts()[0].slow_start.expect("in slow start since 0 or 5 ms");
        // 10 ms from the start: 5 are over, or none.
        assert!([5e-3, 10e-3].contains(&agreed.seconds_left), "{agreed:?}");
        seen_starts[usize::from(agreed.seconds_left > 6e-3)].fetch_add(1, Ordering::Relaxed);
        if let Some(seen) = seen {
            let left = [agreed.seconds_left, agreed.seconds_left + 5e-3];
            assert!(left.contains(&seen.seconds_left), "{seen:?} before {agreed:?}");
        }
    });
    assert!(starts.iter().all(|runs| runs.load(Ordering::Relaxed) > 0), "{starts:?}");
}

#[test]
fn positions_are_there_before_a_snapshot_needs_them() {
    check(|| {
        let cluster = open(Behavior::Envoy, Policy::ROUND_ROBIN, false);
        let mut worker = cluster.worker().unwrap();
        let picking = thread::spawn(move || {
            let picks: Vec<u32> = (0..3)
                .map(|_| worker.pick(&PickContext { uncounted: true, ..PickContext::default() }))
                .map(|pick| pick.unwrap().priority)
                .collect();
            (worker, picks)
        });
        // More lists than the first segment of positions has.
        let mut endpoints = vec![group(0, &[])];
        endpoints.push(group(7, &ADDRESSES));
        cluster.assign(&Assignment { endpoints, ..Assignment::default() }).unwrap();
        let (mut worker, picks) = picking.join().unwrap();
        assert!(picks.is_sorted() && picks.iter().all(|priority| [0, 7].contains(priority)));
        let turns: Vec<u32> = (0..4)
            .map(|_| worker.pick(&PickContext { uncounted: true, ..PickContext::default() }))
            .map(|pick| pick.unwrap().slot)
            .collect();
        assert!(turns[0] != turns[1] && turns[..2] == turns[2..], "turns without a position");
    });
}
