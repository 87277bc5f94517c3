//! Partitions, localities, identities and batches: expectations of Envoy 1.40's own unit tests,
//! where the replay format cannot express them.
//!
//! //= envoy v1.40 source/common/upstream/upstream_impl.h#HostImplBase::coarseHealth
//! //= envoy v1.40 source/common/upstream/upstream_impl.cc#BaseDynamicClusterImpl::updateDynamicHostList

mod common;

use common::{BEHAVIORS, assignment, config, endpoint, group, open, plain};
use plimsoll::config::{Assignment, Behavior, ClusterConfig, Endpoint, LocalityEndpoints, Policy};
use plimsoll::{
    Cluster, CoarseHealth, EdsHealth, HealthEvent, HealthFlags, Locality, Options, Update,
};

/// Sets or clears a flag.
enum Step {
    Set(HealthFlags),
    Clear(HealthFlags),
    Eds(EdsHealth),
}

#[test]
fn coarse_health_follows_the_flags() {
    use CoarseHealth::{Degraded, Unhealthy};
    let steps = [
        (Step::Set(HealthFlags::FAILED_ACTIVE_HC), Unhealthy),
        (Step::Set(HealthFlags::DEGRADED_ACTIVE_HC), Unhealthy),
        (Step::Clear(HealthFlags::FAILED_ACTIVE_HC), Degraded),
        (Step::Set(HealthFlags::DEGRADED_EDS_HEALTH), Degraded),
        (Step::Clear(HealthFlags::DEGRADED_ACTIVE_HC), Degraded),
        (Step::Set(HealthFlags::FAILED_ACTIVE_HC), Unhealthy),
    ];
    let mut flags = HealthFlags::NONE;
    for (number, (step, expected)) in steps.into_iter().enumerate() {
        take(&mut flags, &mut EdsHealth::Unknown, step);
        assert_eq!(flags.coarse(), expected, "step {number}: {flags}");
    }
}

#[test]
fn fine_health_lets_active_checks_win_over_the_control_plane() {
    use CoarseHealth as Coarse;
    use EdsHealth::{Degraded, Draining, Healthy, Unhealthy};
    let steps = [
        (Step::Eds(Degraded), Degraded, Coarse::Degraded),
        (Step::Eds(Healthy), Healthy, Coarse::Healthy),
        (Step::Eds(Draining), Draining, Coarse::Unhealthy),
        (Step::Set(HealthFlags::FAILED_ACTIVE_HC), Unhealthy, Coarse::Unhealthy),
        (Step::Set(HealthFlags::FAILED_OUTLIER_CHECK), Unhealthy, Coarse::Unhealthy),
        (Step::Clear(HealthFlags::FAILED_ACTIVE_HC), Unhealthy, Coarse::Unhealthy),
        (Step::Set(HealthFlags::DEGRADED_ACTIVE_HC), Unhealthy, Coarse::Unhealthy),
        (Step::Clear(HealthFlags::FAILED_OUTLIER_CHECK), Draining, Coarse::Unhealthy),
        (Step::Eds(Healthy), Degraded, Coarse::Degraded),
        (Step::Clear(HealthFlags::DEGRADED_ACTIVE_HC), Healthy, Coarse::Healthy),
    ];
    let (mut flags, mut eds) = (HealthFlags::NONE, EdsHealth::Unknown);
    for (number, (step, fine, coarse)) in steps.into_iter().enumerate() {
        take(&mut flags, &mut eds, step);
        assert_eq!((flags.fine(eds), flags.coarse()), (fine, coarse), "step {number}: {flags}");
    }
}

fn take(flags: &mut HealthFlags, eds: &mut EdsHealth, step: Step) {
    match step {
        Step::Set(flag) => flags.insert(flag),
        Step::Clear(flag) => flags.remove(flag),
        Step::Eds(status) => {
            *eds = status;
            flags.set_eds(status);
        }
    }
}

