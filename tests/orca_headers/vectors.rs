//! The vectors that were recorded from Envoy 1.40.0, and its own parser's tests. What comes in JSON
//! is in the tests of `plimsoll-envoy-config`, which reads it.

use plimsoll::orca::{Headers, LoadReport, MetricMap, Parser, Reason};

use super::{base64, outcome_of};

const FULL: &str = "CWZmZmZmZuY/Ec3MzMzMzOw/MQAAAAAAQI9AOQAAAAAAAABAQg4KA2ZvbxEAAAAAAMBeQEIOCgNiYXIRmpmZ\
                    mZmZyT9JmpmZmZmZ6T8=";
const FULL_REPORT: &str = "cpu_utilization: 0.7 mem_utilization: 0.9 rps_fractional: 1000 eps: 2 \
                           named_metrics { key: \"bar\" value: 0.2 } \
                           named_metrics { key: \"foo\" value: 123 } application_utilization: 0.8";
const NO_DATA: &str = "no ORCA data sent from the backend";

type Outcome = Result<&'static str, &'static str>;

fn filled_in(text: &str) -> String {
    text.replace("{FULL}", FULL)
        .replace("{FULL-nopad}", FULL.trim_end_matches('='))
        .replace("{FULL report}", FULL_REPORT)
}

/// The outcome of a block of headers.
fn outcome(headers: &[(&str, String)]) -> Result<String, String> {
    outcome_of(Headers::find(headers.iter().map(|(name, value)| (*name, value))))
}

fn expected(outcome: Outcome) -> Result<String, String> {
    outcome.map(filled_in).map_err(filled_in)
}

