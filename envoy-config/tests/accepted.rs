//! The forms in which a valid configuration may be written, and what comes out.
//!
//! //= envoy v1.40 source/common/upstream/upstream_impl.cc#resolveHealthCheckAddress

use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, Endpoint, HostStatuses, LocalityEndpoints,
    LocalityRouting, Policy, ZoneAware,
};
use plimsoll::{EdsHealth, Locality};
use plimsoll_envoy_config::{
    assignment_from_value, cluster_from_value, parse_assignment, parse_cluster,
};
use serde_json::{Value, json};

const SNAKE_CASE: &str = r#"{
  "name": "api",
  "type": "STRICT_DNS",
  "connect_timeout": "0.25s",
  "lb_policy": "RANDOM",
  "health_checks": [{"timeout": "1s", "tcp_health_check": {}}],
  "ignore_health_on_host_removal": true,
  "common_lb_config": {
    "healthy_panic_threshold": {"value": 29.5},
    "zone_aware_lb_config": {"fail_traffic_on_panic": true, "min_cluster_size": "3"},
    "update_merge_window": "0s",
    "ignore_new_hosts_until_first_hc": true,
    "close_connections_on_host_set_change": true,
    "override_host_status": {"statuses": ["HEALTHY", 5]}
  },
  "load_assignment": {
    "cluster_name": "api",
    "endpoints": [{
      "locality": {"region": "eu", "zone": "b", "sub_zone": "2"},
      "priority": 1,
      "load_balancing_weight": 7,
      "proximity": 3,
      "lb_endpoints": [{
        "endpoint": {
          "address": {"socket_address": {"address": "backend.local", "port_value": 80}},
          "hostname": "first",
          "health_check_config": {"port_value": 8080, "disable_active_health_check": true}
        },
        "health_status": "DEGRADED",
        "load_balancing_weight": 3
      }]
    }],
    "policy": {
      "overprovisioning_factor": 150,
      "weighted_priority_health": true,
      "endpoint_stale_after": "30s"
    }
  }
}"#;

const CAMEL_CASE_YAML: &str = r#"
name: api
type: 1
connectTimeout: 0.25s
lbPolicy: 3
healthChecks: [ { timeout: 1s, tcpHealthCheck: {} } ]
ignoreHealthOnHostRemoval: yes
commonLbConfig:
  healthyPanicThreshold: { value: "29.5" }
  zoneAwareLbConfig: { failTrafficOnPanic: on, minClusterSize: 3 }
  updateMergeWindow: 0s
  ignoreNewHostsUntilFirstHc: true
  closeConnectionsOnHostSetChange: true
  overrideHostStatus: { statuses: [ 1, DEGRADED ] }
loadAssignment:
  clusterName: api
  endpoints:
  - locality: { region: eu, zone: b, subZone: "2" }
    priority: "1"
    loadBalancingWeight: 7.0
    proximity: 3
    lbEndpoints:
    - endpoint:
        address: { socketAddress: { address: backend.local, portValue: 8e1 } }
        hostname: first
        healthCheckConfig: { portValue: 8080, disableActiveHealthCheck: true }
      healthStatus: 5
      loadBalancingWeight: 3
  policy: { overprovisioningFactor: 150, weightedPriorityHealth: true, endpointStaleAfter: 30s }
"#;

fn expected_config() -> ClusterConfig {
    ClusterConfig {
        policy: Policy::Random,
        locality_routing: LocalityRouting::ZoneAware(ZoneAware {
            min_cluster_size: 3,
            ..ZoneAware::default()
        }),
        healthy_panic_threshold: 29.5,
        fail_traffic_on_panic: true,
        active_health_checks: true,
        ignore_new_hosts_until_first_hc: true,
        ignore_health_on_host_removal: true,
        override_host_status: HostStatuses::from_iter([EdsHealth::Healthy, EdsHealth::Degraded]),
        ..ClusterConfig::new("api")
    }
}

fn expected_assignment() -> Assignment {
    Assignment {
        endpoints: vec![LocalityEndpoints {
            locality: Locality::new("eu", "b", "2"),
            priority: 1,
            load_balancing_weight: Some(7),
            endpoints: vec![Endpoint {
                hostname: "first".to_owned(),
                load_balancing_weight: 3,
                health_status: EdsHealth::Degraded,
                disable_active_health_check: true,
                health_check_address: Some("backend.local:8080".into()),
                ..Endpoint::new("backend.local:80")
            }],
        }],
        overprovisioning_factor: 150,
        weighted_priority_health: true,
    }
}

#[test]
fn every_field_arrives_from_both_spellings_and_both_languages() {
    for text in [SNAKE_CASE, CAMEL_CASE_YAML] {
        let file = parse_cluster(text).expect("valid");
        assert_eq!(file.config, expected_config());
        assert_eq!(file.assignment, Some(expected_assignment()));
    }
}

#[test]
fn json_is_also_yaml() {
    let indented = format!("# a comment makes it YAML\n{SNAKE_CASE}");
    assert_eq!(parse_cluster(&indented), parse_cluster(SNAKE_CASE));
}

