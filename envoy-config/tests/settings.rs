//! What a policy is told: what arrives from each of Envoy's places for it, and what is refused
//! there.
//!
//! The values that the fuzzers of Envoy found are from its corpora for these policies.

use std::time::Duration;

use plimsoll::config::{
    ConfigError, LeastRequest, MAX_CHOICE_COUNT, Policy, RoundRobin, RuntimeDouble,
    SelectionMethod, SlowStart,
};
use plimsoll_envoy_config::{cluster_from_value, parse_cluster};
use serde_json::{Value, json};

/// A policy by the names that Envoy has for it.
struct Names {
    message: &'static str,
    lb_policy: &'static str,
    older: &'static str,
}

const ROUND_ROBIN: Names = Names {
    message: "round_robin.v3.RoundRobin",
    lb_policy: "ROUND_ROBIN",
    older: "round_robin_lb_config",
};

const LEAST_REQUEST: Names = Names {
    message: "least_request.v3.LeastRequest",
    lb_policy: "LEAST_REQUEST",
    older: "least_request_lb_config",
};

const TYPED_CONFIG: &str = "load_balancing_policy.policies[0].typed_extension_config.typed_config";

/// A cluster, and the path of its policy's settings in it.
type Place = (Value, String);

fn listed(typed_config: &Value) -> Value {
    json!({"name": "api", "load_balancing_policy": {"policies": [
        {"typed_extension_config": {"name": "any", "typed_config": typed_config}}
    ]}})
}

/// The two forms of a policy's own message.
fn own_places(policy: &Names, settings: &Value) -> [Place; 2] {
    let url = format!("t/envoy.extensions.load_balancing_policies.{}", policy.message);
    let mut inline = settings.clone();
    inline["@type"] = json!(url);
    let within = json!({"@type": "t/xds.type.v3.TypedStruct", "type_url": url, "value": settings});
    [(listed(&inline), TYPED_CONFIG.to_owned()), (listed(&within), format!("{TYPED_CONFIG}.value"))]
}

fn older_place(policy: &Names, settings: &Value) -> Place {
    let cluster = json!({"name": "api", "lb_policy": policy.lb_policy, policy.older: settings});
    (cluster, policy.older.to_owned())
}

fn every_place(policy: &Names, settings: &Value) -> [Place; 3] {
    let [inline, within] = own_places(policy, settings);
    [inline, within, older_place(policy, settings)]
}

fn read(cluster: &Value) -> Result<Policy, ConfigError> {
    cluster_from_value(cluster).map(|file| file.config.policy)
}

fn check_accepted(places: impl IntoIterator<Item = Place>, expected: &Policy) {
    for (cluster, _) in places {
        assert_eq!(read(&cluster).as_ref(), Ok(expected), "{cluster}");
    }
}

fn check_refused(places: impl IntoIterator<Item = Place>, field: &str, message: &str) {
    for (cluster, path) in places {
        let error = read(&cluster).expect_err(&cluster.to_string());
        assert_eq!(error.field(), format!("{path}.{field}"), "{cluster}");
        assert_eq!(error.to_string(), message, "{cluster}");
    }
}

fn double(default_value: f64) -> Option<RuntimeDouble> {
    Some(RuntimeDouble { default_value, runtime_key: "key".to_owned() })
}

fn round_robin(slow_start: SlowStart) -> Policy {
    Policy::RoundRobin(RoundRobin { slow_start: Some(slow_start) })
}

