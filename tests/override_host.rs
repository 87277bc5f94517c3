//! Picks of hosts that the caller names: which are found, which are let through, and what happens
//! otherwise.
//!
//! //= envoy v1.40 source/common/upstream/host_utility.cc#HostUtility::selectOverrideHost
//! //= envoy v1.40 source/extensions/load_balancing_policies/override_host/load_balancer.cc#getEndpoint

mod common;

use common::{BEHAVIORS, POLICIES, assignment, config, endpoint, group, open, plain};
use plimsoll::config::{
    Behavior, ClusterConfig, Endpoint, HostStatuses, MetadataKey, OverrideHost, OverrideSource,
    Policy,
};
use plimsoll::{
    Cluster, EdsHealth, HealthEvent, HostChange, Locality, NoHost, Outcome, PickContext, Update,
    Worker,
};

const UNCOUNTED: PickContext = PickContext::uncounted();
const STATUSES: [EdsHealth; 6] = [
    EdsHealth::Unknown,
    EdsHealth::Healthy,
    EdsHealth::Unhealthy,
    EdsHealth::Draining,
    EdsHealth::Timeout,
    EdsHealth::Degraded,
];

/// The address of an attempt's pick, or why there is none.
fn attempt(
    worker: &mut Worker,
    attempt: u32,
    addresses: &[&str],
    strict: bool,
) -> Result<String, NoHost> {
    let context = PickContext { attempt, ..UNCOUNTED };
    let pick = worker.pick_override(&context, addresses, strict)?;
    Ok(worker.host(pick).expect("the pick's own snapshot").address().to_string())
}

/// The address of the pick if it is one of these; strict.
fn named(worker: &mut Worker, addresses: &[&str]) -> Result<String, NoHost> {
    attempt(worker, 0, addresses, true)
}

/// A cluster with the policy `override_host`.
fn by_request(behavior: Behavior) -> ClusterConfig {
    let sources = vec![OverrideSource::Header("x-destination".to_owned())];
    let override_host = Some(OverrideHost { sources, selected_host_key: None });
    ClusterConfig { override_host, ..config(behavior, &Policy::ROUND_ROBIN) }
}

fn none_healthy(cluster: &Cluster) -> u64 {
    cluster.stats().unwrap().get("upstream_cx_none_healthy")
}

//= envoy v1.40 source/common/upstream/host_utility.cc#HostUtility::createOverrideHostStatus
#[test]
fn the_status_of_the_host_decides() {
    for behavior in BEHAVIORS {
        for health in STATUSES {
            let hosts = vec![endpoint("/named", health), endpoint("/other", EdsHealth::Healthy)];
            let cluster =
                open(config(behavior, &Policy::Random), &assignment(vec![group(0, "z", hosts)]));
            let mut worker = cluster.worker().unwrap();
            let sets = STATUSES.map(|status| HostStatuses::from_iter([status]));
            let others = [HostStatuses::default(), HostStatuses::NONE, HostStatuses::ALL];
            for override_host_status in sets.into_iter().chain(others) {
                let config = config(behavior, &Policy::Random);
                let config = ClusterConfig { override_host_status, ..config };
                cluster.reconfigure(config).unwrap();
                let expected = match override_host_status.contains(health) {
                    true => Ok("/named".to_owned()),
                    false => Err(NoHost::OverrideNotAllowed),
                };
                assert_eq!(named(&mut worker, &["/named"]), expected, "{health:?}");
                assert!(attempt(&mut worker, 0, &["/named"], false).is_ok(), "{health:?}");
            }
        }
    }
}

#[test]
fn what_checks_and_ejections_say_comes_before_the_control_plane() {
    for behavior in BEHAVIORS {
        let cluster = open(
            ClusterConfig {
                override_host_status: HostStatuses::from_iter([EdsHealth::Unhealthy]),
                ..config(behavior, &Policy::Random)
            },
            &assignment(vec![plain(0, 0, 2)]),
        );
        let mut worker = cluster.worker().unwrap();
        let mut is_unhealthy = |event| {
            cluster.apply(&Update::new().health("10.0.0.1:80", event)).unwrap();
            named(&mut worker, &["10.0.0.1:80"]).is_ok()
        };
        assert!(is_unhealthy(HealthEvent::Eject));
        assert!(!is_unhealthy(HealthEvent::Uneject));
        assert!(is_unhealthy(HealthEvent::Fail));
        assert!(!is_unhealthy(HealthEvent::Degraded));
    }
}

