//! What Envoy's rings do not promise: points of one's own, distinct attempts, cheap successors.

use super::*;
use crate::rng::splitmix64;
use proptest::prelude::*;
use std::collections::HashSet;

const MAXIMUM: u32 = 8_388_608;
const FUNCTIONS: [HashFunction; 2] = [HashFunction::XxHash, HashFunction::MurmurHash2];

/// A native ring of members of these weights.
fn ring(keys: &[String], weights: &[u64]) -> Ring {
    let counts = native_counts(weights, 128, MAXIMUM);
    Ring::new(&borrowed(keys), &counts, HashFunction::XxHash, None)
}

fn choose(ring: &Ring, hash: u64) -> u32 {
    ring.member(ring.find(hash))
}

/// Members that may have equal keys, with numbers of points.
fn members() -> impl Strategy<Value = (Vec<String>, Vec<u32>)> {
    prop::collection::vec((0..20_u32, 0..40_u32), 0..30).prop_map(|members| {
        let (keys, counts): (Vec<u32>, Vec<u32>) = members.into_iter().unzip();
        (keys.iter().map(u32::to_string).collect(), counts)
    })
}

/// For each new member an old one that has its key and its number of points, if there is one that
/// is not taken.
fn kept(new: (&[String], &[u32]), old: (&[String], &[u32])) -> Vec<Option<u32>> {
    let mut taken = HashSet::new();
    let find = |(key, count): (&String, &u32)| {
        let mut candidates = (0..old.0.len()).rev();
        let place = candidates.find(|&place| {
            old.0[place] == *key && old.1[place] == *count && !taken.contains(&place)
        })?;
        taken.insert(place);
        u32::try_from(place).ok()
    };
    new.0.iter().zip(new.1).map(find).collect()
}

proptest! {
    #[test]
    fn a_ring_is_what_a_naive_one_is((keys, counts) in members(), hashes: [u64; 16]) {
        let keys = borrowed(&keys);
        for function in FUNCTIONS {
            let ring = Ring::new(&keys, &counts, function, None);
            let expected = naive(&keys, &counts, function);
            prop_assert_eq!(ring.len(), expected.len());
            prop_assert_eq!(ring.iter().collect::<Vec<_>>(), expected.clone());
            let own = expected.iter().flat_map(|&(hash, _)| [hash.wrapping_sub(1), hash, hash.wrapping_add(1)]);
            for hash in hashes.into_iter().chain(own).chain([0, u64::MAX]) {
                if !expected.is_empty() {
                    let member = naive_member(&expected, hash);
                    prop_assert_eq!(choose(&ring, hash), member, "the member of {}", hash);
                }
                prop_assert!(ring.find(hash) < ring.len().max(1));
            }
        }
    }

    #[test]
    fn a_successor_is_what_a_new_ring_is(
        (old_keys, old_counts) in members(),
        (keys, counts) in members(),
        forgotten in prop::collection::vec(any::<bool>(), 30),
    ) {
        for function in FUNCTIONS {
            let old = Ring::new(&borrowed(&old_keys), &old_counts, function, None);
            let mut kept = kept((&keys, &counts), (&old_keys, &old_counts));
            for (member, _) in kept.iter_mut().zip(forgotten.iter()).filter(|pair| *pair.1) {
                *member = None;
            }
            let before = Before { ring: &old, kept: &kept };
            let successor = Ring::new(&borrowed(&keys), &counts, function, Some(before));
            let new = Ring::new(&borrowed(&keys), &counts, function, None);
            prop_assert_eq!(successor, new);
        }
    }

    #[test]
    fn attempts_go_to_all_members_in_turn((keys, counts) in members(), hash: u64) {
        let ring = Ring::new(&borrowed(&keys), &counts, HashFunction::XxHash, None);
        let members = keys.len() as u32;
        let order: Vec<u32> = (0..members).map(|attempt| ring.distinct(hash, attempt)).collect();
        if ring.len() > 0 {
            let all: HashSet<&u32> = order.iter().collect();
            prop_assert_eq!(all.len(), order.len(), "a member twice: {:?}", order);
            prop_assert_eq!(order[0], choose(&ring, hash), "the first attempt is the pick");
            prop_assert_eq!(ring.distinct(hash, members), order[0], "then all begins again");
        }
    }

    #[test]
    fn points_follow_weights_and_fit(
        weights in prop::collection::vec(any::<u64>(), 0..40),
        shift in 0..64_u32,
        per_weight: u32,
        maximum: u32,
    ) {
        let weights: Vec<u64> = weights.iter().map(|weight| weight >> shift).collect();
        let counts = native_counts(&weights, per_weight, maximum);
        prop_assert_eq!(counts.len(), weights.len());
        prop_assert!(counts.iter().all(|&count| count >= 1), "without a point: {:?}", counts);
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let most = u64::from(maximum).max(counts.len() as u64);
        prop_assert!(sum <= most, "{} points, at most {}", sum, most);
        let exact = |&weight: &u64| u128::from(weight) * u128::from(per_weight);
        let halved = |halvings: u32| -> Vec<u128> {
            weights.iter().map(|weight| (exact(weight) >> halvings).max(1)).collect()
        };
        let wide: Vec<u128> = counts.iter().map(|&count| count.into()).collect();
        let halvings = (0..=96).find(|&halvings| halved(halvings) == wide);
        prop_assert!(halvings.is_some(), "points are not weights, halved alike: {:?}", counts);
        if let Some(halvings @ 1..) = halvings {
            let sum: u128 = halved(halvings - 1).iter().sum();
            prop_assert!(sum > u128::from(maximum), "{} halvings were enough", halvings - 1);
        }
    }
}

