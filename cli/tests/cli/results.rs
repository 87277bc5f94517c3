//! The form of results, byte for byte.

use plimsoll_cli::replay::{Options, Summary};

use crate::support::{self, CONFIG, OK, OPEN, OPEN_AS_ENVOY, check, replay};

#[test]
fn the_id_comes_first_whatever_it_is() {
    check(&[
        (r#"{"op":"open","config":CONFIG,"id":7}"#, r#"{"id":7,"ok":true}"#),
        (r#"{"id":null,"op":"advance","ms":1}"#, r#"{"id":null,"now_ms":1}"#),
        (
            r#"{"op":"advance","id":{"b":[1.50,1e20],"a":"ü\n"},"ms":0}"#,
            r#"{"id":{"b":[1.5,1e20],"a":"ü\n"},"now_ms":1}"#,
        ),
        (
            r#"{"op":"pick","cluster":"x","id":"e"}"#,
            r#"{"id":"e","error":{"code":"invalid_argument","field":"cluster","message":"no cluster \"x\" is open"}}"#,
        ),
    ]);
}

#[test]
fn blank_lines_and_comments_print_nothing() {
    let input = format!("# open\n\n   \n\t\r\n{OPEN}\r\n#{{\n{{\"op\":\"advance\",\"ms\":1}}");
    let (summary, output) = replay(&input, &Options::named("test"));
    assert_eq!(output, "{\"ok\":true}\n{\"now_ms\":1}\n");
    assert_eq!(summary, Summary { operations: 2, mismatches: 0 });
}

#[test]
fn behavior_envoy_shows_whole_percents_and_draws_as_envoy_does() {
    check(&[
        (OPEN_AS_ENVOY, OK),
        (
            r#"{"op":"show","what":"loads"}"#,
            r#"{"loads":{"healthy":[70],"degraded":[30],"panic":[false]}}"#,
        ),
        (r#"{"op":"pick","n":2}"#, r#"{"picks":["/a","/b"]}"#),
        (
            r#"{"op":"explain","draw":"170"}"#,
            r#"{"explain":{"snapshot":1,"draw":170,"priority":{"hash":170,"healthy":[70],"degraded":[30],"chosen":0,"source":"degraded","panic":false},"locality":null,"policy":"random","host":"/b","weight":1,"effective_weight":1.0,"slow_start":null,"why":"priority 0, degraded hosts, load 30.00 %; random took /b of 1 hosts"}}"#,
        ),
        // Neither explain nor peek has used up the 6.
        (r#"{"op":"peek","n":2}"#, r#"{"peeks":["/a",null]}"#),
        (r#"{"op":"pick"}"#, r#"{"picks":["/a"]}"#),
    ]);
}

#[test]
fn behavior_native_shows_floats() {
    check(&[
        (OPEN, OK),
        (r#"{"op":"health","hosts":{"/a":"eject"}}"#, OK),
        (
            r#"{"op":"show","what":"loads"}"#,
            r#"{"loads":{"healthy":[0.0],"degraded":[100.0],"panic":[false]}}"#,
        ),
        (
            r#"{"op":"show","what":"hosts"}"#,
            r#"{"hosts":[{"address":"/a","priority":0,"locality":{"region":"eu","zone":"eu-1","sub_zone":""},"health":"/failed_outlier_check","weight":3,"effective_weight":3.0,"active":0,"utilization":null,"report_age_ms":null,"slow_start":null},{"address":"/b","priority":0,"locality":{"region":"eu","zone":"eu-1","sub_zone":""},"health":"/degraded_eds_health","weight":1,"effective_weight":1.0,"active":0,"utilization":null,"report_age_ms":null,"slow_start":null}]}"#,
        ),
        (r#"{"op":"tally","n":4}"#, r#"{"tally":{"/a":0,"/b":4}}"#),
    ]);
}

#[test]
fn statistics_are_sorted_and_leave_zeros_out() {
    check(&[
        (OPEN, OK),
        (
            r#"{"op":"show","what":"stats"}"#,
            r#"{"stats":{"max_host_weight":3,"membership_change":1,"membership_degraded":1,"membership_healthy":1,"membership_total":2,"plimsoll.schedulers_built":2,"plimsoll.snapshots_live":1,"plimsoll.snapshots_published":1,"plimsoll.workers":1}}"#,
        ),
        (
            r#"{"op":"show","what":"snapshot"}"#,
            r#"{"snapshot":{"version":1,"published":1,"live":1,"built":{"tables":0,"schedulers":2}}}"#,
        ),
    ]);
}

#[test]
fn without_hosts_picks_give_null_and_tallies_none() {
    check(&[
        (OPEN, OK),
        (r#"{"op":"assign","load_assignment":{"cluster_name":"c"}}"#, OK),
        (r#"{"op":"pick","n":2}"#, r#"{"picks":[null,null]}"#),
        (r#"{"op":"pick","n":0}"#, r#"{"picks":[]}"#),
        (r#"{"op":"peek"}"#, r#"{"peeks":[null]}"#),
        (r#"{"op":"tally","n":3}"#, r#"{"tally":{"none":3}}"#),
        (r#"{"op":"tally","n":0}"#, r#"{"tally":{}}"#),
        (r#"{"op":"show","what":"hosts"}"#, r#"{"hosts":[]}"#),
    ]);
}

#[test]
fn a_request_is_hashed_without_a_cluster() {
    check(&[
        (
            r#"{"op":"hash","policies":[{"header":{"header_name":"X-User"}}],"request":{"headers":{"x-User":"foo"}},"id":1}"#,
            r#"{"id":1,"hash":3728699739546630719}"#,
        ),
        (r#"{"op":"hash","policies":[],"request":{},"cluster":"none"}"#, r#"{"hash":null}"#),
        (
            r#"{"op":"hash","policies":[{"query_parameter":{"name":"k"}},{"header":{}}],"request":{}}"#,
            r#"{"error":{"code":"invalid_argument","field":"hash_policy[1].header.header_name","message":"HeaderValidationError.HeaderName: value length must be at least 1 characters"}}"#,
        ),
        (
            r#"{"op":"hash","policies":[{"header":{"header_name":"a","regex_rewrite":{}}}],"request":{}}"#,
            r#"{"error":{"code":"unsupported","field":"hash_policy[0].header.regex_rewrite","message":"regex_rewrite is not supported"}}"#,
        ),
        (
            r#"{"op":"hash","policies":[],"request":{"headers":{"a":{"base64":"?"}}}}"#,
            r#"{"error":{"code":"invalid_argument","field":"request.headers.a","message":"this is not base64"}}"#,
        ),
        // A list with one value is a list, and not base64.
        (
            r#"{"op":"hash","policies":[{"header":{"header_name":"a"}}],"request":{"headers":{"a":["foo"]}}}"#,
            r#"{"hash":3728699739546630719}"#,
        ),
    ]);
}

#[test]
fn what_is_not_there_yet_is_named_and_the_file_goes_on() {
    for (operation, field) in [
        (r#"{"op":"explain","metadata":{"stage":"prod"}}"#, "metadata"),
        (r#"{"op":"open","config":{"name":"c","lb_policy":"CLUSTER_PROVIDED"}}"#, "lb_policy"),
    ] {
        let input = format!("{OPEN}\n{operation}\n{{\"op\":\"pick\"}}");
        let (_, output) = replay(&input, &Options::named("test"));
        let results: Vec<&str> = output.lines().collect();
        let error = format!(r#"{{"error":{{"code":"unsupported","field":"{field}","#);
        assert!(results[1].starts_with(&error), "{operation}: {}", results[1]);
        assert_eq!(results[2], r#"{"picks":["/a"]}"#, "{operation}");
    }
}

#[test]
fn values_that_cannot_be_used_are_named() {
    for (operation, field) in [
        (r#"{"op":"open","config":CONFIG,"workers":0}"#, "workers"),
        (r#"{"op":"open","config":CONFIG,"local_cluster":"proxies"}"#, "local_cluster"),
        (r#"{"op":"open","config":CONFIG,"workers":1025}"#, "workers"),
        (r#"{"op":"open","config":CONFIG,"now_ms":18446744073709551615}"#, "now_ms"),
        (r#"{"op":"open","config":CONFIG,"runtime":{"k":[1]}}"#, "runtime.k"),
        (r#"{"op":"open","config":{"name":"c","colour":"red"}}"#, "colour"),
        (r#"{"op":"reconfigure","config":CONFIG}"#, "load_assignment"),
        (r#"{"op":"runtime","values":{"k":"many"}}"#, "values.k"),
        (r#"{"op":"runtime","values":{"k":{}}}"#, "values.k"),
        (r#"{"op":"load","hosts":{"/a":1073741825}}"#, "/a.active"),
        (r#"{"op":"load","hosts":{"/a":{"active":1,"pending":4294967296}}}"#, "/a.pending"),
        (r#"{"op":"advance","ms":18446744073709551615}"#, "ms"),
        (r#"{"op":"pick","n":1000001}"#, "n"),
        (r#"{"op":"tally","n":10000001}"#, "n"),
        (r#"{"op":"explain","n":2}"#, "n"),
        (r#"{"op":"explain","hold":true}"#, "hold"),
        (r#"{"op":"peek","hold":true}"#, "hold"),
        (r#"{"op":"peek","override":["/a"],"strict":true}"#, "override"),
        (r#"{"op":"explain","override":[]}"#, "override"),
        (r#"{"op":"pick","worker":1}"#, "worker"),
        (r#"{"op":"draws","worker":18446744073709551615,"values":[]}"#, "worker"),
        (r#"{"op":"worker","worker":0,"action":"open"}"#, "worker"),
        (r#"{"op":"worker","worker":1,"action":"open"}"#, "worker"),
        (r#"{"op":"show","what":"hosts","cluster":"d"}"#, "cluster"),
    ] {
        let (_, output) = replay(&format!("{OPEN}\n{operation}"), &Options::named("test"));
        let error = format!(r#"{{"error":{{"code":"invalid_argument","field":"{field}","#);
        let result = output.lines().nth(1).expect("a result");
        assert!(result.starts_with(&error), "{operation}: {result}");
    }
}

#[test]
fn a_check_adds_a_line_for_each_mismatch() {
    let input = "{\"op\":\"open\",\"config\":CONFIG,\"expect\":true}\n\
                 {\"op\":\"advance\",\"ms\":1,\"expect\":{\"one_of\":[2,3.50]},\"id\":1}\n";
    let options = Options { check: true, ..Options::named("f.jsonl") };
    let (summary, output) = replay(input, &options);
    assert_eq!(summary, Summary { operations: 2, mismatches: 1 });
    let mismatch = "f.jsonl:2: expected {\"one_of\":[2,3.5]} got 1\n";
    assert_eq!(output, format!("{{\"ok\":true}}\n{{\"id\":1,\"now_ms\":1}}\n{mismatch}"));
    let (_, output) = replay(input, &Options { quiet: true, ..options });
    assert_eq!(output, mismatch);
    let (summary, output) = replay(input, &Options::named("f.jsonl"));
    assert_eq!(summary.mismatches, 0);
    assert_eq!(output, "{\"ok\":true}\n{\"id\":1,\"now_ms\":1}\n");
}

#[test]
fn the_tool_prints_what_the_library_does_and_its_exit_code_tells_of_mismatches() {
    let input = format!("{OPEN}\n{{\"op\":\"advance\",\"ms\":1,\"expect\":2}}\n");
    let input = input.replace("CONFIG", CONFIG);
    let plain = support::run(&["replay", "-"], &input);
    assert_eq!(plain.status.code(), Some(0));
    assert_eq!(support::stdout(&plain), "{\"ok\":true}\n{\"now_ms\":1}\n");
    let checked = support::run(&["replay", "--check", "-q", "-"], &input);
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(support::stdout(&checked), "-:2: expected 2 got 1\n");
    assert_eq!(support::stderr(&checked), "");
}
