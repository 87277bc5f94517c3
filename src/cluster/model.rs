//! The hosts as the control side knows them, and what an assignment does to them.
//!
//! A host is an object with an identity: it keeps its slot, its counters and its health across
//! updates that name it again. In `behavior: native` the address is the identity. In
//! `behavior: envoy` a host that changes its locality, its health check address or whether it is
//! checked becomes a new object, as in Envoy.
//!
//! //= envoy v1.40 source/common/upstream/upstream_impl.cc#BaseDynamicClusterImpl::updateDynamicHostList

use std::collections::{BTreeMap, HashSet};

use super::set::PrioritySet;
use super::slots::Slots;
use super::update::HostChange;
use crate::config::{Assignment, Behavior, ClusterConfig, Endpoint};
use crate::host::{
    AddressMap, Directory, Entry, HealthEvent, HealthFlags, HostInfo, Locality, Place, Table,
};
use crate::policy::envoy::{FIRST_LOCALITY_LIST, LISTS};
use crate::priority::Tally;
use crate::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) directory: Directory,
    /// The current hosts of the directory. One that was replaced stays in that until it departs.
    pub(super) by_address: AddressMap,
    pub(super) priorities: Vec<PrioritySet>,
    pub(super) slots: Slots,
    pub(super) overprovisioning_factor: u32,
    pub(super) weighted_priority_health: bool,
    /// Addresses that an assignment named more than once, over all assignments.
    pub(super) duplicates: u64,
    /// The largest weight of the priority that the last assignment came to last, as in Envoy.
    pub(super) max_host_weight: u32,
    /// Something changed that a snapshot shows.
    pub(super) visible: bool,
    /// What the cluster's clock shows.
    pub(super) now_ns: u64,
    /// When the host came up that came up last; at first, when the policy was made.
    pub(super) latest_host_added_ns: u64,
    /// Hosts whose health reports changed, each time they did.
    pub(super) health_changes: u64,
    /// This proxy's own place.
    pub(super) node: Option<Locality>,
    /// Where the positions for Envoy's lists of localities end.
    pub(super) lists: usize,
    /// How many policies localities have had, in Envoy's load-aware routing.
    pub(super) children: u64,
}

/// One endpoint of an assignment in its place.
struct Planned<'a> {
    endpoint: &'a Endpoint,
    place: Arc<Place>,
}

impl Model {
    pub(super) fn new(node: Option<Locality>, now_ns: u64) -> Self {
        let policy = Assignment::default();
        Self {
            directory: Directory::default(),
            by_address: AddressMap::default(),
            priorities: vec![PrioritySet::default()],
            slots: Slots::default(),
            overprovisioning_factor: policy.overprovisioning_factor,
            weighted_priority_health: policy.weighted_priority_health,
            duplicates: 0,
            max_host_weight: 0,
            visible: true,
            now_ns,
            latest_host_added_ns: now_ns,
            health_changes: 0,
            node,
            lists: FIRST_LOCALITY_LIST,
            children: 0,
        }
    }

    /// The slot of a host.
    pub(super) fn slot(&self, address: &str) -> Option<u32> {
        self.by_address.get(address, &self.directory).map(|entry| entry.info.slot)
    }

    /// How many positions a worker needs for Envoy's lists.
    pub(super) fn positions(&self) -> usize {
        match self.lists {
            FIRST_LOCALITY_LIST => self.priorities.len() * LISTS,
            lists => lists,
        }
    }

    /// Whether the first locality of a set is the proxy's own.
    pub(super) fn has_local(&self, set: &PrioritySet) -> bool {
        set.has_local(self.node.as_ref())
    }

    /// The number of hosts.
    pub(super) fn len(&self) -> usize {
        self.by_address.len()
    }

    /// The figures of every priority.
    pub(super) fn tallies(&self) -> Vec<Tally> {
        self.priorities.iter().map(PrioritySet::tally).collect()
    }

    /// Whether a host that an assignment drops stays for as long as its health checks pass.
    fn is_retained(entry: &Entry, config: &ClusterConfig) -> bool {
        let failing = HealthFlags::FAILED_ACTIVE_HC.bits() | HealthFlags::FAILED_EDS_HEALTH.bits();
        config.active_health_checks
            && !config.ignore_health_on_host_removal
            && !entry.place.disable_active_health_check
            && entry.flags.bits() & failing == 0
    }

