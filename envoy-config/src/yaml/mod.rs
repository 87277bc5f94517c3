//! YAML text, within limits: aliases cannot multiply a small file into a large one, and nesting
//! is bounded.
//!
//! `granit-parser` tells what the text consists of ([`events`]), [`scalar`] what a scalar means,
//! and this module builds the value. A key that stands twice in a mapping is an error; what `<<`
//! merges into a mapping gives way to the mapping's own keys, and the first of several merged
//! mappings wins.

mod events;
mod scalar;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::events::{Event, Events, Node};
use self::scalar::{integer, shown};
use crate::error::ParseError;

/// Reads one YAML document. A text without any is null.
pub(crate) fn parse(text: &str) -> Result<Value, ParseError> {
    let mut reader = Reader { events: Events::new(text) };
    let value = match reader.events.next()? {
        Some(event) => reader.value(event)?,
        None => Value::Null,
    };
    match reader.events.next()? {
        Some(second) => Err(second.place.error("the text has a second document")),
        None => Ok(value),
    }
}

/// A mapping, and which of its keys are integers.
#[derive(Default)]
struct Mapping {
    entries: Map<String, Value>,
    /// How each is spelled, by whether it is negative and its magnitude: `1` and `0x1` are one key.
    integers: BTreeMap<(bool, u64), String>,
}

impl Mapping {
    /// Takes the keys of another mapping that are not there.
    fn merge(&mut self, other: Self) {
        for (name, value) in other.entries {
            let number = integer(&name).filter(|number| other.integers.get(number) == Some(&name));
            if let Some(number) = number {
                if self.integers.contains_key(&number) {
                    continue;
                }
                self.integers.insert(number, name.clone());
            }
            self.entries.entry(name).or_insert(value);
        }
    }
}

/// What the events are made into. Recursion ends where [`Events`] refuses to nest any deeper.
struct Reader<'a> {
    events: Events<'a>,
}

impl<'a> Reader<'a> {
    /// The value that begins with an event.
    fn value(&mut self, event: Event<'a>) -> Result<Value, ParseError> {
        match event.node {
            Node::Scalar(scalar) => scalar.value().map_err(|problem| event.place.error(problem)),
            Node::List => self.list(),
            Node::Map => Ok(Value::Object(self.map()?.entries)),
            Node::End => Err(event.place.error("expected a value")),
        }
    }

    fn list(&mut self) -> Result<Value, ParseError> {
        let mut list = Vec::new();
        loop {
            let event = self.events.inside()?;
            if matches!(event.node, Node::End) {
                return Ok(Value::Array(list));
            }
            list.push(self.value(event)?);
        }
    }

    fn map(&mut self) -> Result<Mapping, ParseError> {
        let mut map = Mapping::default();
        let mut merged = Vec::new();
        loop {
            let Event { node, place } = self.events.inside()?;
            let key = match node {
                Node::End => break,
                Node::Scalar(key) => key,
                Node::List | Node::Map => return Err(place.error("a key must be a string")),
            };
            if key.is_merge() {
                let source = self.events.inside()?;
                self.merge(source, &mut merged)?;
                continue;
            }
            let integer = key.integer();
            let name = key.into_key().map_err(|problem| place.error(problem))?;
            let spelled = integer.and_then(|number| map.integers.insert(number, name.clone()));
            if spelled.is_some() || map.entries.contains_key(&name) {
                return Err(place.error(format!("the key {} appears twice", shown(&name))));
            }
            let event = self.events.inside()?;
            map.entries.insert(name, self.value(event)?);
        }
        merged.into_iter().for_each(|other| map.merge(other));
        Ok(map)
    }

    /// What a merge key (`<<`) adds: a mapping, nothing, or a list of these.
    fn merge(&mut self, source: Event<'a>, merged: &mut Vec<Mapping>) -> Result<(), ParseError> {
        match source.node {
            Node::Map => merged.push(self.map()?),
            Node::List => loop {
                let element = self.events.inside()?;
                if matches!(element.node, Node::End) {
                    break;
                }
                self.merge(element, merged)?;
            },
            Node::Scalar(scalar) if scalar.is_null() => {}
            Node::Scalar(_) | Node::End => {
                return Err(source.place.error("<< takes a mapping or a list of mappings"));
            }
        }
        Ok(())
    }
}
