//! One health flip after another among 100 000 hosts, with nothing else in between: what an update
//! costs when its memory is still in the caches. The paired tables have the other case.

use std::time::Instant;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{HealthEvent, Update};
use plimsoll_benches::scenario::{Layout, assignment, cluster};

const HOSTS: u32 = 100_000;
const FLIPS: u32 = 4_000;

fn main() {
    for policy in [Policy::ROUND_ROBIN, Policy::Random] {
        let hosts = assignment(Layout::Layered, HOSTS, false);
        let cluster = cluster(Behavior::Native, policy.clone(), &hosts);
        let address = &hosts.endpoints[0].endpoints[0].address;
        let mut times = Vec::new();
        for flip in 0..FLIPS {
            let event = if flip % 2 == 0 { HealthEvent::Eject } else { HealthEvent::Uneject };
            let update = Update::new().health(address.clone(), event);
            let start = Instant::now();
            let applied = cluster.apply(&update).expect("the host is there");
            times.push(start.elapsed());
            assert!(applied.published, "every flip is a change");
        }
        times.sort();
        let (best, median) = (times[0], times[times.len() / 2]);
        println!("{}: best {best:.1?}, median {median:.1?}", policy.name());
    }
}
