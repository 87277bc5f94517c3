//! Client-side weighted round robin when what hosts say of their utilization lags behind what they
//! say of their requests, as a CPU's average over ten seconds does: weights feed back on
//! themselves. Real engines against each other and against gRPC's rule, on the same hosts.
#![allow(clippy::cast_precision_loss)] // counts are far below 2^53

mod common;

use std::collections::VecDeque;
use std::time::Duration;

use common::{assignment, config, group, open};
use plimsoll::config::{Behavior, ClientSideWeightedRoundRobin, Endpoint, Policy};
use plimsoll::orca::LoadReport;
use plimsoll::{Cluster, Outcome, PickContext, Worker};

const SECOND: u64 = 1_000_000_000;

/// Requests that the hosts take in a second.
const CAPACITIES: [f64; 8] = [500.0, 500.0, 1000.0, 1000.0, 1500.0, 2000.0, 2000.0, 2500.0];

/// Requests per second: two thirds of what they take.
const DEMAND: u32 = 7300;

/// Seconds that a run takes, and those before it counts.
const SECONDS: u64 = 300;
const WARM_UP: u64 = 60;

/// Who decides how a second's requests divide among the hosts.
trait Balancer {
    fn send(&mut self) -> [f64; 8];

    /// What each host reports at the end of the second; no requests if it does not say.
    fn report(&mut self, requests: Option<[f64; 8]>, utilizations: [f64; 8], second: u64);
}

/// The engine.
struct Engine {
    cluster: Cluster,
    worker: Worker,
}

impl Engine {
    fn new(behavior: Behavior) -> Self {
        let policy = Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin {
            blackout_period: Duration::ZERO,
            ..ClientSideWeightedRoundRobin::default()
        });
        let hosts = (0..8).map(|host| Endpoint::new(format!("h{host}"))).collect();
        let hosts = assignment(vec![group(0, "z", hosts)]);
        let cluster = open(config(behavior, &policy), &hosts);
        let worker = cluster.worker().unwrap();
        Self { cluster, worker }
    }
}

impl Balancer for Engine {
    fn send(&mut self) -> [f64; 8] {
        let mut requests = [0.0; 8];
        for _ in 0..DEMAND {
            let pick = self.worker.pick(&PickContext::default()).unwrap();
            let host: usize =
                self.worker.host(pick).unwrap().address().as_str()[1..].parse().unwrap();
            requests[host] += 1.0;
            self.worker.done(pick, Outcome::Success).unwrap();
        }
        requests
    }

    fn report(&mut self, requests: Option<[f64; 8]>, utilizations: [f64; 8], second: u64) {
        for host in 0..8 {
            let load = LoadReport {
                application_utilization: utilizations[host],
                rps_fractional: requests.map_or(0.0, |requests| requests[host]),
                ..LoadReport::default()
            };
            let _ = self.cluster.report(&format!("h{host}"), &load.as_report(), 0);
        }
        self.cluster.tick(second * SECOND).unwrap();
    }
}

/// gRPC's rule: weights within a hundredth and ten times their mean, at once.
struct Grpc([f32; 8]);

impl Balancer for Grpc {
    fn send(&mut self) -> [f64; 8] {
        let mean = self.0.iter().sum::<f32>() / 8.0;
        let weights = self.0.map(|weight| f64::from(weight.clamp(0.01 * mean, 10.0 * mean)));
        let sum: f64 = weights.iter().sum();
        weights.map(|weight| f64::from(DEMAND) * weight / sum)
    }

    #[allow(clippy::cast_possible_truncation)] // as gRPC does
    fn report(&mut self, requests: Option<[f64; 8]>, utilizations: [f64; 8], _: u64) {
        let requests = requests.expect("gRPC weighs nothing else");
        for host in 0..8 {
            if requests[host] > 0.0 && utilizations[host] > 0.0 {
                self.0[host] = (requests[host] / utilizations[host]) as f32;
            }
        }
    }
}

/// How a run went, warmed up.
#[derive(Debug)]
struct Course {
    /// Of the share of each host over time: the worst host's, as a part of its mean.
    share_deviation: f64,
    /// The busiest and the idlest host, on average.
    busiest: f64,
    idlest: f64,
}

