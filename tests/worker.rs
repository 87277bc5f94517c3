//! The worker's side of the interface: picks, peeks, filters, ends of requests, and what becomes
//! of handles when clusters change or go away.

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{BEHAVIORS, POLICIES, assignment, config, endpoint, goes_by_hash, group, open, plain};
use plimsoll::config::{Behavior, ClusterConfig, Policy};
use plimsoll::{
    Cluster, DoneError, EdsHealth, HealthEvent, MAX_RETRIES, NoHost, Options, Outcome, Pick,
    PickContext, Update, Worker, WorkerOptions,
};

const COUNTED: PickContext = PickContext::new();
const UNCOUNTED: PickContext = PickContext::uncounted();

fn three_hosts(behavior: Behavior, policy: &Policy) -> Cluster {
    open(config(behavior, policy), &assignment(vec![plain(0, 0, 3)]))
}

fn address(worker: &Worker, pick: Pick) -> String {
    worker.host(pick).expect("the pick's own snapshot").address().to_string()
}

fn addresses(worker: &mut Worker, picks: usize) -> Vec<String> {
    let mut next = || {
        let pick = worker.pick(&UNCOUNTED).unwrap();
        address(worker, pick)
    };
    (0..picks).map(|_| next()).collect()
}

fn active(cluster: &Cluster) -> u32 {
    cluster.view().hosts().iter().map(|host| host.active).sum()
}

#[test]
fn a_counted_pick_is_active_until_any_worker_ends_it() {
    for behavior in BEHAVIORS {
        let cluster = three_hosts(behavior, &Policy::Random);
        let (mut one, other) = (cluster.worker().unwrap(), cluster.worker().unwrap());
        let pick = one.pick(&COUNTED).unwrap();
        assert!(pick.counted);
        assert_eq!(active(&cluster), 1);
        let host = address(&one, pick);
        let view = cluster.view();
        let busy = view.hosts().into_iter().find(|host| host.active == 1).unwrap();
        assert_eq!(busy.host.address().as_str(), host);
        other.done(pick, Outcome::Error).unwrap();
        assert_eq!(active(&cluster), 0);
        assert_eq!(one.done(pick, Outcome::Success), Err(DoneError::Stale));
        assert_eq!(active(&cluster), 0, "a second end was counted");
    }
}

#[test]
fn an_uncounted_pick_has_nothing_to_end() {
    for behavior in BEHAVIORS {
        let cluster = three_hosts(behavior, &Policy::ROUND_ROBIN);
        let mut worker = cluster.worker().unwrap();
        let pick = worker.pick(&UNCOUNTED).unwrap();
        assert!(!pick.counted);
        assert_eq!(active(&cluster), 0);
        assert_eq!(worker.done(pick, Outcome::Success), Err(DoneError::NotCounted));
        assert_eq!(worker.done(Pick::default(), Outcome::Success), Err(DoneError::NotCounted));
    }
}

#[test]
fn picks_that_were_never_made_are_refused() {
    let cluster = three_hosts(Behavior::Native, &Policy::Random);
    let worker = cluster.worker().unwrap();
    let invented = Pick { counted: true, ..Pick::default() };
    let beyond = Pick { slot: u32::MAX, ..invented };
    let other_generation = Pick { generation: 7, ..invented };
    for pick in [invented, beyond, other_generation] {
        assert_eq!(worker.done(pick, Outcome::Success), Err(DoneError::Stale), "{pick:?}");
    }
    assert!(worker.host(beyond).is_none() && worker.host(other_generation).is_none());
}

#[test]
fn a_batch_is_as_many_single_picks() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let (one, other) = (three_hosts(behavior, policy), three_hosts(behavior, policy));
            let (mut single, mut batched) = (one.worker().unwrap(), other.worker().unwrap());
            let mut picks = [Pick::default(); 50];
            assert_eq!(batched.pick_batch(&COUNTED, &mut picks), Ok(50));
            assert_eq!(active(&other), 50);
            for pick in picks {
                assert_eq!(single.pick(&COUNTED), Ok(pick), "{behavior:?} {policy:?}");
            }
            assert_eq!(batched.pick_batch(&COUNTED, &mut []), Ok(0));
        }
    }
}