#[test]
fn every_flag_has_envoys_bit_and_name() {
    let flags = [
        (HealthFlags::FAILED_ACTIVE_HC, 0x001, "/failed_active_hc"),
        (HealthFlags::FAILED_OUTLIER_CHECK, 0x002, "/failed_outlier_check"),
        (HealthFlags::FAILED_EDS_HEALTH, 0x004, "/failed_eds_health"),
        (HealthFlags::DEGRADED_ACTIVE_HC, 0x008, "/degraded_active_hc"),
        (HealthFlags::DEGRADED_EDS_HEALTH, 0x010, "/degraded_eds_health"),
        (HealthFlags::PENDING_DYNAMIC_REMOVAL, 0x020, "/pending_dynamic_removal"),
        (HealthFlags::PENDING_ACTIVE_HC, 0x040, "/pending_active_hc"),
        (HealthFlags::EXCLUDED_VIA_IMMEDIATE_HC_FAIL, 0x080, "/excluded_via_immediate_hc_fail"),
        (HealthFlags::ACTIVE_HC_TIMEOUT, 0x100, "/active_hc_timeout"),
        (HealthFlags::EDS_STATUS_DRAINING, 0x200, "/eds_status_draining"),
        (HealthFlags::DEGRADED_OUTLIER_DETECTION, 0x400, "/degraded_outlier_detection"),
    ];
    for (flag, bit, name) in flags {
        assert_eq!((flag.bits(), flag.to_string().as_str()), (bit, name));
    }
    assert_eq!(HealthFlags::NONE.to_string(), "healthy");
}

/// For each locality of a priority: zone, weight, healthy, degraded and excluded hosts.
type Bucket = (String, u32, u64, u64, u64);

fn buckets(cluster: &Cluster, priority: usize) -> Vec<Bucket> {
    let view = cluster.view();
    let priority = view.priorities().nth(priority).expect("the priority exists");
    let bucket = |locality: plimsoll::LocalityView<'_>| {
        let tally = locality.tally;
        let Locality { region, zone, sub_zone } = locality.locality;
        let name = [region.as_str(), zone, sub_zone].join("/");
        (name, locality.weight, tally.healthy, tally.degraded, tally.excluded)
    };
    priority.localities().map(bucket).collect()
}

fn at(region: &str, zone: &str, sub_zone: &str, addresses: &[&str]) -> LocalityEndpoints {
    LocalityEndpoints {
        locality: Locality::new(region, zone, sub_zone),
        endpoints: addresses.iter().map(|&address| Endpoint::new(address)).collect(),
        ..LocalityEndpoints::default()
    }
}

#[test]
fn hosts_are_partitioned_by_health_per_locality_too() {
    for behavior in BEHAVIORS {
        let config = ClusterConfig {
            active_health_checks: true,
            ignore_new_hosts_until_first_hc: true,
            ..config(behavior, &Policy::Random)
        };
        let eds = vec![endpoint("h5:1", EdsHealth::Draining)];
        let hosts = assignment(vec![
            at("", "A", "", &["h0:1", "h1:1"]),
            at("", "B", "", &["h2:1", "h3:1", "h4:1"]),
            LocalityEndpoints { endpoints: eds, ..at("", "B", "", &[]) },
        ]);
        let cluster = open(config, &hosts);
        let update = Update::new()
            .health("h0:1", HealthEvent::Fail)
            .health("h1:1", HealthEvent::Degraded)
            .health("h3:1", HealthEvent::Pass)
            .health("h4:1", HealthEvent::FailNow)
            .health("h5:1", HealthEvent::Pass);
        cluster.apply(&update).unwrap();
        let expected = [("/A/".to_owned(), 0, 0, 1, 0), ("/B/".to_owned(), 0, 1, 0, 3)];
        assert_eq!(buckets(&cluster, 0), expected, "{behavior:?}");
        let tally = cluster.view().priorities().next().unwrap().tally;
        assert_eq!((tally.hosts, tally.healthy, tally.degraded, tally.excluded), (6, 1, 1, 3));
    }
}

