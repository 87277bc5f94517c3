//! The tables of expectations live in `tests/`; here is what needs the insides.

use super::*;
use proptest::prelude::*;

fn tally() -> impl Strategy<Value = Tally> {
    (0..100_u64, 0..100_u64, 0..100_u64, 0..100_u64).prop_map(|(hosts, healthy, degraded, out)| {
        let healthy = healthy.min(hosts);
        let degraded = degraded.min(hosts - healthy);
        let excluded = out.min(hosts - healthy - degraded);
        Tally {
            hosts,
            healthy,
            degraded,
            excluded,
            available_in_panic: hosts - excluded,
            weight: hosts,
            healthy_weight: healthy,
            degraded_weight: degraded,
            excluded_weight: excluded,
        }
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    (1..400_u32, any::<bool>(), 0..=100_u32).prop_map(|(factor, weighted, threshold)| Rules {
        overprovisioning_factor: factor,
        weighted,
        panic_threshold: f64::from(threshold),
    })
}

proptest! {
    #[test]
    fn loads_always_sum_to_the_whole(
        tallies in prop::collection::vec(tally(), 1..9),
        rules in rules(),
    ) {
        let loads = native::loads(&tallies, rules);
        let sum: u64 = loads.healthy.iter().chain(&loads.degraded).sum();
        prop_assert_eq!(sum, native::SCALE);

        let mut loads = Loads::default();
        envoy::recalculate(&mut loads, &tallies, rules);
        let sum: u64 = loads.healthy.iter().chain(&loads.degraded).sum();
        // A tiny factor rounds every availability down to 0, yet nothing panics: Envoy keeps the
        // loads that it has, none at first, and every pick falls back to priority 0.
        let nothing_to_go_by = loads.healthy_hosts == 0 && loads.panic.contains(&false);
        prop_assert_eq!(sum, if nothing_to_go_by && sum == 0 { 0 } else { envoy::SCALE });
    }

    #[test]
    fn native_loads_stay_within_a_percent_and_a_half_of_envoys_where_nothing_panics(
        tallies in prop::collection::vec(tally(), 1..4),
        factor in 100..200_u32,
    ) {
        let rules =
            Rules { overprovisioning_factor: factor, weighted: false, panic_threshold: 0.0 };
        let native = native::loads(&tallies, rules);
        let mut envoy = Loads::default();
        envoy::recalculate(&mut envoy, &tallies, rules);
        prop_assume!(envoy.healthy_hosts > 0);
        // Each of up to six availabilities is cut by less than one percent before it is divided
        // by their sum, which is what makes small sums coarse.
        let sum: u64 = tallies.iter().map(|tally| envoy_sum(tally, factor)).sum();
        prop_assume!(sum >= 100);
        for (native, &envoy) in native.healthy.iter().zip(&envoy.healthy) {
            let off = *native as f64 / 42_949_672.96 - envoy as f64;
            prop_assert!(off.abs() <= 6.0, "native {native}, envoy {envoy}");
        }
    }

    #[test]
    fn an_unknown_priority_is_never_chosen(hash: u64, first in 0..=100_u64) {
        let (priority, healthy) = envoy::choose(&[first, 100 - first], &[0, 0], hash);
        prop_assert!(healthy);
        prop_assert_eq!(priority, usize::from(hash % 100 >= first));
    }
}

fn envoy_sum(tally: &Tally, factor: u32) -> u64 {
    let considered = (tally.hosts - tally.excluded).max(1);
    u64::from(factor) * (tally.healthy + tally.degraded) / considered
}

#[test]
fn three_thirds_are_a_whole() {
    let third = Tally { hosts: 3, healthy: 1, available_in_panic: 3, ..Tally::default() };
    let rules = Rules { overprovisioning_factor: 100, weighted: false, panic_threshold: 50.0 };
    let loads = native::loads(&[third; 3], rules);
    assert_eq!(loads.panic, [false; 3]);
}

#[test]
fn envoys_percent_conversion_loses_one_at_three_values_only() {
    let lost: Vec<u64> = (0..=100).filter(|&p| envoy::truncated_percent(p as f64) != p).collect();
    assert_eq!(lost, [29, 57, 58]);
}

#[test]
fn huge_weights_and_factors_do_not_overflow() {
    let hosts = 1 << 27;
    let weight = hosts * u64::from(u32::MAX);
    let all = Tally {
        hosts,
        healthy: hosts,
        weight,
        healthy_weight: weight,
        available_in_panic: hosts,
        ..Tally::default()
    };
    let rules = Rules { overprovisioning_factor: u32::MAX, weighted: true, panic_threshold: 50.0 };
    assert_eq!(native::loads(&[all], rules).healthy, [native::SCALE]);
    let mut loads = Loads::default();
    envoy::recalculate(&mut loads, &[all], rules);
    assert_eq!(loads.healthy, [100]);
}
