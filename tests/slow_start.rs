//! Slow start: in `native` shares follow the clock whatever the traffic; in `envoy` they do not,
//! and the tests say by how much.
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // small counts

mod common;

use std::time::Duration;

use common::{BEHAVIORS, assignment, config, group, open, plain};
use plimsoll::config::{
    Assignment, Behavior, Endpoint, Policy, RoundRobin, RuntimeDouble, SlowStart,
};
use plimsoll::{Cluster, HealthEvent, Options, PickContext, Update, Worker};

const PICK: PickContext = PickContext::uncounted();
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// When the hosts of `grown` are joined by others.
const START: u64 = 10_000 * SECOND;

fn slow_start(window_s: u64, min_weight_percent: f64) -> SlowStart {
    SlowStart { min_weight_percent, ..SlowStart::new(Duration::from_secs(window_s)) }
}

fn round_robin(slow_start: SlowStart) -> Policy {
    Policy::RoundRobin(RoundRobin { slow_start: Some(slow_start) })
}

/// Hosts `10.0.1.1:80` and so on.
fn hosts(count: u32) -> Assignment {
    assignment(vec![plain(0, 1, count)])
}

/// The share of the traffic of the host that was added last.
fn last_share(cluster: &Cluster) -> f64 {
    cluster.view().hosts().last().unwrap().share
}

/// A cluster whose first hosts have been up for long, and then as many as `count`.
fn grown(behavior: Behavior, slow_start: SlowStart, old: u32, count: u32) -> Cluster {
    let cluster = open(config(behavior, &round_robin(slow_start)), &hosts(old));
    cluster.tick(START).unwrap();
    cluster.assign(&hosts(count)).unwrap();
    cluster
}

#[test]
fn shares_follow_the_clock_to_within_a_hundredth() {
    let cluster = grown(Behavior::Native, slow_start(60, 10.0), 3, 4);
    for tenth in 0..=600 {
        cluster.tick(START + tenth * SECOND / 10).unwrap();
        let factor = (tenth as f64 / 600.0).max(0.1);
        let expected = factor / (3.0 + factor);
        let off = last_share(&cluster) / expected - 1.0;
        assert!((-0.01..=1e-5).contains(&off), "{tenth} tenths of a second: {off}");
    }
    assert!((last_share(&cluster) - 0.25).abs() < 1e-12, "the ramp has ended by itself");
}

#[test]
fn late_and_bunched_ticks_do_not_distort_a_ramp() {
    let often = grown(Behavior::Native, slow_start(60, 10.0), 3, 4);
    let seldom = grown(Behavior::Native, slow_start(60, 10.0), 3, 4);
    for ms in (0..=60_000).step_by(10) {
        let now_ns = START + ms * MS;
        (0..3).for_each(|_| often.tick(now_ns).unwrap());
        if ms % 7_000 == 0 {
            seldom.tick(now_ns).unwrap();
            let (a, b) = (last_share(&often), last_share(&seldom));
            assert!((a / b - 1.0).abs() < 0.01, "{ms} ms: {a} and {b}");
            seldom.tick(now_ns - SECOND).unwrap();
            assert!(last_share(&seldom) >= b, "the clock went back");
        }
    }
    let published = often.stats().unwrap().get("plimsoll.snapshots_published");
    assert!(published < 330, "{published} snapshots in one ramp");
}

/// Requests to the new host by sixths of the window, and to the three sixths after it, of each
/// worker; and what each sixth should bring.
fn ramp(behavior: Behavior, seed: u64) -> (Vec<[u32; 9]>, [f64; 9]) {
    const WORKERS: usize = 4;
    let (old, window, rate) = (130, 180 * SECOND, 100);
    let policy = round_robin(slow_start(180, 1.0));
    let options = Options { seed: Some(seed), ..Options::default() };
    let cluster = Cluster::open(config(behavior, &policy), &hosts(old), options).unwrap();
    cluster.tick(START).unwrap();
    let mut workers: Vec<Worker> = (0..WORKERS).map(|_| cluster.worker().unwrap()).collect();
    // Nobody is at the beginning of a round.
    for worker in &mut workers {
        (0..seed * 37 % 131).for_each(|_| assert!(worker.pick(&PICK).is_ok()));
    }
    cluster.assign(&hosts(old + 1)).unwrap();
    let newest = format!("10.0.1.{}:80", old + 1);
    let (mut counts, mut expected) = (vec![[0; 9]; WORKERS], [0.0; 9]);
    for request in 0..rate * window * 3 / 2 / SECOND {
        let elapsed = request * SECOND / rate;
        if request % 10 == 0 {
            cluster.tick(START + elapsed).unwrap();
        }
        let worker = request as usize % WORKERS;
        let pick = workers[worker].pick(&PICK).unwrap();
        let sixth = (elapsed * 6 / window) as usize;
        let host = workers[worker].host(pick).unwrap();
        counts[worker][sixth] += u32::from(host.address().as_str() == newest);
        let factor = (elapsed as f64 / window as f64).clamp(0.01, 1.0);
        expected[sixth] += factor / (f64::from(old) + factor);
    }
    (counts, expected)
}

