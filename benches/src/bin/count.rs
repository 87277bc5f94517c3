//! Runs one case a fixed number of times, for `instructions.sh` to count the instructions of.
//!
//! `count --list` prints the cases; `count CASE ITERATIONS` runs one. Every case runs in the loop
//! of [`repeat`] and ends with a result that is checked and added up, as [`empty`] does with a
//! result that is there already; what a case takes is its count less that of `empty`.

use std::hint::black_box;
use std::process::ExitCode;

use plimsoll::config::{Behavior, ConsistentHashing, HashPolicy, Maglev, Policy};
use plimsoll::{Cluster, NoHost, Outcome, Pick, PickContext, ResponseLoad, Worker, hash_request};
use plimsoll_benches::c_loops::{CCluster, CWorker};
use plimsoll_benches::choosers::{self, Kind as Choice};
use plimsoll_benches::hashed::request::{self, Request};
use plimsoll_benches::hashed::{self as tables, Hosts, Kind as TableKind, SLOTS, hash};
use plimsoll_benches::peer::{Kind, PeerCluster};
use plimsoll_benches::reporting::{self, Form, Metrics, NOW_NS};
use plimsoll_benches::scenario::{Layout, assignment, cluster, hosts, weight};
use plimsoll_benches::schemes::{NUMBERS, Scheme, Table, TwoSlots};
use plimsoll_benches::zones::{Routing, Shape, open};