/// A number from -1 to 1 that looks like chance.
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
}

/// Runs hosts whose utilization is the mean of the last `window` seconds, give or take 2 %.
fn run(balancer: &mut dyn Balancer, window: usize, says_requests: bool) -> Course {
    let mut state = 7;
    let mut last: VecDeque<[f64; 8]> = VecDeque::new();
    let mut seen = Vec::new();
    for second in 1..=SECONDS {
        let requests = balancer.send();
        last.push_back(requests);
        if last.len() > window {
            last.pop_front();
        }
        let utilization = |host: usize| {
            let mean = last.iter().map(|requests| requests[host]).sum::<f64>() / last.len() as f64;
            mean / CAPACITIES[host]
        };
        let utilizations =
            std::array::from_fn(|host| utilization(host) * (1.0 + 0.02 * noise(&mut state)));
        balancer.report(says_requests.then_some(requests), utilizations, second);
        if second > WARM_UP {
            seen.push(requests);
        }
    }
    course(&seen)
}

/// Sums up how many requests each host got in each second.
fn course(seen: &[[f64; 8]]) -> Course {
    let of_host = |host: usize| {
        let count = seen.len() as f64;
        let mean = seen.iter().map(|requests| requests[host]).sum::<f64>() / count;
        let squares = seen.iter().map(|requests| (requests[host] - mean).powi(2)).sum::<f64>();
        ((squares / count).sqrt() / mean, mean / CAPACITIES[host])
    };
    let hosts: Vec<(f64, f64)> = (0..8).map(of_host).collect();
    let fold = |pick: fn(&(f64, f64)) -> f64, by: fn(f64, f64) -> f64| {
        hosts.iter().map(pick).reduce(by).unwrap()
    };
    Course {
        share_deviation: fold(|host| host.0, f64::max),
        busiest: fold(|host| host.1, f64::max),
        idlest: fold(|host| host.1, f64::min),
    }
}

#[test]
fn native_shares_vary_less_than_those_of_envoy_and_grpc_at_the_same_load() {
    for window in [1, 2, 5, 10, 15] {
        let native = run(&mut Engine::new(Behavior::Native), window, true);
        let envoy = run(&mut Engine::new(Behavior::Envoy), window, true);
        let grpc = run(&mut Grpc([1.0; 8]), window, true);
        let least = envoy.share_deviation.min(grpc.share_deviation);
        let seen = format!("{window} s: {native:?}, Envoy {envoy:?}, gRPC {grpc:?}");
        assert!(native.share_deviation < least / 2.0 && native.share_deviation < 0.02, "{seen}");
        assert!(native.busiest - native.idlest < 0.01, "{seen}");
        assert!(window < 5 || least > 0.5, "the references swing: {seen}");
    }
}

#[test]
fn hosts_that_say_only_how_busy_they_are_come_to_rest_and_nearer_to_each_other() {
    // Dealt evenly, the weakest host would be at 1.8 and the strongest at 0.37.
    for window in [1, 5, 10, 15] {
        let native = run(&mut Engine::new(Behavior::Native), window, false);
        assert!(native.share_deviation < 0.02, "{window} s: {native:?}");
        assert!(native.busiest < 0.9 && native.idlest > 0.55, "{window} s: {native:?}");
    }
}

#[test]
fn a_host_that_loses_half_of_its_capacity_is_followed_in_seconds() {
    let mut engine = Engine::new(Behavior::Native);
    let full = CAPACITIES.map(|capacity| capacity / 2.0);
    engine.report(Some(full), [0.5; 8], 1);
    let before = engine.send()[7];
    let mut after = Vec::new();
    for second in 2..32 {
        let utilizations = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0];
        engine.report(Some(full), utilizations, second);
        after.push(engine.send()[7] / before);
    }
    // Where it ends is 1250 of 8750 instead of 2500 of 10 000.
    let end = (1250.0 / 8750.0) / (2500.0 / 10_000.0);
    let part = |second: usize| (1.0 - after[second]) / (1.0 - end);
    assert!(part(0) > 0.1 && part(0) < 0.3, "after 1 s: {after:?}");
    assert!(part(9) > 0.75, "after 10 s: {after:?}");
    assert!(part(29) > 0.97, "after 30 s: {after:?}");
}