    /// Replaces all hosts.
    pub(super) fn assign(&mut self, new: &Assignment, config: &ClusterConfig, table: &Table) {
        self.take_policy(new);
        let (planned, weights) = self.plan(new);
        // A priority that is there stays; priorities that the message names come into being.
        while self.priorities.len() < planned.len() {
            self.priorities.push(PrioritySet::default());
            self.visible = true;
        }
        let mut orders = Vec::with_capacity(planned.len());
        for (priority, planned) in (0..).zip(planned) {
            let place = |planned: &Planned<'_>| {
                self.place(planned.endpoint, &planned.place, priority, config, table)
            };
            orders.push(planned.iter().map(place).collect::<Vec<u32>>());
        }
        let mut named = vec![false; self.slots.end()];
        orders.iter().flatten().for_each(|&slot| named[slot as usize] = true);
        for (index, (order, weights)) in orders.into_iter().zip(weights).enumerate() {
            self.set_locality_weights(index, weights);
            self.settle(index, order, &named, config);
        }
    }

    /// Takes over what the assignment says about all priorities.
    fn take_policy(&mut self, new: &Assignment) {
        let before = (self.overprovisioning_factor, self.weighted_priority_health);
        let after = (new.overprovisioning_factor, new.weighted_priority_health);
        if before != after {
            (self.overprovisioning_factor, self.weighted_priority_health) = after;
            self.priorities.iter_mut().for_each(|set| set.updated = true);
        }
    }

    /// The endpoints of each priority in the order of the message, the first of each address, and
    /// the weights of the localities. At least as many priorities as there are.
    #[allow(clippy::type_complexity)] // two lists by priority, taken apart at once
    fn plan<'a>(
        &mut self,
        new: &'a Assignment,
    ) -> (Vec<Vec<Planned<'a>>>, Vec<BTreeMap<Locality, u32>>) {
        let named = new.endpoints.iter().map(|group| group.priority as usize + 1).max();
        let count = named.unwrap_or(0).max(self.priorities.len());
        let mut planned: Vec<Vec<Planned<'a>>> = Vec::new();
        planned.resize_with(count, Vec::new);
        let mut weights = vec![BTreeMap::new(); count];
        let endpoints = new.endpoints.iter().map(|group| group.endpoints.len()).sum();
        let mut seen = HashSet::with_capacity(endpoints);
        for group in &new.endpoints {
            let priority = group.priority as usize;
            let locality = Arc::new(group.locality.clone());
            if let Some(weight) = group.load_balancing_weight {
                weights[priority].insert(group.locality.clone(), weight);
            }
            let mut shared = None;
            for endpoint in &group.endpoints {
                if !seen.insert(&endpoint.address) {
                    self.duplicates += 1;
                    continue;
                }
                let place = place_of(endpoint, &locality, &mut shared);
                planned[priority].push(Planned { endpoint, place });
            }
        }
        (planned, weights)
    }

    /// Gives one priority its new members: those in `order`, and those that are retained.
    /// `named` tells for each slot whether the assignment names its host anywhere.
    fn settle(
        &mut self,
        index: usize,
        mut order: Vec<u32>,
        named: &[bool],
        config: &ClusterConfig,
    ) {
        let before = self.priorities[index].order.clone();
        for &slot in before.iter().filter(|&&slot| !named[slot as usize]) {
            if self.stays_pending(slot, config) {
                order.push(slot);
            } else {
                self.depart(slot);
            }
        }
        let weight = |slot: &u32| self.directory.get(*slot).map_or(0, |entry| entry.weight);
        self.max_host_weight = order.iter().map(weight).max().unwrap_or(0).max(1);
        let same_members = before.len() == order.len() && {
            let mut is_member = vec![false; named.len()];
            before.iter().for_each(|&slot| is_member[slot as usize] = true);
            order.iter().all(|&slot| is_member[slot as usize])
        };
        let set = &mut self.priorities[index];
        if same_members && !set.updated {
            return;
        }
        set.membership_changed |= !same_members;
        set.replace(order, &self.directory, self.node.as_ref());
        self.visible = true;
    }

    /// Marks a host that the assignment dropped as pending removal, if it may stay.
    fn stays_pending(&mut self, slot: u32, config: &ClusterConfig) -> bool {
        let Some(entry) = self.directory.get(slot) else { return false };
        let is_current = self.slot(entry.info.address.as_str()) == Some(slot);
        if !is_current || !Self::is_retained(entry, config) {
            return false;
        }
        if !entry.flags.intersects(HealthFlags::PENDING_DYNAMIC_REMOVAL) {
            self.visible = true;
            if let Some(entry) = self.directory.get_mut(slot) {
                entry.flags.insert(HealthFlags::PENDING_DYNAMIC_REMOVAL);
            }
        }
        true
    }

    fn set_locality_weights(&mut self, index: usize, weights: BTreeMap<Locality, u32>) {
        let set = &mut self.priorities[index];
        if set.locality_weights != weights {
            set.locality_weights = weights;
            set.updated = true;
            self.visible = true;
        }
    }

    /// Adds or changes one host and returns its slot. The caller puts it into its set.
    fn place(
        &mut self,
        endpoint: &Endpoint,
        place: &Arc<Place>,
        priority: u32,
        config: &ClusterConfig,
        table: &Table,
    ) -> u32 {
        let known = self.slot(endpoint.address.as_str());
        let known = known.and_then(|slot| Some((slot, self.directory.get(slot)?.clone())));
        let flags = match known {
            Some((slot, entry)) if is_same_host(&entry, place, config) => {
                self.change(&entry, endpoint, place, priority, config);
                return slot;
            }
            Some((_, entry)) if has_same_checks(&entry.place, place) => {
                initial_flags(place, config, Some(entry.flags))
            }
            _ => initial_flags(place, config, None),
        };
        let (slot, generation) = self.slots.allocate(table);
        let mut entry = Entry {
            info: Arc::new(HostInfo::new(endpoint.address.clone(), slot, generation)),
            place: Arc::clone(place),
            generation,
            weight: endpoint.load_balancing_weight,
            priority,
            flags,
            eds: endpoint.health_status,
            up_since_ns: None,
        };
        entry.flags.set_eds(endpoint.health_status);
        self.directory.insert(entry);
        self.by_address.insert(endpoint.address.as_str(), slot, &self.directory);
        slot
    }

    /// Brings a host that stays up to date.
    fn change(
        &mut self,
        old: &Entry,
        endpoint: &Endpoint,
        place: &Arc<Place>,
        priority: u32,
        config: &ClusterConfig,
    ) {
        let mut flags = old.flags;
        if old.place.disable_active_health_check != place.disable_active_health_check {
            flags.remove(HealthFlags::ACTIVE_HC);
            flags.insert(initial_flags(place, config, None));
        }
        flags.remove(HealthFlags::PENDING_DYNAMIC_REMOVAL);
        flags.set_eds(endpoint.health_status);
        let new = Entry {
            info: Arc::clone(&old.info),
            place: if old.place == *place { Arc::clone(&old.place) } else { Arc::clone(place) },
            generation: old.generation,
            weight: endpoint.load_balancing_weight,
            priority,
            flags,
            eds: endpoint.health_status,
            up_since_ns: old.up_since_ns,
        };
        // What Envoy counts as an update of the host set; a status of the control plane that
        // leaves the coarse health alone is none.
        let same_set = (old.weight, old.priority, old.flags.coarse(), &old.place.locality)
            == (new.weight, new.priority, new.flags.coarse(), &new.place.locality);
        let same_health = (old.flags, old.eds) == (new.flags, new.eds);
        if same_set && same_health && Arc::ptr_eq(&old.place, &new.place) {
            return;
        }
        self.visible = true;
        self.directory.insert(new);
        if same_set && same_health {
            return;
        }
        let node = self.node.as_ref();
        self.priorities[priority as usize].touch(&place.locality, node, !same_set);
        if (old.priority, &old.place.locality) != (priority, &place.locality) {
            self.priorities[old.priority as usize].touch(&old.place.locality, node, !same_set);
        }
    }

    /// Adds or changes one host.
    pub(super) fn upsert(&mut self, host: &HostChange, config: &ClusterConfig, table: &Table) {
        let priority = host.priority as usize;
        while self.priorities.len() <= priority {
            self.priorities.push(PrioritySet::default());
        }
        let locality = Arc::new(host.locality.clone());
        let place = place_of(&host.endpoint, &locality, &mut None);
        let before = self.slot(host.endpoint.address.as_str());
        let before = before.and_then(|slot| {
            let entry = self.directory.get(slot)?;
            Some((slot, entry.priority as usize, Arc::clone(&entry.place.locality)))
        });
        let slot = self.place(&host.endpoint, &place, host.priority, config, table);
        let node = self.node.as_ref();
        if let Some((old, old_priority, old_locality)) = before {
            if (old, old_priority, &*old_locality) == (slot, priority, &*locality) {
                return;
            }
            self.priorities[old_priority].remove(old, &old_locality, node);
            let moved = (old, old_priority) != (slot, priority);
            self.priorities[old_priority].membership_changed |= moved;
            self.priorities[priority].membership_changed |= moved;
            if old != slot {
                self.depart(old);
            }
        } else {
            self.priorities[priority].membership_changed = true;
        }
        self.priorities[priority].insert(slot, &locality, self.node.as_ref());
        self.visible = true;
    }

    /// Takes one host out.
    pub(super) fn remove(&mut self, address: &str) {
        let Some(slot) = self.slot(address) else { return };
        let Some(entry) = self.directory.get(slot) else { return };
        let (priority, locality) = (entry.priority as usize, Arc::clone(&entry.place.locality));
        let set = &mut self.priorities[priority];
        set.remove(slot, &locality, self.node.as_ref());
        set.membership_changed = true;
        self.depart(slot);
    }

    /// Takes reports about one host's health in, as one change.
    pub(super) fn health(&mut self, address: &str, events: &[HealthEvent]) {
        let Some(slot) = self.slot(address) else { return };
        let Some(entry) = self.directory.get(slot) else { return };
        let mut flags = entry.flags;
        let mut up_since_ns = entry.up_since_ns;
        for event in events {
            if event.is_pass() && flags.intersects(HealthFlags::FAILED_ACTIVE_HC) {
                up_since_ns = Some(self.now_ns);
            }
            flags.apply(*event);
        }
        let before = entry.flags;
        if flags == before {
            return;
        }
        self.visible = true;
        self.health_changes += 1;
        // Envoy takes every priority anew when a health check or an ejection changes something,
        // whether or not it changes who is eligible.
        self.priorities.iter_mut().for_each(|set| set.updated = true);
        let failed = flags.intersects(HealthFlags::FAILED_ACTIVE_HC);
        if failed && flags.intersects(HealthFlags::PENDING_DYNAMIC_REMOVAL) {
            self.remove(address);
            return;
        }
        let (priority, locality) = (entry.priority as usize, Arc::clone(&entry.place.locality));
        if let Some(entry) = self.directory.get_mut(slot) {
            entry.flags = flags;
            entry.up_since_ns = up_since_ns;
        }
        if (before.coarse(), before.excluded()) != (flags.coarse(), flags.excluded()) {
            self.priorities[priority].touch(&locality, self.node.as_ref(), true);
        }
    }

    /// Forgets what active health checks said, for a cluster that has none any more.
    pub(super) fn forget_health_checks(&mut self) {
        let slots: Vec<u32> = self.by_address.slots().collect();
        for slot in slots {
            let checked = |entry: &Entry| entry.flags.intersects(HealthFlags::ACTIVE_HC);
            if self.directory.get(slot).is_some_and(checked)
                && let Some(entry) = self.directory.get_mut(slot)
            {
                entry.flags.remove(HealthFlags::ACTIVE_HC);
            }
        }
    }

    /// Lets a host go that is in no set any more.
    fn depart(&mut self, slot: u32) {
        let Some(entry) = self.directory.remove(slot) else { return };
        self.by_address.remove(entry.info.address.as_str(), slot);
        self.visible = true;
        self.slots.depart(entry.info);
    }
}

