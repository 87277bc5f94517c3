//! The command line itself.

use std::process::Stdio;

use crate::support::{run, stderr, stdout, tool};

#[test]
fn the_version_is_the_crates() {
    let output = run(&["--version"], "");
    assert!(output.status.success());
    assert_eq!(stdout(&output), concat!("plimsoll ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn help_has_examples_and_exit_codes() {
    for (arguments, expected) in [
        (vec!["--help"], "plimsoll replay incident.jsonl"),
        (vec!["replay", "--help"], "Exit codes: 0"),
        (vec!["explain", "--help"], "Exit codes: 0"),
        (vec!["simulate", "--help"], "Exit codes: 0"),
        (vec!["explain", "-h"], "plimsoll explain cluster.yaml"),
    ] {
        let output = run(&arguments, "");
        assert!(output.status.success(), "{arguments:?}");
        assert!(stdout(&output).contains(expected), "{arguments:?}: {}", stdout(&output));
    }
}

#[test]
fn wrong_arguments_are_explained() {
    for (arguments, expected) in [
        (vec![], "Usage: plimsoll <COMMAND>"),
        (vec!["imitate"], "unrecognized subcommand 'imitate'"),
        (vec!["simulate"], "<SCENARIO>"),
        (vec!["replay"], "<FILE>..."),
        (vec!["replay", "--quiet", "-"], "--check"),
        (vec!["explain"], "<FILE>"),
        (vec!["explain", "-", "--behavior", "nginx"], "[possible values: native, envoy]"),
        (vec!["explain", "-", "--health", "10.0.0.1:80"], "expected ADDR=EVENT"),
        (vec!["explain", "-", "--health", "a=sick"], "is not pass, fail, degraded"),
    ] {
        let output = run(&arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error_worth_a_message() {
    let mut child = tool(&["replay", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    let line = "{\"op\":\"advance\",\"ms\":1}\n";
    // The tool may be gone already.
    let _ = std::io::Write::write_all(&mut stdin, line.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the tool ends");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "");
}
