//! Lines that are not operations stop a replay, with a message that says where and why.

use crate::support::{run, stderr, stdout};

/// The lines and parts of messages that all runners share.
fn malformed() -> impl Iterator<Item = (&'static str, &'static str)> {
    let table = include_str!("../../../tests/malformed-lines.txt").lines();
    table.filter(|row| !row.starts_with('#')).filter_map(|row| row.split_once('\t'))
}

#[test]
fn a_line_that_is_no_operation_stops_the_run_with_its_place() {
    assert!(malformed().count() > 70, "the table was not understood");
    for (line, message) in malformed() {
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