//= envoy v1.40 source/common/orca/orca_parser.cc#parseOrcaLoadReportHeaders
//= envoy v1.40 source/common/orca/orca_parser.cc#tryCopyMetricToOrcaLoadReport
//= envoy v1.40 source/common/orca/orca_parser.cc#SimpleAtod
#[test]
fn a_header_gives_the_report_or_the_error_that_it_gives_in_envoy() {
    let rows: &[(&str, Outcome)] = &[
        ("TEXT cpu_utilization=0.7", Ok("cpu_utilization: 0.7")),
        ("TEXT cpu_utilization:0.7", Ok("cpu_utilization: 0.7")),
        (
            "TEXT cpu_utilization=0.7,rps_fractional:100",
            Ok("cpu_utilization: 0.7 rps_fractional: 100"),
        ),
        ("text cpu_utilization=0.7", Err("unsupported ORCA header format: text")),
        ("Text cpu_utilization=0.7", Err("unsupported ORCA header format: Text")),
        ("TEXTcpu_utilization=0.7", Err("unsupported ORCA header format: TEXTc")),
        ("TEXT", Err("unsupported ORCA header format: TEXT")),
        ("TEXT ", Err("unsupported ORCA header format: TEXT")),
        ("TEXT\tcpu_utilization=0.7", Err("unsupported ORCA header format: TEXT\t")),
        ("TEXT  cpu_utilization=0.7", Ok("cpu_utilization: 0.7")),
        ("TEXT cpu_utilization = 0.7", Err("unsupported metric name: cpu_utilization ")),
        ("TEXT cpu_utilization =0.7", Err("unsupported metric name: cpu_utilization ")),
        ("TEXT cpu_utilization= 0.7", Ok("cpu_utilization: 0.7")),
        (
            "TEXT cpu_utilization=0.7, rps_fractional=100",
            Ok("cpu_utilization: 0.7 rps_fractional: 100"),
        ),
        (
            "TEXT cpu_utilization=0.7 ,rps_fractional=100",
            Ok("cpu_utilization: 0.7 rps_fractional: 100"),
        ),
        ("TEXT cpu_utilization=0.7,", Ok("cpu_utilization: 0.7")),
        ("TEXT ,cpu_utilization=0.7", Ok("cpu_utilization: 0.7")),
        ("TEXT ,,", Ok("")),
        ("TEXT cpu_utilization=0.7,,eps=1", Ok("cpu_utilization: 0.7 eps: 1")),
        (
            "TEXT cpu_utilization=0.7;eps=1",
            Err("unable to parse custom backend load metric value(cpu_utilization): 0.7;eps=1"),
        ),
        (
            "TEXT cpu_utilization=0.7 eps=1",
            Err("unable to parse custom backend load metric value(cpu_utilization): 0.7 eps=1"),
        ),
        (
            "TEXT named_metrics.a:b=1",
            Err("unable to parse custom backend load metric value(named_metrics.a): b=1"),
        ),
        (
            "TEXT named_metrics.a=b:1",
            Err("unable to parse custom backend load metric value(named_metrics.a): b:1"),
        ),
        (
            "TEXT named_metrics.a:b:1",
            Err("unable to parse custom backend load metric value(named_metrics.a): b:1"),
        ),
        (
            "TEXT named_metrics.a=b=1",
            Err("unable to parse custom backend load metric value(named_metrics.a): b=1"),
        ),
        (
            "TEXT cpu_utilization==1",
            Err("unable to parse custom backend load metric value(cpu_utilization): =1"),
        ),
        ("TEXT =1", Err("metric values cannot be empty strings")),
        ("TEXT :1", Err("metric values cannot be empty strings")),
        ("TEXT cpu_utilization=", Err("metric values cannot be empty strings")),
        ("TEXT cpu_utilization:", Err("metric values cannot be empty strings")),
        ("TEXT cpu_utilization", Err("metric values cannot be empty strings")),
        ("TEXT ==", Err("metric values cannot be empty strings")),
        (
            "TEXT cpu_utilization=:1",
            Err("unable to parse custom backend load metric value(cpu_utilization): :1"),
        ),
        (
            "TEXT cpu_utilization:=1",
            Err("unable to parse custom backend load metric value(cpu_utilization): =1"),
        ),
        ("TEXT cpu_utilization=1e3", Ok("cpu_utilization: 1000")),
        ("TEXT cpu_utilization=1E-3", Ok("cpu_utilization: 0.001")),
        ("TEXT cpu_utilization=0x10", Ok("cpu_utilization: 16")),
        ("TEXT cpu_utilization=+1", Ok("cpu_utilization: 1")),
        (
            "TEXT cpu_utilization=++1",
            Err("unable to parse custom backend load metric value(cpu_utilization): ++1"),
        ),
        ("TEXT cpu_utilization=.5", Ok("cpu_utilization: 0.5")),
        ("TEXT cpu_utilization=5.", Ok("cpu_utilization: 5")),
        (
            "TEXT cpu_utilization=.",
            Err("unable to parse custom backend load metric value(cpu_utilization): ."),
        ),
        (
            "TEXT cpu_utilization=1e400",
            Err("custom backend load metric value(cpu_utilization) cannot be infinity."),
        ),
        (
            "TEXT cpu_utilization=-1e400",
            Err("custom backend load metric value(cpu_utilization) cannot be infinity."),
        ),
        ("TEXT cpu_utilization=1e-400", Ok("")),
        ("TEXT cpu_utilization=-0", Ok("cpu_utilization: -0")),
        ("TEXT cpu_utilization=-0.0", Ok("cpu_utilization: -0")),
        (
            "TEXT cpu_utilization=-1",
            Err("custom backend load metric value(cpu_utilization) cannot be negative."),
        ),
        (
            "TEXT cpu_utilization=nan",
            Err("custom backend load metric value(cpu_utilization) cannot be NaN."),
        ),
        (
            "TEXT cpu_utilization=NaN",
            Err("custom backend load metric value(cpu_utilization) cannot be NaN."),
        ),
        (
            "TEXT cpu_utilization=-nan",
            Err("custom backend load metric value(cpu_utilization) cannot be NaN."),
        ),
        (
            "TEXT cpu_utilization=inf",
            Err("custom backend load metric value(cpu_utilization) cannot be infinity."),
        ),
        (
            "TEXT cpu_utilization=-inf",
            Err("custom backend load metric value(cpu_utilization) cannot be infinity."),
        ),
        (
            "TEXT cpu_utilization=Infinity",
            Err("custom backend load metric value(cpu_utilization) cannot be infinity."),
        ),
        (
            "TEXT cpu_utilization=1_000",
            Err("unable to parse custom backend load metric value(cpu_utilization): 1_000"),
        ),
        (
            "TEXT cpu_utilization=1.5f",
            Err("unable to parse custom backend load metric value(cpu_utilization): 1.5f"),
        ),
        (
            "TEXT cpu_utilization=1d",
            Err("unable to parse custom backend load metric value(cpu_utilization): 1d"),
        ),
        (
            "TEXT cpu_utilization=1.7976931348623157e308",
            Ok("cpu_utilization: 1.7976931348623157e308"),
        ),
        (
            "TEXT cpu_utilization=1.7976931348623159e308",
            Err("custom backend load metric value(cpu_utilization) cannot be infinity."),
        ),
        ("TEXT cpu_utilization=4.9e-324", Ok("cpu_utilization: 5e-324")),
        ("TEXT cpu_utilization=0.1000000000000000055511151231257827", Ok("cpu_utilization: 0.1")),
        (
            "TEXT cpu_utilization=\"0.7\"",
            Err("unable to parse custom backend load metric value(cpu_utilization): \"0.7\""),
        ),
        (
            "TEXT cpu_utilization=nan(abc)",
            Err("custom backend load metric value(cpu_utilization) cannot be NaN."),
        ),
        (
            "TEXT named_metrics.x=-1",
            Err("custom backend load metric value(named_metrics.x) cannot be negative."),
        ),
        (
            "TEXT utilization.x=-1",
            Err("custom backend load metric value(utilization.x) cannot be negative."),
        ),
        ("TEXT utilization.x=1.5", Ok("utilization { key: \"x\" value: 1.5 }")),
        ("TEXT request_cost.x=1", Err("unsupported metric name: request_cost.x")),
        ("TEXT rps=100", Err("unsupported metric name: rps")),
        ("TEXT mem_utilization=2", Ok("mem_utilization: 2")),
        (
            "TEXT rps_fractional=-1",
            Err("custom backend load metric value(rps_fractional) cannot be negative."),
        ),
        ("TEXT eps=-1", Err("custom backend load metric value(eps) cannot be negative.")),
        (
            "TEXT application_utilization=-0.5",
            Err("custom backend load metric value(application_utilization) cannot be negative."),
        ),
        ("TEXT named_metrics.=1", Err("named metric key is empty.")),
        ("TEXT utilization.=1", Err("utilization metric key is empty.")),
        ("TEXT named_metrics=1", Err("unsupported metric name: named_metrics")),
        ("TEXT utilization=1", Err("unsupported metric name: utilization")),
        ("TEXT named_metrics..=1", Ok("named_metrics { key: \".\" value: 1 }")),
        ("TEXT named_metrics.a.b.c=1", Ok("named_metrics { key: \"a.b.c\" value: 1 }")),
        ("TEXT named_metrics.*=1", Ok("named_metrics { key: \"*\" value: 1 }")),
        ("TEXT NAMED_METRICS.a=1", Err("unsupported metric name: NAMED_METRICS.a")),
        ("TEXT Cpu_Utilization=1", Err("unsupported metric name: Cpu_Utilization")),
        ("TEXT named_metrics. =1", Ok("named_metrics { key: \" \" value: 1 }")),
        ("TEXT named_metrics.a b=1", Ok("named_metrics { key: \"a b\" value: 1 }")),
        (
            "TEXT cpu_utilization=0.1,cpu_utilization:0.2",
            Err("endpoint-load-metrics contains duplicate metric: cpu_utilization"),
        ),
        (
            "TEXT cpu_utilization=0.1, cpu_utilization=0.2",
            Err("endpoint-load-metrics contains duplicate metric: cpu_utilization"),
        ),
        (
            "TEXT cpu_utilization=0.1,cpu_utilization =0.2",
            Err("unsupported metric name: cpu_utilization "),
        ),
        (
            "TEXT named_metrics.a=1,utilization.a=0.5",
            Ok("utilization { key: \"a\" value: 0.5 } named_metrics { key: \"a\" value: 1 }"),
        ),
        (
            "TEXT named_metrics.a=1,named_metrics.a=1",
            Err("endpoint-load-metrics contains duplicate metric: named_metrics.a"),
        ),
        ("TEXT cpu_utilization=0.7,foo=1", Err("unsupported metric name: foo")),
        ("TEXT foo=1,cpu_utilization=0.7", Err("unsupported metric name: foo")),
        ("TEXT foo=abc", Err("unable to parse custom backend load metric value(foo): abc")),
        ("TEXT foo=", Err("metric values cannot be empty strings")),
        (
            "TEXT cpu_utilization=0.7,application_utilization=0.8,mem_utilization=0.9,rps_fractional=1000,eps=2,named_metrics.foo=123,named_metrics.bar=0.2,utilization.total=0.5",
            Ok(
                "cpu_utilization: 0.7 mem_utilization: 0.9 utilization { key: \"total\" value: 0.5 } rps_fractional: 1000 eps: 2 named_metrics { key: \"bar\" value: 0.2 } named_metrics { key: \"foo\" value: 123 } application_utilization: 0.8",
            ),
        ),
        ("JSON", Err("unsupported ORCA header format: JSON")),
        ("JSON ", Err("unsupported ORCA header format: JSON")),
        ("json {\"cpu_utilization\":0.7}", Err("unsupported ORCA header format: json")),
        ("BIN", Err("unsupported ORCA header format: BIN")),
        ("BIN ", Err("unsupported ORCA header format: BIN")),
        ("BIN {FULL}", Ok("{FULL report}")),
        ("BIN  {FULL}", Err("unable to decode ORCA binary header value:  {FULL}")),
        ("bin {FULL}", Err("unsupported ORCA header format: bin")),
        ("BIN {FULL-nopad}", Ok("{FULL report}")),
        ("BINARY {FULL}", Err("unsupported ORCA header format: BINAR")),
        ("BAD random-value", Err("unsupported ORCA header format: BAD")),
        ("BADBAD random-value", Err("unsupported ORCA header format: BADBA")),
        ("AB cd ef", Err("unsupported ORCA header format: AB")),
        ("12345", Err("unsupported ORCA header format: 12345")),
        ("   x", Err("unsupported ORCA header format: x")),
        ("{}", Err("unsupported ORCA header format: {}")),
        ("cpu_utilization=0.7", Err("unsupported ORCA header format: cpu_u")),
    ];
    for &(value, envoy) in rows {
        let headers = [("endpoint-load-metrics", filled_in(value))];
        assert_eq!(outcome(&headers), expected(envoy), "{value:?}");
    }
}

