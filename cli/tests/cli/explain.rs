//! What `plimsoll explain` says about a small cluster.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::{run, stderr, stdout, tool};

const CLUSTER: &str = "
name: api
connect_timeout: 1s
lb_policy: RANDOM
load_assignment:
  cluster_name: api
  endpoints:
  - locality: { region: eu, zone: eu-1 }
    load_balancing_weight: 3
    lb_endpoints:
    - endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: 80 } } }
    - endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 80 } } }
      load_balancing_weight: 3
    - endpoint: { address: { socket_address: { address: 10.0.0.3, port_value: 80 } } }
      health_status: UNHEALTHY
  - locality: { region: eu, zone: eu-2 }
    lb_endpoints:
    - endpoint: { address: { socket_address: { address: 10.0.1.1, port_value: 80 } } }
      health_status: DEGRADED
    - endpoint: { address: { socket_address: { address: 10.0.1.2, port_value: 80 } } }
      health_status: DRAINING
  - priority: 1
    lb_endpoints:
    - endpoint: { address: { socket_address: { address: '::1', port_value: 80 } } }
";

/// Explains the cluster on standard input.
fn explained(arguments: &[&str], text: &str) -> String {
    let arguments: Vec<&str> = ["explain", "-"].iter().chain(arguments).copied().collect();
    let output = run(&arguments, text);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stderr(&output), "");
    stdout(&output).to_owned()
}

#[test]
fn a_cluster_is_explained_from_its_priorities_down_to_its_hosts() {
    let expected = "\
Cluster api: random, behavior native, panic threshold 50 %

PRIORITY  HOSTS  HEALTHY  DEGRADED  EXCLUDED  TO HEALTHY  TO DEGRADED  PANIC
       0      5        2         1         1    70.000 %          0 %  no
       1      1        1         0         0    30.000 %          0 %  no

PRIORITY  LOCALITY  WEIGHT  HOSTS  HEALTHY  DEGRADED   TRAFFIC
       0  eu/eu-1        3      3        2         0  70.000 %
       0  eu/eu-2        -      2        0         1       0 %
       1  -              -      1        1         0  30.000 %

PRIORITY  LOCALITY  HOST         HEALTH                WEIGHT  EFFECTIVE   TRAFFIC
       0  eu/eu-1   10.0.0.1:80  healthy                    1          1  17.500 %
       0  eu/eu-1   10.0.0.2:80  healthy                    3          3  52.500 %
       0  eu/eu-1   10.0.0.3:80  /failed_eds_health         1          1       0 %
       0  eu/eu-2   10.0.1.1:80  /degraded_eds_health       1          1       0 %
       0  eu/eu-2   10.0.1.2:80  /eds_status_draining       1          1       0 %
       1  -         [::1]:80     healthy                    1          1  30.000 %

Notes
* 10.0.0.3:80 gets no traffic: the control plane says UNHEALTHY.
* 10.0.1.1:80 gets no traffic: degraded, and healthy hosts take everything.
* 10.0.1.2:80 gets no traffic: the control plane says DRAINING.
* Locality weights have no effect: only locality_weighted_lb_config and wrr_locality make Envoy use them.
";
    assert_eq!(explained(&[], CLUSTER), expected);
}

#[test]
fn panic_is_explained_in_both_behaviors() {
    let events = ["--health", "*=fail", "--health", "10.0.0.1:80=pass"];
    let native = explained(&events, CLUSTER);
    assert!(
        native.contains(
            "* Priority 0 is in panic: 1 of 4 hosts (1 excluded) are available, less than 50 %; it \
             sends to all its hosts whatever their health checks say, except those that the \
             control plane took out.\n"
        ),
        "{native}"
    );
    assert!(
        native.contains("* 10.0.0.3:80 gets no traffic: the control plane says UNHEALTHY"),
        "{native}"
    );
    let envoy = explained(&[&events[..], &["--behavior", "envoy"]].concat(), CLUSTER);
    assert!(
        envoy.contains("less than 50 %; it sends to all its hosts whatever their health.\n"),
        "{envoy}"
    );
    // 5 of 6 hosts are in priority 0; Envoy rounds to whole percents.
    assert!(envoy.contains("0      5        1         0         1    84.000 %"), "{envoy}");
}

