//! Least request in `behavior: native`: idle hosts by weight, busy hosts hardly at all.
#![allow(clippy::cast_precision_loss)] // counts are far below 2^53

mod common;

use std::time::Duration;

use common::{assignment, config, group, open, plain};
use plimsoll::config::{
    Assignment, Behavior, Endpoint, LeastRequest, Policy, RuntimeDouble, SelectionMethod, SlowStart,
};
use plimsoll::{Cluster, HostLoad, NoHost, Outcome, PickContext, Update, Worker};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const UNCOUNTED: PickContext = PickContext::uncounted();
const PICKS: u32 = 20_000;

/// Hosts `h0`, `h1`, … of these weights.
fn hosts(weights: &[u32]) -> Assignment {
    let host = |(index, &weight): (usize, &u32)| Endpoint {
        load_balancing_weight: weight,
        ..Endpoint::new(format!("h{index}"))
    };
    assignment(vec![group(0, "z", weights.iter().enumerate().map(host).collect())])
}

fn cluster(policy: LeastRequest, weights: &[u32], loads: &[u32]) -> Cluster {
    let policy = Policy::LeastRequest(policy);
    let cluster = open(config(Behavior::Native, &policy), &hosts(weights));
    load(&cluster, loads);
    cluster
}

fn load(cluster: &Cluster, loads: &[u32]) {
    let names: Vec<String> = (0..loads.len()).map(|index| format!("h{index}")).collect();
    let loads: Vec<(&str, HostLoad)> = names
        .iter()
        .zip(loads)
        .map(|(name, &active)| (name.as_str(), HostLoad::active(active)))
        .collect();
    cluster.set_loads(&loads).unwrap();
}

fn host(worker: &Worker, pick: plimsoll::Pick) -> usize {
    worker.host(pick).unwrap().address().as_str()[1..].parse().unwrap()
}

/// How many of [`PICKS`] uncounted picks each host gets.
fn counts(cluster: &Cluster, count: usize) -> Vec<u32> {
    let mut worker = cluster.worker().unwrap();
    let mut counts = vec![0_u32; count];
    for _ in 0..PICKS {
        let pick = worker.pick(&UNCOUNTED).unwrap();
        counts[host(&worker, pick)] += 1;
    }
    counts
}

/// As near to these shares as all but one in 65 million counts are, by Bernstein's inequality: six
/// standard deviations, and more for hosts that are expected once or less. What has no chance is
/// not counted at all.
fn near(counts: &[u32], expected: &[f64]) -> bool {
    const EXPONENT: f64 = 18.0;
    let is_near = |(&count, &share): (&u32, &f64)| {
        let expected = share * f64::from(PICKS);
        // A share may be rounded to more than 1.
        let variance = (expected * (1.0 - share)).max(0.0);
        let distance = (f64::from(count) - expected).abs();
        distance <= 1e-6
            || distance.powi(2) <= 2.0 * EXPONENT * (variance + distance / 3.0) && variance > 0.0
    };
    counts.iter().zip(expected).all(is_near)
}

fn full_scan() -> LeastRequest {
    LeastRequest { selection_method: SelectionMethod::FullScan, ..LeastRequest::default() }
}

fn choices(choice_count: u32) -> LeastRequest {
    LeastRequest { choice_count, ..LeastRequest::default() }
}

fn bias(default_value: f64) -> LeastRequest {
    let active_request_bias = Some(RuntimeDouble { default_value, runtime_key: "bias".to_owned() });
    LeastRequest { active_request_bias, ..LeastRequest::default() }
}

#[test]
fn an_idle_host_gets_everything_beside_a_busy_one_whatever_they_weigh() {
    for weights in [[1, 1], [1, 3], [3, 1], [1, 1000]] {
        for policy in [LeastRequest::default(), full_scan(), choices(9), bias(0.1), bias(34_816.0)]
        {
            let cluster = cluster(policy, &weights, &[0, 10]);
            assert_eq!(counts(&cluster, 2)[1], 0, "{weights:?}: Envoy gives it 8 to 25 %");
        }
    }
}

#[test]
fn idle_hosts_share_by_weight() {
    let weights = [1, 2, 3, 94];
    let expected = weights.map(|weight| f64::from(weight) / 100.0);
    for policy in [LeastRequest::default(), full_scan(), choices(3), choices(4), bias(2.0)] {
        let counts = counts(&cluster(policy.clone(), &weights, &[0; 4]), 4);
        assert!(near(&counts, &expected), "{policy:?}: {counts:?}");
    }
}

#[test]
fn requests_count_in_proportion_to_the_weight() {
    // As busy as its weight allows: neither host is preferred, so the first drawn wins.
    let counts_of = |policy, loads: &[u32]| counts(&cluster(policy, &[1, 4], loads), 2);
    assert!(near(&counts_of(LeastRequest::default(), &[2, 8]), &[0.2, 0.8]));
    assert_eq!(counts_of(LeastRequest::default(), &[2, 7]), [0, PICKS]);
    assert_eq!(counts_of(LeastRequest::default(), &[2, 9])[1], 0);
}

