//! Running the tool and writing replays, for all tests of this crate.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use plimsoll_cli::replay::{self, Options, Summary};

/// Two hosts in one priority: `/a` healthy and of weight 3, `/b` degraded.
pub(crate) const CONFIG: &str = r#"{"name":"c","lb_policy":"RANDOM","load_assignment":{"cluster_name":"c","endpoints":[{"locality":{"region":"eu","zone":"eu-1"},"lb_endpoints":[{"endpoint":{"address":{"pipe":{"path":"/a"}}},"load_balancing_weight":3},{"endpoint":{"address":{"pipe":{"path":"/b"}}},"health_status":"DEGRADED"}]}]}}"#;

/// Only `/b`, healthy now.
pub(crate) const ONLY_B: &str = r#"{"cluster_name":"c","endpoints":[{"lb_endpoints":[{"endpoint":{"address":{"pipe":{"path":"/b"}}}}]}]}"#;

/// Opens the cluster.
pub(crate) const OPEN: &str = r#"{"op":"open","config":CONFIG}"#;
/// Opens it in behavior envoy, with three draws.
pub(crate) const OPEN_AS_ENVOY: &str =
    r#"{"op":"open","config":CONFIG,"behavior":"envoy","draws":["5",99,6]}"#;
/// What changes give.
pub(crate) const OK: &str = r#"{"ok":true}"#;

/// The tool with these arguments, not started yet.
pub(crate) fn tool(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(arguments).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

/// Runs the tool to its end with this standard input.
pub(crate) fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = tool(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the tool starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The tool may stop before it has read everything.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the tool ends")
}

/// What the tool wrote to standard output.
pub(crate) fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).expect("text")
}

/// What the tool wrote to standard error.
pub(crate) fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("text")
}

/// Runs operations, with `CONFIG` and `ONLY_B` in the places of their names.
pub(crate) fn replay(input: &str, options: &Options<'_>) -> (Summary, String) {
    let input = input.replace("CONFIG", CONFIG).replace("ONLY_B", ONLY_B);
    let mut output = Vec::new();
    let summary = replay::run(input.as_bytes(), &mut output, options).expect("operations only");
    (summary, String::from_utf8(output).expect("text"))
}

/// Operations and their results, one each.
pub(crate) fn check(cases: &[(&str, &str)]) {
    let operations: Vec<&str> = cases.iter().map(|(operation, _)| *operation).collect();
    let (_, output) = replay(&operations.join("\n"), &Options::named("test"));
    let output: Vec<&str> = output.lines().collect();
    for ((operation, expected), got) in cases.iter().zip(&output) {
        assert_eq!(expected, got, "{operation}");
    }
    assert_eq!(output.len(), cases.len());
}
