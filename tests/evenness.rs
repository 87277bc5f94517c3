//! How evenly requests are spread: what Envoy's schedulers get wrong, and that `native` does not.
//!
//! Everything is deterministic: seeds are fixed and cursors draw nothing.
#![allow(clippy::cast_precision_loss)] // counts are far below 2^53

mod common;

use std::collections::BTreeMap;

use common::{assignment, config, group, open};
use plimsoll::config::{Assignment, Behavior, Endpoint, Policy};
use plimsoll::{Cluster, HealthEvent, PickContext, Update, Worker};

const PICK: PickContext = PickContext::uncounted();

/// Hosts of these weights at one priority.
fn weighted(weights: &[u32]) -> Assignment {
    let host = |(index, &weight): (usize, &u32)| Endpoint {
        load_balancing_weight: weight,
        ..Endpoint::new(format!("h{index}"))
    };
    assignment(vec![group(0, "z", weights.iter().enumerate().map(host).collect())])
}

fn cluster(behavior: Behavior, weights: &[u32]) -> Cluster {
    open(config(behavior, &Policy::ROUND_ROBIN), &weighted(weights))
}

/// The index of the next pick's host.
fn pick(worker: &mut Worker) -> usize {
    let pick = worker.pick(&PICK).unwrap();
    worker.host(pick).unwrap().address().as_str()[1..].parse().unwrap()
}

/// Half the sum of what the shares are off.
fn total_variation(counts: &[u32], weights: &[u32]) -> f64 {
    let picks: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let off = |(&count, &weight): (&u32, &u32)| {
        (f64::from(count) / picks - f64::from(weight) / total).abs()
    };
    counts.iter().zip(weights).map(off).sum::<f64>() / 2.0
}

/// How far 2000 picks are off when an update comes every `every` picks.
fn restart_bias(behavior: Behavior, weights: &[u32], every: usize) -> f64 {
    let with_flap: Vec<u32> = weights.iter().copied().chain([1]).collect();
    let cluster = cluster(behavior, &with_flap);
    let flapping = format!("h{}", weights.len());
    let report = |event| cluster.apply(&Update::new().health(flapping.as_str(), event)).unwrap();
    report(HealthEvent::Eject);
    let mut worker = cluster.worker().unwrap();
    let mut counts = vec![0; weights.len()];
    for _ in 0..2000 / every {
        (0..every).for_each(|_| counts[pick(&mut worker)] += 1);
        report(HealthEvent::Uneject);
        report(HealthEvent::Eject);
    }
    total_variation(&counts, weights)
}

#[test]
fn updates_do_not_start_the_schedule_anew() {
    let halves: Vec<u32> = (0..100).map(|host| 1 + host % 2).collect();
    for every in [5, 50, 500] {
        let bias = restart_bias(Behavior::Native, &halves, every);
        assert!(bias < 0.02, "an update every {every} picks: {bias}");
    }
    let envoys = restart_bias(Behavior::Envoy, &halves, 5);
    assert!(envoys > 0.9, "Envoy replays the same five picks after every update: {envoys}");
}

