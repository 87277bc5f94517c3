//! Routing by locality: what it adds to picks, what its ticks take, and what picks see of them.

use plimsoll::PickContext;
use plimsoll::config::{Behavior, Policy};
use plimsoll_benches::paired::{Plan, compare};
use plimsoll_benches::table;
use plimsoll_benches::zones::{Routing, Shape, open};

use crate::pick::picks;
use crate::{locality_tails, locality_ticks};

const UNCOUNTED: PickContext = PickContext::uncounted();

pub(crate) fn run() {
    locality_ticks::run();
    for (hosts, localities) in [(1_000, 8), (1_000, 100), (10_000, 8), (10_000, 100)] {
        added(Shape { priorities: 1, localities, hosts: hosts / localities });
    }
    locality_tails::run();
}

/// Picks with and without, over the same hosts.
fn added(shape: Shape) {
    let mut lines = Vec::new();
    for behavior in [Behavior::Native, Behavior::Envoy] {
        for policy in [Policy::ROUND_ROBIN, Policy::Random, Policy::LEAST_REQUEST] {
            let clusters =
                Routing::ALL.map(|routing| open(behavior, policy.clone(), shape, routing));
            let contender = |cluster: &plimsoll::Cluster| {
                picks("", cluster.worker().expect("a worker"), UNCOUNTED)
            };
            let rows = compare(clusters.iter().map(contender).collect(), Plan::default());
            let without = rows[0].best;
            let mut line =
                vec![format!("{} {}", behavior.name(), policy.name()), table::ns(without)];
            line.extend(rows[1..].iter().map(|row| format!("{:+.2}", row.best - without)));
            lines.push(line);
        }
    }
    let hosts = table::count((shape.localities * shape.hosts) as usize);
    let title =
        format!("locality choice, {hosts} hosts in {} localities: best ns", shape.localities);
    let heading = ["uncounted pick", "without", "weighted", "zone-aware", "load-aware"];
    table::print(&title, &heading, &lines);
}
