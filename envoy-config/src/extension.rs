//! The entries of a `LoadBalancingPolicy`: policies in `Any` messages, to be read by whoever knows
//! their types.

use plimsoll::config::{ConfigError, Problem};
use serde_json::{Map, Value};

use crate::message::{self, Message, Result, required};

/// One entry of the list.
pub(crate) struct Extension<'a> {
    /// Its name, which chooses nothing.
    pub(crate) name: &'a str,
    /// The full name of the policy's message.
    pub(crate) type_name: &'a str,
    place: Place<'a>,
}

/// Where the policy's own message is, below `typed_config`.
enum Place<'a> {
    /// It is `typed_config` itself, with `@type` among its fields.
    Inline(&'a Value),
    /// It is the `value` of a `TypedStruct`, and without any field if there is none.
    Struct(Option<&'a Value>),
}

/// Messages that carry any other message as plain JSON, with its type beside it.
const TYPED_STRUCTS: [&str; 2] = ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"];

/// The entries of a list, none of which is looked into.
pub(crate) fn policies<'a>(list: &mut Message<'a>) -> Result<Vec<Extension<'a>>> {
    list.each("policies", |policy| {
        message::read(policy, |policy| {
            let extension = policy.message("typed_extension_config", Extension::of)?;
            required("typed_extension_config", extension)
        })
    })
}

impl<'a> Extension<'a> {
    fn of(extension: &mut Message<'a>) -> Result<Self> {
        let name = extension.required_string("name", "TypedExtensionConfigValidationError.Name")?;
        let config = required("typed_config", extension.value("typed_config")?)?;
        let (type_name, place) = any(config).map_err(|error| error.within("typed_config"))?;
        Ok(Self { name, type_name, place })
    }

    /// Reads the policy's own message. Errors name fields from `typed_config` on.
    pub(crate) fn read<T>(&self, body: impl FnOnce(&mut Message<'_>) -> Result<T>) -> Result<T> {
        match self.place {
            Place::Inline(config) => message::read(config, |config| {
                config.value("@type")?;
                body(config)
            }),
            Place::Struct(config) => {
                let empty = Value::Object(Map::new());
                message::read(config.unwrap_or(&empty), body).map_err(|error| error.within("value"))
            }
        }
    }
}

/// The type of an `Any` and where its message is. Nothing else is looked at: an unknown type has
/// unknown fields.
fn any(config: &Value) -> Result<(&str, Place<'_>)> {
    let Value::Object(fields) = config else {
        return Err(ConfigError::new("", Problem::WrongType { expected: "an object" }));
    };
    let name = type_name("@type", fields.get("@type"))?;
    if !TYPED_STRUCTS.contains(&name) {
        return Ok((name, Place::Inline(config)));
    }
    message::read(config, |typed_struct| {
        typed_struct.value("@type")?;
        let name = type_name("type_url", typed_struct.value("type_url")?)?;
        Ok((name, Place::Struct(typed_struct.value("value")?)))
    })
}

/// The name of a type without the host that its URL starts with.
fn type_name<'a>(field: &str, url: Option<&'a Value>) -> Result<&'a str> {
    let expected = "a type URL such as \"type.googleapis.com/package.Message\"";
    let url = required(field, url)?.as_str();
    let name = url.and_then(|url| url.rsplit('/').next()).filter(|name| !name.is_empty());
    name.ok_or_else(|| ConfigError::new(field, Problem::WrongType { expected }))
}
