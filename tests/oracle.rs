//! Random batches against a model that is rebuilt from scratch each time.
//!
//! The oracle keeps its hosts in one list, derives everything anew after every batch, and shares
//! no code with the engine besides the types of its input.

// Loads are integers below 2^53 and compared exactly on purpose.
#![allow(clippy::cast_possible_truncation, clippy::float_cmp)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{BEHAVIORS, assignment, config, goes_by_hash, group};
use plimsoll::config::{Assignment, Behavior, ClusterConfig, Endpoint, Maglev, Policy, RingHash};
use plimsoll::{
    Cluster, CoarseHealth, EdsHealth, HealthEvent, HealthFlags, HostChange, Options, PickContext,
    Update,
};
use proptest::prelude::*;
use proptest::sample::select;

/// One batch.
#[derive(Debug, Clone)]
enum Batch {
    Assign(Assignment),
    Patch { remove: Vec<usize>, upsert: Vec<HostChange>, health: Vec<(usize, HealthEvent)> },
    Threshold(u32),
}

/// One host as the oracle knows it.
#[derive(Debug, Clone, PartialEq)]
struct Host {
    endpoint: Endpoint,
    priority: u32,
    zone: String,
    /// Everything but what the control plane says.
    flags: HealthFlags,
    identity: u64,
    /// Whether Envoy's host set has it as excluded: as of the set's last update, which a status
    /// of the control plane that leaves the coarse health alone is not.
    excluded: bool,
}

#[derive(Debug)]
struct Oracle {
    config: ClusterConfig,
    hosts: Vec<Host>,
    /// Addresses by priority, in the order that dumps show.
    orders: Vec<Vec<String>>,
    factor: u32,
    weighted: bool,
    next_identity: u64,
    /// Priorities whose host sets Envoy would update in this batch.
    updated: BTreeSet<usize>,
    /// Envoy's loads, which outlive updates that leave nothing available.
    loads: (Vec<u64>, Vec<u64>, Vec<bool>),
}

/// What a dump shows of one host.
type Row = (String, u32, String, HealthFlags, EdsHealth, u32, u64);

/// What an active health checker owns: a report or a change of its address replaces them all.
const ACTIVE_HC_FLAGS: [HealthFlags; 5] = [
    HealthFlags::FAILED_ACTIVE_HC,
    HealthFlags::DEGRADED_ACTIVE_HC,
    HealthFlags::PENDING_ACTIVE_HC,
    HealthFlags::EXCLUDED_VIA_IMMEDIATE_HC_FAIL,
    HealthFlags::ACTIVE_HC_TIMEOUT,
];

fn has(flags: HealthFlags, flag: HealthFlags) -> bool {
    flags.intersects(flag)
}

/// What one report does to a host's flags.
fn report(flags: &mut HealthFlags, event: HealthEvent) {
    match event {
        HealthEvent::Pass | HealthEvent::Degraded => {
            for flag in ACTIVE_HC_FLAGS {
                flags.remove(flag);
            }
            if event == HealthEvent::Degraded {
                flags.insert(HealthFlags::DEGRADED_ACTIVE_HC);
            }
        }
        HealthEvent::Fail | HealthEvent::FailNow => {
            flags.remove(HealthFlags::PENDING_ACTIVE_HC);
            flags.insert(HealthFlags::FAILED_ACTIVE_HC);
            if event == HealthEvent::FailNow {
                flags.insert(HealthFlags::EXCLUDED_VIA_IMMEDIATE_HC_FAIL);
            }
        }
        HealthEvent::Eject => flags.insert(HealthFlags::FAILED_OUTLIER_CHECK),
        _ => flags.remove(HealthFlags::FAILED_OUTLIER_CHECK),
    }
}

impl Host {
    fn all_flags(&self) -> HealthFlags {
        let mut flags = self.flags;
        flags.set_eds(self.endpoint.health_status);
        flags
    }

    fn coarse(&self) -> CoarseHealth {
        self.all_flags().coarse()
    }

    fn address(&self) -> &str {
        self.endpoint.address.as_str()
    }
}

