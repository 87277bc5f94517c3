//! ORCA load reports are read as Envoy 1.40 reads them.

mod allocation;
#[path = "../common/counting.rs"]
mod counting;
mod limits;
mod messages;
mod texts;
mod utilization;
mod vectors;

use plimsoll::orca::{Headers, LoadReport, MetricMap, Parser, Report};

/// A report as Envoy's debug text, in the order of the fields' numbers; keys with bytes that are
/// not ASCII escaped.
fn shown(report: &Report<'_>) -> String {
    let mut fields = vec![
        scalar("cpu_utilization", report.cpu_utilization()),
        scalar("mem_utilization", report.mem_utilization()),
        if report.rps() == 0 { String::new() } else { format!("rps: {}", report.rps()) },
        map(report, MetricMap::RequestCost),
        map(report, MetricMap::Utilization),
        scalar("rps_fractional", report.rps_fractional()),
        scalar("eps", report.eps()),
        map(report, MetricMap::NamedMetrics),
        scalar("application_utilization", report.application_utilization()),
    ];
    fields.retain(|field| !field.is_empty());
    fields.join(" ")
}

/// Only the 0 that is all bits 0 is left out.
fn scalar(name: &str, value: f64) -> String {
    if value.to_bits() == 0 { String::new() } else { format!("{name}: {}", number(value)) }
}

fn map(report: &Report<'_>, map: MetricMap) -> String {
    let entry = |(key, value): (&[u8], f64)| {
        let key = key.escape_ascii();
        format!("{} {{ key: \"{key}\" value: {} }}", map.name(), number(value))
    };
    report.metrics(map).map(entry).collect::<Vec<_>>().join(" ")
}

fn number(value: f64) -> String {
    match value.abs() {
        _ if value.is_nan() => "nan".to_owned(),
        size if size > 1e16 && size.is_finite() => format!("{value:e}"),
        size if size < 1e-5 && size > 0.0 => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// What a header gives: the report as text, or the error.
fn outcome_of(headers: Headers<'_>) -> Result<String, String> {
    let mut parser = Parser::new();
    let outcome = parser.read(headers, None);
    outcome.map(|report| shown(&report)).map_err(|error| error.to_string())
}

/// Base64 with padding.
fn base64(bytes: &[u8]) -> String {
    let alphabet: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let encode = |group: &[u8]| {
        let mut bits = [0; 4];
        bits[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(bits) as usize;
        let digit = |place: usize| alphabet[bits >> (18 - 6 * place) & 63];
        let (digits, padding) = (group.len() + 1, 3 - group.len());
        (0..digits).map(digit).chain(std::iter::repeat_n('=', padding)).collect::<String>()
    };
    bytes.chunks(3).map(encode).collect()
}

/// Whether two reports are the same, bit for bit but for what is not a number.
fn are_same(one: &LoadReport, other: &LoadReport) -> bool {
    shown(&one.as_report()) == shown(&other.as_report())
}
