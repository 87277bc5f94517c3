//! Runs one case a fixed number of times, for `instructions.sh` to count the instructions of.

use std::hint::black_box;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{Outcome, Pick, PickContext};
use plimsoll_benches::scenario::{Layout, assignment, cluster};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().expect("a case");
    let iterations: u64 = arguments.next().and_then(|n| n.parse().ok()).expect("iterations");
    let parts: Vec<&str> = case.split('/').collect();
    let behavior = if parts[1] == "envoy" { Behavior::Envoy } else { Behavior::Native };
    let policy = if parts[2] == "random" { Policy::Random } else { Policy::RoundRobin };
    let layout = if parts[3] == "flat" { Layout::Flat } else { Layout::Layered };
    let count = parts[4].parse().expect("hosts");
    let equal = (behavior, policy) == (Behavior::Envoy, Policy::RoundRobin)
        || parts.get(5) == Some(&"equal");
    let cluster = cluster(behavior, policy, &assignment(layout, count, equal));
    let mut worker = cluster.worker().unwrap();
    let mut sum = 0_u64;
    let context =
        PickContext { uncounted: parts[0].contains("uncounted"), ..PickContext::default() };
    match parts[0] {
        "pick" => {
            for _ in 0..iterations {
                let pick = worker.pick(black_box(&context));
                sum += u64::from(pick.unwrap().slot);
            }
        }
        "uncounted" => {
            for _ in 0..iterations {
                let pick = worker.pick(black_box(&context));
                sum += u64::from(pick.unwrap().slot);
            }
        }
        "pair" => {
            for _ in 0..iterations {
                let pick = worker.pick(black_box(&context)).unwrap();
                sum += u64::from(pick.slot);
                worker.done(pick, Outcome::Success).unwrap();
            }
        }
        "batch" => {
            let mut picks = [Pick::default(); 64];
            for _ in 0..iterations / 64 {
                let n = worker.pick_batch(black_box(&context), &mut picks).unwrap();
                sum += u64::from(picks[n - 1].slot);
            }
        }
        "batchuncounted" => {
            let mut picks = [Pick::default(); 64];
            for _ in 0..iterations / 64 {
                let n = worker.pick_batch(black_box(&context), &mut picks).unwrap();
                sum += u64::from(picks[n - 1].slot);
            }
        }
        "filtered" => {
            for _ in 0..iterations {
                let pick = worker.pick_filtered(black_box(&context), |_, _| true);
                sum += u64::from(pick.unwrap().slot);
            }
        }
        _ => panic!("no such case"),
    }
    black_box(sum);
}
