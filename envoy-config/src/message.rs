//! One message of Envoy's in its JSON form: takes its fields one by one, and at the end reports
//! what nobody took.
//!
//! Paths are not tracked on the way down. An error starts with the name of its own field and each
//! level adds its name on the way up, so that a valid message pays nothing for them.

use std::ops::RangeInclusive;
use std::time::Duration;

use plimsoll::config::{ConfigError, Problem};
use serde_json::{Map, Value};

use crate::fields::Field;
use crate::scalars::{self, Choices};

pub(crate) type Result<T> = std::result::Result<T, ConfigError>;

/// The fields of a message that is being read.
pub(crate) struct Message<'a> {
    fields: &'a Map<String, Value>,
    /// The keys that were taken, as they were written.
    taken: Vec<&'a str>,
}

/// Reads a whole message: `body` takes the fields, and any other field is an error.
pub(crate) fn read<'a, T>(
    value: &'a Value,
    body: impl FnOnce(&mut Message<'a>) -> Result<T>,
) -> Result<T> {
    let Value::Object(fields) = value else {
        return Err(ConfigError::new("", Problem::WrongType { expected: "an object" }));
    };
    let mut message = Message { fields, taken: Vec::with_capacity(fields.len()) };
    let result = body(&mut message)?;
    message.finish()?;
    Ok(result)
}

impl<'a> Message<'a> {
    /// The value of a field in either spelling; `None` when it is absent or null.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<&'a Value>> {
        let mut found = None;
        for (key, value) in self.fields {
            if !is_field(key, name) {
                continue;
            }
            self.taken.push(key);
            if found.replace(value).is_some() {
                return Err(ConfigError::new(name, Problem::Duplicate));
            }
        }
        Ok(found.filter(|value| !value.is_null()))
    }

    /// A nested message.
    pub(crate) fn message<T>(
        &mut self,
        name: &str,
        body: impl FnOnce(&mut Message<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        read(value, body).map(Some).map_err(|error| error.within(name))
    }

    /// A repeated field, element by element.
    pub(crate) fn each<T>(
        &mut self,
        name: &str,
        mut body: impl FnMut(&'a Value) -> Result<T>,
    ) -> Result<Vec<T>> {
        let Some(value) = self.value(name)? else { return Ok(Vec::new()) };
        let Value::Array(items) = value else {
            return Err(ConfigError::new(name, Problem::WrongType { expected: "a list" }));
        };
        let element =
            |(index, item)| body(item).map_err(|error| error.within(&format!("{name}[{index}]")));
        items.iter().enumerate().map(element).collect()
    }

    /// A string; proto3 does not tell an empty one from none.
    pub(crate) fn string(&mut self, name: &str) -> Result<&'a str> {
        Ok(self.scalar(name, scalars::string)?.unwrap_or_default())
    }

    /// A string that may not be empty; `rule` is Envoy's name of that.
    pub(crate) fn required_string(&mut self, name: &str, rule: &'static str) -> Result<&'a str> {
        let text = self.string(name)?;
        if text.is_empty() {
            Err(ConfigError::new(name, Problem::Empty { rule }))
        } else {
            Ok(text)
        }
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Result<bool> {
        Ok(self.scalar(name, scalars::boolean)?.unwrap_or_default())
    }

    pub(crate) fn uint32(&mut self, name: &str) -> Result<Option<u32>> {
        self.scalar(name, scalars::uint32)
    }

    /// A 32-bit integer with bounds; `rule` is Envoy's name of them.
    pub(crate) fn uint32_in(
        &mut self,
        name: &str,
        bounds: RangeInclusive<u32>,
        rule: &'static str,
    ) -> Result<Option<u32>> {
        let (&minimum, &maximum) = (bounds.start(), bounds.end());
        let problem = match self.uint32(name)? {
            Some(value) if value < minimum => {
                Problem::BelowMinimum { rule, minimum: minimum.into() }
            }
            Some(value) if value > maximum => {
                Problem::AboveMaximum { rule, maximum: maximum.into() }
            }
            value => return Ok(value),
        };
        Err(ConfigError::new(name, problem))
    }

    pub(crate) fn uint64(&mut self, name: &str) -> Result<Option<u64>> {
        self.scalar(name, scalars::uint64)
    }

    pub(crate) fn double(&mut self, name: &str) -> Result<Option<f64>> {
        self.scalar(name, scalars::double)
    }

    /// A duration that passes Envoy's own check.
    pub(crate) fn duration(&mut self, name: &str) -> Result<Option<Duration>> {
        self.scalar(name, |value| scalars::duration(value)?.check())
    }

    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        choices: &Choices<T>,
    ) -> Result<Option<T>> {
        self.scalar(name, |value| scalars::choice(choices, value))
    }

    /// A `Percent` message as it stands; its range is not checked.
    pub(crate) fn percent(&mut self, name: &str) -> Result<Option<f64>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        if !value.is_object() {
            let expected = "a percentage such as {\"value\": 50}";
            return Err(ConfigError::new(name, Problem::WrongType { expected }));
        }
        let percent = read(value, |percent| percent.double("value"));
        Ok(Some(percent.map_err(|error| error.within(name))?.unwrap_or_default()))
    }

    /// Of the members of a oneof, the one that is set; more than one is an error.
    pub(crate) fn only_one_of(&self, names: &[&str]) -> Result<()> {
        let is_set = |name: &&&str| {
            self.fields.iter().any(|(key, value)| is_field(key, name) && !value.is_null())
        };
        let mut set = names.iter().filter(is_set);
        match (set.next(), set.next()) {
            (Some(first), Some(second)) => {
                let message = format!("{second} cannot be set together with {first}");
                Err(ConfigError::new(*second, Problem::Invalid { message }))
            }
            _ => Ok(()),
        }
    }

    /// Takes fields without looking at them.
    pub(crate) fn ignore(&mut self, fields: &[Field]) -> Result<()> {
        fields.iter().try_for_each(|field| self.value(field.name).map(drop))
    }

    /// Takes fields that may only be unset, which in proto3 includes every default.
    pub(crate) fn refuse(&mut self, fields: &[Field]) -> Result<()> {
        for field in fields {
            let value = self.value(field.name)?;
            if value.is_some_and(|value| !is_default(value)) {
                return Err(unsupported(field.name, field.name));
            }
        }
        Ok(())
    }

    fn scalar<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&'a Value) -> std::result::Result<T, Problem>,
    ) -> Result<Option<T>> {
        let value = self.value(name)?;
        value.map(parse).transpose().map_err(|problem| ConfigError::new(name, problem))
    }

    fn finish(self) -> Result<()> {
        match self.fields.keys().find(|key| !self.taken.contains(&key.as_str())) {
            Some(key) => Err(ConfigError::new(key, Problem::UnknownField { name: key.clone() })),
            None => Ok(()),
        }
    }
}

