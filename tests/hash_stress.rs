//! Real threads pick by hash while hosts come, go, fail and recover: what users of Envoy report as
//! workers that keep an old table (#45055), hosts that never get a key (#45212), and clusters that
//! start empty and stay so (#45344).
//!
//! A writer publishes a few updates one after the other and then waits until every worker has
//! looked. While it publishes, a pick must fit the snapshot that it was made from; while it waits,
//! that must be the newest one, in which all workers agree about all keys.

mod common;

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::{BEHAVIORS, assignment, config, group, open};
use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, ConsistentHashing, Endpoint, Maglev, Policy, RingHash,
};
use plimsoll::{Cluster, HealthEvent, Outcome, Pick, PickContext, Update, Worker};

const WORKERS: usize = 3;
const ROUNDS: u32 = 40;
/// Enough that each of a few hosts has some of them.
const KEYS: u64 = 96;
/// Requests that a worker keeps open.
const HELD: usize = 24;

/// Small tables, so that many are built in little time; bounded if there is a factor.
fn policies(factor: Option<u32>) -> [Policy; 2] {
    let hashing = ConsistentHashing { hash_balance_factor: factor, ..Default::default() };
    let ring = RingHash {
        minimum_ring_size: 256,
        consistent_hashing: hashing.clone(),
        ..RingHash::default()
    };
    let maglev = Maglev { table_size: 1009, consistent_hashing: hashing };
    [Policy::RingHash(ring), Policy::Maglev(maglev)]
}

/// Never in panic: who fails gets nothing.
fn settings(behavior: Behavior, policy: &Policy) -> ClusterConfig {
    ClusterConfig { healthy_panic_threshold: 0.0, ..config(behavior, policy) }
}

fn key(number: u64) -> PickContext {
    let hash = Some(number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31) ^ number);
    PickContext { hash, ..PickContext::new() }
}

fn address(worker: &Worker, pick: Pick) -> String {
    worker.host(pick).expect("the snapshot that picked knows the host").address().to_string()
}

fn name(host: u32) -> String {
    format!("10.0.0.{host}:80")
}

fn hosts(numbers: &BTreeSet<u32>) -> Assignment {
    let hosts = numbers.iter().map(|&host| Endpoint::new(name(host)));
    assignment(vec![group(0, "", hosts.collect())])
}

/// A small generator, so that a failure repeats.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// What the writer tells the workers.
#[derive(Default)]
struct Board {
    /// The hosts that each version may give.
    allowed: Mutex<HashMap<u64, BTreeSet<String>>>,
    /// The version that the writer waits with, until everyone has looked.
    settled: AtomicU64,
    looked: [AtomicU64; WORKERS],
    /// The hosts of all keys in each version that was waited with.
    seen: Mutex<HashMap<u64, Vec<String>>>,
    stop: AtomicBool,
}

impl Board {
    fn wait(&self, version: u64) {
        self.settled.store(version, Ordering::Release);
        while !self.stop.load(Ordering::Relaxed)
            && self.looked.iter().any(|looked| looked.load(Ordering::Acquire) != version)
        {
            std::thread::yield_now();
        }
    }
}

/// Tells all others to stop, also when a thread fails.
struct Stop<'a>(&'a Board);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

/// Ends some of the requests until at most `left` are open.
fn end(worker: &Worker, held: &mut Vec<Pick>, left: usize) {
    for pick in held.drain(left.min(held.len())..) {
        worker.done(pick, Outcome::Success).expect("each pick ends once");
    }
}

fn pick_until_told(number: usize, mut worker: Worker, board: &Board) {
    let _stop = Stop(board);
    let (mut allowed, mut last) = (BTreeSet::new(), 0);
    let mut held = Vec::new();
    let mut next = number as u64;
    while !board.stop.load(Ordering::Relaxed) {
        let settled = board.settled.load(Ordering::Acquire);
        next += 1;
        let picked = worker.pick(&key(next % KEYS));
        let version = worker.snapshot_version().expect("the worker is not quiescent");
        assert!(version >= last.max(settled), "version {version} after {last} and {settled}");
        if version != last {
            allowed.clone_from(&board.allowed.lock().unwrap()[&version]);
            last = version;
        }
        match picked {
            Ok(pick) => {
                let host = address(&worker, pick);
                assert!(allowed.contains(&host), "{host} in version {version} of {allowed:?}");
                held.push(pick);
            }
            Err(why) => assert!(allowed.is_empty(), "{why} in version {version} of {allowed:?}"),
        }
        let left = if next.is_multiple_of(5) { HELD / 2 } else { HELD };
        end(&worker, &mut held, left);
        if board.looked[number].load(Ordering::Relaxed) != settled {
            look(&mut worker, settled, &allowed, board);
            board.looked[number].store(settled, Ordering::Release);
        }
        if next.is_multiple_of(31) {
            worker.quiesce();
        }
    }
    end(&worker, &mut held, 0);
}

