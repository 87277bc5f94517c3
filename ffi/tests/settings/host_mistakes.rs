//! Hosts and hash policies that are refused, each with the member that is at fault.

use std::ptr;

use plimsoll_ffi::assignment::{Assignment, Endpoint, LocalityHosts, engine_assignment};
use plimsoll_ffi::hash_policy::{HashPolicy, engine_policies};
use plimsoll_ffi::request_hash::Header;
use plimsoll_ffi::text::Str;

use crate::cases::{keep, str};
use crate::header::Structs;
use crate::mistakes::{ENDLESS, NOT_UTF_8, NOWHERE};

fn assigned(group: LocalityHosts) -> Assignment {
    Assignment {
        localities: keep([LocalityHosts::default(), group]).as_ptr(),
        locality_count: 2,
        ..Default::default()
    }
}

fn located(host: Endpoint) -> Assignment {
    let valid = Endpoint { address: str("a"), ..Default::default() };
    let hosts = keep([valid, host]);
    assigned(LocalityHosts { hosts: hosts.as_ptr(), host_count: 2, ..Default::default() })
}

fn host() -> Endpoint {
    Endpoint { address: str("b"), ..Default::default() }
}

#[test]
fn every_mistake_in_hosts_is_named_by_a_member_that_is_there() {
    let structs = Structs::read();
    // SAFETY: what the assignment points to is kept.
    let refused = |assignment: &Assignment| unsafe { engine_assignment(assignment) }.err();
    assert!(refused(&located(host())).is_none());
    for (member, assignment) in [
        // What the engine refuses.
        ("localities[1].priority", assigned(LocalityHosts { priority: 129, ..Default::default() })),
        ("localities[1].hosts[1].address", located(Endpoint::default())),
        ("localities[1].hosts[1].weight", located(Endpoint { weight: 0, ..host() })),
        (
            "overprovisioning_factor",
            Assignment { overprovisioning_factor: 0, ..Default::default() },
        ),
        // What its types cannot hold.
        ("size", Assignment { size: 1, ..Default::default() }),
        (
            "weighted_priority_health",
            Assignment { weighted_priority_health: 2, ..Default::default() },
        ),
        ("localities", Assignment { locality_count: 1, ..Default::default() }),
        ("localities", Assignment { locality_count: usize::MAX, ..assigned(Default::default()) }),
        ("localities[1].size", assigned(LocalityHosts { size: 8, ..Default::default() })),
        (
            "localities[1].region",
            assigned(LocalityHosts { region: NOT_UTF_8, ..Default::default() }),
        ),
        ("localities[1].zone", assigned(LocalityHosts { zone: NOWHERE, ..Default::default() })),
        (
            "localities[1].sub_zone",
            assigned(LocalityHosts { sub_zone: NOT_UTF_8, ..Default::default() }),
        ),
        ("localities[1].hosts", assigned(LocalityHosts { host_count: 1, ..Default::default() })),
        (
            "localities[1].hosts",
            assigned(LocalityHosts {
                hosts: keep(host()),
                host_count: usize::MAX / 8,
                ..Default::default()
            }),
        ),
        ("localities[1].hosts[1].size", located(Endpoint { size: 4096, ..host() })),
        ("localities[1].hosts[1].address", located(Endpoint { address: NOT_UTF_8, ..host() })),
        ("localities[1].hosts[1].hostname", located(Endpoint { hostname: NOT_UTF_8, ..host() })),
        ("localities[1].hosts[1].hash_key", located(Endpoint { hash_key: NOT_UTF_8, ..host() })),
        (
            "localities[1].hosts[1].health_check_address",
            located(Endpoint { health_check_address: NOWHERE, ..host() }),
        ),
        ("localities[1].hosts[1].health_status", located(Endpoint { health_status: 6, ..host() })),
        (
            "localities[1].hosts[1].disable_active_health_check",
            located(Endpoint { disable_active_health_check: 2, ..host() }),
        ),
        ("localities[1].hosts[1]", located(Endpoint { reserved: 1, ..host() })),
    ] {
        let failure = refused(&assignment).unwrap_or_else(|| panic!("{member} is accepted"));
        assert_eq!(failure.field(), format!("assignment.{member}"));
        assert!(structs.has("plimsoll_assignment", member), "{member}");
    }
}

fn cookie() -> HashPolicy {
    HashPolicy { kind: 2, name: str("a"), ..HashPolicy::default() }
}

fn with_attribute(name: Str, value: Str) -> HashPolicy {
    HashPolicy { attributes: keep(Header { name, value }), attribute_count: 1, ..cookie() }
}

#[test]
fn every_mistake_in_hash_policies_is_named_by_a_member_that_is_there() {
    let structs = Structs::read();
    let of = |kind, name| HashPolicy { kind, name, ..HashPolicy::default() };
    let long = str(&"a".repeat(16_385));
    for (member, policy) in [
        // What the engine refuses.
        ("name", of(1, str(""))),
        ("name", of(2, str(""))),
        ("name", of(2, str("a;"))),
        ("name", of(4, str(""))),
        ("name", of(5, str(""))),
        ("ttl_ns", HashPolicy { has_ttl: 1, ttl_ns: ENDLESS, ..cookie() }),
        ("path", HashPolicy { path: str("/;"), ..cookie() }),
        ("attributes[0].name", with_attribute(str(""), str(""))),
        ("attributes[0].name", with_attribute(str("a\n"), str(""))),
        ("attributes[0].name", with_attribute(long, str(""))),
        ("attributes[0].value", with_attribute(str("a"), str(";"))),
        ("attributes[0].value", with_attribute(str("a"), long)),
        // What its types cannot hold.
        ("size", HashPolicy { size: 4097, ..cookie() }),
        ("kind", of(0, str("a"))),
        ("kind", of(6, str("a"))),
        ("terminal", HashPolicy { terminal: 2, ..cookie() }),
        ("name", of(1, NOT_UTF_8)),
        ("name", of(4, NOWHERE)),
        ("path", HashPolicy { path: NOT_UTF_8, ..cookie() }),
        ("has_ttl", HashPolicy { has_ttl: 2, ..cookie() }),
        ("ttl_ns", HashPolicy { ttl_ns: 1, ..cookie() }),
        ("attributes", HashPolicy { attribute_count: 1, ..cookie() }),
        (
            "attributes",
            HashPolicy { attribute_count: usize::MAX, ..with_attribute(str("a"), str("")) },
        ),
        ("attributes[0].name", with_attribute(NOT_UTF_8, str(""))),
        ("attributes[0].value", with_attribute(str("a"), NOT_UTF_8)),
    ] {
        // SAFETY: what the policy points to is kept.
        let failure = unsafe { engine_policies(&raw const policy, 1) }.err();
        let failure = failure.unwrap_or_else(|| panic!("{member} is accepted"));
        assert_eq!(failure.field(), format!("policies[0].{member}"));
        assert!(structs.has("plimsoll_hash_policy", member), "{member}");
    }
    let reserved = HashPolicy { reserved: 1, ..cookie() };
    // SAFETY: as above.
    let failure = unsafe { engine_policies(&raw const reserved, 1) }.expect_err("a later member");
    assert_eq!(failure.field(), "policies[0]");
    // SAFETY: NULL is handled.
    let failure = unsafe { engine_policies(ptr::null(), 1) }.expect_err("NULL");
    assert_eq!(failure.field(), "policies");
    // SAFETY: the count is refused before anything is read but the first size.
    let failure = unsafe { engine_policies(&raw const reserved, usize::MAX) }.expect_err("a count");
    assert_eq!(failure.field(), "policies");
}
