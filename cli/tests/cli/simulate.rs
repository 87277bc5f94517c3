//! Scenarios: what they say, what comes out, and what is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use plimsoll::config::Behavior;
use plimsoll_cli::simulate::{Simulation, simulate};

use crate::support::{run, stderr, stdout};

const BOTH: [Behavior; 2] = [Behavior::Envoy, Behavior::Native];

const BASE: &str = "\
title: Two zones
seed: 3
duration: 20s
warm_up: 5s
cluster: { name: api }
zones:
- { name: a, hosts: 2, capacity: 50 }
- { name: b, hosts: 1, capacity: 100 }
proxies:
- { name: edge-a, zone: a, demand: 40 }
- { name: edge-b, zone: b, demand: 30 }
";

/// Client-side weighted round robin that takes reports at once.
const WEIGHTED: &str = "
  load_balancing_policy:
    policies:
    - typed_extension_config:
        name: envoy.load_balancing_policies.client_side_weighted_round_robin
        typed_config:
          \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin
          blackout_period: 0s
";

fn simulated(text: &str) -> Simulation {
    simulate(text, &BOTH).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))
}

fn file(simulation: &Simulation, name: &str) -> String {
    let files = simulation.files().into_iter();
    files.filter(|(known, _)| *known == name).map(|(_, text)| text).next().expect("a file")
}

/// The lines of a file as maps from column to value.
fn rows(simulation: &Simulation, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = file(simulation, name);
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let columns: Vec<String> = lines.next().expect("a heading").collect();
    let rows = lines.map(|line| columns.iter().cloned().zip(line).collect::<BTreeMap<_, _>>());
    let rows: Vec<_> = rows.collect();
    assert!(rows.iter().all(|row| row.len() == columns.len()), "{text}");
    rows
}

/// The sum of a column over the rows that fit.
fn sum(rows: &[BTreeMap<String, String>], column: &str, fit: &[(&str, &str)]) -> f64 {
    let fits = |row: &&BTreeMap<String, String>| fit.iter().all(|&(key, value)| row[key] == value);
    rows.iter().filter(fits).map(|row| row[column].parse().unwrap_or(0.0)).sum()
}