#[test]
fn a_batch_stops_at_the_first_request_without_a_host() {
    // Half of the numbers lead to a priority that panics and fails its traffic.
    let hosts = assignment(vec![
        group(
            0,
            "z",
            vec![endpoint("a:1", EdsHealth::Healthy), endpoint("b:1", EdsHealth::Timeout)],
        ),
        group(1, "z", vec![endpoint("c:1", EdsHealth::Timeout)]),
    ]);
    let config = ClusterConfig {
        fail_traffic_on_panic: true,
        healthy_panic_threshold: 60.0,
        ..config(Behavior::Native, &Policy::ROUND_ROBIN)
    };
    let cluster = open(config, &hosts);
    let mut worker = cluster.worker().unwrap();
    assert_eq!(worker.pick_batch(&COUNTED, &mut [Pick::default(); 9]), Err(NoHost::Panic));
    let none = open(ClusterConfig::new("empty"), &assignment(vec![]));
    let mut worker = none.worker().unwrap();
    assert_eq!(worker.pick_batch(&COUNTED, &mut [Pick::default(); 9]), Err(NoHost::Empty));
    assert_eq!(worker.pick(&COUNTED), Err(NoHost::Empty));
    assert_eq!(none.stats().unwrap().get("upstream_cx_none_healthy"), 2);
}

#[test]
fn a_filter_is_asked_once_for_each_retry_and_the_last_host_is_taken_all_the_same() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let cluster = three_hosts(behavior, policy);
            let mut worker = cluster.worker().unwrap();
            for (retries, asked) in [(0, 0), (1, 1), (5, 5), (u32::MAX, MAX_RETRIES)] {
                let mut questions = 0;
                let context = PickContext { retries, ..UNCOUNTED };
                let pick = worker.pick_filtered(&context, |_, _| {
                    questions += 1;
                    false
                });
                assert!(pick.is_ok());
                assert_eq!(questions, asked, "{behavior:?} {policy:?} with {retries} retries");
            }
        }
    }
}

#[test]
fn a_filter_finds_the_one_host_it_accepts() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let cluster = three_hosts(behavior, policy);
            let mut worker = cluster.worker().unwrap();
            let context = PickContext { retries: 60, ..COUNTED };
            for _ in 0..20 {
                let pick = worker.pick_filtered(&context, |candidate, host| {
                    assert!(!candidate.counted);
                    host.address().as_str() == "10.0.0.2:80"
                });
                assert_eq!(address(&worker, pick.unwrap()), "10.0.0.2:80");
            }
            assert_eq!(active(&cluster), 20, "refused candidates were counted");
        }
    }
}

#[test]
fn retries_in_native_come_to_other_hosts() {
    for policy in &POLICIES {
        let cluster = three_hosts(Behavior::Native, policy);
        let mut worker = cluster.worker().unwrap();
        let context = PickContext { retries: 20, ..UNCOUNTED };
        let mut found = 0;
        for _ in 0..100 {
            let mut first = None;
            let pick = worker.pick_filtered(&context, |candidate, _| {
                *first.get_or_insert(candidate.slot) != candidate.slot
            });
            found += usize::from(Some(pick.unwrap().slot) != first);
        }
        // Twenty more attempts at one host of three fail with a chance of 3^-20.
        assert_eq!(found, 100, "{policy:?}");
    }
}

