use plimsoll::config::{Behavior, LoadAware, LocalityRouting, Policy};
use serde_json::{Value, json};

use super::*;

fn read(value: &Value) -> Result<Settings, String> {
    Settings::read("plimsoll", value.to_string().as_bytes()).map_err(|error| error.to_string())
}

fn policy(name: &str, message: &str, config: Value) -> Value {
    let mut config = config;
    let prefix = "type.googleapis.com/envoy.extensions.load_balancing_policies.";
    config["@type"] = json!(format!("{prefix}{name}.v3.{message}"));
    let config = json!({"name": name, "typed_config": config});
    json!({"policies": [{"typed_extension_config": config}]})
}

#[test]
fn nothing_is_the_default_of_everything() {
    for text in ["", "  \n", "{}"] {
        let settings = Settings::read("plimsoll", text.as_bytes()).unwrap();
        assert_eq!(settings.config.policy, Policy::ROUND_ROBIN);
        assert_eq!(settings.config.behavior, Behavior::Native);
        assert_eq!((settings.overprovisioning_factor, settings.seed), (140, None));
    }
}

#[test]
fn a_struct_and_a_text_say_the_same() {
    let settings = read(&json!({
        "behavior": "envoy",
        "seed": "18446744073709551615",
        "nodeLocality": {"region": "r", "zone": "a", "subZone": "s"},
        "commonLbConfig": {"healthyPanicThreshold": {"value": 30}},
        "loadAssignment": {"policy": {"overprovisioningFactor": 200, "weightedPriorityHealth": true}},
        "load_balancing_policy": policy("random", "Random", json!({})),
    }))
    .unwrap();
    let text = "
behavior: envoy
seed: '18446744073709551615'
node_locality: { region: r, zone: a, sub_zone: s }
common_lb_config: { healthy_panic_threshold: { value: 30 } }
load_assignment: { policy: { overprovisioning_factor: 200, weighted_priority_health: true } }
lb_policy: RANDOM
";
    let same = Settings::read("plimsoll", text.as_bytes()).unwrap();
    for settings in [settings, same] {
        assert_eq!(settings.config.policy, Policy::Random);
        assert_eq!(settings.config.behavior, Behavior::Envoy);
        assert!((settings.config.healthy_panic_threshold - 30.0).abs() < 1e-9);
        assert_eq!(settings.overprovisioning_factor, 200);
        assert!(settings.weighted_priority_health);
        let options = settings.options(5);
        assert_eq!(options.node_locality, Some(Locality::new("r", "a", "s")));
        assert_eq!((options.seed, options.now_ns), (Some(u64::MAX), 5));
        assert_eq!(settings.named("be").name, "be");
    }
}

#[test]
fn policies_inside_policies_are_read() {
    let inner = policy("round_robin", "RoundRobin", json!({}));
    let load_aware = json!({"weight_update_period": "0.2s", "endpoint_picking_policy": inner});
    let load_aware = policy("load_aware_locality", "LoadAwareLocality", load_aware);
    let settings = read(&json!({"load_balancing_policy": load_aware})).unwrap();
    let period = std::time::Duration::from_millis(200);
    let expected = LoadAware { weight_update_period: period, ..LoadAware::default() };
    assert_eq!(settings.config.locality_routing, LocalityRouting::LoadAware(expected));
}

#[test]
fn what_is_wrong_is_named() {
    let hashing = |config: Value| json!({"consistent_hashing_lb_config": config});
    let maglev =
        |config: Value| json!({"load_balancing_policy": policy("maglev", "Maglev", config)});
    let streams = json!({"enable_oob_load_report": true});
    let weighted = "client_side_weighted_round_robin";
    let weighted = policy(weighted, "ClientSideWeightedRoundRobin", streams);
    let zones = json!({"zone_aware_lb_config": {}});
    let table = [
        (json!([]), "expected an object"),
        (json!({"behavior": 1}), "behavior: expected native or envoy"),
        (json!({"seed": -1}), "seed: expected an integer from 0"),
        (json!({"seed": "7x"}), "seed: expected an integer from 0"),
        (json!({"node_locality": {"country": "x"}}), "node_locality: unknown field `country`"),
        (json!({"name": "be"}), "name: no such field: name"),
        (json!({"health_checks": []}), "health_checks: no such field"),
        (json!({"load_assignment": 1}), "load_assignment: expected an object"),
        (
            json!({"load_assignment": {"policy": {"overprovisioning_factor": 0}}}),
            "load_assignment.policy.overprovisioning_factor: ",
        ),
        (json!({"load_assignment": {"endpoints": [{}]}}), "load_assignment.endpoints: hosts are"),
        (json!({"common_lb_config": zones}), "zone_aware_lb_config: zone-aware routing"),
        (
            json!({"common_lb_config": {"ignore_new_hosts_until_first_hc": true}}),
            "ignore_new_hosts_until_first_hc: ",
        ),
        (
            json!({"common_lb_config": {"override_host_status": {"statuses": ["HEALTHY"]}}}),
            "override_host_status: ",
        ),
        (
            json!({"common_lb_config": {"healthy_panic_threshold": {"value": 101}}}),
            "common_lb_config.healthy_panic_threshold: ",
        ),
        (maglev(hashing(json!({"use_hostname_for_hashing": true}))), "use_hostname_for_hashing: "),
        (
            maglev(hashing(json!({"hash_policy": [{"header": {"header_name": "x"}}]}))),
            "hash_policy: ",
        ),
        (json!({"load_balancing_policy": weighted}), "enable_oob_load_report: "),
    ];
    for (value, text) in table {
        let error = read(&value).map(|_| ()).unwrap_err();
        assert!(error.starts_with(text), "{value}: {error}");
    }
    let error = Settings::read("other", b"").unwrap_err().to_string();
    assert_eq!(error, "lb_policy_name: there is no policy \"other\" here, only \"plimsoll\"");
}

#[test]
fn failing_in_panic_needs_no_zones() {
    let zones = json!({"routing_enabled": {"value": 0}, "fail_traffic_on_panic": true});
    let settings = read(&json!({"common_lb_config": {"zone_aware_lb_config": zones}})).unwrap();
    assert!(settings.config.fail_traffic_on_panic);
    assert_eq!(settings.config.locality_routing, LocalityRouting::Unset);
}
