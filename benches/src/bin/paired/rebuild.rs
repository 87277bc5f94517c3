//! What an update costs, from the call to the published snapshot.

use std::time::Duration;

use plimsoll::config::{Assignment, Behavior, Endpoint, Policy, RoundRobin, SlowStart};
use plimsoll::{Cluster, HealthEvent, HostChange, Update, Worker};
use plimsoll_benches::paired::{Contender, Plan, compare, per_operation, time};
use plimsoll_benches::peer::{Kind, PeerCluster};
use plimsoll_benches::scenario::{
    Layout, PRIORITIES, address, assignment, cluster, config, hosts, locality,
};
use plimsoll_benches::table;

const BATCH: u32 = 1_000;
const ADDED: &str = "10.200.0.1:80";

pub(crate) fn run() {
    for count in [10_000, 100_000] {
        small(count);
        large(count);
    }
}

const NATIVE: [Policy; 3] = [Policy::ROUND_ROBIN, Policy::Random, Policy::LEAST_REQUEST];

/// Updates of one host, again and again, so that caches are as warm as they get.
fn small(count: u32) {
    let given = hosts(Layout::Rebuilt, count, false);
    let (mut lists, heaps) =
        (PeerCluster::new(Layout::Rebuilt, &given), PeerCluster::new(Layout::Rebuilt, &given));
    let mut worker = heaps.worker(Kind::RoundRobin, 1);
    let mut contenders = vec![
        Contender::looping("peer: one flip, lists of its priority", |flips| {
            for flip in 0..flips {
                lists.flip(u32::try_from(flip).unwrap_or(0) * 30 % count);
                lists.rebuild(0);
            }
            flips
        }),
        Contender::looping("peer: ... and heaps of its priority, each worker", |flips| {
            (0..flips).for_each(|_| worker.refresh(&heaps, 0));
            flips
        }),
    ];
    let assignment = assignment(Layout::Rebuilt, count, false);
    let subject = |behavior, policy| Subject::new(behavior, policy, &assignment);
    for policy in NATIVE {
        let name = policy.name();
        let new = || subject(Behavior::Native, policy.clone());
        contenders.push(repeated(format!("native {name}: one flip"), new(), flips(count)));
        let name = format!("native {name}: one host added, or removed");
        contenders.push(repeated(name, new(), membership()));
    }
    let envoy = || subject(Behavior::Envoy, Policy::Random);
    contenders.push(repeated("envoy random: one flip".into(), envoy(), flips(count)));
    let name = "envoy random: one host added, or removed".into();
    contenders.push(repeated(name, envoy(), membership()));
    let plan = Plan { rounds: 25, slice: Duration::from_millis(4) };
    print(&format!("updates of one host among {count}"), contenders, plan);
}

/// Updates of many hosts, each on its own, after all the others: caches are cold.
fn large(count: u32) {
    let given = hosts(Layout::Rebuilt, count, false);
    let (mut lists, heaps) =
        (PeerCluster::new(Layout::Rebuilt, &given), PeerCluster::new(Layout::Rebuilt, &given));
    let mut worker = heaps.worker(Kind::RoundRobin, 1);
    let mut contenders = vec![
        Contender::single("peer: lists of all priorities", || {
            time(|| (0..PRIORITIES).for_each(|priority| lists.rebuild(priority)))
        }),
        Contender::single("peer: ... and heaps of all priorities, each worker", || {
            time(|| (0..PRIORITIES).for_each(|priority| worker.refresh(&heaps, priority)))
        }),
    ];
    let assignment = assignment(Layout::Rebuilt, count, false);
    let subject = |behavior, policy| Subject::new(behavior, policy, &assignment);
    for policy in NATIVE {
        let name = format!("native {}: full rebuild, for another policy", policy.name());
        contenders.push(reconfigured(name, subject(Behavior::Native, policy.clone()), policy));
    }
    contenders.push(warming(&assignment));
    let round_robin = (Behavior::Native, Policy::ROUND_ROBIN);
    for (behavior, policy) in [round_robin, (Behavior::Envoy, Policy::Random)] {
        let name = format!("{} {}", behavior.name(), policy.name());
        let updates = [
            ("one flip, cold", flips(count)),
            ("1 000 flips in one batch", batches(count)),
            ("whole assignment, nothing changed", vec![assign(&assignment)]),
            ("whole assignment, 30 hosts left or came", departures(&assignment)),
            ("whole assignment, all weights changed", reweighted(&assignment)),
        ];
        for (what, updates) in updates {
            let name = format!("{name}: {what}");
            contenders.push(in_turn(name, subject(behavior, policy.clone()), updates));
        }
    }
    let plan = Plan { rounds: 25, ..Plan::default() };
    print(&format!("updates of many hosts among {count}"), contenders, plan);
}

fn print(title: &str, contenders: Vec<Contender<'_>>, plan: Plan) {
    table::print_durations(title, "update", &compare(contenders, plan));
}