/// The value of a field that has to be there.
pub(crate) fn required<T>(name: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| ConfigError::new(name, Problem::Required))
}

/// The error for a field that Envoy would act on and this version does not.
pub(crate) fn unsupported(field: &str, what: impl Into<String>) -> ConfigError {
    ConfigError::new(field, Problem::Unsupported { what: what.into() })
}

/// What proto3 JSON writes for a field that is not set. An empty object is an empty map, or a
/// message without any setting.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(set) => !set,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Whether `key` names the field `name`, in either spelling.
pub(crate) fn is_field(key: &str, name: &str) -> bool {
    key == name || is_camel_case_of(key, name)
}

/// Whether `key` is the `lowerCamelCase` form of the `snake_case` name: no underscores, and the
/// letter after each in upper case.
fn is_camel_case_of(key: &str, name: &str) -> bool {
    let mut key = key.bytes();
    let mut after_underscore = false;
    for byte in name.bytes() {
        if byte == b'_' {
            after_underscore = true;
            continue;
        }
        let expected = if after_underscore { byte.to_ascii_uppercase() } else { byte };
        after_underscore = false;
        if key.next() != Some(expected) {
            return false;
        }
    }
    key.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_camel_case_of;

    #[test]
    fn names_match_their_camel_case_form_only() {
        for (key, name) in [
            ("lbPolicy", "lb_policy"),
            ("ignoreNewHostsUntilFirstHc", "ignore_new_hosts_until_first_hc"),
            ("http2ProtocolOptions", "http2_protocol_options"),
            ("name", "name"),
        ] {
            assert!(is_camel_case_of(key, name), "{key}");
        }
        for key in ["lbpolicy", "LbPolicy", "lb_Policy", "lbPolic", "lbPolicyy", ""] {
            assert!(!is_camel_case_of(key, "lb_policy"), "{key}");
        }
    }
}
