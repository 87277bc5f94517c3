//! The metrics of one configuration: their names, and Envoy's numbers of them.
//!
//! All but one have a label for the cluster, as names carry none. Labelled metrics may be touched on
//! Envoy's own threads only: [`Figures::publish`](crate::figures::Figures::publish) is called there.

use std::fmt;

use crate::counts::Counts;
use crate::guard::take_panics;
use crate::host::{Metric, MetricHost};

/// The label that Envoy's own metrics of clusters have in Prometheus.
const CLUSTER: &str = "envoy_cluster_name";

/// Counters of the engine by its names; ours are without the prefix `plimsoll.`.
pub(crate) const COUNTERS: [&str; 22] = [
    "lb_healthy_panic",
    "lb_zone_routing_all_directly",
    "lb_zone_routing_cross_zone",
    "lb_zone_routing_sampled",
    "load_aware_locality.all_overloaded_total",
    "load_aware_locality.local_preferred_total",
    "load_aware_locality.probe_active_total",
    "load_aware_locality.recompute_total",
    "load_aware_locality.spill_active_total",
    "load_aware_locality.stale_locality_total",
    "plimsoll.bounded_load_redirects",
    "plimsoll.load_aware_mode_changes",
    "plimsoll.load_reports_accepted",
    "plimsoll.load_reports_ignored",
    "plimsoll.load_reports_not_finite",
    "plimsoll.load_reports_unreadable",
    "plimsoll.load_reports_without_qps",
    "plimsoll.load_reports_without_utilization",
    "plimsoll.snapshots_published",
    "plimsoll.tables_built",
    "plimsoll.tables_built_as_envoy",
    "plimsoll.weight_changes",
];

/// Gauges of the engine, by its names.
pub(crate) const GAUGES: [&str; 5] = [
    "plimsoll.duplicate_hosts",
    "plimsoll.snapshots_live",
    "plimsoll.weights_in_blackout",
    "plimsoll.weights_unknown",
    "plimsoll.weights_usable",
];

/// Gauges of each locality.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfLocality {
    /// Its part of what its priority gets.
    pub(crate) weight: Metric,
    pub(crate) utilization: Metric,
    /// How old the newest report of its hosts is.
    pub(crate) sample_age: Metric,
}

/// See the module.
pub(crate) struct Metrics {
    pub(crate) host: Box<dyn MetricHost>,
    /// In the order of [`COUNTERS`], then of [`Counts::ALL`].
    pub(crate) counters: Vec<Metric>,
    /// In the order of [`GAUGES`].
    pub(crate) gauges: Vec<Metric>,
    pub(crate) of_locality: OfLocality,
    panics: Metric,
}

impl Metrics {
    /// Defines all of them; `None` if Envoy refuses one.
    pub(crate) fn define(host: Box<dyn MetricHost>) -> Option<Self> {
        let own = Counts::ALL.iter().map(|(name, _)| *name);
        let counters = COUNTERS.into_iter().map(short).chain(own);
        let counters = counters.map(|name| host.define_counter(name, &[CLUSTER])).collect();
        let gauges = GAUGES.into_iter().map(|name| host.define_gauge(short(name), &[CLUSTER]));
        let gauges = gauges.collect();
        let of_locality = |name| host.define_gauge(name, &[CLUSTER, "priority", "locality"]);
        let of_locality = OfLocality {
            weight: of_locality("locality_weight_ppm")?,
            utilization: of_locality("locality_utilization_ppm")?,
            sample_age: of_locality("locality_sample_age_ms")?,
        };
        let panics = host.define_counter("module_panics", &[])?;
        let (counters, gauges): (Option<_>, Option<_>) = (counters, gauges);
        Some(Self { counters: counters?, gauges: gauges?, of_locality, panics, host })
    }

    /// Adds the panics that were caught since the last call, of whatever configuration.
    pub(crate) fn add_panics(&self) {
        let panics = take_panics();
        if panics > 0 {
            self.host.add(self.panics, &[], panics);
        }
    }
}

fn short(name: &str) -> &str {
    name.strip_prefix("plimsoll.").unwrap_or(name)
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("of_locality", &self.of_locality).finish_non_exhaustive()
    }
}