#[test]
fn lost_traffic_is_explained() {
    let policy = "
load_balancing_policy:
  policies:
  - typed_extension_config:
      name: envoy.load_balancing_policies.round_robin
      typed_config:
        '@type': type.googleapis.com/envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin
        locality_lb_config: { zone_aware_lb_config: { fail_traffic_on_panic: true } }
";
    let text = CLUSTER.replace("lb_policy: RANDOM", "") + policy;
    let page = explained(&["--health", "*=eject"], &text);
    assert!(page.contains("its requests fail, because fail_traffic_on_panic is set.\n"), "{page}");
    assert!(page.contains("* 100.000 % of all requests find no host and fail.\n"), "{page}");
    assert!(
        page.contains(
            "* 10.0.0.1:80, 10.0.0.2:80, 10.0.0.3:80 and 2 more get no traffic: priority 0 panics"
        ),
        "{page}"
    );
}

#[test]
fn hosts_that_envoys_random_never_reaches_are_explained() {
    let host = |number: u32, health: &str| {
        let address =
            format!("{{ socket_address: {{ address: 10.0.0.{number}, port_value: 80 }} }}");
        format!("    - {{ endpoint: {{ address: {address} }}, health_status: {health} }}\n")
    };
    let healthy: String = (0..100).map(|number| host(number, "HEALTHY")).collect();
    let failed: String = (100..200).map(|number| host(number, "UNHEALTHY")).collect();
    let text = format!(
        "name: c\nlb_policy: RANDOM\nload_assignment:\n  cluster_name: c\n  endpoints:\n  \
         - lb_endpoints:\n{healthy}{failed}  - priority: 1\n    lb_endpoints:\n{}",
        host(200, "HEALTHY")
    );
    let page = explained(&["--behavior", "envoy"], &text);
    let note = "* 10.0.0.70:80, 10.0.0.71:80, 10.0.0.72:80 and 27 more get no traffic: in behavior \
                envoy, random uses one number";
    assert!(page.contains(note), "{page}");
}

#[test]
fn hosts_that_wait_for_their_first_check_are_pointed_out() {
    let checks = "health_checks: [{ timeout: 1s, interval: 1s, unhealthy_threshold: 1, \
                  healthy_threshold: 1, tcp_health_check: {} }]\n";
    let text = format!("{CLUSTER}{checks}");
    let hint = "See it after that with --health '*=pass'.";
    assert!(explained(&[], &text).contains(hint));
    let passed = explained(&["--health", "*=pass"], &text);
    assert!(!passed.contains(hint), "{passed}");
    assert!(passed.contains("10.0.0.2:80  healthy                    3          3  52.500 %"));
}

#[test]
fn hosts_in_slow_start_show_how_far_they_are() {
    let policy = "lb_policy: LEAST_REQUEST\n\
                  least_request_lb_config: { slow_start_config: { slow_start_window: 60s } }";
    let text = CLUSTER.replace("lb_policy: RANDOM", policy);
    let page = explained(&[], &text);
    let heading = "Cluster api: least_request of 2 choices, slow start in 60 s, behavior native";
    assert!(page.starts_with(heading), "{page}");
    assert!(!page.contains("SLOW START"), "hosts have been up for long:\n{page}");
    for behavior in ["native", "envoy"] {
        let up = ["--up", "10.0.0.1:80=30", "--up", "10.0.0.2:80=1.5", "--behavior", behavior];
        let page = explained(&up, &text);
        // 0.5 and 3 x 0.1 share the 70 % of their priority.
        for line in [
            "10.0.0.1:80  healthy                    1        0.5  43.750 %  50.00 %, 30 s left\n",
            "10.0.0.2:80  healthy                    3        0.3  26.250 %  10.00 %, 58.5 s left\n",
            "[::1]:80     healthy                    1          1  30.000 %",
        ] {
            assert!(page.contains(line), "{behavior}:\n{page}");
        }
    }
}

