//! Published orders, the insides after construction, and a scheduler that looks at every item.
//!
//! //= envoy v1.40 source/common/upstream/edf_scheduler.h#EdfScheduler

#![allow(clippy::cast_possible_truncation)] // as the rules say

use std::cmp::Ordering::{Greater, Less};

use super::*;
use crate::rng::splitmix64;
use proptest::prelude::*;

/// Weights as floats.
fn floats(weights: &[u32]) -> Vec<f64> {
    weights.iter().map(|&weight| weight.into()).collect()
}

/// The next picks while weights are these.
fn picks(scheduler: &mut Edf, weights: &[f64], picks: usize) -> Vec<u32> {
    (0..picks).map(|_| scheduler.pick(|item| weights[item as usize]).unwrap()).collect()
}

/// The first picks as a string of indexes.
fn order(weights: &[u32], seed: u64, count: usize) -> String {
    let weights = floats(weights);
    let picks = picks(&mut Edf::new(&weights, seed), &weights, count);
    picks.iter().map(u32::to_string).collect()
}

#[test]
fn picks_after_construction_are_envoys() {
    let table: [(&[u32], &str); 6] = [
        (&[1, 2], "101101101101 011011011011 110110110110 101101101101 011011011011 110110110110"),
        (
            &[6, 3, 1],
            "010010021001 100100210010 001002100100 010021001001 210010010021 010021001001",
        ),
        (
            &[7, 5, 3, 2, 2, 1],
            "01021034012010534210 10210340120105342100 02103401201053421001 \
             21034012010534201010 40120105342100102103 21034012010534210010",
        ),
        (
            &[1, 1, 1, 2],
            "301233012330 012330123301 123301233012 233012330123 123301233012 233012330123",
        ),
        (
            &[25, 75],
            "110111011101 101110111011 011101110111 111011101110 111011101110 111011101110",
        ),
        (
            &[5, 1, 1],
            "000012000001 000120000012 001200000120 012000001200 000012000001 001200000120",
        ),
    ];
    for (weights, orders) in table {
        for (seed, expected) in [0, 1, 2, 3, 7, 23].into_iter().zip(orders.split_whitespace()) {
            assert_eq!(order(weights, seed, expected.len()), expected, "{weights:?}, seed {seed}");
        }
    }
}

#[test]
fn only_the_low_half_of_the_seed_counts_and_wraps() {
    let table = [
        (429_496_728, "100100100210", Some("01201053421001021034")),
        (429_496_729, "010010021001", None),
        (429_496_730, "100100210010", None),
        (4_294_967_295, "002100100100", Some("03401201053421001021")),
        (1 << 32, "010010021001", None),
        ((1 << 63) + 5, "002100100100", Some("03401201053421001021")),
    ];
    for (seed, three, six) in table {
        assert_eq!(order(&[6, 3, 1], seed, 12), three, "seed {seed}");
        if let Some(six) = six {
            assert_eq!(order(&[7, 5, 3, 2, 2, 1], seed, 20), six, "seed {seed}");
        }
    }
}

#[test]
fn the_insides_after_construction_are_envoys() {
    type Row = (&'static [u32], u64, f64, &'static [(f64, u64, u32)]);
    let table: [Row; 6] = [
        (
            &[1, 2],
            1,
            0.499_999_999_999_975,
            &[(0.999_999_999_999_900_1, 0, 0), (0.999_999_999_999_975, 2, 1)],
        ),
        (
            &[1, 2],
            2,
            0.999_999_999_999_900_1,
            &[(0.999_999_999_999_95, 1, 1), (1.999_999_999_999_9, 2, 0)],
        ),
        (
            &[25, 75],
            23,
            0.239_999_999_999_999_05,
            &[(0.239_999_999_999_999_69, 1, 1), (0.279_999_999_999_999, 2, 0)],
        ),
        (
            &[6, 3, 1],
            7,
            0.833_333_333_333_319_4,
            &[
                (0.999_999_999_999_900_1, 2, 2),
                (0.999_999_999_999_966_7, 1, 1),
                (0.999_999_999_999_986, 3, 0),
            ],
        ),
        (&[1024, 2048], 5, 0.001_953_125, &[(0.001_953_125, 1, 1), (0.002_929_687_5, 2, 0)]),
        (
            &[u32::MAX, 1],
            1_000_000,
            0.000_232_830_643_708_079_74,
            &[(0.000_232_830_876_538_723_45, 2, 0), (0.999_999_999_999_900_1, 1, 1)],
        ),
    ];
    for (weights, seed, now, heap) in table {
        let scheduler = Edf::new(&floats(weights), seed);
        let mut entries = scheduler.heap.clone();
        entries.sort_by(|a, b| if a.is_before(b) { Less } else { Greater });
        let entries: Vec<_> = entries.iter().map(|e| (e.deadline, e.order, e.item)).collect();
        assert_eq!((scheduler.now, entries.as_slice()), (now, heap), "{weights:?}, seed {seed}");
    }
}

