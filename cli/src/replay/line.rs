//! One line of a replay: what every operation may carry, and the operation itself.

use std::fmt;
use std::marker::PhantomData;

use plimsoll_envoy_config::{ParseError, parse_json};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::op::Operation;

/// A line that is an operation.
#[derive(Debug)]
pub(crate) struct Line {
    /// Copied into the result.
    pub(crate) id: Option<Value>,
    /// Which cluster it is about.
    pub(crate) cluster: Option<String>,
    /// What the result should be.
    pub(crate) expect: Option<Value>,
    pub(crate) operation: Operation,
}

impl Line {
    /// Reads a line; `None` if it is blank or a comment.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub(crate) fn parse(text: &[u8]) -> Result<Option<Self>, String> {
        if text.starts_with(b"#") || text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let text = str::from_utf8(text).map_err(|error| format!("not UTF-8: {error}"))?;
        let value = parse_json(text.trim_end()).map_err(|error| not_json(&error))?;
        let Value::Object(mut keys) = value else {
            return Err("an operation is a JSON object".to_owned());
        };
        let id = keys.shift_remove("id");
        let expect = keys.shift_remove("expect");
        let cluster = take_string(&mut keys, "cluster")?;
        let op = take_string(&mut keys, "op")?.ok_or("the key `op` is missing")?;
        // No key below means anything when it is null; only maps inside of some do.
        if let Some((key, _)) = keys.iter().find(|(_, value)| value.is_null()) {
            return Err(format!("{op}.{key}: null is not a value of this key"));
        }
        let operation = operation(op, keys)?;
        Ok(Some(Self { id, cluster, expect, operation }))
    }
}

/// The parser counts lines inside the text; a replay's line has only one.
fn not_json(error: &ParseError) -> String {
    match error {
        ParseError::Syntax { column, message, .. } => format!("{message} at column {column}"),
        ParseError::Config(error) => error.to_string(),
    }
}

fn take_string(keys: &mut Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match keys.shift_remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{key}: expected a string, got {other}")),
    }
}

/// The operation `op` with these keys. As `{op: keys}` it has the form of an enum, whose errors
/// list what is possible.
fn operation(op: String, keys: Map<String, Value>) -> Result<Operation, String> {
    let tagged = Map::from_iter([(op, Value::Object(keys))]);
    let operation: Operation = serde_path_to_error::deserialize(Value::Object(tagged))
        .map_err(|error| format!("{}: {}", error.path(), error.inner()))?;
    operation.check_keys()?;
    Ok(operation)
}

/// What an object says. A structure alone would also take a list of its members, and a header whose
/// only value is in a list for base64.
#[derive(Debug, Default)]
pub(crate) struct Keyed<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Keyed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeyedVisitor(PhantomData)).map(Self)
    }
}

struct KeyedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for KeyedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(keys))
    }
}

/// An integer of 64 bits, also as a decimal string, for languages whose numbers are floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct U64(pub(crate) u64);

impl TryFrom<Value> for U64 {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let number = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => decimal(text),
            _ => None,
        };
        let expected = || format!("expected an integer from 0 to {}, got {value}", u64::MAX);
        number.map(Self).ok_or_else(expected)
    }
}

/// Digits only: no sign, no spaces, no leading zeros.
fn decimal(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let padded = text.len() > 1 && text.starts_with('0');
    if digits && !padded { text.parse().ok() } else { None }
}
