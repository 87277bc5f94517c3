//! A developer's curves of updates over the number of hosts. For claims see the `paired` binary.

use criterion::{BenchmarkId, Criterion};
use plimsoll::config::{Behavior, Policy};
use plimsoll::{HealthEvent, Update};
use plimsoll_benches::scenario::{Layout, address, assignment, cluster};

const SIZES: [u32; 4] = [90, 900, 9_000, 90_000];

fn flips(criterion: &mut Criterion) {
    for behavior in [Behavior::Native, Behavior::Envoy] {
        let mut group = criterion.benchmark_group(format!("flip/{}", behavior.name()));
        for hosts in SIZES {
            let assignment = assignment(Layout::Rebuilt, hosts, behavior == Behavior::Envoy);
            let cluster = cluster(behavior, Policy::Random, &assignment);
            let mut worker = cluster.worker().expect("a worker");
            let events = [HealthEvent::Fail, HealthEvent::Pass];
            let updates = events.map(|event| Update::new().health(address(0), event));
            let mut turn = 0;
            group.bench_function(BenchmarkId::from_parameter(hosts), |bencher| {
                bencher.iter(|| {
                    turn += 1;
                    cluster.apply(&updates[turn % 2]).expect("a valid update");
                    worker.refresh();
                });
            });
        }
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    flips(&mut criterion);
    criterion.final_summary();
}
