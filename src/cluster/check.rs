//! Everything that can be wrong with an update, found before anything is changed.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::model::Model;
use super::set::PrioritySet;
use super::update::{HostChange, Update};
use crate::config::{Assignment, ClusterConfig, ConfigError, Problem, check_priority};
use crate::error::Error;
use crate::host::{Address, HealthFlags, MAX_HOSTS};

/// Checks an update against the hosts that are there. `config` are the settings that hold with it.
pub(super) fn check(update: &Update, model: &Model, config: &ClusterConfig) -> Result<(), Error> {
    if let Some(config) = &update.config {
        config.validate()?;
    }
    if let Some(assignment) = &update.assignment {
        assignment.validate()?;
    }
    for (index, host) in update.upserts.iter().enumerate() {
        check_host(host).map_err(|error| error.within(&format!("hosts[{index}]")))?;
    }
    check_size(update, model)?;
    check_presence(update, model)?;
    let changes_weights =
        update.config.is_some() || update.assignment.is_some() || !update.upserts.is_empty();
    if changes_weights && config.policy.consistent_hashing().is_some() {
        check_weights(update, model)?;
    }
    Ok(())
}

fn check_host(host: &HostChange) -> Result<(), ConfigError> {
    check_priority(host.priority)?;
    host.endpoint.validate()
}

/// Nobody can hold more hosts than there are slots.
fn check_size(update: &Update, model: &Model) -> Result<(), Error> {
    let assigned = update.assignment.as_ref().map_or(model.len(), |new| endpoints(new).count());
    if assigned + update.upserts.len() <= MAX_HOSTS {
        return Ok(());
    }
    let problem = Problem::AboveMaximum { rule: "hosts", maximum: MAX_HOSTS as u64 };
    Err(ConfigError::new("endpoints", problem).into())
}

/// Removals and health events name hosts that will be there when they are applied.
fn check_presence(update: &Update, model: &Model) -> Result<(), Error> {
    if update.removals.is_empty() && update.health.is_empty() {
        return Ok(());
    }
    let assigned: Option<HashSet<&Address>> =
        update.assignment.as_ref().map(|assignment| endpoints(assignment).collect());
    let is_there = |address: &Address| match &assigned {
        Some(assigned) => assigned.contains(address),
        None => model.slot(address.as_str()).is_some(),
    };
    let mut removed = HashSet::new();
    for address in &update.removals {
        if !is_there(address) || !removed.insert(address) {
            return Err(Error::UnknownHost { address: address.clone() });
        }
    }
    let added: HashSet<&Address> =
        update.upserts.iter().map(|host| &host.endpoint.address).collect();
    for (address, _) in &update.health {
        let stays = is_there(address) && !removed.contains(address);
        if !stays && !added.contains(address) {
            return Err(Error::UnknownHost { address: address.clone() });
        }
    }
    Ok(())
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#TypedHashLbConfigBase::validateEndpoints
/// Checks that the weights of each priority have sums that fit, once the update is applied.
fn check_weights(update: &Update, model: &Model) -> Result<(), ConfigError> {
    for Sums { hosts, localities } in sums(update, model).into_values() {
        for (sum, of) in [
            (hosts, "upstream hosts in a locality"),
            (localities, "localities at the same priority"),
        ] {
            if sum > u64::from(u32::MAX) {
                let message = format!("The sum of weights of all {of} exceeds {}", u32::MAX);
                return Err(ConfigError::new("endpoints", Problem::Invalid { message }));
            }
        }
    }
    Ok(())
}

/// What the weights of a priority come to.
#[derive(Default)]
struct Sums {
    hosts: u64,
    localities: u64,
}

/// The sums of each priority once the update is applied.
fn sums(update: &Update, model: &Model) -> BTreeMap<u32, Sums> {
    // What becomes of single hosts, the last word on each; `None` is its end.
    let mut single: HashMap<&Address, Option<(u32, u32)>> = HashMap::new();
    single.extend(update.removals.iter().map(|address| (address, None)));
    single.extend(update.upserts.iter().map(|HostChange { endpoint, priority, .. }| {
        (&endpoint.address, Some((*priority, endpoint.load_balancing_weight)))
    }));
    let mut sums = match &update.assignment {
        Some(assignment) => assigned(assignment, |address| !single.contains_key(address)),
        None => present(model, |address| !single.contains_key(address)),
    };
    for &(priority, weight) in single.values().flatten() {
        sums.entry(priority).or_default().hosts += u64::from(weight);
    }
    sums
}

/// The sums of an assignment, of whose hosts the first of each address counts.
fn assigned<'a>(
    assignment: &'a Assignment,
    counts: impl Fn(&Address) -> bool,
) -> BTreeMap<u32, Sums> {
    let mut sums: BTreeMap<u32, Sums> = BTreeMap::new();
    let mut seen: HashSet<&'a Address> = HashSet::new();
    let mut localities = HashMap::new();
    for group in &assignment.endpoints {
        let hosts = group.endpoints.iter().filter(|host| seen.insert(&host.address));
        let hosts = hosts.filter(|host| counts(&host.address));
        sums.entry(group.priority).or_default().hosts +=
            hosts.map(|host| u64::from(host.load_balancing_weight)).sum::<u64>();
        if let Some(weight) = group.load_balancing_weight {
            localities.insert((group.priority, &group.locality), weight);
        }
    }
    for ((priority, _), weight) in localities {
        sums.entry(priority).or_default().localities += u64::from(weight);
    }
    sums
}

/// The sums of the hosts that are there. Those that the assignment does not name any more, and
/// that stay until their health checks fail, do not count, as in Envoy.
fn present(model: &Model, counts: impl Fn(&Address) -> bool) -> BTreeMap<u32, Sums> {
    let sums_of = |set: &PrioritySet| {
        let entries = set.order.iter().filter_map(|&slot| model.directory.get(slot));
        let entries = entries
            .filter(|entry| !entry.flags.intersects(HealthFlags::PENDING_DYNAMIC_REMOVAL))
            .filter(|entry| counts(&entry.info.address));
        let hosts = entries.map(|entry| u64::from(entry.weight)).sum();
        let localities = set.locality_weights.values().map(|&weight| u64::from(weight)).sum();
        Sums { hosts, localities }
    };
    (0..).zip(model.priorities.iter().map(sums_of)).collect()
}

/// The address of every endpoint in the order of the message.
fn endpoints(assignment: &Assignment) -> impl Iterator<Item = &Address> {
    assignment.endpoints.iter().flat_map(|group| group.endpoints.iter()).map(|host| &host.address)
}