#[test]
fn peeks_come_true_in_order_until_an_update_voids_them() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            if (behavior, policy) == (Behavior::Envoy, &Policy::LEAST_REQUEST) {
                continue; // has a test of its own: it cannot be peeked
            }
            let cluster = three_hosts(behavior, policy);
            let mut worker = cluster.worker().unwrap();
            if goes_by_hash(policy) {
                assert_eq!(worker.peek(), Err(NoHost::PeekLimit), "nobody knows the next hash");
                continue;
            }
            for round in 0..5 {
                let peeks: Vec<Pick> = (0..3).map(|_| worker.peek().unwrap()).collect();
                assert_eq!(worker.peek(), Err(NoHost::PeekLimit), "three healthy hosts");
                let picks: Vec<Pick> = (0..3).map(|_| worker.pick(&UNCOUNTED).unwrap()).collect();
                assert_eq!(peeks, picks, "{behavior:?} {policy:?}, round {round}");
                worker.peek().unwrap();
                cluster.apply(&Update::new().health("10.0.0.1:80", HealthEvent::Eject)).unwrap();
                let allowed = (0..9).take_while(|_| worker.peek().is_ok()).count();
                assert_eq!(allowed, 2, "the update voids peeks; two hosts are healthy");
                cluster.apply(&Update::new().health("10.0.0.1:80", HealthEvent::Uneject)).unwrap();
            }
        }
    }
}

#[test]
fn peeks_over_several_priorities_come_true_in_native() {
    // Half of the first priority is gone, and both get traffic.
    let hosts = assignment(vec![plain(0, 0, 4), plain(0, 1, 4), plain(1, 0, 8)]);
    for policy in POLICIES.iter().filter(|policy| !goes_by_hash(policy)) {
        let cluster = open(config(Behavior::Native, policy), &hosts);
        let eject =
            |update: Update, host| update.health(format!("10.0.0.{host}:80"), HealthEvent::Eject);
        cluster.apply(&(1..=4).fold(Update::new(), eject)).unwrap();
        let mut worker = cluster.worker().unwrap();
        let mut priorities = [0, 0];
        for round in 0..100 {
            let peeks: Vec<Pick> = (0..9).map(|_| worker.peek().unwrap()).collect();
            let picks: Vec<Pick> = (0..9).map(|_| worker.pick(&UNCOUNTED).unwrap()).collect();
            assert_eq!(peeks, picks, "{policy:?}, round {round}");
            picks.iter().for_each(|pick| priorities[pick.priority as usize] += 1);
        }
        assert!(priorities.iter().all(|&picks| picks > 200), "{policy:?}: {priorities:?}");
    }
}

#[test]
fn peeks_are_limited_by_the_workers_capacity_too() {
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &assignment(vec![plain(0, 0, 50)]));
        for capacity in [0, 1, 7, 64] {
            let options = WorkerOptions { peek_capacity: capacity, ..WorkerOptions::default() };
            let mut worker = cluster.worker_with(options).unwrap();
            let peeked = (0..100).take_while(|_| worker.peek().is_ok()).count();
            assert_eq!(peeked, capacity.min(50), "{behavior:?}");
        }
    }
}

#[test]
fn an_idle_worker_keeps_an_old_snapshot_until_it_refreshes_or_quiesces() {
    let cluster = three_hosts(Behavior::Native, &Policy::Random);
    let live = || cluster.stats().unwrap().get("plimsoll.snapshots_live");
    let (mut idle, mut quiet) = (cluster.worker().unwrap(), cluster.worker().unwrap());
    cluster.apply(&Update::new().remove("10.0.0.1:80")).unwrap();
    assert_eq!((idle.snapshot_version(), live()), (Some(1), 2));
    idle.refresh();
    quiet.quiesce();
    assert_eq!((idle.snapshot_version(), quiet.snapshot_version()), (Some(2), None));
    cluster.tick(1).unwrap();
    assert_eq!(live(), 1);
    assert_eq!(quiet.host(Pick::default()).map(|host| host.address().clone()), None);
    assert!(quiet.pick(&COUNTED).is_ok(), "the next pick takes the newest snapshot again");
    assert_eq!(quiet.snapshot_version(), Some(2));
}