impl Oracle {
    fn fresh_flags(&self, endpoint: &Endpoint) -> HealthFlags {
        let mut flags = HealthFlags::NONE;
        if self.config.active_health_checks && !endpoint.disable_active_health_check {
            flags.insert(HealthFlags::FAILED_ACTIVE_HC);
            if self.config.ignore_new_hosts_until_first_hc {
                flags.insert(HealthFlags::PENDING_ACTIVE_HC);
            }
        }
        flags
    }

    /// The host that an endpoint of an update stands for.
    fn resolve(&mut self, endpoint: &Endpoint, priority: u32, zone: &str) -> Host {
        let known = self.hosts.iter().find(|host| host.endpoint.address == endpoint.address);
        let excluded = known.is_some_and(|host| host.excluded);
        let (flags, identity) = match known {
            Some(host) => {
                let unchecked = endpoint.disable_active_health_check;
                let same_checks = host.endpoint.disable_active_health_check == unchecked;
                let same =
                    self.config.behavior == Behavior::Native || same_checks && host.zone == zone;
                let mut flags = host.flags;
                flags.remove(HealthFlags::PENDING_DYNAMIC_REMOVAL);
                match (same, same_checks) {
                    (true, true) => (flags, Some(host.identity)),
                    (true, false) => {
                        let mut flags = flags;
                        for flag in ACTIVE_HC_FLAGS {
                            flags.remove(flag);
                        }
                        flags.insert(self.fresh_flags(endpoint));
                        (flags, Some(host.identity))
                    }
                    (false, true) if self.config.active_health_checks && !unchecked => {
                        let mut kept = HealthFlags::NONE;
                        for flag in [
                            HealthFlags::FAILED_ACTIVE_HC,
                            HealthFlags::DEGRADED_ACTIVE_HC,
                            HealthFlags::PENDING_ACTIVE_HC,
                            HealthFlags::ACTIVE_HC_TIMEOUT,
                        ] {
                            if has(flags, flag) {
                                kept.insert(flag);
                            }
                        }
                        (kept, None)
                    }
                    _ => (self.fresh_flags(endpoint), None),
                }
            }
            None => (self.fresh_flags(endpoint), None),
        };
        let identity = identity.unwrap_or_else(|| {
            self.next_identity += 1;
            self.next_identity
        });
        let (endpoint, zone) = (endpoint.clone(), zone.to_owned());
        Host { endpoint, priority, zone, flags, identity, excluded }
    }

    /// Brings what Envoy's host sets know up to date, at the end of a batch.
    fn refresh(&mut self) {
        let updated = std::mem::take(&mut self.updated);
        for host in self.hosts.iter_mut() {
            if updated.contains(&(host.priority as usize)) {
                host.excluded = host.all_flags().excluded();
            }
        }
    }

    fn assign(&mut self, new: &Assignment) {
        let before = self.hosts.clone();
        let mut seen = BTreeSet::new();
        let mut hosts = Vec::new();
        for group in &new.endpoints {
            for endpoint in &group.endpoints {
                if seen.insert(endpoint.address.clone()) {
                    hosts.push(self.resolve(endpoint, group.priority, &group.locality.zone));
                }
            }
        }
        let mut orders: Vec<Vec<String>> = Vec::new();
        let named = new.endpoints.iter().map(|group| group.priority as usize + 1).max();
        orders.resize(named.unwrap_or(0).max(self.orders.len()), Vec::new());
        for host in &hosts {
            orders[host.priority as usize].push(host.address().to_owned());
        }
        for host in self.orders.iter().flatten().filter_map(|address| self.host(address)) {
            let failing = has(host.all_flags(), HealthFlags::FAILED_ACTIVE_HC)
                || has(host.all_flags(), HealthFlags::FAILED_EDS_HEALTH);
            let stays = self.config.active_health_checks
                && !host.endpoint.disable_active_health_check
                && !failing
                && !seen.contains(&host.endpoint.address);
            if stays {
                let mut host = host.clone();
                host.flags.insert(HealthFlags::PENDING_DYNAMIC_REMOVAL);
                orders[host.priority as usize].push(host.address().to_owned());
                hosts.push(host);
            }
        }
        self.hosts = hosts;
        let policy_changed = (self.factor, self.weighted)
            != (new.overprovisioning_factor, new.weighted_priority_health);
        self.factor = new.overprovisioning_factor;
        self.weighted = new.weighted_priority_health;
        for (index, order) in orders.into_iter().enumerate() {
            if index >= self.orders.len() {
                self.orders.push(order);
                self.updated.insert(index);
            } else if policy_changed || self.set_changed(&self.orders[index], &order, &before) {
                self.orders[index] = order;
                self.updated.insert(index);
            }
        }
    }

