//! The policies that divide traffic among localities and have another policy inside that chooses
//! hosts.
//!
//! Messages and the order of checks are those of an Envoy 1.40.0 that ran with `--mode validate`.

use std::time::Duration;

use plimsoll::config::{
    ClientSideWeightedRoundRobin, ClusterConfig, ConfigError, LeastRequest, LoadAware,
    LocalityRouting, Maglev, OutOfBandReporting, Policy, RingHash,
};
use plimsoll_envoy_config::{ParseError, cluster_from_value, parse_cluster};
use serde_json::{Value, json};

const TYPED_CONFIG: &str = "load_balancing_policy.policies[0].typed_extension_config.typed_config";

const ROUND_ROBIN: &str = "round_robin.v3.RoundRobin";
const LEAST_REQUEST: &str = "least_request.v3.LeastRequest";
const RANDOM: &str = "random.v3.Random";
const WEIGHTED: &str = "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin";
const WRR_LOCALITY: &str = "wrr_locality.v3.WrrLocality";
const LOAD_AWARE: &str = "load_aware_locality.v3.LoadAwareLocality";

const NOTHING_KNOWN: &str = "No supported endpoint picking policy.";
const ONLY_WEIGHTED: &str = "Currently WrrLocalityLoadBalancer only supports ClientSideWeightedRoundRobinLoadBalancer as \
     its endpoint picking policy.";

fn entry(policy: &str, mut config: Value) -> Value {
    config["@type"] =
        json!(format!("type.googleapis.com/envoy.extensions.load_balancing_policies.{policy}"));
    json!({"typed_extension_config": {"name": "any", "typed_config": config}})
}

fn unknown() -> Value {
    json!({"typed_extension_config": {"name": "other", "typed_config": {"@type": "a/b.C", "x": 1}}})
}

/// `settings` with these policies inside.
fn with(inside: &[Value], mut settings: Value) -> Value {
    settings["endpoint_picking_policy"] = json!({"policies": inside});
    settings
}

fn read(policy: &str, config: Value) -> Result<ClusterConfig, ConfigError> {
    let policies = json!([entry(policy, config)]);
    let cluster = json!({"name": "api", "load_balancing_policy": {"policies": policies}});
    cluster_from_value(&cluster).map(|file| file.config)
}

fn check_refused(policy: &str, config: Value, field: &str, message: &str) {
    let text = config.to_string();
    let error = read(policy, config).expect_err(&text);
    assert_eq!(error.field(), format!("{TYPED_CONFIG}.{field}"), "{text}");
    assert_eq!(error.to_string(), message, "{text}");
}

/// The path of one of the policies inside.
fn inside(index: usize) -> String {
    format!("endpoint_picking_policy.policies[{index}].typed_extension_config.typed_config")
}

