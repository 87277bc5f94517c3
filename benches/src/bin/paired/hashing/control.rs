//! Updates under hash policies, from the call to the published snapshot.

use std::time::Duration;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{Cluster, HealthEvent, Update, Worker};
use plimsoll_benches::paired::{Contender, Plan, compare, time};
use plimsoll_benches::scenario::{Layout, address, assignment};
use plimsoll_benches::table;

use super::{BEHAVIORS, open, ring_hash};

pub(super) fn run() {
    for hosts in [100, 1_000, 10_000] {
        let mut contenders =
            contenders("native round_robin", hosts, Behavior::Native, Policy::ROUND_ROBIN);
        for behavior in BEHAVIORS {
            let name = |what: &str| format!("{} {what}", behavior.name());
            let mut add = |what: &str, policy| {
                contenders.extend(self::contenders(&name(what), hosts, behavior, policy));
            };
            add("maglev", Policy::MAGLEV);
            add("ring_hash, default size", Policy::RING_HASH);
            if hosts < 10_000 {
                add("ring_hash, 65 536 points", ring_hash(behavior, 65_536, hosts));
            }
        }
        let plan = Plan { rounds: 25, ..Plan::default() };
        let title = format!("updates of {} hosts in one list", table::count(hosts as usize));
        table::print_durations(&title, "update", &compare(contenders, plan));
    }
}

fn contenders<'a>(
    name: &str,
    hosts: u32,
    behavior: Behavior,
    policy: Policy,
) -> Vec<Contender<'a>> {
    let subject = || Subject::new(open(behavior, policy.clone(), hosts));
    let (mut flips, mut returns, mut pushes) = (subject(), subject(), subject());
    let push = Update::new().assign(assignment(Layout::Flat, hosts, true));
    let (mut step, mut other) = (0, 0);
    vec![
        Contender::single(format!("{name}: a flip"), move || {
            let (down, up) = flip(&mut step, hosts);
            let elapsed = flips.apply(&down);
            flips.apply(&up);
            elapsed
        }),
        Contender::single(format!("{name}: back again"), move || {
            let (down, up) = flip(&mut other, hosts);
            returns.apply(&down);
            returns.apply(&up)
        }),
        Contender::single(format!("{name}: a push that changes nothing"), move || {
            pushes.apply(&push)
        }),
    ]
}

/// Another host each time fails, and recovers.
fn flip(step: &mut u32, hosts: u32) -> (Update, Update) {
    let update = |event| Update::new().health(address(*step * 997 % hosts), event);
    let updates = (update(HealthEvent::Fail), update(HealthEvent::Pass));
    *step += 1;
    updates
}

/// A cluster and a worker that keeps up with it.
struct Subject {
    cluster: Cluster,
    worker: Worker,
}

impl Subject {
    fn new(cluster: Cluster) -> Self {
        let worker = cluster.worker().expect("a worker");
        Self { cluster, worker }
    }

    fn apply(&mut self, update: &Update) -> Duration {
        let elapsed = time(|| {
            self.cluster.apply(update).expect("a valid update");
        });
        self.worker.refresh();
        elapsed
    }
}