    /// Whether Envoy would update the host set, and so take over the new order.
    fn set_changed(&self, old: &[String], new: &[String], before: &[Host]) -> bool {
        let members = |order: &[String], hosts: &[Host]| -> BTreeSet<_> {
            order
                .iter()
                .filter_map(|address| hosts.iter().find(|host| host.address() == address))
                .map(|host| {
                    let health = format!("{:?}", host.coarse());
                    let weight = host.endpoint.load_balancing_weight;
                    (host.identity, host.priority, host.zone.clone(), weight, health)
                })
                .collect()
        };
        members(old, before) != members(new, &self.hosts)
    }

    fn host(&self, address: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.address() == address)
    }

    fn remove_one(&mut self, address: &str) {
        let priority = self.host(address).map(|host| host.priority as usize);
        self.remove(address);
        self.updated.extend(priority);
    }

    fn remove(&mut self, address: &str) {
        self.hosts.retain(|host| host.address() != address);
        self.orders.iter_mut().for_each(|order| order.retain(|other| other != address));
    }

    fn upsert(&mut self, change: &HostChange) {
        let host = self.resolve(&change.endpoint, change.priority, &change.locality.zone);
        let address = host.address().to_owned();
        let stays = self.host(&address).is_some_and(|old| {
            (old.identity, old.priority, &old.zone) == (host.identity, host.priority, &host.zone)
        });
        let priority = host.priority as usize;
        if stays {
            let place = self.hosts.iter().position(|old| old.address() == address).unwrap();
            let old = std::mem::replace(&mut self.hosts[place], host);
            let weight = |host: &Host| host.endpoint.load_balancing_weight;
            let new = &self.hosts[place];
            if (weight(&old), old.coarse()) != (weight(new), new.coarse()) {
                self.updated.insert(priority);
            }
            return;
        }
        let left = self.host(&address).map(|host| host.priority as usize);
        self.remove(&address);
        self.orders.resize(self.orders.len().max(priority + 1), Vec::new());
        self.orders[priority].push(address);
        self.hosts.push(host);
        self.updated.insert(priority);
        self.updated.extend(left);
    }

    /// All events of one host, as one change.
    fn health(&mut self, address: &str, events: &[HealthEvent]) {
        let Some(host) = self.hosts.iter_mut().find(|host| host.address() == address) else {
            return;
        };
        let before = host.flags;
        events.iter().for_each(|&event| report(&mut host.flags, event));
        if host.flags == before {
            return;
        }
        let gone = has(host.flags, HealthFlags::FAILED_ACTIVE_HC)
            && has(host.flags, HealthFlags::PENDING_DYNAMIC_REMOVAL);
        if gone {
            self.remove_one(address);
        }
        self.updated.extend(0..self.orders.len());
    }

    fn rows(&self) -> Vec<Row> {
        let hosts = self.orders.iter().flatten().map(|address| self.host(address).unwrap());
        hosts
            .map(|host| {
                let Endpoint { load_balancing_weight, health_status, .. } = host.endpoint;
                (
                    host.address().to_owned(),
                    host.priority,
                    host.zone.clone(),
                    host.all_flags(),
                    health_status,
                    load_balancing_weight,
                    host.identity,
                )
            })
            .collect()
    }

    fn of(&self, priority: usize) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(move |host| host.priority as usize == priority)
    }

    /// Healthy, degraded and considered hosts, or their weights.
    fn available(&self, priority: usize, weighted: bool) -> (u64, u64, u64) {
        let amount = |host: &Host| {
            if weighted { u64::from(host.endpoint.load_balancing_weight) } else { 1 }
        };
        let sum = |keep: &dyn Fn(&&Host) -> bool| self.of(priority).filter(keep).map(amount).sum();
        (
            sum(&|host| host.coarse() == CoarseHealth::Healthy),
            sum(&|host| host.coarse() == CoarseHealth::Degraded),
            sum(&|host| match self.config.behavior {
                Behavior::Native => !host.all_flags().excluded(),
                Behavior::Envoy => !host.excluded,
            }),
        )
    }

    /// Recomputes the loads by the book.
    fn recalculate(&mut self) {
        let count = self.orders.len();
        let native = self.config.behavior == Behavior::Native;
        let scale: u64 = if native { 1 << 32 } else { 100 };
        let (mut healthy, mut degraded, mut panic) = if native {
            (vec![0; count], vec![0; count], vec![false; count])
        } else {
            std::mem::take(&mut self.loads)
        };
        healthy.resize(count, 0);
        degraded.resize(count, 0);
        panic.resize(count, false);
        let parts: Vec<(u64, u64)> = (0..count).map(|p| self.availability(p, native)).collect();
        let total = parts.iter().map(|part| part.0 + part.1).sum::<u64>().min(scale);
        if total > 0 {
            let mut left = scale;
            for (loads, kind) in [(&mut healthy, 0), (&mut degraded, 1)] {
                for (load, part) in loads.iter_mut().zip(&parts) {
                    let part = if kind == 0 { part.0 } else { part.1 };
                    *load = (u128::from(part) * u128::from(scale) / u128::from(total)) as u64;
                    *load = (*load).min(left);
                    left -= *load;
                }
            }
            match parts.iter().position(|part| part.0 > 0) {
                Some(first) => healthy[first] += left,
                None => degraded[parts.iter().position(|part| part.1 > 0).unwrap()] += left,
            }
        } else if native {
            healthy[0] = scale;
        }
        let threshold = self.config.healthy_panic_threshold;
        let threshold = if native { threshold } else { (100.0 * (threshold / 100.0)).trunc() };
        if !native && total == 0 && threshold == 0.0 {
            healthy[0] = scale;
        } else {
            for (priority, panics) in panic.iter_mut().enumerate() {
                let (h, d, n) = self.available(priority, false);
                let percent = |part: u64| if n == 0 { 0.0 } else { 100.0 * part as f64 / n as f64 };
                *panics = total != scale && percent(h) + percent(d) < threshold;
            }
            if panic.iter().all(|&panics| panics) {
                self.spread(&mut healthy, &mut degraded, scale);
            }
        }
        self.loads = (healthy, degraded, panic);
    }

    fn availability(&self, priority: usize, native: bool) -> (u64, u64) {
        let considered = self.available(priority, false).2;
        if considered == 0 {
            return (0, 0);
        }
        let (h, d, n) = self.available(priority, self.weighted);
        let part = |amount: u64| -> u64 {
            let amount = u128::from(self.factor) * u128::from(amount);
            if native {
                (amount << 32).div_ceil(100 * u128::from(n)).min(1 << 32) as u64
            } else {
                (amount / u128::from(n)).min(100) as u64
            }
        };
        (part(h), part(d))
    }

    fn spread(&self, healthy: &mut [u64], degraded: &mut [u64], scale: u64) {
        let counts: Vec<u64> = (0..healthy.len())
            .map(|p| self.of(p).filter(|host| self.usable_in_panic(host)).count() as u64)
            .collect();
        let total: u64 = counts.iter().sum();
        if total == 0 {
            healthy[0] = scale;
            return;
        }
        let mut left = scale;
        for (load, count) in healthy.iter_mut().zip(&counts) {
            *load = (u128::from(scale) * u128::from(*count) / u128::from(total)) as u64;
            left -= *load;
        }
        degraded.fill(0);
        healthy[counts.iter().position(|&count| count > 0).unwrap()] += left;
    }

    fn usable_in_panic(&self, host: &Host) -> bool {
        self.config.behavior == Behavior::Envoy
            || !matches!(host.endpoint.health_status, EdsHealth::Unhealthy | EdsHealth::Draining)
    }

    /// The share of each host, by address; only for policies whose choices are independent.
    fn shares(&self) -> BTreeMap<String, f64> {
        let native = self.config.behavior == Behavior::Native;
        let scale = if native { 4_294_967_296.0 } else { 100.0 };
        let mut shares: BTreeMap<String, f64> =
            self.hosts.iter().map(|host| (host.address().to_owned(), 0.0)).collect();
        let (healthy, degraded, panic) = &self.loads;
        let mut left = scale;
        for (kind, loads) in [(CoarseHealth::Healthy, healthy), (CoarseHealth::Degraded, degraded)]
        {
            for (priority, &load) in loads.iter().enumerate() {
                // Stale loads may exceed the whole; the first ones win.
                let load = (load as f64).min(left);
                left -= load;
                let eligible: Vec<&Host> = self
                    .of(priority)
                    .filter(|host| match panic[priority] {
                        true => self.usable_in_panic(host),
                        false => host.coarse() == kind,
                    })
                    .collect();
                let weight = |host: &Host| match native {
                    true => f64::from(host.endpoint.load_balancing_weight),
                    false => 1.0,
                };
                let total: f64 = eligible.iter().map(|host| weight(host)).sum();
                for host in eligible {
                    let share = load / scale * weight(host) / total;
                    *shares.get_mut(host.address()).unwrap() += share;
                }
            }
        }
        shares
    }
}

