//! The settings of client-side weighted round robin, and of load reports.

use std::mem::offset_of;
use std::ptr;
use std::time::Duration;

use plimsoll::config::{ClientSideWeightedRoundRobin, OutOfBandReporting, SlowStart};

use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::number::{boolean, optional};
use crate::text::{self, Str};

const SECOND: u64 = 1_000_000_000;

/// Where streams of load reports go. Growable: start from `PLIMSOLL_OOB_REPORTING_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct OobReporting {
    /// `sizeof(plimsoll_oob_reporting)`.
    pub size: usize,
    /// What to call the host in requests. Empty: its name or its address.
    pub authority: Str,
    /// The port, at most 65535; 0 for the host's own.
    pub port_value: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
}

/// The settings of `PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN`. Growable: start from
/// `PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct WeightedSettings {
    /// `sizeof(plimsoll_client_side_weighted_round_robin)`.
    pub size: usize,
    /// From a host's first report on, so long its reports do not count. Default 10 s.
    pub blackout_period_ns: u64,
    /// A report older than this does not count. Default 180 s. 0: never too old with
    /// `PLIMSOLL_BEHAVIOR_NATIVE`, always with `PLIMSOLL_BEHAVIOR_ENVOY`.
    pub weight_expiration_period_ns: u64,
    /// How often weights are taken over. Default 1 s; less than 100 ms counts as that.
    pub weight_update_period_ns: u64,
    /// How often streams are to report. Default 10 s; 0 counts as that.
    pub oob_reporting_period_ns: u64,
    /// 1: ask for reports on streams, besides those with responses, see
    /// `plimsoll_cluster_poll_streams`.
    pub enable_oob_load_report: u32,
    /// 1: `error_utilization_penalty` is to be used. 0: it is 1 with `PLIMSOLL_BEHAVIOR_NATIVE`, and 0
    /// with `PLIMSOLL_BEHAVIOR_ENVOY`.
    pub has_error_utilization_penalty: u32,
    /// How much errors add to the utilization, at least 0. 0 unless
    /// `has_error_utilization_penalty` is 1.
    pub error_utilization_penalty: f32,
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

impl Default for OobReporting {
    /// What `PLIMSOLL_OOB_REPORTING_INIT` is.
    fn default() -> Self {
        Self { size: size_of::<Self>(), authority: Str::NULL, port_value: 0, reserved: 0 }
    }
}

impl Default for WeightedSettings {
    /// What `PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            blackout_period_ns: 10 * SECOND,
            weight_expiration_period_ns: 180 * SECOND,
            weight_update_period_ns: SECOND,
            oob_reporting_period_ns: 10 * SECOND,
            enable_oob_load_report: 0,
            has_error_utilization_penalty: 0,
            error_utilization_penalty: 0.0,
            reserved: 0,
            oob_reporting_config: ptr::null(),
            metric_names_for_computing_utilization: ptr::null(),
            metric_name_count: 0,
        }
    }
}

// SAFETY: numbers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for OobReporting {}

// SAFETY: as above.
unsafe impl Growable for WeightedSettings {
    fn unset() -> Self {
        Self::default()
    }
}

/// # Safety
///
/// `from` is null or as [`growable::read`] wants it; so is what it points to, with its texts.
///
/// # Errors
///
/// The first member that is refused; ranges are for the engine to check.
pub(super) unsafe fn engine(
    from: *const WeightedSettings,
    slow_start: Option<SlowStart>,
) -> Result<ClientSideWeightedRoundRobin, Failure> {
    let name = "settings.client_side_weighted_round_robin";
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(from, name) }?.unwrap_or_default();
    growable::unused(given.reserved, offset_of!(WeightedSettings, reserved), name)?;
    Ok(ClientSideWeightedRoundRobin {
        enable_oob_load_report: boolean(
            given.enable_oob_load_report,
            format_args!("{name}.enable_oob_load_report"),
        )?,
        oob_reporting_period: Duration::from_nanos(given.oob_reporting_period_ns),
        // SAFETY: passed on from the caller.
        oob_reporting_config: unsafe { oob_reporting(given.oob_reporting_config, name) }?,
        blackout_period: Duration::from_nanos(given.blackout_period_ns),
        weight_expiration_period: Duration::from_nanos(given.weight_expiration_period_ns),
        weight_update_period: Duration::from_nanos(given.weight_update_period_ns),
        error_utilization_penalty: optional(
            name,
            ("has_error_utilization_penalty", given.has_error_utilization_penalty),
            ("error_utilization_penalty", given.error_utilization_penalty),
        )?,
        metric_names_for_computing_utilization: {
            let names = given.metric_names_for_computing_utilization;
            // SAFETY: passed on from the caller.
            unsafe { metric_names(names, given.metric_name_count, name) }?
        },
        slow_start,
    })
}

/// Where streams go, as the struct `owner` says it.
///
/// # Safety
///
/// As for [`engine`].
///
/// # Errors
///
/// As for [`engine`].
pub(super) unsafe fn oob_reporting(
    from: *const OobReporting,
    owner: &str,
) -> Result<OutOfBandReporting, Failure> {
    let name = format!("{owner}.oob_reporting_config");
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(from, &name) }?.unwrap_or_default();
    growable::unused(given.reserved, offset_of!(OobReporting, reserved), &name)?;
    // SAFETY: passed on from the caller.
    let authority = unsafe { given.authority.read(format_args!("{name}.authority")) }?;
    Ok(OutOfBandReporting { port_value: given.port_value, authority: authority.to_owned() })
}

/// The names of metrics of the struct `owner`.
///
/// # Safety
///
/// `from` is null or points to `count` texts that are readable during the call.
///
/// # Errors
///
/// NULL with a count, a count that no array can have, or a text that is none.
pub(super) unsafe fn metric_names(
    from: *const Str,
    count: usize,
    owner: &str,
) -> Result<Vec<String>, Failure> {
    let name = format!("{owner}.metric_names_for_computing_utilization");
    // SAFETY: passed on from the caller.
    unsafe { text::all(from, count, &name) }
}
