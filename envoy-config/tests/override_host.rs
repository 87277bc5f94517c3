//! The policy `override_host` and `override_host_status`: what is read, and Envoy's texts for what
//! is refused.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/override_host/load_balancer.cc#OverrideHostLbConfig::make
//! //= envoy v1.40 source/common/upstream/host_utility.cc#HostUtility::createOverrideHostStatus

use plimsoll::EdsHealth;
use plimsoll::config::{
    ClusterConfig, ConfigError, HostStatuses, LocalityRouting, MetadataKey, OverrideHost,
    OverrideSource, Policy,
};
use plimsoll_envoy_config::cluster_from_value;
use serde_json::{Value, json};

const TYPED_CONFIG: &str = "load_balancing_policy.policies[0].typed_extension_config.typed_config";
const INSIDE: &str = "fallback_policy.policies[0].typed_extension_config.typed_config";

fn entry(name: &str, policy: &str, mut config: Value) -> Value {
    config["@type"] =
        json!(format!("type.googleapis.com/envoy.extensions.load_balancing_policies.{policy}"));
    json!({"typed_extension_config": {"name": name, "typed_config": config}})
}

fn random() -> Value {
    entry("any", "random.v3.Random", json!({}))
}

/// A policy that Envoy does not know.
fn unknown(name: &str) -> Value {
    json!({"typed_extension_config": {"name": name, "typed_config": {"@type": "a/b.C", "x": 1}}})
}

/// Reads an `OverrideHost` with these fields.
fn read(config: Value) -> Result<ClusterConfig, ConfigError> {
    let policies = json!([entry("any", "override_host.v3.OverrideHost", config)]);
    let cluster = json!({"name": "api", "load_balancing_policy": {"policies": policies}});
    cluster_from_value(&cluster).map(|file| file.config)
}

/// The same with a header and these policies to fall back to.
fn falling_back(policies: &[Value]) -> Result<ClusterConfig, ConfigError> {
    let sources = json!([{"header": "x-destination"}]);
    read(json!({"override_host_sources": sources, "fallback_policy": {"policies": policies}}))
}

fn check_refused(config: Value, field: &str, message: &str) {
    let text = config.to_string();
    let error = read(config).expect_err(&text);
    let separator = if field.is_empty() { "" } else { "." };
    assert_eq!(error.field(), format!("{TYPED_CONFIG}{separator}{field}"), "{text}");
    assert_eq!(error.to_string(), message, "{text}");
}

fn key(key: &str, path: &[&str]) -> MetadataKey {
    MetadataKey { key: key.to_owned(), path: path.iter().map(|&it| it.to_owned()).collect() }
}

#[test]
fn sources_and_key_are_read_and_the_policy_is_the_one_inside() {
    let expected = OverrideHost {
        sources: vec![
            OverrideSource::Header("x-gateway-destination-endpoint".to_owned()),
            OverrideSource::Metadata(key("envoy.lb", &["picker", "hosts"])),
        ],
        selected_host_key: Some(key("envoy.lb", &["served"])),
    };
    let snake_case = json!({
        "override_host_sources": [
            {"header": "x-gateway-destination-endpoint"},
            {"metadata": {"key": "envoy.lb", "path": [{"key": "picker"}, {"key": "hosts"}]}}
        ],
        "selected_host_key": {"key": "envoy.lb", "path": [{"key": "served"}]},
        "fallback_policy": {"policies": [random()]}
    });
    let camel_case = json!({
        "overrideHostSources": [
            {"header": "x-gateway-destination-endpoint", "metadata": null},
            {"header": "", "metadata": {
                "key": "envoy.lb", "path": [{"key": "picker"}, {"key": "hosts"}]
            }}
        ],
        "selectedHostKey": {"key": "envoy.lb", "path": [{"key": "served"}]},
        "fallbackPolicy": {"policies": [unknown("first"), random()]}
    });
    for config in [snake_case, camel_case] {
        let config = read(config).expect("valid");
        assert_eq!(config.policy, Policy::Random);
        assert_eq!(config.override_host.as_ref(), Some(&expected));
        assert_eq!(config.override_host_status, HostStatuses::default());
    }
}

#[test]
fn any_policy_that_is_there_can_be_fallen_back_to() {
    let round_robin = |settings| entry("any", "round_robin.v3.RoundRobin", settings);
    let panics = json!({"locality_lb_config": {
        "zone_aware_lb_config": {"fail_traffic_on_panic": true}
    }});
    let config = falling_back(&[round_robin(panics)]).expect("valid");
    assert!(config.override_host.is_some() && config.fail_traffic_on_panic);
    let inside = json!({"endpoint_picking_policy": {"policies": [round_robin(json!({}))]}});
    let load_aware = entry("any", "load_aware_locality.v3.LoadAwareLocality", inside);
    let config = falling_back(&[load_aware]).expect("valid");
    assert_eq!(config.policy, Policy::ROUND_ROBIN);
    assert!(matches!(config.locality_routing, LocalityRouting::LoadAware(_)));
    assert!(config.override_host.is_some());
    let weighted = "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin";
    let inside = json!({"endpoint_picking_policy": {
        "policies": [entry("any", weighted, json!({}))]
    }});
    let config = falling_back(&[entry("any", "wrr_locality.v3.WrrLocality", inside)]);
    assert_eq!(config.expect("valid").locality_routing, LocalityRouting::Weighted);
}

