//! Client-side weighted round robin in `behavior: native`: what it does better than Envoy. What
//! Envoy does is in tests/vectors/weighted-by-reports-envoy.jsonl.
#![allow(clippy::cast_precision_loss)] // counts are far below 2^53

mod common;

use std::time::Duration;

use common::{assignment, config, group, open};
use plimsoll::config::{
    Assignment, Behavior, ClientSideWeightedRoundRobin, Endpoint, Policy, SlowStart,
};
use plimsoll::orca::{Headers, LoadReport};
use plimsoll::{
    Cluster, HealthEvent, Options, Outcome, PickContext, ReportFailure, ReportRejected,
    ResponseLoad, Update, Worker,
};

const SECOND: u64 = 1_000_000_000;

fn policy() -> ClientSideWeightedRoundRobin {
    let blackout_period = Duration::ZERO;
    ClientSideWeightedRoundRobin { blackout_period, ..ClientSideWeightedRoundRobin::default() }
}

/// Hosts `h0`, `h1`, … of these configured weights.
fn hosts(weights: &[u32]) -> Assignment {
    let host = |(index, &weight): (usize, &u32)| Endpoint {
        load_balancing_weight: weight,
        ..Endpoint::new(format!("h{index}"))
    };
    assignment(vec![group(0, "z", weights.iter().enumerate().map(host).collect())])
}

fn cluster(policy: ClientSideWeightedRoundRobin, weights: &[u32]) -> Cluster {
    let policy = Policy::ClientSideWeightedRoundRobin(policy);
    open(config(Behavior::Native, &policy), &hosts(weights))
}

/// A report of `h0` and so on that comes to this weight at half utilization.
fn report(cluster: &Cluster, host: usize, weight: f64) {
    let load = LoadReport {
        application_utilization: 0.5,
        rps_fractional: weight / 2.0,
        ..LoadReport::default()
    };
    cluster.report(&format!("h{host}"), &load.as_report(), 0).unwrap();
}

fn weights(cluster: &Cluster) -> Vec<f64> {
    cluster.view().hosts().iter().map(|host| host.effective_weight).collect()
}

fn stat(cluster: &Cluster, name: &str) -> u64 {
    cluster.stats().unwrap().get(name)
}

/// Whether weights are in these proportions, to a part in a thousand.
fn are_like(weights: &[f64], expected: &[f64]) -> bool {
    let unit = weights[0] / expected[0];
    weights.iter().zip(expected).all(|(weight, e)| (weight / (e * unit) - 1.0).abs() < 1e-3)
}

#[test]
fn weights_are_real_numbers_and_shares_follow_them() {
    let cluster = cluster(policy(), &[1, 1]);
    report(&cluster, 0, 0.2);
    report(&cluster, 1, 0.9);
    cluster.tick(SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[2.0, 9.0]), "Envoy makes 1 and 1 of them");
    let shares: Vec<f64> = cluster.view().hosts().iter().map(|host| host.share).collect();
    assert!(are_like(&shares, &[2.0, 9.0]), "{shares:?}");
    let mut worker = cluster.worker().unwrap();
    let mut first = 0;
    for _ in 0..1100 {
        let pick = worker.pick(&PickContext::default()).unwrap();
        first += u32::from(worker.host(pick).unwrap().address().as_str() == "h0");
        worker.done(pick, Outcome::Success).unwrap();
    }
    assert!(first.abs_diff(200) <= 6, "{first} of 1100");
}

#[test]
fn a_light_host_keeps_a_hundredth_of_the_average() {
    let cluster = cluster(policy(), &[1; 3]);
    report(&cluster, 0, 1e-9);
    report(&cluster, 1, 100.0);
    report(&cluster, 2, 200.0);
    cluster.tick(SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[1.0, 100.0, 200.0]), "{:?}", weights(&cluster));
}

#[test]
fn nothing_is_published_while_weights_stay_nearly_what_they_are() {
    let cluster = cluster(policy(), &[1, 1]);
    report(&cluster, 0, 0.1);
    report(&cluster, 1, 200.0);
    cluster.tick(SECOND).unwrap();
    let published = stat(&cluster, "plimsoll.snapshots_published");
    for second in 2..32 {
        report(&cluster, 0, 0.1);
        report(&cluster, 1, 200.0 + (second % 3) as f64 / 2.0);
        cluster.tick(second * SECOND).unwrap();
    }
    assert_eq!(stat(&cluster, "plimsoll.snapshots_published"), published);
    assert_eq!(stat(&cluster, "plimsoll.weight_passes"), 32, "one more at the start");
}