const ADDRESSES: usize = 9;

fn address(index: usize) -> String {
    format!("10.0.0.{index}:80")
}

fn eds() -> impl Strategy<Value = EdsHealth> {
    select(vec![
        EdsHealth::Unknown,
        EdsHealth::Healthy,
        EdsHealth::Healthy,
        EdsHealth::Unhealthy,
        EdsHealth::Draining,
        EdsHealth::Timeout,
        EdsHealth::Degraded,
    ])
}

fn endpoint(weights: bool) -> impl Strategy<Value = Endpoint> {
    let weight = if weights { 1..=5_u32 } else { 1..=1 };
    (0..ADDRESSES, eds(), weight, prop::bool::weighted(0.1)).prop_map(
        |(index, health_status, load_balancing_weight, disable_active_health_check)| Endpoint {
            health_status,
            load_balancing_weight,
            disable_active_health_check,
            ..Endpoint::new(address(index))
        },
    )
}

fn any_assignment(weights: bool) -> impl Strategy<Value = Assignment> {
    let endpoints = prop::collection::vec(endpoint(weights), 0..5);
    let groups = prop::collection::vec((0..4_u32, select(vec!["a", "b", "c"]), endpoints), 0..5);
    let factor = select(vec![140, 140, 140, 100, 200]);
    (groups, factor, any::<bool>()).prop_map(|(groups, factor, weighted)| Assignment {
        overprovisioning_factor: factor,
        weighted_priority_health: weighted,
        ..assignment(groups.into_iter().map(|(p, zone, hosts)| group(p, zone, hosts)).collect())
    })
}

