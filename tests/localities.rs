//! Routing by locality through the engine: what does not fit into replays.
#![allow(clippy::cast_precision_loss)] // counts are far below 2^53

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{BEHAVIORS, assignment, config, open, plain};
use plimsoll::config::{
    Assignment, Behavior, ClientSideWeightedRoundRobin, ClusterConfig, Endpoint, LoadAware,
    LocalityRouting, OutOfBandReporting, Policy, ZoneAware,
};
use plimsoll::orca::LoadReport;
use plimsoll::{
    Cluster, HealthEvent, HostChange, Locality, Options, Outcome, PickContext, Source,
    StreamAction, Update, Worker,
};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn zone(number: u32) -> Locality {
    Locality::new("", format!("z{number}"), "")
}

fn load_aware(behavior: Behavior, settings: LoadAware) -> ClusterConfig {
    let locality_routing = LocalityRouting::LoadAware(settings);
    ClusterConfig { locality_routing, ..config(behavior, &Policy::ROUND_ROBIN) }
}

/// A cluster of a proxy in zone 0.
fn local(config: ClusterConfig, hosts: &Assignment) -> Cluster {
    let options = Options { node_locality: Some(zone(0)), seed: Some(1), ..Options::default() };
    Cluster::open(config, hosts, options).unwrap()
}

/// Zones of so many hosts.
fn zones(hosts: &[u32]) -> Assignment {
    assignment((0..).zip(hosts).map(|(zone, &hosts)| plain(0, zone, hosts)).collect())
}

/// All hosts of a zone report this utilization.
fn report(cluster: &Cluster, zone: u32, hosts: u32, utilization: f64, now_ns: u64) {
    let load = LoadReport {
        application_utilization: utilization,
        rps_fractional: 100.0,
        ..LoadReport::default()
    };
    for host in 1..=hosts {
        cluster.report(&format!("10.0.{zone}.{host}:80"), &load.as_report(), now_ns).unwrap();
    }
}

/// What the zones get of the healthy hosts' traffic, each in its weight.
fn weights(cluster: &Cluster) -> Vec<f64> {
    let view = cluster.view();
    let priority = view.priorities().next().unwrap();
    priority.routes(Source::Healthy).localities.iter().map(|it| it.weight).collect()
}

/// The hosts of so many picks by zone.
fn tally(worker: &mut Worker, picks: u32) -> BTreeMap<String, u32> {
    let mut tally = BTreeMap::new();
    for _ in 0..picks {
        let pick = worker.pick(&PickContext::default()).unwrap();
        let zone = worker.host(pick).unwrap().locality().zone.clone();
        *tally.entry(zone).or_insert(0) += 1;
        worker.done(pick, Outcome::Success).unwrap();
    }
    tally
}

#[test]
fn a_hot_zone_gives_traffic_away_step_by_step_and_takes_it_back() {
    let cluster = local(load_aware(Behavior::Native, LoadAware::default()), &zones(&[2, 2, 2]));
    let mut shares = vec![weights(&cluster)[0]];
    for second in 1..=60 {
        report(&cluster, 0, 2, 0.9, second * SECOND);
        report(&cluster, 1, 2, 0.3, second * SECOND);
        report(&cluster, 2, 2, 0.3, second * SECOND);
        cluster.tick(second * SECOND).unwrap();
        shares.push(weights(&cluster)[0]);
    }
    let steps = shares.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    assert!(steps.fold(0.0, f64::max) < 0.5, "a leap: {shares:?}");
    let lowest = *shares.last().unwrap();
    assert!(lowest < 0.3 && lowest > 0.0, "{shares:?}");
    for second in 61..=240 {
        (0..3).for_each(|zone| report(&cluster, zone, 2, 0.3, second * SECOND));
        cluster.tick(second * SECOND).unwrap();
    }
    assert!(weights(&cluster)[0] > 0.9, "{:?}", weights(&cluster));
}