#[test]
fn configured_weights_hold_without_reports_and_the_same_assignment_changes_nothing() {
    let cluster = cluster(policy(), &[3, 5, 9]);
    cluster.tick(5 * SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[3.0, 5.0, 9.0]), "Envoy makes 1 of each");
    report(&cluster, 0, 600.0);
    cluster.tick(6 * SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[3.0, 5.0, 9.0]), "200 for each configured 1");
    report(&cluster, 2, 100.0);
    cluster.tick(7 * SECOND).unwrap();
    assert!(!cluster.assign(&hosts(&[3, 5, 9])).unwrap().published);
}

#[test]
fn a_new_host_gets_the_median_at_once() {
    let cluster = cluster(policy(), &[1; 3]);
    for (host, weight) in [(0, 200.0), (1, 300.0), (2, 1000.0)] {
        report(&cluster, host, weight);
    }
    cluster.tick(SECOND).unwrap();
    cluster.assign(&hosts(&[1, 1, 1, 2])).unwrap();
    assert!(are_like(&weights(&cluster), &[200.0, 300.0, 1000.0, 600.0]));
    // Another host in the slot of one that left starts from nothing.
    cluster.apply(&Update::new().remove("h2")).unwrap();
    cluster.tick(2 * SECOND).unwrap();
    let other =
        assignment(vec![group(0, "z", ["h0", "h1", "h3", "x"].map(Endpoint::new).to_vec())]);
    cluster.assign(&other).unwrap();
    let expected = [200.0, 300.0, 250.0, 250.0];
    assert!(are_like(&weights(&cluster), &expected), "{:?}", weights(&cluster));
}

#[test]
fn other_settings_keep_reports_and_weights() {
    let cluster = cluster(policy(), &[1; 3]);
    for (host, weight) in [(0, 200.0), (1, 400.0), (2, 600.0)] {
        report(&cluster, host, weight);
    }
    cluster.tick(SECOND).unwrap();
    let policy = ClientSideWeightedRoundRobin {
        weight_update_period: Duration::from_millis(500),
        ..policy()
    };
    let policy = Policy::ClientSideWeightedRoundRobin(policy);
    cluster.reconfigure(config(Behavior::Native, &policy)).unwrap();
    assert!(are_like(&weights(&cluster), &[1.0, 2.0, 3.0]), "Envoy makes 1 of each");
    assert_eq!(cluster.next_tick_ns().unwrap(), Some(SECOND * 3 / 2));
}

#[test]
fn clusters_that_start_together_move_apart_and_settings_put_nothing_off() {
    let settings = |behavior| config(behavior, &Policy::ClientSideWeightedRoundRobin(policy()));
    let first_pass = |behavior, seed| {
        let options = Options { seed: Some(seed), ..Options::default() };
        let cluster = Cluster::open(settings(behavior), &hosts(&[1]), options).unwrap();
        cluster.next_tick_ns().unwrap().unwrap()
    };
    let mut passes: Vec<u64> = (0..100).map(|seed| first_pass(Behavior::Native, seed)).collect();
    passes.sort_unstable();
    assert!(passes[0] >= SECOND / 2 && passes[99] <= SECOND, "{passes:?}");
    assert!(passes.windows(2).all(|pair| pair[1] - pair[0] < SECOND / 16), "{passes:?}");
    assert!((0..100).all(|seed| first_pass(Behavior::Envoy, seed) == SECOND));

    let cluster = cluster(policy(), &[1]);
    let due = cluster.next_tick_ns().unwrap();
    for tenth in 1..5 {
        cluster.tick(tenth * SECOND / 10).unwrap();
        let error_utilization_penalty = Some(tenth as f32);
        let policy = ClientSideWeightedRoundRobin { error_utilization_penalty, ..policy() };
        let policy = Policy::ClientSideWeightedRoundRobin(policy);
        cluster.reconfigure(config(Behavior::Native, &policy)).unwrap();
        assert_eq!(cluster.next_tick_ns().unwrap(), due);
    }
}

