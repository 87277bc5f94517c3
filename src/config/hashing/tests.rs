//! Every range of the hash policies, and what is said of a value outside.

use std::time::Duration;

use super::*;
use crate::config::{Behavior, ClusterConfig, LoadAware, LocalityRouting, Policy, ZoneAware};

/// The field and the text of what is wrong with a policy, the same in both behaviors.
fn refused(policy: impl Into<Policy>) -> (String, String) {
    let policy = policy.into();
    let error = policy.validate().expect_err("outside of a range");
    for behavior in [Behavior::Native, Behavior::Envoy] {
        let policy = policy.clone();
        let whole = ClusterConfig { behavior, policy, ..ClusterConfig::new("c") }.validate();
        let whole = whole.expect_err("outside of a range");
        assert_eq!(whole.to_string(), error.to_string());
        assert!(whole.field().ends_with(error.field()), "{}", whole.field());
    }
    (error.field().to_owned(), error.to_string())
}

impl From<RingHash> for Policy {
    fn from(policy: RingHash) -> Self {
        Self::RingHash(policy)
    }
}

impl From<Maglev> for Policy {
    fn from(policy: Maglev) -> Self {
        Self::Maglev(policy)
    }
}

fn ring(minimum_ring_size: u32, maximum_ring_size: u32) -> RingHash {
    let maximum_ring_size = Some(maximum_ring_size);
    RingHash { minimum_ring_size, maximum_ring_size, ..RingHash::default() }
}

fn maglev(table_size: u32) -> Maglev {
    Maglev { table_size, ..Maglev::default() }
}

fn hashing(consistent_hashing: ConsistentHashing) -> Maglev {
    Maglev { consistent_hashing, ..Maglev::default() }
}

