//! The hosts of a cluster as Envoy shows them to one thread, read in two ways: as an assignment for
//! the engine, and as the numbers that Envoy wants a picked host by.

use std::collections::HashMap;

use plimsoll::config::{Assignment, Endpoint, LocalityEndpoints};
use plimsoll::{CoarseHealth, EdsHealth, HostRef, Locality, Pick};

use crate::config::Settings;
use crate::host::LbHost;

/// Where a host stands in Envoy's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) priority: u32,
    /// Among all hosts of the priority.
    pub(crate) index: u32,
    /// Among its healthy ones, which are all that a policy may answer with.
    pub(crate) healthy: Option<u32>,
}

/// Where each host stands, by address; and by slot those that were picked since the hosts changed.
#[derive(Debug, Default)]
pub(crate) struct View {
    by_address: HashMap<Box<str>, Spot>,
    /// The number of healthy hosts by priority.
    healthy: Vec<u32>,
    by_slot: Vec<Option<(u32, Spot)>>,
}

impl View {
    pub(crate) fn read(host: &impl LbHost) -> Self {
        let mut view = Self::default();
        for priority in 0..host.priorities() {
            view.healthy.push(host.healthy_hosts(priority));
            for index in 0..host.hosts(priority) {
                let Some(address) = host.address(priority, index) else { continue };
                let spot = Spot { priority, index, healthy: None };
                view.by_address.entry(address.into()).or_insert(spot);
            }
        }
        for priority in 0..host.priorities() {
            for healthy in 0..host.healthy_hosts(priority) {
                let Some(address) = host.healthy_address(priority, healthy) else { continue };
                // An address that stands in several priorities is the first of those hosts.
                let spot = view.by_address.get_mut(address);
                if let Some(spot) = spot.filter(|spot| spot.priority == priority) {
                    spot.healthy.get_or_insert(healthy);
                }
            }
        }
        view
    }

    /// Whether a host has this address.
    pub(crate) fn knows(&self, address: &str) -> bool {
        self.by_address.contains_key(address)
    }

    /// Where a picked host stands; `None` if Envoy has not shown it to this thread yet, or not any
    /// more.
    pub(crate) fn spot(&mut self, pick: Pick, host: HostRef<'_>) -> Option<Spot> {
        let slot = pick.slot as usize;
        if let Some(&Some((generation, spot))) = self.by_slot.get(slot)
            && generation == pick.generation
        {
            return Some(spot);
        }
        self.learn(pick, host.address().as_str())
    }

    #[cold]
    fn learn(&mut self, pick: Pick, address: &str) -> Option<Spot> {
        let spot = *self.by_address.get(address)?;
        let slot = pick.slot as usize;
        if self.by_slot.len() <= slot {
            self.by_slot.resize(slot + 1, None);
        }
        self.by_slot[slot] = Some((pick.generation, spot));
        Some(spot)
    }

    /// Some healthy host: of this priority if it has one, else of the first that does.
    pub(crate) fn any_healthy(&self, priority: u32, turn: u64) -> Option<(u32, u32)> {
        let has_some = |&(_, &count): &(u32, &u32)| count > 0;
        let counts = || (0..).zip(&self.healthy);
        let preferred = counts().filter(has_some).find(|&(other, _)| other == priority);
        let (priority, &count) = preferred.or_else(|| counts().find(has_some))?;
        let index = u32::try_from(turn % u64::from(count)).unwrap_or_default();
        Some((priority, index))
    }
}

/// Reads assignments. Envoy shows the weight of a locality only while that has healthy hosts, so the
/// last one is kept.
#[derive(Debug, Default)]
pub(crate) struct AssignmentReader {
    weights: HashMap<(u32, Locality), u32>,
}

impl AssignmentReader {
    pub(crate) fn read(&mut self, host: &impl LbHost, settings: &Settings) -> Assignment {
        let has_keys = settings.config.policy.consistent_hashing().is_some();
        let mut endpoints = Vec::new();
        let mut weights = HashMap::new();
        for priority in 0..host.priorities() {
            let first = endpoints.len();
            groups(host, priority, has_keys, &mut endpoints);
            self.weigh(host, priority, &mut endpoints[first..], &mut weights);
        }
        self.weights = weights;
        Assignment {
            endpoints,
            overprovisioning_factor: settings.overprovisioning_factor,
            weighted_priority_health: settings.weighted_priority_health,
        }
    }

    /// Gives the groups of one priority their localities' weights, and keeps those.
    fn weigh(
        &self,
        host: &impl LbHost,
        priority: u32,
        groups: &mut [LocalityEndpoints],
        kept: &mut HashMap<(u32, Locality), u32>,
    ) {
        let shown =
            (0..host.localities(priority)).filter_map(|index| host.locality(priority, index));
        let by_address: HashMap<&str, u32> =
            shown.map(|(weight, address)| (address, weight)).collect();
        for group in groups.iter() {
            let key = (priority, group.locality.clone());
            let mut addresses = group.endpoints.iter().map(|endpoint| endpoint.address.as_str());
            let shown = addresses.find_map(|address| by_address.get(address));
            if let Some(&weight) = shown.or_else(|| self.weights.get(&key)) {
                kept.insert(key, weight);
            }
        }
        for group in groups {
            let weight = kept.get(&(priority, group.locality.clone())).copied();
            group.load_balancing_weight = weight.filter(|&weight| weight > 0);
        }
    }
}

/// The hosts of one priority in Envoy's order, which may show: a group for each run of hosts of the
/// same locality.
fn groups(host: &impl LbHost, priority: u32, has_keys: bool, groups: &mut Vec<LocalityEndpoints>) {
    let first = groups.len();
    for index in 0..host.hosts(priority) {
        let Some(row) = host.host(priority, index) else { continue };
        let [region, zone, sub_zone] = row.locality;
        let is_of =
            |it: &Locality| it.region == region && it.zone == zone && it.sub_zone == sub_zone;
        if groups.len() == first || !groups.last().is_some_and(|group| is_of(&group.locality)) {
            let locality = Locality::new(region, zone, sub_zone);
            groups.push(LocalityEndpoints { locality, priority, ..LocalityEndpoints::default() });
        }
        let hash_key = if has_keys { host.hash_key(priority, index) } else { None };
        let endpoint = Endpoint {
            hash_key: hash_key.unwrap_or_default().to_owned(),
            load_balancing_weight: row.weight.max(1),
            health_status: status(row.health),
            ..Endpoint::new(row.address)
        };
        groups.last_mut().expect("one was just pushed, if there was none").endpoints.push(endpoint);
    }
}

/// Envoy says what a host's health comes to and not who says so. A timeout is the one status that
/// counts as a symptom: in panic such a host may get traffic, as in Envoy.
fn status(health: CoarseHealth) -> EdsHealth {
    match health {
        CoarseHealth::Healthy => EdsHealth::Healthy,
        CoarseHealth::Degraded => EdsHealth::Degraded,
        CoarseHealth::Unhealthy => EdsHealth::Timeout,
    }
}