#[test]
fn strict_picks_tell_what_is_wrong_and_others_go_by_policy() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let hosts =
                vec![endpoint("/a", EdsHealth::Healthy), endpoint("/b", EdsHealth::Draining)];
            let cluster = open(config(behavior, policy), &assignment(vec![group(0, "z", hosts)]));
            let mut worker = cluster.worker().unwrap();
            for (addresses, expected) in [
                (&["/c"][..], Err(NoHost::OverrideNotFound)),
                (&[""], Err(NoHost::OverrideNotFound)),
                (&["/a "], Err(NoHost::OverrideNotFound)),
                (&["bad-host@address", "/b"], Err(NoHost::OverrideNotAllowed)),
                (&["/b", "/c"], Err(NoHost::OverrideNotAllowed)),
                (&["/b", "/c", "/a", "/b"], Ok("/a".to_owned())),
                (&[], Ok("/a".to_owned())),
            ] {
                let failures = none_healthy(&cluster);
                assert_eq!(named(&mut worker, addresses), expected, "{addresses:?}");
                let failed = none_healthy(&cluster) - failures;
                assert_eq!(failed, u64::from(expected.is_err()), "{addresses:?}");
                assert_eq!(attempt(&mut worker, 0, addresses, false), Ok("/a".to_owned()));
            }
        }
    }
    assert_eq!(NoHost::OverrideNotFound.to_string(), "no host has an address that was asked for");
}

/// The rows of Envoy's own test of the policy that go beyond one attempt.
#[test]
fn attempts_take_one_found_address_after_the_other_whatever_its_health_and_priority() {
    for behavior in BEHAVIORS {
        let host =
            |priority, address, health| group(priority, "z", vec![endpoint(address, health)]);
        let hosts = assignment(vec![
            host(0, ":2", EdsHealth::Healthy),
            host(1, ":3", EdsHealth::Unhealthy),
            host(2, ":4", EdsHealth::Degraded),
        ]);
        let cluster = open(by_request(behavior), &hosts);
        let mut worker = cluster.worker().unwrap();
        for (addresses, expected) in [
            (&[":3", ":4"][..], &[":3", ":4", ":2", ":2"][..]),
            (&[":3", ":2", ":4"], &[":3", ":2", ":4", ":2"]),
            (&["fff-bar-.bats@just.Wrong", ":4", ""], &[":4", ":2"]),
            (&[":3", ":3"], &[":3", ":3", ":2"]),
            (&["bad-host@address"], &[":2"]),
            (&[], &[":2", ":2"]),
        ] {
            for (number, expected) in (0..).zip(expected) {
                let picked = attempt(&mut worker, number, addresses, false);
                assert_eq!(picked.as_deref(), Ok(*expected), "{addresses:?} {number}");
            }
        }
        let used_up = attempt(&mut worker, 2, &[":3", ":4"], true);
        assert_eq!(used_up, Err(NoHost::OverrideNotFound));
        assert_eq!(attempt(&mut worker, u32::MAX, &[":3"], false), Ok(":2".to_owned()));
        let pick = worker.pick_override(&UNCOUNTED, [":4"], true).unwrap();
        assert_eq!(pick.priority, 2);
        // Without the policy each attempt begins anew.
        cluster.reconfigure(config(behavior, &Policy::ROUND_ROBIN)).unwrap();
        assert_eq!(attempt(&mut worker, 1, &[":3", ":4", ":2"], true), Ok(":4".to_owned()));
    }
}

