//! How traffic divides among localities, as a policy's own `locality_lb_config` or the older fields
//! of `common_lb_config` say it. Policies whose whole business it is are in
//! [`locality_policy`](crate::locality_policy).
//!
//! envoy-differs: ranges are checked in both places; Envoy checks them in the older one only, so
//! that a percentage of 101 in a policy's own configuration goes through there.

use plimsoll::config::{LocalityBasis, LocalityRouting, ZoneAware};

use crate::message::{Message, Result, required};
use crate::scalars::Choices;

/// What is said about localities. The default is what holds when nothing is said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Localities {
    pub(crate) routing: LocalityRouting,
    /// In panic, give no host instead of any host. Envoy has it among the settings of zone-aware
    /// routing, but it holds whether there are zones or not.
    pub(crate) fail_traffic_on_panic: bool,
}

const LOCALITY_BASIS: Choices<LocalityBasis> = Choices {
    expected: "HEALTHY_HOSTS_NUM or HEALTHY_HOSTS_WEIGHT",
    values: &[
        ("HEALTHY_HOSTS_NUM", 0, LocalityBasis::HealthyHostsNum),
        ("HEALTHY_HOSTS_WEIGHT", 1, LocalityBasis::HealthyHostsWeight),
    ],
};

/// The `LocalityLbConfig` of a policy, which has to say one thing or the other.
pub(crate) fn locality_lb_config(config: &mut Message<'_>) -> Result<Localities> {
    required("", one_of_both(config, own_zone_aware)?)
}

/// The same fields in `common_lb_config`, where they may both be missing.
pub(crate) fn older(common: &mut Message<'_>) -> Result<Option<Localities>> {
    one_of_both(common, older_zone_aware)
}

fn one_of_both(
    config: &mut Message<'_>,
    zone_aware: fn(&mut Message<'_>) -> Result<ZoneAware>,
) -> Result<Option<Localities>> {
    config.only_one_of(&["zone_aware_lb_config", "locality_weighted_lb_config"])?;
    let zone_aware = config.message("zone_aware_lb_config", |config| {
        let routing = LocalityRouting::ZoneAware(zone_aware(config)?);
        routing.validate()?;
        let fail_traffic_on_panic = config.boolean("fail_traffic_on_panic")?;
        Ok(Localities { routing, fail_traffic_on_panic })
    })?;
    Ok(zone_aware.or(locality_weighted_lb_config(config)?))
}

/// What is weighed by being there.
pub(crate) fn locality_weighted_lb_config(config: &mut Message<'_>) -> Result<Option<Localities>> {
    config.message("locality_weighted_lb_config", |_| {
        Ok(Localities { routing: LocalityRouting::Weighted, ..Localities::default() })
    })
}

/// The fields that both forms of `ZoneAwareLbConfig` have.
fn older_zone_aware(config: &mut Message<'_>) -> Result<ZoneAware> {
    let defaults = ZoneAware::default();
    Ok(ZoneAware {
        routing_enabled: config.percent("routing_enabled")?.unwrap_or(defaults.routing_enabled),
        min_cluster_size: config.uint64("min_cluster_size")?.unwrap_or(defaults.min_cluster_size),
        ..defaults
    })
}

fn own_zone_aware(config: &mut Message<'_>) -> Result<ZoneAware> {
    Ok(ZoneAware {
        force_local_zone: force_local_zone(config)?,
        locality_basis: config.choice("locality_basis", &LOCALITY_BASIS)?.unwrap_or_default(),
        ..older_zone_aware(config)?
    })
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#ZoneAwareLoadBalancerBase::ZoneAwareLoadBalancerBase
/// A field, and the older one that it took the place of.
fn force_local_zone(config: &mut Message<'_>) -> Result<Option<u32>> {
    let older = config.boolean("force_locality_direct_routing")?.then_some(1);
    let newer =
        config.message("force_local_zone", |force| Ok(force.uint32("min_size")?.unwrap_or(1)))?;
    Ok(newer.or(older))
}
