//! Which policy is chosen, from the list and from the older field.
//!
//! //= envoy v1.40 source/common/upstream/upstream_impl.cc#ClusterInfoImpl::configureLbPolicies

use plimsoll::config::{ClusterConfig, ConfigError, Maglev, Policy, RingHash};
use plimsoll_envoy_config::{cluster_from_value, parse_cluster};
use serde_json::{Value, json};

const TYPES: &str = "type.googleapis.com/envoy.extensions.load_balancing_policies.";

fn entry(name: &str, config: Value) -> Value {
    json!({"typed_extension_config": {"name": name, "typed_config": config}})
}

fn typed(policy: &str) -> Value {
    json!({"@type": format!("{TYPES}{policy}")})
}

fn typed_with(policy: &str, field: &str, value: Value) -> Value {
    let mut config = typed(policy);
    config[field] = value;
    config
}

fn choose(policies: Vec<Value>) -> Result<ClusterConfig, ConfigError> {
    let value = json!({
        "name": "api", "lb_policy": "MAGLEV", "load_balancing_policy": {"policies": policies}
    });
    cluster_from_value(&value).map(|file| file.config)
}

#[test]
fn the_list_wins_over_the_older_field() {
    let config = choose(vec![entry("any", typed("random.v3.Random"))]).expect("valid");
    assert_eq!(config.policy, Policy::Random);
    let config = choose(vec![entry("any", typed("round_robin.v3.RoundRobin"))]).expect("valid");
    assert_eq!(config.policy, Policy::ROUND_ROBIN);
    let config = choose(vec![entry("any", typed("least_request.v3.LeastRequest"))]).expect("valid");
    assert_eq!(config.policy, Policy::LEAST_REQUEST);
}

//= envoy v1.40 source/common/upstream/upstream_impl.cc#ClusterInfoImpl::configureLbPolicies
#[test]
fn the_first_policy_that_envoy_knows_is_taken_by_its_type_and_not_by_its_name() {
    let config = choose(vec![
        entry("envoy.load_balancing_policies.round_robin", json!({"@type": "a/b.Unknown", "x": 1})),
        entry("mine", typed("pick_first.v3.PickFirst")),
        entry("envoy.load_balancing_policies.round_robin", typed("random.v3.Random")),
        entry("envoy.load_balancing_policies.maglev", typed("maglev.v3.Maglev")),
    ]);
    assert_eq!(config.expect("valid").policy, Policy::Random);
}

#[test]
fn a_policy_that_envoy_would_take_is_never_skipped() {
    for (policy, name) in [
        ("cluster_provided.v3.ClusterProvided", "cluster_provided"),
        ("dynamic_modules.v3.DynamicModulesLoadBalancerConfig", "dynamic_modules"),
        ("subset.v3.Subset", "subset"),
    ] {
        let error = choose(vec![
            entry("other", json!({"@type": "a/b.Unknown"})),
            entry("any", typed(policy)),
            entry("fallback", typed("random.v3.Random")),
        ])
        .expect_err(policy);
        let path = "load_balancing_policy.policies[1].typed_extension_config.typed_config";
        assert_eq!(error.field(), path);
        assert_eq!(error.to_string(), format!("the policy {name} is not supported"));
    }
}

#[test]
fn a_list_without_a_known_policy_gets_envoys_text() {
    let error = choose(vec![
        entry("first", json!({"@type": "a/b.Unknown"})),
        entry("second", typed("peak_ewma.v3alpha.PeakEwma")),
    ])
    .expect_err("unknown policies");
    assert_eq!(error.field(), "load_balancing_policy");
    assert_eq!(
        error.to_string(),
        "cluster: didn't find a registered load balancer factory implementation for cluster: \
         'api' with names from [first, second]"
    );
}

#[test]
fn a_typed_struct_stands_for_the_type_in_it() {
    for carrier in ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"] {
        let config = json!({
            "@type": format!("type.googleapis.com/{carrier}"),
            "type_url": format!("{TYPES}random.v3.Random"),
            "value": {"locality_lb_config": {
                "zone_aware_lb_config": {"fail_traffic_on_panic": true}
            }}
        });
        let config = choose(vec![entry("any", config)]).expect(carrier);
        assert_eq!(config.policy, Policy::Random);
        assert!(config.fail_traffic_on_panic);

        let config = json!({
            "@type": format!("type.googleapis.com/{carrier}"),
            "typeUrl": format!("{TYPES}random.v3.Random"),
            "value": {"@type": "x"}
        });
        let error = choose(vec![entry("any", config)]).expect_err(carrier);
        let path =
            "load_balancing_policy.policies[0].typed_extension_config.typed_config.value.@type";
        assert_eq!(error.field(), path);
    }
}

