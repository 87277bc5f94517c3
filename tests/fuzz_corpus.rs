//! Inputs that fuzzers found in Envoy, or that its fuzz harnesses leave out because they break its
//! schedulers: weights of nothing, absurd exponents, very many hosts, peeks between health flips.
//! Here they are survived, and traffic still finds every host that it should.

mod common;

use std::time::Duration;

use common::{BEHAVIORS, assignment, config, group, open};
use plimsoll::config::{
    Assignment, Endpoint, LeastRequest, Policy, RoundRobin, RuntimeDouble, SelectionMethod,
    SlowStart,
};
use plimsoll::{Cluster, HealthEvent, HostLoad, PickContext, Update};

const MS: u64 = 1_000_000;

fn double(default_value: f64) -> Option<RuntimeDouble> {
    Some(RuntimeDouble { default_value, runtime_key: "key".to_owned() })
}

/// Hosts of weights 1, 2 and 3 in turn, in two localities and two priorities.
fn hosts(count: u32) -> Assignment {
    let host = |index: u32| Endpoint {
        load_balancing_weight: index % 3 + 1,
        ..Endpoint::new(format!("h{index}"))
    };
    let part = |quarter: u32| (0..count).filter(|index| index % 4 == quarter).map(host).collect();
    let group = |quarter| group(quarter % 2, ["a", "b"][quarter as usize / 2], part(quarter));
    assignment((0..4).map(group).collect())
}

fn slow_start(window_ns: u64, aggression: f64, min_weight_percent: f64) -> Option<SlowStart> {
    let window = Duration::from_nanos(window_ns);
    Some(SlowStart { window, aggression: double(aggression), min_weight_percent })
}

fn least_request(bias: f64, slow_start: Option<SlowStart>) -> LeastRequest {
    LeastRequest { active_request_bias: double(bias), slow_start, ..LeastRequest::default() }
}

/// Flips health, loads hosts, peeks and picks while time passes in leaps, and always finds a host.
fn survives(cluster: &Cluster, count: u32, flips: u32) {
    let mut worker = cluster.worker().unwrap();
    let mut now_ns = 0;
    for flip in 0..flips {
        let host = format!("h{}", flip * 7 % count);
        let event =
            [HealthEvent::Fail, HealthEvent::Degraded, HealthEvent::Pass][flip as usize % 3];
        cluster.apply(&Update::new().health(host.as_str(), event)).unwrap();
        cluster.set_loads(&[(host.as_str(), HostLoad::active(flip % 3 * 1000))]).unwrap();
        now_ns += [0, 1, 999 * MS, 60_000 * MS][flip as usize % 4];
        cluster.tick(now_ns).unwrap();
        for round in 0..20 {
            let context = PickContext { now_ns: now_ns + round, ..PickContext::default() };
            let _ = worker.peek();
            assert!(worker.pick(&context).is_ok(), "{:?}, flip {flip}", cluster.view().config());
        }
        let shares: f64 = cluster.view().hosts().iter().map(|host| host.share).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{:?}: {shares}", cluster.view().config());
    }
}

#[test]
fn absurd_biases_and_ramps_are_survived() {
    let two_seconds = || slow_start(2_000 * MS, 5.05e-321, 5.05e-321);
    let full_scan = LeastRequest {
        selection_method: SelectionMethod::FullScan,
        ..least_request(34_816.0, None)
    };
    for behavior in BEHAVIORS {
        for policy in [
            Policy::LeastRequest(least_request(34_816.0, None)),
            Policy::LeastRequest(least_request(f64::MAX, two_seconds())),
            Policy::LeastRequest(least_request(5e-324, slow_start(8_000 * MS, 3.9e-27, 0.0))),
            Policy::LeastRequest(full_scan.clone()),
            Policy::RoundRobin(RoundRobin { slow_start: two_seconds() }),
            Policy::RoundRobin(RoundRobin { slow_start: slow_start(8_000 * MS, 3.9e-27, 0.0) }),
            Policy::Random,
        ] {
            for count in [1, 2, 48, 59] {
                let cluster = open(config(behavior, &policy), &hosts(count));
                survives(&cluster, count, 30);
            }
        }
    }
}

#[test]
fn very_many_hosts_in_a_very_long_window_are_survived() {
    let slow_start = || slow_start(94_304_000_004_096, 2.000_061_274_5, 0.0);
    for behavior in BEHAVIORS {
        for policy in [
            Policy::RoundRobin(RoundRobin { slow_start: slow_start() }),
            Policy::LeastRequest(least_request(1.0, slow_start())),
        ] {
            let cluster = open(config(behavior, &policy), &hosts(52_998));
            survives(&cluster, 52_998, 4);
        }
    }
}

#[test]
fn no_hosts_are_no_host() {
    for behavior in BEHAVIORS {
        let policy = Policy::LeastRequest(least_request(34_816.0, slow_start(MS, 5e-324, 0.0)));
        let cluster = open(config(behavior, &policy), &Assignment::default());
        let mut worker = cluster.worker().unwrap();
        assert!(worker.peek().is_err() && worker.pick(&PickContext::default()).is_err());
    }
}