fn batch(weights: bool) -> impl Strategy<Value = Batch> {
    let event = select(vec![
        HealthEvent::Pass,
        HealthEvent::Pass,
        HealthEvent::Degraded,
        HealthEvent::Fail,
        HealthEvent::FailNow,
        HealthEvent::Eject,
        HealthEvent::Uneject,
    ]);
    let change = (endpoint(weights), 0..4_u32, select(vec!["a", "b"])).prop_map(
        |(endpoint, priority, zone)| HostChange {
            endpoint,
            priority,
            locality: group(0, zone, vec![]).locality,
        },
    );
    let patch = (
        prop::collection::vec(0..ADDRESSES, 0..2),
        prop::collection::vec(change, 0..2),
        prop::collection::vec((0..ADDRESSES, event), 0..4),
    )
        .prop_map(|(remove, upsert, health)| Batch::Patch { remove, upsert, health });
    prop_oneof![
        3 => any_assignment(weights).prop_map(Batch::Assign),
        6 => patch,
        1 => (0..=100_u32).prop_map(Batch::Threshold),
    ]
}

/// The update for a batch, if it is valid now; the oracle tells what is there.
fn update(batch: &Batch, oracle: &Oracle) -> Update {
    match batch {
        Batch::Assign(new) => Update::new().assign(new.clone()),
        Batch::Threshold(percent) => Update::new().reconfigure(ClusterConfig {
            healthy_panic_threshold: f64::from(*percent),
            ..oracle.config.clone()
        }),
        Batch::Patch { remove, upsert, health } => {
            let removals = remove.iter().map(|&index| address(index));
            let update = removals.fold(Update::new(), Update::remove);
            let update = upsert.iter().cloned().fold(update, Update::upsert);
            health
                .iter()
                .fold(update, |update, &(index, event)| update.health(address(index), event))
        }
    }
}

