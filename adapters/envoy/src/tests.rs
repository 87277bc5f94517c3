//! The module on a fake Envoy.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll::CoarseHealth::{Degraded, Unhealthy};
use serde_json::{Value, json};

use crate::fake::{FakeHost, FakeLb, FakeMetrics, FakeRequest, FakeStream, take_log};
use crate::host::{LbHost, Place};
use crate::instance::Instance;
use crate::log::Level;
use crate::orca_filter::Attempt;
use crate::overflow_filter::Detour;
use crate::policy::{Environment, Policy};
use crate::threads;

const SECOND: u64 = 1_000_000_000;

/// An Envoy of one thread, whose engine works when it is told to.
struct Envoy {
    metrics: FakeMetrics,
    policy: Arc<Policy>,
    now_ns: u64,
}

impl Envoy {
    fn new(config: &Value) -> Self {
        let metrics = FakeMetrics::default();
        // One that validates has no thread of ours.
        let environment = Environment { is_validating: true, has_batches: true };
        let text = config.to_string();
        let policy =
            Policy::open("plimsoll", text.as_bytes(), Box::new(metrics.clone()), environment);
        Self { metrics, policy: Arc::new(policy.expect("it is right")), now_ns: SECOND }
    }

    fn instance(&self, lb: &FakeLb) -> Instance {
        Instance::new(Arc::clone(&self.policy), lb).expect("it opens")
    }

    /// What the control thread does.
    fn work(&mut self) {
        self.now_ns += SECOND;
        // The name counts only when it is opened, which an instance has done.
        self.policy.shared_engine("be").unwrap().work(self.now_ns);
    }
}

fn round_robin() -> Value {
    json!({"seed": 1})
}

/// Who got how many of `requests`, by address.
fn split(instance: &mut Instance, lb: &FakeLb, requests: usize) -> BTreeMap<String, usize> {
    let mut split = BTreeMap::new();
    for _ in 0..requests {
        let choice = instance.choose(lb, &FakeRequest::default()).expect("there is a host");
        *split.entry(lb.answer(choice.priority, choice.index).to_owned()).or_default() += 1;
    }
    split
}

fn counts(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    pairs.iter().map(|&(address, count)| (address.to_owned(), count)).collect()
}

/// Round robin without bursts is at most a pick or two ahead of what is exact.
fn assert_near(split: &BTreeMap<String, usize>, expected: &BTreeMap<String, usize>) {
    let is_near = |(address, count): (&String, &usize)| {
        expected.get(address).is_some_and(|expected| expected.abs_diff(*count) <= 2)
    };
    assert!(split.len() == expected.len() && split.iter().all(is_near), "{split:?} {expected:?}");
}

#[test]
fn picks_are_in_envoys_numbers_of_healthy_hosts() {
    let mut envoy = Envoy::new(&round_robin());
    let mut lb = FakeLb::of(&["h1:1", "h2:1", "h3:1", "h4:1"]);
    lb.priorities[0][0].health = Unhealthy;
    lb.priorities[0][3].weight = 2;
    let mut instance = envoy.instance(&lb);
    envoy.work();
    let split = split(&mut instance, &lb, 400);
    assert_near(&split, &counts(&[("h2:1", 100), ("h3:1", 100), ("h4:1", 200)]));
}

#[test]
fn healthy_hosts_take_turns_until_the_engine_has_some() {
    let mut envoy = Envoy::new(&round_robin());
    let lb = FakeLb::of(&["h1:1", "h2:1"]);
    let mut instance = envoy.instance(&lb);
    assert_near(&split(&mut instance, &lb, 10), &counts(&[("h1:1", 5), ("h2:1", 5)]));
    envoy.work();
    assert_near(&split(&mut instance, &lb, 10), &counts(&[("h1:1", 5), ("h2:1", 5)]));
    envoy.work();
    split(&mut instance, &lb, 1);
    assert_eq!(envoy.metrics.get("locality_weight_ppm.be.0.r/a"), Some(1_000_000));
    assert_eq!(envoy.metrics.get("locality_sample_age_ms.be.0.r/a"), None, "nobody asks");
    assert_eq!(envoy.metrics.get("picks_substituted.be"), Some(10));
    assert_eq!(envoy.metrics.get("picks.be"), Some(20));
}

