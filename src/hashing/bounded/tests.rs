//! Bounded load against Envoy's tests, against sequences on the wire, and native's bound.

#![allow(clippy::cast_possible_truncation)]

use super::*;
use crate::config::HashFunction;
use crate::hashing::{
    Group, Maglev, Modulus, Permutation, Ring, envoy_counts, normalized, xxhash64,
};
use proptest::prelude::*;

/// A choice among `members` members whose primary is the hash itself.
fn chosen(hash: usize, members: usize, overload: impl Fn(usize) -> f64) -> usize {
    choose(hash as u64, hash, &mut Vec::new(), members, |member| member == hash, overload)
}

/// Those listed are a little overloaded, the first one least.
fn overloaded(list: &[usize]) -> impl Fn(usize) -> f64 {
    move |member| {
        let place = list.iter().position(|&listed| listed == member);
        place.map_or(0.5, |place| (102 + place) as f64 / 100.0)
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer
#[test]
fn requests_go_where_envoys_tests_say() {
    for hash in 0..5 {
        assert_eq!(chosen(hash, 5, overloaded(&[])), hash, "nobody is overloaded");
    }
    assert_eq!(chosen(2, 5, overloaded(&[2])), 1, "one is overloaded");
    assert_eq!(chosen(2, 5, overloaded(&[0, 1, 2])), 4, "several are overloaded");
    assert_eq!(chosen(0, 3, overloaded(&[1, 0, 2])), 1, "all are overloaded, the second one least");
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer
#[test]
fn hosts_that_are_listed_twice_are_passed_over_twice() {
    // Two members for each of five hosts; the fourth host is overloaded.
    let host = |member: usize| member / 2;
    let overload = |member: usize| if host(member) == 3 { 1.02 } else { 0.5 };
    for (hash, expected) in [(6, 4), (7, 0)] {
        let is_primary = |member: usize| host(member) == 3;
        let member = choose(hash as u64, hash, &mut Vec::new(), 10, is_primary, overload);
        assert_eq!(host(member), expected, "the host of hash {hash}");
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#hostOverloadFactor
#[test]
fn two_requests_are_too_many_for_one_slot() {
    let total = total_slots(0, 1);
    assert_eq!(total, 1);
    assert_eq!(overload(2, total, 0.2).to_bits(), 2_f64.to_bits());
    let active = [0, 0, 2, 0, 0];
    assert_eq!(chosen(2, 5, |member| overload(active[member], total, 0.2)), 1);
    assert_eq!(chosen(2, 5, |_| overload(0, total, 0.2)), 2, "before there were any");
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#hostOverloadFactor
#[test]
fn slots_are_counted_in_32_bits() {
    for (active, factor, slots) in [
        (0, 100, 1),
        (0, 101, 2),
        (9, 125, 13),
        (u32::MAX, 200, 0),
        (42_949_670, 100, 42_949_671),
        (42_949_671, 100, 0),
        (42_949_672, 100, 1),
    ] {
        assert_eq!(total_slots(active, factor), slots, "{active} active, {factor} percent");
    }
    assert_eq!(overload(3, 0, 0.5).to_bits(), 3_f64.to_bits(), "a member has one slot at least");
}

/// Where fourteen requests of one key go that all stay open, by host number from 1.
fn wire(factor: u32, primary: usize, hash: u64) -> Vec<usize> {
    let parts = normalized(&[Group { weight: 1, hosts: &[1; 6] }]);
    let mut active = [0_u32; 6];
    let mut scratch = Vec::with_capacity(6);
    let mut request = || {
        let total = total_slots(active.iter().sum(), factor);
        let load = |member: usize| overload(active[member], total, parts.weights[member]);
        let member = choose(hash, primary, &mut scratch, 6, |member| member == primary, load);
        active[member] += 1;
        member + 1
    };
    (0..14).map(|_| request()).collect()
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer
#[test]
fn open_requests_go_where_envoy_sent_them() {
    let keys: Vec<String> = (23_201..23_207).map(|port| format!("127.0.0.1:{port}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let hash = xxhash64(b"abc", 0);
    assert_eq!(hash, 4_952_883_123_889_572_249);
    let modulus = Modulus::new(65_537);
    let permutations: Vec<_> = keys.iter().map(|key| Permutation::new(key, modulus)).collect();
    let parts = normalized(&[Group { weight: 1, hosts: &[1; 6] }]).weights;
    let table = Maglev::new(modulus, &permutations, &parts);
    let slot = table.member(table.find(hash)) as usize;
    let (counts, _) = envoy_counts(&parts, 1024, 8_388_608);
    let ring = Ring::new(&keys, &counts, HashFunction::XxHash, None);
    let point = ring.member(ring.find(hash)) as usize;
    assert_eq!(wire(100, slot, hash), [3, 3, 2, 2, 5, 5, 3, 2, 5, 1, 1, 1, 3, 2], "maglev, 100");
    assert_eq!(wire(150, slot, hash), [3, 3, 2, 2, 3, 2, 5, 5, 3, 2, 5, 5, 3, 2], "maglev, 150");
    assert_eq!(wire(125, point, hash), [3, 3, 2, 2, 3, 2, 5, 5, 5, 3, 2, 5, 1, 1], "ring, 125");
}

/// The bound as a number: so many requests a member may have.
fn capacity(total: u64, share: u64, factor: u32) -> u64 {
    let requests = u128::from(total) + 1;
    let scaled = (requests * u128::from(factor)).checked_mul(u128::from(share));
    let capacity = scaled.map_or(u128::MAX, |scaled| scaled.div_ceil(100 << 32));
    u64::try_from(capacity).unwrap_or(u64::MAX).max(1)
}

#[test]
fn a_member_has_room_below_its_bound_rounded_up() {
    let half = 1 << 31;
    for (total, share, factor, bound) in [
        (0, half, 100, 1),
        (1, half, 100, 1),
        (2, half, 100, 2),
        (3, half, 125, 3),
        (99, half, 100, 50),
        (99, 1 << 32, 150, 150),
        (99, 0, 100, 1),
    ] {
        assert_eq!(capacity(total, share, factor), u64::from(bound));
        let has_room = |active| Bound::new(total, factor).has_room(active, share);
        let found = [has_room(bound - 1), has_room(bound)];
        assert_eq!(found, [true, false], "{total} active, share {share}, {factor} percent");
    }
    for (total, share, factor) in [(u64::MAX, 1 << 32, u32::MAX), (u64::MAX - 1, 1 << 32, 100)] {
        assert!(Bound::new(total, factor).has_room(u32::MAX, share), "more than anyone may have");
    }
}

proptest! {
    /// Whoever opens requests one by one, some member has room for the next one, so that nobody
    /// has more than the bound.
    #[test]
    fn someone_always_has_room(
        weights in prop::collection::vec(1..1000_u64, 1..20),
        hashes in prop::collection::vec(any::<u64>(), 200),
        factor in 100..300_u32,
    ) {
        let sum: u64 = weights.iter().sum();
        // Rounded up, so that shares are the whole at least.
        let shares: Vec<u64> = weights.iter().map(|&weight| (weight << 32).div_ceil(sum)).collect();
        let mut active = vec![0_u32; weights.len()];
        let mut scratch = Vec::new();
        for (total, hash) in (0..).zip(hashes) {
            let primary = hash as usize % weights.len() / 2;
            let accepts = |member: usize| Bound::new(total, factor).has_room(active[member], shares[member]);
            let load = |member: usize| if accepts(member) { 1.0 } else { 2.0 };
            let is_primary = |member| member == primary;
            let member = choose(hash, primary, &mut scratch, weights.len(), is_primary, load);
            prop_assert!(accepts(member), "{:?} of {:?} have no room for one more", active, weights);
            active[member] += 1;
        }
    }

    #[test]
    fn room_is_what_the_bound_leaves(
        total in 0..1_u64 << 32,
        share in 0..=1_u64 << 32,
        factor in 100..=u32::MAX,
        active: u32,
        near in -1..=1_i64,
    ) {
        let bound = capacity(total, share, factor);
        let at_bound = u32::try_from(bound.saturating_add_signed(near)).unwrap_or(active);
        for active in [active, at_bound] {
            let has_room = Bound::new(total, factor).has_room(active, share);
            prop_assert_eq!(has_room, u64::from(active) < bound, "{} of {}", active, bound);
        }
    }
}