#[test]
fn mistakes_get_envoys_texts() {
    let nothing = "OverrideHostValidationError.OverrideHostSources: value must contain at least 1 \
                   item(s)";
    let fallback = json!({"policies": [random()]});
    let header = json!([{"header": "a"}]);
    let metadata = json!({"key": "k", "path": [{"key": "p"}]});
    for (config, field, message) in [
        (json!({"fallback_policy": fallback}), "override_host_sources", nothing),
        (
            json!({"override_host_sources": [], "fallback_policy": fallback}),
            "override_host_sources",
            nothing,
        ),
        (json!({"override_host_sources": header}), "fallback_policy", "value is required"),
        // The rules of the message come before what is wrong with a source.
        (json!({"override_host_sources": [{}]}), "fallback_policy", "value is required"),
        (
            json!({"override_host_sources": [{"header": "a"}, {}], "fallback_policy": fallback}),
            "override_host_sources[1]",
            "Empty override source",
        ),
        (
            json!({"override_host_sources": [{"header": "a", "metadata": metadata}],
                   "fallback_policy": fallback}),
            "override_host_sources[0]",
            "Only one override source must be set",
        ),
        // And sources before the policy inside.
        (
            json!({"override_host_sources": [{}], "fallback_policy": {}}),
            "override_host_sources[0]",
            "Empty override source",
        ),
        (
            json!({"override_host_sources": header, "fallback_policy": {}}),
            "fallback_policy",
            "dynamic forwarding LB: didn't find a registered fallback load balancer factory with \
             names from ",
        ),
        (
            json!({"override_host_sources": header,
                   "fallback_policy": {"policies": [unknown("one"), unknown("two")]}}),
            "fallback_policy",
            "dynamic forwarding LB: didn't find a registered fallback load balancer factory with \
             names from one, two",
        ),
        (
            json!({"override_host_sources": [{"metadata": {"path": [{"key": "p"}]}}]}),
            "override_host_sources[0].metadata.key",
            "MetadataKeyValidationError.Key: value length must be at least 1 characters",
        ),
        (
            json!({"override_host_sources": [{"metadata": {"key": "k"}}]}),
            "override_host_sources[0].metadata.path",
            "MetadataKeyValidationError.Path: value must contain at least 1 item(s)",
        ),
        (
            json!({"override_host_sources": [{"metadata": {"key": "k", "path": [{}]}}]}),
            "override_host_sources[0].metadata.path[0]",
            "value is required",
        ),
        (
            json!({"override_host_sources": header,
                   "selected_host_key": {"key": "k", "path": [{"key": ""}]}}),
            "selected_host_key.path[0].key",
            "MetadataKey_PathSegmentValidationError.Key: value length must be at least 1 characters",
        ),
        (
            json!({"override_host_sources": [{"header": "a\nb"}]}),
            "override_host_sources[0].header",
            "value does not match regex pattern \"^[^\\u0000\\n\\r]*$\"",
        ),
        (
            json!({"override_host_sources": [{"headers": "a"}]}),
            "override_host_sources[0].headers",
            "no such field: headers",
        ),
        (json!({"override_host_sources": {}}), "override_host_sources", "expected a list"),
    ] {
        check_refused(config, field, message);
    }
}

#[test]
fn mistakes_of_the_policy_inside_have_the_whole_path() {
    let config = |inside: Value| json!({"override_host_sources": [{"header": "a"}], "fallback_policy": {"policies": [inside]}});
    for (inside, below, message) in [
        (
            entry("any", "least_request.v3.LeastRequest", json!({"choice_count": 1})),
            ".choice_count",
            "LeastRequestValidationError.ChoiceCount: value must be greater than or equal to 2",
        ),
        (
            entry("any", "override_host.v3.OverrideHost", json!({})),
            "",
            "the policy override_host in override_host is not supported",
        ),
        (entry("any", "subset.v3.Subset", json!({})), "", "the policy subset is not supported"),
    ] {
        check_refused(config(inside), &format!("{INSIDE}{below}"), message);
    }
}

#[test]
fn statuses_are_a_set_and_an_empty_one_is_not_the_default() {
    let statuses = |common: Value| {
        let cluster = json!({"name": "api", "common_lb_config": common});
        cluster_from_value(&cluster).expect("valid").config.override_host_status
    };
    assert_eq!(statuses(json!({})), HostStatuses::default());
    assert_eq!(statuses(json!({"override_host_status": null})), HostStatuses::default());
    assert_eq!(statuses(json!({"override_host_status": {}})), HostStatuses::NONE);
    let listed = |listed: Value| statuses(json!({"override_host_status": {"statuses": listed}}));
    assert_eq!(listed(json!([])), HostStatuses::NONE);
    let all = ["UNKNOWN", "HEALTHY", "UNHEALTHY", "DRAINING", "TIMEOUT", "DEGRADED"];
    assert_eq!(listed(json!(all)), HostStatuses::ALL);
    let each = [
        EdsHealth::Unknown,
        EdsHealth::Healthy,
        EdsHealth::Unhealthy,
        EdsHealth::Draining,
        EdsHealth::Timeout,
        EdsHealth::Degraded,
    ];
    for (number, (name, status)) in all.iter().zip(each).enumerate() {
        assert_eq!(listed(json!([name, number])), HostStatuses::from_iter([status]));
    }
    // The policy comes with them, and clusters without it are as before.
    let cluster = json!({"name": "api", "lb_policy": "RANDOM"});
    assert_eq!(cluster_from_value(&cluster).expect("valid").config.override_host, None);
}
