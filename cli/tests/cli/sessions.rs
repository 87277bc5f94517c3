//! What operations do to clusters, workers, requests and clocks over time.

use plimsoll_cli::replay::Options;

use crate::support::{OK, OPEN, OPEN_AS_ENVOY, check, replay};

#[test]
fn looking_at_a_cluster_keeps_no_snapshot_alive() {
    let mut input = String::from(OPEN);
    for event in ["fail", "pass"].iter().cycle().take(20) {
        input += "\n{\"op\":\"show\",\"what\":\"hosts\"}\n{\"op\":\"explain\"}\n";
        input += &format!("{{\"op\":\"health\",\"hosts\":{{\"/a\":\"{event}\"}}}}");
    }
    input += "\n{\"op\":\"pick\"}\n{\"op\":\"advance\",\"ms\":1}\n{\"op\":\"show\",\"what\":\"snapshot\"}";
    let (_, output) = replay(&input, &Options::named("test"));
    let last = output.lines().last().expect("results");
    assert!(last.contains("\"live\":1,"), "{last}");
}

#[test]
fn held_requests_stay_active_until_they_are_done_also_on_hosts_that_left() {
    let active = r#"{"op":"show","what":"hosts","expect":[{"address":"/a","active":ACTIVE},{}]}"#;
    let active = |count: &str| active.replace("ACTIVE", count);
    let operations = [
        OPEN.to_owned(),
        r#"{"op":"draws","values":[0,0,0,0,0,0,0,0],"expect":true}"#.to_owned(),
        r#"{"op":"pick","n":5,"expect":["/a","/a","/a","/a","/a"]}"#.to_owned(),
        active("0"),
        r#"{"op":"pick","n":3,"hold":true,"expect":["/a","/a","/a"]}"#.to_owned(),
        active("3"),
        // All or nothing: too many, or an unknown host among them.
        r#"{"op":"done","hosts":["/a","/a","/a","/a"],"expect":{"field":"hosts"}}"#.to_owned(),
        r#"{"op":"done","hosts":["/a","/x"],"expect":{"code":"unknown_host"}}"#.to_owned(),
        r#"{"op":"done","hosts":["/b"],"expect":{"code":"invalid_argument"}}"#.to_owned(),
        active("3"),
        r#"{"op":"done","hosts":["/a"],"outcome":"error","expect":true}"#.to_owned(),
        active("2"),
        // The requests outlive their worker and their host.
        r#"{"op":"worker","worker":0,"action":"close","expect":true}"#.to_owned(),
        r#"{"op":"assign","load_assignment":ONLY_B,"expect":true}"#.to_owned(),
        r#"{"op":"done","hosts":["/a","/a"],"expect":true}"#.to_owned(),
        r#"{"op":"done","hosts":["/a"],"expect":{"code":"unknown_host"}}"#.to_owned(),
        r#"{"op":"advance","ms":1,"expect":1}"#.to_owned(),
        r#"{"op":"show","what":"stats","expect":{"plimsoll.hosts_departed":"*"}}"#.to_owned(),
    ];
    let options = Options { check: true, quiet: true, ..Options::named("test") };
    let (summary, output) = replay(&operations.join("\n"), &options);
    // The last one alone is not as expected: no host that left is kept.
    assert_eq!(summary.mismatches, 1, "{output}");
    assert!(output.starts_with("test:18: "), "{output}");
}