#[test]
fn localities_come_in_bytewise_order() {
    for behavior in BEHAVIORS {
        let first = vec![
            at("oceania", "koala", "ingsoc", &["h0:1", "h1:1"]),
            at("", "us-east-1a", "", &["h2:1"]),
        ];
        let cluster = open(config(behavior, &Policy::Random), &assignment(first.clone()));
        let names = |cluster: &Cluster| {
            let named = buckets(cluster, 0).into_iter();
            named.map(|(name, _, healthy, ..)| (name, healthy)).collect::<Vec<_>>()
        };
        let named = |list: &[(&str, u64)]| {
            list.iter().map(|&(name, hosts)| (name.to_owned(), hosts)).collect::<Vec<_>>()
        };
        assert_eq!(names(&cluster), named(&[("/us-east-1a/", 1), ("oceania/koala/ingsoc", 2)]),);
        let mut more = first;
        more.push(at("oceania", "koala", "eucalyptus", &["h3:1", "h4:1", "h5:1"]));
        more.push(at("general", "koala", "ingsoc", &["h6:1", "h7:1", "h8:1", "h9:1", "h10:1"]));
        cluster.assign(&assignment(more)).unwrap();
        let expected = [
            ("/us-east-1a/", 1),
            ("general/koala/ingsoc", 5),
            ("oceania/koala/eucalyptus", 3),
            ("oceania/koala/ingsoc", 2),
        ];
        assert_eq!(names(&cluster), named(&expected));
    }
}

#[test]
fn the_local_locality_comes_first() {
    for behavior in BEHAVIORS {
        let hosts = vec![plain(0, 1, 2), plain(0, 0, 1), plain(0, 2, 1)];
        let options =
            Options { node_locality: Some(Locality::new("", "z2", "")), ..Options::default() };
        let config = config(behavior, &Policy::Random);
        let cluster = Cluster::open(config, &assignment(hosts), options).unwrap();
        let names: Vec<String> = buckets(&cluster, 0).into_iter().map(|b| b.0).collect();
        assert_eq!(names, ["/z2/", "/z0/", "/z1/"], "{behavior:?}");
    }
}

#[test]
fn locality_weights_stand_in_the_order_of_the_localities() {
    let weighted = |zone: u32, weight| LocalityEndpoints {
        load_balancing_weight: weight,
        ..plain(0, zone, 1)
    };
    let hosts = vec![weighted(0, Some(42)), weighted(1, None), weighted(2, Some(37))];
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &assignment(hosts.clone()));
        let weights: Vec<u32> = buckets(&cluster, 0).into_iter().map(|b| b.1).collect();
        assert_eq!(weights, [42, 0, 37], "{behavior:?}");
        let mut changed = hosts.clone();
        changed[1].load_balancing_weight = Some(5);
        assert!(cluster.assign(&assignment(changed)).unwrap().published);
        assert_eq!(cluster.stats().unwrap().get("update_no_rebuild"), 0);
    }
}

#[test]
fn each_priority_has_its_own_locality_weights() {
    let weighted = |priority, zone: &str, weight, host: &str| LocalityEndpoints {
        load_balancing_weight: Some(weight),
        ..group(priority, zone, vec![Endpoint::new(host)])
    };
    let hosts = assignment(vec![
        weighted(0, "oceania", 25, "a:1"),
        weighted(0, "us-east-1a", 75, "b:1"),
        weighted(1, "us-east-1a", 60, "c:1"),
        weighted(1, "foo", 40, "d:1"),
    ]);
    for behavior in BEHAVIORS {
        let options = Options {
            node_locality: Some(Locality::new("", "us-east-1a", "")),
            ..Options::default()
        };
        let cluster = Cluster::open(config(behavior, &Policy::Random), &hosts, options).unwrap();
        let weights =
            |priority| buckets(&cluster, priority).into_iter().map(|b| b.1).collect::<Vec<_>>();
        assert_eq!((weights(0), weights(1)), (vec![75, 25], vec![60, 40]), "{behavior:?}");
    }
}

