//! Clusters that route by locality, and the same hosts without.

use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, Endpoint, LoadAware, LocalityEndpoints, LocalityRouting,
    Policy, ZoneAware,
};
use plimsoll::orca::LoadReport;
use plimsoll::{Cluster, LocalCluster, Options};

use crate::scenario::{address, config, locality};

/// How many hosts there are and where; all of them healthy and of the same weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The first of them gets all the traffic.
    pub priorities: u32,
    /// Of each priority. The first one is the proxy's own.
    pub localities: u32,
    /// Of each locality.
    pub hosts: u32,
}

/// How traffic divides among localities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routing {
    /// By hosts.
    Unset,
    /// By weights from 1 to the number of localities.
    Weighted,
    /// The local locality keeps what its hosts are for its proxies, of which there are twice as
    /// many as elsewhere.
    ZoneAware,
    /// The local locality is busy and shares with all others.
    LoadAware,
}

impl Routing {
    /// All of them, without routing first.
    pub const ALL: [Self; 4] = [Self::Unset, Self::Weighted, Self::ZoneAware, Self::LoadAware];
}

const SECOND_NS: u64 = 1_000_000_000;
/// Ticks after which load-aware weights hardly move any more.
const SETTLING: u64 = 60;

impl Shape {
    /// All hosts: locality and address, in the order of the assignment.
    pub fn hosts(self) -> impl Iterator<Item = (u32, String)> {
        let all = self.priorities * self.localities * self.hosts;
        (0..all).map(move |index| (index / self.hosts % self.localities, address(index)))
    }

    fn assignment(self) -> Assignment {
        let mut hosts = self.hosts().map(|(_, address)| Endpoint::new(address));
        let groups = (0..self.priorities * self.localities).map(|group| LocalityEndpoints {
            locality: locality(group % self.localities),
            priority: group / self.localities,
            load_balancing_weight: Some(group % self.localities + 1),
            endpoints: hosts.by_ref().take(self.hosts as usize).collect(),
        });
        Assignment { endpoints: groups.collect(), ..Assignment::default() }
    }

    /// Ten proxies in each locality, and twice as many in the local one.
    fn proxies(self) -> LocalCluster {
        let mut proxies = Self { priorities: 1, hosts: 10, ..self }.assignment();
        let first = self.localities * 10;
        proxies.endpoints[0]
            .endpoints
            .extend((first..first + 10).map(|it| Endpoint::new(address(it))));
        let settings = config(Behavior::Native, Policy::ROUND_ROBIN);
        let cluster = Cluster::open(settings, &proxies, Options::default());
        cluster.expect("a valid scenario").as_local_cluster()
    }
}

/// A cluster of this shape, its weights settled.
///
/// # Panics
///
/// If the engine refuses it.
#[must_use]
pub fn open(behavior: Behavior, policy: Policy, shape: Shape, routing: Routing) -> Cluster {
    let locality_routing = match routing {
        Routing::Unset => LocalityRouting::Unset,
        Routing::Weighted => LocalityRouting::Weighted,
        Routing::ZoneAware => LocalityRouting::ZoneAware(ZoneAware::default()),
        Routing::LoadAware => LocalityRouting::LoadAware(LoadAware::default()),
    };
    let options = Options {
        seed: Some(1),
        node_locality: Some(locality(0)),
        local_cluster: (routing == Routing::ZoneAware).then(|| shape.proxies()),
        now_ns: SECOND_NS,
        ..Options::default()
    };
    let settings = ClusterConfig { locality_routing, ..config(behavior, policy) };
    let cluster = Cluster::open(settings, &shape.assignment(), options).expect("a valid scenario");
    if routing == Routing::LoadAware {
        report(&cluster, shape, SECOND_NS, |locality| if locality == 0 { 0.9 } else { 0.3 });
        (2..SETTLING).for_each(|second| cluster.tick(second * SECOND_NS).expect("a sound cluster"));
    }
    cluster
}

/// When [`open`] leaves the clock, and a moment at which the next tick is due; then one each second.
#[must_use]
pub fn due_ns(tick: u64) -> u64 {
    (SETTLING + tick) * SECOND_NS
}

/// All hosts report the utilization of their locality.
///
/// # Panics
///
/// If there is no such host.
pub fn report(cluster: &Cluster, shape: Shape, now_ns: u64, utilization: impl Fn(u32) -> f64) {
    for (locality, address) in shape.hosts() {
        report_of(cluster, &address, utilization(locality), now_ns);
    }
}

/// One host reports.
///
/// # Panics
///
/// If there is no such host.
pub fn report_of(cluster: &Cluster, address: &str, utilization: f64, now_ns: u64) {
    let report = LoadReport { cpu_utilization: utilization, ..LoadReport::default() };
    cluster.report(address, &report.as_report(), now_ns).expect("a host that reports");
}

#[cfg(test)]
mod tests {
    use plimsoll::PickContext;

    use super::*;

    #[test]
    fn every_routing_reaches_all_localities() {
        let shape = Shape { priorities: 1, localities: 8, hosts: 4 };
        for behavior in [Behavior::Native, Behavior::Envoy] {
            for routing in Routing::ALL {
                let cluster = open(behavior, Policy::ROUND_ROBIN, shape, routing);
                let mut worker = cluster.worker().unwrap();
                let mut picks = [0_u32; 8];
                for _ in 0..8_000 {
                    let pick = worker.pick(&PickContext::default()).unwrap();
                    picks[pick.slot as usize / 4] += 1;
                }
                let least = picks.into_iter().min().unwrap();
                assert!(least > 100, "{behavior:?} {routing:?}: {picks:?}");
                let is_even = picks.into_iter().all(|own| own.abs_diff(1_000) < 50);
                assert_eq!(
                    is_even,
                    routing == Routing::Unset,
                    "{behavior:?} {routing:?}: {picks:?}"
                );
            }
        }
    }
}