//= envoy v1.40 api/envoy/config/cluster/v3/cluster.proto#LeastRequestLbConfig
#[test]
fn settings_arrive_from_every_place() {
    let slow_start = json!({
        "slow_start_window": "10s", "min_weight_percent": {"value": 0.2},
        "aggression": {"default_value": 2.0, "runtime_key": "key"}
    });
    let expected = SlowStart {
        window: Duration::from_secs(10),
        aggression: double(2.0),
        min_weight_percent: 0.2,
    };
    let settings = json!({"slow_start_config": slow_start});
    check_accepted(every_place(&ROUND_ROBIN, &settings), &round_robin(expected.clone()));

    let settings = json!({
        "choice_count": 233, "active_request_bias": {"default_value": 0.5, "runtime_key": "key"},
        "slow_start_config": slow_start
    });
    let expected = LeastRequest {
        choice_count: 233,
        active_request_bias: double(0.5),
        slow_start: Some(expected),
        ..LeastRequest::default()
    };
    check_accepted(every_place(&LEAST_REQUEST, &settings), &Policy::LeastRequest(expected));
}

#[test]
fn what_is_not_said_has_envoys_default() {
    for settings in [json!({}), json!({"slow_start_config": null})] {
        check_accepted(every_place(&ROUND_ROBIN, &settings), &Policy::ROUND_ROBIN);
    }
    for settings in [
        json!({}),
        json!({"choice_count": null, "active_request_bias": null, "slow_start_config": null}),
        json!({"choice_count": 2}),
    ] {
        check_accepted(every_place(&LEAST_REQUEST, &settings), &Policy::LEAST_REQUEST);
    }
    for (policy, expected) in
        [(ROUND_ROBIN, Policy::ROUND_ROBIN), (LEAST_REQUEST, Policy::LEAST_REQUEST)]
    {
        let [_, (without_value, _)] = own_places(&policy, &Value::Null);
        assert_eq!(read(&without_value), Ok(expected.clone()));
        let bare = json!({"name": "api", "lb_policy": policy.lb_policy});
        assert_eq!(read(&bare), Ok(expected));
    }
    let bias = json!({"active_request_bias": {"runtime_key": "key"}});
    let expected = LeastRequest { active_request_bias: double(0.0), ..LeastRequest::default() };
    check_accepted(every_place(&LEAST_REQUEST, &bias), &Policy::LeastRequest(expected));
}

#[test]
fn a_slow_start_is_linear_from_a_tenth_unless_it_says_more() {
    let second = Duration::from_secs(1);
    for (slow_start, expected) in [
        (json!({}), SlowStart::new(Duration::ZERO)),
        (json!({"slow_start_window": "0s"}), SlowStart::new(Duration::ZERO)),
        (json!({"slow_start_window": "0.001s"}), SlowStart::new(Duration::from_millis(1))),
        (json!({"slow_start_window": "1s"}), SlowStart::new(second)),
        (
            json!({"slow_start_window": "9223372035.999999999s"}),
            SlowStart::new(Duration::new(9_223_372_035, 999_999_999)),
        ),
        (
            json!({"slow_start_window": "1s", "min_weight_percent": {}}),
            SlowStart { min_weight_percent: 0.0, ..SlowStart::new(second) },
        ),
        (
            json!({"slow_start_window": "1s", "min_weight_percent": {"value": 100}}),
            SlowStart { min_weight_percent: 100.0, ..SlowStart::new(second) },
        ),
    ] {
        let settings = json!({"slow_start_config": slow_start});
        check_accepted(every_place(&ROUND_ROBIN, &settings), &round_robin(expected));
    }
}