#[test]
fn mistakes_in_a_policys_settings_are_refused() {
    for (policy, field, value, path, message) in [
        (
            "random.v3.Random",
            "slow_start_config",
            json!({}),
            "slow_start_config",
            "no such field: slow_start_config",
        ),
        ("random.v3.Random", "hash_policy", json!([]), "hash_policy", "no such field: hash_policy"),
    ] {
        let config = typed_with(policy, field, value);
        let error = choose(vec![entry("any", config)]).expect_err(message);
        let place = "load_balancing_policy.policies[0].typed_extension_config.typed_config";
        assert_eq!(error.field(), format!("{place}.{path}"));
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn the_older_field_chooses_among_the_policies_of_the_engine() {
    for (text, policy) in [
        ("ROUND_ROBIN", Policy::ROUND_ROBIN),
        ("0", Policy::ROUND_ROBIN),
        ("LEAST_REQUEST", Policy::LEAST_REQUEST),
        ("1", Policy::LEAST_REQUEST),
        ("RANDOM", Policy::Random),
        ("3", Policy::Random),
        ("RING_HASH", Policy::RingHash(RingHash::default())),
        ("2", Policy::RingHash(RingHash::default())),
        ("MAGLEV", Policy::Maglev(Maglev::default())),
        ("5", Policy::Maglev(Maglev::default())),
    ] {
        let file = parse_cluster(&format!("name: api\nlb_policy: {text}")).expect(text);
        assert_eq!(file.config.policy, policy, "{text}");
    }
    let error = parse_cluster("name: api\nlb_policy: CLUSTER_PROVIDED").expect_err("not there");
    assert_eq!((error.code(), error.field()), ("unsupported", "lb_policy"));
    assert_eq!(error.to_string(), "lb_policy: the policy CLUSTER_PROVIDED is not supported");
}

#[test]
fn older_settings_of_a_policy_count_only_for_that_policy() {
    for (settings, lb_policy, others) in [
        ("round_robin_lb_config", "ROUND_ROBIN", ["LEAST_REQUEST", "RANDOM"]),
        ("least_request_lb_config", "LEAST_REQUEST", ["ROUND_ROBIN", "RANDOM"]),
    ] {
        let with = |lb_policy: &str, value: Value| {
            let cluster = json!({"name": "api", "lb_policy": lb_policy, settings: value});
            cluster_from_value(&cluster).map(|file| file.config)
        };
        let slow_start = json!({"slow_start_config": {"slow_start_window": "1s"}});
        let config = with(lb_policy, slow_start.clone()).expect(lb_policy);
        assert!(config.policy.slow_start().is_some(), "{lb_policy}");
        let error = with(lb_policy, json!("nonsense")).expect_err(lb_policy);
        assert_eq!(error.field(), settings);
        for other in others {
            for value in [slow_start.clone(), json!("nonsense")] {
                assert_eq!(with(other, value), with(other, Value::Null), "{other}");
            }
        }
    }
}

#[test]
fn older_settings_count_for_nothing_beside_a_list() {
    for (settings, policy) in [
        ("round_robin_lb_config", "round_robin.v3.RoundRobin"),
        ("least_request_lb_config", "least_request.v3.LeastRequest"),
    ] {
        let policies = json!([entry("any", typed(policy))]);
        for value in [json!({"slow_start_config": {"slow_start_window": "1s"}}), json!("nonsense")]
        {
            let cluster = json!({
                "name": "api", settings: value, "load_balancing_policy": {"policies": policies}
            });
            let config = cluster_from_value(&cluster).expect(policy).config;
            assert_eq!(config.policy.slow_start(), None, "{policy}");
        }
    }
}

#[test]
fn a_list_does_not_tolerate_older_settings_of_localities() {
    for older in
        ["zone_aware_lb_config", "locality_weighted_lb_config", "consistent_hashing_lb_config"]
    {
        let value = json!({
            "name": "api",
            "common_lb_config": {older: {}},
            "load_balancing_policy": {"policies": [entry("any", typed("random.v3.Random"))]}
        });
        let error = cluster_from_value(&value).expect_err(older);
        assert_eq!(error.field(), "common_lb_config");
        assert_eq!(
            error.to_string(),
            "cluster: load_balancing_policy cannot be combined with partial fields \
             (zone_aware_lb_config, locality_weighted_lb_config, consistent_hashing_lb_config) of \
             common_lb_config"
        );
    }
}