/// A figure of a run.
fn figure(simulation: &Simulation, behavior: &str, name: &str) -> f64 {
    let fit = [("behavior", behavior), ("figure", name), ("of", "")];
    sum(&rows(simulation, "summary.csv"), "value", &fit)
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/scenarios"));
    let entries = fs::read_dir(folder).expect("the folder of scenarios");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn every_example_is_as_it_expects() {
    let examples = examples();
    assert_eq!(examples.len(), 10);
    for example in examples {
        let path = example.to_str().expect("a name in UTF-8");
        let output = run(&["simulate", path, "--check"], "");
        assert!(output.status.success(), "{}{}", stderr(&output), stdout(&output));
        assert_eq!(stderr(&output), "", "{path}");
    }
}

#[test]
fn the_example_of_the_documentation_runs() {
    let page = include_str!("../../../docs/simulate.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let simulation = simulated(example.expect("an example"));
    assert_eq!(simulation.misses(), []);
    assert!(simulation.has_expectations());
}

#[test]
fn the_same_scenario_gives_the_same_bytes_and_another_seed_other_ones() {
    let text = format!(
        "{BASE}requests: {{ arrivals: poisson, latency: 30ms }}\nreports: {{ loss: 0.1 }}\n"
    );
    let first = simulated(&text).files();
    assert_eq!(first, simulated(&text).files());
    let other = simulated(&text.replace("seed: 3", "seed: 4"));
    assert_ne!(first[0].1, file(&other, "requests.csv"));
}

#[test]
fn every_request_goes_somewhere_and_is_counted_once() {
    let text = format!(
        "{BASE}requests: {{ latency: 200ms }}\nevents:\n\
         - {{ at: 6s, hosts_down: {{ zone: a, noticed_after: 2s }} }}\n\
         - {{ at: 9s, hosts_down: {{ zone: b }} }}\n- {{ at: 11s, restart: edge-a }}\n\
         - {{ at: 12s, hosts_up: {{ zone: a, hosts: 1 }} }}\n- {{ at: 13s, remove_zone: b }}\n\
         - {{ at: 14s, add_zone: {{ name: c, hosts: 2, capacity: 10 }} }}\n\
         - {{ at: 16s, remove_zone: c }}\n- {{ at: 17s, remove_zone: a }}\n"
    );
    let simulation = simulated(&text);
    let (requests, zones) = (rows(&simulation, "requests.csv"), rows(&simulation, "zones.csv"));
    let proxies = rows(&simulation, "proxies.csv");
    for behavior in ["envoy", "native"] {
        let of = [("behavior", behavior)];
        let came = figure(&simulation, behavior, "requests");
        assert!((came - 1400.0).abs() < 2.0, "{came}");
        let sent = sum(&requests, "requests", &of);
        let nowhere = sum(&proxies, "no_host", &of);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(sent + nowhere, came), "{sent} + {nowhere} of {came}");
        assert!(close(sum(&proxies, "requests", &of), came));
        let taken = sum(&zones, "requests", &of) + sum(&zones, "failed", &of);
        assert!(close(taken, sent), "{taken} of {sent}");
        assert!(nowhere > 100.0, "nobody is there from 17 s on");
        let overload = sum(&zones, "overload", &[("behavior", behavior), ("zone", "c")]);
        assert!(overload > 0.0, "20 a second for 70");
    }
}

#[test]
fn files_have_a_line_for_each_of_what_they_list() {
    let simulation = simulated(BASE);
    // 2 behaviors, 20 s, 2 proxies, 2 zones.
    for (name, lines) in
        [("requests.csv", 160), ("zones.csv", 80), ("proxies.csv", 80), ("weights.csv", 160)]
    {
        assert_eq!(rows(&simulation, name).len(), lines, "{name}");
    }
    for behavior in ["envoy", "native"] {
        let last = [("behavior", behavior), ("second", "20"), ("proxy", "edge-a")];
        let shares = sum(&rows(&simulation, "weights.csv"), "share", &last);
        assert!((shares - 1.0).abs() < 1e-5, "{shares}");
        let intended = sum(&rows(&simulation, "requests.csv"), "intended_share", &last);
        assert!((intended - 1.0).abs() < 1e-5, "{intended}");
        // Two hosts of three are in zone a, which takes 100 as zone b does.
        let a = [("behavior", behavior), ("figure", "utilization_mean"), ("of", "a")];
        let mean = sum(&rows(&simulation, "summary.csv"), "value", &a);
        assert!((mean - 70.0 * 2.0 / 3.0 / 100.0).abs() < 0.005, "{mean}");
    }
}

#[test]
fn a_host_that_is_down_fails_what_it_gets_until_the_proxies_know() {
    let event = "events:\n- { at: 8s, hosts_down: { zone: b, noticed_after: 3s } }\n";
    let simulation = simulated(&format!("{BASE}{event}"));
    let zones = rows(&simulation, "zones.csv");
    for behavior in ["envoy", "native"] {
        let failed = |second: &str| {
            let fit = [("behavior", behavior), ("second", second), ("zone", "b")];
            sum(&zones, "failed", &fit)
        };
        assert!(failed("8") < 0.5);
        for second in ["9", "10", "11"] {
            assert!((failed(second) - 70.0 / 3.0).abs() < 4.0, "{}", failed(second));
        }
        assert!(failed("12") < 0.5);
        // Of 15 s with 70 requests each, 3 s with a third of them.
        let errors = figure(&simulation, behavior, "errors");
        assert!((errors - 1.0 / 15.0).abs() < 0.005, "{errors}");
    }
}

#[test]
fn reports_teach_the_proxies_whichever_way_they_come() {
    let spread = |more: &str| {
        let text = BASE
            .replace("cluster: { name: api }", &format!("cluster:\n  name: api{WEIGHTED}"))
            .replace("capacity: 50", "capacity: [20, 80]");
        let simulation = simulated(&format!("{text}{more}"));
        ["envoy", "native"].map(|behavior| figure(&simulation, behavior, "host_spread"))
    };
    for more in [
        "",
        "reports: { delay: 500ms }",
        "reports: { loss: 0.5 }",
        "reports: { out_of_band: 500ms }",
        "events: [{ at: 6s, stall: { lasts: 2s } }, { at: 9s, clock_jump: { by: 1h } }]",
        "events: [{ at: 6s, new_worker: edge-a }]",
    ] {
        for spread in spread(more) {
            assert!(spread < 0.03, "{more}: {spread}");
        }
    }
    let unheard = "events: [{ at: 0s, silence: a }, { at: 0s, silence: b }]";
    for more in ["reports: { loss: 1 }", unheard] {
        for spread in spread(more) {
            assert!(spread > 0.3, "{more}: {spread}");
        }
    }
}

#[test]
fn demand_follows_its_curve() {
    let points = "demand: [{ at: 0s, rps: 0 }, { at: 10s, rps: 100 }]";
    let requests = |curve: &str| {
        let text = BASE.replace("demand: 40", &format!("{points}{curve}"));
        let simulation = simulated(&text);
        let fit = [("behavior", "native"), ("proxy", "edge-a")];
        sum(&rows(&simulation, "proxies.csv"), "requests", &fit)
    };
    assert!((requests("") - 1000.0).abs() < 2.0);
    assert!((requests(", curve: linear") - 1500.0).abs() < 2.0);
}

#[test]
fn proxies_may_know_of_each_other() {
    let zones: String = ["a", "b", "c"]
        .map(|zone| format!("- {{ name: {zone}, hosts: 3, capacity: 50 }}\n"))
        .concat();
    let proxies: String = ["a", "b", "c"]
        .map(|zone| format!("- {{ name: p-{zone}, zone: {zone}, demand: 60 }}\n"))
        .concat();
    let text = format!(
        "title: Zones\nduration: 10s\nwarm_up: 2s\nlocal_cluster: LOCAL\ncluster:\n  name: api\n  \
         common_lb_config: {{ zone_aware_lb_config: {{ min_cluster_size: 6 }} }}\nzones:\n{zones}\
         proxies:\n{proxies}"
    );
    let crossing = |local: &str| {
        let simulation = simulated(&text.replace("LOCAL", local));
        ["envoy", "native"].map(|behavior| figure(&simulation, behavior, "cross_zone_share"))
    };
    assert!(crossing("true").iter().all(|share| *share < 0.01));
    assert!(crossing("false").iter().all(|share| *share > 0.6));
}

#[test]
fn the_page_is_well_formed_and_needs_nothing_else() {
    let about = "about: Tags such as <b> & \"quotes\" are text\n";
    let events =
        "events: [{ at: 8s, hosts_down: { zone: b } }]\nexpect: { native: { errors_below: 1 } }\n";
    let page = file(&simulated(&format!("{BASE}{about}{events}")), "index.html");
    for outside in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link"] {
        let hint = page.replace(about, "");
        assert!(!hint.contains(outside), "{outside}");
    }
    assert!(page.contains("&lt;b&gt; &amp; &quot;quotes&quot;"));
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(!page.contains("NaN") && !page.contains("inf "), "{page}");
    balanced(&page);
}

