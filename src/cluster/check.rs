//! Everything that can be wrong with an update, found before anything is changed.

use std::collections::{HashMap, HashSet};

use super::model::Model;
use super::update::{HostChange, Update};
use crate::config::{
    Assignment, Behavior, ClusterConfig, ConfigError, Policy, Problem, check_priority,
};
use crate::error::Error;
use crate::host::{Address, MAX_HOSTS};

/// Checks an update against the hosts that are there. `config` is the one that will hold.
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
    check_weights(update, model, config)
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
    let assigned: Option<HashSet<&Address>> = update
        .assignment
        .as_ref()
        .map(|assignment| endpoints(assignment).map(|(_, address)| address).collect());
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

/// Envoy schedules hosts of different weight by EDF, which this version does not have; other
/// combinations of policy and behaviour take any weights.
fn check_weights(update: &Update, model: &Model, config: &ClusterConfig) -> Result<(), Error> {
    if (config.behavior, config.policy) != (Behavior::Envoy, Policy::RoundRobin) {
        return Ok(());
    }
    let mut weight_of_priority = HashMap::new();
    for (priority, weight) in hosts_after(update, model, config).into_values() {
        if *weight_of_priority.entry(priority).or_insert(weight) != weight {
            let what = format!(
                "round_robin over hosts of different weight in behavior envoy (priority {priority})"
            );
            let problem = Problem::Unsupported { what };
            return Err(ConfigError::new("load_balancing_weight", problem).into());
        }
    }
    Ok(())
}

/// The priority and weight of every host that the update leaves.
fn hosts_after<'a>(
    update: &'a Update,
    model: &'a Model,
    config: &ClusterConfig,
) -> HashMap<&'a Address, (u32, u32)> {
    let stays = |entry: &_| update.assignment.is_none() || Model::is_retained(entry, config);
    let mut hosts: HashMap<&Address, (u32, u32)> = model
        .hosts()
        .filter(|entry| stays(entry))
        .map(|entry| (&entry.info.address, (entry.priority, entry.weight)))
        .collect();
    let mut assigned = HashSet::new();
    for (place, address) in update.assignment.iter().flat_map(endpoints) {
        if assigned.insert(address) {
            hosts.insert(address, place);
        }
    }
    for address in &update.removals {
        hosts.remove(address);
    }
    for host in &update.upserts {
        let place = (host.priority, host.endpoint.load_balancing_weight);
        hosts.insert(&host.endpoint.address, place);
    }
    hosts
}

/// Priority, weight and address of every endpoint in the order of the message.
fn endpoints(assignment: &Assignment) -> impl Iterator<Item = ((u32, u32), &Address)> {
    assignment.endpoints.iter().flat_map(|group| {
        group
            .endpoints
            .iter()
            .map(|endpoint| ((group.priority, endpoint.load_balancing_weight), &endpoint.address))
    })
}
