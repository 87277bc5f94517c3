//! Lines that are not operations stop a replay, with a message that says where and why.

use crate::support::{run, stderr, stdout};

/// A line, and a part of the message.
const MALFORMED: &[(&str, &str)] = &[
    // Not JSON, or not an object.
    ("{", "EOF while parsing an object at column 1"),
    ("pick", "expected value at column 1"),
    (r#"{"op":"pick"} {}"#, "trailing characters at column 15"),
    (r#"{"op":"pick",}"#, "trailing comma at column 14"),
    (r#"{'op':'pick'}"#, "key must be a string at column 2"),
    (r#"{"op":"pick","n":01}"#, "invalid number"),
    (r#"{"op":"pick","n":1e999}"#, "number out of range"),
    (r#"{"op":"pick","id":"\ud800"}"#, "hex escape"),
    (" # not at the start of the line", "expected value at column 2"),
    ("null", "an operation is a JSON object"),
    ("[]", "an operation is a JSON object"),
    ("\"pick\"", "an operation is a JSON object"),
    // The same key twice.
    (r#"{"op":"pick","op":"peek"}"#, r#"the key "op" appears twice"#),
    (r#"{"op":"load","hosts":{"a":1,"a":2}}"#, r#"the key "a" appears twice"#),
    // The operation.
    ("{}", "the key `op` is missing"),
    (r#"{"n":1}"#, "the key `op` is missing"),
    (r#"{"op":1}"#, "op: expected a string, got 1"),
    (r#"{"op":null}"#, "op: expected a string, got null"),
    (r#"{"op":"jump"}"#, "unknown variant `jump`, expected one of `open`, `assign`"),
    (r#"{"op":"Pick"}"#, "unknown variant `Pick`"),
    (r#"{"op":""}"#, "unknown variant ``"),
    // Keys of every operation.
    (r#"{"op":"pick","cluster":1}"#, "cluster: expected a string, got 1"),
    (r#"{"op":"pick","cluster":null}"#, "cluster: expected a string, got null"),
    // Unknown keys.
    (r#"{"op":"pick","count":1}"#, "pick.count: unknown field `count`"),
    (r#"{"op":"pick","draw":1}"#, "pick.draw: only explain has this key"),
    (r#"{"op":"peek","draw":1}"#, "peek.draw: only explain has this key"),
    (r#"{"op":"advance","ms":1,"s":1}"#, "advance.s: unknown field `s`"),
    (r#"{"op":"open","config":{},"extra":1}"#, "open.extra: unknown field `extra`"),
    (r#"{"op":"open","config":{},"node":{"id":"n"}}"#, "open.node.id: unknown field `id`"),
    (
        r#"{"op":"open","config":{},"node":{"locality":{"rack":"r"}}}"#,
        "open.node.locality.rack: unknown field `rack`",
    ),
    (r#"{"op":"reconfigure","config":{},"behavior":"envoy"}"#, "unknown field `behavior`"),
    (r#"{"op":"load","hosts":{"a":{"active":1,"idle":1}}}"#, "expected a count or {"),
    (r#"{"op":"show","what":"loads","priority":0}"#, "only localities and table have this key"),
    (r#"{"op":"show","what":"hosts","source":"all"}"#, "only localities and table have this key"),
    (r#"{"op":"hash","policies":[],"request":{"path":"/"}}"#, "unknown field `path`"),
    (r#"{"op":"hash","request":{}}"#, "missing field `policies`"),
    (r#"{"op":"hash","policies":[7],"request":{}}"#, "hash.policies[0]: "),
    (
        r#"{"op":"hash","policies":[],"request":{"headers":{"a":7}}}"#,
        "hash.request.headers.a: expected a header's value or a list of them",
    ),
    // Missing keys.
    (r#"{"op":"open"}"#, "missing field `config`"),
    (r#"{"op":"assign"}"#, "missing field `load_assignment`"),
    (r#"{"op":"advance"}"#, "missing field `ms`"),
    (r#"{"op":"worker","worker":0}"#, "missing field `action`"),
    (r#"{"op":"show"}"#, "missing field `what`"),
    // Keys of the wrong type.
    (r#"{"op":"open","config":"name: c"}"#, "open.config: invalid type: string"),
    (r#"{"op":"open","config":null}"#, "open.config: null is not a value of this key"),
    (r#"{"op":"open","config":{},"behavior":"Envoy"}"#, "open.behavior: unknown variant `Envoy`"),
    (r#"{"op":"open","config":{},"runtime":[]}"#, "open.runtime: invalid type: sequence"),
    (r#"{"op":"assign","load_assignment":[]}"#, "assign.load_assignment: invalid type: sequence"),
    (r#"{"op":"health","hosts":["a"]}"#, "health.hosts: invalid type: sequence"),
    (r#"{"op":"health","hosts":{"a":"sick"}}"#, "health.hosts.a: unknown variant `sick`"),
    (r#"{"op":"runtime","values":1}"#, "runtime.values: invalid type: integer"),
    (r#"{"op":"advance","ms":-1}"#, "advance.ms: expected an integer from 0 to"),
    (r#"{"op":"advance","ms":1.0}"#, "advance.ms: expected an integer from 0 to"),
    (r#"{"op":"advance","ms":1,"late":"yes"}"#, "advance.late: invalid type: string"),
    (r#"{"op":"load","hosts":{"a":-1}}"#, "load.hosts.a: expected a count or {"),
    (r#"{"op":"draws","values":7}"#, "draws.values: invalid type: integer"),
    (r#"{"op":"draws","values":["x"]}"#, "draws.values[0]: expected an integer from 0 to"),
    (r#"{"op":"draws","values":["007"]}"#, "draws.values[0]: expected an integer from 0 to"),
    (r#"{"op":"draws","values":[18446744073709551616]}"#, "expected an integer from 0 to"),
    (r#"{"op":"draws","values":["18446744073709551616"]}"#, "expected an integer from 0 to"),
    (r#"{"op":"pick","n":"many"}"#, "pick.n: expected an integer from 0 to"),
    (r#"{"op":"pick","n":null}"#, "pick.n: null is not a value of this key"),
    (r#"{"op":"pick","hold":1}"#, "pick.hold: invalid type: integer"),
    (r#"{"op":"pick","reject":"a"}"#, "pick.reject: invalid type: string"),
    (r#"{"op":"pick","hash":true}"#, "pick.hash: expected a 64-bit integer or a list of them"),
    (r#"{"op":"done","hosts":"a"}"#, "done.hosts: invalid type: string"),
    (r#"{"op":"done","hosts":[],"outcome":"ok"}"#, "done.outcome: unknown variant `ok`"),
    (r#"{"op":"tally","worker":"some"}"#, "tally.worker: expected a worker's index or \"all\""),
    (r#"{"op":"tally","hash":7}"#, "tally.hash: "),
    (r#"{"op":"worker","worker":0,"action":"stop"}"#, "worker.action: unknown variant `stop`"),
    (r#"{"op":"show","what":"all"}"#, "show.what: unknown variant `all`"),
    (r#"{"op":"report","host":1}"#, "report.host: invalid type: integer"),
];

#[test]
fn a_line_that_is_no_operation_stops_the_run_with_its_place() {
    for (line, message) in MALFORMED {
        let input = format!("# first\n\n{line}\n{{\"op\":\"advance\",\"ms\":1}}\n");
        let output = run(&["replay", "-"], &input);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.starts_with("-:3: ") && error.contains(message), "{line}: {error}");
        assert_eq!(error.lines().count(), 1, "{line}: {error}");
        assert_eq!(stdout(&output), "", "{line}");
    }
}

#[test]
fn results_before_the_malformed_line_stay() {
    let input = "{\"op\":\"advance\",\"ms\":1}\n{\"op\":\"jump\"}\n{\"op\":\"advance\",\"ms\":1}\n";
    let output = run(&["replay", "-"], input);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output).lines().count(), 1);
    assert!(stderr(&output).starts_with("-:2: "));
}

#[test]
fn a_malformed_line_outweighs_mismatches_and_ends_the_check() {
    let input = "{\"op\":\"advance\",\"ms\":1,\"expect\":2}\n{\"op\":\"jump\"}\n";
    let output = run(&["replay", "--check", "-", "-"], input);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("-:1: expected 2 got "), "{}", stdout(&output));
}

#[test]
fn bytes_that_are_not_text_are_malformed() {
    let options = plimsoll_cli::replay::Options::named("bytes");
    let stop = plimsoll_cli::replay::run(&b"{\"op\":\"\xff\"}\n"[..], Vec::new(), &options);
    let message = stop.unwrap_err().to_string();
    assert!(message.starts_with("bytes:1: not UTF-8: "), "{message}");
}

#[test]
fn nesting_without_end_is_malformed() {
    let deep = format!("{{\"op\":\"pick\",\"id\":{}", "[".repeat(100_000));
    let output = run(&["replay", "-"], &deep);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("recursion limit exceeded"), "{}", stderr(&output));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let output = run(&["replay", "no-such-file.jsonl"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("no-such-file.jsonl: "), "{}", stderr(&output));
}

#[test]
fn several_files_are_for_checks_only() {
    let output = run(&["replay", "a.jsonl", "b.jsonl"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--check"), "{}", stderr(&output));
}