#[test]
fn counts_given_by_load_replace_those_of_held_requests() {
    check(&[
        (OPEN, OK),
        (r#"{"op":"pick","hold":true}"#, r#"{"picks":["/a"]}"#),
        (r#"{"op":"load","hosts":{"/a":0,"/b":{"active":"9"}}}"#, OK),
        (r#"{"op":"done","hosts":["/a"]}"#, OK),
        (
            r#"{"op":"load","hosts":{"/b":1,"/x":1}}"#,
            r#"{"error":{"code":"unknown_host","field":"/x","message":"the cluster has no host /x"}}"#,
        ),
        (
            r#"{"op":"load","hosts":{"/b":4294967296}}"#,
            r#"{"error":{"code":"invalid_argument","field":"/b.active","message":"HostLoad: value must be less than or equal to 1073741824"}}"#,
        ),
        (r#"{"op":"load","hosts":{"/b":{"active":1,"pending":0}}}"#, OK),
        (r#"{"op":"worker","worker":0,"action":"refresh"}"#, OK),
    ]);
}

#[test]
fn a_rejected_host_is_avoided_while_retries_last_and_has_to_exist() {
    check(&[
        (OPEN_AS_ENVOY, OK),
        (r#"{"op":"pick","reject":["/a"],"retries":"1"}"#, r#"{"picks":["/b"]}"#),
        (r#"{"op":"draws","values":[1,2,3]}"#, OK),
        // The 6 that is left, then 1 and 2: always the healthy host, and in the end it is taken.
        (r#"{"op":"pick","reject":["/a"],"retries":2}"#, r#"{"picks":["/a"]}"#),
        (
            r#"{"op":"pick","reject":["/x"]}"#,
            r#"{"error":{"code":"unknown_host","field":"/x","message":"the cluster has no host /x"}}"#,
        ),
        (r#"{"op":"explain","reject":["/b"],"retries":1,"expect":{"draw":3}}"#, EXPLAINED),
    ]);
}

const EXPLAINED: &str = r#"{"explain":{"snapshot":1,"draw":3,"priority":{"hash":3,"healthy":[70],"degraded":[30],"chosen":0,"source":"healthy","panic":false},"locality":null,"policy":"random","host":"/a","weight":3,"effective_weight":1.0,"slow_start":null,"why":"priority 0, healthy hosts, load 70.00 %; random took /a of 1 hosts"}}"#;

#[test]
fn closed_workers_do_nothing_and_the_others_take_turns() {
    check(&[
        (r#"{"op":"open","config":CONFIG,"workers":3}"#, OK),
        (r#"{"op":"worker","worker":1,"action":"close"}"#, OK),
        (
            r#"{"op":"pick","worker":1}"#,
            r#"{"error":{"code":"invalid_argument","field":"worker","message":"worker 1 is closed"}}"#,
        ),
        (r#"{"op":"draws","values":[0,0,0,0]}"#, OK),
        (r#"{"op":"draws","worker":2,"values":[9223372036854775808,0]}"#, OK),
        (r#"{"op":"tally","n":5,"worker":"all"}"#, r#"{"tally":{"/a":4,"/b":1}}"#),
        (r#"{"op":"worker","worker":0,"action":"quiesce"}"#, OK),
        (r#"{"op":"pick","worker":0}"#, r#"{"picks":["/a"]}"#),
        (r#"{"op":"worker","worker":0,"action":"close"}"#, OK),
        (r#"{"op":"worker","worker":2,"action":"close"}"#, OK),
        (
            r#"{"op":"tally","worker":"all"}"#,
            r#"{"error":{"code":"invalid_argument","field":"worker","message":"all workers are closed"}}"#,
        ),
        (r#"{"op":"worker","worker":2,"action":"open"}"#, OK),
        (r#"{"op":"tally","worker":"all"}"#, r#"{"tally":{"/a":1,"/b":0}}"#),
    ]);
}

#[test]
fn a_worker_that_opens_again_starts_its_generator_anew() {
    let draw = r#"{"op":"explain","worker":1,"expect":{"draw":DRAW}}"#;
    let open = r#"{"op":"open","config":CONFIG,"workers":2,"seed":"42"}"#;
    let reopen = "{\"op\":\"worker\",\"worker\":1,\"action\":\"close\"}\n{\"op\":\"worker\",\"worker\":1,\"action\":\"open\"}";
    let pick = r#"{"op":"pick","worker":1}"#;
    let input = format!("{open}\n{draw}\n{pick}\n{draw}\n{reopen}\n{draw}");
    let (_, output) = replay(&input.replace("DRAW", "\"*\""), &Options::named("test"));
    let results: Vec<&str> = output.lines().collect();
    assert_eq!(results[1], results[6]);
    assert_ne!(results[1], results[3]);
}

#[test]
fn clusters_have_their_own_clocks_and_the_last_one_opened_is_meant() {
    check(&[
        (r#"{"op":"open","config":CONFIG,"cluster":"one","now_ms":5}"#, OK),
        (r#"{"op":"open","config":CONFIG}"#, OK),
        (r#"{"op":"advance","ms":1}"#, r#"{"now_ms":1}"#),
        (r#"{"op":"advance","ms":1,"cluster":"one"}"#, r#"{"now_ms":6}"#),
        (r#"{"op":"advance","ms":1}"#, r#"{"now_ms":2}"#),
        // One that cannot be opened changes nothing, not even the default.
        (
            r#"{"op":"open","config":{"name":""},"cluster":"one"}"#,
            r#"{"error":{"code":"invalid_argument","field":"name","message":"ClusterValidationError.Name: value length must be at least 1 characters"}}"#,
        ),
        (r#"{"op":"advance","ms":1,"cluster":"one"}"#, r#"{"now_ms":7}"#),
        (r#"{"op":"advance","ms":1,"late":true}"#, r#"{"now_ms":3}"#),
        (r#"{"op":"open","config":CONFIG,"cluster":"one"}"#, OK),
        (r#"{"op":"advance","ms":1}"#, r#"{"now_ms":1}"#),
        (r#"{"op":"advance","ms":1,"cluster":"c"}"#, r#"{"now_ms":4}"#),
    ]);
}

#[test]
fn settings_change_and_workers_stay() {
    let panic = r#"{"op":"reconfigure","config":{"name":"c","common_lb_config":{"healthy_panic_threshold":{"value":0}}}}"#;
    check(&[
        (r#"{"op":"open","config":CONFIG,"workers":2}"#, OK),
        (r#"{"op":"worker","worker":1,"action":"close"}"#, OK),
        (r#"{"op":"health","hosts":{"/a":"fail","/b":"fail"}}"#, OK),
        (r#"{"op":"pick"}"#, r#"{"picks":["/a"]}"#),
        (panic, OK),
        (r#"{"op":"pick"}"#, r#"{"picks":[null]}"#),
        (r#"{"op":"runtime","values":{"upstream.healthy_panic_threshold":"50"}}"#, OK),
        (r#"{"op":"tally","n":1}"#, r#"{"tally":{"/a":1,"/b":0}}"#),
        (r#"{"op":"runtime","values":{"upstream.healthy_panic_threshold":null}}"#, OK),
        (r#"{"op":"pick"}"#, r#"{"picks":[null]}"#),
        (
            r#"{"op":"pick","worker":1}"#,
            r#"{"error":{"code":"invalid_argument","field":"worker","message":"worker 1 is closed"}}"#,
        ),
    ]);
}