/// The settings of a `LoadAwareLocality` that chooses hosts by round robin.
fn load_aware(settings: Value) -> Result<LoadAware, ConfigError> {
    let config = read(LOAD_AWARE, with(&[entry(ROUND_ROBIN, json!({}))], settings))?;
    assert_eq!(config.policy, Policy::ROUND_ROBIN);
    match config.locality_routing {
        LocalityRouting::LoadAware(load_aware) => Ok(load_aware),
        other => panic!("{other:?}"),
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/wrr_locality/config.h#loadConfig
#[test]
fn wrr_locality_weighs_localities_and_chooses_hosts_by_their_reports() {
    let plain = entry(WEIGHTED, json!({}));
    for policies in [vec![plain.clone()], vec![unknown(), plain, entry(RANDOM, json!({}))]] {
        let config = read(WRR_LOCALITY, with(&policies, json!({}))).expect("valid");
        let expected = ClusterConfig {
            policy: Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin::default()),
            locality_routing: LocalityRouting::Weighted,
            ..ClusterConfig::new("api")
        };
        assert_eq!(config, expected);
    }
    let settings = entry(WEIGHTED, json!({"blackout_period": "3s"}));
    let config = read(WRR_LOCALITY, with(&[settings], json!({}))).expect("valid");
    let expected = ClientSideWeightedRoundRobin {
        blackout_period: Duration::from_secs(3),
        ..ClientSideWeightedRoundRobin::default()
    };
    assert_eq!(config.policy, Policy::ClientSideWeightedRoundRobin(expected));
}

//= envoy v1.40 source/extensions/load_balancing_policies/wrr_locality/config.h#loadConfig
#[test]
fn wrr_locality_has_no_other_policy_inside() {
    let weighted = || entry(WEIGHTED, json!({}));
    for policy in [
        entry(ROUND_ROBIN, json!({})),
        entry(ROUND_ROBIN, json!({"locality_lb_config": {"zone_aware_lb_config": {}}})),
        entry(LEAST_REQUEST, json!({"choice_count": 0})),
        entry(RANDOM, json!({"no such": "field"})),
        entry(WRR_LOCALITY, with(&[weighted()], json!({}))),
        entry(LOAD_AWARE, json!({"weight_update_period": "0s"})),
        entry("ring_hash.v3.RingHash", json!({})),
        entry("maglev.v3.Maglev", json!({})),
        entry("cluster_provided.v3.ClusterProvided", json!({})),
    ] {
        let config = with(&[unknown(), policy, weighted()], json!({}));
        check_refused(WRR_LOCALITY, config, &inside(1), ONLY_WEIGHTED);
    }
    let negative = entry(WEIGHTED, json!({"blackout_period": "-1s"}));
    check_refused(
        WRR_LOCALITY,
        with(&[negative], json!({})),
        &format!("{}.blackout_period", inside(0)),
        "Invalid duration: Expected positive duration: seconds: -1",
    );
}

#[test]
fn load_aware_locality_has_envoys_defaults() {
    let expected = LoadAware {
        weight_update_period: Duration::from_millis(1000),
        metric_names_for_computing_utilization: Vec::new(),
        utilization_variance_threshold: 0.1,
        smoothing_time_constant: Duration::from_secs(5),
        remote_probe_fraction: 0.03,
        weight_expiration_period: Duration::from_millis(180_000),
        enable_oob_load_report: false,
        oob_reporting_period: Duration::from_secs(10),
        oob_reporting_config: OutOfBandReporting { port_value: 0, authority: String::new() },
    };
    for settings in [
        json!({}),
        json!({
            "weight_update_period": null, "metric_names_for_computing_utilization": null,
            "utilization_variance_threshold": null, "smoothing_time_constant": null,
            "remote_probe_fraction": null, "weight_expiration_period": null,
            "enable_oob_load_report": null, "oob_reporting_period": null,
            "oob_reporting_config": null
        }),
        json!({"oob_reporting_config": {}, "metric_names_for_computing_utilization": []}),
    ] {
        assert_eq!(load_aware(settings), Ok(expected.clone()));
    }
}

#[test]
fn every_field_of_load_aware_locality_arrives_in_its_own_place() {
    let settings = load_aware(json!({
        "weight_update_period": "2s",
        "metric_names_for_computing_utilization": ["named_metrics.b", "bogus", "", "named_metrics.a"],
        "utilization_variance_threshold": 0.05,
        "smoothingTimeConstant": "4s",
        "remote_probe_fraction": 0.07,
        "weight_expiration_period": "15s",
        "enable_oob_load_report": true,
        "oob_reporting_period": "7s",
        "oobReportingConfig": {
            "port_value": 9001, "authority": "reports.local",
            "transport_socket_match_criteria": {"any": {"thing": 1}}
        }
    }));
    let names = ["named_metrics.b", "bogus", "", "named_metrics.a"];
    let expected = LoadAware {
        weight_update_period: Duration::from_secs(2),
        metric_names_for_computing_utilization: names.map(str::to_owned).into(),
        utilization_variance_threshold: 0.05,
        smoothing_time_constant: Duration::from_secs(4),
        remote_probe_fraction: 0.07,
        weight_expiration_period: Duration::from_secs(15),
        enable_oob_load_report: true,
        oob_reporting_period: Duration::from_secs(7),
        oob_reporting_config: OutOfBandReporting {
            port_value: 9001,
            authority: "reports.local".to_owned(),
        },
    };
    assert_eq!(settings, Ok(expected));
}

#[test]
fn the_bounds_of_load_aware_locality_are_inclusive_but_for_the_probe() {
    for settings in [
        json!({"weight_update_period": "0.1s"}),
        json!({"weight_update_period": "9223372035s"}),
        json!({"smoothing_time_constant": "0.001s"}),
        json!({"smoothing_time_constant": "9223372035.5s"}),
        json!({"utilization_variance_threshold": 0}),
        json!({"utilization_variance_threshold": 1}),
        json!({"remote_probe_fraction": 0}),
        json!({"remote_probe_fraction": 0.999}),
        json!({"weight_expiration_period": "0s"}),
        json!({"weight_expiration_period": "0.0001s"}),
        json!({"oob_reporting_period": "0s"}),
        json!({"oob_reporting_config": {"port_value": 65535}}),
    ] {
        assert!(load_aware(settings.clone()).is_ok(), "{settings}");
    }
}

const PERIOD: &str = "weight_update_period must be at least 100ms";
const TIME_CONSTANT: &str = "smoothing_time_constant must be positive";
const THRESHOLD: &str = "utilization_variance_threshold must be in [0, 1]";
const PROBE: &str = "remote_probe_fraction must be in [0, 1)";
const NEGATIVE: &str = "Invalid duration: Expected positive duration: seconds: -1";

#[test]
fn a_wrong_setting_of_load_aware_locality_is_refused_with_envoys_text() {
    let out_of_range = "Invalid duration: Duration out-of-range: seconds: 9223372036";
    for (field, value, message) in [
        ("weight_update_period", json!("0s"), PERIOD),
        ("weight_update_period", json!("0.05s"), PERIOD),
        ("weight_update_period", json!("0.0999s"), PERIOD),
        ("weight_update_period", json!("-1s"), NEGATIVE),
        ("weight_update_period", json!("9223372036s"), out_of_range),
        ("smoothing_time_constant", json!("0s"), TIME_CONSTANT),
        ("smoothing_time_constant", json!("0.0005s"), TIME_CONSTANT),
        ("smoothing_time_constant", json!("-1s"), NEGATIVE),
        ("utilization_variance_threshold", json!(-0.1), THRESHOLD),
        ("utilization_variance_threshold", json!(1.5), THRESHOLD),
        ("utilization_variance_threshold", json!("NaN"), THRESHOLD),
        ("remote_probe_fraction", json!(1.0), PROBE),
        ("remote_probe_fraction", json!(-0.01), PROBE),
        ("remote_probe_fraction", json!("NaN"), PROBE),
        ("weight_expiration_period", json!("-1s"), NEGATIVE),
        ("oob_reporting_period", json!("-1s"), NEGATIVE),
        ("enable_oob_load_report", json!(1), "expected true or false"),
        ("metric_names_for_computing_utilization", json!("eps"), "expected a list"),
        ("probe_percentage", json!(3), "no such field: probe_percentage"),
        ("locality_lb_config", json!({}), "no such field: locality_lb_config"),
    ] {
        let config = with(&[entry(ROUND_ROBIN, json!({}))], json!({field: value}));
        check_refused(LOAD_AWARE, config, field, message);
    }
}

#[test]
fn what_envoy_accepts_by_mistake_in_load_aware_locality_is_refused() {
    for (value, field, message) in [
        (
            json!({"port_value": 70000}),
            "oob_reporting_config.port_value",
            "OrcaOobReportingConfigValidationError.PortValue: value must be less than or equal to \
             65535",
        ),
        (
            json!({"authority": "a\nb"}),
            "oob_reporting_config.authority",
            "a name has no control characters",
        ),
    ] {
        for enabled in [false, true] {
            let settings =
                json!({"enable_oob_load_report": enabled, "oob_reporting_config": value});
            let config = with(&[entry(ROUND_ROBIN, json!({}))], settings);
            check_refused(LOAD_AWARE, config, field, message);
        }
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/config.cc#loadConfig
#[test]
fn of_several_mistakes_the_one_that_envoy_names_is_named() {
    let mistakes = [
        ("weight_update_period", json!("0.05s"), PERIOD),
        ("smoothing_time_constant", json!("-1s"), NEGATIVE),
        ("utilization_variance_threshold", json!(2), THRESHOLD),
        ("remote_probe_fraction", json!(1), PROBE),
        ("weight_expiration_period", json!("-1s"), NEGATIVE),
        ("oob_reporting_period", json!("-1s"), NEGATIVE),
    ];
    for (first, (field, _, message)) in mistakes.iter().enumerate() {
        let mut settings = json!({});
        for (field, value, _) in &mistakes[first..] {
            settings[*field] = value.clone();
        }
        check_refused(LOAD_AWARE, settings.clone(), field, message);
        let wrong_inside = entry(WEIGHTED, json!({"blackout_period": "-2s"}));
        check_refused(LOAD_AWARE, with(&[wrong_inside], settings), field, message);
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/config.cc#loadConfig
#[test]
fn the_first_policy_inside_that_envoy_knows_chooses_hosts() {
    let least_request =
        Policy::LeastRequest(LeastRequest { choice_count: 5, ..LeastRequest::default() });
    let weighted = Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin::default());
    let maglev = Policy::Maglev(Maglev { table_size: 7, ..Maglev::default() });
    for (policy, config, expected) in [
        (ROUND_ROBIN, json!({}), Policy::ROUND_ROBIN),
        (LEAST_REQUEST, json!({"choice_count": 5}), least_request),
        (RANDOM, json!({}), Policy::Random),
        (WEIGHTED, json!({}), weighted),
        ("maglev.v3.Maglev", json!({"table_size": 7}), maglev),
        ("ring_hash.v3.RingHash", json!({}), Policy::RingHash(RingHash::default())),
    ] {
        let policies = [unknown(), entry(policy, config), entry("maglev.v3.Maglev", json!({}))];
        let config = read(LOAD_AWARE, with(&policies, json!({}))).expect(policy);
        let expected = ClusterConfig {
            policy: expected,
            locality_routing: LocalityRouting::LoadAware(LoadAware::default()),
            ..ClusterConfig::new("api")
        };
        assert_eq!(config, expected);
    }
}

#[test]
fn what_a_policy_inside_says_of_localities_is_checked_and_has_no_effect() {
    for localities in [
        json!({"zone_aware_lb_config": {"fail_traffic_on_panic": true, "force_local_zone": {}}}),
        json!({"locality_weighted_lb_config": {}}),
    ] {
        let policy = entry(RANDOM, json!({"locality_lb_config": localities}));
        let config = read(LOAD_AWARE, with(&[policy], json!({}))).expect("valid");
        assert_eq!(config.locality_routing, LocalityRouting::LoadAware(LoadAware::default()));
        assert!(!config.fail_traffic_on_panic);
    }
    let policy = entry("maglev.v3.Maglev", json!({"locality_weighted_lb_config": {}}));
    let config = read(LOAD_AWARE, with(&[policy], json!({}))).expect("valid");
    assert_eq!(config.locality_routing, LocalityRouting::LoadAware(LoadAware::default()));
    let wrong = json!({"zone_aware_lb_config": {"routing_enabled": {"value": 101}}});
    let policy = entry(RANDOM, json!({"locality_lb_config": wrong}));
    check_refused(
        LOAD_AWARE,
        with(&[policy], json!({})),
        &format!("{}.locality_lb_config.zone_aware_lb_config.routing_enabled", inside(0)),
        "PercentValidationError.Value: value must be inside range [0, 100]",
    );
}

//= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/config.cc#loadConfig
#[test]
fn a_wrong_policy_inside_is_refused_with_its_whole_path() {
    let round_robin = || entry(ROUND_ROBIN, json!({}));
    for (policy, below, message) in [
        (
            entry(LOAD_AWARE, with(&[round_robin()], json!({}))),
            "",
            "load_aware_locality cannot be its own endpoint_picking_policy",
        ),
        (
            entry(LOAD_AWARE, json!({"weight_update_period": "0s"})),
            "",
            "load_aware_locality cannot be its own endpoint_picking_policy",
        ),
        (
            entry(LEAST_REQUEST, json!({"choice_count": 1})),
            ".choice_count",
            "LeastRequestValidationError.ChoiceCount: value must be greater than or equal to 2",
        ),
        (
            entry(WEIGHTED, json!({"blackout_period": "-2s"})),
            ".blackout_period",
            "Invalid duration: Expected positive duration: seconds: -2",
        ),
        (
            entry(RANDOM, json!({"slow_start_config": {}})),
            ".slow_start_config",
            "no such field: slow_start_config",
        ),
        (
            entry(ROUND_ROBIN, json!({"locality_lb_config": {}})),
            ".locality_lb_config",
            "value is required",
        ),
    ] {
        let config = with(&[unknown(), policy, round_robin()], json!({}));
        check_refused(LOAD_AWARE, config, &format!("{}{below}", inside(1)), message);
    }
}

#[test]
fn a_policy_inside_that_only_envoy_has_is_unsupported() {
    for (policy, what) in [
        ("cluster_provided.v3.ClusterProvided", "cluster_provided"),
        ("dynamic_modules.v3.DynamicModulesLoadBalancerConfig", "dynamic_modules"),
        ("override_host.v3.OverrideHost", "override_host in load_aware_locality"),
        ("subset.v3.Subset", "subset"),
        (WRR_LOCALITY, "wrr_locality in load_aware_locality"),
    ] {
        let policies = [entry(policy, json!({})), entry(ROUND_ROBIN, json!({}))];
        let config = entry(LOAD_AWARE, with(&policies, json!({})));
        let cluster = json!({"name": "api", "load_balancing_policy": {"policies": [config]}});
        let error = parse_cluster(&cluster.to_string()).expect_err(policy);
        assert_eq!(error.code(), "unsupported");
        assert_eq!(error.field(), format!("{TYPED_CONFIG}.{}", inside(0)));
        assert!(matches!(error, ParseError::Config(error)
            if error.to_string() == format!("the policy {what} is not supported")));
    }
}

#[test]
fn a_list_inside_without_a_known_policy_gets_envoys_text() {
    for policy in [WRR_LOCALITY, LOAD_AWARE] {
        for config in [
            json!({}),
            json!({"endpoint_picking_policy": null}),
            json!({"endpoint_picking_policy": {}}),
            with(&[], json!({})),
            with(&[unknown(), unknown()], json!({})),
        ] {
            check_refused(policy, config, "endpoint_picking_policy", NOTHING_KNOWN);
        }
        let config = json!({"endpoint_picking_policy": {"policies": [{}]}});
        let field = "endpoint_picking_policy.policies[0].typed_extension_config";
        check_refused(policy, config, field, "value is required");
    }
}

#[test]
fn a_list_is_not_left_for_a_later_entry_because_of_what_is_inside() {
    let policies = json!([entry(LOAD_AWARE, json!({})), entry(RANDOM, json!({}))]);
    let cluster = json!({"name": "api", "load_balancing_policy": {"policies": policies}});
    let error = cluster_from_value(&cluster).expect_err("nothing inside");
    assert_eq!(error.field(), format!("{TYPED_CONFIG}.endpoint_picking_policy"));
}

#[test]
fn a_typed_struct_may_carry_a_policy_and_the_one_inside() {
    let carry = |policy: &str, value: Value| {
        let url = format!("t/envoy.extensions.load_balancing_policies.{policy}");
        let config = json!({"@type": "t/xds.type.v3.TypedStruct", "type_url": url, "value": value});
        json!({"typed_extension_config": {"name": "any", "typed_config": config}})
    };
    let read = |value: Value| {
        let policies = json!([carry(LOAD_AWARE, value)]);
        let cluster = json!({"name": "api", "load_balancing_policy": {"policies": policies}});
        cluster_from_value(&cluster).map(|file| file.config)
    };
    let inner = |choices: u32| carry(LEAST_REQUEST, json!({"choice_count": choices}));
    let config = read(with(&[inner(3)], json!({"weight_update_period": "2s"}))).expect("valid");
    assert_eq!(config.policy.name(), "least_request");
    let period = Duration::from_secs(2);
    let expected = LoadAware { weight_update_period: period, ..LoadAware::default() };
    assert_eq!(config.locality_routing, LocalityRouting::LoadAware(expected));

    let error = read(with(&[inner(1)], json!({}))).expect_err("too few choices");
    let path = format!("{TYPED_CONFIG}.value.{}.value.choice_count", inside(0));
    assert_eq!(error.field(), path);
    let error = read(Value::Null).expect_err("nothing inside");
    assert_eq!(error.field(), format!("{TYPED_CONFIG}.value.endpoint_picking_policy"));
    assert_eq!(error.to_string(), NOTHING_KNOWN);
}

#[test]
fn neither_policy_tolerates_the_older_settings_beside_it() {
    let policies = [
        entry(LOAD_AWARE, with(&[entry(ROUND_ROBIN, json!({}))], json!({}))),
        entry(WRR_LOCALITY, with(&[entry(WEIGHTED, json!({}))], json!({}))),
        entry(WEIGHTED, json!({})),
    ];
    for policy in policies {
        for older in ["zone_aware_lb_config", "locality_weighted_lb_config"] {
            let cluster = json!({
                "name": "api", "common_lb_config": {older: {}},
                "load_balancing_policy": {"policies": [policy]}
            });
            let error = cluster_from_value(&cluster).expect_err(older);
            assert_eq!(error.field(), "common_lb_config");
        }
    }
}
