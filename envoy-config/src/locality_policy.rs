//! The policies that divide traffic among localities and leave the choice of a host to a policy of
//! their own, in `endpoint_picking_policy`: `wrr_locality` and `load_aware_locality`.
//!
//! envoy-differs: ranges that Envoy forgets to check are checked, such as that of a port for
//! reports.

use plimsoll::config::{ConfigError, LoadAware, LocalityRouting, Policy, Problem};

use crate::extension::{self, Extension};
use crate::locality::Localities;
use crate::message::{Message, Result, unsupported};
use crate::policy::{Chosen, Kind, first_known, host_policy, not_there};
use crate::reporting;
use crate::settings::{self, Known};

//= envoy v1.40 source/extensions/load_balancing_policies/wrr_locality/config.h#loadConfig
/// Reads a `WrrLocality`, which has only one policy to choose hosts with.
pub(crate) fn wrr_locality(config: &mut Message<'_>) -> Result<Chosen> {
    let policy = endpoint_picking_policy(config, |kind, extension| match kind {
        Kind::Hosts(known @ Known::ClientSideWeightedRoundRobin) => {
            extension.read(|config| settings::own(known, config))
        }
        _ => Err(invalid(
            "",
            "Currently WrrLocalityLoadBalancer only supports \
             ClientSideWeightedRoundRobinLoadBalancer as its endpoint picking policy.",
        )),
    })?;
    Ok(chosen(policy, LocalityRouting::Weighted))
}

//= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/config.cc#loadConfig
/// Reads a `LoadAwareLocality`. What the policy inside says of localities has no effect: it sees
/// the hosts of one locality at a time, and never panics.
pub(crate) fn load_aware_locality(config: &mut Message<'_>) -> Result<Chosen> {
    let settings = load_aware(config)?;
    let policy = endpoint_picking_policy(config, |kind, extension| match kind {
        Kind::Hosts(known) => {
            extension.read(|config| host_policy(known, config)).map(|chosen| chosen.policy)
        }
        Kind::LoadAwareLocality => {
            Err(invalid("", "load_aware_locality cannot be its own endpoint_picking_policy"))
        }
        Kind::WrrLocality => Err(unsupported("", "the policy wrr_locality in load_aware_locality")),
        Kind::OverrideHost => {
            Err(unsupported("", "the policy override_host in load_aware_locality"))
        }
        Kind::EnvoysOther(policy) => Err(not_there(policy)),
    })?;
    Ok(chosen(policy, LocalityRouting::LoadAware(settings)))
}

fn chosen(policy: Policy, routing: LocalityRouting) -> Chosen {
    let localities = Localities { routing, ..Localities::default() };
    Chosen { policy, localities, override_host: None }
}

/// All but the policy inside. Each value is checked before the next is read, and that policy comes
/// last, so that of several mistakes the error names the one that Envoy names.
fn load_aware(config: &mut Message<'_>) -> Result<LoadAware> {
    let mut settings = LoadAware::default();
    set(&mut settings.weight_update_period, config.duration("weight_update_period")?);
    settings.validate()?;
    set(&mut settings.smoothing_time_constant, config.duration("smoothing_time_constant")?);
    settings.validate()?;
    let threshold = config.double("utilization_variance_threshold")?;
    set(&mut settings.utilization_variance_threshold, threshold);
    set(&mut settings.remote_probe_fraction, config.double("remote_probe_fraction")?);
    settings.validate()?;
    set(&mut settings.weight_expiration_period, config.duration("weight_expiration_period")?);
    let reporting = reporting::read(config)?;
    set(&mut settings.oob_reporting_period, reporting.oob_reporting_period);
    settings.enable_oob_load_report = reporting.enable_oob_load_report;
    settings.oob_reporting_config = reporting.oob_reporting_config;
    settings.metric_names_for_computing_utilization =
        reporting.metric_names_for_computing_utilization;
    settings.validate()?;
    Ok(settings)
}

/// Replaces a default by what was said, if anything was.
fn set<T>(field: &mut T, said: Option<T>) {
    if let Some(said) = said {
        *field = said;
    }
}

/// The policy that chooses hosts: the first of the list that Envoy knows, read by `read`.
fn endpoint_picking_policy<T>(
    config: &mut Message<'_>,
    read: impl FnOnce(Kind<'_>, &Extension<'_>) -> Result<T>,
) -> Result<T> {
    let name = "endpoint_picking_policy";
    let policy =
        config.message(name, |list| first_known(&extension::policies(list)?, read))?.flatten();
    policy.ok_or_else(|| invalid(name, "No supported endpoint picking policy."))
}

fn invalid(field: &str, message: &str) -> ConfigError {
    ConfigError::new(field, Problem::Invalid { message: message.to_owned() })
}