#[test]
fn the_picture_stands_alone() {
    let svg = file(&simulated(BASE), "utilization.svg");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert_eq!(svg.matches("class=\"title\"").count(), 2, "envoy and native");
    assert!(svg.contains(">zone a</text>") && !svg.contains("NaN") && !svg.contains("href="));
    balanced(&format!("<!DOCTYPE html>{svg}"));
}

/// Checks that every tag is closed, in order, and that attributes are quoted.
fn balanced(page: &str) {
    let body = page.strip_prefix("<!DOCTYPE html>").expect("a document");
    let mut open = Vec::new();
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('>') || open.last() == Some(&"style"), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn files_are_written_where_they_are_wanted() {
    let folder = env::temp_dir().join(format!("plimsoll-simulate-{}", process::id()));
    let path = folder.join("figures");
    let output = run(&["simulate", "-", "--out", path.to_str().expect("UTF-8")], BASE);
    assert!(output.status.success(), "{}", stderr(&output));
    let simulation = simulated(BASE);
    for (name, text) in simulation.files() {
        assert_eq!(fs::read_to_string(path.join(name)).ok(), Some(text), "{name}");
    }
    let file = path.join("index.html").join("more");
    let output = run(&["simulate", "-", "--out", file.to_str().expect("UTF-8")], BASE);
    assert_eq!(output.status.code(), Some(2));
    fs::remove_dir_all(folder).expect("it was made here");
}

#[test]
fn what_is_not_as_expected_is_said() {
    let expect = "expect: { native: { host_peak_above: 9, errors_at_most: 0 } }\n";
    let text = format!("{BASE}{expect}");
    let output = run(&["simulate", "-", "--check"], &text);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.starts_with("-: native: host_peak is 0."), "{message}");
    assert!(message.ends_with(", expected above 9\n"), "{message}");
    assert!(stdout(&output).contains("(above 9)"));
    // Nothing is expected of envoy, and without --check nothing matters.
    let output = run(&["simulate", "-", "--check", "--behavior", "envoy"], &text);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "-: expect: nothing is expected, so nothing can be checked\n");
    assert!(run(&["simulate", "-"], &text).status.success());
}

