//! Weights from the reports of ten thousand hosts: the tick that takes them over.

use std::time::Duration;

use plimsoll::Cluster;
use plimsoll::config::Behavior;
use plimsoll_benches::paired::{Contender, Plan, compare, time};
use plimsoll_benches::reporting::{Metrics, Mutexes, NOW_NS, policy, report};
use plimsoll_benches::scenario::{Layout, address, assignment, cluster};
use plimsoll_benches::table;

const HOSTS: u32 = 10_000;
/// A little more than the period of weights.
const PERIOD_NS: u64 = 1_100_000_000;

pub(crate) fn run() {
    let mut contenders = vec![under_mutexes()];
    for behavior in [Behavior::Native, Behavior::Envoy] {
        for layout in [Layout::Flat, Layout::Layered] {
            for changes in [false, true] {
                contenders.push(tick(behavior, layout, changes));
            }
        }
    }
    let title = format!("weights of {} hosts that all have reported", table::count(HOSTS as usize));
    table::print_durations(&title, "recomputation", &compare(contenders, Plan::default()));
}

fn under_mutexes<'a>() -> Contender<'a> {
    let mutexes = Mutexes::new(HOSTS as usize);
    let mut now_ns = NOW_NS;
    Contender::single("mutexes: weights only", move || {
        now_ns += PERIOD_NS;
        for host in 0..HOSTS as usize {
            mutexes.store(host, 1.0 + f64::from(host as u32 * 7 % 1_000), now_ns);
        }
        time(|| {
            std::hint::black_box(mutexes.recompute(now_ns));
        })
    })
}

/// A tick that finds other weights than the one before, or the same.
fn tick<'a>(behavior: Behavior, layout: Layout, changes: bool) -> Contender<'a> {
    let hosts = assignment(layout, HOSTS, true);
    let cluster = cluster(behavior, policy(Metrics::Scalar), &hosts);
    let mut worker = cluster.worker().expect("a worker");
    let lists = if layout == Layout::Flat { "one list" } else { "3 priorities of 10 localities" };
    let what = if changes { "all change" } else { "none changes" };
    let addresses: Vec<String> = (0..HOSTS).map(address).collect();
    report_all(&cluster, &addresses, 0, 1);
    let (mut now_ns, mut round) = (NOW_NS, 0);
    tick_at(&cluster, now_ns);
    Contender::single(format!("{} tick, {lists}: {what}", behavior.name()), move || {
        now_ns += PERIOD_NS;
        round += u32::from(changes);
        report_all(&cluster, &addresses, round, now_ns);
        let before = cluster.view().version();
        let elapsed = tick_at(&cluster, now_ns);
        assert_eq!(cluster.view().version() > before, changes, "weights are published");
        worker.refresh();
        elapsed
    })
}

/// Each host reports what another one did the round before.
fn report_all(cluster: &Cluster, addresses: &[String], round: u32, now_ns: u64) {
    for (host, address) in (0..).zip(addresses) {
        let report = report(Metrics::Scalar, host + round);
        cluster.report(address, &report.as_report(), now_ns).expect("a host that reports");
    }
}

fn tick_at(cluster: &Cluster, now_ns: u64) -> Duration {
    time(|| cluster.tick(now_ns).expect("a sound cluster"))
}