#[test]
fn a_key_may_have_bytes_that_are_not_utf_8() {
    let headers = Headers { text: Some(b"TEXT named_metrics.\xE9=1"), ..Headers::default() };
    assert_eq!(outcome_of(headers).unwrap(), "named_metrics { key: \"\\xe9\" value: 1 }");
    let headers = Headers { text: Some(b"TEXT caf\xE9=1"), ..Headers::default() };
    assert_eq!(outcome_of(headers).unwrap_err(), "unsupported metric name: caf\\xe9");
}

//= envoy v1.40 source/common/common/base64.cc#decodeWithoutPadding
//= envoy v1.40 xds/data/orca/v3/orca_load_report.proto#OrcaLoadReport
#[test]
fn a_binary_header_gives_the_report_or_the_error_that_it_gives_in_envoy() {
    let rows: &[(&str, &str, Outcome)] = &[
        ("full", "{FULL}", Ok("{FULL report}")),
        (
            "unpadded grpc-go",
            "CQAAAAAAAOA/MQAAAAAAAFlAOQAAAAAAAABAQg4KA3JpZhEAAAAAAAAQQA",
            Ok(
                "cpu_utilization: 0.5 rps_fractional: 100 eps: 2 named_metrics { key: \"rif\" value: 4 }",
            ),
        ),
        (
            "padded grpc-go",
            "CQAAAAAAAOA/MQAAAAAAAFlAOQAAAAAAAABAQg4KA3JpZhEAAAAAAAAQQA==",
            Ok(
                "cpu_utilization: 0.5 rps_fractional: 100 eps: 2 named_metrics { key: \"rif\" value: 4 }",
            ),
        ),
        (
            "one pad",
            "CQAAAAAAAOA/MQAAAAAAAFlAOQAAAAAAAABAQg4KA3JpZhEAAAAAAAAQQA=",
            Ok(
                "cpu_utilization: 0.5 rps_fractional: 100 eps: 2 named_metrics { key: \"rif\" value: 4 }",
            ),
        ),
        (
            "over pad",
            "CQAAAAAAAOA/MQAAAAAAAFlAOQAAAAAAAABAQg4KA3JpZhEAAAAAAAAQQA===",
            Err(
                "unable to decode ORCA binary header value: CQAAAAAAAOA/MQAAAAAAAFlAOQAAAAAAAABAQg4KA3JpZhEAAAAAAAAQQA===",
            ),
        ),
        ("empty", "", Err("ORCA binary header value is empty")),
        (
            "text not-a-valid-binary-proto",
            "not-a-valid-binary-proto",
            Err("unable to decode ORCA binary header value: not-a-valid-binary-proto"),
        ),
        (
            "half",
            "CWZmZmZmZuY/Ec3MzMzMzOw/MQAAAAAAQI9AOQAAAAAAAABAQg4=",
            Err(
                "unable to parse binaryheader to OrcaLoadReport: CWZmZmZmZuY/Ec3MzMzMzOw/MQAAAAAAQI9AOQAAAAAAAABAQg4=",
            ),
        ),
        ("trailing space", "{FULL} ", Ok("{FULL report}")),
        (
            "urlsafe",
            "CWZmZmZmZuY_MUrYEk37IQlAQhEKBsO_w77DuxEAAAAAAADwPw==",
            Err(
                "unable to decode ORCA binary header value: CWZmZmZmZuY_MUrYEk37IQlAQhEKBsO_w77DuxEAAAAAAADwPw==",
            ),
        ),
        ("cpu NaN", "CQAAAAAAAPh/MQAAAAAAAFlA", Ok("cpu_utilization: nan rps_fractional: 100")),
        ("cpu inf", "CQAAAAAAAPB/MQAAAAAAAFlA", Ok("cpu_utilization: inf rps_fractional: 100")),
        ("cpu -1", "CQAAAAAAAPC/MQAAAAAAAFlA", Ok("cpu_utilization: -1 rps_fractional: 100")),
        ("rps inf", "CQAAAAAAAOA/MQAAAAAAAPB/", Ok("cpu_utilization: 0.5 rps_fractional: inf")),
        ("rps nan", "CQAAAAAAAOA/MQAAAAAAAPh/", Ok("cpu_utilization: 0.5 rps_fractional: nan")),
        (
            "eps -50 rps100 cpu .5",
            "CQAAAAAAAOA/MQAAAAAAAFlAOQAAAAAAAEnA",
            Ok("cpu_utilization: 0.5 rps_fractional: 100 eps: -50"),
        ),
        ("unknown field 15 varint", "CWZmZmZmZuY/eAE=", Ok("cpu_utilization: 0.7")),
        (
            "bad utf8 key",
            "Qg0KAv/+EQAAAAAAAPA/CWZmZmZmZuY/",
            Err("unable to parse binaryheader to OrcaLoadReport: Qg0KAv/+EQAAAAAAAPA/CWZmZmZmZuY/"),
        ),
        ("empty map key", "QgsKABEAAAAAAADwPw==", Ok("named_metrics { key: \"\" value: 1 }")),
        (
            "dup map key last wins",
            "QgwKAWERAAAAAAAA8D9CDAoBYREAAAAAAAAAQA==",
            Ok("named_metrics { key: \"a\" value: 2 }"),
        ),
        ("dup scalar last wins", "CZqZmZmZmbk/CZqZmZmZmck/", Ok("cpu_utilization: 0.2")),
        ("wrong wiretype f1 varint", "CAExAAAAAAAAFEA=", Ok("rps_fractional: 5")),
        ("deprecated rps", "GGQJAAAAAAAA4D8=", Ok("cpu_utilization: 0.5 rps: 100")),
        ("field0", "AAE=", Err("unable to parse binaryheader to OrcaLoadReport: AAE=")),
        ("group end", "DA==", Err("unable to parse binaryheader to OrcaLoadReport: DA==")),
        ("all-zero explicit", "CQAAAAAAAAAA", Ok("")),
    ];
    for &(name, value, envoy) in rows {
        let headers = [("endpoint-load-metrics-bin", filled_in(value))];
        assert_eq!(outcome(&headers), expected(envoy), "{name}");
    }
}