#[test]
fn picks_follow_the_shares_and_every_child_policy_works_inside() {
    let wrr = ClientSideWeightedRoundRobin::default();
    let children = [
        Policy::ROUND_ROBIN,
        Policy::LEAST_REQUEST,
        Policy::Random,
        Policy::ClientSideWeightedRoundRobin(wrr),
    ];
    for behavior in BEHAVIORS {
        for policy in &children {
            let settings = LoadAware::default();
            let config = ClusterConfig { policy: policy.clone(), ..load_aware(behavior, settings) };
            let cluster = local(config, &zones(&[2, 3]));
            for second in 1..30 {
                report(&cluster, 0, 2, 0.9, second * SECOND);
                report(&cluster, 1, 3, 0.4, second * SECOND);
                cluster.tick(second * SECOND).unwrap();
            }
            let weights = weights(&cluster);
            let expected = weights[0] / weights.iter().sum::<f64>();
            let tally = tally(&mut cluster.worker().unwrap(), 4000);
            let seen = f64::from(tally.get("z0").copied().unwrap_or(0)) / 4000.0;
            let name = policy.name();
            assert!((seen - expected).abs() < 0.03, "{behavior:?} {name}: {seen}, not {expected}");
            let shares: f64 = cluster.view().hosts().iter().map(|host| host.share).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{behavior:?} {name}");
        }
    }
}

#[test]
fn native_follows_membership_and_health_at_once() {
    let cluster = local(load_aware(Behavior::Native, LoadAware::default()), &zones(&[2, 2, 2]));
    for second in 1..20 {
        (0..3).for_each(|zone| report(&cluster, zone, 2, 0.5, second * SECOND));
        cluster.tick(second * SECOND).unwrap();
    }
    // The local zone fails: the others share what it had, instead of the next one taking it all.
    let fail =
        |update: Update, host| update.health(format!("10.0.0.{host}:80"), HealthEvent::Eject);
    cluster.apply(&(1..=2).fold(Update::new(), fail)).unwrap();
    let shares = weights(&cluster);
    assert!(shares[0] == 0.0 && (shares[1] - 0.5).abs() < 0.05, "{shares:?}");
    // A new zone is as good as the others.
    let change =
        HostChange { endpoint: Endpoint::new("10.0.3.1:80"), priority: 0, locality: zone(3) };
    let change = HostChange { locality: zone(3), ..change };
    cluster.apply(&Update::new().upsert(change)).unwrap();
    let shares = weights(&cluster);
    assert!((0.1..0.3).contains(&shares[3]), "one host of five: {shares:?}");
    let mut worker = cluster.worker().unwrap();
    assert_eq!(tally(&mut worker, 1000).get("z0"), None);
}

/// Found by the stress test: shares outlived the localities that they were for.
#[test]
fn a_priority_that_loses_its_hosts_leaves_no_shares_behind() {
    for behavior in BEHAVIORS {
        let hosts = assignment(vec![plain(0, 0, 2), plain(1, 0, 1), plain(1, 1, 1)]);
        let cluster = local(load_aware(behavior, LoadAware::default()), &hosts);
        cluster.assign(&zones(&[2])).unwrap();
        cluster.tick(SECOND).unwrap();
        assert_eq!(tally(&mut cluster.worker().unwrap(), 10)["z0"], 10);
        cluster.assign(&assignment(vec![])).unwrap();
        assert!(cluster.worker().unwrap().pick(&PickContext::default()).is_err());
        cluster.assign(&hosts).unwrap();
        assert_eq!(tally(&mut cluster.worker().unwrap(), 10)["z0"], 10);
    }
}