#[test]
fn periods_have_sane_ends() {
    let short = ClientSideWeightedRoundRobin {
        weight_update_period: Duration::ZERO,
        weight_expiration_period: Duration::ZERO,
        ..policy()
    };
    let never_old = cluster(short.clone(), &[1, 1]);
    never_old.tick(SECOND).unwrap();
    assert_eq!(never_old.next_tick_ns().unwrap(), Some(SECOND * 11 / 10), "Envoy spins");
    report(&never_old, 0, 100.0);
    report(&never_old, 1, 300.0);
    for day in 1..100 {
        never_old.tick(day * 86_400 * SECOND).unwrap();
        assert!(are_like(&weights(&never_old), &[1.0, 3.0]), "day {day}");
    }
    // Expiry comes before blackout, as in gRPC: a gap makes the host new.
    let periods = ClientSideWeightedRoundRobin {
        blackout_period: Duration::from_secs(2),
        weight_expiration_period: Duration::from_secs(1),
        weight_update_period: Duration::from_millis(100),
        ..policy()
    };
    let cluster = cluster(periods, &[1, 1]);
    let mut known = Vec::new();
    for tenth in 0..60 {
        cluster.tick(tenth * SECOND / 10).unwrap();
        if stat(&cluster, "plimsoll.weights_usable") > 0 {
            known.push(tenth);
        }
        if [5, 22, 25, 30, 35, 40, 42].contains(&tenth) {
            report(&cluster, 0, 500.0);
        }
    }
    assert_eq!(known, (42..=52).collect::<Vec<u64>>(), "two seconds after the report at 2.2");
}

#[test]
fn weights_follow_reports_at_the_pace_that_the_runtime_sets() {
    let key = "plimsoll.weight_smoothing_time_constant_ms";
    // A second goes this part of the way: elapsed / (elapsed + time constant).
    for (value, part) in [
        (None, 1.0 / 6.0),
        (Some(1000.into()), 1.0 / 2.0),
        (Some(0.into()), 1.0),
        (Some(f64::NAN.into()), 1.0 / 6.0),
        (Some((-1.0).into()), 1.0 / 6.0),
    ] {
        let cluster = cluster(policy(), &[1, 1]);
        cluster.set_runtime(&[(key, value)]).unwrap();
        report(&cluster, 0, 200.0);
        report(&cluster, 1, 200.0);
        cluster.tick(SECOND).unwrap();
        assert!(are_like(&weights(&cluster), &[200.0, 200.0]), "the first counts in full");
        report(&cluster, 0, 300.0);
        cluster.tick(2 * SECOND).unwrap();
        let expected = [200.0 + 100.0 * part, 200.0];
        assert!(are_like(&weights(&cluster), &expected), "{value:?}: {:?}", weights(&cluster));
    }
}

#[test]
fn a_host_that_says_only_how_busy_it_is_is_weighed_by_that() {
    let cluster = cluster(policy(), &[1, 1, 2]);
    let say = |host: &str, utilization, rps| {
        let load = LoadReport {
            cpu_utilization: utilization,
            rps_fractional: rps,
            ..LoadReport::default()
        };
        cluster.report(host, &load.as_report(), 0)
    };
    say("h0", 0.3, 0.0).unwrap();
    say("h1", 0.7, 0.0).unwrap();
    cluster.tick(SECOND).unwrap();
    let found = weights(&cluster);
    assert!(found[0] > 1.02 && found[1] < 0.98 && are_like(&found[1..], &[found[1], 2.0]));
    assert_eq!(stat(&cluster, "plimsoll.weights_by_utilization"), 2);
    let load = cluster.view().hosts()[1].load.unwrap();
    assert!((load.utilization - 0.7).abs() < 1e-6 && load.weight == 0.0, "{load:?}");
    // It has to be more than nothing, as a host that never measures says nothing.
    assert_eq!(say("h2", 0.0, 0.0).unwrap_err().to_string(), "QPS must be positive");
    // A host that says what it serves is idle when it says nothing of it.
    say("h1", 0.7, 140.0).unwrap();
    assert_eq!(say("h1", 0.1, 0.0).unwrap_err().to_string(), "QPS must be positive");
    cluster.tick(2 * SECOND).unwrap();
    let found = weights(&cluster);
    assert!((found[1] - 200.0).abs() < 1e-3 && found[0] > 200.0 && found[2] > 399.0, "{found:?}");
    assert_eq!(stat(&cluster, "plimsoll.weights_by_utilization"), 1);
}

