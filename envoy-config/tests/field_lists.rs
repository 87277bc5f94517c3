//! The published lists of fields, against Envoy's own and against what the reader does.

use std::collections::BTreeSet;

use plimsoll::config::{ConfigError, Problem};
use plimsoll_envoy_config::fields::*;
use plimsoll_envoy_config::{assignment_from_value, cluster_from_value};
use serde_json::{Value, json};

/// Every field of `envoy.config.cluster.v3.Cluster` in Envoy 1.40.
const CLUSTER: &[&str] = &[
    "transport_socket_matches",
    "transport_socket_matcher",
    "name",
    "alt_stat_name",
    "stats_matcher",
    "type",
    "cluster_type",
    "eds_cluster_config",
    "connect_timeout",
    "per_connection_buffer_limit_bytes",
    "per_connection_buffer_high_watermark_timeout",
    "lb_policy",
    "load_assignment",
    "health_checks",
    "max_requests_per_connection",
    "circuit_breakers",
    "upstream_http_protocol_options",
    "common_http_protocol_options",
    "http_protocol_options",
    "http2_protocol_options",
    "typed_extension_protocol_options",
    "dns_refresh_rate",
    "dns_jitter",
    "dns_failure_refresh_rate",
    "respect_dns_ttl",
    "dns_lookup_family",
    "dns_resolvers",
    "use_tcp_for_dns_lookups",
    "dns_resolution_config",
    "typed_dns_resolver_config",
    "wait_for_warm_on_init",
    "outlier_detection",
    "cleanup_interval",
    "upstream_bind_config",
    "lb_subset_config",
    "ring_hash_lb_config",
    "maglev_lb_config",
    "original_dst_lb_config",
    "least_request_lb_config",
    "round_robin_lb_config",
    "common_lb_config",
    "transport_socket",
    "metadata",
    "protocol_selection",
    "upstream_connection_options",
    "close_connections_on_host_health_failure",
    "ignore_health_on_host_removal",
    "filters",
    "load_balancing_policy",
    "lrs_server",
    "lrs_report_endpoint_metrics",
    "track_timeout_budgets",
    "upstream_config",
    "track_cluster_stats",
    "preconnect_policy",
    "connection_pool_per_downstream_connection",
    "queuing_policies",
];

/// Something that no field takes as its value.
fn nonsense() -> Value {
    json!([{"no such": ["value"]}])
}

fn is_unknown(result: Result<impl Sized, ConfigError>) -> bool {
    result.is_err_and(|error| matches!(error.problem(), Problem::UnknownField { .. }))
}

/// An assignment with `field` set to nonsense in the message that `path` leads to.
fn assignment_with(path: &str, field: &str) -> Value {
    let mut assignment = json!({
        "cluster_name": "api",
        "endpoints": [{"lb_endpoints": [{"endpoint": {
            "address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}},
            "health_check_config": {}
        }, "metadata": {}}]}]
    });
    let message = assignment.pointer_mut(path).expect("a message of the assignment");
    message[field] = nonsense();
    assignment
}

const HOST: &str = "/endpoints/0/lb_endpoints/0";

#[test]
fn every_field_of_a_cluster_stands_in_exactly_one_list() {
    let lists = [READ_CLUSTER_FIELDS, IGNORED_CLUSTER_FIELDS, REFUSED_CLUSTER_FIELDS];
    let listed: Vec<&str> = lists.into_iter().flatten().map(|field| field.name).collect();
    let unique: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(unique.len(), listed.len(), "a field stands twice");
    assert_eq!(unique, CLUSTER.iter().copied().collect());
}

#[test]
fn every_entry_says_why_it_is_there() {
    for field in [READ_CLUSTER_FIELDS, IGNORED_CLUSTER_FIELDS, REFUSED_CLUSTER_FIELDS].concat() {
        assert!(!field.why.is_empty(), "{}", field.name);
    }
}

#[test]
fn ignored_fields_take_any_value_and_change_nothing() {
    let plain = cluster_from_value(&json!({"name": "api"}));
    for field in IGNORED_CLUSTER_FIELDS {
        let value = json!({"name": "api", field.name: nonsense()});
        assert_eq!(cluster_from_value(&value), plain, "{}", field.name);
    }
    for field in IGNORED_COMMON_LB_FIELDS {
        let value = json!({"name": "api", "common_lb_config": {field.name: nonsense()}});
        assert_eq!(cluster_from_value(&value), plain, "{}", field.name);
    }
}

