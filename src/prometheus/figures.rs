//! What the figures of statistics are called in Prometheus, and what they mean.

/// Whether a figure only rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
}

use Kind::{Counter, Gauge};

/// The figures of [`Stats`](crate::Stats) in words, by name.
const FIGURES: &[(&str, Kind, &str)] = &[
    ("lb_healthy_panic", Counter, "Attempts that landed on a priority in panic."),
    ("lb_local_cluster_not_ok", Counter, "Zone-aware decisions without a usable local cluster."),
    (
        "lb_orca_oob.active_sessions",
        Gauge,
        "Hosts that have a stream of load reports or wait for one.",
    ),
    ("lb_orca_oob.report_errors", Counter, "Load reports of streams that no policy took."),
    ("lb_orca_oob.reports_received", Counter, "Load reports that came on streams."),
    (
        "lb_orca_oob.stream_failures",
        Counter,
        "Streams of load reports that ended or were given up.",
    ),
    (
        "lb_orca_oob.stream_terminated",
        Counter,
        "Streams of load reports to servers without the method.",
    ),
    ("lb_recalculate_zone_structures", Counter, "Computations of zone-aware shares."),
    ("lb_zone_cluster_too_small", Counter, "Computations of zone-aware shares with too few hosts."),
    ("lb_zone_no_capacity_left", Counter, "Picks that any zone got, since none had anything left."),
    (
        "lb_zone_routing_all_directly",
        Counter,
        "Picks that the local zone got because it gets everything.",
    ),
    ("lb_zone_routing_cross_zone", Counter, "Picks that another zone got."),
    ("lb_zone_routing_sampled", Counter, "Picks that the local zone got by lot."),
    (
        "load_aware_locality.all_overloaded_total",
        Counter,
        "Computations in which all localities were overloaded.",
    ),
    ("load_aware_locality.local_preferred_total", Counter, "Computations that kept traffic local."),
    (
        "load_aware_locality.probe_active_total",
        Counter,
        "Computations that probed other localities.",
    ),
    ("load_aware_locality.recompute_total", Counter, "Computations of load-aware shares."),
    (
        "load_aware_locality.spill_active_total",
        Counter,
        "Computations that sent traffic to other localities.",
    ),
    (
        "load_aware_locality.stale_locality_total",
        Counter,
        "Localities without fresh reports, in all computations.",
    ),
    (
        "maglev_lb.max_entries_per_host",
        Gauge,
        "The most places of the Maglev table that a host has.",
    ),
    (
        "maglev_lb.min_entries_per_host",
        Gauge,
        "The fewest places of the Maglev table that a host has.",
    ),
    ("max_host_weight", Gauge, "The largest configured weight of a host."),
    ("membership_change", Counter, "Updates that brought or took hosts."),
    ("membership_degraded", Gauge, "Hosts that are degraded."),
    ("membership_excluded", Gauge, "Hosts that no percentage counts."),
    ("membership_healthy", Gauge, "Hosts that are healthy."),
    ("membership_total", Gauge, "Hosts."),
    (
        "plimsoll.bounded_load_redirects",
        Counter,
        "Attempts at a host that had as many requests as it may have.",
    ),
    ("plimsoll.done_stale", Counter, "Ends of requests that were not active."),
    ("plimsoll.duplicate_hosts", Counter, "Hosts that an assignment named again."),
    ("plimsoll.duplicate_keys", Gauge, "Hosts that share their hash key with another one."),
    (
        "plimsoll.hosts_departed",
        Gauge,
        "Hosts that have left and are still named by requests or snapshots.",
    ),
    ("plimsoll.hosts_without_places", Gauge, "Hosts that the hash table has no place for."),
    (
        "plimsoll.load_aware_mode_changes",
        Counter,
        "Changes between local, spilling and overloaded routing.",
    ),
    ("plimsoll.load_reports_accepted", Counter, "Load reports that were taken in."),
    (
        "plimsoll.load_reports_ignored",
        Counter,
        "Load reports that nobody wants, or whose host is gone.",
    ),
    ("plimsoll.load_reports_not_finite", Counter, "Load reports with numbers that are none."),
    ("plimsoll.load_reports_unreadable", Counter, "Load reports that cannot be read."),
    ("plimsoll.load_reports_without_qps", Counter, "Load reports without requests per second."),
    ("plimsoll.load_reports_without_utilization", Counter, "Load reports without utilization."),
    ("plimsoll.schedulers_built", Counter, "Tables and schedules that were built."),
    ("plimsoll.snapshots_live", Gauge, "Snapshots in memory."),
    ("plimsoll.snapshots_published", Counter, "Snapshots that were published."),
    ("plimsoll.tables_built", Counter, "Hash tables that were built."),
    ("plimsoll.tables_built_as_envoy", Counter, "Hash tables that Envoy would have built."),
    ("plimsoll.weight_changes", Counter, "Weights that reports have changed."),
    ("plimsoll.weight_passes", Counter, "Times that weights were taken from reports."),
    ("plimsoll.weights_by_utilization", Gauge, "Hosts that are weighed by utilization alone."),
    ("plimsoll.weights_in_blackout", Gauge, "Hosts whose reports are too new to count."),
    (
        "plimsoll.weights_not_renewed",
        Gauge,
        "Hosts whose last report is older than the period of weights.",
    ),
    ("plimsoll.weights_unknown", Gauge, "Hosts without a report that counts."),
    ("plimsoll.weights_usable", Gauge, "Hosts that are weighed by their reports."),
    ("plimsoll.workers", Gauge, "Worker handles."),
    ("ring_hash_lb.max_hashes_per_host", Gauge, "The most points on the ring that a host has."),
    ("ring_hash_lb.min_hashes_per_host", Gauge, "The fewest points on the ring that a host has."),
    ("ring_hash_lb.size", Gauge, "Points on the ring."),
    ("update_no_rebuild", Counter, "Assignments that changed nothing."),
    ("upstream_cx_none_healthy", Counter, "Picks that gave no host."),
];

/// A figure as Prometheus has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figure {
    /// `plimsoll_`, then the figure's own name with `_` for dots, and `_total` at its end if, and
    /// only if, it only rises.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) help: &'static str,
}

impl Figure {
    /// The figure that statistics call `name`.
    pub(super) fn of(name: &str) -> Option<Self> {
        let found = FIGURES.binary_search_by(|(known, ..)| (*known).cmp(name)).ok()?;
        let (_, kind, help) = FIGURES[found];
        let own = name.strip_prefix("plimsoll.").unwrap_or(name).replace('.', "_");
        let stem = own.strip_suffix("_total").unwrap_or(&own);
        let suffix = if kind == Counter { "_total" } else { "" };
        Some(Self { name: format!("plimsoll_{stem}{suffix}"), kind, help })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_sorted_so_that_each_is_found() {
        assert!(FIGURES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(FIGURES.iter().all(|(name, ..)| Figure::of(name).is_some()));
        assert_eq!(Figure::of("frobnications"), None);
    }

    #[test]
    fn names_say_what_only_rises() {
        for (name, expected) in [
            ("membership_total", "plimsoll_membership"),
            ("membership_change", "plimsoll_membership_change_total"),
            ("plimsoll.workers", "plimsoll_workers"),
            ("ring_hash_lb.size", "plimsoll_ring_hash_lb_size"),
            ("load_aware_locality.recompute_total", "plimsoll_load_aware_locality_recompute_total"),
        ] {
            assert_eq!(Figure::of(name).expect(name).name, expected);
        }
    }
}