/// In Envoy the next locality gets what one without hosts would get, until the next tick.
#[test]
fn shares_are_those_of_picks_while_envoy_has_not_noticed_a_failure() {
    for policy in [Policy::ROUND_ROBIN, Policy::Random] {
        let config = ClusterConfig { policy, ..load_aware(Behavior::Envoy, LoadAware::default()) };
        let cluster = local(config, &zones(&[2, 3, 2]));
        let fail = (1..=2).fold(Update::new(), |update, host| {
            update.health(format!("10.0.0.{host}:80"), HealthEvent::Eject)
        });
        cluster.apply(&fail).unwrap();
        let shares: Vec<f64> = cluster.view().hosts().iter().map(|host| host.share).collect();
        let neighbour: f64 = shares[2..5].iter().sum();
        assert!((neighbour - 0.988).abs() < 1e-9 && shares[0] == 0.0, "{shares:?}");
        let tally = tally(&mut cluster.worker().unwrap(), 4000);
        assert!((f64::from(tally["z1"]) / 4000.0 - 0.988).abs() < 0.01, "{tally:?}");
    }
}

#[test]
fn late_ticks_and_a_jump_of_the_clock_distort_nothing() {
    for gaps in [vec![1; 120], vec![7; 17], vec![1, 1, 58, 60]] {
        let cluster = local(load_aware(Behavior::Native, LoadAware::default()), &zones(&[2, 2]));
        let mut now = 0;
        for gap in gaps {
            now += gap;
            report(&cluster, 0, 2, 0.9, now * SECOND);
            report(&cluster, 1, 2, 0.3, now * SECOND);
            cluster.tick(now * SECOND).unwrap();
            let share = weights(&cluster)[0];
            assert!((0.0..=1.0).contains(&share));
        }
        assert!(weights(&cluster)[0] < 0.35, "{:?}", weights(&cluster));
    }
    let cluster = local(load_aware(Behavior::Native, LoadAware::default()), &zones(&[2, 2]));
    for second in 1..60 {
        report(&cluster, 0, 2, 0.5, second * SECOND);
        report(&cluster, 1, 2, 0.5, second * SECOND);
        cluster.tick(second * SECOND).unwrap();
    }
    let before = weights(&cluster)[0];
    cluster.tick(3660 * SECOND).unwrap();
    let after = weights(&cluster)[0];
    assert!((before - after).abs() < 0.2, "an hour without reports: {before} became {after}");
}

#[test]
fn a_tick_is_due_every_period_and_the_first_one_earlier_in_native() {
    for behavior in BEHAVIORS {
        let cluster = local(load_aware(behavior, LoadAware::default()), &zones(&[1, 1]));
        assert_eq!(cluster.stats().unwrap().get("load_aware_locality.recompute_total"), 1);
        let due = cluster.next_tick_ns().unwrap().unwrap();
        match behavior {
            Behavior::Native => assert!((SECOND / 2..=SECOND).contains(&due)),
            Behavior::Envoy => assert_eq!(due, SECOND),
        }
        cluster.tick(due).unwrap();
        assert_eq!(cluster.next_tick_ns().unwrap(), Some(due + SECOND));
        assert_eq!(cluster.stats().unwrap().get("load_aware_locality.recompute_total"), 2);
    }
}

#[test]
fn zero_is_information_for_a_host_that_has_reported_and_nonsense_never_is() {
    let cluster = local(load_aware(Behavior::Native, LoadAware::default()), &zones(&[1, 1]));
    let load = |application_utilization| {
        let load = LoadReport { application_utilization, ..LoadReport::default() };
        cluster.report("10.0.0.1:80", &load.as_report(), SECOND).is_ok()
    };
    assert!(!load(0.0), "it may be that it never reports any");
    assert!(load(0.5) && load(0.0) && load(3.0));
    assert!(!load(f64::INFINITY) && !load(-1.0));
}

