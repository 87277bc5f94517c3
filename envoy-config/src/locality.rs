//! How a policy treats localities: the settings that Envoy has in two places, in a policy's own
//! configuration and in the older fields of `Cluster`.
//!
//! envoy-differs: ranges are checked in both places; Envoy checks them in the older one only, so
//! that a percentage of 101 in a policy's own configuration goes through there.

use crate::message::{Message, Result, required, unsupported};
use crate::scalars::Choices;

const LOCALITY_BASIS: Choices<()> = Choices {
    expected: "HEALTHY_HOSTS_NUM or HEALTHY_HOSTS_WEIGHT",
    values: &[("HEALTHY_HOSTS_NUM", 0, ()), ("HEALTHY_HOSTS_WEIGHT", 1, ())],
};

/// What remains of zone-aware routing without a cluster of one's own to compare with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ZoneAware {
    /// In panic, give no host instead of any host.
    pub(crate) fail_traffic_on_panic: bool,
}

/// The `LocalityLbConfig` of a policy, which has to say one thing or the other.
pub(crate) fn locality_lb_config(config: &mut Message<'_>) -> Result<ZoneAware> {
    config.only_one_of(&["zone_aware_lb_config", "locality_weighted_lb_config"])?;
    refuse_locality_weights(config)?;
    let zone_aware = config.message("zone_aware_lb_config", |zone_aware| {
        zone_aware.boolean("force_locality_direct_routing")?;
        zone_aware.message("force_local_zone", |force| force.uint32("min_size"))?;
        zone_aware.choice("locality_basis", &LOCALITY_BASIS)?;
        zone_aware_lb_config(zone_aware)
    })?;
    required("", zone_aware)
}

/// The fields that both forms of `ZoneAwareLbConfig` have.
pub(crate) fn zone_aware_lb_config(zone_aware: &mut Message<'_>) -> Result<ZoneAware> {
    zone_aware.checked_percent("routing_enabled")?;
    zone_aware.uint64("min_cluster_size")?;
    Ok(ZoneAware { fail_traffic_on_panic: zone_aware.boolean("fail_traffic_on_panic")? })
}

/// Weights of localities would move traffic between them, so their mere presence matters.
fn refuse_locality_weights(config: &mut Message<'_>) -> Result<()> {
    let name = "locality_weighted_lb_config";
    if config.message(name, |_| Ok(()))?.is_some() {
        return Err(unsupported(name, name));
    }
    Ok(())
}
