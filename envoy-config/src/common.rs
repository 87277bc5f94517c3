//! The `CommonLbConfig` message: the settings of balancing that do not belong to one policy.

use plimsoll::config::ConfigError;

use crate::assignment::HEALTH_STATUS;
use crate::fields::IGNORED_COMMON_LB_FIELDS;
use crate::locality::{ZoneAware, zone_aware_lb_config};
use crate::message::{Message, Result};
use crate::scalars;

/// What a cluster says about balancing whatever its policy is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CommonLbConfig {
    /// As it stands; the engine checks its range.
    pub(crate) healthy_panic_threshold: Option<f64>,
    /// The older place of zone-aware routing.
    pub(crate) zone_aware: Option<ZoneAware>,
    /// Whether localities are weighted, in the older place.
    pub(crate) locality_weighted: bool,
    /// Whether there are settings for consistent hashing, in the older place.
    pub(crate) consistent_hashing: bool,
    /// New hosts stay out of all percentages until their first check.
    pub(crate) ignore_new_hosts_until_first_hc: bool,
}

pub(crate) fn read(common: &mut Message<'_>) -> Result<CommonLbConfig> {
    common.ignore(IGNORED_COMMON_LB_FIELDS)?;
    common.duration("update_merge_window")?;
    common.message("override_host_status", |status| {
        status.each("statuses", |value| {
            scalars::choice(&HEALTH_STATUS, value).map_err(|problem| ConfigError::new("", problem))
        })
    })?;
    common.only_one_of(&["zone_aware_lb_config", "locality_weighted_lb_config"])?;
    let locality_weighted = common.message("locality_weighted_lb_config", |_| Ok(()))?;
    let consistent_hashing = common.message("consistent_hashing_lb_config", consistent_hashing)?;
    Ok(CommonLbConfig {
        healthy_panic_threshold: common.percent("healthy_panic_threshold")?,
        zone_aware: common.message("zone_aware_lb_config", zone_aware_lb_config)?,
        locality_weighted: locality_weighted.is_some(),
        consistent_hashing: consistent_hashing.is_some(),
        ignore_new_hosts_until_first_hc: common.boolean("ignore_new_hosts_until_first_hc")?,
    })
}

fn consistent_hashing(config: &mut Message<'_>) -> Result<()> {
    config.boolean("use_hostname_for_hashing")?;
    let rule = "ConsistentHashingLbConfigValidationError.HashBalanceFactor";
    config.uint32_in("hash_balance_factor", 100..=u32::MAX, rule).map(drop)
}
