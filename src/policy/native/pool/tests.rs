//! One lottery against two steps, and scans against sorting.

use super::*;
use crate::policy::native::{Layout, Weights};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Chunks of hosts of these weights; the slots go on from one to the next. In slow start, if
/// scaled: factors of one.
fn chunks(weights: &[Vec<u32>], is_scaled: bool) -> Vec<Arc<Chunk>> {
    let mut slots = 0..;
    let chunk = |weights: &Vec<u32>| {
        let host = |slot| HostId { slot, generation: 0 };
        let hosts: Vec<HostId> = slots.by_ref().take(weights.len()).map(host).collect();
        let weights = match is_scaled {
            true => Weights::scaled(weights, &vec![1.0; weights.len()]),
            false => Weights::Whole(weights.clone()),
        };
        Arc::new(Chunk::new(&hosts, weights, Layout::Lottery))
    };
    weights.iter().map(chunk).collect()
}

fn pool(chunks: &[Arc<Chunk>], few: bool) -> Pool {
    Pool::new(&chunks.iter().collect::<Vec<_>>(), few)
}

/// Both layouts of the same hosts.
fn both(weights: &[Vec<u32>], is_scaled: bool) -> [Pool; 2] {
    let chunks = chunks(weights, is_scaled);
    [true, false].map(|few| pool(&chunks, few))
}

/// How often each slot is the first of two draws, and the second, in 200 000.
fn counts(pool: &Pool) -> [BTreeMap<u32, f64>; 2] {
    let mut counts = [BTreeMap::new(), BTreeMap::new()];
    for number in 0..200_000 {
        let first = pool.draw(splitmix64(number)).unwrap();
        let second = pool.draw_another(splitmix64(!number), &first);
        assert_ne!(first.host, second.host);
        *counts[0].entry(first.host.slot).or_insert(0.0) += 1.0;
        *counts[1].entry(second.host.slot).or_insert(0.0) += 1.0;
    }
    counts
}

#[test]
fn both_layouts_draw_two_different_hosts_by_weight() {
    let weights = [vec![1, 2], vec![50], vec![5, 1, 1]];
    let all: Vec<f64> = weights.iter().flatten().map(|&weight| weight.into()).collect();
    for pool in both(&weights, false).into_iter().chain(both(&weights, true)) {
        for (draw, counts) in counts(&pool).iter().enumerate() {
            for (slot, &weight) in (0..).zip(&all) {
                let after = |&first: &f64| first / 60.0 * weight / (60.0 - first);
                let second = all.iter().map(after).sum::<f64>() - after(&weight);
                let expected = [weight / 60.0, second][draw] * 200_000.0;
                // Six standard deviations, on fixed numbers.
                let off = (counts[&slot] - expected).abs();
                assert!(off < 6.0 * expected.sqrt(), "draw {draw}, slot {slot}: {counts:?}");
            }
        }
    }
}

#[test]
fn few_hosts_are_one_lottery_unless_weights_would_be_rounded() {
    let is_one =
        |weights: &[Vec<u32>], is_scaled| both(weights, is_scaled).map(|it| it.lottery().is_some());
    assert_eq!(is_one(&[vec![1, 2, 3]], false), [true, true], "a chunk is one anyway");
    assert_eq!(is_one(&[vec![1], vec![2]], false), [true, false]);
    assert_eq!(is_one(&[vec![1], vec![2]], true), [true, false]);
    assert_eq!(is_one(&[vec![u32::MAX], vec![u32::MAX]], false), [true, false]);
    // In units of 2^-30, which is what the large one has room for, and of 2^-32.
    assert_eq!(is_one(&[vec![u32::MAX], vec![1]], true), [false, false]);
}

#[test]
fn chunks_in_slow_start_and_others_are_compared_in_one_unit() {
    let mut all = chunks(&[vec![4, 4]], true);
    all.extend(chunks(&[vec![8, 8]], false));
    for few in [true, false] {
        let pool = pool(&all, few);
        let mut weights: Vec<u64> =
            (0..1000).map(|number| pool.draw(splitmix64(number)).unwrap().weight).collect();
        weights.sort_unstable();
        weights.dedup();
        assert_eq!(weights, [4 << 32, 8 << 32]);
    }
}

/// The least busy slots, by sorting fractions.
fn naive(weights: &[Vec<u32>], loads: &[u32]) -> Vec<u32> {
    let weights: Vec<u32> = weights.iter().flatten().copied().collect();
    let is_less = |a: usize, b: usize| {
        u64::from(loads[a]) * u64::from(weights[b]) < u64::from(loads[b]) * u64::from(weights[a])
    };
    let all = 0..weights.len();
    let least = all.clone().filter(|&a| all.clone().all(|b| !is_less(b, a)));
    least.map(|slot| u32::try_from(slot).unwrap()).collect()
}

proptest! {
    #[test]
    fn a_scan_finds_one_of_the_least_busy(
        weights in prop_oneof![
            prop::collection::vec(prop::collection::vec(1..=3_u32, 1..90), 1..4),
            prop::collection::vec(prop::collection::vec(1..=u32::MAX, 1..9), 1..4),
            prop::collection::vec(prop::collection::vec(Just(5_u32), 1..150), 1..3),
        ],
        loads in prop_oneof![
            prop::collection::vec(0..4_u32, 400),
            prop::collection::vec(0..=1_u32 << 30, 400),
        ],
        is_scaled: bool,
        number: u64,
    ) {
        let expected = naive(&weights, &loads);
        for pool in both(&weights, is_scaled) {
            let host = pool.least_busy(number, |host| loads[host.slot as usize]).unwrap();
            prop_assert!(expected.contains(&host.slot), "{host:?} is not in {expected:?}");
        }
    }
}

#[test]
fn a_scan_takes_ties_by_weight_however_many_blocks_they_are_in() {
    // Idle hosts first, between and after busy ones; equal weights too, which are counted.
    for weights in
        [[vec![1; 130], vec![1, 1]], [vec![1; 130], vec![100, 1]], [vec![2; 65], vec![2, 1]]]
    {
        let is_idle = |slot: u32| [0, 63, 64, 128, 130, 131, 65].contains(&slot);
        let all: Vec<u32> = weights.iter().flatten().copied().collect();
        let idle = |&(slot, _): &(u32, u32)| is_idle(slot);
        let idle: Vec<(u32, u32)> = (0..).zip(all).filter(idle).collect();
        let total: u32 = idle.iter().map(|&(_, weight)| weight).sum();
        for pool in both(&weights, false) {
            let mut counts = BTreeMap::new();
            for number in 0..100_000 {
                let load = |host: HostId| u32::from(!is_idle(host.slot));
                let host = pool.least_busy(splitmix64(number), load).unwrap();
                *counts.entry(host.slot).or_insert(0.0) += 1.0;
            }
            assert_eq!(counts.len(), idle.len());
            for &(slot, weight) in &idle {
                // Six standard deviations, on fixed numbers.
                let expected = f64::from(weight) / f64::from(total) * 100_000.0;
                let off: f64 = counts[&slot] - expected;
                assert!(
                    off.abs() < 6.0 * expected.sqrt(),
                    "slot {slot} of {weights:?}: {counts:?}"
                );
            }
        }
    }
}