#[test]
fn no_worker_starves_a_new_host_however_low_its_traffic() {
    let mut sums = [0.0; 9];
    let mut ideal = [0.0; 9];
    let mut starved_by_envoy = 0;
    for seed in 0..20 {
        let (counts, expected) = ramp(Behavior::Native, seed);
        for (worker, counts) in counts.iter().enumerate() {
            let in_window: u32 = counts[..6].iter().sum();
            // Each worker's part of the whole is 17 requests.
            assert!(in_window >= 11, "worker {worker} of run {seed}: {counts:?}");
            counts.iter().zip(&mut sums).for_each(|(&count, sum)| *sum += f64::from(count));
        }
        expected.iter().zip(&mut ideal).for_each(|(expected, sum)| *sum += expected);
        let (counts, _) = ramp(Behavior::Envoy, seed);
        let starved = counts.iter().filter(|counts| counts[..6].iter().sum::<u32>() == 0).count();
        starved_by_envoy += starved;
    }
    for (sixth, (sum, ideal)) in sums.iter().zip(ideal).enumerate() {
        let off = sum / ideal - 1.0;
        assert!(off.abs() < 0.15, "sixth {sixth}: {sum} requests, ideally {ideal:.1}");
    }
    assert!(starved_by_envoy > 20, "Envoy starves it in half of the runs: {starved_by_envoy}");
}

#[test]
fn a_share_of_nothing_at_first_neither_starves_nor_hogs() {
    for behavior in BEHAVIORS {
        let cluster = grown(behavior, slow_start(3600, 0.0), 2, 3);
        let mut worker = cluster.worker().unwrap();
        let newest = |worker: &mut Worker| {
            let pick = worker.pick(&PICK).unwrap();
            worker.host(pick).unwrap().address().as_str() == "10.0.1.3:80"
        };
        let mut count = |picks: u32| (0..picks).filter(|_| newest(&mut worker)).count();
        assert!(count(1000) <= 1, "{behavior:?}: a host of no weight at all");
        cluster.tick(START + 1800 * SECOND).unwrap();
        // Half of its weight: a fifth of the traffic. Envoy's deadline is still that of the first
        // millisecond, 3.6 million turns away.
        let half = count(1000);
        match behavior {
            Behavior::Native => assert!((195..=205).contains(&half), "{half} of 1000"),
            Behavior::Envoy => assert_eq!(half, 0, "Envoy has caught up"),
        }
    }
}

#[test]
fn another_new_host_does_not_push_those_that_are_warming() {
    let cluster = grown(Behavior::Native, slow_start(60, 10.0), 10, 11);
    cluster.tick(START + 20 * SECOND).unwrap();
    cluster.assign(&hosts(12)).unwrap();
    let view = cluster.view();
    let shares: Vec<f64> = view.hosts().iter().map(|host| host.share).collect();
    let total = 10.0 + 1.0 / 3.0 + 0.1;
    assert!((shares[10] - 1.0 / 3.0 / total).abs() < 1e-6, "{shares:?}");
    assert!((shares[11] - 0.1 / total).abs() < 1e-6, "{shares:?}");
}

#[test]
fn hosts_that_come_up_together_need_no_ramp() {
    let cluster = open(config(Behavior::Native, &round_robin(slow_start(60, 10.0))), &hosts(9));
    for second in 0..70 {
        cluster.tick(second * SECOND).unwrap();
        assert!(cluster.view().hosts().iter().all(|host| (host.share - 1.0 / 9.0).abs() < 1e-9));
    }
    assert_eq!(cluster.stats().unwrap().get("plimsoll.snapshots_published"), 1);
}

#[test]
fn one_host_alone_has_its_whole_priority_from_the_beginning() {
    for behavior in BEHAVIORS {
        let policy = round_robin(slow_start(60, 10.0));
        let cluster = open(config(behavior, &policy), &assignment(vec![plain(0, 1, 3)]));
        cluster.tick(100 * SECOND).unwrap();
        let both = assignment(vec![plain(0, 1, 3), plain(1, 1, 1)]);
        cluster.assign(&both).unwrap();
        let eject =
            |update: Update, host| update.health(format!("10.0.1.{host}:80"), HealthEvent::Eject);
        cluster.apply(&(1..=3).fold(Update::new(), eject)).unwrap();
        assert!((last_share(&cluster) - 1.0).abs() < 1e-9, "{behavior:?}");
    }
}

#[test]
fn localities_share_a_ramp() {
    let zones = |second: u32| assignment(vec![plain(0, 1, 2), plain(0, 2, second)]);
    let cluster = open(config(Behavior::Native, &round_robin(slow_start(60, 10.0))), &zones(0));
    cluster.tick(100 * SECOND).unwrap();
    cluster.assign(&zones(2)).unwrap();
    // A new zone of two hosts has a tenth each, beside two whole ones.
    assert!((last_share(&cluster) - 0.1 / 2.2).abs() < 1e-6, "{}", last_share(&cluster));
    cluster.tick(160 * SECOND).unwrap();
    assert!((last_share(&cluster) - 0.25).abs() < 1e-9, "{}", last_share(&cluster));
}

