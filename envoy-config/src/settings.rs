//! What a policy is told. Envoy has two places for it: the policy's own message in
//! `load_balancing_policy`, and the older `round_robin_lb_config`, `least_request_lb_config`,
//! `ring_hash_lb_config` and `maglev_lb_config` of `Cluster`, which have fewer fields.
//!
//! Both end with the engine's own check, inside of the message, so that an error has the whole
//! path of the field.
//!
//! envoy-differs: ranges are checked in both places. Envoy checks them in the older one only,
//! `default_value` in neither, and has no upper bound for `choice_count`.

use plimsoll::config::{
    ClientSideWeightedRoundRobin, ConfigError, ConsistentHashing, HashFunction, LeastRequest,
    MAX_CHOICE_COUNT, MAX_RING_SIZE, MAX_TABLE_SIZE, Maglev, Policy, Problem, RingHash, RoundRobin,
    RuntimeDouble, SelectionMethod, SlowStart,
};

use crate::hash_policy;
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
    RingHash,
    Maglev,
}

/// What a policy's own message says about localities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocalityConfig {
    /// Anything, in `locality_lb_config`.
    Any,
    /// Only that they are weighed, in `locality_weighted_lb_config`.
    Weighted,
    Nothing,
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
            Self::RingHash => Policy::RingHash(RingHash::default()),
            Self::Maglev => Policy::Maglev(Maglev::default()),
        }
    }

    pub(crate) fn locality_config(self) -> LocalityConfig {
        match self {
            Self::RoundRobin | Self::LeastRequest | Self::Random => LocalityConfig::Any,
            Self::RingHash | Self::Maglev => LocalityConfig::Weighted,
            Self::ClientSideWeightedRoundRobin => LocalityConfig::Nothing,
        }
    }
}

/// The fields of `Cluster` with the older settings.
pub(crate) const OLDER: [&str; 4] = [ROUND_ROBIN, LEAST_REQUEST, RING_HASH, MAGLEV];

const ROUND_ROBIN: &str = "round_robin_lb_config";
const LEAST_REQUEST: &str = "least_request_lb_config";
const RING_HASH: &str = "ring_hash_lb_config";
const MAGLEV: &str = "maglev_lb_config";

const SELECTION_METHOD: Choices<SelectionMethod> = Choices {
    expected: "N_CHOICES or FULL_SCAN",
    values: &[
        ("N_CHOICES", 0, SelectionMethod::NChoices),
        ("FULL_SCAN", 1, SelectionMethod::FullScan),
    ],
};

const HASH_FUNCTION: Choices<HashFunction> = Choices {
    expected: "DEFAULT_HASH, XX_HASH or MURMUR_HASH_2",
    values: &[
        ("DEFAULT_HASH", 0, HashFunction::XxHash),
        ("XX_HASH", 1, HashFunction::XxHash),
        ("MURMUR_HASH_2", 2, HashFunction::MurmurHash2),
    ],
};

const OLDER_HASH_FUNCTION: Choices<HashFunction> = Choices {
    expected: "XX_HASH or MURMUR_HASH_2",
    values: &[
        ("XX_HASH", 0, HashFunction::XxHash),
        ("MURMUR_HASH_2", 1, HashFunction::MurmurHash2),
    ],
};

/// Reads a policy's own message, all but what it says about localities.
pub(crate) fn own(known: Known, config: &mut Message<'_>) -> Result<Policy> {
    match known {
        Known::RoundRobin => round_robin(config),
        Known::LeastRequest => own_least_request(config),
        Known::ClientSideWeightedRoundRobin => weighted_round_robin(config),
        Known::Random => Ok(Policy::Random),
        Known::RingHash => own_ring_hash(config),
        Known::Maglev => own_maglev(config),
    }
}

