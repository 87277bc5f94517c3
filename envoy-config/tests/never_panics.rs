//! Whatever comes in, a result or an error comes out.

use plimsoll_envoy_config::{
    assignment_from_value, cluster_from_value, parse_assignment, parse_cluster,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

/// A cluster for each policy with settings in its own message, and two with older settings.
fn valid_clusters() -> [Value; 6] {
    let slow_start = json!({
        "slow_start_window": "10s", "min_weight_percent": {"value": 10},
        "aggression": {"default_value": 1.0, "runtime_key": "k"}
    });
    let older = json!({
        "choice_count": 3, "active_request_bias": {"default_value": 1.5, "runtime_key": "k"},
        "slow_start_config": slow_start
    });
    let mut least_request = older.clone();
    least_request["selection_method"] = json!("FULL_SCAN");
    least_request["enable_full_scan"] = json!(true);
    let round_robin = json!({
        "slow_start_config": slow_start,
        "locality_lb_config": {"zone_aware_lb_config": {
            "routing_enabled": {"value": 100}, "min_cluster_size": 6,
            "fail_traffic_on_panic": true, "force_local_zone": {"min_size": 1},
            "force_locality_direct_routing": true, "locality_basis": "HEALTHY_HOSTS_NUM"
        }}
    });
    let weighted = json!({"locality_lb_config": {"locality_weighted_lb_config": {}}});
    let mut older_weighted = cluster_with("least_request_lb_config", older.clone());
    older_weighted["common_lb_config"]["locality_weighted_lb_config"] = json!({});
    let reports = json!({
        "enable_oob_load_report": true, "oob_reporting_period": "1s",
        "oob_reporting_config": {"port_value": 9001, "authority": "a"},
        "metric_names_for_computing_utilization": ["named_metrics.a"], "weight_update_period": "1s"
    });
    let mut wrr_locality = json!({});
    wrr_locality["endpoint_picking_policy"] =
        listed("client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin", reports.clone());
    let mut load_aware = reports;
    load_aware["endpoint_picking_policy"] = listed("random.v3.Random", weighted);
    load_aware["utilization_variance_threshold"] = json!(0.1);
    load_aware["smoothing_time_constant"] = json!("5s");
    load_aware["remote_probe_fraction"] = json!(0.03);
    load_aware["weight_expiration_period"] = json!("180s");
    [
        cluster_with("load_balancing_policy", listed("round_robin.v3.RoundRobin", round_robin)),
        cluster_with(
            "load_balancing_policy",
            listed("least_request.v3.LeastRequest", least_request),
        ),
        cluster_with("least_request_lb_config", older),
        older_weighted,
        cluster_with("load_balancing_policy", listed("wrr_locality.v3.WrrLocality", wrr_locality)),
        cluster_with(
            "load_balancing_policy",
            listed("load_aware_locality.v3.LoadAwareLocality", load_aware),
        ),
    ]
}

fn listed(policy: &str, mut config: Value) -> Value {
    let types = "type.googleapis.com/envoy.extensions.load_balancing_policies";
    config["@type"] = json!(format!("{types}.{policy}"));
    json!({"policies": [{"typed_extension_config": {"name": "any", "typed_config": config}}]})
}

fn cluster_with(field: &str, value: Value) -> Value {
    json!({
        "name": "api",
        "type": "STATIC",
        "connect_timeout": "1s",
        "lb_policy": "LEAST_REQUEST",
        "health_checks": [{}],
        "common_lb_config": {
            "healthy_panic_threshold": {"value": 50},
            "update_merge_window": "1.5s",
            "override_host_status": {"statuses": ["HEALTHY"]}
        },
        field: value,
        "load_assignment": {
            "cluster_name": "api",
            "endpoints": [{
                "locality": {"region": "eu", "zone": "a", "sub_zone": "1"},
                "priority": 1,
                "load_balancing_weight": 2,
                "lb_endpoints": [{
                    "endpoint": {
                        "address": {"socket_address": {"address": "::1", "port_value": 80}},
                        "health_check_config": {"port_value": 81}
                    },
                    "health_status": "HEALTHY",
                    "load_balancing_weight": 3
                }]
            }],
            "policy": {"overprovisioning_factor": 140, "endpoint_stale_after": "1s"}
        }
    })
}

fn read_every_way(value: &Value) {
    let text = value.to_string();
    let (cluster, assignment) = (cluster_from_value(value), assignment_from_value(value));
    if value.is_object() {
        assert_eq!(parse_cluster(&text).ok(), cluster.ok());
        assert_eq!(parse_assignment(&text).ok(), assignment.ok());
    }
    let _ = (parse_cluster(&format!("# YAML\n{text}")), parse_assignment(&text));
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        "-?[0-9]{1,12}(\\.[0-9]{1,9})?s?".prop_map(Value::from),
        prop_oneof!["RANDOM", "LEAST_REQUEST", "HEALTHY", "NaN", "Infinity", "::1", "fe80::1%a"]
            .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        ".{0,6}",
        prop::sample::select(vec![
            "name",
            "cluster_name",
            "endpoints",
            "policy",
            "lb_endpoints",
            "endpoint",
            "address",
            "socket_address",
            "pipe",
            "value",
            "policies",
            "typed_extension_config",
            "@type",
            "typed_config",
            "load_assignment",
            "common_lb_config",
            "load_balancing_policy",
            "lb_policy",
            "round_robin_lb_config",
            "least_request_lb_config",
            "choice_count",
            "active_request_bias",
            "slow_start_config",
            "slow_start_window",
            "aggression",
            "default_value",
            "runtime_key",
            "locality_lb_config",
            "zone_aware_lb_config",
            "locality_weighted_lb_config",
            "endpoint_picking_policy",
            "oob_reporting_config",
        ])
        .prop_map(str::to_owned),
    ];
    leaf().prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Every place in `value`, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(inner, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn any_json_gives_a_result_or_an_error(value in value()) {
        read_every_way(&value);
    }

    #[test]
    fn a_valid_cluster_with_changed_values_gives_a_result_or_an_error(
        which in 0..6_usize,
        changes in prop::collection::vec((any::<Index>(), value()), 1..4)
    ) {
        let mut cluster = valid_clusters()[which].clone();
        for (place, replacement) in changes {
            let mut found = Vec::new();
            places(&cluster, "", &mut found);
            let place = &found[place.index(found.len())];
            *cluster.pointer_mut(place).expect("a place of the cluster") = replacement;
        }
        read_every_way(&cluster);
    }

    #[test]
    fn a_valid_text_with_changed_characters_gives_a_result_or_an_error(
        which in 0..6_usize,
        yaml in any::<bool>(),
        changes in prop::collection::vec((any::<Index>(), any::<char>()), 1..8)
    ) {
        let prefix = if yaml { "# YAML\n" } else { "" };
        let cluster = &valid_clusters()[which];
        let mut text: Vec<char> = format!("{prefix}{cluster:#}").chars().collect();
        for (place, replacement) in changes {
            let place = place.index(text.len());
            text[place] = replacement;
        }
        let text: String = text.into_iter().collect();
        let _ = (parse_cluster(&text), parse_assignment(&text));
    }

    #[test]
    fn any_text_gives_a_result_or_an_error(text in "\\PC*") {
        let _ = (parse_cluster(&text), parse_assignment(&text));
    }
}

#[test]
fn the_clusters_that_are_changed_are_valid_to_begin_with() {
    for cluster in valid_clusters() {
        cluster_from_value(&cluster).expect("valid");
    }
}
