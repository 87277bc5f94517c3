//! Draws against lists, and comparisons of loads against fractions.

use super::*;
use crate::rng::splitmix64;
use proptest::prelude::*;
use std::cmp::Ordering;

fn lottery(weights: &[u32]) -> Lottery<usize> {
    let items: Vec<usize> = (0..weights.len()).collect();
    Lottery::new(&items, weights)
}

/// The index that a running sum comes to, without that of `skip`.
fn naive_other(weights: &[u32], x: u64, skip: usize) -> usize {
    let of = |index: usize| if index == skip { 0 } else { u128::from(weights[index]) };
    let total: u128 = (0..weights.len()).map(of).sum();
    let place = (u128::from(x) * total) >> 64;
    let mut sum = 0;
    (0..weights.len())
        .find(|&index| {
            sum += of(index);
            place < sum
        })
        .unwrap()
}

proptest! {
    #[test]
    fn another_draw_is_that_of_a_list_without_the_first(
        weights in prop_oneof![
            prop::collection::vec(1..=u32::MAX, 2..50),
            prop::collection::vec(1..=2_u32, 2..5),
        ],
        x: u64,
        index: prop::sample::Index,
    ) {
        let (lottery, index) = (lottery(&weights), index.index(weights.len()));
        let other = lottery.draw_other(x, index);
        prop_assert_eq!(other.index, naive_other(&weights, x, index));
        prop_assert_eq!((other.item, other.weight), (other.index, weights[other.index].into()));
        for extreme in [0, u64::MAX] {
            prop_assert_ne!(lottery.draw_other(extreme, index).index, index);
        }
    }

    #[test]
    fn a_lottery_knows_its_items_and_weights(weights in prop::collection::vec(1..=3_u32, 1..6)) {
        let lottery = lottery(&weights);
        let seen: Vec<u64> = lottery.iter().map(|lot| lot.weight).collect();
        let expected: Vec<u64> = weights.iter().map(|&weight| weight.into()).collect();
        prop_assert_eq!(lottery.total(), expected.iter().sum::<u64>());
        prop_assert_eq!((seen, lottery.len()), (expected, weights.len()));
        let drawn = lottery.draw(1 << 63);
        prop_assert_eq!(drawn.weight, u64::from(weights[drawn.index]));
    }
}

/// Whether `a / v` is less than `b / w`, by whole parts and what is left of them.
fn naive_is_less((a, v): (u64, u64), (b, w): (u64, u64)) -> bool {
    match (a / v).cmp(&(b / w)) {
        Ordering::Equal if a % v == 0 || b % w == 0 => a % v < b % w,
        // Upside down, fractions compare the other way round.
        Ordering::Equal => naive_is_less((w, b % w), (v, a % v)),
        order => order == Ordering::Less,
    }
}

/// Loads up to what a host can have, and weights up to what one can weigh in slow start.
fn load_and_weight() -> impl Strategy<Value = (u32, u64)> {
    let weights = prop_oneof![1..=100_u64, 1..=u64::from(u32::MAX), 1..=u64::MAX];
    (prop_oneof![0..=9_u32, 0..=1_u32 << 30, (1_u32 << 30) - 9..=1 << 30], weights)
}

proptest! {
    #[test]
    fn loads_for_their_weights_compare_as_fractions(
        (a, v) in load_and_weight(),
        (b, w) in load_and_weight(),
        near in 0..=2_u64,
        is_near: bool,
    ) {
        // Near misses: weights that make the two equal, but for one.
        let w = if is_near { (v / u64::from(a.max(1))).saturating_mul(b.into()).saturating_add(near).max(2) - 1 } else { w };
        let expected = naive_is_less((a.into(), v), (b.into(), w));
        prop_assert_eq!(a.product(w) < b.product(v), expected);
        let (all_a, all_b) = (u64::from(a), u64::from(b));
        prop_assert_eq!(all_a.product(w) < all_b.product(v), expected);
    }

    #[test]
    fn a_look_comes_to_the_less_busy_of_two_different_items_or_to_nothing(
        hosts in prop_oneof![
            prop::collection::vec((1..=4_u32, 0..3_u32), 2..6),
            prop::collection::vec((1..=u32::MAX, 0..=1_u32 << 30), 2..20),
            prop::collection::vec((Just(7), 0..3_u32), 2..6),
        ],
        x: u64,
        y: u64,
    ) {
        let (weights, loads): (Vec<u32>, Vec<u32>) = hosts.into_iter().unzip();
        let lottery = lottery(&weights);
        let first = lottery.draw(x);
        let second = lottery.draw_another(y, || splitmix64(!y), first.index);
        prop_assert_ne!(first.index, second.index);
        let pair = |lot: Lot<usize>| (u64::from(loads[lot.index]), lot.weight);
        let less = if naive_is_less(pair(second), pair(first)) { second } else { first };
        let looked = lottery.less_busy((x, y), |item| loads[item]);
        let draws_twice = lottery.draw(y).index == first.index && lottery.equals().is_none();
        prop_assert_eq!(looked, (!draws_twice).then_some(less.item));
    }
}

#[test]
fn weights_of_any_size_draw_alike() {
    let weights = [3, 1, 4, 1, 5];
    let large: Vec<u64> = weights.iter().map(|&weight| u64::from(weight) << 40).collect();
    let (narrow, wide) = (lottery(&weights), Lottery::new(&[0, 1, 2, 3, 4], &large));
    assert!(matches!((&narrow, &wide), (Lottery::Narrow(_), Lottery::Wide(_))));
    for x in (0..1000).map(splitmix64) {
        let index = narrow.draw(x).index;
        assert_eq!(wide.draw(x).index, index);
        let other = |lottery: &Lottery<usize>| lottery.draw_another(!x, || x, index).index;
        assert_eq!(other(&wide), other(&narrow));
    }
    assert_eq!((wide.less_busy((0, 1), |_| 0), wide.len(), wide.total()), (None, 5, 14 << 40));
}

#[test]
fn two_different_draws_go_by_the_weights_even_beside_one_that_has_nearly_all() {
    let weights = [1, 997, 2];
    let lottery = lottery(&weights);
    let mut counts = [0.0; 3];
    for number in 0..300_000 {
        let first = lottery.draw(splitmix64(number));
        let other = lottery.draw_other(splitmix64(!number), 1);
        assert_ne!(other.index, 1);
        counts[first.index] += 1.0;
        counts[other.index] += 1.0;
    }
    // 300 and 100 000, 299 100, 600 and 200 000; six standard deviations, on fixed numbers.
    for (count, expected) in counts.into_iter().zip([100_300.0, 299_100.0, 200_600.0]) {
        let off: f64 = count - expected;
        assert!(off.abs() < 1_700.0, "{counts:?}");
    }
}