#[test]
fn a_cluster_without_hosts_says_so() {
    let page = explained(&[], "name: empty");
    assert!(
        page.ends_with("\nNotes\n* The cluster has no hosts: every request fails.\n"),
        "{page}"
    );
}

#[test]
fn the_proxys_own_locality_comes_first() {
    let page = explained(&["--node-region", "eu", "--node-zone", "eu-2"], CLUSTER);
    let place = |zone: &str| page.find(&format!("0  {zone}  ")).expect("a locality");
    assert!(place("eu/eu-2") < place("eu/eu-1"), "{page}");
}

/// A file of the examples.
fn example(name: &str) -> String {
    format!("{}/../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn zones_are_compared_with_those_of_the_local_cluster() {
    let (file, proxies) = (example("zone-aware.yaml"), example("proxies.yaml"));
    let arguments = ["explain", &file, "--node-zone", "eu-1", "--local-cluster", &proxies];
    let output = run(&arguments, "");
    let page = stdout(&output);
    assert!(page.starts_with("Cluster api: round_robin, nearest zone first, behavior native"));
    let share = |zone: &str| {
        let row = page.lines().find(|line| line.contains(zone)).expect(zone);
        row.split_whitespace().nth_back(1).expect("a share").parse::<f64>().expect(row)
    };
    assert!(
        (share("eu-1") - 66.667).abs() < 0.01 && (share("eu-2") - 33.333).abs() < 0.01,
        "{page}"
    );

    let missing = ["explain", &file, "--local-cluster", "nowhere.yaml"];
    assert!(stderr(&run(&missing, "")).starts_with("nowhere.yaml: "));
    let output = run(&["explain", &file, "--local-cluster", "-"], "name: x\nlb_polcy: RANDOM");
    let message = format!("{file}: local cluster: lb_polcy: no such field: lb_polcy\n");
    assert_eq!((output.status.code(), stderr(&output)), (Some(1), message.as_str()));
}

/// What an example says of requests: the hash, the attempt and the host of each row.
fn requests(name: &str, arguments: &[&str]) -> Vec<(String, u32, String)> {
    let file = example(name);
    let arguments: Vec<&str> = ["explain", &file].iter().chain(arguments).copied().collect();
    let output = run(&arguments, "");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{arguments:?}");
    let page = stdout(&output);
    let rows = page.lines().skip_while(|line| !line.contains("HASH  ATTEMPT  HOST"));
    let row = |line: &str| {
        let [hash, attempt, host] = [0, 1, 2].map(|at| line.split_whitespace().nth(at).unwrap());
        let why = format!(" took {host} of ");
        assert!(line.contains(&why) && line.ends_with(&format!(" by hash {hash}")), "{line}");
        (hash.to_owned(), attempt.parse().unwrap(), host.to_owned())
    };
    rows.skip(1).map(row).collect()
}

#[test]
fn a_request_is_explained_by_its_hash() {
    for behavior in ["native", "envoy"] {
        let with = |more: &[&str]| {
            requests("maglev.yaml", &[&["--behavior", behavior][..], more].concat())
        };
        let session = with(&["--header", "X-Session: 3f2a", "--source-ip", "10.0.0.9"]);
        let [(hash, 0, host)] = &session[..] else { panic!("{session:?}") };
        assert_eq!(with(&["--hash", hash])[0].2, *host);
        let several = with(&["--hash", "7", "--hash", "8", "--header", "x-session:3f2a"]);
        let hashes: Vec<&str> = several.iter().map(|(hash, ..)| &**hash).collect();
        assert_eq!(hashes, ["7", "8", hash]);
        let by_address = with(&["--source-ip", "10.0.0.9"]);
        assert_ne!(by_address[0].0, *hash);
        assert_eq!(with(&["--header", "other:1", "--source-ip", "10.0.0.9"]), by_address);
    }
    let object = requests("ring-hash.yaml", &["--path", "/images?id=7"]);
    assert_eq!(requests("ring-hash.yaml", &["--path", "/?a=b&id=7"]), object);
}

#[test]
fn each_attempt_of_a_request_is_explained() {
    let rows = requests("maglev.yaml", &["--header", "x-session:3f2a", "--attempt", "4"]);
    let attempts: Vec<u32> = rows.iter().map(|row| row.1).collect();
    assert_eq!(attempts, [0, 1, 2, 3, 4]);
    let mut hosts: Vec<&str> = rows.iter().map(|row| &*row.2).collect();
    hosts.sort_unstable();
    hosts.dedup();
    assert_eq!(hosts.len(), 5, "natively each attempt goes to another host: {rows:?}");
}

#[test]
fn requests_without_a_hash_are_mistakes() {
    let maglev = "name: x\nlb_policy: MAGLEV";
    let own = std::fs::read_to_string(example("maglev.yaml")).expect("the example");
    for (text, arguments, message) in [
        (CLUSTER, ["--hash", "1"], "-: the policy random does not go by hashes\n"),
        (CLUSTER, ["--header", "a:b"], "-: the policy random does not go by hashes\n"),
        (
            maglev,
            ["--header", "a:b"],
            "-: the cluster has no hash_policy of its own to hash a request by\n",
        ),
        (
            &own,
            ["--header", "a:b"],
            "-: the hash_policy finds nothing in the request: it goes to any host\n",
        ),
    ] {
        let output = run(&["explain", "-", arguments[0], arguments[1]], text);
        assert_eq!((output.status.code(), stderr(&output)), (Some(1), message), "{arguments:?}");
    }
    let empty = explained(&["--hash", "1"], maglev);
    let nobody =
        "   1        0  none  priority 0, all hosts (in panic), load 100.00 %; no eligible host\n";
    assert!(empty.contains(nobody), "{empty}");
    for arguments in [["--header", "none"], ["--header", ":"], ["--hash", "-1"], ["--hash", "a"]] {
        let output = run(&["explain", "-", arguments[0], arguments[1]], maglev);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn mistakes_are_named_with_file_and_field() {
    for (text, arguments, message) in [
        ("name: x\nlb_polcy: RANDOM", vec![], "-: lb_polcy: no such field: lb_polcy\n"),
        (
            "name: x\nlb_policy: CLUSTER_PROVIDED",
            vec![],
            "-: lb_policy: the policy CLUSTER_PROVIDED is not supported\n",
        ),
        ("{\n  \"name\": }", vec![], "-: line 2, column 11: expected value\n"),
        (CLUSTER, vec!["--health", "a:1=fail"], "-: a:1: the cluster has no host a:1\n"),
        (CLUSTER, vec!["--up", "a:1=3"], "-: a:1: the cluster has no host a:1\n"),
    ] {
        let arguments: Vec<&str> = ["explain", "-"].into_iter().chain(arguments).collect();
        let output = run(&arguments, text);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert_eq!(stderr(&output), message, "{text}");
        assert_eq!(stdout(&output), "", "{text}");
    }
    let output = run(&["explain", "no-such-file.yaml"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("no-such-file.yaml: "), "{}", stderr(&output));
}

#[test]
fn colors_are_for_terminals_and_never_against_the_readers_will() {
    let page = |variable: &str| {
        let mut command = tool(&["explain", "-"]);
        command.env(variable, "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the tool starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(CLUSTER.as_bytes()).expect("the tool reads");
        drop(stdin);
        child.wait_with_output().expect("the tool ends").stdout
    };
    assert!(page("CLICOLOR_FORCE").contains(&b'\x1b'));
    assert!(!page("NO_COLOR").contains(&b'\x1b'));
    assert!(!explained(&[], CLUSTER).contains('\x1b'));
}