#[test]
fn a_check_that_passes_after_a_failure_starts_anew_and_nothing_else_does() {
    for behavior in BEHAVIORS {
        let cluster = grown(behavior, slow_start(60, 10.0), 3, 3);
        let report = |event| {
            cluster.apply(&Update::new().health("10.0.1.3:80", event)).unwrap();
            cluster.view().hosts().last().unwrap().slow_start.map(|warmup| warmup.factor)
        };
        for event in [
            HealthEvent::Eject,
            HealthEvent::Uneject,
            HealthEvent::Degraded,
            HealthEvent::Pass,
            HealthEvent::OutlierDegraded,
            HealthEvent::OutlierRecovered,
        ] {
            assert_eq!(report(event), None, "{behavior:?} {event:?}");
        }
        assert_eq!(report(HealthEvent::Fail), None, "in panic it would have its whole weight");
        assert_eq!(report(HealthEvent::Pass), Some(0.1));
    }
}

#[test]
fn a_new_policy_does_not_warm_up_hosts_that_have_been_up_for_long() {
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::ROUND_ROBIN), &hosts(3));
        cluster.tick(100 * SECOND).unwrap();
        cluster.reconfigure(config(behavior, &round_robin(slow_start(60, 10.0)))).unwrap();
        let warming =
            cluster.view().hosts().iter().filter(|host| host.slow_start.is_some()).count();
        // Envoy keeps the time when a host came up for policies with slow start only.
        let expected = if behavior == Behavior::Native { 0 } else { 3 };
        assert_eq!(warming, expected, "{behavior:?}");
    }
}

#[test]
fn aggression_from_the_runtime_counts_at_once() {
    let aggression = RuntimeDouble { default_value: 1.0, runtime_key: "aggression".to_owned() };
    let slow_start = SlowStart { aggression: Some(aggression), ..slow_start(60, 10.0) };
    for behavior in BEHAVIORS {
        let cluster = grown(behavior, slow_start.clone(), 1, 2);
        cluster.tick(START + 15 * SECOND).unwrap();
        assert!((last_share(&cluster) - 0.2).abs() < 1e-9, "a quarter to one");
        cluster.set_runtime(&[("aggression", Some(2.into()))]).unwrap();
        assert!((last_share(&cluster) - 1.0 / 3.0).abs() < 1e-9, "half to one: {behavior:?}");
    }
}

#[test]
fn envoys_weights_are_those_of_the_picks_own_time() {
    let cluster = grown(Behavior::Envoy, slow_start(60, 10.0), 1, 2);
    let mut worker = cluster.worker().unwrap();
    // Its first turn is due by a tenth of its weight; then the weight is read for the next one:
    // whole at the end of the window, though no tick has told.
    let late = PickContext { now_ns: START + 60 * SECOND, ..PICK };
    let picks: String = (0..16)
        .map(|_| {
            let pick = worker.pick(&late).unwrap();
            if worker.host(pick).unwrap().address().as_str() == "10.0.1.2:80" { '1' } else { '0' }
        })
        .collect();
    assert!(picks.trim_start_matches('0').starts_with("101010"), "{picks}");
}

#[test]
fn extreme_settings_and_clocks_are_survived() {
    let aggression =
        |default_value| Some(RuntimeDouble { default_value, runtime_key: "aggression".to_owned() });
    let weights = |count: u32| {
        let host = |host| Endpoint {
            load_balancing_weight: [1, u32::MAX, 7][host as usize % 3],
            ..Endpoint::new(format!("h{host}"))
        };
        group(0, "z", (0..count).map(host).collect())
    };
    for behavior in BEHAVIORS {
        for (window, percent, aggression) in [
            (Duration::from_millis(2000), 5.05e-321, aggression(5.05e-321)),
            (Duration::from_secs(8), 0.0, aggression(3.9e-27)),
            (Duration::from_secs_f64(94_304.000_004_096), 0.0, aggression(2.000_061_274_5)),
            (Duration::from_secs(9_223_372_035), 100.0, aggression(f64::MAX)),
            (Duration::from_millis(1), 0.0, None),
        ] {
            let slow_start = SlowStart { window, min_weight_percent: percent, aggression };
            let policy = round_robin(slow_start);
            let cluster = open(config(behavior, &policy), &assignment(vec![weights(48)]));
            let mut worker = cluster.worker().unwrap();
            for (step, now_ns) in
                [0, 1, MS, SECOND, u64::MAX / 2, u64::MAX, 5].into_iter().enumerate()
            {
                cluster.tick(now_ns).unwrap();
                cluster.assign(&assignment(vec![weights(49 + step as u32)])).unwrap();
                for pick_ns in [0, 1, u64::MAX] {
                    let context = PickContext { now_ns: pick_ns, ..PICK };
                    (0..200).for_each(|_| assert!(worker.pick(&context).is_ok()));
                }
                let shares: f64 = cluster.view().hosts().iter().map(|host| host.share).sum();
                assert!((shares - 1.0).abs() < 1e-6, "{behavior:?} {policy:?}: {shares}");
            }
        }
    }
}
