//! Least request: picks that look at the counters of hosts, and count.

use std::hint::black_box;

use plimsoll::config::{Behavior, LeastRequest, Policy, SelectionMethod};
use plimsoll::{Outcome, Pick, PickContext, Worker};
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::peer::{Kind, PeerWorker};
use plimsoll_benches::scenario::Layout;

use crate::layouts::{Size, seasoned};
use crate::pick::{peer_picks, picks};
use crate::sheet::{Cell, Sheet};
use crate::threads::together;

const COUNTED: PickContext = PickContext::new();
/// Requests that are active at a time, where they end.
const ACTIVE: usize = 64;

pub(crate) fn run() {
    let sizes = [10, 100, 1_000, 10_000, 100_000];
    let two_choices = |equal_weights| Rule {
        kind: Kind::TwoChoices,
        policy: Policy::LEAST_REQUEST,
        equal_weights,
    };
    two_choices(true).print("two choices, equal weights", &sizes);
    two_choices(false).print("two choices, weights 1 to 100", &sizes);
    let policy = Policy::LeastRequest(LeastRequest {
        selection_method: SelectionMethod::FullScan,
        ..LeastRequest::default()
    });
    let full_scan = Rule { kind: Kind::FullScan, policy, equal_weights: true };
    full_scan.print("full scan, equal weights", &[8, 16, 32, 64]);
    two_choices(true).print_threads(&[10, 1_000, 10_000]);
}

/// How hosts are chosen.
struct Rule {
    kind: Kind,
    policy: Policy,
    equal_weights: bool,
}

impl Rule {
    fn print(&self, title: &str, sizes: &[u32]) {
        let mut sheet = Sheet::new();
        for &hosts in sizes {
            sheet.add(hosts as usize, self.picks(flat(hosts)));
        }
        sheet.print(&format!("least request, {title}: best ns of a pick"));
    }

    fn picks(&self, size: Size) -> Vec<Cell> {
        let peers = size.peer(self.equal_weights);
        let mut peer = seasoned(size, &peers, self.kind, 2);
        let mut contenders = vec![
            peer_picks("peer", seasoned(size, &peers, self.kind, 1)),
            Contender::looping("peer, pick + done", move |count| peer.overlapping(count)),
        ];
        for behavior in [Behavior::Envoy, Behavior::Native] {
            let engine = size.engine(behavior, self.policy.clone(), self.equal_weights);
            let worker = || engine.worker().expect("a worker");
            let name = behavior.name();
            contenders.push(picks(name, worker(), COUNTED));
            let mut requests = Requests::new(worker());
            let name = format!("{name}, pick + done");
            contenders.push(Contender::looping(name, move |count| requests.overlapping(count)));
        }
        cells(contenders)
    }

    fn print_threads(&self, sizes: &[u32]) {
        let mut sheet = Sheet::new();
        for &hosts in sizes {
            sheet.add(hosts as usize, self.threads(flat(hosts)));
        }
        sheet.print(
            "least request, two choices, equal weights, pick + done: best ns in each thread",
        );
    }

    fn threads(&self, size: Size) -> Vec<Cell> {
        let peers = size.peer(self.equal_weights);
        let engine = size.engine(Behavior::Native, self.policy.clone(), self.equal_weights);
        let mut contenders = Vec::new();
        for threads in [1, 2] {
            let name = |who: &str| format!("{who}, {threads} thread{}", ["s", ""][threads % 2]);
            let peer = |seed| seasoned(size, &peers, self.kind, seed as u64);
            let mut workers: Vec<PeerWorker> = (0..threads).map(peer).collect();
            contenders.push(Contender::timing(name("peer"), move |count| {
                together(&mut workers, |worker| worker.overlapping(count), count)
            }));
            let requests = |_| Requests::new(engine.worker().expect("a worker"));
            let mut workers: Vec<Requests> = (0..threads).map(requests).collect();
            contenders.push(Contender::timing(name("native"), move |count| {
                together(&mut workers, |worker| worker.overlapping(count), count)
            }));
        }
        cells(contenders)
    }
}

fn flat(hosts: u32) -> Size {
    Size { layout: Layout::Flat, hosts }
}

fn cells(contenders: Vec<Contender<'_>>) -> Vec<Cell> {
    compare(contenders, Plan::default()).into_iter().map(Cell::from).collect()
}

/// A worker and its requests that have not ended.
struct Requests {
    worker: Worker,
    picks: [Pick; ACTIVE],
    /// The place of the oldest one, and so of the next.
    oldest: usize,
}

impl Requests {
    fn new(worker: Worker) -> Self {
        Self { worker, picks: [Pick::default(); ACTIVE], oldest: 0 }
    }

    /// Picks that are counted, each of which ends the request of as many picks ago.
    fn overlapping(&mut self, count: u64) -> u64 {
        let mut sum = 0;
        for _ in 0..count {
            let pick = self.worker.pick(black_box(&COUNTED)).expect("a host");
            sum += u64::from(pick.slot);
            let ended = std::mem::replace(&mut self.picks[self.oldest % ACTIVE], pick);
            self.oldest += 1;
            if ended.counted {
                self.worker.done(ended, Outcome::Success).expect("a counted pick");
            }
        }
        sum
    }
}
