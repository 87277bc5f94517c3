//! Ring hash and Maglev, from their own messages and from the older fields of `Cluster`, and what
//! requests are hashed from.

use std::time::Duration;

use plimsoll::config::{
    ClusterConfig, ConfigError, ConsistentHashing, HashFunction, HashPolicy, HashPolicyKind,
    LocalityRouting, Maglev, Policy, RingHash,
};
use plimsoll_envoy_config::{assignment_from_value, cluster_from_value, hash_policies};
use serde_json::{Value, json};

const TYPED_CONFIG: &str = "load_balancing_policy.policies[0].typed_extension_config.typed_config";
const RING_HASH: &str = "ring_hash.v3.RingHash";
const MAGLEV: &str = "maglev.v3.Maglev";

fn typed(policy: &str, mut config: Value) -> Result<ClusterConfig, ConfigError> {
    config["@type"] = json!(format!("t/envoy.extensions.load_balancing_policies.{policy}"));
    let entry = json!({"typed_extension_config": {"name": "any", "typed_config": config}});
    let cluster = json!({"name": "api", "load_balancing_policy": {"policies": [entry]}});
    cluster_from_value(&cluster).map(|file| file.config)
}

fn older(lb_policy: &str, mut fields: Value) -> Result<ClusterConfig, ConfigError> {
    fields["name"] = json!("api");
    fields["lb_policy"] = json!(lb_policy);
    cluster_from_value(&fields).map(|file| file.config)
}

fn ring_hash(policy: RingHash) -> ClusterConfig {
    ClusterConfig { policy: Policy::RingHash(policy), ..ClusterConfig::new("api") }
}

fn maglev(policy: Maglev) -> ClusterConfig {
    ClusterConfig { policy: Policy::Maglev(policy), ..ClusterConfig::new("api") }
}

/// Settings of hashing without policies.
fn hashing(by_name: bool, factor: Option<u32>) -> ConsistentHashing {
    ConsistentHashing {
        use_hostname_for_hashing: by_name,
        hash_balance_factor: factor,
        hash_policy: Vec::new(),
    }
}

fn check_typed(policy: &str, config: &Value, field: &str, message: &str) {
    let error = typed(policy, config.clone()).expect_err(message);
    assert_eq!(error.field(), format!("{TYPED_CONFIG}.{field}"), "{config}");
    assert_eq!(error.to_string(), message, "{config}");
}

fn check_older(lb_policy: &str, fields: &Value, field: &str, message: &str) {
    let error = older(lb_policy, fields.clone()).expect_err(message);
    assert_eq!((error.field(), error.to_string().as_str()), (field, message), "{fields}");
}