#[test]
fn one_stream_serves_both_policies() {
    let wrr = ClientSideWeightedRoundRobin {
        enable_oob_load_report: true,
        oob_reporting_period: Duration::from_secs(4),
        blackout_period: Duration::ZERO,
        ..ClientSideWeightedRoundRobin::default()
    };
    let settings = LoadAware {
        enable_oob_load_report: true,
        oob_reporting_period: Duration::from_secs(2),
        oob_reporting_config: OutOfBandReporting { port_value: 9001, ..Default::default() },
        ..LoadAware::default()
    };
    for behavior in BEHAVIORS {
        let policy = Policy::ClientSideWeightedRoundRobin(wrr.clone());
        let config = ClusterConfig { policy, ..load_aware(behavior, settings.clone()) };
        let cluster = local(config, &zones(&[1]));
        let actions = cluster.poll_report_streams(4 * SECOND).unwrap();
        let [StreamAction::Open { host, interval }] = actions.as_slice() else {
            panic!("{actions:?}")
        };
        assert_eq!(*interval, Duration::from_secs(2));
        let target = cluster.report_stream_target(*host).unwrap().unwrap();
        assert_eq!(target.dial, "10.0.0.1:9001");
        // Half busy at 100 requests a second: a weight of 200 for one, a utilization for the other.
        let message = b"\x09\0\0\0\0\0\0\xe0\x3f\x31\0\0\0\0\0\0\x59\x40";
        cluster.report_stream_message(*host, message, 4 * SECOND).unwrap();
        cluster.tick(6 * SECOND).unwrap();
        let view = cluster.view();
        let load = view.hosts()[0].load.unwrap();
        assert!((load.weight - 200.0).abs() < 1e-3, "{load:?}");
        let route = view.priorities().next().unwrap().routes(Source::Healthy).localities[0];
        assert_eq!(route.utilization, Some(0.5));
        // A report without requests is of use to one of them: an error, but no loss.
        cluster.report_stream_message(*host, &message[..9], 7 * SECOND).unwrap();
        let stats = cluster.stats().unwrap();
        assert_eq!(stats.get("lb_orca_oob.report_errors"), 1);
        assert_eq!(stats.get("lb_orca_oob.active_sessions"), 1);
    }
}

#[test]
fn settings_may_change_while_reports_and_shares_stay() {
    let cluster = local(load_aware(Behavior::Native, LoadAware::default()), &zones(&[2, 2]));
    for second in 1..60 {
        report(&cluster, 0, 2, 0.9, second * SECOND);
        report(&cluster, 1, 2, 0.3, second * SECOND);
        cluster.tick(second * SECOND).unwrap();
    }
    let before = weights(&cluster);
    let other = LoadAware { remote_probe_fraction: 0.05, ..LoadAware::default() };
    cluster.reconfigure(load_aware(Behavior::Native, other)).unwrap();
    let after = weights(&cluster);
    assert!((before[0] - after[0]).abs() < 0.01, "{before:?} became {after:?}");
    cluster.reconfigure(config(Behavior::Native, &Policy::ROUND_ROBIN)).unwrap();
    assert!((weights(&cluster)[0] - 0.5).abs() < 1e-9, "hosts decide");
    let view = cluster.view();
    let routes = view.priorities().next().unwrap().routes(Source::Healthy);
    assert!(routes.localities.iter().all(|it| it.utilization.is_none()));
    let load = LoadReport { application_utilization: 0.5, ..LoadReport::default() };
    assert!(cluster.report("10.0.0.1:80", &load.as_report(), 0).is_err(), "nobody wants it");
}

#[test]
fn a_zone_aware_cluster_follows_its_local_cluster_and_outlives_it() {
    for behavior in BEHAVIORS {
        let proxies = open(config(behavior, &Policy::ROUND_ROBIN), &zones(&[2, 2]));
        let settings = ZoneAware { min_cluster_size: 1, ..ZoneAware::default() };
        let locality_routing = LocalityRouting::ZoneAware(settings);
        let options = Options {
            node_locality: Some(zone(0)),
            local_cluster: Some(proxies.as_local_cluster()),
            seed: Some(1),
            ..Options::default()
        };
        let config = ClusterConfig { locality_routing, ..config(behavior, &Policy::ROUND_ROBIN) };
        let cluster = Cluster::open(config, &zones(&[1, 1]), options).unwrap();
        let mut worker = cluster.worker().unwrap();
        assert_eq!(tally(&mut worker, 100).get("z0"), Some(&100), "{behavior:?}");
        proxies.assign(&zones(&[3, 1])).unwrap();
        cluster.tick(SECOND).unwrap();
        let stays = tally(&mut worker, 3000)["z0"];
        assert!(stays.abs_diff(2000) < 120, "{behavior:?}: {stays} of 3000");
        drop(proxies);
        cluster.tick(2 * SECOND).unwrap();
        assert!(tally(&mut worker, 3000)["z0"].abs_diff(2000) < 120);
    }
}