/// The endpoint's place; endpoints of a group that differ in nothing share one.
fn place_of(
    endpoint: &Endpoint,
    locality: &Arc<Locality>,
    shared: &mut Option<Arc<Place>>,
) -> Arc<Place> {
    let place = Place {
        locality: Arc::clone(locality),
        hostname: endpoint.hostname.clone(),
        hash_key: endpoint.hash_key.clone(),
        disable_active_health_check: endpoint.disable_active_health_check,
        health_check_address: endpoint.health_check_address.clone(),
    };
    match shared {
        Some(shared) if **shared == place => Arc::clone(shared),
        _ => Arc::clone(shared.insert(Arc::new(place))),
    }
}

/// Whether a known address is still the same host.
fn is_same_host(entry: &Entry, place: &Place, config: &ClusterConfig) -> bool {
    let old = &entry.place;
    config.behavior == Behavior::Native
        || old.locality == place.locality
            && old.disable_active_health_check == place.disable_active_health_check
            && (!config.active_health_checks
                || old.health_check_address == place.health_check_address)
}

/// Whether two objects of one address are checked in the same way.
fn has_same_checks(old: &Place, new: &Place) -> bool {
    old.health_check_address == new.health_check_address
        && old.disable_active_health_check == new.disable_active_health_check
}

/// The flags of a new host: failed until its first check, if it is checked, or what the host
/// object before it knew.
fn initial_flags(
    place: &Place,
    config: &ClusterConfig,
    replaced: Option<HealthFlags>,
) -> HealthFlags {
    let mut flags = HealthFlags::NONE;
    if config.active_health_checks && !place.disable_active_health_check {
        if let Some(replaced) = replaced {
            return replaced.inherited();
        }
        flags.insert(HealthFlags::FAILED_ACTIVE_HC);
        if config.ignore_new_hosts_until_first_hc {
            flags.insert(HealthFlags::PENDING_ACTIVE_HC);
        }
    }
    flags
}