#[test]
fn nothing_said_is_envoys_defaults() {
    for config in [
        typed(RING_HASH, json!({})),
        typed(RING_HASH, json!({"minimum_ring_size": null, "hash_function": "DEFAULT_HASH"})),
        typed(RING_HASH, json!({"minimum_ring_size": "1024"})),
        typed(RING_HASH, json!({"consistent_hashing_lb_config": {}})),
        older("RING_HASH", json!({})),
        older("RING_HASH", json!({"ring_hash_lb_config": {}})),
        older("RING_HASH", json!({"common_lb_config": {"consistent_hashing_lb_config": {}}})),
    ] {
        assert_eq!(config, Ok(ring_hash(RingHash::default())));
    }
    for config in [
        typed(MAGLEV, json!({})),
        typed(MAGLEV, json!({"table_size": 65537, "consistent_hashing_lb_config": {}})),
        older("MAGLEV", json!({})),
        older("MAGLEV", json!({"maglev_lb_config": {"tableSize": "65537"}})),
    ] {
        assert_eq!(config, Ok(maglev(Maglev::default())));
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.h#TypedRingHashLbConfig
#[test]
fn both_places_give_the_same() {
    let common = json!({
        "locality_weighted_lb_config": {},
        "consistent_hashing_lb_config":
            {"use_hostname_for_hashing": true, "hash_balance_factor": 233}
    });
    let expected = ClusterConfig {
        locality_routing: LocalityRouting::Weighted,
        ..ring_hash(RingHash {
            hash_function: HashFunction::MurmurHash2,
            minimum_ring_size: 12,
            maximum_ring_size: Some(24),
            consistent_hashing: hashing(true, Some(233)),
        })
    };
    let mut own = common.clone();
    own["minimum_ring_size"] = json!(12);
    own["maximum_ring_size"] = json!(24);
    own["hash_function"] = json!("MURMUR_HASH_2");
    assert_eq!(typed(RING_HASH, own), Ok(expected.clone()));
    for function in [json!("MURMUR_HASH_2"), json!(1)] {
        let sizes =
            json!({"minimum_ring_size": 12, "maximum_ring_size": 24, "hash_function": function});
        let fields = json!({"common_lb_config": common, "ring_hash_lb_config": sizes});
        assert_eq!(older("RING_HASH", fields), Ok(expected.clone()));
    }

    let expected = ClusterConfig {
        locality_routing: LocalityRouting::Weighted,
        ..maglev(Maglev { table_size: 7, consistent_hashing: hashing(true, Some(233)) })
    };
    let mut own = common.clone();
    own["table_size"] = json!(7);
    assert_eq!(typed(MAGLEV, own), Ok(expected.clone()));
    let fields = json!({"common_lb_config": common, "maglev_lb_config": {"table_size": 7}});
    assert_eq!(older("MAGLEV", fields), Ok(expected));
}

//= envoy v1.40 api/envoy/config/cluster/v3/cluster.proto#RingHashLbConfig
#[test]
fn functions_have_other_numbers_in_the_older_place() {
    let function = |config: Result<ClusterConfig, ConfigError>| match config.expect("valid").policy
    {
        Policy::RingHash(policy) => policy.hash_function,
        other => panic!("{other:?}"),
    };
    use HashFunction::{MurmurHash2, XxHash};
    for (value, own, before) in [
        (json!(0), Some(XxHash), Some(XxHash)),
        (json!(1), Some(XxHash), Some(MurmurHash2)),
        (json!(2), Some(MurmurHash2), None),
        (json!(7), None, None),
        (json!("XX_HASH"), Some(XxHash), Some(XxHash)),
        (json!("MURMUR_HASH_2"), Some(MurmurHash2), Some(MurmurHash2)),
        (json!("DEFAULT_HASH"), Some(XxHash), None),
    ] {
        let config = json!({"hash_function": value});
        match own {
            Some(own) => assert_eq!(function(typed(RING_HASH, config.clone())), own, "{value}"),
            None => check_typed(
                RING_HASH,
                &config,
                "hash_function",
                "expected DEFAULT_HASH, XX_HASH or MURMUR_HASH_2",
            ),
        }
        let fields = json!({"ring_hash_lb_config": config});
        match before {
            Some(before) => assert_eq!(function(older("RING_HASH", fields)), before, "{value}"),
            None => check_older(
                "RING_HASH",
                &fields,
                "ring_hash_lb_config.hash_function",
                "expected XX_HASH or MURMUR_HASH_2",
            ),
        }
    }
}

#[test]
fn deprecated_fields_count_only_without_the_message_that_took_their_place() {
    let deprecated = json!({"use_hostname_for_hashing": true, "hash_balance_factor": 150});
    let with = |message: Value| {
        let mut config = deprecated.clone();
        config["consistent_hashing_lb_config"] = message;
        typed(RING_HASH, config)
    };
    let expected =
        |consistent_hashing| Ok(ring_hash(RingHash { consistent_hashing, ..RingHash::default() }));
    assert_eq!(with(Value::Null), expected(hashing(true, Some(150))));
    assert_eq!(with(json!({})), expected(hashing(false, None)));
    assert_eq!(with(json!({"hash_balance_factor": 100})), expected(hashing(false, Some(100))));

    let text = "RingHashValidationError.HashBalanceFactor: value must be greater than or equal to \
                100";
    check_typed(RING_HASH, &json!({"hash_balance_factor": 99}), "hash_balance_factor", text);
    let unused = json!({"hash_balance_factor": 0, "consistent_hashing_lb_config": {}});
    assert_eq!(typed(RING_HASH, unused), expected(hashing(false, None)));
    check_typed(
        MAGLEV,
        &json!({"hash_balance_factor": 150}),
        "hash_balance_factor",
        "no such field: hash_balance_factor",
    );
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#RingHashLoadBalancer::RingHashLoadBalancer
#[test]
fn rings_outside_their_range_are_refused_with_envoys_texts() {
    let inside = "RingHashValidationError.MinimumRingSize: value must be inside range [1, 8388608]";
    let at_most = "RingHashValidationError.MaximumRingSize: value must be less than or equal to \
                   8388608";
    let older_minimum = "RingHashLbConfigValidationError.MinimumRingSize: value must be less than \
                         or equal to 8388608";
    let older_maximum = "RingHashLbConfigValidationError.MaximumRingSize: value must be less than \
                         or equal to 8388608";
    for (config, field, own, before) in [
        (json!({"minimum_ring_size": 0}), "minimum_ring_size", inside, inside),
        (json!({"minimum_ring_size": 8_388_609}), "minimum_ring_size", inside, older_minimum),
        (json!({"minimum_ring_size": u64::MAX}), "minimum_ring_size", inside, older_minimum),
        (json!({"maximum_ring_size": 8_388_609}), "maximum_ring_size", at_most, older_maximum),
        (json!({"maximum_ring_size": "20000000000"}), "maximum_ring_size", at_most, older_maximum),
        (
            json!({"minimum_ring_size": 20, "maximum_ring_size": 10}),
            "minimum_ring_size",
            "ring hash: minimum_ring_size (20) > maximum_ring_size (10)",
            "ring hash: minimum_ring_size (20) > maximum_ring_size (10)",
        ),
        (
            json!({"maximum_ring_size": 10}),
            "minimum_ring_size",
            "ring hash: minimum_ring_size (1024) > maximum_ring_size (10)",
            "ring hash: minimum_ring_size (1024) > maximum_ring_size (10)",
        ),
    ] {
        check_typed(RING_HASH, &config, field, own);
        let field = format!("ring_hash_lb_config.{field}");
        check_older("RING_HASH", &json!({"ring_hash_lb_config": config}), &field, before);
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevLoadBalancer::MaglevLoadBalancer
#[test]
fn tables_whose_size_is_no_prime_or_too_large_are_refused() {
    let prime = "The table size of maglev must be prime number";
    let own = "MaglevValidationError.TableSize: value must be less than or equal to 5000011";
    let before = "MaglevLbConfigValidationError.TableSize: value must be less than or equal to \
                  5000011";
    for (size, own, before) in [
        (0, prime, prime),
        (1, prime, prime),
        (8, prime, prime),
        (5_000_012, prime, before),
        (10_000_019, own, before),
        (u64::MAX, own, before),
    ] {
        let config = json!({"table_size": size});
        check_typed(MAGLEV, &config, "table_size", own);
        let fields = json!({"maglev_lb_config": config});
        check_older("MAGLEV", &fields, "maglev_lb_config.table_size", before);
    }
    for size in [2, 3, 5_000_011] {
        let expected = Ok(maglev(Maglev { table_size: size, ..Maglev::default() }));
        assert_eq!(typed(MAGLEV, json!({"table_size": size})), expected);
        assert_eq!(older("MAGLEV", json!({"maglev_lb_config": {"table_size": size}})), expected);
    }
}

#[test]
fn a_bound_below_the_fair_share_is_refused() {
    let text = "ConsistentHashingLbConfigValidationError.HashBalanceFactor: value must be greater \
                than or equal to 100";
    for factor in [0, 1, 50, 99] {
        let config = json!({"consistent_hashing_lb_config": {"hash_balance_factor": factor}});
        let field = "consistent_hashing_lb_config.hash_balance_factor";
        check_typed(RING_HASH, &config, field, text);
        check_typed(MAGLEV, &config, field, text);
        let fields = json!({"common_lb_config": config});
        let field = format!("common_lb_config.{field}");
        for policy in ["RING_HASH", "MAGLEV", "RANDOM"] {
            check_older(policy, &fields, &field, text);
        }
    }
}

#[test]
fn older_settings_count_only_for_their_policy() {
    let common = json!({"consistent_hashing_lb_config": {"hash_balance_factor": 150}});
    let config = older("RANDOM", json!({"common_lb_config": common})).expect("valid");
    assert_eq!(config.policy, Policy::Random);
    for (settings, own, other) in [
        ("ring_hash_lb_config", "RING_HASH", "MAGLEV"),
        ("maglev_lb_config", "MAGLEV", "RING_HASH"),
    ] {
        assert_eq!(older(own, json!({settings: "nonsense"})).expect_err(own).field(), settings);
        for policy in [other, "RANDOM"] {
            assert_eq!(older(policy, json!({settings: "nonsense"})), older(policy, json!({})));
        }
    }
}

#[test]
fn hash_policies_do_not_route_by_zone() {
    let zones = json!({"common_lb_config": {"zone_aware_lb_config": {}}});
    for (policy, text) in [
        ("RING_HASH", "ring_hash does not route by zone"),
        ("MAGLEV", "maglev does not route by zone"),
    ] {
        check_older(policy, &zones, "common_lb_config.zone_aware_lb_config", text);
    }
    for policy in [RING_HASH, MAGLEV] {
        let text = "no such field: locality_lb_config";
        check_typed(policy, &json!({"locality_lb_config": {}}), "locality_lb_config", text);
    }
}

/// Reads policies from a route, and checks that those of a policy are read in the same way.
fn read(policies: Value) -> Result<Vec<HashPolicy>, ConfigError> {
    let route = hash_policies(&policies);
    let config = json!({"consistent_hashing_lb_config": {"hash_policy": policies}});
    match (&route, typed(MAGLEV, config)) {
        (Ok(route), Ok(config)) => {
            let own = config.policy.consistent_hashing().map(|hashing| &hashing.hash_policy);
            assert_eq!(own, Some(route));
        }
        (Err(route), Err(own)) => {
            let path = format!("{TYPED_CONFIG}.consistent_hashing_lb_config.{}", route.field());
            assert_eq!((own.field(), own.problem()), (path.as_str(), route.problem()));
        }
        both => panic!("{both:?}"),
    }
    route
}

#[test]
fn every_field_of_a_hash_policy_is_read() {
    let policies = json!([
        {"header": {"header_name": "X-User"}, "terminal": true},
        {"cookie": {"name": "session", "ttl": "60.5s", "path": "/app", "attributes": [
            {"name": "SameSite", "value": "Lax"}, {"name": "Secure"}
        ]}},
        {"cookie": {"name": "Plain"}},
        {"connectionProperties": {"sourceIp": true}},
        {"query_parameter": {"name": "User"}},
        {"filter_state": {"key": "My.Key"}, "header": null},
    ]);
    let cookie = |name: &str, ttl, path: &str, attributes: &[(&str, &str)]| {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        let attributes = attributes.iter().map(owned).collect();
        HashPolicyKind::Cookie { name: name.to_owned(), ttl, path: path.to_owned(), attributes }
    };
    let expected = [
        HashPolicyKind::Header { header_name: "x-user".to_owned() },
        cookie(
            "session",
            Some(Duration::from_millis(60_500)),
            "/app",
            &[("SameSite", "Lax"), ("Secure", "")],
        ),
        cookie("Plain", None, "", &[]),
        HashPolicyKind::SourceIp,
        HashPolicyKind::QueryParameter { name: "User".to_owned() },
        HashPolicyKind::FilterState { key: "My.Key".to_owned() },
    ];
    let expected = expected.into_iter().enumerate();
    let expected = expected.map(|(index, kind)| HashPolicy { kind, terminal: index == 0 });
    assert_eq!(read(policies), Ok(expected.collect()));
    assert_eq!(read(json!([])), Ok(Vec::new()));
}

//= envoy v1.40 source/common/http/hash_policy.cc#HashPolicyImpl::HashPolicyImpl
#[test]
fn properties_of_connections_that_are_not_asked_for_are_no_policy() {
    for nothing in [json!({}), json!({"source_ip": false})] {
        let policies = json!([
            {"connection_properties": nothing, "terminal": true},
            {"header": {"header_name": "a"}}
        ]);
        let header = HashPolicyKind::Header { header_name: "a".to_owned() };
        assert_eq!(read(policies), Ok(vec![header.into()]));
    }
}

#[test]
fn wrong_hash_policies_are_refused() {
    let empty = |rule: &str| format!("{rule}: value length must be at least 1 characters");
    for (policy, field, message) in [
        (json!({}), "", "hash policy not set".to_owned()),
        (json!({"terminal": true}), "", "hash policy not set".to_owned()),
        (json!({"header": null}), "", "hash policy not set".to_owned()),
        (
            json!({"header": {"header_name": "a"}, "cookie": {"name": "b"}}),
            ".cookie",
            "cookie cannot be set together with header".to_owned(),
        ),
        (
            json!({"header": {"header_name": "a", "regex_rewrite": {"pattern": {}}}}),
            ".header.regex_rewrite",
            "regex_rewrite is not supported".to_owned(),
        ),
        (json!({"header": {}}), ".header.header_name", empty("HeaderValidationError.HeaderName")),
        (json!({"cookie": {"name": ""}}), ".cookie.name", empty("CookieValidationError.Name")),
        (
            json!({"cookie": {"name": "a", "attributes": [{"name": "b"}, {"value": "c"}]}}),
            ".cookie.attributes[1].name",
            empty("CookieAttributeValidationError.Name"),
        ),
        (
            json!({"query_parameter": {}}),
            ".query_parameter.name",
            empty("QueryParameterValidationError.Name"),
        ),
        (json!({"filter_state": {}}), ".filter_state.key", empty("FilterStateValidationError.Key")),
        (
            json!({"cookie": {"name": "a", "ttl": "-1s"}}),
            ".cookie.ttl",
            "Invalid duration: Expected positive duration: seconds: -1".to_owned(),
        ),
        (
            json!({"cookie": {"name": "a", "ttl": "9223372036s"}}),
            ".cookie.ttl",
            "Invalid duration: Duration out-of-range: seconds: 9223372036".to_owned(),
        ),
        (
            json!({"cookie": {"name": "a", "path": "/;x"}}),
            ".cookie.path",
            "a part of a cookie has no `;` and no control characters".to_owned(),
        ),
        (
            json!({"connection_properties": {"source_ip": 1}}),
            ".connection_properties.source_ip",
            "expected true or false".to_owned(),
        ),
        (json!({"headers": {}}), "", "hash policy not set".to_owned()),
        (json!({"header": {"header_name": "a"}, "x": 1}), ".x", "no such field: x".to_owned()),
        (
            json!({"cookie": {"name": "a", "domain": "b"}}),
            ".cookie.domain",
            "no such field: domain".to_owned(),
        ),
    ] {
        let error = read(json!([{"header": {"header_name": "a"}}, policy])).expect_err(&message);
        assert_eq!(error.field(), format!("hash_policy[1]{field}"), "{message}");
        assert_eq!(error.to_string(), message);
    }
    let error = hash_policies(&json!({"header": {}})).expect_err("no list");
    assert_eq!((error.field(), error.to_string().as_str()), ("hash_policy", "expected a list"));
}

/// The key of a host with this metadata.
fn key(metadata: &Value) -> Result<String, ConfigError> {
    let host = json!({
        "endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 90}}},
        "metadata": metadata
    });
    let assignment = json!({"cluster_name": "api", "endpoints": [{"lb_endpoints": [host]}]});
    assignment_from_value(&assignment)
        .map(|assignment| assignment.endpoints[0].endpoints[0].hash_key.clone())
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#ThreadAwareLoadBalancerBase::hashKey
#[test]
fn a_host_may_have_a_key_of_its_own_in_its_metadata() {
    let own = |fields: Value| json!({"filter_metadata": {"envoy.lb": fields, "other": "x"}});
    for (metadata, expected) in [
        (own(json!({"hash_key": "hash_key"})), "hash_key"),
        (json!({"filterMetadata": {"envoy.lb": {"hash_key": "a"}}}), "a"),
        (own(json!({"hash_key": "a", "stage": ["prod"]})), "a"),
        (own(json!({"hash_key": ""})), ""),
        (own(json!({"hash_key": 1337})), ""),
        (own(json!({"hash_key": ["a"]})), ""),
        (own(json!({"hash_key": null})), ""),
        (own(json!({"hashKey": "a"})), ""),
        (own(json!({})), ""),
        (json!({"filter_metadata": {"envoy_lb": {"hash_key": "a"}}}), ""),
        (json!({"filter_metadata": {}}), ""),
        (json!({"typed_filter_metadata": {"envoy.lb": {"hash_key": "a"}}}), ""),
        (json!({}), ""),
        (Value::Null, ""),
    ] {
        assert_eq!(key(&metadata).as_deref(), Ok(expected), "{metadata}");
    }
    for (metadata, field, message) in [
        (json!([]), "", "expected an object"),
        (json!({"filter_metadata": []}), ".filter_metadata", "expected an object"),
        (own(json!("a")), ".filter_metadata.envoy.lb", "expected an object"),
        (json!({"metadata": {}}), ".metadata", "no such field: metadata"),
    ] {
        let error = key(&metadata).expect_err(message);
        assert_eq!(error.field(), format!("endpoints[0].lb_endpoints[0].metadata{field}"));
        assert_eq!(error.to_string(), message);
    }
}