#[test]
fn a_heavy_host_gets_no_bursts() {
    let weights: Vec<u32> = std::iter::once(100).chain([1; 100]).collect();
    let longest = |behavior| {
        let cluster = cluster(behavior, &weights);
        let mut worker = cluster.worker().unwrap();
        let (mut longest, mut run) = (0, 0);
        for _ in 0..100_000 {
            run = if pick(&mut worker) == 0 { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        longest
    };
    assert!(longest(Behavior::Native) <= 2);
    assert!(longest(Behavior::Envoy) >= 99, "Envoy sends a hundred requests in a row");
}

/// The most that any host leads or lags, in picks, at any moment of `picks`.
fn worst_lead(cluster: &Cluster, weights: &[u32], picks: u32) -> f64 {
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let mut worker = cluster.worker().unwrap();
    let mut counts = vec![0.0; weights.len()];
    let mut worst = 0.0_f64;
    let slots: BTreeMap<u32, usize> = {
        let mut slots = BTreeMap::new();
        for _ in 0..200 * weights.len() {
            let pick = worker.pick(&PICK).unwrap();
            let host = worker.host(pick).unwrap();
            slots.insert(pick.slot, host.address().as_str()[1..].parse().unwrap());
        }
        slots
    };
    let mut worker = cluster.worker().unwrap();
    for made in 0..picks {
        let slot = worker.pick(&PICK).unwrap().slot;
        let index = slots[&slot];
        let share = f64::from(weights[index]) / total;
        // The extremes of a host are just before and just after one of its own picks.
        let before: f64 = counts[index] - share * f64::from(made);
        counts[index] += 1.0;
        let after = counts[index] - share * f64::from(made + 1);
        worst = worst.max(before.abs()).max(after.abs());
    }
    worst
}

#[test]
fn no_host_leads_or_lags_by_more_than_six_picks() {
    let heavy = |hosts: u32| (0..hosts).map(|host| if host == 0 { 10_000 } else { 1 }).collect();
    let mild = |hosts: u32| (0..hosts).map(|host| host % 100 + 1).collect();
    let sets: [Vec<u32>; 5] = [mild(100), heavy(100), heavy(1000), vec![1; 1000], mild(5000)];
    for weights in sets {
        let cluster = cluster(Behavior::Native, &weights);
        let worst = worst_lead(&cluster, &weights, 1_000_000);
        assert!(worst <= 6.0, "{} hosts, first {}: {worst}", weights.len(), weights[0]);
    }
}

#[test]
fn one_heavy_host_of_ten_thousand_is_as_even_and_envoys_is_not() {
    let weights: Vec<u32> = (0..10_000).map(|host| if host == 0 { 10_000 } else { 1 }).collect();
    let lead = |behavior, picks: u32| {
        let cluster = cluster(behavior, &weights);
        let mut worker = cluster.worker().unwrap();
        let (mut count, mut worst) = (0.0, 0.0_f64);
        for made in 1..=picks {
            let host = worker.pick(&PICK).unwrap();
            count += f64::from(u8::from(worker.host(host).unwrap().weight() > 1));
            worst = worst.max(count - f64::from(made) * 10_000.0 / 19_999.0);
        }
        worst
    };
    assert!(lead(Behavior::Native, 1_000_000) <= 6.0);
    assert!(lead(Behavior::Envoy, 40_000) > 2_000.0, "Envoy's heavy host runs far ahead");
}

#[test]
fn random_reaches_every_host_of_two_priorities() {
    let hosts = |priority: u32| {
        let host = |host| Endpoint::new(format!("h{}", priority * 100 + host));
        (0..100).map(host).collect::<Vec<_>>()
    };
    // Half of the first priority is gone, so that it is left with half of the traffic.
    let both = Assignment {
        overprovisioning_factor: 100,
        ..assignment(vec![group(0, "z", hosts(0)), group(1, "z", hosts(1))])
    };
    let unreached = |behavior| {
        let cluster = open(config(behavior, &Policy::Random), &both);
        let eject =
            |update: Update, host: u32| update.health(format!("h{host}"), HealthEvent::Eject);
        cluster.apply(&(0..50).fold(Update::new(), eject)).unwrap();
        let mut worker = cluster.worker().unwrap();
        let mut counts = BTreeMap::new();
        (0..200_000).for_each(|_| *counts.entry(pick(&mut worker)).or_insert(0_u32) += 1);
        let expected = |host: usize| if host < 100 { 2000.0 } else { 1000.0 };
        // Sums of squares over 150 hosts: 150 on average, with a deviation of 17.
        let chi_square: f64 = counts
            .iter()
            .map(|(&host, &count)| (f64::from(count) - expected(host)).powi(2) / expected(host))
            .sum();
        (150 - counts.len(), chi_square)
    };
    let (native, chi_square) = unreached(Behavior::Native);
    assert!(native == 0 && chi_square < 255.0, "{native} idle hosts, {chi_square}");
    let (envoys, _) = unreached(Behavior::Envoy);
    assert_eq!(envoys, 50, "one number chooses the priority and the host, so half are idle");
}