#[test]
fn priorities_never_shrink() {
    for behavior in BEHAVIORS {
        let cluster = open(
            config(behavior, &Policy::Random),
            &assignment(vec![plain(0, 0, 2), plain(1, 0, 1)]),
        );
        let sizes = || {
            let view = cluster.view();
            view.priorities().map(|priority| priority.tally.hosts).collect::<Vec<_>>()
        };
        assert_eq!(sizes(), [2, 1]);
        cluster.assign(&assignment(vec![plain(0, 0, 4), plain(1, 0, 1), plain(3, 0, 5)])).unwrap();
        assert_eq!(sizes(), [4, 1, 0, 5]);
        cluster.assign(&assignment(vec![plain(3, 0, 4)])).unwrap();
        assert_eq!(sizes(), [0, 0, 0, 4]);
        // An entry without endpoints names its priority all the same.
        cluster.assign(&assignment(vec![plain(5, 0, 0)])).unwrap();
        assert_eq!(sizes(), [0, 0, 0, 0, 0, 0]);
    }
}

/// Host data tells whether a host is still the same object.
fn mark(cluster: &Cluster, address: &str, mark: u32) {
    cluster.set_host_data(address, Box::new(mark)).unwrap();
}

fn mark_of(cluster: &Cluster, address: &str) -> Option<u32> {
    let view = cluster.view();
    let hosts = view.hosts();
    let host = hosts.iter().find(|host| host.host.address().as_str() == address)?;
    host.host.data()?.downcast_ref().copied()
}

#[test]
fn a_host_that_moves_between_priorities_stays_itself() {
    for behavior in BEHAVIORS {
        let config =
            ClusterConfig { active_health_checks: true, ..config(behavior, &Policy::Random) };
        let two =
            |priority| group(priority, "z", vec![Endpoint::new("a:80"), Endpoint::new("b:80")]);
        let cluster = open(config, &assignment(vec![two(0)]));
        mark(&cluster, "a:80", 7);
        let pass = Update::new().health("a:80", HealthEvent::Pass);
        cluster.apply(&pass.health("b:80", HealthEvent::Pass)).unwrap();
        for priority in [1, 2, 3, 2, 1] {
            cluster.assign(&assignment(vec![two(priority)])).unwrap();
            let view = cluster.view();
            assert!(view.hosts().iter().all(|host| host.host.priority() == priority));
            let healthy =
                |host: &plimsoll::HostView<'_>| host.host.coarse_health() == CoarseHealth::Healthy;
            assert!(view.hosts().iter().all(healthy), "health was lost on the way");
            assert_eq!(mark_of(&cluster, "a:80"), Some(7), "{behavior:?}");
        }
    }
}

#[test]
fn hosts_that_swap_priorities_stay_themselves() {
    let hosts = |first: &str, second: &str| {
        assignment(vec![
            group(0, "z", vec![Endpoint::new(first)]),
            group(1, "z", vec![Endpoint::new(second)]),
        ])
    };
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &hosts("a:80", "a:81"));
        mark(&cluster, "a:80", 80);
        mark(&cluster, "a:81", 81);
        cluster.assign(&hosts("a:81", "a:80")).unwrap();
        assert_eq!(mark_of(&cluster, "a:80"), Some(80), "{behavior:?}");
        assert_eq!(mark_of(&cluster, "a:81"), Some(81), "{behavior:?}");
        assert_eq!(cluster.stats().unwrap().get("plimsoll.hosts_departed"), 0);
    }
}