/// Envoy's own rows that have more than one source.
//= envoy v1.40 source/extensions/load_balancing_policies/override_host/load_balancer.cc#getSelectedHosts
#[test]
fn sources_give_their_addresses_in_the_order_of_the_configuration() {
    let header = OverrideSource::Header("x-hosts".to_owned());
    let key = MetadataKey { key: "envoy.lb".to_owned(), path: vec!["x-hosts".to_owned()] };
    let metadata = OverrideSource::Metadata(key);
    for behavior in BEHAVIORS {
        for (sources, in_header, in_metadata, expected) in [
            (vec![&header, &metadata], Some(":3"), Some(":4"), &[":3", ":4", ":2"][..]),
            (vec![&header, &metadata], Some(":3, :2"), Some(":4"), &[":3", ":2", ":4", ":2"]),
            (vec![&metadata, &header], Some(":3"), Some(":4"), &[":4", ":3", ":2"]),
            (vec![&header, &metadata], Some("fff-bar-.bats@just.Wrong"), Some(":4"), &[":4", ":2"]),
            (vec![&header, &metadata], None, Some("[::2]:80"), &["[::2]:80", ":2"]),
            (vec![&header], None, Some(":3"), &[":2"]),
            (vec![&metadata], None, None, &[":2"]),
        ] {
            let sources = sources.into_iter().cloned().collect();
            let policy = OverrideHost { sources, selected_host_key: None };
            let host =
                |priority, address, health| group(priority, "z", vec![endpoint(address, health)]);
            let hosts = assignment(vec![
                host(0, ":2", EdsHealth::Healthy),
                host(1, ":3", EdsHealth::Unhealthy),
                host(1, "[::2]:80", EdsHealth::Unhealthy),
                host(2, ":4", EdsHealth::Degraded),
            ]);
            let config = ClusterConfig {
                override_host: Some(policy.clone()),
                ..config(behavior, &Policy::ROUND_ROBIN)
            };
            let cluster = open(config, &hosts);
            let mut worker = cluster.worker().unwrap();
            for (attempt, expected) in (0..).zip(expected) {
                let addresses = policy.addresses(|source| match source {
                    OverrideSource::Header(_) => in_header,
                    _ => in_metadata,
                });
                let context = PickContext { attempt, ..UNCOUNTED };
                let pick = worker.pick_override(&context, addresses, false).unwrap();
                assert_eq!(worker.host(pick).unwrap().address().as_str(), *expected);
            }
        }
    }
}

#[test]
fn without_hosts_there_is_none() {
    for behavior in BEHAVIORS {
        for config in [config(behavior, &Policy::Random), by_request(behavior)] {
            let cluster = open(config, &assignment(Vec::new()));
            let mut worker = cluster.worker().unwrap();
            assert_eq!(attempt(&mut worker, 0, &["/a"], false), Err(NoHost::Empty));
            assert_eq!(named(&mut worker, &["/a"]), Err(NoHost::OverrideNotFound));
            assert_eq!(none_healthy(&cluster), 2);
        }
    }
}

#[test]
fn picks_count_as_others_do() {
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &assignment(vec![plain(0, 0, 3)]));
        let mut worker = cluster.worker().unwrap();
        let active = || {
            let view = cluster.view();
            view.hosts().iter().map(|host| host.active).collect::<Vec<_>>()
        };
        let counted = PickContext::new();
        let pick = worker.pick_override(&counted, ["10.0.0.2:80"], true).unwrap();
        assert!(pick.counted);
        assert_eq!(active(), [0, 1, 0]);
        worker.done(pick, Outcome::Success).unwrap();
        assert_eq!(active(), [0, 0, 0]);
        let pick = worker.pick_override(&UNCOUNTED, ["10.0.0.2:80"], true).unwrap();
        assert!(!pick.counted && active() == [0, 0, 0]);
        // A request keeps the slot of a host that leaves.
        let pick = worker.pick_override(&counted, ["10.0.0.2:80"], true).unwrap();
        cluster.apply(&Update::new().remove("10.0.0.2:80")).unwrap();
        assert_eq!(named(&mut worker, &["10.0.0.2:80"]), Err(NoHost::OverrideNotFound));
        worker.done(pick, Outcome::Error).unwrap();
    }
}

/// What a worker picks is the same whether hosts were named in between or not.
#[test]
fn peeks_and_positions_and_draws_stay_where_they_are() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let open = || open(config(behavior, policy), &assignment(vec![plain(0, 0, 3)]));
            let picks = |names_hosts: bool| {
                let cluster = open();
                let mut worker = cluster.worker().unwrap();
                let _ = worker.peek();
                let mut next = || {
                    if names_hosts {
                        named(&mut worker, &["10.0.0.3:80"]).unwrap();
                        named(&mut worker, &["/gone"]).unwrap_err();
                    }
                    worker.pick(&UNCOUNTED).unwrap().slot
                };
                (0..20).map(|_| next()).collect::<Vec<_>>()
            };
            assert_eq!(picks(true), picks(false), "{behavior:?} {policy:?}");
        }
    }
}

#[test]
fn the_filter_is_for_what_the_policy_picks() {
    for behavior in BEHAVIORS {
        let cluster =
            open(config(behavior, &Policy::ROUND_ROBIN), &assignment(vec![plain(0, 0, 3)]));
        let mut worker = cluster.worker().unwrap();
        let context = PickContext { retries: 5, ..UNCOUNTED };
        let mut filtered = |addresses: &[&str], strict| {
            let accept = |_, host: plimsoll::HostRef<'_>| host.address().as_str() == "10.0.0.3:80";
            let pick = worker.pick_override_filtered(&context, addresses, strict, accept)?;
            Ok(worker.host(pick).unwrap().address().to_string())
        };
        for _ in 0..3 {
            assert_eq!(filtered(&["10.0.0.1:80"], false).as_deref(), Ok("10.0.0.1:80"));
            assert_eq!(filtered(&["10.0.0.9:80"], false).as_deref(), Ok("10.0.0.3:80"));
        }
        assert_eq!(filtered(&["10.0.0.9:80"], true), Err(NoHost::OverrideNotFound));
    }
}