/// A cluster and a worker that keeps up with it.
struct Subject {
    cluster: Cluster,
    worker: Worker,
}

impl Subject {
    fn new(behavior: Behavior, policy: Policy, assignment: &Assignment) -> Self {
        let cluster = cluster(behavior, policy, assignment);
        let worker = cluster.worker().expect("a worker");
        Self { cluster, worker }
    }

    /// Times an update. The worker moves on afterwards, so that the next one frees what was
    /// replaced, as a proxy would.
    fn apply(&mut self, update: &Update) -> Duration {
        let elapsed = time(|| {
            self.cluster.apply(update).expect("a valid update");
        });
        self.worker.refresh();
        elapsed
    }

    /// Times a tick, in the same way.
    fn tick(&mut self, now: Duration) -> Duration {
        let now_ns = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let elapsed = time(|| self.cluster.tick(now_ns).expect("a sound cluster"));
        self.worker.refresh();
        elapsed
    }
}

/// Applies these in turn, one in each slice.
fn in_turn<'a>(name: String, mut subject: Subject, updates: Vec<Update>) -> Contender<'a> {
    let mut next = 0;
    Contender::single(name, move || {
        let elapsed = subject.apply(&updates[next % updates.len()]);
        next += 1;
        elapsed
    })
}

/// Applies these in turn, many in each slice.
fn repeated<'a>(name: String, mut subject: Subject, updates: Vec<Update>) -> Contender<'a> {
    let mut next = 0;
    Contender::timing(name, move |count| {
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            elapsed += subject.apply(&updates[next % updates.len()]);
            next += 1;
        }
        per_operation(elapsed, count)
    })
}

/// From the other policy to this one, which builds all parts; the way back is not timed.
fn reconfigured<'a>(name: String, mut subject: Subject, policy: Policy) -> Contender<'a> {
    let other = if policy == Policy::Random { Policy::ROUND_ROBIN } else { Policy::Random };
    let there = Update::new().reconfigure(config(Behavior::Native, policy));
    let back = Update::new().reconfigure(config(Behavior::Native, other));
    Contender::single(name, move || {
        subject.apply(&back);
        subject.apply(&there)
    })
}

/// One step of slow start for a hundredth of the hosts, which came up long after the others.
fn warming<'a>(all: &Assignment) -> Contender<'a> {
    const WINDOW: Duration = Duration::from_secs(1_000);
    let slow_start = Some(SlowStart::new(WINDOW));
    let policy = Policy::RoundRobin(RoundRobin { slow_start });
    let mut older = all.clone();
    for group in &mut older.endpoints {
        let mut rank = 0;
        group.endpoints.retain(|_| {
            rank += 1;
            rank % 100 != 0
        });
    }
    let mut subject = Subject::new(Behavior::Native, policy, &older);
    let mut now = WINDOW;
    subject.tick(now);
    subject.apply(&assign(all));
    // Up to a tenth of the window nothing grows.
    now += WINDOW / 10;
    let name = "native round_robin: one step of slow start, 1 % of the hosts are new";
    Contender::single(name, move || {
        now += WINDOW / 100;
        let before = subject.worker.snapshot_version();
        let elapsed = subject.tick(now);
        assert!(subject.worker.snapshot_version() > before, "every step is a change");
        elapsed
    })
}

/// Hosts all over the cluster fail and recover.
fn flips(count: u32) -> Vec<Update> {
    let events = [HealthEvent::Fail, HealthEvent::Pass];
    let flip = |step: u32, event| Update::new().health(address(step * 997 % count), event);
    (0..64).flat_map(|step| events.map(|event| flip(step, event))).collect()
}

fn batches(count: u32) -> Vec<Update> {
    let batch = |event| {
        (0..BATCH)
            .fold(Update::new(), |update, host| update.health(address(host * 7 % count), event))
    };
    [HealthEvent::Fail, HealthEvent::Pass].map(batch).into()
}

fn membership() -> Vec<Update> {
    let endpoint = Endpoint { load_balancing_weight: 1, ..Endpoint::new(ADDED) };
    let host = HostChange { endpoint, priority: 1, locality: locality(3) };
    vec![Update::new().upsert(host), Update::new().remove(ADDED)]
}

fn assign(hosts: &Assignment) -> Update {
    Update::new().assign(hosts.clone())
}

fn departures(hosts: &Assignment) -> Vec<Update> {
    let mut fewer = hosts.clone();
    fewer.endpoints.iter_mut().for_each(|group| drop(group.endpoints.remove(0)));
    vec![assign(&fewer), assign(hosts)]
}

fn reweighted(hosts: &Assignment) -> Vec<Update> {
    let mut other = hosts.clone();
    for group in &mut other.endpoints {
        group.endpoints.iter_mut().for_each(|endpoint| endpoint.load_balancing_weight += 1);
    }
    vec![assign(&other), assign(hosts)]
}
