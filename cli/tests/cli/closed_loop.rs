//! A program drives a replay: it reads each result before it decides on the next operation.

use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use crate::support::tool;

#[test]
fn each_result_comes_before_the_next_line_is_needed() {
    let mut command = tool(&["replay", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the tool starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut results = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut ask = |line: &str| {
        writeln!(stdin, "{line}").expect("the tool reads");
        results.next().expect("a result").expect("text")
    };

    let host =
        |port: u16| format!(r#"{{"endpoint":{{"address":{{"pipe":{{"path":"/host{port}"}}}}}}}}"#);
    let open = format!(
        r#"{{"op":"open","config":{{"name":"c","load_assignment":{{"cluster_name":"c","endpoints":[{{"lb_endpoints":[{},{}]}}]}}}}}}"#,
        host(1),
        host(2)
    );
    assert_eq!(ask(&open), r#"{"ok":true}"#);
    // Each ejection depends on where the pick before went.
    let picked = ask(r#"{"op":"pick"}"#);
    let (first, second) = match picked.as_str() {
        r#"{"picks":["/host1"]}"# => ("/host1", "/host2"),
        r#"{"picks":["/host2"]}"# => ("/host2", "/host1"),
        other => panic!("{other}"),
    };
    let eject = format!(r#"{{"op":"health","hosts":{{"{first}":"eject"}}}}"#);
    assert_eq!(ask(&eject), r#"{"ok":true}"#);
    for id in 0..50 {
        let line = format!(r#"{{"op":"pick","id":{id}}}"#);
        assert_eq!(ask(&line), format!(r#"{{"id":{id},"picks":["{second}"]}}"#));
    }
    drop(stdin);
    assert!(child.wait().expect("the tool ends").success());
    assert!(results.next().is_none());
}