#[test]
fn the_extremes_that_envoys_fuzzers_found_are_accepted_and_exact() {
    for (slow_start, window, aggression, min_weight_percent) in [
        (
            r#"{"slow_start_window": "2s", "min_weight_percent": {"value": 5.05e-321},
                "aggression": {"default_value": 5.05e-321, "runtime_key": "key"}}"#,
            Duration::from_secs(2),
            5.05e-321,
            5.05e-321,
        ),
        (
            r#"{"slow_start_window": "8s", "min_weight_percent": {},
                "aggression": {"default_value": 3.9e-27, "runtime_key": "key"}}"#,
            Duration::from_secs(8),
            3.9e-27,
            0.0,
        ),
        (
            r#"{"slow_start_window": "94304.000004096s", "min_weight_percent": {"value": 0},
                "aggression": {"default_value": 2.0000612745, "runtime_key": "key"}}"#,
            Duration::new(94_304, 4_096),
            2.000_061_274_5,
            0.0,
        ),
    ] {
        let expected = SlowStart { window, aggression: double(aggression), min_weight_percent };
        let fields = format!("\"round_robin_lb_config\": {{\"slow_start_config\": {slow_start}}}");
        for text in [format!("{{\"name\": \"api\", {fields}}}"), format!("name: api\n{fields}")] {
            let file = parse_cluster(&text).expect(&text);
            assert_eq!(file.config.policy, round_robin(expected.clone()), "{text}");
        }
    }
    let settings = json!({
        "choice_count": MAX_CHOICE_COUNT,
        "active_request_bias": {"default_value": 34816, "runtime_key": "key"}
    });
    let expected = LeastRequest {
        choice_count: MAX_CHOICE_COUNT,
        active_request_bias: double(34816.0),
        ..LeastRequest::default()
    };
    check_accepted(every_place(&LEAST_REQUEST, &settings), &Policy::LeastRequest(expected));
}

#[test]
fn camel_case_and_yaml_give_the_same() {
    let expected = Policy::LeastRequest(LeastRequest {
        choice_count: 3,
        active_request_bias: double(1.5),
        selection_method: SelectionMethod::NChoices,
        slow_start: Some(SlowStart {
            window: Duration::from_millis(1500),
            aggression: double(2.0),
            min_weight_percent: 5.0,
        }),
    });
    let fields = "{ choiceCount: \"3\", \
                  activeRequestBias: { defaultValue: \"1.5\", runtimeKey: key }, \
                  slowStartConfig: { slowStartWindow: 1.500s, minWeightPercent: { value: 5 }, \
                  aggression: { defaultValue: 2, runtimeKey: key } }";
    let older = format!("name: api\nlbPolicy: 1\nleastRequestLbConfig: {fields} }}");
    let listed = format!(
        "name: api\nloadBalancingPolicy: {{ policies: [ {{ typedExtensionConfig: {{ name: any, \
         typedConfig: {fields}, enableFullScan: no, selectionMethod: N_CHOICES, \
         '@type': t/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest }} \
         }} }} ] }}"
    );
    for text in [older, listed] {
        assert_eq!(parse_cluster(&text).expect(&text).config.policy, expected, "{text}");
    }
}

//= envoy v1.40 api/envoy/extensions/load_balancing_policies/least_request/v3/least_request.proto#enable_full_scan
#[test]
fn the_selection_method_decides_and_its_predecessor_does_not() {
    for (settings, selection_method) in [
        (json!({"selection_method": "N_CHOICES"}), SelectionMethod::NChoices),
        (json!({"selection_method": 0}), SelectionMethod::NChoices),
        (json!({"selection_method": "FULL_SCAN"}), SelectionMethod::FullScan),
        (json!({"selection_method": 1}), SelectionMethod::FullScan),
        (json!({"enable_full_scan": true}), SelectionMethod::NChoices),
        (json!({"selection_method": 1, "enable_full_scan": false}), SelectionMethod::FullScan),
    ] {
        let expected = LeastRequest { selection_method, ..LeastRequest::default() };
        check_accepted(own_places(&LEAST_REQUEST, &settings), &Policy::LeastRequest(expected));
    }
}

#[test]
fn localities_are_read_beside_the_settings_of_least_request() {
    let settings = json!({
        "choice_count": 4,
        "locality_lb_config": {"zone_aware_lb_config": {"fail_traffic_on_panic": true}}
    });
    for (cluster, _) in own_places(&LEAST_REQUEST, &settings) {
        let config = cluster_from_value(&cluster).expect("valid").config;
        let expected = LeastRequest { choice_count: 4, ..LeastRequest::default() };
        assert_eq!(config.policy, Policy::LeastRequest(expected));
        assert!(config.fail_traffic_on_panic);
    }
}

