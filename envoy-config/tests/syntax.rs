//! Texts that are not JSON or YAML, or are too much of it.

use std::fmt::Write as _;

use plimsoll_envoy_config::{ParseError, parse_assignment, parse_cluster};

fn place(text: &str) -> (usize, usize, String) {
    match parse_cluster(text) {
        Err(ParseError::Syntax { line, column, message }) => (line, column, message),
        other => panic!("{text:?} gave {other:?}"),
    }
}

#[test]
fn errors_in_json_carry_line_and_column() {
    for (text, line, column, message) in [
        ("{\n  \"name\": \"a\",\n}", 3, 1, "trailing comma"),
        ("{\"name\" \"a\"}", 1, 9, "expected `:`"),
        ("{\"name\": \"a\"} {}", 1, 15, "trailing characters"),
        ("{\"name\": 1e999}", 1, 14, "number out of range"),
        (" \n{", 2, 1, "EOF while parsing an object"),
        ("{name: a}", 1, 2, "key must be a string"),
    ] {
        assert_eq!(place(text), (line, column, message.to_owned()), "{text}");
    }
}

#[test]
fn errors_in_yaml_carry_line_and_column() {
    for (text, line, column) in [
        ("name: a\nlb_policy: [", 2, 12),
        ("name: a: b", 1, 8),
        ("name: 'a", 1, 7),
        ("name: *a", 1, 7),
        ("name: a\n---\nname: b", 3, 1),
        ("? [a]\n: 1", 1, 3),
    ] {
        let (found_line, found_column, message) = place(text);
        assert_eq!((found_line, found_column), (line, column), "{text}: {message}");
        assert!(!message.contains('\n') && !message.contains(" at line"), "{message}");
    }
}

#[test]
fn a_key_twice_is_an_error_at_any_depth() {
    for text in [
        "{\"name\": \"a\", \"name\": \"b\"}",
        "{\"name\": \"a\", \"metadata\": {\"x\": {\"y\": 1, \"y\": 1}}}",
        "name: a\nname: b",
        "name: a\nmetadata: { x: { y: 1, y: 1 } }",
    ] {
        assert!(matches!(parse_cluster(text), Err(ParseError::Syntax { line: 1.., .. })), "{text}");
    }
}

#[test]
fn the_display_of_an_error_starts_with_its_place() {
    let error = parse_cluster("{\n\"name\": ]}").expect_err("no JSON");
    assert_eq!(error.to_string(), "line 2, column 9: expected value");
    assert_eq!((error.code(), error.field()), ("parse_error", ""));
    let error = parse_cluster("name: ''").expect_err("no name");
    let message = "ClusterValidationError.Name: value length must be at least 1 characters";
    assert_eq!(error.to_string(), format!("name: {message}"));
    assert_eq!((error.code(), error.field()), ("invalid_argument", "name"));
}

#[test]
fn a_byte_order_mark_and_blanks_before_json_do_not_count() {
    parse_cluster("\u{feff} \r\n\t{\"name\": \"a\"}").expect("JSON");
    parse_cluster("\u{feff}name: a").expect("YAML");
}

#[test]
fn nesting_is_bounded_in_both_languages() {
    let lists = "[".repeat(200_000);
    let maps = "{\"a\":".repeat(200_000);
    let blocks: String = (0..1000).map(|depth| " ".repeat(depth) + "a:\n").collect();
    for text in [lists.clone(), maps, format!("{{\"name\": {lists}"), blocks, "- ".repeat(9999)] {
        assert!(matches!(parse_cluster(&text), Err(ParseError::Syntax { .. })));
    }
}

#[test]
fn aliases_cannot_multiply_a_small_text() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(text, "a{level}: &a{level} [{inner}]").expect("a string takes it");
    }
    assert!(matches!(parse_assignment(&text), Err(ParseError::Syntax { .. })));
}

#[test]
fn aliases_and_merge_keys_work_within_limits() {
    let assignment = parse_assignment(
        "
cluster_name: api
endpoints:
- &group { locality: { region: eu } }
- { <<: *group, priority: 1 }
",
    )
    .expect("valid");
    assert_eq!(assignment.endpoints[1].locality.region, "eu");
    assert_eq!(assignment.endpoints[1].priority, 1);
}

#[test]
fn a_float_that_json_cannot_hold_is_refused_rather_than_taken_for_text() {
    for text in ["name: .nan", "name: 12e1234", "name: -.inf"] {
        assert_eq!(place(text).0, 1, "{text}");
    }
    parse_cluster("name: '12e1234'").expect("a string");
}
