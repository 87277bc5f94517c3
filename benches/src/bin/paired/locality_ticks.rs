//! Ticks of load-aware routing over many hosts.

use plimsoll::config::{Behavior, Policy};
use plimsoll_benches::paired::{Contender, Plan, compare, time};
use plimsoll_benches::reporting::Mutexes;
use plimsoll_benches::table;
use plimsoll_benches::zones::{Routing, Shape, due_ns, open, report};

const SHAPE: Shape = Shape { priorities: 3, localities: 100, hosts: 100 };

pub(crate) fn run() {
    let mut contenders = vec![under_mutexes()];
    for behavior in [Behavior::Native, Behavior::Envoy] {
        for changes in [true, false] {
            contenders.push(tick(behavior, changes));
        }
    }
    let title = "load-aware tick, 3 priorities of 100 localities of 100 hosts, all of which report";
    table::print_durations(title, "tick", &compare(contenders, Plan::default()));
}

/// The sums alone, of one priority after the other.
fn under_mutexes<'a>() -> Contender<'a> {
    let all = SHAPE.hosts().count();
    let mutexes = Mutexes::new(all);
    Contender::single("mutexes: means of localities only", move || {
        (0..all).for_each(|host| mutexes.store(host, 0.5, 1));
        time(|| {
            std::hint::black_box(mutexes.means(SHAPE.hosts as usize));
        })
    })
}

/// A tick after all hosts have reported, other utilizations than before or the same.
fn tick<'a>(behavior: Behavior, changes: bool) -> Contender<'a> {
    let cluster = open(behavior, Policy::ROUND_ROBIN, SHAPE, Routing::LoadAware);
    let mut worker = cluster.worker().expect("a worker");
    let what = if changes { "all utilizations change" } else { "none changes" };
    let mut round = 0;
    Contender::single(format!("{}: {what}", behavior.name()), move || {
        round += 1;
        let now_ns = due_ns(round);
        let shift = if changes { f64::from(u8::from(round % 2 == 0)) / 10.0 } else { 0.0 };
        report(&cluster, SHAPE, now_ns, |locality| {
            let own = if locality == 0 { 0.8 } else { 0.2 + f64::from(locality) / 1_000.0 };
            own + shift
        });
        let elapsed = time(|| cluster.tick(now_ns).expect("a sound cluster"));
        worker.refresh();
        elapsed
    })
}