#[test]
fn peeks_are_what_the_picks_after_them_give() {
    let weights = [1.0, 2.0];
    // Added one by one, as a scheduler without initial picks nearly is.
    let mut scheduler = Edf::new(&weights, 0);
    let weight = |item: u32| weights[item as usize];
    let peeks: Vec<_> = (0..5).map(|_| scheduler.peek(weight).unwrap()).collect();
    assert_eq!(peeks, [1, 0, 1, 1, 0]);
    assert_eq!(picks(&mut scheduler, &weights, 8), [1, 0, 1, 1, 0, 1, 1, 0]);
}

#[test]
fn peeks_and_picks_of_many_items_go_together() {
    let weights: Vec<f64> = (1..=128).map(f64::from).collect();
    let mut scheduler = Edf::new(&weights, 0);
    let mut counts = vec![0.0; weights.len()];
    for _ in 0..8256 {
        let weight = |item: u32| weights[item as usize];
        let peeked = scheduler.peek(weight);
        assert_eq!(peeked, scheduler.pick(weight));
        counts[peeked.unwrap() as usize] += 1.0;
    }
    assert_eq!(counts, weights, "each exactly by its weight");
}

#[test]
fn equal_weights_take_turns_in_order() {
    let weights = [1.0; 128];
    let (mut scheduler, mut twin) = (Edf::new(&weights, 0), Edf::new(&weights, 0));
    let peeks: Vec<_> = (0..10).map(|_| scheduler.peek(|_| 1.0).unwrap()).collect();
    assert_eq!(peeks, picks(&mut twin, &weights, 10));
    let turns: Vec<u32> = (0..128 * 128).map(|turn| turn % 128).collect();
    assert_eq!(picks(&mut scheduler, &weights, 128 * 128), turns);
}

#[test]
fn a_scheduler_set_forward_is_one_that_has_picked() {
    let weights: Vec<f64> =
        (0..128).map(|i| (100.5 - 0.01) / 128.0 * f64::from(i) + 0.01).collect();
    for count in [0, 5, 140, 501, 123_456, 894_571] {
        let forward = Edf::new(&weights, count);
        let mut stepped = Edf::new(&weights, 0);
        picks(&mut stepped, &weights, count as usize);
        let sorted = |scheduler: &Edf| {
            let mut entries = scheduler.heap.clone();
            entries.sort_by(|a, b| if a.is_before(b) { Less } else { Greater });
            entries
        };
        for (a, b) in sorted(&forward).iter().zip(sorted(&stepped)) {
            let near = (a.deadline - b.deadline).abs() < 1e-5;
            assert!(a.item == b.item && near, "{count} picks: {a:?}, {b:?}");
        }
    }
}

#[test]
fn a_weight_counts_from_the_next_turn_on() {
    let weights = [1.0, 2.0];
    let mut scheduler = Edf::new(&weights, 0);
    assert_eq!(picks(&mut scheduler, &weights, 6), [1, 0, 1, 1, 0, 1]);
    assert_eq!(picks(&mut scheduler, &[2.0, 1.0], 8), [1, 0, 0, 1, 0, 0, 1, 0]);
}

#[test]
fn first_picks_are_spread_by_weight() {
    for weights in [&[25, 75][..], &[1, 99], &[50, 50], &[1, 20, 79]] {
        let weights = floats(weights);
        let mut counts = vec![0.0; weights.len()];
        for number in 0..400_000 {
            let first = picks(&mut Edf::new(&weights, splitmix64(number)), &weights, 1);
            counts[first[0] as usize] += 1.0;
        }
        for (count, weight) in counts.iter().zip(&weights) {
            // Envoy's bound; thirteen standard deviations, and the numbers are fixed.
            let percent: f64 = count / 4_000.0;
            assert!((percent - weight).abs() < 1.0, "{weights:?}: {counts:?}");
        }
    }
}

