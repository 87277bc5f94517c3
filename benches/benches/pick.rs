//! A developer's curves of picks over the number of hosts. For claims see the `paired` binary.

use criterion::{BenchmarkId, Criterion};
use plimsoll::config::{Behavior, Policy};
use plimsoll::{Outcome, PickContext};
use plimsoll_benches::scenario::{Layout, assignment, cluster};

const SIZES: [u32; 5] = [90, 900, 3_000, 10_000, 100_000];

fn picks(criterion: &mut Criterion) {
    for (behavior, policy) in [
        (Behavior::Native, Policy::ROUND_ROBIN),
        (Behavior::Native, Policy::Random),
        (Behavior::Native, Policy::LEAST_REQUEST),
        (Behavior::Envoy, Policy::ROUND_ROBIN),
        (Behavior::Envoy, Policy::Random),
        (Behavior::Envoy, Policy::LEAST_REQUEST),
    ] {
        let name = format!("pick + done/{} {}", behavior.name(), policy.name());
        let mut group = criterion.benchmark_group(name);
        for hosts in SIZES {
            let assignment = assignment(Layout::Layered, hosts, behavior == Behavior::Envoy);
            let cluster = cluster(behavior, policy.clone(), &assignment);
            let mut worker = cluster.worker().expect("a worker");
            group.bench_function(BenchmarkId::from_parameter(hosts), |bencher| {
                bencher.iter(|| {
                    let pick = worker.pick(&PickContext::default()).expect("a host");
                    worker.done(pick, Outcome::Success).expect("a counted pick");
                    pick.slot
                });
            });
        }
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    picks(&mut criterion);
    criterion.final_summary();
}
