//! Bounded load: picks with a `hash_balance_factor`, with nobody busy and with all but a few hosts
//! at their bound.

use std::collections::HashSet;
use std::time::Duration;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{Cluster, HostLoad, Worker};
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::scenario::address;
use plimsoll_benches::table;

use super::lookups::pair_loop;
use super::{BEHAVIORS, bounded_maglev, hashed, open};
use crate::threads::together;

/// What a host has that is at its bound.
const LOAD: u32 = 100;
/// Hashes of hosts that are at their bound.
const HASHES: usize = 4_096;

pub(super) fn run() {
    for hosts in [10, 100, 5_000] {
        let mut contenders =
            vec![pairs("native, no bound, 1 thread", &free(Policy::MAGLEV, hosts), 1)];
        for threads in [1, 2] {
            for behavior in BEHAVIORS {
                let who = |what: &str| {
                    let threads = format!("{threads} thread{}", ["s", ""][threads % 2]);
                    format!("{}, {what}, {threads}", behavior.name())
                };
                let idle =
                    Case { cluster: open(behavior, bounded_maglev(125), hosts), numbers: any() };
                contenders.push(pairs(&who("125 %, idle"), &idle, threads));
                for factor in [125, 101] {
                    let busy = busy(behavior, factor, hosts);
                    contenders.push(pairs(
                        &who(&format!("{factor} %, own host full")),
                        &busy,
                        threads,
                    ));
                }
            }
        }
        let worst = busy(Behavior::Native, 100, hosts);
        contenders.push(pairs("native, 100 %, one host has room, 1 thread", &worst, 1));
        let title = format!(
            "bounded load, {} hosts, pick + done: ns in each thread",
            table::count(hosts as usize)
        );
        // Long enough for every hash to come again, often.
        let plan = Plan { rounds: 25, slice: Duration::from_millis(4) };
        table::print_rows(&title, &compare(contenders, plan));
    }
}

/// A cluster, and the numbers of the hashes to pick with.
struct Case {
    cluster: Cluster,
    numbers: Vec<u64>,
}

fn free(policy: Policy, hosts: u32) -> Case {
    Case { cluster: open(Behavior::Native, policy, hosts), numbers: any() }
}

fn any() -> Vec<u64> {
    (0..HASHES as u64).collect()
}

/// As few hosts as possible have nothing to do, so that all others are at their bound; hashes are of
/// those others.
fn busy(behavior: Behavior, factor: u32, hosts: u32) -> Case {
    let cluster = open(behavior, bounded_maglev(factor), hosts);
    let free = idle_hosts(behavior, factor, hosts);
    // Spread over the list.
    let is_free = |host: u32| host * free / hosts != (host + 1) * free / hosts;
    let addresses: Vec<String> = (0..hosts).filter(|&host| !is_free(host)).map(address).collect();
    let loads: Vec<(&str, HostLoad)> =
        addresses.iter().map(|address| (address.as_str(), HostLoad::active(LOAD))).collect();
    cluster.set_loads(&loads).expect("known hosts");
    let full: HashSet<&String> = addresses.iter().collect();
    let unbounded = open(behavior, Policy::MAGLEV, hosts);
    let mut own = unbounded.worker().expect("a worker");
    let mut is_full = |number: u64| {
        let pick = own.pick(&hashed(number, true)).expect("a host");
        full.contains(&own.host(pick).expect("a present host").address().to_string())
    };
    let numbers: Vec<u64> = (0..).filter(|&number| is_full(number)).take(HASHES).collect();
    let before = redirects(&cluster);
    pair_loop(&mut cluster.worker().expect("a worker"), numbers.iter().copied());
    if behavior == Behavior::Native {
        assert_eq!(redirects(&cluster) - before, HASHES as u64, "own hosts are full");
    }
    Case { cluster, numbers }
}

/// The smallest number of hosts without requests that leaves all others at their bound, or in Envoy
/// above it.
fn idle_hosts(behavior: Behavior, factor: u32, hosts: u32) -> u32 {
    let most = if behavior == Behavior::Native { LOAD } else { LOAD - 1 };
    let is_full = |free: &u32| {
        // Two threads may have a request more each.
        let active = u64::from(LOAD) * u64::from(hosts - free) + 2;
        (active * u64::from(factor)).div_ceil(100 * u64::from(hosts)) <= u64::from(most)
    };
    (1..hosts).find(is_full).expect("some number")
}

fn redirects(cluster: &Cluster) -> u64 {
    cluster.stats().expect("a sound cluster").get("plimsoll.bounded_load_redirects")
}

fn pairs<'a>(name: &str, case: &Case, threads: usize) -> Contender<'a> {
    let numbers = case.numbers.clone();
    let worker = |_| (case.cluster.worker().expect("a worker"), 0);
    let mut workers: Vec<(Worker, usize)> = (0..threads).map(worker).collect();
    Contender::timing(name, move |count| {
        let run = |(worker, next): &mut (Worker, usize)| {
            let first = *next;
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            *next = (first + count) % HASHES;
            pair_loop(worker, numbers.iter().copied().cycle().skip(first).take(count))
        };
        together(&mut workers, run, count)
    })
}