/// Host data that counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn host_data_goes_when_no_pick_and_no_snapshot_can_name_the_host() {
    for behavior in BEHAVIORS {
        let cluster = three_hosts(behavior, &Policy::Random);
        let drops = Arc::new(AtomicUsize::new(0));
        for host in 1..=3 {
            let data = Box::new(Counted(Arc::clone(&drops)));
            cluster.set_host_data(&format!("10.0.0.{host}:80"), data).unwrap();
        }
        let dropped = || drops.load(Ordering::Relaxed);
        let mut worker = cluster.worker().unwrap();
        let pick = worker.pick(&COUNTED).unwrap();
        assert!(worker.host(pick).unwrap().data().unwrap().is::<Counted>());
        cluster.assign(&assignment(vec![plain(0, 7, 1)])).unwrap();
        cluster.tick(1).unwrap();
        assert_eq!(dropped(), 0, "the worker's snapshot names all three hosts");
        worker.refresh();
        cluster.tick(2).unwrap();
        assert_eq!(dropped(), 2, "one of them has an active request");
        worker.done(pick, Outcome::Success).unwrap();
        assert_eq!(dropped(), 2, "an end of a request runs no destructor");
        cluster.tick(3).unwrap();
        assert_eq!(dropped(), 3);
        drop((worker, cluster));
        assert_eq!(dropped(), 3);
    }
}

#[test]
fn a_host_that_comes_back_is_a_new_one_with_a_slot_that_may_be_an_old_one() {
    let cluster = three_hosts(Behavior::Native, &Policy::Random);
    let mut worker = cluster.worker().unwrap();
    let mut slots = HashMap::new();
    for round in 0..50_u32 {
        let one = assignment(vec![plain(0, round % 2 + 10, 1)]);
        cluster.assign(&one).unwrap();
        worker.refresh();
        cluster.tick(1).unwrap();
        let pick = worker.pick(&UNCOUNTED).unwrap();
        let last = slots.insert(pick.slot, pick.generation);
        assert!(last.is_none_or(|last| last < pick.generation), "slot {} again", pick.slot);
    }
    assert!(slots.len() <= 5, "slots are not used again: {}", slots.len());
}

#[test]
fn workers_serve_on_after_their_cluster_and_between_threads() {
    for behavior in BEHAVIORS {
        let cluster = three_hosts(behavior, &Policy::ROUND_ROBIN);
        let mut worker = cluster.worker().unwrap();
        drop(cluster);
        let worker = std::thread::spawn(move || {
            for _ in 0..100 {
                let pick = worker.pick(&COUNTED).unwrap();
                worker.done(pick, Outcome::Success).unwrap();
            }
            worker
        });
        let mut worker = worker.join().unwrap();
        assert!(worker.pick(&COUNTED).is_ok());
    }
}

/// Only what is shared may be used by several threads at once.
const _: () = {
    const fn sends<T: Send>() {}
    const fn is_shared<T: Send + Sync>() {}
    sends::<Worker>();
    is_shared::<Cluster>();
    is_shared::<Update>();
};

#[test]
fn two_proxies_do_not_pick_in_lockstep_unless_they_have_the_same_seed() {
    let hosts = assignment(vec![plain(0, 0, 50)]);
    for policy in &POLICIES {
        let sequence = |seed| {
            let options = Options { seed, ..Options::default() };
            let config = config(Behavior::Native, policy);
            let cluster = Cluster::open(config, &hosts, options).unwrap();
            addresses(&mut cluster.worker().unwrap(), 20)
        };
        assert_eq!(sequence(Some(9)), sequence(Some(9)), "{policy:?}");
        assert_ne!(sequence(Some(9)), sequence(Some(10)), "{policy:?}");
        // Two of a thousand seeds may begin alike; five of them do not.
        let sequences = [None; 5].map(sequence);
        assert!(sequences.iter().any(|it| *it != sequences[0]), "{policy:?}");
    }
}

