//! What a host says of its load.

use plimsoll::orca::{LoadReport, MetricMap};
use serde_json::{Map, Value, json};

/// A report in the order of its fields' numbers. As in proto3 JSON, what is no number of JSON is
/// text.
///
/// ```
/// use plimsoll::orca::LoadReport;
///
/// let report = LoadReport { cpu_utilization: f64::INFINITY, ..LoadReport::default() };
/// assert_eq!(plimsoll_json::load_report(&report)["cpu_utilization"], "Infinity");
/// ```
#[must_use]
pub fn load_report(report: &LoadReport) -> Value {
    json!({
        "cpu_utilization": number(report.cpu_utilization),
        "mem_utilization": number(report.mem_utilization),
        "rps": report.rps,
        "request_cost": metrics(report, MetricMap::RequestCost),
        "utilization": metrics(report, MetricMap::Utilization),
        "rps_fractional": number(report.rps_fractional),
        "eps": number(report.eps),
        "named_metrics": metrics(report, MetricMap::NamedMetrics),
        "application_utilization": number(report.application_utilization),
    })
}

fn metrics(report: &LoadReport, map: MetricMap) -> Value {
    let shown = |(key, value): (&String, &f64)| (key.clone(), number(*value));
    Value::Object(report.map(map).iter().map(shown).collect::<Map<_, _>>())
}

fn number(value: f64) -> Value {
    match value {
        _ if value.is_nan() => json!("NaN"),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        _ => json!(value),
    }
}
