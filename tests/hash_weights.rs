//! Sums of weights that hash policies have no room for are refused, and nothing is changed then.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#TypedHashLbConfigBase::validateEndpoints

use std::slice::from_ref as one;

use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, Endpoint, LocalityEndpoints, Maglev, Policy, RingHash,
};
use plimsoll::{Cluster, Error, HostChange, Locality, Options, Update};

const HOSTS: &str = "The sum of weights of all upstream hosts in a locality exceeds 4294967295";
const LOCALITIES: &str =
    "The sum of weights of all localities at the same priority exceeds 4294967295";
const HALF: u32 = 1 << 31;

fn host(address: &str, load_balancing_weight: u32) -> Endpoint {
    Endpoint { load_balancing_weight, ..Endpoint::new(address) }
}

fn group(
    zone: &str,
    priority: u32,
    load_balancing_weight: Option<u32>,
    endpoints: &[Endpoint],
) -> LocalityEndpoints {
    let endpoints = endpoints.to_vec();
    let locality = Locality::new("", zone, "");
    LocalityEndpoints { locality, priority, load_balancing_weight, endpoints }
}

fn assignment(endpoints: &[LocalityEndpoints]) -> Assignment {
    Assignment { endpoints: endpoints.to_vec(), ..Assignment::default() }
}

fn config(policy: Policy, behavior: Behavior) -> ClusterConfig {
    ClusterConfig { policy, behavior, ..ClusterConfig::new("c") }
}

/// Every combination of a hash policy and a behavior.
fn hashing() -> Vec<ClusterConfig> {
    let policies = [Policy::RingHash(RingHash::default()), Policy::Maglev(Maglev::default())];
    let configs = policies.into_iter().flat_map(|policy| {
        [Behavior::Native, Behavior::Envoy].map(|behavior| config(policy.clone(), behavior))
    });
    configs.collect()
}

fn check_refused<T: std::fmt::Debug>(result: Result<T, Error>, text: &str) {
    let error = result.expect_err(text);
    assert_eq!((error.field(), error.to_string().as_str()), ("endpoints", text));
}

/// Assignments with what is wrong with them, if anything is.
fn assignments() -> Vec<(Assignment, Option<&'static str>)> {
    let (a, b) = (host("a:1", HALF), host("b:1", HALF));
    let just = host("b:1", HALF - 1);
    vec![
        (assignment(&[group("x", 0, None, &[a.clone(), just.clone()])]), None),
        (assignment(&[group("x", 0, None, &[a.clone(), b.clone()])]), Some(HOSTS)),
        // It is by priority, and not by locality.
        (assignment(&[group("x", 0, None, one(&a)), group("y", 0, None, one(&b))]), Some(HOSTS)),
        (assignment(&[group("x", 0, None, one(&a)), group("y", 1, None, one(&b))]), None),
        (assignment(&[group("x", 3, None, &[a.clone(), b.clone()])]), Some(HOSTS)),
        // The same host twice is one host.
        (assignment(&[group("x", 0, None, &[a.clone(), a.clone()])]), None),
        (
            assignment(&[
                group("x", 0, Some(HALF), &[host("a:1", 1)]),
                group("y", 0, Some(HALF), &[host("b:1", 1)]),
            ]),
            Some(LOCALITIES),
        ),
        // A locality without hosts has its weight as well.
        (
            assignment(&[group("x", 0, Some(HALF), one(&a)), group("y", 0, Some(HALF), &[])]),
            Some(LOCALITIES),
        ),
        (
            assignment(&[
                group("x", 0, Some(HALF), &[host("a:1", 1)]),
                group("y", 0, Some(HALF - 1), &[host("b:1", 1)]),
                group("x", 1, Some(HALF), &[host("c:1", 1)]),
            ]),
            None,
        ),
        (
            assignment(&[
                group("x", 0, Some(HALF), &[host("a:1", 1)]),
                group("x", 0, Some(HALF), &[host("b:1", 1)]),
            ]),
            None,
        ),
    ]
}

