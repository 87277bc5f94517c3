//! A value that is written as YAML, in whatever style, reads back as itself.

use plimsoll_envoy_config::parse_value;
use proptest::prelude::*;
use serde_json::{Map, Value};

const NULLS: [&str; 4] = ["null", "~", "Null", "NULL"];
const TRUTHS: [&str; 5] = ["true", "yes", "On", "Y", "TRUE"];
const UNTRUTHS: [&str; 5] = ["false", "no", "Off", "n", "FALSE"];

/// Writes YAML; what it might write in several ways it writes as the choices say.
struct Writer {
    choices: Vec<u8>,
    next: usize,
    text: String,
}

impl Writer {
    fn write(value: &Value, choices: Vec<u8>) -> String {
        // The comment keeps a text that begins like JSON from being read as JSON.
        let mut writer = Self { choices, next: 0, text: "# YAML\n".to_owned() };
        if writer.choose(2) == 0 {
            writer.text.push_str("---\n");
        }
        writer.block(value, 0);
        writer.text.push('\n');
        writer.text
    }

    /// A number below `ways`.
    fn choose(&mut self, ways: usize) -> usize {
        self.next += 1;
        usize::from(self.choices[self.next % self.choices.len()]) % ways
    }

    fn one_of(&mut self, words: &[&str]) {
        let chosen = self.choose(words.len());
        self.text.push_str(words[chosen]);
    }

    /// Begins a line, perhaps behind one with a comment.
    fn line(&mut self, indent: usize) {
        let begin = format!("\n{}", " ".repeat(indent));
        self.text.push_str(&begin);
        if self.choose(4) == 0 {
            self.text.push_str("# a comment: - [");
            self.text.push_str(&begin);
        }
    }

    /// A value behind a dash, behind a colon, or at the beginning of the text.
    fn block(&mut self, value: &Value, indent: usize) {
        let inner = indent + 1 + self.choose(3);
        match value {
            Value::Array(items) if !items.is_empty() && self.choose(3) > 0 => {
                for item in items {
                    self.line(inner);
                    self.text.push_str("- ");
                    self.block(item, inner + 1);
                }
            }
            Value::Object(entries) if !entries.is_empty() && self.choose(3) > 0 => {
                for (key, value) in entries {
                    self.line(inner);
                    if self.choose(4) == 0 {
                        self.text.push_str("? ");
                        self.string(key);
                        self.line(inner);
                    } else {
                        self.string(key);
                    }
                    self.text.push_str(": ");
                    self.block(value, inner + 1);
                }
            }
            Value::String(string) if is_literal(string) && self.choose(2) == 0 => {
                self.text.push_str("|-");
                for line in string.split('\n') {
                    self.text.push('\n');
                    self.text.push_str(&" ".repeat(inner));
                    self.text.push_str(line);
                }
            }
            Value::Null if self.choose(2) == 0 => {}
            other => self.flow(other),
        }
    }

    fn flow(&mut self, value: &Value) {
        match value {
            Value::Null => self.one_of(&NULLS),
            Value::Bool(true) => self.one_of(&TRUTHS),
            Value::Bool(false) => self.one_of(&UNTRUTHS),
            Value::Number(number) => match number.as_u64() {
                Some(whole) if self.choose(3) == 0 => self.text.push_str(&format!("0x{whole:x}")),
                Some(whole) if self.choose(3) == 0 => self.text.push_str(&format!("+{whole}")),
                _ => self.text.push_str(&number.to_string()),
            },
            Value::String(string) => self.string(string),
            Value::Array(items) => {
                self.text.push('[');
                for item in items {
                    self.flow(item);
                    self.one_of(&[", ", " ,\n      "]);
                }
                self.text.push(']');
            }
            Value::Object(entries) => {
                self.text.push('{');
                for (key, value) in entries {
                    self.string(key);
                    self.text.push_str(": ");
                    self.flow(value);
                    self.one_of(&[", ", " ,\n      "]);
                }
                self.text.push('}');
            }
        }
    }

    fn string(&mut self, string: &str) {
        match self.choose(3) {
            0 if is_plain(string) => self.text.push_str(string),
            1 if string.chars().all(is_visible) => {
                self.text.push_str(&format!("'{}'", string.replace('\'', "''")));
            }
            _ => self.double_quoted(string),
        }
    }

    fn double_quoted(&mut self, string: &str) {
        self.text.push('"');
        for letter in string.chars() {
            match letter {
                '"' | '\\' => self.text.extend(['\\', letter]),
                '\n' => self.text.push_str("\\n"),
                _ if is_visible(letter) && self.choose(4) > 0 => self.text.push(letter),
                _ => self.text.push_str(&format!("\\U{:08x}", u32::from(letter))),
            }
        }
        self.text.push('"');
    }
}

fn is_visible(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_graphic() || letter.is_alphanumeric()
}

/// Whether text can stand without quotes, as a key and inside of brackets too.
fn is_plain(string: &str) -> bool {
    let words = NULLS.iter().chain(&TRUTHS).chain(&UNTRUTHS);
    string.starts_with(|first: char| first.is_alphabetic())
        && string.chars().all(|letter| letter.is_alphanumeric() || "_-./%@".contains(letter))
        && !words.into_iter().any(|word| string.eq_ignore_ascii_case(word))
}

fn is_literal(string: &str) -> bool {
    let bounds = [' ', '\n'];
    !string.is_empty()
        && !string.starts_with(bounds)
        && !string.ends_with(bounds)
        && string.chars().all(|letter| letter == '\n' || is_visible(letter))
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9_./%@-]{0,12}",
        "[ -~]{0,12}",
        "[a-z#:\n -]{0,20}",
        "\\PC{0,8}",
        proptest::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
        proptest::sample::select(vec![
            "null", "~", "yes", "N", "1", "0x1F", "0755", "1_000", ".inf", "12e1234", "<<", "a: b",
            "- a", "# a", "a #b", "&a", "*a", "!a", "|", ">", "---", "...", "%YAML", "{", "[", "'",
            "\"",
        ])
        .prop_map(str::to_owned),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        string().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((string(), inner), 0..6)
                .prop_map(|entries| Value::Object(Map::from_iter(entries))),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_reads_back_as_itself(
        value in value(),
        choices in proptest::collection::vec(any::<u8>(), 1..40),
    ) {
        let text = Writer::write(&value, choices);
        match parse_value(&text) {
            Ok(read) => prop_assert_eq!(read, value, "{}", text),
            Err(error) => prop_assert!(false, "{}\n{}", error, text),
        }
    }
}
