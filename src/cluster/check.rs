//! Everything that can be wrong with an update, found before anything is changed.

use std::collections::HashSet;

use super::model::Model;
use super::update::{HostChange, Update};
use crate::config::{Assignment, ConfigError, Problem, check_priority};
use crate::error::Error;
use crate::host::{Address, MAX_HOSTS};

/// Checks an update against the hosts that are there.
pub(super) fn check(update: &Update, model: &Model) -> Result<(), Error> {
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
    check_presence(update, model)
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

/// The address of every endpoint in the order of the message.
fn endpoints(assignment: &Assignment) -> impl Iterator<Item = &Address> {
    assignment.endpoints.iter().flat_map(|group| group.endpoints.iter()).map(|host| &host.address)
}
