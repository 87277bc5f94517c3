//! Shares of localities by the load that their hosts report: `load_aware_locality`.
//!
//! Arithmetic only: what was counted at a tick comes in, weights ([`envoy`]) or shares ([`native`])
//! come out. Whoever owns the records counts, once for each priority and source (healthy, degraded
//! and all hosts), and keeps an [`envoy::History`] or a [`native::Controller`] for each of them.
//! The law of the native controller, and why it does not oscillate: docs/load-aware-locality.md.

pub(crate) mod envoy;
pub(crate) mod native;
#[cfg(test)]
mod tests;

use crate::host::Locality;
use crate::sync::Arc;

/// What a tick finds in one locality. A list of them has the order of the locality groups; if there
/// is a local locality, it is the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zone<'a> {
    /// Which locality it is; histories go by it, never by the position.
    pub(crate) identity: &'a Arc<Locality>,
    /// All hosts of the priority in it, eligible or not.
    pub(crate) hosts: u32,
    /// Those that the source may pick.
    pub(crate) eligible: u32,
    /// The configured weights of the eligible ones, added up.
    pub(crate) weight: f64,
    /// Eligible hosts with a report that has not expired.
    pub(crate) reporting: u32,
    /// The utilizations that those report, added up in the order of the list.
    pub(crate) utilizations: f64,
    /// The mean age of those reports.
    pub(crate) age_ns: u64,
}

/// What a tick decided, for the counters of Envoy's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags {
    /// The local locality gets everything, without a probe.
    pub(crate) all_local: bool,
    /// No locality has anything left.
    pub(crate) all_overloaded: bool,
    /// The local locality is compared with the others and preferred.
    pub(crate) local_preferred: bool,
    /// Others get traffic only so that they report.
    pub(crate) probe_active: bool,
    /// The local locality is busier than the others and shares its traffic with them.
    pub(crate) spill_active: bool,
}

impl Zone<'_> {
    /// The mean of what was reported; `None` without a report.
    fn mean_utilization(&self) -> Option<f64> {
        let mean = self.utilizations / f64::from(self.reporting);
        (self.reporting > 0).then(|| finite(mean))
    }
}

/// A finite number of at least 0, whatever comes in.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// The weight of the newest sample when `elapsed` has passed since the one before: what is
/// `time_constant` old counts for 37 %.
fn smoothing(elapsed: f64, time_constant: f64) -> f64 {
    1.0 - (-(elapsed / time_constant)).exp()
}