/// What takes the place of what in the base, and the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("title: Two zones", "", "line 2: missing field `title`"),
    (
        "- { name: a, hosts: 2, capacity: 50 }",
        "- a",
        "line 7: zones[0]: invalid type: string \"a\", expected a zone",
    ),
    (
        "demand: 40",
        "demand: [40]",
        "line 10: proxies[0].demand[0]: invalid type: integer `40`, expected {at, rps}",
    ),
    ("seed: 3", "seeds: 3", "line 2: seeds: unknown field `seeds`"),
    ("seed: 3", "seed: -3", "line 2: seed: invalid value: integer `-3`"),
    ("seed: 3", "seed: [", "line "),
    ("seed: 3", "title: again", "line 2: "),
    ("20s", "20", "line 3: duration: invalid type: integer `20`, expected a time such as 5s"),
    ("20s", "20 s", "line 3: duration: invalid value: string \"20 s\", expected a time"),
    ("20s", "0s", "line 3: duration: from 1s to 24h"),
    ("20s", "25h", "line 3: duration: from 1s to 24h"),
    ("20s", "1500ms", "line 3: duration: a whole number of seconds is needed"),
    ("5s", "20s", "line 4: warm_up: less than the duration"),
    ("{ name: api }", "{}", "line 5: cluster.name: "),
    ("{ name: api }", "{ name: x, lb_polcy: RANDOM }", "line 5: cluster.lb_polcy: no such field"),
    (
        "{ name: api }",
        "{ name: x, load_assignment: { cluster_name: x } }",
        "line 5: cluster.load_assignment: hosts come from zones",
    ),
    (
        "{ name: api }",
        "{ name: x, health_checks: [{}] }",
        "line 5: cluster.health_checks: hosts are healthy from the start",
    ),
    ("name: a,", "name: a b,", "line 7: zones[0].name: 1 to 40 letters"),
    ("name: b,", "name: a,", "line 8: zones[1].name: the name a is taken"),
    ("hosts: 2", "hosts: two", "line 7: zones[0].hosts: invalid type: string \"two\""),
    ("hosts: 2", "hosts: 10001", "line 7: zones[0].hosts: at most 10000"),
    ("capacity: 50", "capacity: 0", "line 7: zones[0].capacity: more than 0"),
    ("capacity: 50", "capacity: [50]", "line 7: zones[0].capacity: 1 numbers for 2 hosts"),
    ("capacity: 50", "capacity: many", "line 7: zones[0].capacity: invalid type: string \"many\""),
    (", capacity: 50", "", "line 7: zones[0].capacity: needed where there are hosts"),
    ("capacity: 50", "capacity: 50, weight: 0", "line 7: zones[0].weight: at least 1"),
    ("capacity: 50", "capacity: 50, priority: 129", "line 7: zones[0].priority: at most 128"),
    ("capacity: 50", "capacity: 50, size: 1", "line 7: zones[0].size: unknown field `size`"),
    ("name: edge-b", "name: edge-a", "line 11: proxies[1].name: the name edge-a is taken"),
    ("zone: b", "zone: c", "line 11: proxies[1].zone: there is no zone \"c\""),
    ("demand: 40", "demand: -1", "line 10: proxies[0].demand: from 0 to 1000000"),
    ("demand: 40", "demand: []", "line 10: proxies[0].demand: the first point is at 0s"),
    (
        "demand: 40",
        "demand: [{ at: 0s, rps: 1 }, { at: 0s, rps: 2 }]",
        "line 10: proxies[0].demand: points come in the order of their time",
    ),
    (
        "demand: 40",
        "demand: [{ at: 0s, rps: x }]",
        "line 10: proxies[0].demand[0].rps: invalid type: string \"x\"",
    ),
    (
        "demand: 40",
        "demand: 40, curve: round",
        "line 10: proxies[0].curve: unknown variant `round`",
    ),
];

