//! The `CommonLbConfig` message: the settings of balancing that do not belong to one policy.

use plimsoll::config::{ConfigError, ConsistentHashing, HostStatuses};

use crate::assignment::HEALTH_STATUS;
use crate::fields::IGNORED_COMMON_LB_FIELDS;
use crate::hash_policy;
use crate::locality::{self, Localities};
use crate::message::{Message, Result};
use crate::scalars;

/// What a cluster says about balancing whatever its policy is.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommonLbConfig {
    /// As it stands; the engine checks its range.
    pub(crate) healthy_panic_threshold: Option<f64>,
    /// How traffic divides among localities, in the older place.
    pub(crate) localities: Option<Localities>,
    /// Settings for consistent hashing, in the older place.
    pub(crate) consistent_hashing: Option<ConsistentHashing>,
    /// New hosts stay out of all percentages until their first check.
    pub(crate) ignore_new_hosts_until_first_hc: bool,
    /// The health that hosts must have which requests name.
    pub(crate) override_host_status: Option<HostStatuses>,
}

pub(crate) fn read(common: &mut Message<'_>) -> Result<CommonLbConfig> {
    common.ignore(IGNORED_COMMON_LB_FIELDS)?;
    common.duration("update_merge_window")?;
    let override_host_status = common.message("override_host_status", host_statuses)?;
    Ok(CommonLbConfig {
        healthy_panic_threshold: common.percent("healthy_panic_threshold")?,
        localities: locality::older(common)?,
        consistent_hashing: common
            .message("consistent_hashing_lb_config", hash_policy::consistent_hashing)?,
        ignore_new_hosts_until_first_hc: common.boolean("ignore_new_hosts_until_first_hc")?,
        override_host_status,
    })
}

//= envoy v1.40 source/common/upstream/host_utility.cc#HostUtility::createOverrideHostStatus
/// A set without any status is not the default: it lets no host through.
fn host_statuses(set: &mut Message<'_>) -> Result<HostStatuses> {
    let statuses = set.each("statuses", |value| {
        scalars::choice(&HEALTH_STATUS, value).map_err(|problem| ConfigError::new("", problem))
    })?;
    Ok(statuses.into_iter().collect())
}