#[test]
fn a_cursor_goes_on_when_shares_change() {
    let cluster = local(load_aware(Behavior::Native, LoadAware::default()), &zones(&[4, 4]));
    let mut worker = cluster.worker().unwrap();
    let mut counts = BTreeMap::new();
    for round in 1..=200 {
        report(&cluster, 0, 4, 0.9, round * SECOND);
        report(&cluster, 1, 4, 0.3, round * SECOND);
        cluster.tick(round * SECOND).unwrap();
        for _ in 0..5 {
            let pick = worker.pick(&PickContext::default()).unwrap();
            *counts.entry(worker.host(pick).unwrap().address().to_string()).or_insert(0_u32) += 1;
            worker.done(pick, Outcome::Success).unwrap();
        }
    }
    for local in [0, 1] {
        let of_zone = |host: u32| counts.get(&format!("10.0.{local}.{host}:80")).copied();
        let of_zone: Vec<u32> = (1..=4).map(|host| of_zone(host).unwrap_or(0)).collect();
        let (least, most) = (of_zone.iter().min().unwrap(), of_zone.iter().max().unwrap());
        assert!(most - least <= 12, "a restart has a bias: {of_zone:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_reported_shares_are_whole_and_no_pick_goes_where_they_are_zero(
        hosts in prop::collection::vec(1..4_u32, 1..5),
        reports in prop::collection::vec((0..5_u32, prop_oneof![Just(0.0), 0.0..1.5, Just(1e30)]), 0..40),
        failing in prop::collection::vec((0..5_u32, 1..4_u32), 0..6),
        envoy in any::<bool>(),
    ) {
        let behavior = if envoy { Behavior::Envoy } else { Behavior::Native };
        let cluster = local(load_aware(behavior, LoadAware::default()), &zones(&hosts));
        let mut worker = cluster.worker().unwrap();
        for (second, (zone, utilization)) in (1..).zip(reports) {
            let load = LoadReport { application_utilization: utilization, ..LoadReport::default() };
            let _ = cluster.report(&format!("10.0.{zone}.1:80"), &load.as_report(), second * SECOND);
            if let Some((zone, host)) = failing.get(usize::try_from(second).unwrap() % 7) {
                let event = if second % 2 == 0 { HealthEvent::Eject } else { HealthEvent::Uneject };
                let _ = cluster.apply(&Update::new().health(format!("10.0.{zone}.{host}:80"), event));
            }
            cluster.tick(second * SECOND).unwrap();
            let view = cluster.view();
            let priority = view.priorities().next().unwrap();
            let source = if priority.panic { Source::All } else { Source::Healthy };
            let routes = priority.routes(source);
            let total: f64 = routes.localities.iter().map(|it| it.weight).sum();
            prop_assert!(routes.localities.iter().all(|it| it.weight.is_finite() && it.weight >= 0.0));
            if behavior == Behavior::Native {
                prop_assert!((total - 1.0).abs() < 1e-6, "{routes:?}");
                let pick = worker.pick(&PickContext::default()).unwrap();
                let place = worker.host(pick).unwrap().locality().clone();
                worker.done(pick, Outcome::Success).unwrap();
                let route = routes.localities.iter().find(|it| *it.locality == place).unwrap();
                prop_assert!(route.weight > 0.0, "{place} of {routes:?}");
            }
            let shares: f64 = view.hosts().iter().map(|host| host.share).sum();
            prop_assert!((shares - 1.0).abs() < 1e-6, "shares of hosts sum to {shares}");
        }
    }
}
