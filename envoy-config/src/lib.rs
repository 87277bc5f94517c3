//! Reads Envoy's own configuration, a `Cluster` or a `ClusterLoadAssignment` in JSON or YAML, into
//! the settings and hosts that [`plimsoll`] takes.
//!
//! ```
//! let file = plimsoll_envoy_config::parse_cluster(
//!     "
//! name: api
//! connect_timeout: 1s
//! lb_policy: RANDOM
//! load_assignment:
//!   cluster_name: api
//!   endpoints:
//!   - lb_endpoints:
//!     - endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: 80 } } }
//! ",
//! )?;
//! assert_eq!(file.config.policy, plimsoll::config::Policy::Random);
//! let assignment = file.assignment.expect("the file has one");
//! assert_eq!(assignment.endpoints[0].endpoints[0].address.as_str(), "10.0.0.1:80");
//! # Ok::<(), plimsoll_envoy_config::ParseError>(())
//! ```
//!
//! # What this costs
//!
//! * **Strict.** A field that Envoy does not have is an error that names it, and so is everything
//!   that would send traffic elsewhere than Envoy does. A file that Envoy runs may therefore be
//!   refused here; a file that is accepted balances as in Envoy. What is read, what is ignored
//!   because it has nothing to do with balancing, and what is refused is in [`fields`].
//! * **No positions inside a message.** A syntax error carries its line and column; an error in
//!   a value carries the path of the field, such as `endpoints[2].lb_endpoints[0].endpoint`.
//! * **The whole text in memory.** Nothing is streamed, and nothing is half-applied: there is a
//!   complete result or an error. No input causes a panic or unbounded recursion.
//!
//! # The form of the input
//!
//! The proto3 JSON mapping, as Envoy reads it: `snake_case` and `lowerCamelCase` names, `null` for
//! a field that is not set, wrapper messages as plain values, percentages as `{"value": 50}`,
//! durations as `"1.5s"`, integers also as decimal strings, enums by name or number, and
//! `typed_config` with its `@type`. The same field in both spellings is an error, and so is the
//! same key twice.
//!
//! A text whose first visible character is `{` is JSON; every other text is YAML. YAML is read
//! as Envoy reads it: `yes`, `no`, `on` and `off` are booleans. A number or a boolean where a
//! string belongs (`zone: no`, `region: 1.10`) is an error that asks for quotes, because what was
//! written cannot be told any more.
//!
//! Ranges are checked everywhere, also where Envoy 1.40 forgets to (inside a
//! `load_balancing_policy`, and what a runtime number is by default). Errors carry Envoy's texts
//! where it has them.
//!
//! # Addresses
//!
//! | in the message | the host's address |
//! |---|---|
//! | `socket_address` of an IPv4 address | `10.0.0.1:80` |
//! | `socket_address` of an IPv6 address | `[::1]:80`, in its shortest form |
//! | `socket_address` of a name | `backend.local:80`, as given; names are never resolved |
//! | `pipe` | its path |
//! | `envoy_internal_address` | `envoy://listener/endpoint_id` |

/// The example of the project's front page, so that it compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

mod address;
mod assignment;
mod cluster;
mod common;
mod error;
mod extension;
pub mod fields;
mod hash_policy;
mod json;
mod locality;
mod locality_policy;
mod message;
mod orca;
mod override_host;
mod policy;
mod reporting;
mod scalars;
mod settings;
mod yaml;

pub use cluster::ClusterFile;
pub use error::ParseError;
pub use orca::parse_load_report;
use plimsoll::config::{Assignment, ConfigError, HashPolicy};
use serde_json::Value;

/// Reads an Envoy `Cluster` from JSON or YAML.
///
/// # Errors
///
/// [`ParseError::Syntax`] when the text is neither; [`ParseError::Config`] when a field is
/// unknown, of the wrong type, outside its range, or not supported.
///
/// ```
/// let error = plimsoll_envoy_config::parse_cluster(r#"{"name": "api", "lbpolicy": "RANDOM"}"#);
/// assert_eq!(error.unwrap_err().to_string(), "lbpolicy: no such field: lbpolicy");
/// ```
pub fn parse_cluster(text: &str) -> Result<ClusterFile, ParseError> {
    Ok(cluster_from_value(&parse_text(text)?)?)
}

/// Reads an Envoy `ClusterLoadAssignment` from JSON or YAML.
///
/// # Errors
///
/// As [`parse_cluster`].
///
/// ```
/// let assignment = plimsoll_envoy_config::parse_assignment(
///     "
/// clusterName: api
/// policy: { overprovisioningFactor: 200 }
/// ",
/// )?;
/// assert_eq!(assignment.overprovisioning_factor, 200);
/// # Ok::<(), plimsoll_envoy_config::ParseError>(())
/// ```
pub fn parse_assignment(text: &str) -> Result<Assignment, ParseError> {
    Ok(assignment_from_value(&parse_text(text)?)?)
}