/// Reads a policy's older settings, if the cluster has any; those of hashing stand elsewhere.
pub(crate) fn older(
    known: Known,
    cluster: &mut Message<'_>,
    hashing: Option<&ConsistentHashing>,
) -> Result<Policy> {
    let hashing = || hashing.cloned().unwrap_or_default();
    let policy = match known {
        Known::RoundRobin => cluster.message(ROUND_ROBIN, round_robin)?,
        Known::LeastRequest => cluster.message(LEAST_REQUEST, older_least_request)?,
        Known::RingHash => {
            let settings = cluster.message(RING_HASH, older_ring_hash)?.unwrap_or_default();
            Some(Policy::RingHash(RingHash { consistent_hashing: hashing(), ..settings }))
        }
        Known::Maglev => {
            let settings = cluster.message(MAGLEV, older_maglev)?.unwrap_or_default();
            Some(Policy::Maglev(Maglev { consistent_hashing: hashing(), ..settings }))
        }
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

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.h#TypedRingHashLbConfig
fn own_ring_hash(config: &mut Message<'_>) -> Result<Policy> {
    let hash_function = config.choice("hash_function", &HASH_FUNCTION)?;
    let hashing = own_consistent_hashing(config)?;
    let deprecated = deprecated_consistent_hashing(config, hashing.is_some())?;
    let largest = u64::from(MAX_RING_SIZE);
    let rule = "RingHashValidationError.MinimumRingSize";
    let minimum = Problem::OutsideRange { rule, minimum: 1, maximum: largest };
    let rule = "RingHashValidationError.MaximumRingSize";
    let maximum = Problem::AboveMaximum { rule, maximum: largest };
    checked(Policy::RingHash(RingHash {
        hash_function: hash_function.unwrap_or_default(),
        consistent_hashing: hashing.unwrap_or(deprecated),
        ..ring_sizes(config, minimum, maximum)?
    }))
}

/// These fields count for nothing beside the message that took their place, even an empty one.
fn deprecated_consistent_hashing(
    config: &mut Message<'_>,
    is_replaced: bool,
) -> Result<ConsistentHashing> {
    let use_hostname_for_hashing = config.boolean("use_hostname_for_hashing")?;
    let rule = "RingHashValidationError.HashBalanceFactor";
    let least = if is_replaced { 0 } else { 100 };
    Ok(ConsistentHashing {
        use_hostname_for_hashing,
        hash_balance_factor: config.uint32_in("hash_balance_factor", least..=u32::MAX, rule)?,
        ..ConsistentHashing::default()
    })
}

fn own_consistent_hashing(config: &mut Message<'_>) -> Result<Option<ConsistentHashing>> {
    config.message("consistent_hashing_lb_config", |hashing| {
        let hash_policy = hash_policy::read(hashing)?;
        Ok(ConsistentHashing { hash_policy, ..hash_policy::consistent_hashing(hashing)? })
    })
}

//= envoy v1.40 api/envoy/config/cluster/v3/cluster.proto#RingHashLbConfig
/// The function has other numbers here, and texts name another message.
fn older_ring_hash(config: &mut Message<'_>) -> Result<RingHash> {
    let hash_function = config.choice("hash_function", &OLDER_HASH_FUNCTION)?;
    let at_most = |rule| Problem::AboveMaximum { rule, maximum: MAX_RING_SIZE.into() };
    let minimum = at_most("RingHashLbConfigValidationError.MinimumRingSize");
    let maximum = at_most("RingHashLbConfigValidationError.MaximumRingSize");
    let settings = RingHash {
        hash_function: hash_function.unwrap_or_default(),
        ..ring_sizes(config, minimum, maximum)?
    };
    checked(Policy::RingHash(settings.clone()))?;
    Ok(settings)
}

/// The sizes, which are 64 bits wide in Envoy, and what is said of those that are too large.
fn ring_sizes(config: &mut Message<'_>, minimum: Problem, maximum: Problem) -> Result<RingHash> {
    let defaults = RingHash::default();
    let minimum_ring_size = size(config, "minimum_ring_size", MAX_RING_SIZE, minimum)?;
    let maximum_ring_size = size(config, "maximum_ring_size", MAX_RING_SIZE, maximum)?;
    Ok(RingHash {
        minimum_ring_size: minimum_ring_size.unwrap_or(defaults.minimum_ring_size),
        maximum_ring_size,
        ..defaults
    })
}

/// Of numbers that are too large, the engine tells primes from others, as far as it can count.
fn own_maglev(config: &mut Message<'_>) -> Result<Policy> {
    let hashing = own_consistent_hashing(config)?;
    let rule = "MaglevValidationError.TableSize";
    let problem = Problem::AboveMaximum { rule, maximum: MAX_TABLE_SIZE.into() };
    let table_size = size(config, "table_size", u32::MAX, problem)?;
    checked(Policy::Maglev(Maglev {
        table_size: table_size.unwrap_or(Maglev::default().table_size),
        consistent_hashing: hashing.unwrap_or_default(),
    }))
}

fn older_maglev(config: &mut Message<'_>) -> Result<Maglev> {
    let rule = "MaglevLbConfigValidationError.TableSize";
    let problem = Problem::AboveMaximum { rule, maximum: MAX_TABLE_SIZE.into() };
    let table_size = size(config, "table_size", MAX_TABLE_SIZE, problem)?;
    let defaults = Maglev::default();
    let settings = Maglev { table_size: table_size.unwrap_or(defaults.table_size), ..defaults };
    checked(Policy::Maglev(settings.clone()))?;
    Ok(settings)
}

/// An integer of 64 bits up to `maximum`; `problem` is what is wrong with a larger one.
fn size(
    config: &mut Message<'_>,
    name: &str,
    maximum: u32,
    problem: Problem,
) -> Result<Option<u32>> {
    let Some(size) = config.uint64(name)? else { return Ok(None) };
    let size = u32::try_from(size).ok().filter(|&size| size <= maximum);
    size.map(Some).ok_or_else(|| ConfigError::new(name, problem))
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