/// Whether every host that a patch names will be there.
fn is_valid(batch: &Batch, oracle: &Oracle) -> bool {
    let Batch::Patch { remove, upsert, health } = batch else { return true };
    let mut there: BTreeSet<String> =
        oracle.hosts.iter().map(|host| host.address().to_owned()).collect();
    remove.iter().all(|&index| there.remove(&address(index))) && {
        there.extend(upsert.iter().map(|host| host.endpoint.address.to_string()));
        health.iter().all(|&(index, _)| there.contains(&address(index)))
    }
}

fn apply(oracle: &mut Oracle, batch: &Batch) {
    let mut forget = false;
    match batch {
        Batch::Assign(new) => oracle.assign(new),
        Batch::Threshold(percent) => {
            forget = oracle.config.healthy_panic_threshold != f64::from(*percent);
            oracle.config.healthy_panic_threshold = f64::from(*percent);
        }
        Batch::Patch { remove, upsert, health } => {
            remove.iter().for_each(|&index| oracle.remove_one(&address(index)));
            upsert.iter().for_each(|host| oracle.upsert(host));
            for (place, &(index, _)) in health.iter().enumerate() {
                let of_host = |from: usize| health[from..].iter().filter(move |h| h.0 == index);
                if of_host(0).count() == of_host(place).count() {
                    let events: Vec<_> = of_host(0).map(|h| h.1).collect();
                    oracle.health(&address(index), &events);
                }
            }
        }
    }
    if forget {
        oracle.loads = Default::default();
        oracle.updated.extend(0..oracle.orders.len());
    }
    oracle.refresh();
    oracle.recalculate();
}

fn compare(cluster: &Cluster, oracle: &Oracle) {
    let view = cluster.view();
    let rows: Vec<Row> = view
        .hosts()
        .iter()
        .map(|view| {
            let host = view.host;
            let identity = host.data().and_then(|data| data.downcast_ref::<u64>());
            (
                host.address().to_string(),
                host.priority(),
                host.locality().zone.clone(),
                host.health(),
                host.eds_health(),
                host.weight(),
                identity.copied().unwrap_or(0),
            )
        })
        .collect();
    assert_eq!(rows, oracle.rows(), "hosts");
    let scale = match oracle.config.behavior {
        Behavior::Native => 4_294_967_296.0,
        Behavior::Envoy => 100.0,
    };
    let (healthy, degraded, panic) = &oracle.loads;
    for (index, priority) in view.priorities().enumerate() {
        let percent = |load: u64| 100.0 * load as f64 / scale;
        assert_eq!(priority.healthy_load, percent(healthy[index]), "healthy load of {index}");
        assert_eq!(priority.degraded_load, percent(degraded[index]), "degraded load of {index}");
        assert_eq!(priority.panic, panic[index], "panic of {index}");
    }
    assert_eq!(view.priorities().count(), oracle.orders.len(), "priorities");
    if (oracle.config.behavior, &oracle.config.policy) == (Behavior::Envoy, &Policy::Random) {
        return;
    }
    let shares = oracle.shares();
    if goes_by_hash(&oracle.config.policy) {
        compare_tables(cluster, oracle, &shares);
        return;
    }
    for host in view.hosts() {
        let expected = shares[host.host.address().as_str()];
        let off = (host.share - expected).abs();
        assert!(off < 1e-6, "{}: share {}, expected {expected}", host.host.address(), host.share);
    }
}

/// Shares of hash policies are as exact as their tables are large, but those of whole priorities
/// are exact. In Envoy degraded hosts have none.
fn compare_tables(cluster: &Cluster, oracle: &Oracle, shares: &BTreeMap<String, f64>) {
    let view = cluster.view();
    let mut sums = vec![(0.0, 0.0); oracle.orders.len()];
    for host in view.hosts() {
        let expected = shares[host.host.address().as_str()];
        let is_native = oracle.config.behavior == Behavior::Native;
        assert!(host.share == 0.0 || expected > 0.0 || !is_native, "{}", host.host.address());
        let (found, deserved) = &mut sums[host.host.priority() as usize];
        *found += host.share;
        *deserved += expected;
    }
    for (priority, (found, expected)) in sums.into_iter().enumerate() {
        let off = match oracle.config.behavior {
            Behavior::Native => (found - expected).abs(),
            Behavior::Envoy => found - 1.0,
        };
        assert!(off < 1e-6, "priority {priority}: share {found}, expected {expected}");
    }
}

