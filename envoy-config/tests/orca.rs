//! Load reports in JSON: what was recorded from Envoy 1.40.0, its own parser's tests, and where
//! this reader is stricter.

use plimsoll::orca::{Headers, LoadReport, Parser, Reason, ReportError};
use plimsoll_envoy_config::parse_load_report;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a header `endpoint-load-metrics` of JSON gives.
fn header(json: &str) -> Result<LoadReport, (Reason, String)> {
    let value = format!("JSON {json}");
    let headers = Headers { text: Some(value.as_bytes()), ..Headers::default() };
    let mut parser = Parser::new();
    let outcome = parser.read(headers, Some(&parse_load_report));
    outcome
        .map(|report| report.to_owned_report())
        .map_err(|error| (error.reason(), error.to_string()))
}

fn cpu(cpu_utilization: f64) -> LoadReport {
    LoadReport { cpu_utilization, ..LoadReport::default() }
}

fn named(key: &str, value: f64) -> LoadReport {
    LoadReport { named_metrics: [(key.to_owned(), value)].into(), ..LoadReport::default() }
}

/// The debug text, so that what is not a number equals itself.
fn text(report: &LoadReport) -> String {
    format!("{report:?}")
}

//= envoy v1.40 source/common/orca/orca_parser.cc#parseOrcaLoadReportHeaders
#[test]
fn a_report_in_json_is_what_it_is_in_envoy() {
    for (json, envoy) in [
        ("{}", LoadReport::default()),
        (r#"{"cpu_utilization":0.7}"#, cpu(0.7)),
        (r#"{"cpuUtilization":0.7}"#, cpu(0.7)),
        (r#"{"cpu_utilization":"0.7"}"#, cpu(0.7)),
        (r#"{"cpu_utilization":"NaN"}"#, cpu(f64::NAN)),
        (r#"{"cpu_utilization":"Infinity"}"#, cpu(f64::INFINITY)),
        (r#"{"cpu_utilization":"-Infinity"}"#, cpu(f64::NEG_INFINITY)),
        (r#"{"cpu_utilization":-1}"#, cpu(-1.0)),
        (r#"{"cpu_utilization":null}"#, LoadReport::default()),
        (r#"{"named_metrics":{"":1}}"#, named("", 1.0)),
        (r#"{"named_metrics":{"a":-1}}"#, named("a", -1.0)),
        (r#"{"named_metrics":{"a":"NaN"}}"#, named("a", f64::NAN)),
        (r#"{"namedMetrics":null}"#, LoadReport::default()),
        (r#"{"rps":100}"#, LoadReport { rps: 100, ..LoadReport::default() }),
        (r#"{"rps":"100"}"#, LoadReport { rps: 100, ..LoadReport::default() }),
        (
            r#"{"rps":"18446744073709551615"}"#,
            LoadReport { rps: u64::MAX, ..LoadReport::default() },
        ),
        (r#"{"mem_utilization":2}"#, LoadReport { mem_utilization: 2.0, ..LoadReport::default() }),
        (r#" {"cpu_utilization":0.7}"#, cpu(0.7)),
        (r#"{"cpu_utilization":0.7} "#, cpu(0.7)),
    ] {
        assert_eq!(header(json).as_ref().map(text), Ok(text(&envoy)), "{json}");
    }
}

/// The texts go on differently: Envoy's end in what protobuf says, with blanks at random.
#[test]
fn what_envoy_refuses_is_refused() {
    for (json, at, problem) in [
        ("null", "", "expected an object"),
        ("[]", "", "expected an object"),
        ("1", "", "expected an object"),
        (r#"{"cpu_utilization":true}"#, " @ cpu_utilization", "expected a number"),
        (r#"{"cpu_utilization":0.7}x"#, "", "trailing characters"),
        (r#"{"unknown":1}"#, " @ unknown", "no such field: unknown"),
        (r#"{"named_metrics":{"a":1,"a":2}}"#, "", "the key \"a\" appears twice"),
        (r#"{"named_metrics":{"a":null}}"#, " @ named_metrics[\"a\"]", "expected a number"),
        (r#"{"named_metrics":[1]}"#, " @ named_metrics", "expected an object"),
        (r#"{"rps":-1}"#, " @ rps", "expected an integer"),
        (r#"{"rps":0.5}"#, " @ rps", "expected an integer"),
        (r#"{"cpu_utilization":1e400}"#, "", "number out of range"),
        ("not-json", "", "expected ident"),
        // Of Envoy's own tests.
        ("JSON not-a-valid-json-string", "", "expected value"),
        (r#"{"cpu_utilization":"0.7""#, "", "EOF while parsing an object"),
        (
            r#"{"cpu_utilization":0.7,"unknown_field":2}"#,
            " @ unknown_field",
            "no such field: unknown_field",
        ),
    ] {
        let (reason, error) = header(json).unwrap_err();
        assert_eq!(reason, Reason::Json, "{json}");
        let start = format!("invalid JSON in xds.data.orca.v3.OrcaLoadReport{at}: ");
        let told = error.strip_prefix(&start).unwrap_or_else(|| panic!("{json}: {error}"));
        assert!(told.contains(problem), "{json}: {told}");
    }
}

/// Protobuf's older JSON parser takes these. They are not proto3 JSON, or have two meanings.
#[test]
fn what_only_envoy_takes_is_refused() {
    for json in [
        // Another spelling than proto3 JSON has.
        r#"{"cpu_utilization":"nan"}"#,
        // Not JSON.
        r#"{"cpu_utilization":0.7,}"#,
        "{'cpu_utilization':0.7}",
        "{cpu_utilization:0.7}",
        // Envoy takes the last one; whoever reads the header may have seen the first.
        r#"{"cpu_utilization":0.7,"cpu_utilization":0.8}"#,
        r#"{"cpu_utilization":0.7,"cpuUtilization":0.8}"#,
    ] {
        let (reason, error) = header(json).unwrap_err();
        assert_eq!(reason, Reason::Json, "{json}");
        assert!(error.starts_with("invalid JSON in "), "{json}: {error}");
    }
}

#[test]
fn every_field_has_its_own_place_in_both_spellings() {
    let expected = LoadReport {
        cpu_utilization: 0.7,
        mem_utilization: 0.9,
        rps: 3,
        request_cost: [("c".to_owned(), 4.0)].into(),
        utilization: [("total".to_owned(), 0.5)].into(),
        rps_fractional: 1_000.0,
        eps: 2.0,
        named_metrics: [("foo".to_owned(), 123.0), ("bar".to_owned(), 0.2)].into(),
        application_utilization: 0.8,
    };
    let snake = r#"{
        "cpu_utilization": 0.7, "mem_utilization": 0.9, "rps": 3, "request_cost": {"c": 4},
        "utilization": {"total": 0.5}, "rps_fractional": 1000, "eps": 2,
        "named_metrics": {"foo": 123, "bar": 0.2}, "application_utilization": 0.8
    }"#;
    let camel = r#"{
        "cpuUtilization": 0.7, "memUtilization": 0.9, "rps": "3", "requestCost": {"c": 4},
        "utilization": {"total": 0.5}, "rpsFractional": 1000, "eps": 2,
        "namedMetrics": {"foo": 123, "bar": 0.2}, "applicationUtilization": 0.8
    }"#;
    assert_eq!(header(snake).as_ref(), Ok(&expected));
    assert_eq!(header(camel).as_ref(), Ok(&expected));
}

#[test]
fn bytes_that_are_not_utf_8_are_not_json() {
    let error = parse_load_report(b"{\"eps\":1\xff}").unwrap_err().to_string();
    assert!(error.starts_with("invalid JSON in xds.data.orca.v3.OrcaLoadReport: "), "{error}");
    let headers = Headers { text: Some(b"JSON \xff"), ..Headers::default() };
    let mut parser = Parser::new();
    let error = parser.read(headers, Some(&parse_load_report)).unwrap_err();
    assert!(matches!(error, ReportError::Json(_)));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[0-9.eE+-]{0,6}|NaN|-?Infinity".prop_map(Value::from),
    ];
    let name = prop_oneof![
        prop::sample::select(vec!["cpu_utilization", "eps", "rps", "named_metrics", "utilization"])
            .prop_map(str::to_owned),
        ".{0,3}",
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop::collection::btree_map(name.clone(), inner, 0..4)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
}

proptest! {
    #[test]
    fn any_json_gives_a_report_or_an_error(value in value()) {
        if let Err((reason, error)) = header(&value.to_string()) {
            prop_assert_eq!(reason, Reason::Json);
            prop_assert!(error.starts_with("invalid JSON in "), "{}", error);
        }
    }

    #[test]
    fn a_report_comes_back_from_its_json(
        numbers in prop::array::uniform2(any::<f64>()),
        rps: u64,
        named_metrics in prop::collection::btree_map(".{0,6}", any::<f64>(), 0..5),
    ) {
        let number = |value: f64| match value {
            _ if value.is_nan() => json!("NaN"),
            f64::INFINITY => json!("Infinity"),
            f64::NEG_INFINITY => json!("-Infinity"),
            _ => json!(value),
        };
        let [cpu_utilization, eps] = numbers;
        let metrics: serde_json::Map<String, Value> =
            named_metrics.iter().map(|(key, &value)| (key.clone(), number(value))).collect();
        let json = json!({
            "cpu_utilization": number(cpu_utilization), "eps": number(eps), "rps": rps,
            "named_metrics": metrics,
        });
        let report =
            LoadReport { cpu_utilization, eps, rps, named_metrics, ..LoadReport::default() };
        let seen = header(&json.to_string());
        prop_assert_eq!(seen.as_ref().map(text), Ok(text(&report)));
    }
}