/// An update that makes Envoy create a new host object for a known address.
#[test]
fn envoy_takes_a_host_for_another_when_its_place_or_its_checks_change() {
    let with = |zone: &str, check: Option<&str>, disabled| {
        let endpoint = Endpoint {
            health_check_address: check.map(Into::into),
            disable_active_health_check: disabled,
            ..Endpoint::new("a:80")
        };
        assignment(vec![group(0, zone, vec![endpoint])])
    };
    let changes = [
        ("locality", with("other", None, false), HealthFlags::NONE),
        ("check address", with("z", Some("a:81"), false), HealthFlags::FAILED_ACTIVE_HC),
        ("unchecked", with("z", None, true), HealthFlags::NONE),
    ];
    for (what, changed, flags) in changes {
        for behavior in BEHAVIORS {
            let config =
                ClusterConfig { active_health_checks: true, ..config(behavior, &Policy::Random) };
            let cluster = open(config, &with("z", None, false));
            mark(&cluster, "a:80", 1);
            cluster.apply(&Update::new().health("a:80", HealthEvent::Pass)).unwrap();
            cluster.assign(&changed).unwrap();
            let native = behavior == Behavior::Native;
            let kept = mark_of(&cluster, "a:80");
            assert_eq!(kept, native.then_some(1), "{what}, {behavior:?}");
            let expected = if native { HealthFlags::NONE } else { flags };
            assert_eq!(cluster.view().hosts()[0].host.health(), expected, "{what}, {behavior:?}");
        }
    }
}

#[test]
fn the_first_of_duplicate_addresses_is_kept_and_the_rest_counted() {
    for behavior in BEHAVIORS {
        let weight =
            |load_balancing_weight| Endpoint { load_balancing_weight, ..Endpoint::new("a:80") };
        let hosts = assignment(vec![
            group(1, "z", vec![weight(3), weight(4)]),
            group(0, "z", vec![weight(5), Endpoint::new("b:80")]),
        ]);
        let cluster = open(config(behavior, &Policy::Random), &hosts);
        let view = cluster.view();
        let kept: Vec<(u32, u32)> =
            view.hosts().iter().map(|host| (host.host.priority(), host.host.weight())).collect();
        assert_eq!(kept, [(0, 1), (1, 3)], "{behavior:?}");
        assert_eq!(cluster.stats().unwrap().get("plimsoll.duplicate_hosts"), 2);
    }
}

#[test]
fn weights_use_the_whole_range_and_their_sums_do_not_overflow() {
    for behavior in BEHAVIORS {
        let heavy = |host: u32| Endpoint {
            load_balancing_weight: u32::MAX,
            ..Endpoint::new(format!("h{host}:1"))
        };
        let hosts = assignment(vec![group(0, "z", (0..100).map(heavy).collect())]);
        let cluster = open(config(behavior, &Policy::Random), &hosts);
        let tally = cluster.view().priorities().next().unwrap().tally;
        assert_eq!(tally.weight, 100 * u64::from(u32::MAX), "{behavior:?}");
        assert_eq!(cluster.stats().unwrap().get("max_host_weight"), u64::from(u32::MAX));
    }
}

