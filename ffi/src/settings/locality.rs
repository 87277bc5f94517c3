//! The settings of how traffic divides among localities.

use std::mem::offset_of;
use std::ptr;
use std::time::Duration;

use plimsoll::config::{LoadAware, LocalityBasis, ZoneAware};

use super::weighted::{OobReporting, metric_names, oob_reporting};
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::number::{boolean, optional};
use crate::text::Str;

/// `plimsoll_zone_aware.locality_basis`: the numbers of healthy hosts. The default.
pub const PLIMSOLL_BASIS_HEALTHY_HOSTS_NUM: u32 = 0;
/// `plimsoll_zone_aware.locality_basis`: the sums of their weights.
pub const PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT: u32 = 1;

const SECOND: u64 = 1_000_000_000;

/// The settings of `PLIMSOLL_ROUTING_ZONE_AWARE`, which does nothing without
/// `plimsoll_cluster_options.local_cluster`. Growable: start from `PLIMSOLL_ZONE_AWARE_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ZoneAwareSettings {
    /// `sizeof(plimsoll_zone_aware)`.
    pub size: usize,
    /// The percentage of picks that it applies to, 0 to 100. Default 100.
    pub routing_enabled: f64,
    /// With fewer healthy hosts it does not apply. Default 6.
    pub min_cluster_size: u64,
    /// 1: `force_local_zone` is to be used. 0: proportions decide.
    pub has_force_local_zone: u32,
    /// Stay in the local zone whatever the proportions, as long as so many of its hosts are healthy.
    /// 0 unless `has_force_local_zone` is 1.
    pub force_local_zone: u32,
    /// What is compared between this node's own cluster and the hosts: one of `PLIMSOLL_BASIS_...`.
    pub locality_basis: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
}

/// The settings of `PLIMSOLL_ROUTING_LOAD_AWARE`. Growable: start from
/// `PLIMSOLL_LOAD_AWARE_LOCALITY_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LoadAwareSettings {
    /// `sizeof(plimsoll_load_aware_locality)`.
    pub size: usize,
    /// How often weights are made of the reports, at least 100 ms. Default 1 s.
    pub weight_update_period_ns: u64,
    /// The time constant of smoothing, at least 1 ms. Default 5 s.
    pub smoothing_time_constant_ns: u64,
    /// A report older than this does not count. Default 180 s; 0 for never too old.
    pub weight_expiration_period_ns: u64,
    /// How often streams are to report. Default 10 s; 0 counts as that.
    pub oob_reporting_period_ns: u64,
    /// By how much the local locality may be busier than the others and still get everything, 0 to 1.
    /// Default 0.1.
    pub utilization_variance_threshold: f64,
    /// The part of the traffic that other localities get at least, 0 to less than 1. Default 0.03.
    pub remote_probe_fraction: f64,
    /// 1: ask for reports on streams, besides those with responses, see
    /// `plimsoll_cluster_poll_streams`.
    pub enable_oob_load_report: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
    /// Where streams go; NULL: to the hosts' own ports.
    pub oob_reporting_config: *const OobReporting,
    /// Which metrics are the utilization, before that of the application and the CPU:
    /// `named_metrics.KEY`, say. May be NULL if there are none.
    pub metric_names_for_computing_utilization: *const Str,
    /// How many.
    pub metric_name_count: usize,
}

impl Default for ZoneAwareSettings {
    /// What `PLIMSOLL_ZONE_AWARE_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            routing_enabled: 100.0,
            min_cluster_size: 6,
            has_force_local_zone: 0,
            force_local_zone: 0,
            locality_basis: PLIMSOLL_BASIS_HEALTHY_HOSTS_NUM,
            reserved: 0,
        }
    }
}

impl Default for LoadAwareSettings {
    /// What `PLIMSOLL_LOAD_AWARE_LOCALITY_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            weight_update_period_ns: SECOND,
            smoothing_time_constant_ns: 5 * SECOND,
            weight_expiration_period_ns: 180 * SECOND,
            oob_reporting_period_ns: 10 * SECOND,
            utilization_variance_threshold: 0.1,
            remote_probe_fraction: 0.03,
            enable_oob_load_report: 0,
            reserved: 0,
            oob_reporting_config: ptr::null(),
            metric_names_for_computing_utilization: ptr::null(),
            metric_name_count: 0,
        }
    }
}

// SAFETY: numbers only; `layout` leaves no room for padding.
unsafe impl Growable for ZoneAwareSettings {
    fn unset() -> Self {
        Self::default()
    }
}

// SAFETY: numbers and raw pointers only; as above.
unsafe impl Growable for LoadAwareSettings {
    fn unset() -> Self {
        Self::default()
    }
}

/// # Safety
///
/// `from` is null or as [`growable::read`] wants it.
///
/// # Errors
///
/// The first member that is refused; ranges are for the engine to check.
pub(super) unsafe fn zone_aware(from: *const ZoneAwareSettings) -> Result<ZoneAware, Failure> {
    let name = "settings.zone_aware";
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(from, name) }?.unwrap_or_default();
    growable::unused(given.reserved, offset_of!(ZoneAwareSettings, reserved), name)?;
    Ok(ZoneAware {
        routing_enabled: given.routing_enabled,
        min_cluster_size: given.min_cluster_size,
        force_local_zone: optional(
            name,
            ("has_force_local_zone", given.has_force_local_zone),
            ("force_local_zone", given.force_local_zone),
        )?,
        locality_basis: match given.locality_basis {
            PLIMSOLL_BASIS_HEALTHY_HOSTS_NUM => LocalityBasis::HealthyHostsNum,
            PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT => LocalityBasis::HealthyHostsWeight,
            other => {
                return Err(Failure::unknown_number(
                    &format!("{name}.locality_basis"),
                    other,
                    "one of PLIMSOLL_BASIS_...",
                ));
            }
        },
    })
}

/// # Safety
///
/// `from` is null or as [`growable::read`] wants it; so is what it points to, with its texts.
///
/// # Errors
///
/// As for [`zone_aware`].
pub(super) unsafe fn load_aware(from: *const LoadAwareSettings) -> Result<LoadAware, Failure> {
    let name = "settings.load_aware_locality";
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(from, name) }?.unwrap_or_default();
    growable::unused(given.reserved, offset_of!(LoadAwareSettings, reserved), name)?;
    Ok(LoadAware {
        weight_update_period: Duration::from_nanos(given.weight_update_period_ns),
        metric_names_for_computing_utilization: {
            let names = given.metric_names_for_computing_utilization;
            // SAFETY: passed on from the caller.
            unsafe { metric_names(names, given.metric_name_count, name) }?
        },
        utilization_variance_threshold: given.utilization_variance_threshold,
        smoothing_time_constant: Duration::from_nanos(given.smoothing_time_constant_ns),
        remote_probe_fraction: given.remote_probe_fraction,
        weight_expiration_period: Duration::from_nanos(given.weight_expiration_period_ns),
        enable_oob_load_report: boolean(
            given.enable_oob_load_report,
            format_args!("{name}.enable_oob_load_report"),
        )?,
        oob_reporting_period: Duration::from_nanos(given.oob_reporting_period_ns),
        // SAFETY: passed on from the caller.
        oob_reporting_config: unsafe { oob_reporting(given.oob_reporting_config, name) }?,
    })
}