#[test]
fn a_bias_of_nothing_ignores_requests_and_a_runtime_value_counts_at_once() {
    let cluster = cluster(bias(0.0), &[1, 3], &[0, 1000]);
    assert!(near(&counts(&cluster, 2), &[0.25, 0.75]));
    let applied = cluster.set_runtime(&[("bias", Some(1.0.into()))]).unwrap();
    assert!(applied.published);
    assert_eq!(counts(&cluster, 2)[1], 0);
    assert!(!cluster.set_runtime(&[("bias", Some(1.into()))]).unwrap().published, "no change");
}

#[test]
fn waiting_requests_count_where_the_runtime_says_so() {
    let cluster = cluster(LeastRequest::default(), &[1, 1], &[0, 0]);
    let load = HostLoad { active: 0, pending: Some(3) };
    cluster.set_loads(&[("h0", load)]).unwrap();
    assert!(near(&counts(&cluster, 2), &[0.5, 0.5]));
    let key = "envoy.reloadable_features.least_request_lb_count_pending_requests";
    cluster.set_runtime(&[(key, Some(true.into()))]).unwrap();
    assert_eq!(counts(&cluster, 2), [0, PICKS]);
}

#[test]
fn counted_picks_spread_like_water() {
    // Every request stays: no host is ever two requests above another of the same weight.
    for policy in [choices(1000), full_scan()] {
        let cluster = cluster(policy, &[1; 50], &[0; 50]);
        let mut worker = cluster.worker().unwrap();
        for round in 1..=20 {
            (0..50).for_each(|_| assert!(worker.pick(&PickContext::default()).is_ok()));
            let active: Vec<u32> = cluster.view().hosts().iter().map(|host| host.active).collect();
            assert_eq!(active, [round; 50]);
        }
    }
    // Of two drawn: the classical bound of log2 log2 n above the mean, and a little.
    let cluster = cluster(LeastRequest::default(), &[1; 1000], &[0; 1000]);
    let mut worker = cluster.worker().unwrap();
    (0..100_000).for_each(|_| assert!(worker.pick(&PickContext::default()).is_ok()));
    let most = cluster.view().hosts().iter().map(|host| host.active).max();
    assert!(most <= Some(104), "{most:?} of 100 on average");
}

#[test]
fn a_stuck_host_drains_and_comes_back() {
    let cluster = cluster(LeastRequest::default(), &[1, 1, 1], &[0, 0, 50]);
    let mut worker = cluster.worker().unwrap();
    let mut picks = Vec::new();
    for _ in 0..200 {
        let pick = worker.pick(&PickContext::default()).unwrap();
        picks.push(pick);
        if picks.len() > 10 {
            worker.done(picks.remove(0), Outcome::Success).unwrap();
        }
        assert_ne!(host(&worker, pick), 2, "fifty requests behind");
    }
    picks.into_iter().for_each(|pick| worker.done(pick, Outcome::Success).unwrap());
    load(&cluster, &[0, 0, 0]);
    assert!(near(&counts(&cluster, 3), &[1.0 / 3.0; 3]));
}

#[test]
fn a_host_in_slow_start_is_as_busy_as_its_present_weight_says() {
    let slow_start = Some(SlowStart::new(Duration::from_secs(60)));
    let policy = LeastRequest { slow_start, ..LeastRequest::default() };
    let cluster = cluster(policy, &[1], &[0]);
    cluster.tick(100_000_000_000).unwrap();
    cluster.assign(&hosts(&[1, 1])).unwrap();
    assert!(near(&counts(&cluster, 2), &[10.0 / 11.0, 1.0 / 11.0]), "a tenth of the weight");
    load(&cluster, &[9, 1]);
    assert_eq!(counts(&cluster, 2)[1], 0, "one request on a tenth is more than nine on a whole");
    load(&cluster, &[11, 1]);
    assert_eq!(counts(&cluster, 2)[0], 0);
    // The window ends by itself, without an update: two draws, and nothing else.
    cluster.tick(160_000_000_000).unwrap();
    load(&cluster, &[3, 2]);
    assert_eq!(counts(&cluster, 2)[0], 0);
    load(&cluster, &[0, 0]);
    assert!(near(&counts(&cluster, 2), &[0.5, 0.5]));
}

#[test]
fn candidates_come_from_all_localities_of_a_priority() {
    // One busy zone and one idle one: nothing goes to the busy zone while a draw finds the other.
    let both = assignment(vec![plain(0, 1, 1), plain(0, 2, 1)]);
    let cluster = open(config(Behavior::Native, &Policy::LEAST_REQUEST), &both);
    cluster.set_loads(&[("10.0.1.1:80", HostLoad::active(1))]).unwrap();
    let mut worker = cluster.worker().unwrap();
    for _ in 0..1000 {
        let pick = worker.pick(&UNCOUNTED).unwrap();
        assert_eq!(worker.host(pick).unwrap().address().as_str(), "10.0.2.1:80");
    }
}

