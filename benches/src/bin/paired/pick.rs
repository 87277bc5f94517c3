//! Warm picks: the engine's policies against peers that choose by the same rule.

use std::hint::black_box;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{Outcome, Pick, PickContext, Worker};
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::peer::{Kind, PeerWorker};
use plimsoll_benches::table;

use crate::layouts::{SIZES, Size, seasoned};

const COUNTED: PickContext = PickContext::new();
const UNCOUNTED: PickContext = PickContext::uncounted();

pub(crate) fn run() {
    SIZES.into_iter().for_each(weighted);
    SIZES.into_iter().for_each(equal);
}

/// Weights from 1 to 100.
fn weighted(size: Size) {
    let peers = size.peer(false);
    let round_robin = size.engine(Behavior::Native, Policy::ROUND_ROBIN, false);
    let random = size.engine(Behavior::Native, Policy::Random, false);
    let least_request = size.engine(Behavior::Native, Policy::LEAST_REQUEST, false);
    let envoy = size.engine(Behavior::Envoy, Policy::ROUND_ROBIN, false);
    let worker = || round_robin.worker().expect("a worker");
    let contenders = vec![
        peer_picks("peer: EDF", seasoned(size, &peers, Kind::RoundRobin, 1)),
        peer_pairs("peer: EDF, pick + done", seasoned(size, &peers, Kind::RoundRobin, 2)),
        peer_picks(
            "peer: EDF of localities, EDF of hosts",
            seasoned(size, &peers, Kind::Localities, 3),
        ),
        picks("native round_robin", worker(), COUNTED),
        picks("native round_robin, uncounted", worker(), UNCOUNTED),
        pairs("native round_robin, pick + done", worker()),
        batches("native round_robin, 64 a batch", worker(), COUNTED),
        batches("native round_robin, 64 a batch, uncounted", worker(), UNCOUNTED),
        picks("native random", random.worker().expect("a worker"), COUNTED),
        picks("native random, uncounted", random.worker().expect("a worker"), UNCOUNTED),
        picks("native least_request", least_request.worker().expect("a worker"), COUNTED),
        picks("envoy round_robin", envoy.worker().expect("a worker"), COUNTED),
    ];
    let title = format!("pick, {}, weights 1 to 100", size.title());
    table::print_rows(&title, &compare(contenders, Plan::default()));
}

/// Equal weights, by turns, at random and by requests.
fn equal(size: Size) {
    let peers = size.peer(true);
    for (kind, policy) in [
        (Kind::RoundRobin, Policy::ROUND_ROBIN),
        (Kind::Random, Policy::Random),
        (Kind::TwoChoices, Policy::LEAST_REQUEST),
    ] {
        let name = policy.name();
        let envoy = size.engine(Behavior::Envoy, policy.clone(), true);
        let native = size.engine(Behavior::Native, policy, true);
        let contenders = vec![
            peer_picks(&format!("peer: {name}"), seasoned(size, &peers, kind, 1)),
            picks(&format!("envoy {name}"), envoy.worker().expect("a worker"), COUNTED),
            picks(&format!("native {name}"), native.worker().expect("a worker"), COUNTED),
        ];
        let title = format!("pick, {}, equal weights, {name}", size.title());
        table::print_rows(&title, &compare(contenders, Plan::default()));
    }
}

pub(crate) fn peer_picks<'a>(name: &str, mut worker: PeerWorker) -> Contender<'a> {
    Contender::looping(name, move |count| worker.picks(count))
}

fn peer_pairs<'a>(name: &str, mut worker: PeerWorker) -> Contender<'a> {
    Contender::looping(name, move |count| worker.pairs(count))
}

pub(crate) fn picks<'a>(name: &str, mut worker: Worker, context: PickContext) -> Contender<'a> {
    Contender::looping(name, move |count| pick_loop(&mut worker, context, count))
}

/// Picks, one by one; not ended if counted.
pub(crate) fn pick_loop(worker: &mut Worker, context: PickContext, count: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..count {
        sum += u64::from(worker.pick(black_box(&context)).expect("a host").slot);
    }
    sum
}

fn pairs<'a>(name: &str, mut worker: Worker) -> Contender<'a> {
    Contender::looping(name, move |count| pair_loop(&mut worker, count))
}

/// Picks that are counted and ended at once.
pub(crate) fn pair_loop(worker: &mut Worker, count: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..count {
        let pick = worker.pick(black_box(&COUNTED)).expect("a host");
        sum += u64::from(pick.slot);
        worker.done(pick, Outcome::Success).expect("a counted pick");
    }
    sum
}

fn batches<'a>(name: &str, mut worker: Worker, context: PickContext) -> Contender<'a> {
    Contender::looping(name, move |count| batch_loop(&mut worker, context, count))
}

/// Picks, 64 by one call.
pub(crate) fn batch_loop(worker: &mut Worker, context: PickContext, count: u64) -> u64 {
    let mut picks = [Pick::default(); 64];
    let mut sum = 0;
    for _ in 0..count / 64 {
        let picked = worker.pick_batch(black_box(&context), &mut picks).expect("a host");
        sum += picks[..picked].iter().map(|pick| u64::from(pick.slot)).sum::<u64>();
    }
    sum
}
