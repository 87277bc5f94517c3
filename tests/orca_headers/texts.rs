//! TEXT reports against a naive parser.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll::orca::{MetricMap, Parser, Report};
use proptest::prelude::*;

type Metrics = BTreeMap<Vec<u8>, f64>;

fn is_blank(byte: u8) -> bool {
    b" \t\n\x0b\x0c\r".contains(&byte)
}

/// The text without blanks around it.
fn trimmed(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|&byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

fn shown(text: &[u8]) -> String {
    let show = |&byte: &u8| match byte {
        0xe9 => "\\xe9".to_owned(),
        _ => char::from(byte).to_string(),
    };
    text.iter().map(show).collect()
}

/// Rust's numbers and the one in hexadecimal that [`metrics`] has.
fn number(text: &[u8]) -> Option<f64> {
    let text = str::from_utf8(trimmed(text)).ok()?;
    if text == "0x10" { Some(16.0) } else { text.parse().ok() }
}

/// Splits into pieces as Envoy does, and checks them in its order.
fn naive(text: &[u8]) -> Result<Metrics, String> {
    let mut metrics = Metrics::new();
    let mut names = BTreeSet::new();
    for token in text.split(|&byte| byte == b',').map(trimmed).filter(|token| !token.is_empty()) {
        let pieces = token.splitn(2, |&byte| byte == b'=' || byte == b':');
        let mut pieces = pieces.filter(|piece| !trimmed(piece).is_empty());
        let (name, value) = (pieces.next().unwrap_or(b""), pieces.next().unwrap_or(b""));
        if !names.insert(name) {
            return Err(format!(
                "endpoint-load-metrics contains duplicate metric: {}",
                shown(name)
            ));
        }
        if name.is_empty() {
            return Err("metric names cannot be empty strings".to_owned());
        }
        if value.is_empty() {
            return Err("metric values cannot be empty strings".to_owned());
        }
        let what = format!("custom backend load metric value({})", shown(name));
        let number =
            number(value).ok_or_else(|| format!("unable to parse {what}: {}", shown(value)))?;
        for (is_wrong, word) in [
            (number.is_nan(), "NaN"),
            (number.is_infinite(), "infinity"),
            (number < 0.0, "negative"),
        ] {
            if is_wrong {
                return Err(format!("{what} cannot be {word}."));
            }
        }
        match name {
            b"named_metrics." => return Err("named metric key is empty.".to_owned()),
            b"utilization." => return Err("utilization metric key is empty.".to_owned()),
            b"cpu_utilization"
            | b"mem_utilization"
            | b"application_utilization"
            | b"eps"
            | b"rps_fractional" => {}
            _ if name.starts_with(b"named_metrics.") || name.starts_with(b"utilization.") => {}
            _ => return Err(format!("unsupported metric name: {}", shown(name))),
        }
        metrics.insert(name.to_owned(), number);
    }
    Ok(metrics)
}

/// All that is not 0, under the names that TEXT gives it.
fn metrics_of(report: &Report<'_>) -> Metrics {
    let mut metrics: Metrics = [
        ("cpu_utilization", report.cpu_utilization()),
        ("mem_utilization", report.mem_utilization()),
        ("application_utilization", report.application_utilization()),
        ("eps", report.eps()),
        ("rps_fractional", report.rps_fractional()),
    ]
    .map(|(name, value)| (name.into(), value))
    .into();
    for map in MetricMap::ALL {
        let name = |key: &[u8]| [map.name().as_bytes(), b".", key].concat();
        metrics.extend(report.metrics(map).map(|(key, value)| (name(key), value)));
        for (key, value) in report.metrics(map) {
            assert_eq!(report.metric(map, key), Some(value));
        }
    }
    metrics.retain(|_, value| *value != 0.0);
    metrics
}

fn agrees(text: &[u8]) -> Result<(), TestCaseError> {
    let mut parser = Parser::new();
    let seen = parser.text(text).map(|report| metrics_of(&report));
    let without_zeros = |mut metrics: Metrics| {
        metrics.retain(|_, value| *value != 0.0);
        metrics
    };
    prop_assert_eq!(seen.map_err(|error| error.to_string()), naive(text).map(without_zeros));
    Ok(())
}

/// What stands between bars.
fn pieces(list: &'static [u8]) -> Vec<&'static [u8]> {
    list.split(|&byte| byte == b'|').collect()
}

/// Pieces of texts, good and bad.
fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let fragments = pieces(
        b",|,|,|=|=|:| |\t|\x0b|cpu_utilization|eps|named_metrics.|utilization.|\
        request_cost.|rps|a|b|\xe9|.|1|0.5|+|-|nan|inf|1e400|_",
    );
    let fragment = prop::sample::select(fragments);
    prop::collection::vec(fragment, 0..20).prop_map(|fragments| fragments.concat())
}

/// Metrics that are good one by one.
fn metrics() -> impl Strategy<Value = Vec<u8>> {
    let names = pieces(
        b"cpu_utilization|mem_utilization|eps|named_metrics.a|named_metrics.b|\
        named_metrics.a.b|named_metrics.\xe9|utilization.a|utilization.*|\
        \trps_fractional|\x0bnamed_metrics.c",
    );
    let separators = pieces(b"=|:|= ");
    let values = pieces(b"1|0.25|0|-0|1e-400| 7\x0b|0x10");
    let metric = (
        prop::sample::select(names),
        prop::sample::select(separators),
        prop::sample::select(values),
    );
    let metric = metric.prop_map(|(name, separator, value)| [name, separator, value].concat());
    prop::collection::vec(metric, 0..8).prop_map(|metrics| metrics.join(&b','))
}

proptest! {
    #[test]
    fn text_gives_what_a_naive_parser_makes_of_it(
        text in prop_oneof![
            fragments(),
            metrics(),
            (metrics(), fragments()).prop_map(|(good, any)| [good, any].join(&b',')),
        ],
    ) {
        agrees(&text)?;
    }

    #[test]
    fn any_bytes_give_a_report_or_an_error(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut parser = Parser::new();
        match parser.text(&text) {
            Ok(report) => drop(metrics_of(&report)),
            Err(error) => drop(error.to_string()),
        }
    }
}

#[test]
fn a_parser_keeps_nothing_of_an_earlier_report() {
    let mut parser = Parser::new();
    assert!(parser.text(b"named_metrics.a=1,eps=1,eps=2").is_err());
    let report = parser.text(b"named_metrics.b=2").unwrap();
    assert_eq!(metrics_of(&report), [(b"named_metrics.b".to_vec(), 2.0)].into());
    assert!(
        parser.binary(b"CQAAAAAAAAAA").unwrap().metrics(MetricMap::NamedMetrics).next().is_none()
    );
}