#[test]
fn hosts_that_do_not_report_between_passes_are_counted() {
    let cluster = cluster(policy(), &[1; 3]);
    (0..3).for_each(|host| report(&cluster, host, 100.0));
    cluster.tick(SECOND).unwrap();
    assert_eq!(stat(&cluster, "plimsoll.weights_not_renewed"), 0);
    report(&cluster, 1, 100.0);
    cluster.tick(2 * SECOND).unwrap();
    assert_eq!(stat(&cluster, "plimsoll.weights_not_renewed"), 2);
}

#[test]
fn numbers_that_are_none_never_enter() {
    let cluster = cluster(policy(), &[1, 1]);
    report(&cluster, 0, 200.0);
    let bad = |change: fn(&mut LoadReport)| {
        let mut load =
            LoadReport { cpu_utilization: 0.5, rps_fractional: 100.0, ..LoadReport::default() };
        change(&mut load);
        cluster.report("h0", &load.as_report(), 0).unwrap_err().to_string()
    };
    let not_finite = "load metrics must be finite and not negative";
    assert_eq!(bad(|load| load.cpu_utilization = f64::NAN), not_finite);
    assert_eq!(bad(|load| load.cpu_utilization = f64::INFINITY), not_finite);
    assert_eq!(bad(|load| load.cpu_utilization = -1.0), not_finite);
    assert_eq!(bad(|load| load.rps_fractional = f64::NAN), not_finite);
    assert_eq!(bad(|load| load.rps_fractional = f64::INFINITY), not_finite);
    assert_eq!(bad(|load| load.eps = -50.0), not_finite);
    assert_eq!(bad(|load| load.rps_fractional = 0.0), "QPS must be positive");
    assert_eq!(bad(|load| load.cpu_utilization = 0.0), "Utilization must be positive");
    cluster.tick(SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[200.0, 200.0]));
    assert_eq!(stat(&cluster, "plimsoll.load_reports_not_finite"), 6);
    assert_eq!(stat(&cluster, "plimsoll.load_reports_without_qps"), 1);
    assert_eq!(stat(&cluster, "plimsoll.load_reports_without_utilization"), 1);
    assert_eq!(stat(&cluster, "plimsoll.load_reports_accepted"), 1);
}

#[test]
fn errors_count_once_per_request_unless_the_penalty_says_otherwise() {
    for (penalty, expected) in
        [(None, 1000.0 / 0.6), (Some(0.0), 2000.0), (Some(2.0), 1000.0 / 0.7)]
    {
        let policy =
            ClientSideWeightedRoundRobin { error_utilization_penalty: penalty, ..policy() };
        let cluster = cluster(policy, &[1]);
        let load = LoadReport {
            application_utilization: 0.5,
            rps_fractional: 1000.0,
            eps: 100.0,
            ..LoadReport::default()
        };
        cluster.report("h0", &load.as_report(), 0).unwrap();
        let weight = cluster.view().hosts()[0].load.unwrap().weight;
        assert!((weight / expected - 1.0).abs() < 1e-6, "{penalty:?}: {weight}");
    }
}