/// Lines to add, and the message.
const REFUSED_MORE: &[(&str, &str)] = &[
    ("requests: { arrivals: bursts }", "requests.arrivals: unknown variant `bursts`"),
    ("requests: { latency: 10h }", "requests.latency: more than 1000000 would be on their way"),
    ("reports: { window: 50ms }", "reports.window: at least 100ms"),
    ("reports: { loss: 1.5 }", "reports.loss: from 0 to 1"),
    ("reports: { out_of_band: 0s }", "reports.out_of_band: at least 100ms"),
    ("events: [{ at: 20s, silence: a }]", "events[0].at: after the end of the scenario"),
    ("events: [{ at: 1s }]", "events[0]: nothing happens"),
    ("events: [{ at: 1s, silence: a, restart: edge-a }]", "events[0]: one thing happens at a time"),
    ("events: [{ at: 1s, silence: c }]", "events[0].silence: there is no zone \"c\""),
    ("events: [{ at: 1s, restart: c }]", "events[0].restart: there is no proxy \"c\""),
    (
        "events: [{ at: 1s, stall: { proxy: c, lasts: 1s } }]",
        "events[0].stall.proxy: there is no proxy \"c\"",
    ),
    (
        "events: [{ at: 1s, add_zone: { name: a, hosts: 1, capacity: 1 } }]",
        "events[0].add_zone.name: the name a is taken",
    ),
    (
        "events: [{ at: 1s, hosts_down: { hosts: 1 } }]",
        "events[0].hosts_down: missing field `zone`",
    ),
    ("expect: { native: { errors_under: 1 } }", "expect.native.errors_under: a bound is one of"),
    ("expect: { nginx: {} }", "expect.nginx: unknown field `nginx`"),
];

#[test]
fn what_would_take_all_day_is_refused() {
    let refused = |old: &str, new: &str| {
        let text = BASE.replace(old, new).replace("20s", "10h");
        simulate(&text, &BOTH).err().map(|mistake| mistake.to_string()).unwrap_or_default()
    };
    for (old, new, message) in [
        ("demand: 40", "demand: 10000", "the scenario comes to more than 100000000 requests"),
        ("hosts: 2", "hosts: 9000", "seconds x proxies x hosts come to more than 100000000"),
    ] {
        assert_eq!(refused(old, new), format!("line 3: duration: {message}"));
    }
    let zones: String = (0..60).map(|zone| format!("- {{ name: z{zone}, hosts: 0 }}\n")).collect();
    let message = "line 3: duration: seconds x proxies x zones come to more than 500000";
    assert_eq!(refused("proxies:", &format!("{zones}proxies:")), message);
}

#[test]
fn mistakes_are_named_with_line_and_field() {
    let replaced =
        REFUSED.iter().map(|&(old, new, message)| (BASE.replacen(old, new, 1), message.to_owned()));
    let added = REFUSED_MORE
        .iter()
        .map(|&(more, message)| (format!("{BASE}{more}\n"), format!("line 12: {message}")));
    for (text, message) in replaced.chain(added) {
        let mistake = simulate(&text, &BOTH).err().map(|mistake| mistake.to_string());
        let mistake = mistake.unwrap_or_default();
        assert!(mistake.starts_with(&message), "{mistake:?} instead of {message:?}\n{text}");
    }
    let output = run(&["simulate", "-"], "title: 1\n");
    assert_eq!(output.status.code(), Some(2));
    let message = "-: line 1: title: invalid type: integer `1`, expected a string\n";
    assert_eq!(stderr(&output), message);
    assert_eq!(run(&["simulate", "no-such-file.yaml"], "").status.code(), Some(2));
    let output = run(&["simulate", "-"], "");
    assert_eq!(stderr(&output), "-: line 1: invalid type: null, expected a scenario\n");
}