#[test]
fn hosts_come_and_go_and_come_again() {
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &assignment(vec![plain(0, 0, 2)]));
        let mut worker = cluster.worker().unwrap();
        let host = "10.0.0.2:80";
        let first = worker.pick_override(&UNCOUNTED, [host], true).unwrap();
        cluster.apply(&Update::new().remove(host)).unwrap();
        assert_eq!(named(&mut worker, &[host]), Err(NoHost::OverrideNotFound));
        let again = HostChange {
            endpoint: Endpoint::new(host),
            priority: 1,
            locality: Locality::default(),
        };
        cluster.apply(&Update::new().upsert(again)).unwrap();
        let second = worker.pick_override(&UNCOUNTED, [host], true).unwrap();
        assert_ne!((first.slot, first.generation), (second.slot, second.generation));
        assert_eq!(second.priority, 1);
        // Gone with an assignment, and back with the next one.
        cluster.assign(&assignment(vec![plain(0, 0, 1)])).unwrap();
        assert_eq!(named(&mut worker, &[host]), Err(NoHost::OverrideNotFound));
        cluster.assign(&assignment(vec![plain(0, 0, 2)])).unwrap();
        assert_eq!(named(&mut worker, &[host]).as_deref(), Ok(host));
    }
}

/// In Envoy a host that moves to another locality is a new object of the same address.
#[test]
fn a_host_that_was_replaced_is_found_as_the_current_one() {
    for behavior in BEHAVIORS {
        let at = |zone: &str| {
            let hosts = vec![Endpoint::new("/a"), Endpoint::new("/b")];
            assignment(vec![group(0, zone, hosts)])
        };
        let cluster = open(config(behavior, &Policy::Random), &at("one"));
        let mut worker = cluster.worker().unwrap();
        for zone in ["two", "three"] {
            cluster.assign(&at(zone)).unwrap();
            let pick = worker.pick_override(&UNCOUNTED, ["/a"], true).unwrap();
            assert_eq!(worker.host(pick).unwrap().locality().zone, zone);
        }
    }
}

#[test]
fn one_of_ten_thousand_addresses_is_found() {
    for behavior in BEHAVIORS {
        let many = |first: u32, count: u32| {
            let address = |host: u32| format!("10.0.{}.{}:80", host / 256, host % 256);
            (first..first + count).map(address).collect::<Vec<_>>()
        };
        let hosts = many(0, 10_000).into_iter().map(Endpoint::new).collect();
        let cluster = open(by_request(behavior), &assignment(vec![group(0, "z", hosts)]));
        let mut worker = cluster.worker().unwrap();
        let mut addresses = many(20_000, 10_000);
        addresses.push("10.0.3.4:80".to_owned());
        let pick = worker.pick_override(&UNCOUNTED, &addresses, true).unwrap();
        assert_eq!(worker.host(pick).unwrap().address().as_str(), "10.0.3.4:80");
        for address in many(0, 10_000) {
            assert_eq!(named(&mut worker, &[&address]), Ok(address));
        }
    }
}

#[test]
fn a_worker_takes_the_newest_hosts_also_after_it_was_quiescent() {
    let cluster =
        open(config(Behavior::Native, &Policy::Random), &assignment(vec![plain(0, 0, 1)]));
    let mut worker = cluster.worker().unwrap();
    worker.quiesce();
    cluster.assign(&assignment(vec![plain(1, 0, 1)])).unwrap();
    assert_eq!(named(&mut worker, &["10.0.0.1:80"]), Err(NoHost::OverrideNotFound));
    assert_eq!(named(&mut worker, &["10.1.0.1:80"]).as_deref(), Ok("10.1.0.1:80"));
}

#[test]
fn a_policy_without_sources_is_refused() {
    let override_host = Some(OverrideHost { sources: Vec::new(), selected_host_key: None });
    let config = ClusterConfig { override_host, ..ClusterConfig::new("api") };
    let error = config.validate().unwrap_err();
    assert_eq!(error.field(), "override_host.override_host_sources");
    assert_eq!(
        error.to_string(),
        "OverrideHostValidationError.OverrideHostSources: value must contain at least 1 item(s)"
    );
}
