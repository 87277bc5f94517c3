//! Making tables: from keys and weights, and from another ring.

use std::hint::black_box;

use plimsoll_benches::hashed::{
    Hosts, Kind, MAGLEVS, MaglevTable, PeerTable, RINGS, RingTable, SLOTS, filled_literally,
};
use plimsoll_benches::paired::{Contender, Plan, compare, time};
use plimsoll_benches::scenario::weight;
use plimsoll_benches::table;

use super::lookups::equal;

const PLAN: Plan = Plan { rounds: 7, slice: std::time::Duration::ZERO };
const HEAVY: u32 = 1_000_000;

pub(super) fn run() {
    for hosts in [100, 1_000, 10_000] {
        maglev("equal weights", hosts, |_| 1);
        maglev("weights 1 to 100", hosts, weight);
        maglev("one host of weight 1 000 000", hosts, |host| if host == 0 { HEAVY } else { 1 });
    }
    for points in [1_024, 65_536, 262_144] {
        [100, 1_000].into_iter().filter(|hosts| points / hosts > 1).for_each(|hosts| {
            ring(points, hosts);
        });
    }
}

/// The rule taken literally is the reference.
fn maglev(title: &str, hosts: u32, weight: fn(u32) -> u32) {
    let given = Hosts::new(hosts, weight);
    check(&given);
    let is_equal = given.weights.iter().all(|weight| *weight == given.weights[0]);
    let literal = |name, as_envoy| {
        let given = &given;
        twice(name, move || drop(black_box(filled_literally(given, as_envoy))))
    };
    let mut contenders = vec![
        literal("the rule taken literally, in Rust", false),
        literal("the same with floats", true),
    ];
    let fits = |kind: &&Kind| hosts <= kind.most_hosts && (is_equal || kind.weighs);
    contenders.extend(MAGLEVS.iter().filter(fits).map(|kind| made(kind, &given, SLOTS)));
    let hosts = table::count(hosts as usize);
    let title = format!("maglev table of 65 537 slots, {hosts} hosts, {title}");
    table::print_durations(&title, "build", &compare(contenders, PLAN));
}

/// All fill the same table, of whole numbers or of floats.
fn check(given: &Hosts) {
    assert_eq!(MaglevTable::native(given).members(), filled_literally(given, false), "native");
    let expected = filled_literally(given, true);
    assert_eq!(MaglevTable::envoy(given).members(), expected, "envoy");
    assert_eq!(PeerTable::pointer_maglev(given).members(), expected, "shared pointers");
    assert_eq!(PeerTable::compact_maglev(given).members(), expected, "bits");
}

/// C++ is the reference. Its ring is that of `behavior: envoy`.
fn ring(points: u32, hosts: u32) {
    let given = equal(hosts);
    assert_eq!(
        RingTable::envoy(&given, points).members(),
        PeerTable::ring(&given, points).members()
    );
    let full = RingTable::native(&given, points);
    let fewer = full.without(&given, points);
    assert_eq!(fewer.with(&given, points).members(), full.members(), "merged");
    let mut contenders: Vec<_> = RINGS.iter().map(|kind| made(kind, &given, points)).collect();
    contenders.push(twice("native ring, one host leaves", || {
        drop(black_box(full.without(&given, points)));
    }));
    contenders.push(twice("native ring, it comes back", || {
        drop(black_box(fewer.with(&given, points)));
    }));
    let (points, hosts) = (table::count(points as usize), table::count(hosts as usize));
    let title = format!("ring of {points} points, {hosts} hosts");
    table::print_durations(&title, "build", &compare(contenders, PLAN));
}

/// From keys and weights, and away again.
fn made<'a>(kind: &'a Kind, hosts: &'a Hosts, size: u32) -> Contender<'a> {
    twice(kind.name, move || drop(black_box((kind.make)(hosts, size))))
}

/// Done twice, of which the second time counts. What a contender frees may go back to the machine
/// while others have their turns, and then it takes milliseconds to get it again.
fn twice<'a>(name: &str, work: impl Fn() + 'a) -> Contender<'a> {
    Contender::single(name, move || {
        work();
        time(&work)
    })
}