/// Gives every new host its identity as data.
fn attach(cluster: &Cluster, oracle: &Oracle) {
    let view = cluster.view();
    for host in view.hosts().iter().filter(|host| host.host.data().is_none()) {
        let address = host.host.address().as_str();
        let identity = oracle.host(address).map_or(0, |host| host.identity);
        cluster.set_host_data(address, Box::new(identity)).unwrap();
    }
}

fn run(config: ClusterConfig, first: &Assignment, batches: &[Batch]) {
    let options = Options { seed: Some(1), ..Options::default() };
    let cluster = Cluster::open(config.clone(), first, options).unwrap();
    let mut oracle = Oracle {
        config,
        hosts: Vec::new(),
        orders: vec![Vec::new()],
        factor: 140,
        weighted: false,
        next_identity: 0,
        updated: BTreeSet::new(),
        loads: Default::default(),
    };
    apply(&mut oracle, &Batch::Assign(first.clone()));
    attach(&cluster, &oracle);
    compare(&cluster, &oracle);
    let mut worker = cluster.worker().unwrap();
    for batch in batches {
        let update = update(batch, &oracle);
        let before = (cluster.view().to_string(), cluster.view().version());
        if !is_valid(batch, &oracle) {
            assert!(cluster.apply(&update).is_err(), "an unknown host was accepted");
            let after = (cluster.view().to_string(), cluster.view().version());
            assert_eq!(before, after, "a refused update had an effect");
            continue;
        }
        let applied = cluster.apply(&update).unwrap();
        apply(&mut oracle, batch);
        attach(&cluster, &oracle);
        compare(&cluster, &oracle);
        let changed = cluster.view().to_string() != before.0;
        assert!(applied.published || !changed, "a change was not published");
        assert_eq!(applied.version, before.1 + u64::from(applied.published));
        if let Batch::Assign(_) = batch {
            let again = cluster.apply(&update).unwrap();
            assert!(!again.published, "the same assignment was published twice");
        }
        let view = cluster.view();
        for _ in 0..20 {
            let Ok(pick) = worker.pick(&PickContext::default()) else { continue };
            let address = worker.host(pick).unwrap().address().clone();
            let host = view.hosts().into_iter().find(|host| *host.host.address() == address);
            assert!(host.is_some_and(|host| host.share > 0.0), "{address} has no share");
            worker.done(pick, plimsoll::Outcome::Success).unwrap();
        }
    }
    drop(worker);
    cluster.tick(1).unwrap();
    let stats = cluster.stats().unwrap();
    assert_eq!(stats.get("plimsoll.hosts_departed"), 0, "slots are missing:\n{stats}");
    assert_eq!(stats.get("plimsoll.snapshots_live"), 1, "snapshots leak:\n{stats}");
}

proptest! {
    #[test]
    fn the_engine_and_the_oracle_agree_after_every_batch(
        first in any_assignment(true),
        batches in prop::collection::vec(batch(true), 1..12),
        checked: bool,
        waiting: bool,
    ) {
        for behavior in BEHAVIORS {
            let config = ClusterConfig {
                active_health_checks: checked,
                ignore_new_hosts_until_first_hc: waiting,
                ..config(behavior, &Policy::Random)
            };
            run(config, &first, &batches);
        }
    }

    #[test]
    fn the_other_policies_agree_too(
        first in any_assignment(false),
        batches in prop::collection::vec(batch(false), 1..12),
    ) {
        for behavior in BEHAVIORS {
            run(config(behavior, &Policy::ROUND_ROBIN), &first, &batches);
            run(config(behavior, &Policy::LEAST_REQUEST), &first, &batches);
        }
    }

    #[test]
    fn policies_by_hash_agree_too(
        first in any_assignment(false),
        batches in prop::collection::vec(batch(false), 1..12),
    ) {
        let ring = RingHash { minimum_ring_size: 64, ..RingHash::default() };
        let maglev = Maglev { table_size: 251, ..Maglev::default() };
        for behavior in BEHAVIORS {
            run(config(behavior, &Policy::RingHash(ring.clone())), &first, &batches);
            run(config(behavior, &Policy::Maglev(maglev.clone())), &first, &batches);
        }
    }
}