#[test]
fn weights_of_nothing_wait_for_ever_and_then_come_in_order() {
    let mut scheduler = Edf::new(&[0.0; 3], 0);
    assert_eq!(picks(&mut scheduler, &[0.0; 3], 3), [0, 1, 2]);
    assert!(scheduler.now.is_finite() && scheduler.heap.iter().all(|e| e.deadline.is_infinite()));
    // Once time is infinite weights mean nothing any more, as in Envoy.
    assert_eq!(picks(&mut scheduler, &[1.0, 5.0, 1.0], 9), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    assert!(scheduler.now.is_infinite());
}

#[test]
fn no_items_give_no_picks() {
    let mut scheduler = Edf::new(&[], 123);
    assert_eq!((scheduler.pick(|_| 1.0), scheduler.peek(|_| 1.0)), (None, None));
}

#[test]
fn ten_seeds_in_a_row_begin_with_every_item_by_its_weight() {
    let first: String = (0..10).map(|seed| order(&[6, 3, 1], seed, 1)).collect();
    assert_eq!(first, "0100100210");
}

/// The same rules without a heap: each pick looks at every entry. `live` are the weights from
/// the first pick on.
fn naive(weights: &[f64], live: &[f64], seed: u64, count: usize) -> Vec<u32> {
    let initial = (seed % (1 << 32)) as u32 % MAX_INITIAL_PICKS;
    let padded: Vec<f64> = weights.iter().map(|&weight| weight + 1e-13).collect();
    let mut sum = 0.0;
    padded.iter().for_each(|weight| sum += weight);
    let (mut now, mut done, mut entries) = (0.0_f64, 0, Vec::new());
    for (item, weight) in padded.iter().enumerate() {
        let mut count = (weight * f64::from(initial) / sum) as u32;
        if count > 0 && f64::from(count) / weight >= f64::from(initial) / sum {
            count -= 1;
        }
        entries.push((f64::from(count + 1) / weight, item as u64, item));
        now = now.max(f64::from(count) / weight);
        done += count;
    }
    let left = (initial - done) as usize;
    let mut picked = Vec::new();
    for (pick, order) in (entries.len() as u64..).take(left + count).enumerate() {
        let key = |place: &usize| (entries[*place].0, entries[*place].1);
        let first = (0..entries.len()).min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
        let entry = &mut entries[first.unwrap()];
        now = entry.0;
        let weight = if pick < left { weights[entry.2] } else { live[entry.2] };
        *entry = (now + 1.0 / weight, order, entry.2);
        picked.push(u32::try_from(entry.2).unwrap());
    }
    picked.split_off(left)
}

/// Weights that a host can come to: plain ones, fractions, and what absurd settings leave of them.
fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (1..=9_u32).prop_map(f64::from),
        2 => (1..=u32::MAX).prop_map(f64::from),
        2 => 0.0..10.0_f64,
        1 => prop::sample::select(vec![0.0, 5e-324, 1e-300, f64::MIN_POSITIVE, 1e-13, 4e9]),
    ]
}

proptest! {
    #[test]
    fn the_heap_picks_as_a_scan_does(
        weights in prop::collection::vec((weight(), weight()), 1..40),
        seed: u64,
    ) {
        let (weights, live): (Vec<f64>, Vec<f64>) = weights.into_iter().unzip();
        let mut scheduler = Edf::new(&weights, seed);
        prop_assert_eq!(picks(&mut scheduler, &live, 200), naive(&weights, &live, seed, 200));
        prop_assert!(!scheduler.now.is_nan() && scheduler.heap.iter().all(|e| !e.deadline.is_nan()));
    }

    #[test]
    fn each_item_gets_its_weight_in_every_round(
        weights in prop::collection::vec(1..=9_u32, 1..12),
    ) {
        let floats = floats(&weights);
        let mut counts = vec![0; weights.len()];
        let round = weights.iter().sum::<u32>() as usize;
        let picks = picks(&mut Edf::new(&floats, 0), &floats, round);
        picks.into_iter().for_each(|item| counts[item as usize] += 1);
        prop_assert_eq!(counts, weights);
    }
}
