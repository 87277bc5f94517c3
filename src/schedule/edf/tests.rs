//! Published orders, the insides after construction, and a scheduler that looks at every item.
//!
//! //= envoy v1.40 source/common/upstream/edf_scheduler.h#EdfScheduler

#![allow(clippy::cast_possible_truncation)] // as the rules say

use std::cmp::Ordering::{Greater, Less};

use super::*;
use proptest::prelude::*;

/// The first picks as a string of indexes.
fn order(weights: &[u32], seed: u64, picks: usize) -> String {
    let mut scheduler = Edf::new(weights, seed);
    (0..picks).map(|_| scheduler.pick(weights).unwrap().to_string()).collect()
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
        let scheduler = Edf::new(weights, seed);
        let mut entries = scheduler.heap.clone();
        entries.sort_by(|a, b| if a.is_before(b) { Less } else { Greater });
        let entries: Vec<_> = entries.iter().map(|e| (e.deadline, e.order, e.item)).collect();
        assert_eq!((scheduler.now, entries.as_slice()), (now, heap), "{weights:?}, seed {seed}");
    }
}

#[test]
fn peeks_are_what_the_picks_after_them_give() {
    let weights = [1, 2];
    let mut scheduler = Edf::new(&weights, 0);
    let peeks: Vec<_> = (0..5).map(|_| scheduler.peek(&weights).unwrap()).collect();
    assert_eq!(peeks, [1, 0, 1, 1, 0]);
    let picks: Vec<_> = (0..8).map(|_| scheduler.pick(&weights).unwrap()).collect();
    assert_eq!(picks, [1, 0, 1, 1, 0, 1, 1, 0]);
}

#[test]
fn no_items_give_no_picks() {
    let mut scheduler = Edf::new(&[], 5);
    assert_eq!((scheduler.pick(&[]), scheduler.peek(&[])), (None, None));
}

#[test]
fn ten_seeds_in_a_row_begin_with_every_item_by_its_weight() {
    let first: String = (0..10).map(|seed| order(&[6, 3, 1], seed, 1)).collect();
    assert_eq!(first, "0100100210");
}

/// The same rules without a heap: each pick looks at every entry.
fn naive(weights: &[u32], seed: u64, picks: usize) -> Vec<u32> {
    let initial = (seed % (1 << 32)) as u32 % MAX_INITIAL_PICKS;
    let padded: Vec<f64> = weights.iter().map(|&weight| f64::from(weight) + 1e-13).collect();
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
    let mut picked = Vec::new();
    let orders = (entries.len() as u64..).take((initial - done) as usize + picks);
    for order in orders {
        let key = |place: &usize| (entries[*place].0, entries[*place].1);
        let first = (0..entries.len()).min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
        let entry = &mut entries[first.unwrap()];
        now = entry.0;
        *entry = (now + 1.0 / f64::from(weights[entry.2]), order, entry.2);
        picked.push(u32::try_from(entry.2).unwrap());
    }
    picked.split_off(picked.len() - picks)
}

proptest! {
    #[test]
    fn the_heap_picks_as_a_scan_does(
        weights in prop::collection::vec(prop_oneof![1..=9_u32, 1..=u32::MAX], 1..40),
        seed: u64,
    ) {
        let mut scheduler = Edf::new(&weights, seed);
        let picks: Vec<u32> = (0..200).map(|_| scheduler.pick(&weights).unwrap()).collect();
        prop_assert_eq!(picks, naive(&weights, seed, 200));
    }

    #[test]
    fn each_item_gets_its_weight_in_every_round(
        weights in prop::collection::vec(1..=9_u32, 1..12),
    ) {
        let mut scheduler = Edf::new(&weights, 0);
        let round: u32 = weights.iter().sum();
        let mut counts = vec![0; weights.len()];
        (0..round).for_each(|_| counts[scheduler.pick(&weights).unwrap() as usize] += 1);
        prop_assert_eq!(counts, weights);
    }
}