/// Hashes of requests, the same in each run.
fn hashes() -> impl Iterator<Item = u64> {
    (0..20_000).map(splitmix64)
}

#[test]
fn removing_a_member_moves_only_its_own_keys() {
    let keys = addresses(0..10);
    let weights: Vec<u64> = (1..=10).collect();
    let whole = ring(&keys, &weights);
    for victim in 0..10_u32 {
        let (mut keys, mut weights) = (keys.clone(), weights.clone());
        keys.remove(victim as usize);
        weights.remove(victim as usize);
        let rest = ring(&keys, &weights);
        let old_index = |member: u32| member + u32::from(member >= victim);
        let moved = hashes().filter(|&hash| {
            let member = choose(&whole, hash);
            member != victim && member != old_index(choose(&rest, hash))
        });
        assert_eq!(moved.count(), 0, "keys of others moved when {victim} left");
    }
}

#[test]
fn weighting_a_member_anew_moves_only_its_own_keys() {
    let keys = addresses(0..100);
    let mut weights = vec![10_u64; 100];
    let before = ring(&keys, &weights);
    for weight in [5, 9, 11, 15] {
        weights[7] = weight;
        let after = ring(&keys, &weights);
        let moved: Vec<(u32, u32)> = hashes()
            .map(|hash| (choose(&before, hash), choose(&after, hash)))
            .filter(|(old, new)| old != new)
            .collect();
        assert!(!moved.is_empty(), "weight {weight} moves keys");
        let is_own = |&(old, new): &(u32, u32)| if weight < 10 { old == 7 } else { new == 7 };
        assert!(moved.iter().all(is_own), "weight {weight} moved keys between others");
    }
}

#[test]
fn a_ring_does_not_depend_on_the_order_of_its_members() {
    let keys = addresses(0..50);
    let weights: Vec<u64> = (0..50).map(|member| member % 7 + 1).collect();
    let forward = ring(&keys, &weights);
    let reversed: (Vec<String>, Vec<u64>) =
        keys.iter().cloned().zip(weights.iter().copied()).rev().unzip();
    let backward = ring(&reversed.0, &reversed.1);
    assert!(hashes().all(|hash| choose(&forward, hash) == 49 - choose(&backward, hash)));
}

#[test]
fn an_empty_ring_does_no_harm() {
    let ring = Ring::new(&[], &[], HashFunction::XxHash, None);
    assert_eq!([ring.find(5), ring.len(), ring.members()], [0, 0, 0]);
    assert_eq!([ring.member(0), ring.attempt(5, 3), ring.distinct(5, 3)], [0, 0, 0]);
    let before = Before { ring: &ring, kept: &[Some(7), None] };
    let next = Ring::new(&["a", "b"], &[1, 1], HashFunction::XxHash, Some(before));
    assert_eq!(next.len(), 2, "a member that was never there is made");
}

#[test]
fn points_are_numbered_in_decimal() {
    let ring = Ring::new(&["key"], &[1100], HashFunction::XxHash, None);
    assert_eq!(ring.iter().collect::<Vec<_>>(), naive(&["key"], &[1100], HashFunction::XxHash));
}
