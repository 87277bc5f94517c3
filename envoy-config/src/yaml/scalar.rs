//! What a scalar means.
//!
//! A quoted scalar is text. A plain one is null, a boolean as in YAML 1.1 and in Envoy, a number as
//! in the core schema of YAML 1.2, or text. Numbers that YAML 1.1 and 1.2 read differently (`0755`,
//! `1_000`) stay text, which an integer field then refuses. A float that JSON cannot hold is an
//! error, because it may be a name (`12e1234`) that lacks its quotes. A tag (`!!str`) overrides all
//! of this.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// The kinds of nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar,
    List,
    Map,
}

/// What a tag says of its node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Untagged,
    /// The tag `!`: a scalar is text.
    Verbatim,
    Null,
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
    /// Makes `<<` a merge key.
    Merge,
    /// A scalar that JSON has no type for: bytes in base64, or a time.
    Foreign,
    /// A tag of an application.
    Other,
}

impl Type {
    /// The type of a tag that is written in full.
    pub(super) fn named(tag: &str) -> Self {
        let name = match (tag.strip_prefix("tag:yaml.org,2002:"), tag.strip_prefix('!')) {
            (Some("merge"), _) => return Self::Merge,
            (_, Some("" | "!")) => return Self::Verbatim,
            (Some(name), _) | (_, Some(name)) => name.strip_prefix('!').unwrap_or(name),
            (None, None) => return Self::Other,
        };
        match name {
            "null" => Self::Null,
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "str" => Self::Text,
            "seq" => Self::List,
            "map" => Self::Map,
            "binary" | "timestamp" => Self::Foreign,
            _ => Self::Other,
        }
    }

    /// The only kind of node that can have the tag.
    pub(super) fn kind(self) -> Option<Kind> {
        match self {
            Self::Untagged | Self::Verbatim | Self::Other => None,
            Self::List => Some(Kind::List),
            Self::Map => Some(Kind::Map),
            _ => Some(Kind::Scalar),
        }
    }

    /// Whether the text of a scalar decides about its meaning.
    fn is_open(self) -> bool {
        matches!(self, Self::Untagged | Self::Merge | Self::Other)
    }
}

#[derive(Clone)]
pub(super) struct Scalar<'a> {
    pub(super) text: Cow<'a, str>,
    /// Without quotes, in one of the forms that are not blocks.
    pub(super) plain: bool,
    pub(super) tag: Type,
}

impl Scalar<'_> {
    /// As a value, or what is wrong with it.
    pub(super) fn value(self) -> Result<Value, String> {
        if self.is_null() {
            return Ok(Value::Null);
        }
        let value = match self.tag {
            Type::Bool => boolean(&self.text).map(Value::Bool),
            Type::Int => integer(&self.text).and_then(whole),
            Type::Float => trim(&self.text).parse().ok().and_then(finite),
            _ if self.plain && self.tag.is_open() => resolve(&self.text)?,
            _ => return self.into_text().map(Value::String),
        };
        match value {
            Some(value) => Ok(value),
            None if self.tag.is_open() => Ok(Value::String(self.text.into_owned())),
            None => Err(format!("{} is not what its tag says", shown(&self.text))),
        }
    }

    /// As the key of a mapping, or what is wrong with it.
    pub(super) fn into_key(self) -> Result<String, String> {
        if self.is_null() {
            return Err("a key must be a string".to_owned());
        }
        self.into_text()
    }

    fn into_text(self) -> Result<String, String> {
        if self.tag.is_open() || matches!(self.tag, Type::Text | Type::Verbatim) {
            Ok(self.text.into_owned())
        } else {
            Err("the tag makes it something other than text".to_owned())
        }
    }

    pub(super) fn is_null(&self) -> bool {
        self.tag == Type::Null || self.tag.is_open() && self.is_nothing()
    }

    fn is_nothing(&self) -> bool {
        self.plain && matches!(&*self.text, "" | "~" | "null" | "Null" | "NULL")
    }

    /// Whether it is the key that merges other mappings into its own.
    pub(super) fn is_merge(&self) -> bool {
        let asks = self.tag == Type::Merge || self.tag == Type::Untagged && self.plain;
        asks && self.text == "<<"
    }

    /// The integer that a key stands for: whether it is negative, and its magnitude.
    pub(super) fn integer(&self) -> Option<(bool, u64)> {
        if self.plain && self.tag == Type::Untagged { integer(&self.text) } else { None }
    }
}

/// Text for a message, which a text of any length must not make long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The value of plain text that is not null; none when it is just text.
fn resolve(text: &str) -> Result<Option<Value>, String> {
    if let Some(value) = boolean(text) {
        return Ok(Some(Value::Bool(value)));
    }
    let text = trim(text);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') || is_text(digits)
    {
        return Ok(None);
    }
    if let Some(value) = integer(text).and_then(whole) {
        return Ok(Some(value));
    }
    let signed = digits.len() < text.len();
    match digits {
        ".nan" | ".NaN" | ".NAN" if signed => return Ok(None),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" => {}
        _ => match text.parse::<f64>() {
            Ok(float) if float.is_finite() => return Ok(finite(float)),
            Ok(_) if !digits.starts_with('.') => {}
            _ => return Ok(None),
        },
    }
    Err(format!("the number {} has no form in JSON; text needs quotes", shown(text)))
}

/// Whether digits are written as only some versions of YAML read them.
fn is_text(digits: &str) -> bool {
    let leading_zero = digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let capital = matches!(digits.as_bytes(), [b'0', b'X' | b'O' | b'B', ..]);
    leading_zero || capital || digits.contains('_')
}

fn boolean(text: &str) -> Option<bool> {
    let text = trim(text);
    let is_one_of = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["true", "yes", "y", "on"]) {
        Some(true)
    } else if is_one_of(["false", "no", "n", "off"]) {
        Some(false)
    } else {
        None
    }
}

/// Whether an integer is negative, and its magnitude.
pub(super) fn integer(text: &str) -> Option<(bool, u64)> {
    let text = trim(text);
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = match rest.as_bytes() {
        [b'0', b'x' | b'X', digits @ ..] => magnitude(digits, 16),
        [b'0', b'o' | b'O', digits @ ..] => magnitude(digits, 8),
        [b'0', b'b' | b'B', digits @ ..] => magnitude(digits, 2),
        [b'0', _, ..] => None,
        digits => magnitude(digits, 10),
    }?;
    Some((negative && magnitude > 0, magnitude))
}

/// Digits, between which there may be single underscores.
fn magnitude(digits: &[u8], radix: u32) -> Option<u64> {
    let mut number: u64 = 0;
    for part in digits.split(|&byte| byte == b'_') {
        if part.is_empty() {
            return None;
        }
        for &byte in part {
            let digit = char::from(byte).to_digit(radix)?;
            number = number.checked_mul(radix.into())?.checked_add(digit.into())?;
        }
    }
    Some(number)
}

fn whole((negative, magnitude): (bool, u64)) -> Option<Value> {
    if negative {
        0_i64.checked_sub_unsigned(magnitude).map(Value::from)
    } else {
        Some(Value::from(magnitude))
    }
}

fn finite(float: f64) -> Option<Value> {
    Number::from_f64(float).map(Value::Number)
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}