const OUTSIDE_0_TO_100: &str = "PercentValidationError.Value: value must be inside range [0, 100]";
const NOT_A_NUMBER: &str = "Value not in the range of 0..100 range.";
const AGGRESSION: &str = "aggression must be finite and greater than 0";
const BIAS: &str = "the bias must be finite and at least 0";
const NOT_A_UINT32: &str = "expected an integer from 0 to 4294967295";

#[test]
fn a_wrong_slow_start_is_refused_in_every_place() {
    let aggression = |value: Value| json!({"aggression": value});
    let of_value = |value: Value| json!({"default_value": value, "runtime_key": "key"});
    let percent = |value: Value| json!({"min_weight_percent": value});
    let window = |text: &str| json!({"slow_start_window": text});
    let out_of_range = "Invalid duration: Duration out-of-range: seconds: 9223372036";
    for (slow_start, field, message) in [
        (window("0.000999999s"), ".slow_start_window", "a window is 0 or at least 1 ms"),
        (
            window("-1s"),
            ".slow_start_window",
            "Invalid duration: Expected positive duration: seconds: -1",
        ),
        (window("9223372036s"), ".slow_start_window", out_of_range),
        (
            json!({"slow_start_window": 1}),
            ".slow_start_window",
            "expected a duration such as \"1.5s\"",
        ),
        (percent(json!({"value": 101})), ".min_weight_percent", OUTSIDE_0_TO_100),
        (percent(json!({"value": -1})), ".min_weight_percent", OUTSIDE_0_TO_100),
        (percent(json!({"value": "Infinity"})), ".min_weight_percent", OUTSIDE_0_TO_100),
        (percent(json!({"value": "NaN"})), ".min_weight_percent", NOT_A_NUMBER),
        (percent(json!({"value": "all"})), ".min_weight_percent.value", "expected a number"),
        (
            percent(json!(10)),
            ".min_weight_percent",
            "expected a percentage such as {\"value\": 50}",
        ),
        (aggression(json!(1)), ".aggression", "expected an object"),
        (aggression(json!({})), ".aggression.runtime_key", "value is required"),
        (aggression(json!({"default_value": 1})), ".aggression.runtime_key", "value is required"),
        (
            aggression(json!({"default_value": 1, "runtime_key": ""})),
            ".aggression.runtime_key",
            "value is required",
        ),
        (aggression(json!({"runtime_key": "key"})), ".aggression.default_value", AGGRESSION),
        (aggression(of_value(json!(0))), ".aggression.default_value", AGGRESSION),
        (aggression(of_value(json!(-0.5))), ".aggression.default_value", AGGRESSION),
        (aggression(of_value(json!("NaN"))), ".aggression.default_value", AGGRESSION),
        (aggression(of_value(json!("Infinity"))), ".aggression.default_value", AGGRESSION),
        (aggression(of_value(json!([]))), ".aggression.default_value", "expected a number"),
        (aggression(json!({"value": 1})), ".aggression.value", "no such field: value"),
        (json!({"window": "1s"}), ".window", "no such field: window"),
        (json!("60s"), "", "expected an object"),
    ] {
        let settings = json!({"slow_start_config": slow_start});
        let field = format!("slow_start_config{field}");
        check_refused(every_place(&ROUND_ROBIN, &settings), &field, message);
        check_refused(every_place(&LEAST_REQUEST, &settings), &field, message);
    }
}

#[test]
fn a_slow_start_that_is_off_is_checked_all_the_same() {
    for slow_start in [
        json!({"aggression": {"default_value": "NaN", "runtime_key": "key"}}),
        json!({
            "slow_start_window": "0s", "aggression": {"default_value": 0, "runtime_key": "key"}
        }),
    ] {
        let settings = json!({"slow_start_config": slow_start});
        let field = "slow_start_config.aggression.default_value";
        check_refused(every_place(&ROUND_ROBIN, &settings), field, AGGRESSION);
    }
}

