//! What is too much is refused, and what is just not too much takes no time.

use std::fmt::Write;

use plimsoll::orca::{
    Headers, LoadReport, MAX_LENGTH, MAX_METRICS, MetricMap, Parser, Reason, ReportError,
};

use super::base64;

fn text_of(metrics: usize) -> String {
    (0..metrics).fold(String::from("TEXT eps=1"), |mut text, index| {
        write!(text, ",named_metrics.{index}=1").unwrap();
        text
    })
}

fn text(value: &str) -> Headers<'_> {
    Headers { text: Some(value.as_bytes()), ..Headers::default() }
}

#[test]
fn a_value_has_at_most_64_kibibytes() {
    let mut parser = Parser::new();
    let largest = format!("TEXT eps=1{}1", ",".repeat(MAX_LENGTH - 11));
    let error = parser.read(text(&largest), None).unwrap_err();
    assert_eq!(error.to_string(), "metric values cannot be empty strings");
    let largest = format!("TEXT eps=1{}", ",".repeat(MAX_LENGTH - 10));
    assert_eq!(parser.read(text(&largest), None).map(|report| report.eps()), Ok(1.0));
    let larger = largest + ",";
    let error = parser.read(text(&larger), None).unwrap_err();
    assert_eq!(error, ReportError::TooLong(65_537));
    assert_eq!(error.reason(), Reason::TooLarge);
    assert_eq!(error.to_string(), "an ORCA report of 65537 bytes: more than 65536");
    let binary = Headers { binary: Some(larger.as_bytes()), ..Headers::default() };
    assert_eq!(parser.read(binary, None).unwrap_err(), ReportError::TooLong(65_537));
    assert_eq!(parser.grpc(&[0; 65_537]).unwrap_err(), ReportError::TooLong(65_537));
    assert_eq!(parser.text(&[b','; 65_537]).unwrap_err(), ReportError::TooLong(65_537));
}

#[test]
fn the_maps_have_at_most_1024_metrics_whatever_the_form() {
    let read = |json: &[u8]| {
        let metrics: usize = str::from_utf8(json).unwrap().parse().unwrap();
        let named_metrics = (0..metrics).map(|index| (index.to_string(), 1.0)).collect();
        Ok(LoadReport { named_metrics, ..LoadReport::default() })
    };
    let message_of = |metrics: usize| {
        let entry = |index: usize| {
            let key = format!("{index:04}");
            [b"\x42\x06\x0a\x04".as_slice(), key.as_bytes()].concat()
        };
        (0..metrics).flat_map(entry).collect::<Vec<u8>>()
    };
    let mut parser = Parser::new();
    for (metrics, is_good) in [(MAX_METRICS, true), (MAX_METRICS + 1, false)] {
        let texts = [text_of(metrics), format!("JSON {metrics}")];
        for value in texts.iter().map(|value| text(value)) {
            let outcome = parser.read(value, Some(&read));
            let count = outcome.map(|report| report.metrics(MetricMap::NamedMetrics).len());
            assert_eq!(count.ok(), is_good.then_some(metrics));
        }
        let message = message_of(metrics);
        assert_eq!(parser.grpc(&message).is_ok(), is_good);
    }
    let error = parser.read(text("JSON 1025"), Some(&read)).unwrap_err();
    assert_eq!((error.reason(), error), (Reason::TooLarge, ReportError::TooManyMetrics));
    let twice = [message_of(MAX_METRICS), message_of(MAX_METRICS)].concat();
    assert!(parser.grpc(&twice).is_ok(), "the same keys are the same metrics");
}

#[test]
fn the_last_of_very_many_metrics_is_checked_against_all_others() {
    let mut parser = Parser::new();
    for name in ["named_metrics.0", "named_metrics.500", "eps"] {
        let value = format!("{},{name}=2", text_of(MAX_METRICS));
        let error = parser.read(text(&value), None).unwrap_err().to_string();
        assert_eq!(error, format!("endpoint-load-metrics contains duplicate metric: {name}"));
    }
    let value = format!("{},named_metrics.x=y", text_of(MAX_METRICS));
    let error = parser.read(text(&value), None).unwrap_err().to_string();
    assert_eq!(error, "unable to parse custom backend load metric value(named_metrics.x): y");
}

/// Each is done in less than a millisecond; a parser that takes quadratic time would be busy for
/// minutes here.
#[test]
fn the_worst_values_take_no_longer_than_others() {
    let empty_entries = base64(&b"\x42\x00".repeat(24_000));
    let key = b"\x42\x82\x02\x0a\xff\x01";
    let long_key = [key.as_slice(), &[b'a'; 255]].concat();
    let long_keys = base64(&long_key.repeat(187));
    let groups = base64(&b"\x7b\x7c".repeat(24_000));
    let texts = [
        format!("TEXT {}", ",".repeat(65_000)),
        format!("TEXT {}", " ".repeat(65_000)),
        format!("TEXT eps={}", "9".repeat(65_000)),
        format!("TEXT eps=0.{}1", "0".repeat(65_000)),
        format!("TEXT eps=0x{}", "f".repeat(65_000)),
        text_of(MAX_METRICS),
    ];
    let mut parser = Parser::new();
    for _ in 0..20 {
        for binary in [&empty_entries, &long_keys, &groups] {
            assert!(parser.binary(binary.as_bytes()).is_ok());
        }
        for value in &texts {
            let _ = parser.read(text(value), None).map(|report| report.to_owned_report());
        }
    }
}
