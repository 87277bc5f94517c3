//! Single picks on cold caches, as in a proxy that does other work between two requests.

use std::hint::black_box;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{PickContext, Worker};
use plimsoll_benches::cold::{Operation, measure};
use plimsoll_benches::peer::{Kind, PeerWorker};
use plimsoll_benches::table;

use crate::layouts::{SIZES, seasoned};

const SAMPLES: usize = 501;
const NAMES: [&str; 6] = [
    "peer: EDF",
    "peer: EDF of localities, EDF of hosts",
    "native round_robin",
    "native random",
    "native least_request",
    "envoy round_robin",
];

pub(crate) fn run() {
    for mebibytes in [2, 8] {
        if !walking(mebibytes) {
            println!("There is no time stamp counter to measure with.");
            return;
        }
    }
}

/// False if nothing can be measured.
fn walking(mebibytes: usize) -> bool {
    let mut lines: Vec<Vec<String>> = NAMES.iter().map(|name| vec![(*name).to_owned()]).collect();
    for &size in &SIZES[1..] {
        let peers = size.peer(false);
        let round_robin = size.engine(Behavior::Native, Policy::ROUND_ROBIN, false);
        let random = size.engine(Behavior::Native, Policy::Random, false);
        let least_request = size.engine(Behavior::Native, Policy::LEAST_REQUEST, false);
        let envoy = size.engine(Behavior::Envoy, Policy::ROUND_ROBIN, false);
        let operations = vec![
            peer_pick(seasoned(size, &peers, Kind::RoundRobin, 1)),
            peer_pick(seasoned(size, &peers, Kind::Localities, 2)),
            pick(round_robin.worker().expect("a worker")),
            pick(random.worker().expect("a worker")),
            pick(least_request.worker().expect("a worker")),
            pick(envoy.worker().expect("a worker")),
        ];
        let Some(medians) = measure(operations, SAMPLES, mebibytes << 20) else { return false };
        for (line, own) in lines.iter_mut().zip(&medians) {
            line.push(table::ns(*own));
            line.push(table::times(medians[0] / own));
        }
    }
    let heading =
        ["contender", "90 hosts", "times", "1 000", "times", "10 000", "times", "100 000", "times"];
    let title =
        format!("cold pick, {mebibytes} MiB walked before it: median ns above an empty one");
    table::print(&title, &heading, &lines);
    true
}

fn peer_pick<'a>(mut worker: PeerWorker) -> Operation<'a> {
    Box::new(move || {
        black_box(worker.pick());
    })
}

fn pick<'a>(mut worker: Worker) -> Operation<'a> {
    let context = PickContext::default();
    Box::new(move || {
        let pick = worker.pick(black_box(&context)).expect("a host");
        black_box(pick.slot);
    })
}