#[test]
fn a_worker_takes_the_last_report_of_each_attempt() {
    let cluster = cluster(policy(), &[1, 1]);
    let mut worker = cluster.worker().unwrap();
    let pick = worker.pick(&PickContext::default()).unwrap();
    let text = |value: &'static str| Headers { text: Some(value.as_bytes()), binary: None };
    let load = |headers, trailers| ResponseLoad { headers, trailers, json: None };
    let early = text("TEXT application_utilization=0.5,rps_fractional=100");
    let late = text("TEXT application_utilization=0.25,rps_fractional=100");
    let mut weight = |load: ResponseLoad<'_>| {
        worker.report(pick, &load, SECOND).map(|()| {
            let view = cluster.view();
            let loads: Vec<f64> =
                view.hosts().iter().filter_map(|host| host.load).map(|load| load.weight).collect();
            loads[0]
        })
    };
    assert_eq!(weight(load(early, Headers::default())), Ok(200.0));
    assert_eq!(weight(load(early, late)), Ok(400.0));
    assert_eq!(weight(load(early, text("TEXT nonsense"))), Ok(200.0));
    assert_eq!(weight(ResponseLoad::default()), Err(ReportFailure::NoData));
    let unreadable = weight(load(text("TEXT nonsense"), Headers::default()));
    assert!(matches!(unreadable, Err(ReportFailure::Unreadable(_))), "{unreadable:?}");
    assert_eq!(
        weight(load(text("TEXT cpu_utilization=1"), Headers::default())),
        Err(ReportFailure::Rejected(ReportRejected::Qps))
    );
    assert_eq!(stat(&cluster, "plimsoll.load_reports_accepted"), 3);
    assert_eq!(stat(&cluster, "plimsoll.load_reports_unreadable"), 1);

    let address = worker.host(pick).unwrap().address().clone();
    worker.done(pick, Outcome::Success).unwrap();
    cluster.apply(&Update::new().remove(address)).unwrap();
    worker.refresh();
    cluster.tick(2 * SECOND).unwrap();
    let gone = worker.report(pick, &load(early, late), 3 * SECOND);
    assert_eq!(gone, Err(ReportFailure::Rejected(ReportRejected::UnknownHost)));
    let plain = open(config(Behavior::Native, &Policy::Random), &hosts(&[1]));
    let mut worker = plain.worker().unwrap();
    let pick = worker.pick(&PickContext::default()).unwrap();
    let unwanted = worker.report(pick, &load(early, late), 3 * SECOND);
    assert_eq!(unwanted, Err(ReportFailure::Rejected(ReportRejected::NotWanted)));
    assert_eq!(worker.report(pick, &ResponseLoad::default(), 0), Err(ReportFailure::NoData));
    assert_eq!(stat(&plain, "plimsoll.load_reports_ignored"), 1);
}

#[test]
fn a_quiescent_worker_takes_reports_in_and_stays_quiescent() {
    let cluster = cluster(policy(), &[1]);
    let mut worker = cluster.worker().unwrap();
    let pick = worker.pick(&PickContext::default()).unwrap();
    worker.quiesce();
    let headers = [("endpoint-load-metrics", "TEXT cpu_utilization=0.5,rps_fractional=100")];
    let load = ResponseLoad { headers: Headers::find(headers), ..ResponseLoad::default() };
    worker.report(pick, &load, SECOND).unwrap();
    assert!(worker.host(pick).is_none(), "it holds a snapshot");
    assert!(cluster.view().hosts()[0].load.is_some());
}

/// Picks and ends requests, all those of the last host with an error; how many it got.
fn picks_of_the_failing(worker: &mut Worker, last: &str) -> u32 {
    let mut failed = 0;
    for _ in 0..1000 {
        let pick = worker.pick(&PickContext::default()).unwrap();
        let is_last = worker.host(pick).unwrap().address().as_str() == last;
        failed += u32::from(is_last);
        worker.done(pick, if is_last { Outcome::Error } else { Outcome::Success }).unwrap();
    }
    failed
}

#[test]
fn a_host_that_fails_and_never_reported_does_not_get_the_median() {
    for (behavior, expected) in [(Behavior::Native, 3), (Behavior::Envoy, 200)] {
        let policy = Policy::ClientSideWeightedRoundRobin(policy());
        let cluster = open(config(behavior, &policy), &hosts(&[1; 5]));
        let mut worker = cluster.worker().unwrap();
        picks_of_the_failing(&mut worker, "h4");
        (0..4).for_each(|host| report(&cluster, host, 200.0 * (host + 1) as f64));
        cluster.tick(SECOND).unwrap();
        let failed = picks_of_the_failing(&mut worker, "h4");
        assert!(failed.abs_diff(expected) <= 1, "{behavior:?}: {failed} of 1000");

        // A success without a report is enough.
        let pick = loop {
            let pick = worker.pick(&PickContext::default()).unwrap();
            if worker.host(pick).unwrap().address().as_str() == "h4" {
                break pick;
            }
            worker.done(pick, Outcome::Success).unwrap();
        };
        worker.done(pick, Outcome::Success).unwrap();
        cluster.tick(2 * SECOND).unwrap();
        assert!((weights(&cluster)[4] - 500.0).abs() < 4.0, "{:?}", weights(&cluster));
    }
}

#[test]
fn failures_mean_nothing_while_nobody_reports() {
    let cluster = cluster(policy(), &[1; 2]);
    let mut worker = cluster.worker().unwrap();
    picks_of_the_failing(&mut worker, "h1");
    cluster.tick(SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[1.0, 1.0]), "{:?}", weights(&cluster));
}