#[test]
fn a_wrong_least_request_is_refused_in_every_place() {
    let bias = |value: Value| {
        let runtime_double = json!({"default_value": value, "runtime_key": "key"});
        json!({"active_request_bias": runtime_double})
    };
    for (settings, field, message) in [
        (json!({"choice_count": -1}), "choice_count", NOT_A_UINT32),
        (json!({"choice_count": 2.5}), "choice_count", NOT_A_UINT32),
        (json!({"choice_count": 4_294_967_296_u64}), "choice_count", NOT_A_UINT32),
        (json!({"choice_count": {"value": 3}}), "choice_count", NOT_A_UINT32),
        (bias(json!(-1)), "active_request_bias.default_value", BIAS),
        (bias(json!("NaN")), "active_request_bias.default_value", BIAS),
        (bias(json!("Infinity")), "active_request_bias.default_value", BIAS),
        (bias(json!("-Infinity")), "active_request_bias.default_value", BIAS),
        (bias(json!(true)), "active_request_bias.default_value", "expected a number"),
        (
            json!({"active_request_bias": {}}),
            "active_request_bias.runtime_key",
            "value is required",
        ),
        (
            json!({"active_request_bias": {"default_value": 1}}),
            "active_request_bias.runtime_key",
            "value is required",
        ),
        (json!({"active_request_bias": 1}), "active_request_bias", "expected an object"),
        (json!({"choices": 2}), "choices", "no such field: choices"),
        (json!({"choice_count": 2, "choiceCount": 2}), "choice_count", "value appears twice"),
        (
            json!({"connection_aware_lb_config": {}}),
            "connection_aware_lb_config",
            "no such field: connection_aware_lb_config",
        ),
    ] {
        check_refused(every_place(&LEAST_REQUEST, &settings), field, message);
    }
}

//= envoy v1.40 api/envoy/config/cluster/v3/cluster.proto#LeastRequestLbConfig
#[test]
fn the_bounds_of_choice_count_have_the_name_of_their_message() {
    for (choice_count, bound) in [
        (json!(0), "greater than or equal to 2"),
        (json!(1), "greater than or equal to 2"),
        (json!("1"), "greater than or equal to 2"),
        (json!(65_537), "less than or equal to 65536"),
        (json!(4_294_967_295_u32), "less than or equal to 65536"),
    ] {
        let settings = json!({"choice_count": choice_count});
        let message = format!("LeastRequestValidationError.ChoiceCount: value must be {bound}");
        check_refused(own_places(&LEAST_REQUEST, &settings), "choice_count", &message);
        let message =
            format!("LeastRequestLbConfigValidationError.ChoiceCount: value must be {bound}");
        check_refused([older_place(&LEAST_REQUEST, &settings)], "choice_count", &message);
    }
}

#[test]
fn a_policys_own_message_has_more_fields_and_its_own_mistakes() {
    let methods = "expected N_CHOICES or FULL_SCAN";
    for (settings, field, message) in [
        (json!({"selection_method": 7}), "selection_method", methods),
        (json!({"selection_method": -1}), "selection_method", methods),
        (json!({"selection_method": "full_scan"}), "selection_method", methods),
        (json!({"selection_method": true}), "selection_method", methods),
        (json!({"enable_full_scan": "true"}), "enable_full_scan", "expected true or false"),
    ] {
        check_refused(own_places(&LEAST_REQUEST, &settings), field, message);
    }
    for field in ["selection_method", "enable_full_scan", "locality_lb_config"] {
        let message = format!("no such field: {field}");
        check_refused([older_place(&LEAST_REQUEST, &json!({field: null}))], field, &message);
    }
}
