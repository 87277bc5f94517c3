//! What client-side weighted round robin is told.

use std::time::Duration;

use plimsoll::config::{
    ClientSideWeightedRoundRobin, ConfigError, OutOfBandReporting, Policy, SlowStart,
};
use plimsoll_envoy_config::cluster_from_value;
use serde_json::{Value, json};

const TYPED_CONFIG: &str = "load_balancing_policy.policies[0].typed_extension_config.typed_config";

fn read(mut settings: Value) -> Result<ClientSideWeightedRoundRobin, ConfigError> {
    settings["@type"] = json!(
        "type.googleapis.com/envoy.extensions.load_balancing_policies.\
         client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin"
    );
    let cluster = json!({"name": "api", "load_balancing_policy": {"policies": [
        {"typed_extension_config": {"name": "any", "typed_config": settings}}
    ]}});
    cluster_from_value(&cluster).map(|file| match file.config.policy {
        Policy::ClientSideWeightedRoundRobin(policy) => policy,
        other => panic!("{other:?}"),
    })
}

#[test]
fn every_field_arrives_in_its_own_place() {
    let policy = read(json!({
        "enable_oob_load_report": true,
        "oob_reporting_period": "42s",
        "oob_reporting_config": {
            "port_value": 9001,
            "authority": "reports.local",
            "transport_socket_match_criteria": {"any": {"thing": 1}},
        },
        "blackout_period": "11s",
        "weightExpirationPeriod": "222s",
        "weight_update_period": "3.5s",
        "error_utilization_penalty": 0.1,
        "metric_names_for_computing_utilization": ["named_metrics.foo", "bogus", ""],
        "slow_start_config": {"slow_start_window": "15s", "min_weight_percent": {"value": 0.25}},
    }));
    let expected = ClientSideWeightedRoundRobin {
        enable_oob_load_report: true,
        oob_reporting_period: Duration::from_secs(42),
        oob_reporting_config: OutOfBandReporting {
            port_value: 9001,
            authority: "reports.local".to_owned(),
        },
        blackout_period: Duration::from_secs(11),
        weight_expiration_period: Duration::from_secs(222),
        weight_update_period: Duration::from_millis(3500),
        error_utilization_penalty: Some(0.1),
        metric_names_for_computing_utilization: vec![
            "named_metrics.foo".to_owned(),
            "bogus".to_owned(),
            String::new(),
        ],
        slow_start: Some(SlowStart {
            min_weight_percent: 0.25,
            ..SlowStart::new(Duration::from_secs(15))
        }),
    };
    assert_eq!(policy, Ok(expected));
}

#[test]
fn nothing_said_is_envoys_default() {
    assert_eq!(read(json!({})), Ok(ClientSideWeightedRoundRobin::default()));
    let zero = read(json!({"error_utilization_penalty": 0})).expect("valid");
    assert_eq!(zero.error_utilization_penalty, Some(0.0), "which is not unset");
}

#[test]
fn what_envoy_lets_through_is_refused_with_the_field() {
    let penalty = "ClientSideWeightedRoundRobinValidationError.ErrorUtilizationPenalty: value must \
                   be finite and greater than or equal to 0";
    for (settings, field, message) in [
        (json!({"error_utilization_penalty": -1}), "error_utilization_penalty", penalty),
        (json!({"error_utilization_penalty": "NaN"}), "error_utilization_penalty", penalty),
        (json!({"error_utilization_penalty": "Infinity"}), "error_utilization_penalty", penalty),
        (json!({"error_utilization_penalty": 1e300}), "error_utilization_penalty", penalty),
        (
            json!({"oob_reporting_config": {"port_value": 65536}}),
            "oob_reporting_config.port_value",
            "OrcaOobReportingConfigValidationError.PortValue: value must be less than or equal to \
             65535",
        ),
        (
            json!({"oob_reporting_config": {"authority": "a\nb"}}),
            "oob_reporting_config.authority",
            "a name has no control characters",
        ),
        (
            json!({"blackout_period": "-1s"}),
            "blackout_period",
            "Invalid duration: Expected positive duration: seconds: -1",
        ),
        (
            json!({"weight_update_period": "9223372036s"}),
            "weight_update_period",
            "Invalid duration: Duration out-of-range: seconds: 9223372036",
        ),
        (
            json!({"locality_lb_config": {}}),
            "locality_lb_config",
            "no such field: locality_lb_config",
        ),
        (
            json!({"metric_names_for_computing_utilization": [1]}),
            "metric_names_for_computing_utilization[0]",
            "expected a string; in YAML, numbers, true, false, yes and no need quotes to be one",
        ),
        (
            json!({"slow_start_config": {"min_weight_percent": {"value": 101}}}),
            "slow_start_config.min_weight_percent",
            "PercentValidationError.Value: value must be inside range [0, 100]",
        ),
    ] {
        let error = read(settings.clone()).expect_err(field);
        assert_eq!(error.field(), format!("{TYPED_CONFIG}.{field}"), "{settings}");
        assert_eq!(error.to_string(), message, "{settings}");
    }
}
