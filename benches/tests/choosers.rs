//! What is compared chooses by the same weights.

use plimsoll_benches::choosers::{KINDS, Kind, LOTTERY};

/// Each host's share of many picks.
fn shares(kind: &Kind, weights: &[u32]) -> Vec<f64> {
    let mut counts = vec![0_u32; weights.len()];
    let mut chooser = (kind.prepare)(weights)();
    (0..200_000).for_each(|_| counts[chooser.pick() as usize] += 1);
    counts.into_iter().map(|count| f64::from(count) / 200_000.0).collect()
}

#[test]
fn every_choice_divides_the_traffic_by_weight() {
    let weights = [7, 5, 3, 2, 2, 1];
    for kind in KINDS {
        for (share, weight) in shares(kind, &weights).into_iter().zip(weights) {
            // Where numbers are random they are fixed; five standard deviations.
            let off: f64 = share - f64::from(weight) / 20.0;
            assert!(off.abs() < 6e-3, "{}: {share} for {weight}", kind.name);
        }
    }
}

#[test]
fn a_lottery_draws_two_different_hosts() {
    // The second one is the heavy host only if the first is not: 2 in 1 000.
    let share = shares(&LOTTERY, &[1, 998, 1])[1];
    assert!(share < 3e-3, "{share}");
}

#[test]
fn the_static_stride_counts_a_heavy_host_as_ten_times_the_mean() {
    let mut weights = [1; 101];
    weights[0] = 100;
    let kind = KINDS.iter().find(|kind| kind.name.starts_with("static stride")).unwrap();
    // The mean is 200 / 101, so the host counts as 19.8 of 119.8 and not as 100 of 200.
    let share = shares(kind, &weights)[0];
    assert!((share - 0.165).abs() < 1e-3, "{share}");
}

#[test]
fn sums_are_those_of_single_picks() {
    let weights: Vec<u32> = (1..=50).collect();
    for kind in KINDS {
        let make = (kind.prepare)(&weights);
        let (mut one, mut many) = (make(), make());
        let sum: u64 = (0..1_000).map(|_| u64::from(one.pick())).sum();
        assert_eq!(sum, many.picks(1_000), "{}", kind.name);
    }
}
