//! What YAML means: scalars, structures, what is refused and where.

use std::fmt::Write as _;

use plimsoll_envoy_config::{ParseError, parse_value};
use serde_json::{Value, json};

/// The comment keeps a text that begins like JSON from being read as JSON.
fn read(text: &str) -> Result<Value, ParseError> {
    parse_value(&format!("#\n{text}"))
}

fn value(text: &str) -> Value {
    read(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Line and column of what is wrong, and the message.
fn refused(text: &str) -> (usize, usize, String) {
    match read(text) {
        Err(ParseError::Syntax { line, column, message }) => (line - 1, column, message),
        other => panic!("{text:?} gave {other:?}"),
    }
}

#[test]
fn plain_scalars_are_null_boolean_number_or_text() {
    for (text, expected) in [
        ("", json!(null)),
        ("~", json!(null)),
        ("null", json!(null)),
        ("Null", json!(null)),
        ("NULL", json!(null)),
        ("nULL", json!("nULL")),
        ("none", json!("none")),
        ("true", json!(true)),
        ("tRUE", json!(true)),
        ("yes", json!(true)),
        ("Y", json!(true)),
        ("on", json!(true)),
        ("False", json!(false)),
        ("NO", json!(false)),
        ("n", json!(false)),
        ("off", json!(false)),
        ("truee", json!("truee")),
        ("0", json!(0)),
        ("-0", json!(0)),
        ("+7", json!(7)),
        ("-12", json!(-12)),
        ("18446744073709551615", json!(u64::MAX)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("-9223372036854775809", json!(-9_223_372_036_854_775_808.0)),
        ("0x1F", json!(31)),
        ("-0x10", json!(-16)),
        ("0o17", json!(15)),
        ("0b101", json!(5)),
        ("0X1F", json!("0X1F")),
        ("0x", json!("0x")),
        ("0o8", json!("0o8")),
        ("0x10000000000000000", json!("0x10000000000000000")),
        ("0755", json!("0755")),
        ("-0755", json!("-0755")),
        ("00", json!("00")),
        ("00.5", json!(0.5)),
        ("1_000", json!("1_000")),
        ("0x1_0", json!("0x1_0")),
        ("1.10", json!(1.1)),
        ("5.", json!(5.0)),
        (".5", json!(0.5)),
        ("-.5", json!(-0.5)),
        ("-0.0", json!(-0.0)),
        ("1e3", json!(1000.0)),
        ("1E-3", json!(0.001)),
        ("4.9e-324", json!(5e-324)),
        ("1e-400", json!(0.0)),
        ("0.1000000000000000055511151231257827", json!(0.1)),
        (".1e999", json!(".1e999")),
        ("e5", json!("e5")),
        (".", json!(".")),
        ("+", json!("+")),
        ("+-1", json!("+-1")),
        ("inf", json!("inf")),
        ("nan", json!("nan")),
        ("-.nan", json!("-.nan")),
        ("1:30", json!("1:30")),
        ("2001-12-14", json!("2001-12-14")),
        ("10.0.0.1", json!("10.0.0.1")),
        ("0.5s", json!("0.5s")),
        ("a b", json!("a b")),
        ("1\n 2", json!("1 2")),
        ("héé 日本 \u{1F600}", json!("héé 日本 \u{1F600}")),
    ] {
        assert_eq!(value(&format!("- {text}")), json!([expected]), "{text:?}");
        assert_eq!(value(&format!("{{ k: {text} }}")), json!({"k": expected}), "{text:?}");
    }
}

#[test]
fn quoted_scalars_and_blocks_are_text() {
    for (text, expected) in [
        ("''", ""),
        ("'~'", "~"),
        ("\"null\"", "null"),
        ("'yes'", "yes"),
        ("\"1\"", "1"),
        ("'0x1F'", "0x1F"),
        ("'.inf'", ".inf"),
        ("'12e1234'", "12e1234"),
        ("'it''s'", "it's"),
        ("\"a\\tb\\x41\\u00e9\\U0001F600\\n\"", "a\tbAé\u{1F600}\n"),
        ("\"\\ud83d\\ude00\"", "\u{1F600}"),
        ("'a\n  b\n\n  c'", "a b\nc"),
        ("\"a\\\n  b\"", "ab"),
        ("|\n  1\n  2\n", "1\n2\n"),
        ("|-\n  1", "1"),
        ("|+\n  1\n\n", "1\n\n"),
        (">\n  a\n  b\n\n  c\n", "a b\nc\n"),
        ("|2\n    a\n", "  a\n"),
    ] {
        assert_eq!(value(&format!("- {text}")), json!([expected]), "{text:?}");
    }
}

#[test]
fn tags_override_what_a_scalar_looks_like() {
    for (text, expected) in [
        ("!!str 1", json!("1")),
        ("!!str ~", json!("~")),
        ("!!str", json!("")),
        ("! yes", json!("yes")),
        ("!<tag:yaml.org,2002:> yes", json!(true)),
        ("!!int '7'", json!(7)),
        ("!!int ' 1_000 '", json!(1000)),
        ("!!int 0X1f", json!(31)),
        ("!!float 1", json!(1.0)),
        ("!!float '1e3'", json!(1000.0)),
        ("!!bool \"off\"", json!(false)),
        ("!!null anything", json!(null)),
        ("!int 7", json!(7)),
        ("!<tag:yaml.org,2002:int> '7'", json!(7)),
        ("!own 5", json!(5)),
        ("!own '5'", json!("5")),
        ("!own [5]", json!([5])),
        ("!!seq [5]", json!([5])),
        ("!!map { a: 5 }", json!({"a": 5})),
        ("! [5]", json!([5])),
    ] {
        assert_eq!(value(&format!("- {text}")), json!([expected]), "{text:?}");
    }
    assert_eq!(value("%TAG !e! tag:yaml.org,2002:\n---\n- !e!str 1"), json!(["1"]));
    assert_eq!(value("? !!str 1\n: a\n!!str b: c"), json!({"1": "a", "b": "c"}));
}

#[test]
fn structures_become_lists_and_objects() {
    for (text, expected) in [
        ("", json!(null)),
        ("# nothing but a comment", json!(null)),
        ("---\n...\n", json!(null)),
        ("--- a\n...\n# the end\n", json!("a")),
        ("%YAML 1.2\n---\na: 1", json!({"a": 1})),
        ("{}", json!({})),
        ("[]", json!([])),
        ("[a, [b, {c: d}], ]", json!(["a", ["b", {"c": "d"}]])),
        ("[a: 1, b]", json!([{"a": 1}, "b"])),
        ("{a, b: 1}", json!({"a": null, "b": 1})),
        ("{\"a\":1}", json!({"a": 1})),
        (
            "- a\n-\n- - b\n  - c\n- d: 1\n  e: 2\n",
            json!(["a", null, ["b", "c"], {"d": 1, "e": 2}]),
        ),
        ("a:\n- 1\nb:\n  c: 2", json!({"a": [1], "b": {"c": 2}})),
        ("? a\n: 1\n? b", json!({"a": 1, "b": null})),
        ("a: 1 # one\r\nb: 2\r\n", json!({"a": 1, "b": 2})),
        ("1: a\nyes: b\n1.5: c\n'': d", json!({"1": "a", "yes": "b", "1.5": "c", "": "d"})),
        ("1: a\n'0x1': b", json!({"1": "a", "0x1": "b"})),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
    assert_eq!(parse_value("\u{feff}a: 1").expect("a byte order mark"), json!({"a": 1}));
}

#[test]
fn an_alias_stands_for_its_anchor() {
    for (text, expected) in [
        ("- &a 1\n- *a", json!([1, 1])),
        ("- &a\n- *a", json!([null, null])),
        ("- &a { x: [1] }\n- *a\n- [*a]", json!([{"x": [1]}, {"x": [1]}, [{"x": [1]}]])),
        ("- &a [&b 1, *b, &c [*b]]\n- *c\n- *a", json!([[1, 1, [1]], [1], [1, 1, [1]]])),
        ("- &a 1\n- *a\n- &a 2\n- *a", json!([1, 1, 2, 2])),
        (
            "&k key: &v value\nother: *v\n*v : *k",
            json!({"key": "value", "other": "value", "value": "key"}),
        ),
        ("- &a 0x10\n- *a : 1", json!([16, {"0x10": 1}])),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn a_merge_key_adds_what_is_not_there() {
    for (text, expected) in [
        ("<<: { a: 1 }\nb: 2", json!({"a": 1, "b": 2})),
        ("<<: { a: 1 }\na: 2", json!({"a": 2})),
        ("a: 2\n<<: { a: 1 }", json!({"a": 2})),
        ("<<: [{ a: 1 }, { a: 2, b: 2 }]", json!({"a": 1, "b": 2})),
        ("<<: { a: 1 }\n<<: { a: 2, b: 2 }", json!({"a": 1, "b": 2})),
        ("<<: { <<: { a: 1, b: 1 }, a: 2 }\nc: 3", json!({"a": 2, "b": 1, "c": 3})),
        ("<<:\na: 1", json!({"a": 1})),
        ("<<: [~, [{ a: 1 }]]", json!({"a": 1})),
        (
            "- &x { a: 1 }\n- &y [*x, { b: 2 }]\n- { <<: *y, c: 3 }",
            json!([{"a": 1}, [{"a": 1}, {"b": 2}], {"a": 1, "b": 2, "c": 3}]),
        ),
        ("1: a\n<<: { 0x1: b, 2: c }\n<<: { +2: d }", json!({"1": "a", "2": "c"})),
        ("0x1: a\n<<: { 1: b, <<: { +1: c } }", json!({"0x1": "a"})),
        ("'1': a\n<<: { 0x1: b }", json!({"1": "a", "0x1": "b"})),
        ("!!merge <<: { a: 1 }", json!({"a": 1})),
        ("'<<': { a: 1 }", json!({"<<": {"a": 1}})),
        ("a: <<", json!({"a": "<<"})),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_refused_is_refused_at_its_place() {
    for (text, line, column, message) in [
        ("a: 1\nb: .nan", 2, 4, "the number \".nan\" has no form in JSON; text needs quotes"),
        ("a: 12e1234", 1, 4, "the number \"12e1234\" has no form"),
        ("[+.inf]", 1, 2, "the number \"+.inf\" has no form"),
        ("a: 1\na: 2", 2, 1, "the key \"a\" appears twice"),
        ("{ 1: a, 0x1: b }", 1, 9, "the key \"0x1\" appears twice"),
        ("{ 1: a, '1': b }", 1, 9, "the key \"1\" appears twice"),
        ("<<: { a: 1, a: 2 }", 1, 13, "the key \"a\" appears twice"),
        ("~: 1", 1, 1, "a key must be a string"),
        ("[a]: 1", 1, 1, "a key must be a string"),
        ("a: 1\n? { b: c }\n: 1", 2, 3, "a key must be a string"),
        ("!!int 1: a", 1, 7, "the tag makes it something other than text"),
        ("<<: 1", 1, 5, "<< takes a mapping or a list of mappings"),
        ("<<: [{ a: 1 }, b]", 1, 16, "<< takes a mapping or a list of mappings"),
        ("a: &a [*a]", 1, 8, "an alias stands inside of what it names"),
        ("&a <<: *a", 1, 4, "<< takes a mapping"),
        ("&a\nb: { <<: *a }", 2, 10, "an alias stands inside of what it names"),
        ("a: *b", 1, 4, "unknown anchor"),
        ("- &a b\n---\n- *a", 3, 1, "a second document"),
        ("a\n---\nb", 3, 1, "a second document"),
        ("!!int x", 1, 7, "\"x\" is not what its tag says"),
        ("!!int 18446744073709551616", 1, 7, "is not what its tag says"),
        ("!!float .nan", 1, 9, "is not what its tag says"),
        ("!!bool 1", 1, 8, "is not what its tag says"),
        ("!!timestamp 2001-12-14", 1, 13, "the tag makes it something other than text"),
        ("!!binary aMOp", 1, 10, "the tag makes it something other than text"),
        ("!!int [1]", 1, 7, "the tag \"!!int\" does not fit here"),
        ("!!map [1]", 1, 7, "the tag \"!!map\" does not fit here"),
        ("!!seq a", 1, 7, "the tag \"!!seq\" does not fit here"),
        ("!x!y a", 1, 1, "the handle"),
        ("a: \u{1}", 1, 4, "unexpected character"),
        ("a: \"\u{7f}\"", 1, 5, ""),
        ("- a\n- \u{feff}b", 2, 3, "a BOM must not appear inside a document"),
        ("a: \"\\q\"", 1, 4, ""),
        ("a: [1, 2", 1, 4, "unclosed bracket '['"),
        ("a: 'b", 1, 4, "unclosed quote"),
        ("a:\n\t- b", 2, 2, "tabs disallowed"),
        ("é: 1\nb: é é: 2", 2, 7, "mapping values are not allowed in this context"),
    ] {
        let (found_line, found_column, found) = refused(text);
        assert_eq!((found_line, found_column), (line, column), "{text:?}: {found}");
        assert!(found.contains(message), "{text:?}: {found}");
    }
}

#[test]
fn nesting_has_a_limit_that_aliases_share() {
    let lists = |depth| "[".repeat(depth) + &"]".repeat(depth);
    let maps = |depth| "{ a: ".repeat(depth) + "1" + &" }".repeat(depth);
    value(&lists(64));
    value(&maps(64));
    value(&format!("{}x", "- ".repeat(64)));
    value(&format!("- &a {}\n- {}*a{}", lists(40), "[".repeat(23), "]".repeat(23)));
    for (text, line, column) in [
        (lists(65), 1, 65),
        (maps(65), 1, 321),
        (format!("{}x", "- ".repeat(65)), 1, 129),
        (format!("- &a {}\n- {}*a{}", lists(40), "[".repeat(24), "]".repeat(24)), 2, 27),
    ] {
        let (found_line, found_column, message) = refused(&text);
        assert_eq!((found_line, found_column), (line, column), "{message}");
        assert!(message.contains("nested deeper than 64"), "{message}");
    }
    for opening in ["[", "{a: ", "- ", "? ", "[{", "a: [", "<<: {", "&a [", "!a [", "- - ? "] {
        refused(&opening.repeat(100_000));
    }
}

#[test]
fn aliases_add_a_million_events_at_most() {
    let list = format!("a: &a [{}]\nb:\n", vec!["x"; 998].join(","));
    assert_eq!(value(&(list.clone() + &"- *a\n".repeat(1000)))["b"][999][997], "x");
    let (line, column, message) = refused(&(list + &"- *a\n".repeat(1001)));
    assert_eq!((line, column, message.as_str()), (1003, 3, "aliases make the text too large"));
}

#[test]
fn text_that_aliases_add_counts_by_its_length() {
    let text = format!("a: &a {}\nb:\n", "x".repeat(64_000));
    assert_eq!(value(&(text.clone() + &"- *a\n".repeat(999)))["b"][998], "x".repeat(64_000));
    let (line, column, message) = refused(&(text + &"- *a\n".repeat(1000)));
    assert_eq!((line, column, message.as_str()), (1002, 3, "aliases make the text too large"));
}

/// Each would take hours, or all memory, if it took time or memory by the square of its length.
#[test]
fn no_text_takes_more_than_its_length() {
    let many = 10_000;
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..60 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(laughs, "a{level}: &a{level} [{inner}]").expect("a string takes it");
    }
    refused(&laughs);
    refused(&laughs.replace(": &", ": !x &").replace('[', "{ <<: [").replace(']', "] }"));

    let nested = "&a [".repeat(60) + &"x, ".repeat(many) + &"]".repeat(60);
    assert!(value(&format!("- {nested}\n- *a")).is_array());

    let numbered = |form: &str, many: usize| -> String {
        (0..many).map(|number| form.replace('#', &number.to_string())).collect()
    };
    assert_eq!(value(&numbered("#: 1\n", many)).as_object().map_or(0, |map| map.len()), many);
    value(&numbered("- &a# x\n", many));
    value(&numbered("- { <<: { a#: 1 }, b: 2 }\n", many));
    value(&format!("<<:\n{}", numbered("- { a#: 1 }\n", many)));
    value(&format!("- &a {{ k: 1 }}\n- {}", "{ <<: *a }\n- ".repeat(many)));
    value(&("\"".to_owned() + &" \n".repeat(many) + "\""));
    value(&("'".to_owned() + &"''".repeat(many) + "'"));
    value(&("- |\n".to_owned() + &"  x\n".repeat(many)));
    value(&("- x\n".to_owned() + &" y\n".repeat(many)));
    value(&"# comment\n".repeat(many));
    value(&"\n".repeat(many));
    let (.., message) = refused(&"9".repeat(many));
    assert!(message.len() < 100, "{message}");
    value(&("0x".to_owned() + &"f".repeat(many)));
    for text in
        ["!", "%", "&", "*", "!!", "&a ", "\u{feff}", "---\n", "a: ", "? a\n", "\t", "%a b\n"]
    {
        drop(read(&text.repeat(many)));
    }
}
