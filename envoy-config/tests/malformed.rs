//! What is refused, where the error points, and what it says. One row per mistake.
//!
//! //= envoy v1.40 source/common/protobuf/utility.cc#validateDuration

use plimsoll_envoy_config::{ParseError, parse_assignment, parse_cluster};

/// The input, the path of the field, the message.
type Row = (&'static str, &'static str, &'static str);

const NOT_A_STRING: &str =
    "expected a string; in YAML, numbers, true, false, yes and no need quotes to be one";
const NO_NAME: &str = "ClusterValidationError.Name: value length must be at least 1 characters";
const NOT_A_UINT32: &str = "expected an integer from 0 to 4294967295";
const NOT_A_PERCENTAGE: &str = "expected a percentage such as {\"value\": 50}";
const OUTSIDE_0_TO_100: &str = "PercentValidationError.Value: value must be inside range [0, 100]";

/// Puts each row's input into `whole` at `@` and expects the error below `path`.
fn check(rows: &[Row], whole: &str, path: &str, parse: impl Fn(&str) -> Result<(), ParseError>) {
    for (part, field, message) in rows {
        let text = whole.replace('@', part);
        let error = parse(&text).expect_err(&text);
        let field = format!("{path}{field}");
        let field = field.trim_end_matches('.');
        let shown = if field.is_empty() { String::new() } else { format!("{field}: ") };
        assert_eq!(error.field(), field, "{text}");
        assert_eq!(error.to_string(), format!("{shown}{message}"), "{text}");
    }
}

fn check_clusters(rows: &[Row]) {
    check(rows, "@", "", |text| parse_cluster(text).map(drop));
}

/// Rows give the fields of a cluster that has a name.
fn check_named_clusters(rows: &[Row]) {
    check(rows, "{\"name\": \"a\", @}", "", |text| parse_cluster(text).map(drop));
}

/// Rows give what is in a message of a cluster that has a name.
fn check_in_cluster(message: &str, rows: &[Row]) {
    let whole = format!("name: a\n{message}: {{ @ }}");
    check(rows, &whole, &format!("{message}."), |text| parse_cluster(text).map(drop));
}

/// Rows give what follows the cluster's name.
fn check_assignments(rows: &[Row]) {
    check(rows, "cluster_name: api\n@", "", |text| parse_assignment(text).map(drop));
}

/// Rows give one host.
fn check_hosts(rows: &[Row]) {
    let whole = "cluster_name: api\nendpoints: [ { lb_endpoints: [ @ ] } ]";
    let path = "endpoints[0].lb_endpoints[0].";
    check(rows, whole, path, |text| parse_assignment(text).map(drop));
}

/// Rows give what is in the `Endpoint` of one host.
fn check_endpoints(rows: &[Row]) {
    let whole = "cluster_name: api\nendpoints: [ { lb_endpoints: [ { endpoint: { @ } } ] } ]";
    let path = "endpoints[0].lb_endpoints[0].endpoint.";
    check(rows, whole, path, |text| parse_assignment(text).map(drop));
}

#[test]
fn a_cluster_with_a_wrong_value_is_refused() {
    check_clusters(&[
        ("{}", "name", NO_NAME),
        (r#"{"name": ""}"#, "name", NO_NAME),
        (r#"{"name": null}"#, "name", NO_NAME),
        (r#"{"name": 7}"#, "name", NOT_A_STRING),
        ("name: no", "name", NOT_A_STRING),
        ("name: 1.10", "name", NOT_A_STRING),
        ("[1]", "", "expected an object"),
        ("", "", "expected an object"),
        (
            r#"{"name": "a", "type": "DNS"}"#,
            "type",
            "expected STATIC, STRICT_DNS, LOGICAL_DNS, EDS or ORIGINAL_DST",
        ),
        (
            r#"{"name": "a", "type": 5}"#,
            "type",
            "expected STATIC, STRICT_DNS, LOGICAL_DNS, EDS or ORIGINAL_DST",
        ),
        (
            r#"{"name": "a", "type": "EDS", "cluster_type": {"name": "envoy.cluster.eds"}}"#,
            "cluster_type",
            "cluster_type cannot be set together with type",
        ),
        (
            r#"{"name": "a", "clusterType": {}}"#,
            "cluster_type.name",
            "CustomClusterTypeValidationError.Name: value length must be at least 1 characters",
        ),
        (r#"{"name": "a", "health_checks": {}}"#, "health_checks", "expected a list"),
        (r#"{"name": "a", "health_checks": [{}, null]}"#, "health_checks[1]", "expected an object"),
        (
            r#"{"name": "a", "ignore_health_on_host_removal": "true"}"#,
            "ignore_health_on_host_removal",
            "expected true or false",
        ),
        (r#"{"name": "a", "load_assignment": []}"#, "load_assignment", "expected an object"),
        (
            r#"{"name": "a", "load_assignment": {}}"#,
            "load_assignment.cluster_name",
            "ClusterLoadAssignmentValidationError.ClusterName: value length must be at least 1 \
             characters",
        ),
        (
            "name: a\nload_assignment: { cluster_name: a, endpoints: [ { priority: 129 } ] }",
            "load_assignment.endpoints[0].priority",
            "LocalityLbEndpointsValidationError.Priority: value must be less than or equal to 128",
        ),
    ]);
}

#[test]
fn a_field_that_envoy_does_not_have_is_named_with_its_path() {
    check_named_clusters(&[
        (r#""lbpolicy": 0"#, "lbpolicy", "no such field: lbpolicy"),
        (r#""LbPolicy": 0"#, "LbPolicy", "no such field: LbPolicy"),
        (r#""hosts": []"#, "hosts", "no such field: hosts"),
        (r#""": null"#, "", "no such field: "),
        (r#""commonLbConfig": {"panic": 1}"#, "common_lb_config.panic", "no such field: panic"),
        (
            r#""common_lb_config": {"healthy_panic_threshold": {"Value": 1}}"#,
            "common_lb_config.healthy_panic_threshold.Value",
            "no such field: Value",
        ),
        (
            r#""common_lb_config": {"zone_aware_lb_config": {"force_local_zone": {}}}"#,
            "common_lb_config.zone_aware_lb_config.force_local_zone",
            "no such field: force_local_zone",
        ),
        (
            r#""round_robin_lb_config": {"locality_lb_config": {}}"#,
            "round_robin_lb_config.locality_lb_config",
            "no such field: locality_lb_config",
        ),
        (
            r#""load_assignment": {"cluster_name": "a", "leds_config": null}"#,
            "load_assignment.leds_config",
            "no such field: leds_config",
        ),
    ]);
}

#[test]
fn a_field_in_both_spellings_is_refused() {
    check_named_clusters(&[
        (r#""lb_policy": 0, "lbPolicy": 0"#, "lb_policy", "value appears twice"),
        (r#""altStatName": 1, "alt_stat_name": 1"#, "alt_stat_name", "value appears twice"),
        (
            r#""load_assignment": {"cluster_name": "a", "clusterName": null}"#,
            "load_assignment.cluster_name",
            "value appears twice",
        ),
    ]);
}

#[test]
fn a_wrong_common_lb_config_is_refused() {
    check_in_cluster(
        "common_lb_config",
        &[
            ("healthy_panic_threshold: 50", "healthy_panic_threshold", NOT_A_PERCENTAGE),
            (
                "healthy_panic_threshold: { value: 101 }",
                "healthy_panic_threshold",
                OUTSIDE_0_TO_100,
            ),
            (
                "healthy_panic_threshold: { value: -0.5 }",
                "healthy_panic_threshold",
                OUTSIDE_0_TO_100,
            ),
            (
                "healthy_panic_threshold: { value: NaN }",
                "healthy_panic_threshold",
                "Value not in the range of 0..100 range.",
            ),
            (
                "healthy_panic_threshold: { value: half }",
                "healthy_panic_threshold.value",
                "expected a number",
            ),
            (
                "update_merge_window: -1s",
                "update_merge_window",
                "Invalid duration: Expected positive duration: seconds: -1",
            ),
            (
                "update_merge_window: 9223372036s",
                "update_merge_window",
                "Invalid duration: Duration out-of-range: seconds: 9223372036",
            ),
            (
                "update_merge_window: 1",
                "update_merge_window",
                "expected a duration such as \"1.5s\"",
            ),
            (
                "override_host_status: { statuses: [HEALTHY, GOOD] }",
                "override_host_status.statuses[1]",
                "expected UNKNOWN, HEALTHY, UNHEALTHY, DRAINING, TIMEOUT or DEGRADED",
            ),
            (
                "consistent_hashing_lb_config: { hash_balance_factor: 99 }",
                "consistent_hashing_lb_config.hash_balance_factor",
                "ConsistentHashingLbConfigValidationError.HashBalanceFactor: value must be greater \
                 than or equal to 100",
            ),
            (
                "zone_aware_lb_config: {}, locality_weighted_lb_config: {}",
                "locality_weighted_lb_config",
                "locality_weighted_lb_config cannot be set together with zone_aware_lb_config",
            ),
            (
                "zone_aware_lb_config: { routing_enabled: { value: 101 } }",
                "zone_aware_lb_config.routing_enabled",
                OUTSIDE_0_TO_100,
            ),
            (
                "zone_aware_lb_config: { routing_enabled: { value: NaN } }",
                "zone_aware_lb_config.routing_enabled",
                "Value not in the range of 0..100 range.",
            ),
            (
                "zone_aware_lb_config: { min_cluster_size: -1 }",
                "zone_aware_lb_config.min_cluster_size",
                "expected an integer from 0 to 18446744073709551615",
            ),
            (
                "zone_aware_lb_config: { fail_traffic_on_panic: 1 }",
                "zone_aware_lb_config.fail_traffic_on_panic",
                "expected true or false",
            ),
        ],
    );
}

#[test]
fn a_wrong_policy_is_refused() {
    let list = "expected ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, CLUSTER_PROVIDED \
                or LOAD_BALANCING_POLICY_CONFIG";
    check_clusters(&[
        ("name: a\nlb_policy: round_robin", "lb_policy", list),
        ("name: a\nlb_policy: 4", "lb_policy", list),
        ("name: a\nlb_policy: 0.5", "lb_policy", list),
        ("name: a\nlb_policy: yes", "lb_policy", list),
        (
            "name: a\nlb_policy: LOAD_BALANCING_POLICY_CONFIG",
            "load_balancing_policy",
            "cluster: field load_balancing_policy need to be set",
        ),
        (
            "name: a\nlb_policy: RANDOM\nringHashLbConfig: {}\nmaglev_lb_config: {}",
            "maglev_lb_config",
            "maglev_lb_config cannot be set together with ring_hash_lb_config",
        ),
        (
            "name: a\nround_robin_lb_config: {}\nleastRequestLbConfig: {}",
            "round_robin_lb_config",
            "round_robin_lb_config cannot be set together with least_request_lb_config",
        ),
    ]);
}

#[test]
fn a_wrong_list_of_policies_is_refused() {
    check_in_cluster(
        "load_balancing_policy",
        &[
            (
                "",
                "",
                "cluster: didn't find a registered load balancer factory implementation for \
                 cluster: 'a' with names from []",
            ),
            ("policies: x", "policies", "expected a list"),
            ("policies: [ {} ]", "policies[0].typed_extension_config", "value is required"),
            (
                "policies: [ { typed_extension_config: \
                 { name: x, typed_config: { '@type': a/b } }, name: x } ]",
                "policies[0].name",
                "no such field: name",
            ),
            (
                "policies: [ { typed_extension_config: {} } ]",
                "policies[0].typed_extension_config.name",
                "TypedExtensionConfigValidationError.Name: value length must be at least 1 \
                 characters",
            ),
            (
                "policies: [ { typed_extension_config: { name: x } } ]",
                "policies[0].typed_extension_config.typed_config",
                "value is required",
            ),
            (
                "policies: [ { typed_extension_config: { name: x, typed_config: 1 } } ]",
                "policies[0].typed_extension_config.typed_config",
                "expected an object",
            ),
            (
                "policies: [ { typed_extension_config: { name: x, typed_config: {} } } ]",
                "policies[0].typed_extension_config.typed_config.@type",
                "value is required",
            ),
            (
                "policies: [ { typed_extension_config: \
                 { name: x, typed_config: { '@type': 1 } } } ]",
                "policies[0].typed_extension_config.typed_config.@type",
                "expected a type URL such as \"type.googleapis.com/package.Message\"",
            ),
        ],
    );
}

#[test]
fn a_wrong_assignment_is_refused() {
    check_assignments(&[
        ("endpoints: {}", "endpoints", "expected a list"),
        ("endpoints: [ 1 ]", "endpoints[0]", "expected an object"),
        ("endpoints: [ {}, ~ ]", "endpoints[1]", "expected an object"),
        ("endpoints: [ { priority: -1 } ]", "endpoints[0].priority", NOT_A_UINT32),
        ("endpoints: [ { priority: 1.5 } ]", "endpoints[0].priority", NOT_A_UINT32),
        ("endpoints: [ { priority: 01 } ]", "endpoints[0].priority", NOT_A_UINT32),
        ("endpoints: [ { priority: 1_0 } ]", "endpoints[0].priority", NOT_A_UINT32),
        ("endpoints: [ { priority: 4294967296 } ]", "endpoints[0].priority", NOT_A_UINT32),
        (
            "endpoints: [ { load_balancing_weight: 0 } ]",
            "endpoints[0].load_balancing_weight",
            "LocalityLbEndpointsValidationError.LoadBalancingWeight: value must be greater than or \
             equal to 1",
        ),
        ("endpoints: [ { locality: eu } ]", "endpoints[0].locality", "expected an object"),
        ("endpoints: [ { locality: { zone: no } } ]", "endpoints[0].locality.zone", NOT_A_STRING),
        ("endpoints: [ { locality: { zone: 7 } } ]", "endpoints[0].locality.zone", NOT_A_STRING),
        (
            "endpoints: [ { locality: { subzone: a } } ]",
            "endpoints[0].locality.subzone",
            "no such field: subzone",
        ),
        (
            "policy: { overprovisioning_factor: 0 }",
            "policy.overprovisioning_factor",
            "PolicyValidationError.OverprovisioningFactor: value must be greater than 0",
        ),
        (
            "policy: { weighted_priority_health: maybe }",
            "policy.weighted_priority_health",
            "expected true or false",
        ),
        (
            "policy: { endpoint_stale_after: 0s }",
            "policy.endpoint_stale_after",
            "PolicyValidationError.EndpointStaleAfter: value must be greater than 0s",
        ),
        (
            "policy: { endpoint_stale_after: -0.5s }",
            "policy.endpoint_stale_after",
            "Invalid duration: Expected positive duration: nanos: -500000000",
        ),
        (
            "policy: { drop_overloads: [ {}, {} ] }",
            "policy.drop_overloads",
            "Cluster drop_overloads config has 2 categories. Envoy only support one.",
        ),
        (
            "policy: { disable_overprovisioning: true }",
            "policy.disable_overprovisioning",
            "no such field: disable_overprovisioning",
        ),
        (
            "endpoints: [ { lb_endpoints: \
             [ { endpoint: { address: { pipe: { path: /run/a } } } } ], \
             leds_cluster_locality_config: { leds_collection_name: xdstp://hosts } } ]",
            "endpoints[0].leds_cluster_locality_config",
            "A ClusterLoadAssignment for cluster api cannot include both LEDS (resource: \
             xdstp://hosts) and a list of endpoints.",
        ),
    ]);
}

#[test]
fn a_wrong_host_is_refused() {
    check_hosts(&[
        ("1", "", "expected an object"),
        ("{}", "endpoint", "value is required"),
        ("{ endpoint: {} }", "endpoint.address", "value is required"),
        (
            "{ endpoint: { address: { pipe: { path: /a } } }, load_balancing_weight: 0 }",
            "load_balancing_weight",
            "LbEndpointValidationError.LoadBalancingWeight: value must be greater than or equal \
             to 1",
        ),
        (
            "{ endpoint: { address: { pipe: { path: /a } } }, health_status: healthy }",
            "health_status",
            "expected UNKNOWN, HEALTHY, UNHEALTHY, DRAINING, TIMEOUT or DEGRADED",
        ),
        (
            "{ endpoint: { address: { pipe: { path: /a } } }, weight: 1 }",
            "weight",
            "no such field: weight",
        ),
    ]);
}

#[test]
fn a_wrong_address_is_refused() {
    check_endpoints(&[
        ("address: {}", "address", "value is required"),
        ("address: '10.0.0.1:80'", "address", "expected an object"),
        (
            "address: { socket_address: {} }",
            "address.socket_address.address",
            "SocketAddressValidationError.Address: value length must be at least 1 characters",
        ),
        (
            "address: { socket_address: { address: a } }",
            "address.socket_address.port_value",
            "value is required",
        ),
        (
            "address: { socket_address: { address: a, port_value: 65536 } }",
            "address.socket_address.port_value",
            "SocketAddressValidationError.PortValue: value must be less than or equal to 65535",
        ),
        (
            "address: { socket_address: { address: a, port_value: http } }",
            "address.socket_address.port_value",
            NOT_A_UINT32,
        ),
        (
            "address: { socket_address: { address: 10.0, port_value: 80 } }",
            "address.socket_address.address",
            NOT_A_STRING,
        ),
        (
            "address: { socket_address: { address: '[::1]', port_value: 80 } }",
            "address.socket_address.address",
            "malformed IP address: [::1]",
        ),
        (
            "address: { socket_address: { address: a, port_value: 1, protocol: SCTP } }",
            "address.socket_address.protocol",
            "expected TCP or UDP",
        ),
        (
            "address: { socket_address: { address: a, port_value: 1 }, pipe: { path: b } }",
            "address.pipe",
            "pipe cannot be set together with socket_address",
        ),
        (
            "address: { pipe: {} }",
            "address.pipe.path",
            "PipeValidationError.Path: value length must be at least 1 characters",
        ),
        (
            "address: { pipe: { path: /a, mode: 512 } }",
            "address.pipe.mode",
            "PipeValidationError.Mode: value must be less than or equal to 511",
        ),
        (
            "address: { envoy_internal_address: { endpoint_id: a } }",
            "address.envoy_internal_address.server_listener_name",
            "value is required",
        ),
        (
            "address: { pipe: { path: /a } }, health_check_config: { port_value: 1 }",
            "health_check_config.port_value",
            "a port needs a socket_address",
        ),
        (
            "address: { pipe: { path: /a } }, health_check_config: { port_value: 70000 }",
            "health_check_config.port_value",
            "HealthCheckConfigValidationError.PortValue: value must be less than or equal to 65535",
        ),
    ]);
}