#[test]
fn slow_start_goes_on_top_of_reports() {
    let slow_start = Some(SlowStart::new(Duration::from_secs(60)));
    let cluster = cluster(ClientSideWeightedRoundRobin { slow_start, ..policy() }, &[1]);
    cluster.tick(100 * SECOND).unwrap();
    report(&cluster, 0, 300.0);
    cluster.assign(&hosts(&[1, 1])).unwrap();
    report(&cluster, 1, 600.0);
    cluster.tick(130 * SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[1.0, 1.0]), "{:?}", weights(&cluster));
    cluster.tick(160 * SECOND).unwrap();
    assert!(are_like(&weights(&cluster), &[1.0, 2.0]), "{:?}", weights(&cluster));
}

#[test]
fn degraded_hosts_and_panic_go_by_reports_too() {
    let cluster = cluster(policy(), &[1; 4]);
    for host in 0..4 {
        report(&cluster, host, 100.0 * (host + 1) as f64);
    }
    cluster.tick(SECOND).unwrap();
    let all_fail = (0..4)
        .fold(Update::new(), |update, host| update.health(format!("h{host}"), HealthEvent::Eject));
    cluster.apply(&all_fail).unwrap();
    let shares: Vec<f64> = cluster.view().hosts().iter().map(|host| host.share).collect();
    assert!(are_like(&shares, &[1.0, 2.0, 3.0, 4.0]), "{shares:?}");
}

#[test]
fn ten_thousand_weights_that_all_move_are_taken_over_in_one_publish() {
    let cluster = cluster(policy(), &vec![1; 10_000]);
    for round in 1..4 {
        for host in 0..10_000 {
            report(&cluster, host, ((host * round) % 97 + 1) as f64);
        }
        cluster.tick(round as u64 * SECOND).unwrap();
        assert_eq!(stat(&cluster, "plimsoll.snapshots_published"), 1 + round as u64);
        let shares: f64 = cluster.view().hosts().iter().map(|host| host.share).sum();
        assert!((shares - 1.0).abs() < 1e-6);
    }
}

/// A cluster of the same hosts whose clock shows another time, which takes over what `before` knows;
/// and how many records that were.
fn successor(before: &Cluster, behavior: Behavior, weights: &[u32]) -> (Cluster, usize) {
    let settings = config(behavior, &Policy::ClientSideWeightedRoundRobin(policy()));
    let options = Options { now_ns: 1000 * SECOND, ..Options::default() };
    let after = Cluster::open(settings, &hosts(weights), options).unwrap();
    let text = before.export_reports().unwrap().to_string();
    let taken = after.import_reports(&text.parse().unwrap()).unwrap();
    (after, taken)
}

#[test]
fn a_successor_goes_on_with_the_weights_of_its_predecessor() {
    for behavior in [Behavior::Native, Behavior::Envoy] {
        let settings = config(behavior, &Policy::ClientSideWeightedRoundRobin(policy()));
        let before = open(settings, &hosts(&[1; 4]));
        (0..3).for_each(|host| report(&before, host, 200.0 * (host + 1) as f64));
        before.tick(5 * SECOND).unwrap();
        let (after, taken) = successor(&before, behavior, &[1; 4]);
        assert_eq!(taken, 3, "{behavior:?}");
        let expected = [200.0, 400.0, 600.0, 400.0];
        assert!(are_like(&weights(&after), &expected), "{behavior:?}: {:?}", weights(&after));
        let ages: Vec<_> =
            after.view().hosts().iter().filter_map(|host| host.load).map(|load| load.age).collect();
        assert_eq!(ages, [Duration::from_secs(5); 3], "{behavior:?}");
        // What was reported here stays.
        assert_eq!(after.import_reports(&before.export_reports().unwrap()).unwrap(), 0);
    }
}

#[test]
fn a_successor_takes_over_what_it_has_a_use_for() {
    let before = cluster(policy(), &[1; 3]);
    report(&before, 0, 200.0);
    report(&before, 2, 600.0);
    before.tick(SECOND).unwrap();
    let load = LoadReport { cpu_utilization: 0.5, ..LoadReport::default() };
    before.report("h1", &load.as_report(), SECOND).unwrap();
    before.tick(2 * SECOND).unwrap();
    // A host less, and one that knows better.
    let (after, taken) = successor(&before, Behavior::Native, &[1; 2]);
    assert_eq!(taken, 2);
    assert!(are_like(&weights(&after), &[200.0, 200.0]), "{:?}", weights(&after));
    let (_, taken) = successor(&before, Behavior::Envoy, &[1; 3]);
    assert_eq!(taken, 2, "a utilization alone means nothing to Envoy");
    let random = open(config(Behavior::Native, &Policy::Random), &hosts(&[1; 3]));
    assert_eq!(random.import_reports(&before.export_reports().unwrap()).unwrap(), 0);
    assert!(random.export_reports().unwrap().is_empty());
}

