//! Clusters to measure: the same hosts for every contender.

use plimsoll::config::{Assignment, Behavior, ClusterConfig, Endpoint, LocalityEndpoints, Policy};
use plimsoll::{Cluster, EdsHealth, Locality, Options};

/// Priorities of a layered cluster.
pub const PRIORITIES: u32 = 3;
/// Localities of each priority of a layered cluster.
pub const LOCALITIES: u32 = 10;

/// What a cluster looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One priority, one locality, all hosts healthy.
    Flat,
    /// Three priorities of ten localities; the health of their hosts gives them 80, 15 and 5 % of
    /// the traffic.
    Layered,
    /// Three priorities of ten localities; every tenth host is unhealthy.
    Rebuilt,
}

impl Layout {
    /// With 100 the shares of traffic are what the shares of healthy hosts are.
    #[must_use]
    pub fn overprovisioning_factor(self) -> u32 {
        if self == Self::Layered { 100 } else { 140 }
    }
}

/// One host of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Its number, from 0.
    pub index: u32,
    /// Its priority.
    pub priority: u32,
    /// Its locality, 0 to 9.
    pub locality: u32,
    /// Its weight.
    pub weight: u32,
    /// Whether it gets traffic.
    pub healthy: bool,
}

/// The hosts of a scenario, grouped by priority and locality.
#[must_use]
pub fn hosts(layout: Layout, count: u32, equal_weights: bool) -> Vec<Host> {
    let (priorities, localities) =
        if layout == Layout::Flat { (1, 1) } else { (PRIORITIES, LOCALITIES) };
    let groups = priorities * localities;
    let mut hosts: Vec<Host> = (0..count)
        .map(|index| {
            let group = index % groups;
            let priority = group / localities;
            let rank = index / groups;
            let healthy = match layout {
                Layout::Flat => true,
                Layout::Rebuilt => (index * 7 + 3) % 10 != 0,
                // In parts of 20: 16, 3 and all of them. The first of a locality is healthy.
                Layout::Layered => {
                    rank * 20 / (count / groups).max(1) < [16, 3, 20][priority as usize]
                }
            };
            let weight = if equal_weights { 1 } else { weight(index) };
            Host { index, priority, locality: group % localities, weight, healthy }
        })
        .collect();
    hosts.sort_by_key(|host| (host.priority, host.locality, host.index));
    hosts
}

/// The weight of a host: 1 to 100, without pattern.
#[must_use]
pub fn weight(index: u32) -> u32 {
    ((index.wrapping_mul(2_654_435_761) ^ 0x5bd1_e995) >> 7) % 100 + 1
}

/// The address of a host.
#[must_use]
pub fn address(index: u32) -> String {
    let [_, a, b, c] = index.to_be_bytes();
    format!("10.{a}.{b}.{c}:80")
}

/// The locality of a number.
#[must_use]
pub fn locality(number: u32) -> Locality {
    Locality::new("region", format!("zone-{number}"), "")
}

/// The hosts as an assignment.
#[must_use]
pub fn assignment(layout: Layout, count: u32, equal_weights: bool) -> Assignment {
    let mut groups: Vec<LocalityEndpoints> = Vec::new();
    let mut last = None;
    for host in hosts(layout, count, equal_weights) {
        let key = (host.priority, host.locality);
        if last != Some(key) {
            last = Some(key);
            groups.push(LocalityEndpoints {
                locality: locality(host.locality),
                priority: host.priority,
                load_balancing_weight: Some(host.locality + 1),
                endpoints: Vec::new(),
            });
        }
        let endpoint = Endpoint {
            load_balancing_weight: host.weight,
            health_status: if host.healthy { EdsHealth::Healthy } else { EdsHealth::Timeout },
            ..Endpoint::new(address(host.index))
        };
        if let Some(group) = groups.last_mut() {
            group.endpoints.push(endpoint);
        }
    }
    let overprovisioning_factor = layout.overprovisioning_factor();
    Assignment { endpoints: groups, overprovisioning_factor, ..Assignment::default() }
}

/// The settings of a cluster.
#[must_use]
pub fn config(behavior: Behavior, policy: Policy) -> ClusterConfig {
    ClusterConfig { behavior, policy, ..ClusterConfig::new("bench") }
}

/// A cluster of the scenario.
///
/// # Panics
///
/// If the engine refuses it.
#[must_use]
pub fn cluster(behavior: Behavior, policy: Policy, assignment: &Assignment) -> Cluster {
    let options = Options { seed: Some(1), ..Options::default() };
    Cluster::open(config(behavior, policy), assignment, options).expect("a valid scenario")
}
