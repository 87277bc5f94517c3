//! Each table against a linear scan, and the evenness that the cursor gives.

use super::*;
use crate::rng::{GOLDEN, splitmix64};
use proptest::prelude::*;

/// The interval that `x` is in, by adding up weights.
fn naive(weights: &[u32], x: u64) -> usize {
    let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let mut sum = 0;
    for (index, &weight) in weights.iter().enumerate() {
        sum += u128::from(weight);
        if u128::from(x) < (sum << 64) / total {
            return index;
        }
    }
    unreachable!("x is below 2^64");
}

fn items(weights: &[u32]) -> Vec<usize> {
    (0..weights.len()).collect()
}

fn guide(weights: &[u32]) -> Guide<Share<usize>> {
    Guide::of_shares(&items(weights), weights)
}

/// Weight sets that have broken schedulers: equal, mild, one heavy host, very skewed.
fn weight_sets() -> Vec<Vec<u32>> {
    let mut sets = vec![vec![1], vec![7, 7], vec![1, u32::MAX], vec![u32::MAX; 3]];
    for hosts in [10_u32, 100, 1000] {
        sets.push(vec![1; hosts as usize]);
        sets.push((0..hosts).map(|host| host % 100 + 1).collect());
        sets.push((0..hosts).map(|host| if host == 3 { 10_000 } else { 1 }).collect());
        sets.push((1..=hosts).map(|host| 1_000_000 / host).collect());
    }
    sets
}

proptest! {
    #[test]
    fn the_guide_finds_the_interval_of_a_linear_scan(
        weights in prop::collection::vec(1..=u32::MAX, 1..200),
        numbers in prop::collection::vec(any::<u64>(), 50),
    ) {
        let guide = guide(&weights);
        for x in numbers.into_iter().chain([0, 1, u64::MAX - 1, u64::MAX]) {
            let expected = naive(&weights, x);
            prop_assert_eq!(guide.find(x).item, expected, "x = {}", x);
            let walked = guide.walk(x).map_or(expected, |share| share.item);
            prop_assert_eq!(walked, expected, "x = {}", x);
        }
    }

    #[test]
    fn every_schedule_knows_its_items(
        weights in prop::collection::vec(1..=u32::MAX, 1..50),
        x: u64,
    ) {
        let items = items(&weights);
        for walk in [Walk::Random, Walk::Cursor] {
            let schedule = Schedule::new(&items, &weights, walk);
            prop_assert!(items.contains(&schedule.find(x)));
            prop_assert!(schedule.is_over(&items) && !schedule.is_over(&items[1..]));
            let mut seen = Vec::new();
            schedule.each(|item| seen.push(item));
            prop_assert_eq!(schedule.len(), seen.len());
            prop_assert_eq!(seen, items.clone());
        }
    }
}

#[test]
fn the_alias_table_gives_each_index_its_share() {
    for weights in weight_sets() {
        let alias = Alias::new(&items(&weights), &weights);
        let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
        let picks = 200_000;
        let mut counts = vec![0_u32; weights.len()];
        (0..picks).for_each(|pick| counts[alias.walk(splitmix64(pick)).unwrap()] += 1);
        for (index, (&count, &weight)) in counts.iter().zip(&weights).enumerate() {
            let expected = f64::from(weight) / total * 200_000.0;
            // Six standard deviations; the numbers are fixed, so the test cannot flake.
            let bound = 6.0 * expected.sqrt() + 6.0;
            let off = (f64::from(count) - expected).abs();
            assert!(off <= bound, "index {index}: {count} picks, expected {expected:.1}");
        }
    }
}

#[test]
fn the_cursor_leads_or_lags_by_at_most_six_picks() {
    for weights in weight_sets() {
        let schedule = Schedule::new(&items(&weights), &weights, Walk::Cursor);
        let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
        let mut counts = vec![0.0_f64; weights.len()];
        let mut x = 0_u64;
        let mut worst = 0.0_f64;
        for pick in 1..=2_000_000_u32 {
            let index = schedule.find(x);
            x = x.wrapping_add(GOLDEN);
            let share = f64::from(weights[index]) / total;
            // The extremes of a host are just before and just after one of its own picks.
            worst = worst.max((counts[index] - share * f64::from(pick)).abs());
            counts[index] += 1.0;
            worst = worst.max((counts[index] - share * f64::from(pick)).abs());
        }
        assert!(worst <= 6.0, "{} hosts, first {:?}: {worst:.2}", weights.len(), &weights[0]);
    }
}

#[test]
fn a_bucket_of_many_tiny_intervals_is_bisected() {
    let weights: Vec<u32> = (0..1000).map(|host| if host == 0 { u32::MAX } else { 1 }).collect();
    let guide = guide(&weights);
    for x in (0..1000).map(|step| u64::MAX - (step << 40)) {
        assert_eq!(guide.find(x).item, naive(&weights, x));
        assert!(guide.walk(x).is_none(), "{x}: a walk over a crowded bucket");
    }
}

#[test]
fn tables_of_nothing_find_nothing() {
    for x in [0, 1 << 63, u64::MAX] {
        assert_eq!(Alias::<u8>::new::<u32>(&[], &[]).walk(x), None);
        assert!(Guide::<Share<u8>>::of_shares::<u32>(&[], &[]).walk(x).is_none());
    }
}
