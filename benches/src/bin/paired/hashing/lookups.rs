//! From a hash to a host: tables on their own, and whole picks.

use std::hint::black_box;
use std::time::Duration;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{Outcome, Worker};
use plimsoll_benches::hashed::{Hosts, Kind, MAGLEVS, RINGS, SLOTS, hash};
use plimsoll_benches::paired::{Contender, Plan, compare, per_operation, time};

use super::{BEHAVIORS, hashed, open, ring_hash};
use crate::sheet::{Cell, Sheet};

/// Of the rings.
const HOSTS: u32 = 100;

pub(super) fn run() {
    let mut sheet = Sheet::new();
    for hosts in [10, 100, 1_000, 10_000] {
        let policy = |_| Policy::MAGLEV;
        sheet.add(hosts as usize, cells(MAGLEVS, &equal(hosts), SLOTS, policy));
    }
    sheet.print("maglev, 65 537 slots, by number of hosts: best ns of a random hash");
    let mut sheet = Sheet::new();
    for points in [1_024, 65_536, 262_144] {
        let policy = |behavior| ring_hash(behavior, points, HOSTS);
        sheet.add(points as usize, cells(RINGS, &equal(HOSTS), points, policy));
    }
    sheet.print("ring hash, 100 hosts, by number of points: best ns of a random hash");
}

pub(super) fn equal(hosts: u32) -> Hosts {
    Hosts::new(hosts, |_| 1)
}

fn cells(
    kinds: &[Kind],
    hosts: &Hosts,
    size: u32,
    policy: impl Fn(Behavior) -> Policy,
) -> Vec<Cell> {
    let count = u32::try_from(hosts.keys.len()).unwrap_or(u32::MAX);
    let fits = |kind: &&Kind| count <= kind.most_hosts;
    let mut contenders: Vec<_> =
        kinds.iter().filter(fits).map(|kind| table(kind, hosts, size)).collect();
    contenders.push(numbered("the hashes alone", |first, count| {
        (first..first + count).map(|number| black_box(hash(number)) >> 40).sum()
    }));
    for behavior in BEHAVIORS {
        let cluster = open(behavior, policy(behavior), count);
        let worker = || cluster.worker().expect("a worker");
        let name = |what: &str| format!("{} {what}", behavior.name());
        contenders.push(picks(name("pick, uncounted"), worker(), true));
        contenders.push(picks(name("pick"), worker(), false));
        contenders.push(pairs(name("pick + done"), worker()));
    }
    // Longer than elsewhere: a large ring has to come back into the caches first.
    let plan = Plan { rounds: 31, slice: Duration::from_millis(4) };
    compare(contenders, plan).into_iter().map(Cell::from).collect()
}

fn table<'a>(kind: &Kind, hosts: &Hosts, size: u32) -> Contender<'a> {
    let table = (kind.make)(hosts, size);
    numbered(kind.name, move |first, count| table.finds(first, count))
}

/// Operations before any is timed: how many fill a slice should be found out with a table that is in
/// the caches, or so few would be that it never is.
const WARMING: u64 = 1 << 18;

/// A loop over numbers that do not come again.
pub(super) fn numbered<'a>(
    name: impl Into<String>,
    mut run: impl FnMut(u64, u64) -> u64 + 'a,
) -> Contender<'a> {
    let mut next = 0;
    Contender::timing(name, move |count| {
        if next == 0 {
            black_box(run(0, WARMING));
            next = WARMING;
        }
        let first = next;
        next += count;
        let elapsed = time(|| {
            black_box(run(first, count));
        });
        per_operation(elapsed, count)
    })
}

/// Picks; not ended if counted.
fn picks<'a>(name: String, mut worker: Worker, uncounted: bool) -> Contender<'a> {
    numbered(name, move |first, count| {
        let mut sum = 0;
        for number in first..first + count {
            let context = hashed(number, uncounted);
            sum += u64::from(worker.pick(black_box(&context)).expect("a host").slot);
        }
        sum
    })
}

/// Picks that are counted and ended at once.
fn pairs<'a>(name: String, mut worker: Worker) -> Contender<'a> {
    numbered(name, move |first, count| pair_loop(&mut worker, first..first + count))
}

/// The same for these numbers.
pub(super) fn pair_loop(worker: &mut Worker, numbers: impl IntoIterator<Item = u64>) -> u64 {
    let mut sum = 0;
    for number in numbers {
        let context = hashed(number, false);
        let pick = worker.pick(black_box(&context)).expect("a host");
        sum += u64::from(pick.slot);
        worker.done(pick, Outcome::Success).expect("a counted pick");
    }
    sum
}