#[test]
fn envoys_cannot_be_peeked_where_it_draws() {
    for (weights, peeked) in [([1, 1], Err(NoHost::PeekLimit)), ([1, 2], Ok(1))] {
        let cluster = open(config(Behavior::Envoy, &Policy::LEAST_REQUEST), &hosts(&weights));
        let mut worker = cluster.worker().unwrap();
        let peek = worker.peek().map(|pick| host(&worker, pick));
        assert_eq!(peek.is_ok(), peeked.is_ok(), "{weights:?}");
    }
}

#[test]
fn a_load_above_the_limit_is_refused_and_changes_nothing() {
    let cluster = cluster(LeastRequest::default(), &[1, 1], &[3, 4]);
    let too_many = HostLoad::active(plimsoll::MAX_LOAD + 1);
    let error = cluster.set_loads(&[("h0", HostLoad::active(9)), ("h1", too_many)]).unwrap_err();
    assert_eq!((error.code(), error.field()), ("invalid_argument", "h1.active"));
    let active: Vec<u32> = cluster.view().hosts().iter().map(|host| host.active).collect();
    assert_eq!(active, [3, 4]);
    cluster.set_loads(&[("h0", HostLoad::active(plimsoll::MAX_LOAD))]).unwrap();
    cluster.apply(&Update::new().remove("h1")).unwrap();
    assert_eq!(counts(&cluster, 1), [PICKS]);
}

/// The probability of each host, by going through every pair of draws.
fn naive(weights: &[u32], loads: &[u32]) -> Vec<f64> {
    let weights: Vec<f64> = weights.iter().map(|&weight| weight.into()).collect();
    let total: f64 = weights.iter().sum();
    let mut shares = vec![0.0; weights.len()];
    for first in 0..weights.len() {
        for second in (0..weights.len()).filter(|&second| second != first) {
            let chance = weights[first] / total * weights[second] / (total - weights[first]);
            let busy = |host: usize| f64::from(loads[host]) * weights[first + second - host];
            let host = if busy(second) < busy(first) { second } else { first };
            shares[host] += chance;
        }
    }
    shares
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn two_draws_give_what_every_pair_of_draws_gives(
        hosts in prop::collection::vec((prop_oneof![1..=5_u32, 1..=1000_u32], 0..4_u32), 2..8),
    ) {
        let (weights, loads): (Vec<u32>, Vec<u32>) = hosts.into_iter().unzip();
        let cluster = cluster(LeastRequest::default(), &weights, &loads);
        let (counts, expected) = (counts(&cluster, weights.len()), naive(&weights, &loads));
        prop_assert!(near(&counts, &expected), "{weights:?} {loads:?}: {counts:?}, not {expected:?}");
    }
}

/// Numbers that are always the same, from one on.
fn numbers(seed: u64) -> impl FnMut(u64) -> u32 {
    let mut state = seed;
    move |limit| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % limit).unwrap()
    }
}

#[test]
fn a_million_picks_over_any_weights_and_loads_are_what_every_pair_of_draws_gives() {
    // Fifty clusters, of one locality and of three; weights and loads small and as large as can be.
    for seed in 0..50_u32 {
        let mut number = numbers(seed.into());
        let (heaviest, busiest) =
            [(1, 3), (100, 4), (1_000_000, 1 << 30), (9, 2)][seed as usize % 4];
        let count = 2 + number(30) as usize;
        let weights: Vec<u32> = (0..count).map(|_| 1 + number(heaviest)).collect();
        let loads: Vec<u32> = (0..count).map(|_| number(busiest)).collect();
        let mut groups = hosts(&weights).endpoints;
        if seed % 2 == 1 {
            let all = std::mem::take(&mut groups[0].endpoints);
            let locality = |(index, hosts): (usize, &[Endpoint])| {
                group(0, &format!("z{index}"), hosts.to_vec())
            };
            groups = all.chunks(count.div_ceil(3)).enumerate().map(locality).collect();
        }
        let policy = Policy::LeastRequest(LeastRequest::default());
        let cluster = open(config(Behavior::Native, &policy), &assignment(groups));
        load(&cluster, &loads);
        let (counts, expected) = (counts(&cluster, count), naive(&weights, &loads));
        assert!(near(&counts, &expected), "{weights:?} {loads:?}: {counts:?}, not {expected:?}");
    }
}

#[test]
fn loads_per_weight_are_compared_exactly_however_large() {
    // (2^30 - 1) (2^30 + 1) is one less than 2^60, which floats cannot tell.
    let heavy = 1_u32 << 30;
    for (weights, loads, busier) in
        [([heavy, heavy + 1], [heavy - 1, heavy], 1), ([heavy + 1, heavy], [heavy, heavy - 1], 0)]
    {
        for policy in [LeastRequest::default(), full_scan(), choices(9)] {
            assert_eq!(counts(&cluster(policy, &weights, &loads), 2)[busier], 0);
        }
    }
}
