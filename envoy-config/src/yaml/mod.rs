//! YAML text, within limits: aliases cannot multiply a small file into a large one, and nesting
//! is bounded.
//!
//! `granit-parser` tells what the text consists of ([`events`]), [`scalar`] what a scalar means,
//! and this module builds the value. A key that stands twice in a mapping is an error; what `<<`
//! merges into a mapping gives way to the mapping's own keys, and the first of several merged
//! mappings wins.

mod events;
mod scalar;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use self::events::{Event, Events, Node};
use self::scalar::shown;
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
            Node::Map => self.map().map(Value::Object),
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

    fn map(&mut self) -> Result<Map<String, Value>, ParseError> {
        let mut map = Map::new();
        let mut integers = BTreeSet::new();
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
            // `1` and `0x1` are one key in two spellings.
            let integer = key.integer();
            let name = key.into_key().map_err(|problem| place.error(problem))?;
            if map.contains_key(&name) || integer.is_some_and(|number| !integers.insert(number)) {
                return Err(place.error(format!("the key {} appears twice", shown(&name))));
            }
            let event = self.events.inside()?;
            map.insert(name, self.value(event)?);
        }
        for (name, value) in merged.into_iter().flatten() {
            map.entry(name).or_insert(value);
        }
        Ok(map)
    }

    /// What a merge key (`<<`) adds: a mapping, nothing, or a list of these.
    fn merge(
        &mut self,
        source: Event<'a>,
        merged: &mut Vec<Map<String, Value>>,
    ) -> Result<(), ParseError> {
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