#[test]
fn a_thread_that_is_ahead_of_the_engine_answers_with_what_is_there() {
    let mut envoy = Envoy::new(&round_robin());
    let mut lb = FakeLb::of(&["h1:1", "h2:1", "h3:1"]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    lb.priorities[0].remove(0);
    instance.update(&lb);
    assert_eq!(split(&mut instance, &lb, 300).values().sum::<usize>(), 300);
    envoy.work();
    assert_near(&split(&mut instance, &lb, 300), &counts(&[("h2:1", 150), ("h3:1", 150)]));
}

#[test]
fn a_thread_that_is_behind_the_engine_answers_with_what_it_knows() {
    let mut envoy = Envoy::new(&round_robin());
    let old = FakeLb::of(&["h1:1", "h2:1"]);
    let new = FakeLb::of(&["h7:1", "h8:1", "h9:1"]);
    let mut leader = envoy.instance(&old);
    envoy.work();
    assert_near(&split(&mut leader, &old, 2), &counts(&[("h1:1", 1), ("h2:1", 1)]));
    envoy
        .policy
        .shared_engine("be")
        .unwrap()
        .leave(crate::view::AssignmentReader::default().read(&new, &envoy.policy.settings));
    envoy.work();
    // The engine picks what this thread has not been shown.
    assert_near(&split(&mut leader, &old, 100), &counts(&[("h1:1", 50), ("h2:1", 50)]));
}

#[test]
fn without_healthy_hosts_there_is_none() {
    let mut envoy = Envoy::new(&round_robin());
    let mut lb = FakeLb::of(&["h1:1", "h2:1"]);
    let mut instance = envoy.instance(&FakeLb::default());
    assert_eq!(instance.choose(&FakeLb::default(), &FakeRequest::default()), None);
    lb.priorities[0].iter_mut().for_each(|host| host.health = Unhealthy);
    instance.update(&lb);
    envoy.work();
    assert_eq!(instance.choose(&lb, &FakeRequest::default()), None);
    // Envoy's list is shorter than it was when it told us.
    lb.priorities[0].iter_mut().for_each(|host| host.health = plimsoll::CoarseHealth::Healthy);
    instance.update(&lb);
    assert_eq!(instance.choose(&FakeLb::of(&[]), &FakeRequest::default()), None);
}

#[test]
fn retries_go_to_hosts_that_are_not_refused() {
    for policy in ["ROUND_ROBIN", "MAGLEV"] {
        let mut envoy = Envoy::new(&json!({"seed": 1, "lb_policy": policy}));
        let lb = FakeLb::of(&["h1:1", "h2:1", "h3:1"]);
        let mut instance = envoy.instance(&lb);
        envoy.work();
        let refused = vec![(0, 0), (0, 2)];
        let request = FakeRequest { hash: Some(77), retries: 12, refused };
        for _ in 0..20 {
            let choice = instance.choose(&lb, &request).unwrap();
            assert_eq!((choice.priority, choice.index), (0, 1), "{policy}");
        }
        // If all are refused it is one of them all the same.
        let refused = vec![(0, 0), (0, 1), (0, 2)];
        let request = FakeRequest { retries: 2, refused, ..FakeRequest::default() };
        assert!(instance.choose(&lb, &request).is_some());
    }
}

#[test]
fn hashes_decide_also_while_the_engine_has_no_hosts() {
    let mut envoy = Envoy::new(&json!({"lb_policy": "RING_HASH", "seed": 1}));
    let mut lb = FakeLb::of(&["h1:1", "h2:1", "h3:1", "h4:1"]);
    lb.priorities[0][1].hash_key = Some("second".to_owned());
    let mut instance = envoy.instance(&lb);
    let host = |instance: &mut Instance, hash| {
        let request = FakeRequest { hash: Some(hash), ..FakeRequest::default() };
        instance.choose(&lb, &request).unwrap().index
    };
    let early = host(&mut instance, 9);
    assert!((0..5).all(|_| host(&mut instance, 9) == early));
    envoy.work();
    let found: Vec<u32> = (0..40).map(|hash| host(&mut instance, hash << 58)).collect();
    let again: Vec<u32> = (0..40).map(|hash| host(&mut instance, hash << 58)).collect();
    assert_eq!(found, again);
    assert!((0..4).all(|index| found.contains(&index)), "{found:?}");
}

#[test]
fn weights_of_localities_stay_while_nobody_there_is_healthy() {
    let config = json!({"common_lb_config": {"locality_weighted_lb_config": {}}, "seed": 1});
    let mut envoy = Envoy::new(&config);
    let mut lb = FakeLb::default();
    lb.priorities.push(vec![FakeHost::new("a:1", "a"), FakeHost::new("b:1", "b")]);
    lb.weights = BTreeMap::from([("a", 3), ("b", 1)]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    assert_near(&split(&mut instance, &lb, 400), &counts(&[("a:1", 300), ("b:1", 100)]));
    let sick = FakeHost::new("b:1", "b").is(Unhealthy);
    let mut other = lb.clone();
    other.priorities[0][1] = sick;
    instance.update(&other);
    envoy.work();
    let engine = envoy.policy.shared_engine("be").unwrap();
    let view = engine.cluster.view();
    let weights: Vec<u32> =
        view.priorities().flat_map(|it| it.localities().map(|it| it.weight)).collect();
    assert_eq!(weights, [3, 1]);
}

#[test]
fn requests_are_counted_from_the_pick_to_the_end_of_the_filter() {
    let mut envoy = Envoy::new(&json!({"lb_policy": "LEAST_REQUEST", "seed": 1}));
    let lb = FakeLb::of(&["h1:1", "h2:1"]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    let engine = envoy.policy.shared_engine("be").unwrap();
    let active = || engine.cluster.view().hosts().iter().map(|host| host.active).sum::<u32>();
    let mut attempts = Vec::new();
    for number in 1..=6 {
        split(&mut instance, &lb, 1);
        attempts.push(Attempt::new());
        assert_eq!(active(), number);
    }
    // Least request keeps them even.
    assert!(engine.cluster.view().hosts().iter().all(|host| host.active == 3));
    attempts.into_iter().for_each(Attempt::end);
    assert_eq!(active(), 0);
    // Without a filter no more than the last one counts.
    split(&mut instance, &lb, 50);
    assert_eq!(active(), 1);
    threads::settle();
    assert_eq!(active(), 0);
    // Nor does one whose host Envoy does not have, against what it said.
    assert_eq!(instance.choose(&FakeLb::of(&[]), &FakeRequest::default()), None);
    assert_eq!(active(), 0);
}

#[test]
fn a_filter_may_outlive_the_instance() {
    let mut envoy = Envoy::new(&json!({"lb_policy": "LEAST_REQUEST", "seed": 1}));
    let lb = FakeLb::of(&["h1:1"]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    let engine = envoy.policy.shared_engine("be").unwrap();
    split(&mut instance, &lb, 1);
    let attempt = Attempt::new();
    drop(instance);
    attempt.end();
    assert_eq!(engine.cluster.view().hosts()[0].active, 0);
    assert!(threads::seat_of("be").is_none());
}

fn by_load() -> Value {
    let inner = json!({"policies": [{"typed_extension_config": {
        "name": "round_robin",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin"}}}]});
    json!({"seed": 1, "behavior": "envoy", "node_locality": {"region": "r", "zone": "a"},
        "load_balancing_policy": {"policies": [{"typed_extension_config": {
            "name": "load_aware_locality",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.load_aware_locality.v3.LoadAwareLocality",
                "endpoint_picking_policy": inner}}}]}})
}

fn response(address: &str, place: Place, report: &str) -> FakeStream {
    let headers = vec![
        (Place::ResponseHeaders, ":status", "200".to_owned()),
        (place, "endpoint-load-metrics", report.to_owned()),
    ];
    let cluster = Some("be".to_owned());
    FakeStream { headers, address: Some(address.to_owned()), cluster, ..FakeStream::default() }
}

#[test]
fn reports_reach_their_hosts_and_gauges_show_them() {
    let mut envoy = Envoy::new(&by_load());
    let mut lb = FakeLb::default();
    lb.priorities.push(vec![FakeHost::new("a:1", "a"), FakeHost::new("b:1", "b")]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    for _ in 0..200 {
        let choice = instance.choose(&lb, &FakeRequest::default()).unwrap();
        let address = lb.answer(choice.priority, choice.index);
        let mut attempt = Attempt::new();
        let (place, busy) = match address {
            "a:1" => (Place::ResponseHeaders, "TEXT cpu_utilization=0.9"),
            _ => (Place::ResponseTrailers, "TEXT cpu_utilization=0.1"),
        };
        let stream = response(address, place, busy);
        attempt.response(&stream, Place::ResponseHeaders);
        attempt.response(&stream, Place::ResponseTrailers);
        attempt.end();
    }
    envoy.work();
    envoy.work();
    let split = split(&mut instance, &lb, 1000);
    assert!((70..130).contains(&split["a:1"]), "{split:?}");
    Attempt::new().end();
    let metrics = envoy.metrics.clone();
    let gauge = |name: &str, zone: &str| metrics.get(&format!("{name}.be.0.r/{zone}"));
    assert_eq!(gauge("locality_utilization_ppm", "a"), Some(900_000));
    assert_eq!(gauge("locality_utilization_ppm", "b"), Some(100_000));
    assert_eq!(gauge("locality_weight_ppm", "a"), Some(100_000));
    assert_eq!(metrics.get("load_reports_accepted.be"), Some(200));
    assert!(gauge("locality_sample_age_ms", "a").is_some());
    // A locality that goes does not leave its weight behind.
    lb.priorities[0].remove(1);
    instance.update(&lb);
    envoy.work();
    self::split(&mut instance, &lb, 1);
    Attempt::new().end();
    assert_eq!(gauge("locality_weight_ppm", "b"), Some(0));
    assert_eq!(gauge("locality_weight_ppm", "a"), Some(1_000_000));
}

#[test]
fn trailers_are_newer_than_headers_but_in_envoy() {
    for (behavior, expected) in [("native", 0.25), ("envoy", 0.75)] {
        let mut config = by_load();
        config["behavior"] = json!(behavior);
        let mut envoy = Envoy::new(&config);
        let lb = FakeLb { name: behavior, ..FakeLb::of(&["h1:1"]) };
        let mut instance = envoy.instance(&lb);
        envoy.work();
        split(&mut instance, &lb, 1);
        let mut stream = response("h1:1", Place::ResponseHeaders, "TEXT cpu_utilization=0.75");
        let trailer = "TEXT cpu_utilization=0.25".to_owned();
        stream.headers.push((Place::ResponseTrailers, "endpoint-load-metrics", trailer));
        let mut attempt = Attempt::new();
        attempt.response(&stream, Place::ResponseHeaders);
        attempt.response(&stream, Place::ResponseTrailers);
        let engine = envoy.policy.shared_engine(behavior).unwrap();
        let utilization = engine.cluster.view().hosts()[0].load.unwrap().utilization;
        assert!((utilization - expected).abs() < 1e-6, "{behavior}: {utilization}");
    }
}

#[test]
fn a_changed_configuration_knows_what_hosts_reported() {
    let native = |seed: u64| {
        let mut config = by_load();
        config["behavior"] = json!("native");
        config["seed"] = json!(seed);
        config
    };
    let mut lb = FakeLb::of(&["h1:1", "h2:1"]);
    lb.name = "succession";
    let mut envoy = Envoy::new(&native(1));
    let mut instance = envoy.instance(&lb);
    envoy.work();
    split(&mut instance, &lb, 1);
    let stream = response("h2:1", Place::ResponseHeaders, "TEXT cpu_utilization=0.5");
    Attempt::new().response(&stream, Place::ResponseHeaders);
    // One that never has hosts stands between.
    let idle = Envoy::new(&native(2));
    let _empty = idle.instance(&FakeLb { name: "succession", ..FakeLb::default() });
    let mut next = Envoy::new(&native(3));
    let _instance = next.instance(&lb);
    drop(instance);
    drop(envoy);
    next.work();
    let engine = next.policy.shared_engine("succession").unwrap();
    let view = engine.cluster.view();
    let known: Vec<bool> = view.hosts().iter().map(|host| host.load.is_some()).collect();
    assert_eq!(known, [false, true]);
}

#[test]
fn a_report_is_the_host_s_that_answered() {
    let mut envoy = Envoy::new(&by_load());
    let lb = FakeLb::of(&["h1:1", "h2:1"]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    let choice = instance.choose(&lb, &FakeRequest::default()).unwrap();
    let other = lb.answer(0, 1 - choice.index);
    // Another filter named the other host, or the request never asked the policy.
    let report = "TEXT cpu_utilization=0.5";
    for mut attempt in [Attempt::new(), Attempt::new()] {
        let stream = response(other, Place::ResponseHeaders, report);
        attempt.response(&stream, Place::ResponseHeaders);
    }
    let engine = envoy.policy.shared_engine("be").unwrap();
    let view = engine.cluster.view();
    for host in view.hosts() {
        let is_other = host.host.address().as_str() == other;
        assert_eq!(host.load.is_some(), is_other, "{}", host.host.address());
    }
    let mut attempt = Attempt::new();
    attempt.response(&response("gone:1", Place::ResponseHeaders, report), Place::ResponseHeaders);
    attempt.response(&FakeStream::default(), Place::ResponseHeaders);
}

#[test]
fn the_overflow_filter_picks_while_not_all_picks_are_healthy() {
    let mut envoy = Envoy::new(&json!({"lb_policy": "LEAST_REQUEST", "seed": 1}));
    let mut lb = FakeLb::of(&["h1:1", "h2:1"]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    let named = |cluster: Option<&str>| {
        let cluster = cluster.map(str::to_owned);
        let mut stream = FakeStream { cluster, ..FakeStream::default() };
        let mut detour = Detour::new();
        detour.request(&stream);
        stream.headers.push((Place::ResponseHeaders, ":status", "503".to_owned()));
        detour.response(&stream);
        (stream.preferred.take(), detour)
    };
    split(&mut instance, &lb, 1); // a main thread with requests
    threads::settle();
    let address = || {
        let (address, detour) = named(Some("be"));
        detour.end();
        address
    };
    assert!((0..10).all(|_| address().is_none()), "all are healthy");
    lb.priorities[0][1].health = Degraded;
    instance.update(&lb);
    envoy.work();
    let of =
        |host: &str| (0..1000).filter(|_| address().is_some_and(|named| named == host)).count();
    assert!((670..730).contains(&of("h1:1")) && (270..330).contains(&of("h2:1")));
    // What Envoy asks the policy for goes to the healthy ones.
    assert_near(&split(&mut instance, &lb, 100), &counts(&[("h1:1", 100)]));
    threads::settle();
    let engine = envoy.policy.shared_engine("be").unwrap();
    let active = || engine.cluster.view().hosts().iter().map(|host| host.active).sum::<u32>();
    assert_eq!(active(), 0);
    let (_, detour) = named(Some("be"));
    assert_eq!(active(), 1);
    detour.end();
    assert_eq!(active(), 0);
    // It went elsewhere, and the one that was named is free at once.
    let (named_one, mut detour) = named(Some("be"));
    let other = ["h1:1", "h2:1"].into_iter().find(|it| Some(*it) != named_one.as_deref());
    let stream = FakeStream { address: other.map(str::to_owned), ..FakeStream::default() };
    detour.response(&stream);
    assert_eq!(active(), 0);
    detour.end();
    // Metrics move though nobody asks the policy.
    let before = envoy.metrics.get("picks_overflowed.be");
    envoy.work();
    named(Some("be")).1.end();
    assert!(envoy.metrics.get("picks_overflowed.be") > before.max(Some(2000)));
    assert!(named(None).0.is_none() && named(Some("no")).0.is_none());
}

#[test]
fn instances_of_one_thread_have_engines_of_their_own() {
    let envoy = Envoy::new(&round_robin());
    let of_a = FakeLb::of(&["a1:1", "a2:1"]);
    let of_b = FakeLb::of(&["b1:1"]);
    let mut first = envoy.instance(&of_a);
    let mut second = envoy.instance(&of_b);
    for _ in 0..3 {
        assert_near(&split(&mut first, &of_a, 100), &counts(&[("a1:1", 50), ("a2:1", 50)]));
        assert_near(&split(&mut second, &of_b, 100), &counts(&[("b1:1", 100)]));
    }
    let grown = FakeLb::of(&["b1:1", "b2:1", "b3:1"]);
    second.update(&grown);
    let expected = counts(&[("b1:1", 100), ("b2:1", 100), ("b3:1", 100)]);
    assert_near(&split(&mut second, &grown, 300), &expected);
    drop(first);
    assert_near(&split(&mut second, &grown, 300), &expected);
}

#[test]
fn followers_pick_from_what_the_leader_showed() {
    let mut envoy = Envoy::new(&round_robin());
    let lb = FakeLb::of(&["h1:1", "h2:1"]);
    let _leader = envoy.instance(&lb);
    envoy.work();
    let policy = Arc::clone(&envoy.policy);
    let thread = std::thread::spawn(move || {
        let lb = FakeLb::of(&["h2:1", "h1:1"]); // its numbers are its own
        let mut follower = Instance::new(policy, &lb).unwrap();
        split(&mut follower, &lb, 100)
    });
    assert_near(&thread.join().unwrap(), &counts(&[("h1:1", 50), ("h2:1", 50)]));
    envoy.work();
    let engine = envoy.policy.shared_engine("be").unwrap();
    assert_eq!(engine.counted()[..2], [100, 0], "picks, and those that were substituted");
}

#[test]
fn the_control_thread_applies_hosts_and_ends_with_the_policy() {
    for has_batches in [true, false] {
        let environment = Environment { is_validating: false, has_batches };
        let metrics = Box::new(FakeMetrics::default());
        let policy = Arc::new(Policy::open("plimsoll", b"", metrics, environment).unwrap());
        let lb = FakeLb::of(&["h1:1", "h2:1"]);
        let instance = Instance::new(Arc::clone(&policy), &lb).unwrap();
        let engine = policy.shared_engine("be").unwrap();
        let is_there = || engine.cluster.view().hosts().len() == 2;
        assert!((0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            is_there()
        }));
        drop(instance);
        drop(policy); // joins the thread
        assert_eq!(Arc::strong_count(&engine), 1);
    }
}

#[test]
fn a_refused_configuration_is_logged() {
    let environment = Environment { is_validating: true, has_batches: true };
    let open = |text: &[u8], metrics| {
        Policy::open("plimsoll", text, Box::new(metrics), environment).is_some()
    };
    take_log();
    assert!(!open(br#"{"behavior": "other"}"#, FakeMetrics::default()));
    let line = "plimsoll: the configuration is refused: behavior: expected native or envoy";
    assert_eq!(take_log(), [(Level::Error, line.to_owned())]);
    assert!(!open(b"", FakeMetrics::full()));
    assert!(take_log()[0].1.ends_with("Envoy does not take its metrics"));
    assert!(open(b"", FakeMetrics::default()));
    assert!(take_log().is_empty());
}

#[test]
fn a_missing_filter_is_pointed_out_once() {
    let mut envoy = Envoy::new(&by_load());
    let lb = FakeLb::of(&["h1:1"]);
    let mut instance = envoy.instance(&lb);
    envoy.work();
    take_log();
    split(&mut instance, &lb, 3000);
    let log = take_log();
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(log[0].0 == Level::Warn && log[0].1.contains("cluster be goes by what requests tell"));
}

#[test]
fn the_fake_numbers_hosts_as_envoy_does() {
    let mut lb = FakeLb::of(&["h1:1", "h2:1"]);
    lb.priorities[0][0].health = Degraded;
    assert_eq!((lb.hosts(0), lb.healthy_hosts(0), lb.hosts(7)), (2, 1, 0));
    assert_eq!(lb.healthy_address(0, 0), Some("h2:1"));
    assert_eq!(lb.host(0, 0).unwrap().health, Degraded);
}