#[test]
fn a_reconfigured_cluster_keeps_workers_hosts_and_positions() {
    let hosts = assignment(vec![plain(0, 0, 7)]);
    for behavior in BEHAVIORS {
        let config = config(behavior, &Policy::ROUND_ROBIN);
        let (cluster, untouched) = (open(config.clone(), &hosts), open(config.clone(), &hosts));
        let (mut worker, mut other) = (cluster.worker().unwrap(), untouched.worker().unwrap());
        assert_eq!(addresses(&mut worker, 5), addresses(&mut other, 5));
        cluster.set_host_data("10.0.0.1:80", Box::new("kept")).unwrap();
        cluster.apply(&Update::new().health("10.0.0.2:80", HealthEvent::Eject)).unwrap();

        // The policy means the same: positions stay.
        let calmer = ClusterConfig { healthy_panic_threshold: 10.0, ..config.clone() };
        assert!(cluster.reconfigure(calmer.clone()).unwrap().published);
        assert!(!cluster.reconfigure(calmer).unwrap().published, "nothing changed");
        cluster.apply(&Update::new().health("10.0.0.2:80", HealthEvent::Uneject)).unwrap();
        assert_eq!(addresses(&mut worker, 30), addresses(&mut other, 30), "{behavior:?}");

        // Another policy and another behaviour: the same worker goes on.
        for behavior in BEHAVIORS {
            for policy in &POLICIES {
                let next = ClusterConfig { behavior, policy: policy.clone(), ..config.clone() };
                cluster.reconfigure(next).unwrap();
                assert_eq!(addresses(&mut worker, 50).len(), 50, "{behavior:?} {policy:?}");
            }
        }
        let view = cluster.view();
        let kept = view.hosts()[0].host.data().and_then(|data| data.downcast_ref::<&str>());
        assert_eq!(kept, Some(&"kept"));
        let bad = ClusterConfig { healthy_panic_threshold: -1.0, ..config };
        assert_eq!(
            cluster.reconfigure(bad).unwrap_err().field(),
            "common_lb_config.healthy_panic_threshold"
        );
    }
}

#[test]
fn explain_says_what_the_next_pick_does_and_changes_nothing() {
    let hosts = assignment(vec![plain(0, 0, 3), plain(0, 1, 2), plain(1, 0, 4)]);
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let cluster = open(config(behavior, policy), &hosts);
            cluster.apply(&Update::new().health("10.0.0.1:80", HealthEvent::Eject)).unwrap();
            cluster.apply(&Update::new().health("10.0.0.2:80", HealthEvent::Eject)).unwrap();
            let mut worker = cluster.worker().unwrap();
            for _ in 0..200 {
                let twice = [(); 2].map(|()| worker.explain(&UNCOUNTED, None, |_, _| true));
                assert_eq!(twice[0], twice[1], "{behavior:?} {policy:?}");
                let pick = worker.pick(&UNCOUNTED).unwrap();
                let host = twice[0].host.as_ref().unwrap();
                assert_eq!(host.address.as_str(), address(&worker, pick));
                let priority = twice[0].priority.as_ref().unwrap();
                assert_eq!(priority.chosen, pick.priority);
                let draws = (behavior, policy) != (Behavior::Native, &Policy::ROUND_ROBIN);
                assert_eq!(twice[0].draw.is_some(), draws, "{behavior:?} {policy:?}");
            }
        }
    }
}

#[test]
fn explain_with_a_draw_is_the_pick_with_that_draw() {
    let hosts = assignment(vec![plain(0, 0, 9)]);
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &hosts);
        let mut worker = cluster.worker().unwrap();
        for draw in [0, 1, 77, u64::MAX / 3, u64::MAX] {
            let explained = worker.explain(&UNCOUNTED, Some(draw), |_, _| true);
            worker.push_draws(&[draw]);
            let pick = worker.pick(&UNCOUNTED).unwrap();
            assert_eq!(explained.draw, Some(draw));
            assert_eq!(explained.host.unwrap().address.as_str(), address(&worker, pick));
        }
    }
}

#[test]
fn what_a_worker_counted_outlives_it() {
    let hosts = assignment(vec![group(0, "z", vec![endpoint("a:1", EdsHealth::Timeout)])]);
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &hosts);
        for _ in 0..3 {
            let mut worker = cluster.worker().unwrap();
            addresses(&mut worker, 5);
        }
        let stats = cluster.stats().unwrap();
        assert_eq!(stats.get("lb_healthy_panic"), 15, "{behavior:?}");
        cluster.tick(1).unwrap();
        let stats = cluster.stats().unwrap();
        assert_eq!((stats.get("lb_healthy_panic"), stats.get("plimsoll.workers")), (15, 0));
    }
}