#[test]
fn the_first_binary_header_counts_and_then_the_first_text_header() {
    const TEXT: &str = "endpoint-load-metrics";
    const BIN: &str = "endpoint-load-metrics-bin";
    let rows: &[(&[(&str, &str)], Outcome)] = &[
        (&[], Err(NO_DATA)),
        (&[("wrong-header", "wrong-value")], Err(NO_DATA)),
        (&[("endpoint-load-metrics-json", r#"{"cpu_utilization":0.7}"#)], Err(NO_DATA)),
        (
            &[(TEXT, "TEXT cpu_utilization=0.1"), (TEXT, "TEXT cpu_utilization=0.2")],
            Ok("cpu_utilization: 0.1"),
        ),
        (
            &[(TEXT, "TEXT foo=0.1"), (TEXT, "TEXT cpu_utilization=0.2")],
            Err("unsupported metric name: foo"),
        ),
        (&[(BIN, "CZqZmZmZmbk/"), (BIN, "CZqZmZmZmck/")], Ok("cpu_utilization: 0.1")),
        (&[(TEXT, "TEXT cpu_utilization=0.1"), (BIN, "CZqZmZmZmck/")], Ok("cpu_utilization: 0.2")),
        (
            &[(TEXT, "TEXT cpu_utilization=0.1"), (BIN, "")],
            Err("ORCA binary header value is empty"),
        ),
        (
            &[(TEXT, "TEXT cpu_utilization=0.1"), (BIN, "!!")],
            Err("unable to decode ORCA binary header value: !!"),
        ),
        (&[("Endpoint-Load-Metrics", "TEXT eps=1")], Ok("eps: 1")),
        (&[("ENDPOINT-LOAD-METRICS-BIN", "CZqZmZmZmck/"), (TEXT, "")], Ok("cpu_utilization: 0.2")),
    ];
    for &(headers, envoy) in rows {
        let headers: Vec<(&str, String)> =
            headers.iter().map(|&(name, value)| (name, value.to_owned())).collect();
        assert_eq!(outcome(&headers), expected(envoy), "{headers:?}");
    }
}

/// The caller asks for trailers when the headers gave no report.
#[test]
fn trailers_count_when_headers_give_nothing() {
    const TEXT: &str = "endpoint-load-metrics";
    const BIN: &str = "endpoint-load-metrics-bin";
    type Block = Option<(&'static str, &'static str)>;
    let good = Some((TEXT, "TEXT cpu_utilization=0.1"));
    let rows: [(Block, Block, &str); 6] = [
        (None, Some((TEXT, "TEXT cpu_utilization=0.3")), "cpu_utilization: 0.3"),
        (None, Some((BIN, "CTMzMzMzM9M/")), "cpu_utilization: 0.3"),
        (good, Some((TEXT, "TEXT cpu_utilization=0.3")), "cpu_utilization: 0.1"),
        (
            Some((TEXT, "TEXT foo=0.1")),
            Some((TEXT, "TEXT cpu_utilization=0.3")),
            "cpu_utilization: 0.3",
        ),
        (good, Some((TEXT, "TEXT foo=1")), "cpu_utilization: 0.1"),
        (good, Some((BIN, "CTMzMzMzM9M/")), "cpu_utilization: 0.1"),
    ];
    for (headers, trailers, envoy) in rows {
        let outcome = |block: Block| outcome_of(Headers::find(block));
        let first = outcome(headers).or_else(|_| outcome(trailers));
        assert_eq!(first.as_deref(), Ok(envoy), "{headers:?} {trailers:?}");
    }
}

/// The report of Envoy's own tests.
fn example() -> LoadReport {
    LoadReport {
        cpu_utilization: 0.7,
        application_utilization: 0.8,
        mem_utilization: 0.9,
        rps_fractional: 1_000.0,
        eps: 2.0,
        named_metrics: [("foo".to_owned(), 123.0), ("bar".to_owned(), 0.2)].into(),
        utilization: [("total".to_owned(), 0.5)].into(),
        ..LoadReport::default()
    }
}

#[test]
fn envoys_own_parser_tests_hold() {
    let equals = "TEXT cpu_utilization=0.7,application_utilization=0.8,mem_utilization=0.9,\
                  rps_fractional=1000,eps=2,named_metrics.foo=123,named_metrics.bar=0.2,\
                  utilization.total=0.5";
    let text = |value: &str| {
        let headers = Headers { text: Some(value.as_bytes()), ..Headers::default() };
        let mut parser = Parser::new();
        let outcome = parser.read(headers, None).map(|report| report.to_owned_report());
        outcome.map_err(|error| (error.reason(), error.to_string()))
    };
    assert_eq!(text(equals), Ok(example()));
    assert_eq!(text(&equals.replace('=', ":")), Ok(example()));
    let unsupported = "unsupported ORCA header format";
    let value = "custom backend load metric value";
    for (header, reason, error) in [
        ("BAD random-value", Reason::UnsupportedFormat, format!("{unsupported}: BAD")),
        ("BADBAD random-value", Reason::UnsupportedFormat, format!("{unsupported}: BADBA")),
        ("", Reason::UnsupportedFormat, format!("{unsupported}: ")),
        (
            "TEXT cpu_utilization=\"0.7\"",
            Reason::Text,
            format!("unable to parse {value}(cpu_utilization): \"0.7\""),
        ),
        (
            "TEXT cpu_utilization=nan",
            Reason::Text,
            format!("{value}(cpu_utilization) cannot be NaN."),
        ),
        (
            "TEXT cpu_utilization=inf",
            Reason::Text,
            format!("{value}(cpu_utilization) cannot be infinity."),
        ),
        (
            "TEXT cpu_utilization=-1",
            Reason::Text,
            format!("{value}(cpu_utilization) cannot be negative."),
        ),
        (
            "TEXT named_metrics.duplicate=1,named_metrics.duplicate=2",
            Reason::Text,
            "endpoint-load-metrics contains duplicate metric: named_metrics.duplicate".to_owned(),
        ),
        (
            "TEXT cpu_utilization=0.7,unsupported_metric=0.8",
            Reason::Text,
            "unsupported metric name: unsupported_metric".to_owned(),
        ),
        ("TEXT utilization.=0.9", Reason::Text, "utilization metric key is empty.".to_owned()),
        ("TEXT named_metrics.=123", Reason::Text, "named metric key is empty.".to_owned()),
        (
            "TEXT not-a-list-of-key-value-pairs",
            Reason::Text,
            "metric values cannot be empty strings".to_owned(),
        ),
        ("TEXT =", Reason::Text, "metric names cannot be empty strings".to_owned()),
    ] {
        assert_eq!(text(header), Err((reason, error)), "{header}");
    }
}

#[test]
fn the_report_of_envoys_tests_is_the_same_in_protobuf() {
    let mut message = Vec::new();
    for (tag, value) in [(0x09, 0.7_f64), (0x49, 0.8), (0x11, 0.9), (0x31, 1_000.0), (0x39, 2.0)] {
        message.push(tag);
        message.extend(value.to_le_bytes());
    }
    for (tag, key, value) in [(0x42, "foo", 123.0_f64), (0x42, "bar", 0.2), (0x2a, "total", 0.5)] {
        let length = u8::try_from(key.len()).unwrap();
        message.extend([tag, length + 11, 0x0a, length]);
        message.extend(key.bytes().chain([0x11]).chain(value.to_le_bytes()));
    }
    let padded = base64(&message);
    let unpadded = padded.trim_end_matches('=').to_owned();
    let mut parser = Parser::new();
    for value in [padded.clone(), unpadded] {
        assert_eq!(parser.binary(value.as_bytes()).unwrap().to_owned_report(), example());
        let value = format!("BIN {value}");
        let headers = Headers { text: Some(value.as_bytes()), ..Headers::default() };
        assert_eq!(parser.read(headers, None).unwrap().to_owned_report(), example());
    }
    assert_eq!(parser.grpc(&message).unwrap().to_owned_report(), example());
    let half = base64(&message[..message.len() / 2]);
    let error = parser.binary(half.as_bytes()).unwrap_err();
    assert_eq!(error.reason(), Reason::Protobuf);
    assert_eq!(
        error.to_string(),
        format!("unable to parse binaryheader to OrcaLoadReport: {half}")
    );
    let headers = Headers { binary: Some(padded.as_bytes()), text: Some(b"TEXT eps=1") };
    assert_eq!(parser.read(headers, None).unwrap().to_owned_report(), example());
}

/// gRPC's `ToLoadReport`. Several values are the caller's to refuse.
#[test]
fn metadata_of_grpc_is_read_without_base64() {
    let mut parser = Parser::new();
    assert_eq!(parser.grpc(b"").unwrap().to_owned_report(), LoadReport::default());
    let error = parser.grpc(b"foo-bar").unwrap_err();
    assert_eq!(
        (error.reason(), error.to_string().as_str()),
        (Reason::Protobuf, "invalid OrcaLoadReport payload")
    );
    let message = b"\x11\0\0\0\0\0\0\x49\x40\x2a\x0c\x0a\x01u\x11\0\0\0\0\0\xc0\x52\x40";
    let report = parser.grpc(message).unwrap();
    let utilization = report.metric(MetricMap::Utilization, "u");
    assert_eq!((report.mem_utilization(), utilization), (50.0, Some(75.0)));
}
