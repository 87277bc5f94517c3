//! Real threads: workers pick while a writer publishes random batches.

mod common;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use common::{BEHAVIORS, config, open};
use plimsoll::config::{
    Assignment, Behavior, ClientSideWeightedRoundRobin, ClusterConfig, Endpoint, LoadAware,
    LocalityEndpoints, LocalityRouting, Policy,
};
use plimsoll::orca::Headers;
use plimsoll::{Cluster, EdsHealth, Locality, Outcome, PickContext, ResponseLoad, Worker};

const WORKERS: usize = 4;
const BATCHES: u64 = 10_000;

/// What a version allows: the weight of each host that may be picked. The weight names the
/// version, so that a host of one version under the tables of another is noticed.
type Allowed = Arc<HashMap<String, u32>>;
type Versions = Arc<Mutex<HashMap<u64, Allowed>>>;

/// A small generator for the batches, so that a failure repeats.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// A random assignment for `version`, and what may be picked under it. At least one host is
/// healthy in each priority, and all healthy, so that nothing panics and nothing else may be
/// picked.
fn batch(version: u64, dice: &mut Dice) -> (Assignment, Allowed) {
    let weight = u32::try_from(version).unwrap();
    let mut allowed = HashMap::new();
    let mut groups = Vec::new();
    for priority in 0..=dice.roll(3) {
        for zone in 0..=dice.roll(3) {
            let mut endpoints = Vec::new();
            for host in 0..=dice.roll(5) {
                let address = format!("10.{priority}.{zone}.{host}:80");
                let drains = host > 0 && dice.roll(4) == 0;
                let health_status = if drains { EdsHealth::Draining } else { EdsHealth::Healthy };
                if !drains && priority == 0 {
                    allowed.insert(address.clone(), weight);
                }
                endpoints.push(Endpoint {
                    load_balancing_weight: weight,
                    health_status,
                    ..Endpoint::new(address)
                });
            }
            let locality = Locality::new("", zone.to_string(), "");
            groups.push(LocalityEndpoints {
                locality,
                priority,
                load_balancing_weight: None,
                endpoints,
            });
        }
    }
    (Assignment { endpoints: groups, ..Assignment::default() }, Arc::new(allowed))
}

fn pick_until_told(mut worker: Worker, versions: &Versions, stop: &AtomicBool, picks: &AtomicU64) {
    let mut last = 0;
    let mut allowed: Allowed = Arc::default();
    while !stop.load(Ordering::Relaxed) {
        let pick = worker.pick(&PickContext::default()).expect("every version has healthy hosts");
        let version = worker.snapshot_version().expect("the worker is not quiescent");
        assert!(version >= last, "the worker went back from version {last} to {version}");
        if version != last {
            allowed = Arc::clone(&versions.lock().unwrap()[&version]);
            last = version;
        }
        let host = worker.host(pick).expect("the snapshot that picked knows the host");
        let expected = allowed.get(host.address().as_str());
        assert_eq!(expected, Some(&host.weight()), "{} under version {version}", host.address());
        worker.done(pick, Outcome::Success).expect("each pick ends once");
        picks.fetch_add(1, Ordering::Relaxed);
        if pick.slot.is_multiple_of(7) {
            worker.quiesce();
        }
    }
}

/// Tells the workers to stop, also when the writer fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn storm(behavior: Behavior) {
    let versions: Versions = Arc::default();
    let mut dice = Dice(7);
    let (first, allowed) = batch(1, &mut dice);
    versions.lock().unwrap().insert(1, allowed);
    let cluster = open(config(behavior, &Policy::Random), &first);
    let (stop, picks) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            let worker = cluster.worker().unwrap();
            scope.spawn(|| pick_until_told(worker, &versions, &stop, &picks));
        }
        let _stop = Stop(&stop);
        publish_storm(&cluster, &versions, &mut dice);
    });
    cluster.tick(1).unwrap();
    let stats = cluster.stats().unwrap();
    assert!(picks.load(Ordering::Relaxed) > 0, "nothing was picked");
    assert_eq!(stats.get("plimsoll.snapshots_live"), 1, "only the newest is left:\n{stats}");
    assert_eq!(stats.get("plimsoll.hosts_departed"), 0, "every slot came back:\n{stats}");
    assert!(cluster.view().hosts().iter().all(|host| host.active == 0), "a request is missing");
}