/// A name and what it runs.
type Case = (&'static str, fn(u64));

const CASES: [Case; 73] = [
    ("empty", empty),
    ("plain-reference", plain_reference),
    ("snapshot-check", snapshot_check),
    ("native/round_robin/1000/pick", |n| pick(NATIVE_ROUND_ROBIN, 1_000, COUNTED, n)),
    ("native/round_robin/1000/uncounted", |n| pick(NATIVE_ROUND_ROBIN, 1_000, UNCOUNTED, n)),
    ("native/round_robin/1000/pick+done", |n| pair(NATIVE_ROUND_ROBIN, 1_000, n)),
    ("native/round_robin/1000/batch", |n| batch(NATIVE_ROUND_ROBIN, 1_000, COUNTED, n)),
    ("native/round_robin/1000/batch-uncounted", |n| {
        batch(NATIVE_ROUND_ROBIN, 1_000, UNCOUNTED, n);
    }),
    ("native/round_robin/1000/peek+pick", |n| peek(NATIVE_ROUND_ROBIN, 1_000, n)),
    ("native/round_robin/100000/pick", |n| pick(NATIVE_ROUND_ROBIN, 100_000, COUNTED, n)),
    ("native/random/1000/pick", |n| pick(NATIVE_RANDOM, 1_000, COUNTED, n)),
    ("native/random/1000/uncounted", |n| pick(NATIVE_RANDOM, 1_000, UNCOUNTED, n)),
    ("native/random/1000/pick+done", |n| pair(NATIVE_RANDOM, 1_000, n)),
    ("native/random/1000/batch", |n| batch(NATIVE_RANDOM, 1_000, COUNTED, n)),
    ("native/random/1000/peek+pick", |n| peek(NATIVE_RANDOM, 1_000, n)),
    ("native/random/100000/pick", |n| pick(NATIVE_RANDOM, 100_000, COUNTED, n)),
    ("native/least_request/1000/pick", |n| pick(NATIVE_LEAST_REQUEST, 1_000, COUNTED, n)),
    ("native/least_request/1000/pick+done", |n| pair(NATIVE_LEAST_REQUEST, 1_000, n)),
    ("native/least_request/100000/pick", |n| pick(NATIVE_LEAST_REQUEST, 100_000, COUNTED, n)),
    ("native/round_robin/1000/filtered", |n| filtered(NATIVE_ROUND_ROBIN, 1_000, n)),
    ("envoy/round_robin/1000/pick", |n| pick(ENVOY_ROUND_ROBIN, 1_000, COUNTED, n)),
    ("envoy/random/1000/pick", |n| pick(ENVOY_RANDOM, 1_000, COUNTED, n)),
    ("envoy/round_robin/1000/pick-equal-weights", |n| pick(ENVOY_TURNS, 1_000, COUNTED, n)),
    ("envoy/least_request/1000/pick", |n| pick(ENVOY_LEAST_REQUEST, 1_000, COUNTED, n)),
    ("envoy/least_request/1000/pick-equal-weights", |n| pick(ENVOY_CHOICES, 1_000, COUNTED, n)),
    ("envoy/round_robin/100000/pick", |n| pick(ENVOY_ROUND_ROBIN, 100_000, COUNTED, n)),
    ("envoy/random/100000/pick", |n| pick(ENVOY_RANDOM, 100_000, COUNTED, n)),
    ("native/round_robin/load-aware-8/pick", |n| routed(NATIVE_ROUND_ROBIN, LOAD_AWARE, 8, n)),
    ("native/round_robin/load-aware-100/pick", |n| {
        routed(NATIVE_ROUND_ROBIN, LOAD_AWARE, 100, n);
    }),
    ("envoy/round_robin/no-routing-100/pick", |n| routed(ENVOY_TURNS, Routing::Unset, 100, n)),
    ("envoy/round_robin/load-aware-8/pick", |n| routed(ENVOY_TURNS, LOAD_AWARE, 8, n)),
    ("envoy/round_robin/load-aware-100/pick", |n| routed(ENVOY_TURNS, LOAD_AWARE, 100, n)),
    ("envoy/round_robin/zone-aware-8/pick", |n| routed(ENVOY_TURNS, Routing::ZoneAware, 8, n)),
    ("envoy/round_robin/zone-aware-100/pick", |n| routed(ENVOY_TURNS, Routing::ZoneAware, 100, n)),
    ("envoy/round_robin/weighted-8/pick", |n| routed(ENVOY_TURNS, Routing::Weighted, 8, n)),
    ("envoy/round_robin/weighted-100/pick", |n| routed(ENVOY_TURNS, Routing::Weighted, 100, n)),
    ("c/round_robin/1000/pick", |n| from_c(NATIVE_ROUND_ROBIN, |c| c.picks(false, n))),
    ("c/round_robin/1000/uncounted", |n| from_c(NATIVE_ROUND_ROBIN, |c| c.picks(true, n))),
    ("c/round_robin/1000/pick+done", |n| from_c(NATIVE_ROUND_ROBIN, |c| c.pairs(n))),
    ("c/round_robin/1000/batch", |n| from_c(NATIVE_ROUND_ROBIN, |c| c.batches(false, n))),
    ("c/round_robin/1000/batch-uncounted", |n| from_c(NATIVE_ROUND_ROBIN, |c| c.batches(true, n))),
    ("c/random/1000/pick", |n| from_c(NATIVE_RANDOM, |c| c.picks(false, n))),
    ("c/random/1000/uncounted", |n| from_c(NATIVE_RANDOM, |c| c.picks(true, n))),
    ("c/random/1000/pick+done", |n| from_c(NATIVE_RANDOM, |c| c.pairs(n))),
    ("c/random/1000/batch", |n| from_c(NATIVE_RANDOM, |c| c.batches(false, n))),
    ("c/random/1000/batch-uncounted", |n| from_c(NATIVE_RANDOM, |c| c.batches(true, n))),
    ("native/report/text", |n| reported(Behavior::Native, Form::Text, n)),
    ("native/report/binary", |n| reported(Behavior::Native, Form::Binary, n)),
    ("envoy/report/text", |n| reported(Behavior::Envoy, Form::Text, n)),
    ("envoy/report/binary", |n| reported(Behavior::Envoy, Form::Binary, n)),
    ("native/by-reports/pick+done", |n| pair((Behavior::Native, by_reports(), true), 1_000, n)),
    ("native/maglev/1000/pick", |n| hashed(NATIVE_MAGLEV, COUNTED, n)),
    ("native/maglev/1000/uncounted", |n| hashed(NATIVE_MAGLEV, UNCOUNTED, n)),
    ("native/maglev/1000/pick+done", |n| hashed_pair(NATIVE_MAGLEV, n)),
    ("native/maglev/1000/attempt-1", |n| {
        hashed(NATIVE_MAGLEV, PickContext { attempt: 1, ..UNCOUNTED }, n);
    }),
    ("native/maglev-bounded/1000/pick+done", |n| {
        hashed_pair((Behavior::Native, bounded_maglev(), true), n);
    }),
    ("native/ring_hash/1000/uncounted", |n| {
        hashed((Behavior::Native, Policy::RING_HASH, true), UNCOUNTED, n);
    }),
    ("envoy/maglev/1000/uncounted", |n| {
        hashed((Behavior::Envoy, Policy::MAGLEV, true), UNCOUNTED, n);
    }),
    ("envoy/maglev-bounded/1000/pick+done", |n| {
        hashed_pair((Behavior::Envoy, bounded_maglev(), true), n);
    }),
    ("envoy/ring_hash/1000/uncounted", |n| {
        hashed((Behavior::Envoy, Policy::RING_HASH, true), UNCOUNTED, n);
    }),
    ("hash_request/header", |n| request(request::by_header(), n)),
    ("hash_request/cookie", |n| request(request::by_cookie(), n)),
    ("hashing/maglev/1000", |n| found(&tables::NATIVE_MAGLEV, 1_000, SLOTS, n)),
    ("hashing/ring-65536/100", |n| found(&tables::NATIVE_RING, 100, POINTS, n)),
    ("peer/hashing/maglev/1000", |n| found(&tables::PEER_MAGLEV, 1_000, SLOTS, n)),
    ("peer/hashing/ring-65536/100", |n| found(&tables::PEER_RING, 100, POINTS, n)),
    ("schedule/guide/1000", |n| alone(&choosers::GUIDE, n)),
    ("schedule/alias/1000", |n| alone(&choosers::ALIAS, n)),
    ("schedule/lottery/1000", |n| alone(&choosers::LOTTERY, n)),
    ("schedule/edf/1000", |n| alone(&choosers::EDF, n)),
    ("peer/schedule/edf/1000", |n| alone(&choosers::PEER_EDF, n)),
    ("peer/edf/1000/pick", |n| peer(Kind::RoundRobin, n)),
    ("peer/edf-of-localities/1000/pick", |n| peer(Kind::Localities, n)),
];

/// Behaviour, policy, and whether all weights are equal.
type Settings = (Behavior, Policy, bool);

const LOAD_AWARE: Routing = Routing::LoadAware;
const NATIVE_ROUND_ROBIN: Settings = (Behavior::Native, Policy::ROUND_ROBIN, false);
const NATIVE_RANDOM: Settings = (Behavior::Native, Policy::Random, false);
const NATIVE_LEAST_REQUEST: Settings = (Behavior::Native, Policy::LEAST_REQUEST, false);
const NATIVE_MAGLEV: Settings = (Behavior::Native, Policy::MAGLEV, true);
const ENVOY_ROUND_ROBIN: Settings = (Behavior::Envoy, Policy::ROUND_ROBIN, false);
const ENVOY_TURNS: Settings = (Behavior::Envoy, Policy::ROUND_ROBIN, true);
const ENVOY_LEAST_REQUEST: Settings = (Behavior::Envoy, Policy::LEAST_REQUEST, false);
const ENVOY_CHOICES: Settings = (Behavior::Envoy, Policy::LEAST_REQUEST, true);
const ENVOY_RANDOM: Settings = (Behavior::Envoy, Policy::Random, true);

const COUNTED: PickContext = PickContext::new();
const UNCOUNTED: PickContext = PickContext::uncounted();

/// Of rings.
const POINTS: u32 = 65_536;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().eq(["--list"].iter()) {
        CASES.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    let case = arguments.first().and_then(|name| CASES.iter().find(|(own, _)| own == name));
    let iterations = arguments.get(1).and_then(|number| number.parse().ok());
    let (Some((_, run)), Some(iterations)) = (case, iterations) else {
        eprintln!("usage: count --list | count CASE ITERATIONS");
        return ExitCode::FAILURE;
    };
    run(iterations);
    ExitCode::SUCCESS
}

/// The loop around every case.
#[inline(always)]
fn repeat(iterations: u64, mut once: impl FnMut() -> Result<Pick, NoHost>) {
    let mut sum = 0_u64;
    for _ in 0..iterations {
        sum += slot(&once());
    }
    black_box(sum);
}

#[inline(always)]
fn slot(result: &Result<Pick, NoHost>) -> u64 {
    match result {
        Ok(pick) => u64::from(pick.slot),
        Err(why) => panic!("{why}"),
    }
}

fn empty(iterations: u64) {
    let result = Ok(Pick::default());
    let mut sum = 0_u64;
    for _ in 0..iterations {
        black_box(&UNCOUNTED);
        sum += slot(black_box(&result));
    }
    black_box(sum);
}

fn worker(settings: Settings, hosts: u32) -> Worker {
    // The worker keeps what it needs of the cluster.
    opened(settings, hosts).worker().expect("a worker")
}

fn opened((behavior, policy, equal_weights): Settings, hosts: u32) -> Cluster {
    cluster(behavior, policy, &assignment(Layout::Layered, hosts, equal_weights))
}

/// The same through the C interface, in a loop of C with 1 000 hosts.
fn from_c(settings: Settings, run: impl FnOnce(&mut CWorker) -> u64) {
    black_box(run(&mut CCluster::new(opened(settings, 1_000)).worker()));
}

fn pick(settings: Settings, hosts: u32, context: PickContext, iterations: u64) {
    let mut worker = worker(settings, hosts);
    repeat(iterations, || worker.pick(black_box(&context)));
}

fn pair(settings: Settings, hosts: u32, iterations: u64) {
    let mut worker = worker(settings, hosts);
    repeat(iterations, || {
        let pick = worker.pick(black_box(&COUNTED))?;
        worker.done(pick, Outcome::Success).expect("a counted pick");
        Ok(pick)
    });
}

/// Looks ahead and picks what it saw, as otherwise no more can be peeked.
fn peek(settings: Settings, hosts: u32, iterations: u64) {
    let mut worker = worker(settings, hosts);
    repeat(iterations, || {
        black_box(worker.peek()?);
        worker.pick(black_box(&UNCOUNTED))
    });
}

fn filtered(settings: Settings, hosts: u32, iterations: u64) {
    let mut worker = worker(settings, hosts);
    repeat(iterations, || worker.pick_filtered(black_box(&COUNTED), |_, _| true));
}

/// One iteration is one pick of a batch of 64.
fn batch(settings: Settings, hosts: u32, context: PickContext, iterations: u64) {
    let mut worker = worker(settings, hosts);
    let mut picks = [Pick::default(); 64];
    let mut sum = 0_u64;
    for _ in 0..iterations / 64 {
        let picked = worker.pick_batch(black_box(&context), &mut picks).expect("a host");
        sum += black_box(&picks[..picked]).iter().map(|pick| u64::from(pick.slot)).sum::<u64>();
    }
    black_box(sum);
}

/// Uncounted picks over about 1 000 hosts of equal weight.
fn routed((behavior, policy, _): Settings, routing: Routing, localities: u32, iterations: u64) {
    let shape = Shape { priorities: 1, localities, hosts: 1_000 / localities };
    let mut worker = open(behavior, policy, shape, routing).worker().expect("a worker");
    repeat(iterations, || worker.pick(black_box(&UNCOUNTED)));
}

fn by_reports() -> Policy {
    reporting::policy(Metrics::Scalar)
}

/// 256 hosts report in turn, each its own numbers.
fn reported(behavior: Behavior, form: Form, iterations: u64) {
    const HOSTS: u32 = 256;
    let hosts = assignment(Layout::Flat, HOSTS, true);
    let mut worker = cluster(behavior, by_reports(), &hosts).worker().expect("a worker");
    let values: Vec<_> =
        (0..HOSTS).map(|host| form.value(&reporting::report(Metrics::Scalar, host))).collect();
    let picks: Vec<_> = (0..HOSTS).map(|_| worker.pick(&UNCOUNTED).expect("a host")).collect();
    let mut reports = picks.iter().zip(&values).cycle();
    repeat(iterations, || {
        let Some((&pick, value)) = reports.next() else { return Err(NoHost::Empty) };
        let headers = form.headers(black_box(value));
        let load = ResponseLoad { headers, ..ResponseLoad::default() };
        worker.report(pick, &load, NOW_NS).expect("a good report");
        Ok(pick)
    });
}

fn bounded_maglev() -> Policy {
    let consistent_hashing =
        ConsistentHashing { hash_balance_factor: Some(125), ..ConsistentHashing::default() };
    Policy::Maglev(Maglev { consistent_hashing, ..Maglev::default() })
}

/// Picks by another hash each time, which takes about ten instructions to make.
fn hashed(settings: Settings, context: PickContext, iterations: u64) {
    let mut worker = worker(settings, 1_000);
    let mut contexts = contexts(context);
    repeat(iterations, || worker.pick(black_box(&contexts())));
}

fn hashed_pair(settings: Settings, iterations: u64) {
    let mut worker = worker(settings, 1_000);
    let mut contexts = contexts(COUNTED);
    repeat(iterations, || {
        let pick = worker.pick(black_box(&contexts()))?;
        worker.done(pick, Outcome::Success).expect("a counted pick");
        Ok(pick)
    });
}

fn contexts(context: PickContext) -> impl FnMut() -> PickContext {
    let mut number = 0;
    move || {
        number += 1;
        PickContext { hash: Some(hash(number)), ..context }
    }
}

fn request(policy: HashPolicy, iterations: u64) {
    let (policies, pick) = ([policy], Pick::default());
    repeat(iterations, || {
        black_box(hash_request(black_box(&policies), &Request).hash);
        Ok(pick)
    });
}

/// A table on its own, each time with another hash. The loop is the table's.
fn found(kind: &TableKind, hosts: u32, size: u32, iterations: u64) {
    black_box((kind.make)(&Hosts::new(hosts, |_| 1), size).finds(0, iterations));
}

/// A weighted choice on its own. The loop is the chooser's, and about as long as that of `empty`.
fn alone(choice: &Choice, iterations: u64) {
    let weights: Vec<u32> = (0..1_000).map(weight).collect();
    black_box((choice.prepare)(&weights)().picks(iterations));
}

/// The loop is the peer's own, in C++.
fn peer(kind: Kind, iterations: u64) {
    let hosts = hosts(Layout::Layered, 1_000, false);
    let cluster = PeerCluster::new(Layout::Layered, &hosts);
    black_box(cluster.worker(kind, 1).picks(iterations));
}

/// What `snapshot-check` reads, without the check.
fn plain_reference(iterations: u64) {
    let table = Table::new(1);
    let mut sum = 0_u64;
    for index in 0..iterations {
        sum += number(black_box(&table), index);
    }
    black_box(sum);
}

/// A read through the worker's reader, and the question whether the snapshot is another one.
fn snapshot_check(iterations: u64) {
    let scheme = TwoSlots::new(Table::new(1));
    let mut reader = scheme.handle();
    let mut sum = 0_u64;
    for index in 0..iterations {
        let (table, moved) = black_box(&mut reader).newest();
        if moved {
            adopt();
        }
        sum += number(table, index);
    }
    black_box(sum);
}

#[inline(always)]
fn number(table: &Table, index: u64) -> u64 {
    u64::from(table.numbers[usize::try_from(index).unwrap_or(0) % NUMBERS])
}

#[cold]
#[inline(never)]
fn adopt() {
    black_box(());
}
