//! Short forms that several test files use.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test file uses some of it

use plimsoll::config::{Assignment, Behavior, ClusterConfig, Endpoint, LocalityEndpoints, Policy};
use plimsoll::{Cluster, EdsHealth, Locality, Options};

pub const BEHAVIORS: [Behavior; 2] = [Behavior::Native, Behavior::Envoy];
pub const POLICIES: [Policy; 5] =
    [Policy::Random, Policy::ROUND_ROBIN, Policy::LEAST_REQUEST, Policy::RING_HASH, Policy::MAGLEV];

/// Whether hosts are chosen by hashes of requests, so that nobody can peek.
pub fn goes_by_hash(policy: &Policy) -> bool {
    policy.consistent_hashing().is_some()
}

/// A host of this address and health.
pub fn endpoint(address: &str, health_status: EdsHealth) -> Endpoint {
    Endpoint { health_status, ..Endpoint::new(address) }
}

/// A group of hosts.
pub fn group(priority: u32, zone: &str, endpoints: Vec<Endpoint>) -> LocalityEndpoints {
    let locality = Locality::new("", zone, "");
    LocalityEndpoints { locality, priority, load_balancing_weight: None, endpoints }
}

pub fn assignment(endpoints: Vec<LocalityEndpoints>) -> Assignment {
    Assignment { endpoints, ..Assignment::default() }
}

/// The hosts `10.P.Z.I:80` of weight 1 and unknown health.
pub fn plain(priority: u32, zone: u32, hosts: u32) -> LocalityEndpoints {
    let endpoint = |host| Endpoint::new(format!("10.{priority}.{zone}.{host}:80"));
    group(priority, &format!("z{zone}"), (1..=hosts).map(endpoint).collect())
}

pub fn config(behavior: Behavior, policy: &Policy) -> ClusterConfig {
    ClusterConfig { behavior, policy: policy.clone(), ..ClusterConfig::new("test") }
}

/// A cluster with seed 1.
pub fn open(config: ClusterConfig, assignment: &Assignment) -> Cluster {
    let options = Options { seed: Some(1), ..Options::default() };
    Cluster::open(config, assignment, options).expect("the test's cluster opens")
}