#[test]
fn a_parsed_value_gives_what_its_text_gives() {
    let value: Value = serde_json::from_str(SNAKE_CASE).expect("valid JSON");
    assert_eq!(cluster_from_value(&value).ok(), parse_cluster(SNAKE_CASE).ok());
    let assignment = assignment_from_value(&value["load_assignment"]);
    assert_eq!(assignment.ok(), Some(expected_assignment()));
}

#[test]
fn a_name_alone_gives_envoys_defaults() {
    let file = parse_cluster("name: api").expect("valid");
    assert_eq!(file.config, ClusterConfig::new("api"));
    assert_eq!(file.config.behavior, Behavior::Native);
    assert_eq!(file.assignment, None);
    let assignment = parse_assignment("cluster_name: api").expect("valid");
    assert_eq!(assignment, Assignment::default());
}

#[test]
fn null_is_the_same_as_nothing() {
    let value = json!({
        "name": "api", "type": null, "lb_policy": null, "load_balancing_policy": null,
        "common_lb_config": null, "load_assignment": null, "health_checks": null,
        "lb_subset_config": null, "cluster_type": null, "round_robin_lb_config": null,
        "least_request_lb_config": null, "ignore_health_on_host_removal": null,
        "connect_timeout": null
    });
    let file = cluster_from_value(&value).expect("valid");
    assert_eq!(file.config, ClusterConfig::new("api"));
    assert_eq!(file.assignment, None);
}

#[test]
fn a_message_with_every_default_written_out_is_accepted() {
    let value = json!({
        "cluster_name": "api",
        "named_endpoints": {},
        "endpoints": [{
            "locality": {"region": "", "zone": "", "sub_zone": ""},
            "lb_endpoints": [], "metadata": null, "priority": 0, "proximity": null,
            "load_balancing_weight": null, "leds_cluster_locality_config": null
        }],
        "policy": {
            "drop_overloads": [], "overprovisioning_factor": null,
            "endpoint_stale_after": null, "weighted_priority_health": false
        }
    });
    let expected =
        Assignment { endpoints: vec![LocalityEndpoints::default()], ..Assignment::default() };
    assert_eq!(assignment_from_value(&value), Ok(expected));
}

#[test]
fn addresses_become_the_texts_that_identify_hosts() {
    for (address, text) in [
        (json!({"socket_address": {"address": "10.0.0.1", "port_value": 80}}), "10.0.0.1:80"),
        (json!({"socketAddress": {"address": "::1", "portValue": "0"}}), "[::1]:0"),
        (json!({"socket_address": {"address": "0:0::1", "port_value": 65535}}), "[::1]:65535"),
        (
            json!({"socket_address": {
                "address": "db", "port_value": 1, "protocol": "UDP", "ipv4_compat": true,
                "resolver_name": "", "network_namespace_filepath": "/run/netns/a"
            }}),
            "db:1",
        ),
        (json!({"pipe": {"path": "/run/a.sock", "mode": 511}}), "/run/a.sock"),
        (json!({"pipe": {"path": "@abstract"}}), "@abstract"),
        (
            json!({"envoy_internal_address": {"server_listener_name": "l", "endpoint_id": "e"}}),
            "envoy://l/e",
        ),
    ] {
        let value = json!({
            "cluster_name": "api",
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}]
        });
        let assignment = assignment_from_value(&value).expect(text);
        assert_eq!(assignment.endpoints[0].endpoints, [Endpoint::new(text)]);
    }
}

//= envoy v1.40 source/common/upstream/upstream_impl.cc#resolveHealthCheckAddress
#[test]
fn health_checks_go_to_their_own_address_and_port() {
    let host = json!({"socket_address": {"address": "::1", "port_value": 80}});
    let other = json!({"socket_address": {"address": "::2", "port_value": 81}});
    for (config, checked) in [
        (json!({}), None),
        (json!({"port_value": 0, "hostname": "h"}), None),
        (json!({"port_value": 80}), None),
        (json!({"address": host}), None),
        (json!({"port_value": 90}), Some("[::1]:90")),
        (json!({"address": other}), Some("[::2]:81")),
        (json!({"address": other, "port_value": 90}), Some("[::2]:90")),
        (json!({"address": {"pipe": {"path": "/a"}}}), Some("/a")),
    ] {
        let value = json!({
            "cluster_name": "api",
            "endpoints": [{"lb_endpoints": [
                {"endpoint": {"address": host, "health_check_config": config}}
            ]}]
        });
        let assignment = assignment_from_value(&value).expect("valid");
        let endpoint = &assignment.endpoints[0].endpoints[0];
        let address = endpoint.health_check_address.as_ref().map(plimsoll::Address::as_str);
        assert_eq!(address, checked, "{config}");
    }
}

#[test]
fn cluster_types_that_only_say_where_hosts_come_from_are_accepted() {
    for discovery in ["STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS"] {
        parse_cluster(&format!("name: api\ntype: {discovery}")).expect(discovery);
    }
    for custom in ["envoy.cluster.static", "envoy.cluster.eds", "envoy.clusters.dns"] {
        let value = json!({
            "name": "api",
            "cluster_type": {"name": custom, "typed_config": {"@type": "any/x", "a": [1]}}
        });
        cluster_from_value(&value).expect(custom);
    }
}
