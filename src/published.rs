//! What one publish contains: everything a pick reads, and everything a dump shows.

use crate::config::{Behavior, ClusterConfig, Policy};
use crate::host::{AddressMap, Cells, Directory, Entry, Locality};
use crate::policy::{Identity, SlowStart, Tables, age_ms};
use crate::priority::{Loads, Tally, envoy, native};
use crate::reports::Reports;
use crate::routes::Routing;
use crate::sync::Arc;

/// One immutable state of a cluster.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) tables: Tables,
    pub(crate) identity: Identity,
    /// The counters of the hosts that the tables name.
    pub(crate) cells: Cells,
    pub(crate) directory: Directory,
    pub(crate) by_address: AddressMap,
    pub(crate) version: u64,
    /// What the cluster's clock showed.
    pub(crate) published_ns: u64,
    /// How hosts that have come up are warmed up.
    pub(crate) slow_start: Option<SlowStart>,
    /// Weights that follow from reports, by slot; 0 for none.
    pub(crate) reported_weights: Option<Arc<[f64]>>,
    /// Where reports go, if the policy goes by them.
    pub(crate) reports: Option<Arc<Reports>>,
    pub(crate) config: Arc<ClusterConfig>,
    pub(crate) loads: Loads,
    pub(crate) priorities: Box<[Priority]>,
}

/// The hosts of one priority.
#[derive(Debug)]
pub(crate) struct Priority {
    /// Slots in the assignment's order.
    pub(crate) order: Arc<[u32]>,
    pub(crate) tally: Tally,
    /// The local one first, then by name.
    pub(crate) localities: Box<[LocalityTally]>,
    pub(crate) routing: Routing,
}

/// The hosts of one priority and locality.
#[derive(Debug)]
pub(crate) struct LocalityTally {
    pub(crate) locality: Arc<Locality>,
    /// What the assignment gave, or 0.
    pub(crate) weight: u32,
    pub(crate) tally: Tally,
}

/// How far a host in slow start is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Warmup {
    /// What the host's weight is multiplied with now, 0 to 1. Hosts that all came up together have
    /// their shares nevertheless.
    pub factor: f64,
    /// How long until its weight is whole.
    pub seconds_left: f64,
}

impl Published {
    /// How far a host is with its slow start; `None` if it is not in it.
    #[allow(clippy::cast_precision_loss)] // milliseconds, for people
    pub(crate) fn warmup(&self, host: &Entry, now_ns: u64) -> Option<Warmup> {
        let SlowStart { ramp, .. } = self.slow_start?;
        let age_ms = age_ms(host.warming_since_ns()?, now_ns);
        let left_ms = ramp.window_ms.checked_sub(age_ms).filter(|&left_ms| left_ms > 0)?;
        Some(Warmup { factor: ramp.factor(age_ms), seconds_left: left_ms as f64 / 1000.0 })
    }

    /// The weight that the policy uses for a host now, its requests aside.
    pub(crate) fn effective_weight(&self, host: &Entry, now_ns: u64) -> f64 {
        match (self.config.behavior, &self.config.policy) {
            // Envoy's random policy ignores weights.
            (Behavior::Envoy, Policy::Random) => 1.0,
            _ => {
                let factor = self.warmup(host, now_ns).map_or(1.0, |warmup| warmup.factor);
                let reported = self.reported_weights.as_ref();
                let reported = reported.and_then(|weights| weights.get(host.info.slot as usize));
                let reported = reported.copied().filter(|&weight| weight > 0.0);
                reported.unwrap_or_else(|| host.weight.into()) * factor
            }
        }
    }
}

/// A load in percent of all traffic.
#[allow(clippy::cast_precision_loss)] // at most 2^32
pub(crate) fn percent(load: u64, behavior: Behavior) -> f64 {
    let scale = match behavior {
        Behavior::Native => native::SCALE,
        Behavior::Envoy => envoy::SCALE,
    };
    100.0 * load as f64 / scale as f64
}