#[test]
fn an_assignment_whose_weights_have_too_large_a_sum_is_refused() {
    for config in hashing() {
        let empty = Assignment::default();
        let cluster = Cluster::open(config.clone(), &empty, Options::default()).expect("valid");
        for (hosts, refused) in assignments() {
            let opened = Cluster::open(config.clone(), &hosts, Options::default());
            let version = cluster.view().version();
            let assigned = cluster.assign(&hosts);
            match refused {
                Some(text) => {
                    check_refused(opened, text);
                    check_refused(assigned, text);
                    assert_eq!(cluster.view().version(), version);
                }
                None => assert!(opened.is_ok() && assigned.is_ok(), "{hosts:?}"),
            }
        }
    }
}

#[test]
fn other_policies_have_room_for_them() {
    for behavior in [Behavior::Native, Behavior::Envoy] {
        for (hosts, _) in assignments() {
            let config = config(Policy::Random, behavior);
            assert!(Cluster::open(config, &hosts, Options::default()).is_ok());
        }
    }
}

#[test]
fn a_change_to_a_hash_policy_looks_at_the_hosts_that_are_there() {
    for hashing in hashing() {
        for (hosts, refused) in assignments() {
            let before = config(Policy::Random, hashing.behavior);
            let cluster = Cluster::open(before, &hosts, Options::default()).expect("valid");
            let changed = cluster.reconfigure(hashing.clone());
            match refused {
                Some(text) => {
                    check_refused(changed, text);
                    assert_eq!(cluster.view().config().policy, Policy::Random);
                    // Together with hosts that fit it is fine.
                    let fitting = assignment(&[group("x", 0, None, &[host("a:1", 1)])]);
                    let both = Update::new().reconfigure(hashing.clone()).assign(fitting);
                    assert!(cluster.apply(&both).is_ok());
                }
                None => assert!(changed.is_ok(), "{hosts:?}"),
            }
        }
    }
}

#[test]
fn single_hosts_count_as_they_will_be() {
    let upsert = |address: &str, weight, priority| HostChange {
        endpoint: host(address, weight),
        priority,
        locality: Locality::new("", "x", ""),
    };
    let both = assignment(&[group("x", 0, None, &[host("a:1", HALF), host("b:1", HALF - 1)])]);
    for config in hashing() {
        let cluster = || Cluster::open(config.clone(), &both, Options::default()).expect("valid");
        for (update, refused) in [
            (Update::new().upsert(upsert("c:1", 1, 0)), true),
            (Update::new().upsert(upsert("c:1", HALF, 1)), false),
            (Update::new().upsert(upsert("b:1", HALF, 0)), true),
            (Update::new().upsert(upsert("b:1", HALF, 1)), false),
            (Update::new().upsert(upsert("a:1", HALF - 1, 0)).upsert(upsert("c:1", 1, 0)), false),
            (Update::new().remove("a:1").upsert(upsert("c:1", HALF, 0)), false),
            (Update::new().remove("a:1").upsert(upsert("c:1", HALF + 1, 0)), true),
            (Update::new().remove("a:1").upsert(upsert("a:1", HALF + 1, 0)), true),
            (Update::new().assign(both.clone()).upsert(upsert("c:1", 1, 0)), true),
            (Update::new().assign(both.clone()).remove("b:1").upsert(upsert("c:1", 1, 0)), false),
            (Update::new().upsert(upsert("c:1", HALF, 1)).upsert(upsert("d:1", HALF, 1)), true),
            (Update::new().upsert(upsert("c:1", HALF, 1)).upsert(upsert("c:1", HALF, 2)), false),
        ] {
            let applied = cluster().apply(&update);
            match refused {
                true => check_refused(applied, HOSTS),
                false => assert!(applied.is_ok(), "{update:?}"),
            }
        }
    }
}
