//! Values that change at run time, by Envoy's runtime keys.

use std::collections::BTreeMap;

use crate::config::RuntimeDouble;

/// Percent of available hosts below which a priority panics; overrides the configured one.
pub(super) const HEALTHY_PANIC_THRESHOLD: &str = "upstream.healthy_panic_threshold";

/// The percentage of picks that zone-aware routing applies to; overrides the configured one.
pub(super) const ZONE_ROUTING: &str = "upstream.zone_routing.enabled";

/// With fewer healthy hosts zone-aware routing does not apply; overrides the configured number.
pub(super) const MIN_CLUSTER_SIZE: &str = "upstream.zone_routing.min_cluster_size";

/// Stay in the local zone while so many of its hosts are healthy; overrides the configured number
/// unless it is 0.
pub(super) const FORCE_LOCAL_ZONE: &str = "upstream.zone_routing.force_local_zone.min_size";

/// Whether least request also counts requests that wait for a connection; off unless set.
//= envoy v1.40 source/common/runtime/runtime_features.cc#least_request_lb_count_pending_requests
pub(super) const COUNT_PENDING_REQUESTS: &str =
    "envoy.reloadable_features.least_request_lb_count_pending_requests";

/// Whether named metrics come before the application's own utilization; on unless set.
//= envoy v1.40 source/common/runtime/runtime_features.cc#orca_weight_manager_use_named_metrics_first
pub(super) const NAMED_METRICS_FIRST: &str =
    "envoy.reloadable_features.orca_weight_manager_use_named_metrics_first";

/// Whether a batch of updates makes the policies of Envoy build their structures once; on unless set.
//= envoy v1.40 source/common/runtime/runtime_features.cc#coalesce_lb_rebuilds_on_batch_update
pub(super) const COALESCE_REBUILDS: &str =
    "envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update";

/// Whether Envoy's cluster manager takes a batch of updates as one; on unless set.
//= envoy v1.40 source/common/runtime/runtime_features.cc#enable_batch_aware_update
pub(super) const BATCH_AWARE_UPDATE: &str = "envoy.reloadable_features.enable_batch_aware_update";

/// In how many milliseconds the weights of client-side weighted round robin go most of their way to
/// what hosts report, in native; 0 for at once.
pub(super) const WEIGHT_SMOOTHING: Milliseconds =
    Milliseconds { key: "plimsoll.weight_smoothing_time_constant_ms", default: 5000 };

/// A time that a runtime value may set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Milliseconds {
    key: &'static str,
    default: u32,
}

/// One runtime value.
///
/// As in Envoy, a reader gets the form that it asks for if the value has it: whole numbers are
/// numbers too, and a number other than 0 is true.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RuntimeValue {
    /// A whole number.
    Integer(u64),
    /// Any number.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

impl RuntimeValue {
    /// The value as a whole number.
    #[must_use]
    pub fn as_integer(self) -> Option<u64> {
        match self {
            Self::Integer(value) => Some(value),
            Self::Number(_) | Self::Boolean(_) => None,
        }
    }

    /// The value as a number.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // as in Envoy
    pub fn as_number(self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(value as f64),
            Self::Number(value) => Some(value),
            Self::Boolean(_) => None,
        }
    }

    /// The value as true or false.
    #[must_use]
    pub fn as_boolean(self) -> bool {
        match self {
            Self::Integer(value) => value != 0,
            Self::Number(value) => value != 0.0,
            Self::Boolean(value) => value,
        }
    }
}

impl From<u64> for RuntimeValue {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for RuntimeValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for RuntimeValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

/// Runtime values, as Envoy's runtime layers would give them. Keys that nothing reads are kept
/// and have no effect.
///
/// ```
/// use plimsoll::Runtime;
///
/// let mut runtime = Runtime::default();
/// runtime.set("upstream.healthy_panic_threshold", Some(30.into()));
/// runtime.set("my.aggression", Some(1.5.into()));
/// assert_eq!(runtime.get("upstream.healthy_panic_threshold"), Some(30.into()));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Runtime(BTreeMap<String, RuntimeValue>);

impl Runtime {
    /// Sets a value, or removes it.
    pub fn set(&mut self, key: &str, value: Option<RuntimeValue>) {
        match value {
            Some(value) => self.0.insert(key.to_owned(), value),
            None => self.0.remove(key),
        };
    }

    /// A value, if it is set.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<RuntimeValue> {
        self.0.get(key).copied()
    }

    /// What a configured number comes to.
    pub(super) fn double(&self, configured: &RuntimeDouble) -> f64 {
        let value = self.get(&configured.runtime_key).and_then(RuntimeValue::as_number);
        value.unwrap_or(configured.default_value)
    }

    /// A time in seconds. What is no number, or negative, counts as not set.
    pub(super) fn seconds(&self, time: Milliseconds) -> f64 {
        let value = self.get(time.key).and_then(RuntimeValue::as_number);
        let value = value.filter(|value| value.is_finite() && *value >= 0.0);
        value.unwrap_or(time.default.into()) / 1000.0
    }

    /// Whether a feature is on; `default` if nothing is set.
    pub(super) fn is_on(&self, feature: &str, default: bool) -> bool {
        self.get(feature).map_or(default, RuntimeValue::as_boolean)
    }
}