/// Looks where all keys go while nothing changes: each host has some of them at once, and all
/// workers see the same.
fn look(worker: &mut Worker, settled: u64, allowed: &BTreeSet<String>, board: &Board) {
    let mut hosts = Vec::new();
    for number in 0..KEYS {
        let picked = worker.pick(&PickContext { uncounted: true, ..key(number) });
        assert_eq!(worker.snapshot_version(), Some(settled), "not the newest snapshot");
        let host = picked.map(|pick| address(worker, pick));
        assert_eq!(host.is_ok(), !allowed.is_empty(), "{host:?} of {allowed:?}");
        hosts.extend(host);
    }
    if worker_is_bounded(worker) {
        return; // where keys go depends on who is busy
    }
    let with_keys: BTreeSet<String> = hosts.iter().cloned().collect();
    assert_eq!(with_keys, *allowed, "version {settled}: every host has keys, and no others");
    let mut seen = board.seen.lock().unwrap();
    assert_eq!(seen.entry(settled).or_insert_with(|| hosts.clone()), &hosts, "workers differ");
}

fn worker_is_bounded(worker: &mut Worker) -> bool {
    // Only picks of a bounded policy count in its total.
    let Ok(pick) = worker.pick(&PickContext::new()) else { return true };
    worker.done(pick, Outcome::Success).unwrap();
    pick.in_total
}

/// The writer's view of the hosts.
struct Fleet {
    present: BTreeSet<u32>,
    failed: BTreeSet<u32>,
}

impl Fleet {
    fn allowed(&self) -> BTreeSet<String> {
        self.present.difference(&self.failed).map(|&host| name(host)).collect()
    }

    /// Some change of hosts or of their health, or none.
    fn change(&mut self, dice: &mut Dice) -> Update {
        let host = dice.roll(6);
        match dice.roll(10) {
            0 => {
                // From nothing, or to nothing.
                let all = if self.present.is_empty() { (0..3).collect() } else { BTreeSet::new() };
                self.present = all;
            }
            1..=3 => {
                self.present.insert(host);
            }
            4 | 5 => {
                self.present.remove(&host);
            }
            6 | 7 if self.present.contains(&host) => {
                self.failed.insert(host);
                return Update::new().health(name(host), HealthEvent::Fail);
            }
            _ => {
                let recovers = self.failed.pop_first();
                return recovers.map_or_else(Update::new, |host| {
                    Update::new().health(name(host), HealthEvent::Pass)
                });
            }
        }
        self.failed.retain(|host| self.present.contains(host));
        Update::new().assign(hosts(&self.present))
    }
}