#[test]
fn a_refused_update_changes_nothing_and_names_the_field() {
    let bad_weight = Endpoint { load_balancing_weight: 0, ..Endpoint::new("c:80") };
    let bad: Vec<(Update, &str, &str)> = vec![
        (
            Update::new().assign(assignment(vec![plain(0, 0, 1), group(0, "z", vec![bad_weight])])),
            "endpoints[1].lb_endpoints[0].load_balancing_weight",
            "LbEndpointValidationError.LoadBalancingWeight: value must be greater than or equal to 1",
        ),
        (
            Update::new().assign(assignment(vec![plain(129, 0, 1)])),
            "endpoints[0].priority",
            "LocalityLbEndpointsValidationError.Priority: value must be less than or equal to 128",
        ),
        (
            Update::new()
                .assign(Assignment { overprovisioning_factor: 0, ..Assignment::default() }),
            "policy.overprovisioning_factor",
            "PolicyValidationError.OverprovisioningFactor: value must be greater than 0",
        ),
        (
            Update::new().assign(assignment(vec![group(0, "z", vec![Endpoint::new("")])])),
            "endpoints[0].lb_endpoints[0].endpoint.address",
            "value is required",
        ),
        (
            Update::new().upsert(plimsoll::HostChange {
                endpoint: Endpoint { load_balancing_weight: 0, ..Endpoint::new("c:80") },
                priority: 0,
                locality: Locality::default(),
            }),
            "hosts[0].load_balancing_weight",
            "LbEndpointValidationError.LoadBalancingWeight: value must be greater than or equal to 1",
        ),
        (
            Update::new().upsert(plimsoll::HostChange {
                endpoint: Endpoint::new("c:80"),
                priority: 129,
                locality: Locality::default(),
            }),
            "hosts[0].priority",
            "LocalityLbEndpointsValidationError.Priority: value must be less than or equal to 128",
        ),
        (Update::new().remove("nobody:1"), "nobody:1", "the cluster has no host nobody:1"),
        (
            Update::new()
                .health("10.0.0.1:80", HealthEvent::Eject)
                .health("x:1", HealthEvent::Fail),
            "x:1",
            "the cluster has no host x:1",
        ),
        (
            Update::new()
                .reconfigure(ClusterConfig {
                    healthy_panic_threshold: f64::NAN,
                    ..ClusterConfig::new("test")
                })
                .health("10.0.0.1:80", HealthEvent::Eject),
            "common_lb_config.healthy_panic_threshold",
            "Value not in the range of 0..100 range.",
        ),
    ];
    for behavior in BEHAVIORS {
        let cluster = open(config(behavior, &Policy::Random), &assignment(vec![plain(0, 0, 3)]));
        let before = cluster.view().to_string();
        for (update, field, message) in &bad {
            let error = cluster.apply(update).unwrap_err();
            assert_eq!((error.field(), error.to_string().as_str()), (*field, *message));
            assert_eq!((cluster.view().to_string(), cluster.view().version()), (before.clone(), 1));
        }
    }
}

#[test]
fn the_first_update_publishes_nothing_either_if_it_changes_nothing() {
    for behavior in BEHAVIORS {
        let hosts = assignment(vec![plain(0, 0, 2)]);
        let cluster = open(config(behavior, &Policy::Random), &hosts);
        assert!(!cluster.assign(&hosts).unwrap().published, "{behavior:?}");
        assert!(!cluster.set_runtime(&[("unknown.key", Some(1.into()))]).unwrap().published);
        assert_eq!(cluster.view().version(), 1);
    }
}

#[test]
fn a_batch_over_three_priorities_is_one_publish() {
    for behavior in BEHAVIORS {
        let three =
            |hosts| assignment(vec![plain(0, 0, hosts), plain(1, 0, hosts), plain(2, 0, hosts)]);
        let cluster = open(config(behavior, &Policy::Random), &three(2));
        let published = || cluster.stats().unwrap().get("plimsoll.snapshots_published");
        let built = || cluster.stats().unwrap().get("plimsoll.schedulers_built");
        assert_eq!((published(), built()), (1, 3), "{behavior:?}");
        assert!(cluster.assign(&three(3)).unwrap().published);
        assert_eq!((published(), built()), (2, 6), "{behavior:?}");
        for _ in 0..3 {
            assert!(!cluster.assign(&three(3)).unwrap().published);
        }
        assert_eq!((published(), built()), (2, 6), "{behavior:?}: nothing changed");
        assert_eq!(cluster.stats().unwrap().get("update_no_rebuild"), 3);
        // A health change touches its own priority only, and comes back to what was there.
        cluster.apply(&Update::new().health("10.1.0.1:80", HealthEvent::Eject)).unwrap();
        let parts = if behavior == Behavior::Native { 2 } else { 1 };
        assert_eq!((published(), built()), (3, 6 + parts), "{behavior:?}");
    }
}