fn publish_storm(cluster: &Cluster, versions: &Versions, dice: &mut Dice) {
    for version in 2..=BATCHES {
        let (next, allowed) = batch(version, dice);
        versions.lock().unwrap().insert(version, allowed);
        let applied = cluster.assign(&next).unwrap();
        assert_eq!((applied.published, applied.version), (true, version));
        let live = cluster.stats().unwrap().get("plimsoll.snapshots_live");
        assert!(live <= 2 * WORKERS as u64 + 1, "{live} snapshots live with {WORKERS} workers");
    }
}

#[test]
fn every_pick_belongs_to_exactly_one_published_version() {
    for behavior in BEHAVIORS {
        storm(behavior);
    }
}

/// Picks, peeks and reports until it is told to stop.
fn report_until_told(mut worker: Worker, stop: &AtomicBool, picks: &AtomicU64) {
    let headers = [("endpoint-load-metrics", "TEXT cpu_utilization=0.5,rps_fractional=100")];
    let load = ResponseLoad { headers: Headers::find(headers), ..ResponseLoad::default() };
    while !stop.load(Ordering::Relaxed) {
        let _ = worker.peek();
        let pick = worker.pick(&PickContext::default()).expect("every version has healthy hosts");
        // A host may have gone in the meantime; what it says is lost then.
        let _ = worker.report(pick, &load, 0);
        worker.done(pick, Outcome::Success).expect("each pick ends once");
        picks.fetch_add(1, Ordering::Relaxed);
    }
}

/// Localities, hosts, reports and ticks, all at once.
#[test]
fn reports_and_ticks_go_on_while_hosts_and_localities_come_and_go() {
    for behavior in BEHAVIORS {
        let mut dice = Dice(11);
        let locality_routing = LocalityRouting::LoadAware(LoadAware::default());
        let policy = Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin::default());
        let config = ClusterConfig { locality_routing, ..config(behavior, &policy) };
        let cluster = open(config, &batch(1, &mut dice).0);
        let (stop, picks) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                let worker = cluster.worker().unwrap();
                scope.spawn(|| report_until_told(worker, &stop, &picks));
            }
            let _stop = Stop(&stop);
            for version in 2..=BATCHES / 10 {
                cluster.assign(&batch(version, &mut dice).0).unwrap();
                cluster.tick(version * 1_000_000_000).unwrap();
            }
        });
        cluster.tick(u64::MAX / 2).unwrap();
        let stats = cluster.stats().unwrap();
        assert!(stats.get("plimsoll.load_reports_accepted") > 0, "{stats}");
        assert_eq!(stats.get("plimsoll.snapshots_live"), 1, "only the newest is left:\n{stats}");
        assert_eq!(stats.get("plimsoll.hosts_departed"), 0, "every slot came back:\n{stats}");
        let shares: f64 = cluster.view().hosts().iter().map(|host| host.share).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{behavior:?}: {shares}");
    }
}

#[test]
fn a_stalled_worker_keeps_two_snapshots_at_most() {
    let (first, _) = batch(1, &mut Dice(3));
    let cluster = open(config(Behavior::Native, &Policy::Random), &first);
    let mut stalled = cluster.worker().unwrap();
    for version in 2..=2_000 {
        cluster.assign(&batch(version, &mut Dice(version)).0).unwrap();
    }
    assert_eq!(stalled.snapshot_version(), Some(1));
    let live = || cluster.stats().unwrap().get("plimsoll.snapshots_live");
    assert_eq!(live(), 2);
    stalled.refresh();
    cluster.tick(1).unwrap();
    assert_eq!((stalled.snapshot_version(), live()), (Some(2_000), 1));
}