fn write(cluster: &Cluster, board: &Board, dice: &mut Dice) {
    let mut fleet = Fleet { present: BTreeSet::new(), failed: BTreeSet::new() };
    let mut version = 1;
    for round in 0..ROUNDS {
        // A host that fails and recovers in no time is among them.
        for _ in 0..=dice.roll(6) {
            let update = fleet.change(dice);
            board.allowed.lock().unwrap().insert(version + 1, fleet.allowed());
            version = cluster.apply(&update).unwrap().version;
        }
        board.wait(version);
        cluster.tick(u64::from(round + 1) * 1_000_000).unwrap();
        if board.stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Where requests of one key go that all stay open: that depends on the number of all requests.
fn held_hosts(cluster: &Cluster) -> Vec<String> {
    let mut worker = cluster.worker().unwrap();
    let mut held: Vec<Pick> = (0..60).map(|_| worker.pick(&key(5)).unwrap()).collect();
    let hosts = held.iter().map(|&pick| address(&worker, pick)).collect();
    end(&worker, &mut held, 0);
    hosts
}

/// Nothing is left of the requests that have ended, and nothing of what was published before.
fn is_as_new(cluster: &Cluster, settings: &ClusterConfig) {
    let all = hosts(&(0..6).collect());
    cluster.assign(&Assignment::default()).unwrap();
    cluster.apply(&Update::new().assign(all.clone()).reconfigure(settings.clone())).unwrap();
    cluster.tick(u64::MAX / 2).unwrap();
    let stats = cluster.stats().unwrap();
    assert_eq!(stats.get("plimsoll.snapshots_live"), 1, "only the newest is left:\n{stats}");
    assert_eq!(stats.get("plimsoll.hosts_departed"), 0, "every slot came back:\n{stats}");
    assert!(cluster.view().hosts().iter().all(|host| host.active == 0), "a request is missing");
    let fresh = open(settings.clone(), &all);
    assert_eq!(held_hosts(cluster), held_hosts(&fresh), "the total of all requests is not 0");
}

fn storm(behavior: Behavior, policy: &Policy) {
    let board = Board::default();
    board.allowed.lock().unwrap().insert(1, BTreeSet::new());
    let settings = settings(behavior, policy);
    let cluster = open(settings.clone(), &Assignment::default());
    std::thread::scope(|scope| {
        for number in 0..WORKERS {
            let worker = cluster.worker().unwrap();
            scope.spawn({
                let board = &board;
                move || pick_until_told(number, worker, board)
            });
        }
        let _stop = Stop(&board);
        write(&cluster, &board, &mut Dice(17));
    });
    is_as_new(&cluster, &settings);
}

#[test]
fn every_pick_fits_its_snapshot_and_the_next_one_is_of_the_newest() {
    for behavior in BEHAVIORS {
        policies(None).iter().for_each(|policy| storm(behavior, policy));
    }
}

#[test]
fn bounded_picks_do_so_too_and_leave_nothing_behind() {
    for behavior in BEHAVIORS {
        policies(Some(125)).iter().for_each(|policy| storm(behavior, policy));
    }
}

/// Picks in all ways and holds requests over whatever the cluster becomes meanwhile.
fn hold_until_told(mut worker: Worker, stop: &AtomicBool) {
    let mut held = Vec::new();
    let mut next = 0;
    while !stop.load(Ordering::Relaxed) {
        next += 1;
        let context = PickContext { retries: 2, ..key(next) };
        held.push(match next % 4 {
            0 => worker.pick(&PickContext::new()).unwrap(),
            1 => worker.pick_filtered(&context, |pick, _| pick.slot.is_multiple_of(2)).unwrap(),
            2 => worker.pick_override(&context, [name(2)], false).unwrap(),
            _ => worker.pick(&context).unwrap(),
        });
        end(&worker, &mut held, if next.is_multiple_of(7) { 0 } else { HELD });
    }
    end(&worker, &mut held, 0);
}

#[test]
fn requests_stay_open_while_the_policy_changes() {
    let all = hosts(&(0..6).collect());
    let [ring, maglev] = policies(None);
    let [bounded_ring, bounded_maglev] = policies(Some(100));
    let others = [Policy::ROUND_ROBIN, Policy::LEAST_REQUEST, Policy::Random];
    let policies = [bounded_ring, ring, bounded_maglev.clone(), maglev].into_iter().chain(others);
    let policies: Vec<Policy> = policies.collect();
    let cluster = open(settings(Behavior::Native, &policies[0]), &all);
    let stop = AtomicBool::new(false);
    let mut dice = Dice(23);
    std::thread::scope(|scope| {
        let workers = [(); WORKERS].map(|()| cluster.worker().unwrap());
        let workers = workers.map(|worker| scope.spawn(|| hold_until_told(worker, &stop)));
        for round in 0..400 {
            let policy = &policies[dice.roll(7) as usize];
            let behavior = BEHAVIORS[dice.roll(2) as usize];
            cluster.reconfigure(settings(behavior, policy)).unwrap();
            if workers.iter().any(std::thread::ScopedJoinHandle::is_finished) {
                break;
            }
            cluster.tick(round).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    for behavior in BEHAVIORS {
        is_as_new(&cluster, &settings(behavior, &bounded_maglev));
    }
}
