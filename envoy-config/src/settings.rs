//! What a policy is told. Envoy has two places for it: the policy's own message in
//! `load_balancing_policy`, and the older `round_robin_lb_config` and `least_request_lb_config` of
//! `Cluster`, which have fewer fields.
//!
//! Both end with the engine's own check, inside of the message, so that an error has the whole
//! path of the field.
//!
//! envoy-differs: ranges are checked in both places. Envoy checks them in the older one only,
//! `default_value` in neither, and has no upper bound for `choice_count`.

use plimsoll::config::{
    ClientSideWeightedRoundRobin, LeastRequest, MAX_CHOICE_COUNT, Policy, RoundRobin,
    RuntimeDouble, SelectionMethod, SlowStart,
};

use crate::message::{Message, Result};
use crate::reporting;
use crate::scalars::Choices;

/// A policy that the engine has, before its settings are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known {
    RoundRobin,
    LeastRequest,
    ClientSideWeightedRoundRobin,
    Random,
}

impl Known {
    /// The policy without any setting.
    pub(crate) fn plain(self) -> Policy {
        match self {
            Self::RoundRobin => Policy::ROUND_ROBIN,
            Self::LeastRequest => Policy::LEAST_REQUEST,
            Self::ClientSideWeightedRoundRobin => {
                Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin::default())
            }
            Self::Random => Policy::Random,
        }
    }

    /// Whether the policy's own message says anything about localities.
    pub(crate) fn has_locality_config(self) -> bool {
        !matches!(self, Self::ClientSideWeightedRoundRobin)
    }
}

/// The fields of `Cluster` with the older settings.
pub(crate) const OLDER: [&str; 2] = [ROUND_ROBIN, LEAST_REQUEST];

const ROUND_ROBIN: &str = "round_robin_lb_config";
const LEAST_REQUEST: &str = "least_request_lb_config";

const SELECTION_METHOD: Choices<SelectionMethod> = Choices {
    expected: "N_CHOICES or FULL_SCAN",
    values: &[
        ("N_CHOICES", 0, SelectionMethod::NChoices),
        ("FULL_SCAN", 1, SelectionMethod::FullScan),
    ],
};

/// Reads a policy's own message, all but what it says about localities.
pub(crate) fn own(known: Known, config: &mut Message<'_>) -> Result<Policy> {
    match known {
        Known::RoundRobin => round_robin(config),
        Known::LeastRequest => own_least_request(config),
        Known::ClientSideWeightedRoundRobin => weighted_round_robin(config),
        Known::Random => Ok(Policy::Random),
    }
}

/// Reads a policy's older settings, if the cluster has any.
pub(crate) fn older(known: Known, cluster: &mut Message<'_>) -> Result<Policy> {
    let policy = match known {
        Known::RoundRobin => cluster.message(ROUND_ROBIN, round_robin)?,
        Known::LeastRequest => cluster.message(LEAST_REQUEST, older_least_request)?,
        Known::ClientSideWeightedRoundRobin | Known::Random => None,
    };
    Ok(policy.unwrap_or(known.plain()))
}

/// The two places have the same fields.
fn round_robin(config: &mut Message<'_>) -> Result<Policy> {
    let slow_start = config.message("slow_start_config", slow_start_config)?;
    checked(Policy::RoundRobin(RoundRobin { slow_start }))
}

//= envoy v1.40 api/envoy/extensions/load_balancing_policies/least_request/v3/least_request.proto#enable_full_scan
/// `enable_full_scan` has no effect any more; `selection_method` took its place.
fn own_least_request(config: &mut Message<'_>) -> Result<Policy> {
    config.boolean("enable_full_scan")?;
    let selection_method = config.choice("selection_method", &SELECTION_METHOD)?;
    checked(Policy::LeastRequest(LeastRequest {
        selection_method: selection_method.unwrap_or_default(),
        ..least_request(config)?
    }))
}

//= envoy v1.40 api/envoy/config/cluster/v3/cluster.proto#LeastRequestLbConfig
/// The bound is checked here, as Envoy's text names the message that it is in.
fn older_least_request(config: &mut Message<'_>) -> Result<Policy> {
    let rule = "LeastRequestLbConfigValidationError.ChoiceCount";
    config.uint32_in("choice_count", 2..=MAX_CHOICE_COUNT, rule)?;
    checked(Policy::LeastRequest(least_request(config)?))
}

/// The fields that the two places have in common.
fn least_request(config: &mut Message<'_>) -> Result<LeastRequest> {
    let defaults = LeastRequest::default();
    Ok(LeastRequest {
        choice_count: config.uint32("choice_count")?.unwrap_or(defaults.choice_count),
        active_request_bias: config.message("active_request_bias", runtime_double)?,
        slow_start: config.message("slow_start_config", slow_start_config)?,
        ..defaults
    })
}

/// It has no older form.
fn weighted_round_robin(config: &mut Message<'_>) -> Result<Policy> {
    let defaults = ClientSideWeightedRoundRobin::default();
    let reporting = reporting::read(config)?;
    let mut period = |name: &str, default| Ok(config.duration(name)?.unwrap_or(default));
    let blackout_period = period("blackout_period", defaults.blackout_period)?;
    let weight_expiration_period =
        period("weight_expiration_period", defaults.weight_expiration_period)?;
    let weight_update_period = period("weight_update_period", defaults.weight_update_period)?;
    // The field is a float of 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "as wide as the field")]
    let penalty = config.double("error_utilization_penalty")?.map(|penalty| penalty as f32);
    checked(Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin {
        enable_oob_load_report: reporting.enable_oob_load_report,
        oob_reporting_period: reporting
            .oob_reporting_period
            .unwrap_or(defaults.oob_reporting_period),
        oob_reporting_config: reporting.oob_reporting_config,
        blackout_period,
        weight_expiration_period,
        weight_update_period,
        error_utilization_penalty: penalty,
        metric_names_for_computing_utilization: reporting.metric_names_for_computing_utilization,
        slow_start: config.message("slow_start_config", slow_start_config)?,
    }))
}

/// A window of 0 is kept, and its other fields are checked all the same.
fn slow_start_config(config: &mut Message<'_>) -> Result<SlowStart> {
    let defaults = SlowStart::new(config.duration("slow_start_window")?.unwrap_or_default());
    let min_weight_percent = config.percent("min_weight_percent")?;
    Ok(SlowStart {
        aggression: config.message("aggression", runtime_double)?,
        min_weight_percent: min_weight_percent.unwrap_or(defaults.min_weight_percent),
        ..defaults
    })
}

fn runtime_double(config: &mut Message<'_>) -> Result<RuntimeDouble> {
    Ok(RuntimeDouble {
        default_value: config.double("default_value")?.unwrap_or_default(),
        runtime_key: config.string("runtime_key")?.to_owned(),
    })
}

fn checked(policy: Policy) -> Result<Policy> {
    policy.validate()?;
    Ok(policy)
}