/// Reads an Envoy `Cluster` from JSON that is parsed already.
///
/// For text use [`parse_json`] first: [`serde_json`] itself keeps the last of several equal keys in
/// silence.
///
/// # Errors
///
/// A field that is unknown, of the wrong type, outside its range, or not supported.
///
/// ```
/// let value = serde_json::json!({"name": "api", "lb_policy": 6});
/// let error = plimsoll_envoy_config::cluster_from_value(&value).unwrap_err();
/// assert_eq!(error.field(), "lb_policy");
/// assert_eq!(error.to_string(), "the policy CLUSTER_PROVIDED is not supported");
/// ```
pub fn cluster_from_value(value: &Value) -> Result<ClusterFile, ConfigError> {
    cluster::read(value)
}

/// Reads an Envoy `ClusterLoadAssignment` from JSON that is parsed already.
///
/// For text use [`parse_json`] first, for the reason given at [`cluster_from_value`].
///
/// # Errors
///
/// As [`cluster_from_value`].
pub fn assignment_from_value(value: &Value) -> Result<Assignment, ConfigError> {
    let assignment = assignment::read(value)?;
    assignment.validate()?;
    Ok(assignment)
}

/// Reads a route's `hash_policy`, a list of Envoy's `RouteAction.HashPolicy`, from JSON that is
/// parsed already.
///
/// Policies that never find anything, as `connection_properties` without `source_ip`, are left out,
/// as in Envoy. [`plimsoll::hash_request`] makes a hash of a request by the result.
///
/// # Errors
///
/// As [`cluster_from_value`]; paths start with `hash_policy`.
///
/// ```
/// use plimsoll::config::HashPolicyKind;
///
/// let policies = plimsoll_envoy_config::hash_policies(&serde_json::json!([
///     {"header": {"header_name": "X-User"}, "terminal": true},
///     {"connection_properties": {"source_ip": true}},
/// ]))?;
/// assert_eq!(policies[0].kind, HashPolicyKind::Header { header_name: "x-user".to_owned() });
/// assert!(policies[0].terminal);
///
/// let error = plimsoll_envoy_config::hash_policies(&serde_json::json!([{}])).unwrap_err();
/// assert_eq!(error.field(), "hash_policy[0]");
/// assert_eq!(error.to_string(), "hash policy not set");
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
pub fn hash_policies(value: &Value) -> Result<Vec<HashPolicy>, ConfigError> {
    hash_policy::list(value)
}

/// The same from text, as JSON or YAML.
///
/// # Errors
///
/// As [`parse_cluster`]; paths start with `hash_policy`.
///
/// ```
/// let policies = plimsoll_envoy_config::parse_hash_policies("- header: { header_name: x-user }")?;
/// assert_eq!(policies.len(), 1);
/// # Ok::<(), plimsoll_envoy_config::ParseError>(())
/// ```
pub fn parse_hash_policies(text: &str) -> Result<Vec<HashPolicy>, ParseError> {
    Ok(hash_policies(&parse_text(text)?)?)
}

/// Reads JSON text strictly: the same key twice is an error.
///
/// For callers that find Envoy's messages inside of other JSON, and then go on with
/// [`cluster_from_value`] or [`assignment_from_value`].
///
/// # Errors
///
/// [`ParseError::Syntax`] only.
///
/// ```
/// let error = plimsoll_envoy_config::parse_json(r#"{"a": 1, "a": 2}"#).unwrap_err();
/// assert_eq!(error.code(), "parse_error");
/// ```
pub fn parse_json(text: &str) -> Result<Value, ParseError> {
    json::parse(text)
}

/// Reads text as JSON or YAML, strictly, without asking what it means.
///
/// For callers that have fields of their own beside Envoy's.
///
/// # Errors
///
/// [`ParseError::Syntax`] only.
///
/// ```
/// let value = plimsoll_envoy_config::parse_value("lb_policy: RANDOM")?;
/// assert_eq!(value["lb_policy"], "RANDOM");
/// # Ok::<(), plimsoll_envoy_config::ParseError>(())
/// ```
pub fn parse_value(text: &str) -> Result<Value, ParseError> {
    parse_text(text)
}

/// Whether a key of a JSON object is the field `name` of one of Envoy's messages: as it is, or in
/// `lowerCamelCase`.
///
/// ```
/// assert!(plimsoll_envoy_config::is_field("lbPolicy", "lb_policy"));
/// ```
#[must_use]
pub fn is_field(key: &str, name: &str) -> bool {
    message::is_field(key, name)
}

/// What begins like JSON is read as JSON. A byte order mark is invisible and some editors write one,
/// so it does not count.
fn parse_text(text: &str) -> Result<Value, ParseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) { json::parse(text) } else { yaml::parse(text) }
}
