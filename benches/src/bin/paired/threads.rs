//! One and two threads, each with a worker of its own, on one cluster.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use plimsoll::PickContext;
use plimsoll::config::{Behavior, Policy};
use plimsoll_benches::c_loops::CCluster;
use plimsoll_benches::paired::{Contender, Plan, compare, per_operation};
use plimsoll_benches::peer::Kind;
use plimsoll_benches::scenario::Layout;
use plimsoll_benches::table;

use crate::layouts::{Size, seasoned};
use crate::pick::{pair_loop, pick_loop};

const UNCOUNTED: PickContext = PickContext::uncounted();

pub(crate) fn run() {
    for hosts in [100, 1_000, 10_000] {
        let layout = if hosts == 100 { Layout::Flat } else { Layout::Layered };
        measure(Size { layout, hosts });
    }
}

fn measure(size: Size) {
    let peers = size.peer(false);
    let engine = size.engine(Behavior::Native, Policy::ROUND_ROBIN, false);
    let in_c = CCluster::new(size.engine(Behavior::Native, Policy::ROUND_ROBIN, false));
    let mut contenders = Vec::new();
    for threads in [1, 2] {
        let name = |what: &str| format!("{what}, {threads} thread{}", ["s", ""][threads % 2]);
        let mut workers: Vec<_> = (0..threads)
            .map(|seed| seasoned(size, &peers, Kind::RoundRobin, seed as u64))
            .collect();
        contenders.push(Contender::timing(name("peer: EDF, pick + done"), move |count| {
            together(&mut workers, |worker| worker.pairs(count), count)
        }));
        let mut workers: Vec<_> =
            (0..threads).map(|_| engine.worker().expect("a worker")).collect();
        contenders.push(Contender::timing(name("Rust, pick + done"), move |count| {
            together(&mut workers, |worker| pair_loop(worker, count), count)
        }));
        let mut workers: Vec<_> = (0..threads).map(|_| in_c.worker()).collect();
        contenders.push(Contender::timing(name("C, pick + done"), move |count| {
            together(&mut workers, |worker| worker.pairs(count), count)
        }));
        let mut workers: Vec<_> =
            (0..threads).map(|_| engine.worker().expect("a worker")).collect();
        contenders.push(Contender::timing(name("Rust, uncounted pick"), move |count| {
            together(&mut workers, |worker| pick_loop(worker, UNCOUNTED, count), count)
        }));
        let mut workers: Vec<_> = (0..threads).map(|_| in_c.worker()).collect();
        contenders.push(Contender::timing(name("C, uncounted pick"), move |count| {
            together(&mut workers, |worker| worker.picks(true, count), count)
        }));
    }
    let title = format!("threads, {}: ns in each thread", size.title());
    table::print_rows(&title, &compare(contenders, Plan::default()));
}

/// The nanoseconds of one of `count` operations in the slowest of the threads.
pub(crate) fn together<W: Send>(
    workers: &mut [W],
    work: impl Fn(&mut W) -> u64 + Sync,
    count: u64,
) -> f64 {
    let barrier = Barrier::new(workers.len());
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    thread::scope(|scope| {
        let run = |(index, worker)| {
            let (barrier, work, core) = (&barrier, &work, cores.get(index).copied());
            scope.spawn(move || {
                core.map(core_affinity::set_for_current);
                barrier.wait();
                let start = Instant::now();
                std::hint::black_box(work(worker));
                per_operation(start.elapsed(), count)
            })
        };
        let threads: Vec<_> = workers.iter_mut().enumerate().map(run).collect();
        let times = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        times.fold(0.0, f64::max)
    })
}