fn pair(field: &str, text: &str) -> (String, String) {
    (field.to_owned(), text.to_owned())
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#RingHashLoadBalancer::RingHashLoadBalancer
#[test]
fn a_ring_has_a_size_from_1_to_8388608() {
    let inside = "RingHashValidationError.MinimumRingSize: value must be inside range [1, 8388608]";
    for (minimum, maximum) in [(1, 1), (1024, MAX_RING_SIZE), (MAX_RING_SIZE, MAX_RING_SIZE)] {
        assert_eq!(Policy::from(ring(minimum, maximum)).validate(), Ok(()));
    }
    for (minimum, maximum) in [(0, 0), (0, 10), (MAX_RING_SIZE + 1, u32::MAX)] {
        assert_eq!(refused(ring(minimum, maximum)), pair("minimum_ring_size", inside));
    }
    assert_eq!(
        refused(ring(1, MAX_RING_SIZE + 1)),
        pair(
            "maximum_ring_size",
            "RingHashValidationError.MaximumRingSize: value must be less than or equal to 8388608"
        )
    );
    for (minimum, maximum) in [(20, 10), (4, 2), (1024, 10), (1, 0)] {
        let text =
            format!("ring hash: minimum_ring_size ({minimum}) > maximum_ring_size ({maximum})");
        assert_eq!(refused(ring(minimum, maximum)), pair("minimum_ring_size", &text));
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevLoadBalancer::MaglevLoadBalancer
#[test]
fn a_table_has_a_prime_size_up_to_5000011() {
    for size in [2, 3, 5, 7, 17, 65_537, 655_373, MAX_TABLE_SIZE] {
        assert_eq!(Policy::from(maglev(size)).validate(), Ok(()), "{size}");
    }
    for size in [0, 1, 4, 8, 9, 25, 65_536, 2047 * 2047, 5_000_012, u32::MAX] {
        let text = "The table size of maglev must be prime number";
        assert_eq!(refused(maglev(size)), pair("table_size", text), "{size}");
    }
    for size in [5_000_077, 4_294_967_291] {
        let text = "MaglevValidationError.TableSize: value must be less than or equal to 5000011";
        assert_eq!(refused(maglev(size)), pair("table_size", text), "{size}");
    }
}

#[test]
fn primes_are_those_that_a_sieve_leaves() {
    let mut is_composite = vec![false; 10_000];
    for number in 0..10_000_u32 {
        let expected = number > 1 && !is_composite[number as usize];
        assert_eq!(is_prime(number), expected, "{number}");
        if expected {
            (number..10_000)
                .step_by(number as usize)
                .for_each(|it| is_composite[it as usize] = true);
        }
    }
}

#[test]
fn a_bound_on_requests_is_at_least_the_fair_share() {
    let with = |factor| ConsistentHashing {
        hash_balance_factor: Some(factor),
        ..ConsistentHashing::default()
    };
    for factor in [100, 150, u32::MAX] {
        assert_eq!(Policy::from(hashing(with(factor))).validate(), Ok(()));
    }
    let field = "consistent_hashing_lb_config.hash_balance_factor";
    let text = "ConsistentHashingLbConfigValidationError.HashBalanceFactor: value must be greater \
                than or equal to 100";
    for factor in [0, 1, 50, 99] {
        assert_eq!(refused(hashing(with(factor))), pair(field, text));
        let ring = RingHash { consistent_hashing: with(factor), ..RingHash::default() };
        assert_eq!(refused(ring), pair(field, text));
    }
}

fn cookie(
    name: &str,
    ttl: Option<Duration>,
    path: &str,
    attribute: (&str, &str),
) -> HashPolicyKind {
    HashPolicyKind::Cookie {
        name: name.to_owned(),
        ttl,
        path: path.to_owned(),
        attributes: vec![(attribute.0.to_owned(), attribute.1.to_owned())],
    }
}

#[test]
fn names_are_not_empty_and_parts_of_cookies_do_not_end_them() {
    let empty = "value length must be at least 1 characters";
    let ends = "a part of a cookie has no `;` and no control characters";
    let long = "x".repeat(16_385);
    let text = String::new;
    for (kind, field, text) in [
        (
            HashPolicyKind::Header { header_name: text() },
            "header.header_name",
            format!("HeaderValidationError.HeaderName: {empty}"),
        ),
        (
            cookie("", None, "", ("a", "")),
            "cookie.name",
            format!("CookieValidationError.Name: {empty}"),
        ),
        (
            HashPolicyKind::QueryParameter { name: text() },
            "query_parameter.name",
            format!("QueryParameterValidationError.Name: {empty}"),
        ),
        (
            HashPolicyKind::FilterState { key: text() },
            "filter_state.key",
            format!("FilterStateValidationError.Key: {empty}"),
        ),
        (
            cookie("a", None, "", ("", "b")),
            "cookie.attributes[0].name",
            format!("CookieAttributeValidationError.Name: {empty}"),
        ),
        (
            cookie("a", None, "", ("b", &long)),
            "cookie.attributes[0].value",
            "CookieAttributeValidationError.Value: value length must be at most 16384 bytes"
                .to_owned(),
        ),
        (
            cookie("a", None, "", (&long, "")),
            "cookie.attributes[0].name",
            "CookieAttributeValidationError.Name: value length must be at most 16384 bytes"
                .to_owned(),
        ),
        (cookie("a;b", None, "", ("a", "")), "cookie.name", ends.to_owned()),
        (cookie("a", None, "/; Secure", ("a", "")), "cookie.path", ends.to_owned()),
        (cookie("a", None, "/\r\nx: y", ("a", "")), "cookie.path", ends.to_owned()),
        (cookie("a", None, "", ("a", "b\n")), "cookie.attributes[0].value", ends.to_owned()),
        (cookie("a", None, "", ("a;", "b")), "cookie.attributes[0].name", ends.to_owned()),
        (
            cookie("a", Some(Duration::MAX), "", ("a", "")),
            "cookie.ttl",
            "a period is less than 2^63 nanoseconds".to_owned(),
        ),
    ] {
        let policies = vec![HashPolicyKind::SourceIp.into(), kind.into()];
        let own = ConsistentHashing { hash_policy: policies, ..ConsistentHashing::default() };
        let field = format!("consistent_hashing_lb_config.hash_policy[1].{field}");
        assert_eq!(refused(hashing(own)), (field, text));
    }
    let good = cookie("a", Some(Duration::from_secs(9_223_372_036)), "/x", ("Secure", ""));
    assert_eq!(HashPolicy::from(good).validate(), Ok(()));
}

#[test]
fn hash_policies_do_not_route_by_zone() {
    let with = |policy: Policy, locality_routing| {
        ClusterConfig { policy, locality_routing, ..ClusterConfig::new("c") }.validate()
    };
    for policy in [Policy::RingHash(RingHash::default()), Policy::Maglev(Maglev::default())] {
        let zones = || LocalityRouting::ZoneAware(ZoneAware::default());
        let error = with(policy.clone(), zones()).expect_err("no zones");
        assert_eq!(error.field(), "zone_aware_lb_config");
        assert_eq!(error.to_string(), format!("{} does not route by zone", policy.name()));
        assert_eq!(with(Policy::Random, zones()), Ok(()));
        for routing in [
            LocalityRouting::Unset,
            LocalityRouting::Weighted,
            LocalityRouting::LoadAware(LoadAware::default()),
        ] {
            assert_eq!(with(policy.clone(), routing), Ok(()));
        }
    }
}