#[test]
fn ignored_fields_of_an_assignment_change_nothing_either() {
    let plain = assignment_from_value(&assignment_with("/endpoints/0", "metadata"));
    assert!(plain.is_ok());
    for (path, fields) in [
        ("/endpoints/0", IGNORED_LOCALITY_FIELDS),
        ("/endpoints/0/lb_endpoints/0/metadata", IGNORED_METADATA_FIELDS),
        ("/endpoints/0/lb_endpoints/0/endpoint", IGNORED_ENDPOINT_FIELDS),
        ("/endpoints/0/lb_endpoints/0/endpoint/health_check_config", IGNORED_HEALTH_CHECK_FIELDS),
        (
            "/endpoints/0/lb_endpoints/0/endpoint/address/socket_address",
            IGNORED_SOCKET_ADDRESS_FIELDS,
        ),
    ] {
        for field in fields {
            let value = assignment_with(path, field.name);
            assert_eq!(assignment_from_value(&value), plain, "{}", field.name);
        }
    }
}

#[test]
fn refused_fields_are_unsupported_and_named() {
    for field in REFUSED_CLUSTER_FIELDS {
        let value = json!({"name": "api", field.name: {"a": 1}});
        let error = cluster_from_value(&value).expect_err(field.name);
        assert_eq!(error.field(), field.name);
        assert!(matches!(error.problem(), Problem::Unsupported { .. }), "{}", field.name);
    }
    for (path, fields) in [
        ("", REFUSED_ASSIGNMENT_FIELDS),
        (HOST, REFUSED_LB_ENDPOINT_FIELDS),
        (
            "/endpoints/0/lb_endpoints/0/endpoint/address/socket_address",
            REFUSED_SOCKET_ADDRESS_FIELDS,
        ),
    ] {
        for field in fields {
            let error =
                assignment_from_value(&assignment_with(path, field.name)).expect_err(field.name);
            assert!(error.field().ends_with(field.name), "{error}");
            assert!(matches!(error.problem(), Problem::Unsupported { .. }), "{}", field.name);
        }
    }
    for field in REFUSED_LOCALITY_FIELDS {
        let value = json!({"cluster_name": "api", "endpoints": [{field.name: {"a": 1}}]});
        let error = assignment_from_value(&value).expect_err(field.name);
        assert_eq!(error.field(), format!("endpoints[0].{}", field.name));
        assert!(matches!(error.problem(), Problem::Unsupported { .. }), "{}", field.name);
    }
}

#[test]
fn a_collection_of_hosts_elsewhere_is_refused_even_without_settings() {
    let value = json!({"cluster_name": "api", "endpoints": [{"leds_cluster_locality_config": {}}]});
    let error = assignment_from_value(&value).expect_err("elsewhere");
    assert_eq!(error.field(), "endpoints[0].leds_cluster_locality_config");
}

#[test]
fn one_category_of_overload_is_refused() {
    let value = json!({
        "cluster_name": "api",
        "policy": {"drop_overloads": [{"category": "a", "drop_percentage": {"numerator": 1}}]}
    });
    let error = assignment_from_value(&value).expect_err("drops traffic");
    assert_eq!(error.field(), "policy.drop_overloads");
    assert!(matches!(error.problem(), Problem::Unsupported { .. }));
}

#[test]
fn discovery_that_chooses_hosts_itself_is_refused() {
    let original = json!({"name": "api", "type": "ORIGINAL_DST"});
    let aggregate = json!({"name": "api", "cluster_type": {"name": "envoy.clusters.aggregate"}});
    for (value, field) in [(original, "type"), (aggregate, "cluster_type")] {
        let error = cluster_from_value(&value).expect_err(field);
        assert_eq!(error.field(), field);
        assert!(matches!(error.problem(), Problem::Unsupported { .. }), "{field}");
    }
}

#[test]
fn every_older_setting_of_a_policy_is_read() {
    let slow_start = ["slow_start_window", "aggression", "min_weight_percent"];
    for (policy, older, fields) in [
        ("ROUND_ROBIN", "round_robin_lb_config", &["slow_start_config"][..]),
        (
            "LEAST_REQUEST",
            "least_request_lb_config",
            &["choice_count", "active_request_bias", "slow_start_config"],
        ),
        (
            "RING_HASH",
            "ring_hash_lb_config",
            &["minimum_ring_size", "hash_function", "maximum_ring_size"],
        ),
        ("MAGLEV", "maglev_lb_config", &["table_size"]),
    ] {
        let error_of = |settings: Value| {
            let cluster = json!({"name": "api", "lb_policy": policy, older: settings});
            cluster_from_value(&cluster).expect_err("nonsense").field().to_owned()
        };
        for field in fields {
            assert_eq!(error_of(json!({*field: nonsense()})), format!("{older}.{field}"));
        }
        for field in slow_start.iter().filter(|_| fields.contains(&"slow_start_config")) {
            let settings = json!({"slow_start_config": {*field: nonsense()}});
            assert_eq!(error_of(settings), format!("{older}.slow_start_config.{field}"));
        }
    }
}

#[test]
fn every_field_that_is_read_is_known() {
    for field in READ_CLUSTER_FIELDS {
        let value = json!({"name": "api", field.name: nonsense()});
        assert!(!is_unknown(cluster_from_value(&value)), "{}", field.name);
    }
    assert!(is_unknown(cluster_from_value(&json!({"name": "api", "hosts": nonsense()}))));
}