#[test]
fn a_successor_goes_on_from_where_a_weight_was_on_its_way() {
    let before = cluster(policy(), &[1; 2]);
    (0..2).for_each(|host| report(&before, host, 200.0));
    before.tick(SECOND).unwrap();
    report(&before, 0, 800.0);
    before.tick(2 * SECOND).unwrap();
    let found = weights(&before);
    assert!(are_like(&found, &[300.0, 200.0]), "{found:?}");
    let (after, _) = successor(&before, Behavior::Native, &[1; 2]);
    assert_eq!(weights(&after), found);
    after.tick(1001 * SECOND).unwrap();
    assert!(weights(&after)[0] > 380.0, "{:?}", weights(&after));
}

/// How many of these lines a cluster takes over, and what its two hosts weigh then.
fn imported(behavior: Behavior, lines: &str) -> (usize, Vec<f64>) {
    let cluster =
        open(config(behavior, &Policy::ClientSideWeightedRoundRobin(policy())), &hosts(&[1; 2]));
    let reports = format!("plimsoll-reports 1\n{lines}").parse().unwrap();
    let taken = cluster.import_reports(&reports).unwrap();
    (taken, weights(&cluster))
}

#[test]
fn what_is_taken_over_is_what_the_behavior_could_have_heard() {
    let zero = "weight 0.0 0.5 0 0 - h0\nweight 300.0 0.5 0 0 - h1\n";
    assert_eq!(imported(Behavior::Native, zero), (1, vec![300.0, 300.0]), "no host weighs nothing");
    assert_eq!(imported(Behavior::Envoy, zero).0, 2, "it may");
    let tiny = "weight 1e-300 0.5 0 0 - h0\nweight -0.0 0.5 0 0 - h1\n";
    assert_eq!(imported(Behavior::Native, tiny).0, 0);
    let real = "weight 200.7 0.5 0 0 199.5 h0\nweight 1e300 0.5 0 0 - h1\n";
    let most = f64::from(u32::MAX);
    assert_eq!(imported(Behavior::Envoy, real), (2, vec![200.0, most]), "whole numbers");
}

#[test]
fn a_hosts_bad_numbers_do_not_keep_the_others_from_being_handed_over() {
    let policy = Policy::ClientSideWeightedRoundRobin(policy());
    let before = open(config(Behavior::Envoy, &policy), &hosts(&[1; 2]));
    let nan =
        LoadReport { cpu_utilization: f64::NAN, rps_fractional: 100.0, ..LoadReport::default() };
    before.report("h0", &nan.as_report(), 0).unwrap();
    report(&before, 1, 200.0);
    let text = before.export_reports().unwrap().to_string();
    assert_eq!(text.parse().map(|reports: plimsoll::ExportedReports| reports.len()), Ok(2));

    let split = open(
        config(Behavior::Native, &policy),
        &assignment(vec![group(0, "z", vec![Endpoint::new("a\nb"), Endpoint::new("h1")])]),
    );
    split
        .report(
            "a\nb",
            &LoadReport { cpu_utilization: 0.5, ..LoadReport::default() }.as_report(),
            0,
        )
        .unwrap();
    report(&split, 1, 200.0);
    assert_eq!(split.export_reports().unwrap().len(), 1, "a line for each");
}

#[test]
fn a_weight_does_not_go_on_from_where_a_utilization_was() {
    let before = cluster(policy(), &[1; 2]);
    let busy = LoadReport { cpu_utilization: 0.5, ..LoadReport::default() };
    before.report("h0", &busy.as_report(), 0).unwrap();
    report(&before, 1, 200.0);
    before.tick(SECOND).unwrap();
    report(&before, 0, 500.0);
    let (after, _) = successor(&before, Behavior::Native, &[1; 2]);
    assert!(are_like(&weights(&after), &[500.0, 200.0]), "{:?}", weights(&after));
}
