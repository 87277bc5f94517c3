//! The text of a scenario: YAML whose values remember their lines, so that every mistake can be
//! shown where it stands.

use std::collections::HashMap;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{
    MessageFormatter, NonFiniteFloatPolicy, Options, Spanned, UserMessageFormatter,
};

/// Far more than a scenario needs; text beyond it is refused before it takes memory.
const MAX_NODES: usize = 100_000;
/// As for clusters: Envoy's deepest configuration has about twenty levels.
const MAX_DEPTH: usize = 64;

/// Why a scenario is refused. `Display` is `line N: field: message`, without what is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line of the value at fault, from 1; 0 when no place is known.
    pub line: u64,
    /// The path of the value, such as `zones[1].capacity`; empty when the text is at fault.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl Mistake {
    /// A mistake whose line is looked up later.
    pub(crate) fn new(field: impl Into<String>, message: impl fmt::Display) -> Self {
        Self { line: 0, field: field.into(), message: message.to_string() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

/// A text that is well-formed.
#[derive(Debug)]
pub(crate) struct Text {
    value: Value,
    /// By path.
    lines: HashMap<String, u64>,
}

impl Text {
    /// Reads YAML, of which JSON is a part.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root: Spanned<Node> =
            serde_saphyr::from_str_with_options(text, options()).map_err(|error| syntax(&error))?;
        let mut lines = HashMap::new();
        let value = settle(root, &mut String::new(), &mut lines);
        Ok(Self { value, lines })
    }

    /// The text as a typed value.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Mistake> {
        serde_path_to_error::deserialize(&self.value).map_err(|error| {
            let path = error.path().to_string();
            let field = if path == "." { String::new() } else { path };
            self.locate(Mistake::new(field, error.inner()))
        })
    }

    /// The same mistake with its line: that of the value, or of the nearest one around it.
    pub(crate) fn locate(&self, mistake: Mistake) -> Mistake {
        let mut path = mistake.field.as_str();
        let line = loop {
            if let Some(&line) = self.lines.get(path) {
                break line;
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = &path[..end],
                None if path.is_empty() => break 0,
                None => path = "",
            }
        };
        Mistake { line, ..mistake }
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * MAX_NODES,
            max_nodes: MAX_NODES,
            max_depth: MAX_DEPTH,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES },
        // Clusters are read as Envoy reads them; see `plimsoll_envoy_config`.
        strict_booleans: false,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    }
}

fn syntax(error: &serde_saphyr::Error) -> Mistake {
    let line = error.location().map_or(0, |place| place.line());
    let message = UserMessageFormatter.format_message(error.without_snippet()).into_owned();
    Mistake { line, field: String::new(), message }
}

/// A value as it was written.
enum Node {
    Scalar(Value),
    List(Vec<Spanned<Node>>),
    Map(Vec<(String, Spanned<Node>)>),
}

/// Takes the lines out of a value.
fn settle(node: Spanned<Node>, path: &mut String, lines: &mut HashMap<String, u64>) -> Value {
    lines.insert(path.clone(), node.referenced.line());
    let length = path.len();
    match node.value {
        Node::Scalar(value) => value,
        Node::List(items) => {
            let settled = items.into_iter().enumerate().map(|(index, item)| {
                path.truncate(length);
                path.push_str(&format!("[{index}]"));
                settle(item, path, lines)
            });
            settled.collect()
        }
        Node::Map(entries) => {
            let settled = entries.into_iter().map(|(key, value)| {
                path.truncate(length);
                if length > 0 {
                    path.push('.');
                }
                path.push_str(&key);
                (key, settle(value, path, lines))
            });
            Value::Object(settled.collect::<Map<_, _>>())
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number out of range"))?;
        Ok(Node::Scalar(Value::Number(number)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map: Vec<(String, Spanned<Node>)> = Vec::new();
        while let Some((key, value)) = entries.next_entry::<String, Spanned<Node>>()? {
            if map.iter().any(|(earlier, _)| *earlier == key) {
                return Err(A::Error::custom(format_args!("the key {key:?} appears twice")));
            }
            map.push((key, value));
        }
        Ok(Node::Map(map))
    }
}
