//! Load reports in JSON, for the parser of [`plimsoll::orca`], which reads the other forms itself.

use std::collections::BTreeMap;

use plimsoll::config::{ConfigError, Problem};
use plimsoll::orca::{InvalidJson, LoadReport};
use serde_json::Value;

use crate::error::ParseError;
use crate::message::{Message, Result, read};
use crate::{json, scalars};

/// Reads an `xds.data.orca.v3.OrcaLoadReport` in proto3 JSON: what follows `JSON ` in a header
/// `endpoint-load-metrics`.
///
/// Names are `snake_case` or `lowerCamelCase`; numbers may be strings, among them `"NaN"`,
/// `"Infinity"` and `"-Infinity"`; `null` is a field that is not set.
///
/// Envoy reads some text that is not JSON, and this does not: a comma after the last field, names
/// without quotes or in single ones, and other spellings such as `"nan"`. A field that stands there
/// twice is an error, where Envoy takes the last one.
///
/// # Errors
///
/// Text that is not JSON or not UTF-8, an unknown field, a wrong type, the same key twice.
///
/// ```
/// use plimsoll::orca::{Headers, Parser};
/// use plimsoll_envoy_config::parse_load_report;
///
/// let value = r#"JSON {"cpuUtilization": 0.7, "named_metrics": {"queue": "12"}}"#;
/// let headers = Headers::find([("endpoint-load-metrics", value)]);
/// let mut parser = Parser::new();
/// let report = parser.read(headers, Some(&parse_load_report)).unwrap();
/// assert_eq!(report.cpu_utilization(), 0.7);
///
/// assert_eq!(
///     parse_load_report(br#"{"eps": true}"#).unwrap_err().to_string(),
///     "invalid JSON in xds.data.orca.v3.OrcaLoadReport @ eps: expected a number"
/// );
/// ```
pub fn parse_load_report(text: &[u8]) -> std::result::Result<LoadReport, InvalidJson> {
    let text = str::from_utf8(text).map_err(|error| InvalidJson::new("", error.to_string()))?;
    let value = json::parse(text).map_err(|error| invalid(&error))?;
    read(&value, report).map_err(|error| invalid(&ParseError::Config(error)))
}

fn invalid(error: &ParseError) -> InvalidJson {
    match error {
        ParseError::Syntax { .. } => InvalidJson::new("", error.to_string()),
        ParseError::Config(error) => InvalidJson::new(error.field(), error.to_string()),
    }
}

fn report(message: &mut Message<'_>) -> Result<LoadReport> {
    Ok(LoadReport {
        cpu_utilization: message.double("cpu_utilization")?.unwrap_or_default(),
        mem_utilization: message.double("mem_utilization")?.unwrap_or_default(),
        rps: message.uint64("rps")?.unwrap_or_default(),
        request_cost: metrics(message, "request_cost")?,
        utilization: metrics(message, "utilization")?,
        rps_fractional: message.double("rps_fractional")?.unwrap_or_default(),
        eps: message.double("eps")?.unwrap_or_default(),
        named_metrics: metrics(message, "named_metrics")?,
        application_utilization: message.double("application_utilization")?.unwrap_or_default(),
    })
}

fn metrics(message: &mut Message<'_>, name: &str) -> Result<BTreeMap<String, f64>> {
    let entries = match message.value(name)? {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(entries)) => entries,
        Some(_) => {
            return Err(ConfigError::new(name, Problem::WrongType { expected: "an object" }));
        }
    };
    let metric = |(key, value): (&String, &Value)| match scalars::double(value) {
        Ok(value) => Ok((key.clone(), value)),
        Err(problem) => Err(ConfigError::new(format!("{name}[{key:?}]"), problem)),
    };
    entries.iter().map(metric).collect()
}
