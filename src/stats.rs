//! What a cluster counts.

use std::fmt;

use crate::cluster::{Cluster, HashSummary, RouterFigures, Summary};
use crate::error::Error;
use crate::policy::Counter;
use crate::policy::hashed::TableFigures;
use crate::published::Published;
use crate::snapshot::Cell;

/// Counters and gauges by name, sorted; values of zero are left out. Names are Envoy's (without
/// `cluster.NAME.`) where Envoy has the figure, and start with `plimsoll.` otherwise. Correctness
/// never depends on them.
///
/// ```
/// # use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
/// # use plimsoll::{Cluster, Options};
/// # let endpoints = vec![Endpoint::new("10.0.0.1:80"), Endpoint::new("10.0.0.2:80")];
/// # let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
/// # let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
/// # let cluster = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default())?;
/// let stats = cluster.stats()?;
/// assert_eq!(stats.get("membership_healthy"), 2);
/// assert_eq!(stats.get("lb_healthy_panic"), 0);
/// # Ok::<(), plimsoll::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats(Vec<(&'static str, u64)>);

impl Cluster {
    /// What has been counted since the cluster was opened.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn stats(&self) -> Result<Stats, Error> {
        // What became free is freed first, so that figures do not lag behind.
        self.change(|_, _| Ok(()))?;
        let summary = self.lock()?.summary();
        Ok(Stats::collect(&summary, &self.shared.cell))
    }
}

impl Stats {
    fn collect(summary: &Summary, cell: &Cell<Published>) -> Self {
        let Summary { figures, tally, .. } = summary;
        let mut stats = vec![
            ("max_host_weight", summary.max_host_weight.into()),
            ("membership_change", figures.membership_change),
            ("membership_degraded", tally.degraded),
            ("membership_excluded", tally.excluded),
            ("membership_healthy", tally.healthy),
            ("membership_total", tally.hosts),
            ("plimsoll.duplicate_hosts", summary.duplicates),
            ("plimsoll.hosts_departed", summary.departed as u64),
            ("plimsoll.schedulers_built", figures.schedulers_built),
            ("plimsoll.snapshots_live", cell.live() as u64),
            ("plimsoll.snapshots_published", figures.published),
            ("plimsoll.workers", summary.workers as u64),
            ("update_no_rebuild", figures.update_no_rebuild),
        ];
        stats
            .extend(Counter::ALL.map(|counter| (counter.name(), summary.counts[counter as usize])));
        stats.extend([
            ("lb_orca_oob.active_sessions", summary.streams.active_sessions),
            ("lb_orca_oob.report_errors", summary.streams.report_errors),
            ("lb_orca_oob.reports_received", summary.streams.reports_received),
            ("lb_orca_oob.stream_failures", summary.streams.stream_failures),
            ("lb_orca_oob.stream_terminated", summary.streams.stream_terminated),
        ]);
        // Picks add to the first of these as well.
        let of_picks = summary.counts[Counter::LocalClusterNotOk as usize];
        let RouterFigures {
            recalculate_zone_structures,
            local_cluster_not_ok,
            zone_cluster_too_small,
        } = summary.router;
        stats.retain(|(name, _)| *name != Counter::LocalClusterNotOk.name());
        stats.extend([
            (Counter::LocalClusterNotOk.name(), local_cluster_not_ok + of_picks),
            ("lb_recalculate_zone_structures", recalculate_zone_structures),
            ("lb_zone_cluster_too_small", zone_cluster_too_small),
        ]);
        if let Some(figures) = summary.load_aware {
            stats.extend([
                ("load_aware_locality.all_overloaded_total", figures.all_overloaded),
                ("load_aware_locality.local_preferred_total", figures.local_preferred),
                ("load_aware_locality.probe_active_total", figures.probe_active),
                ("load_aware_locality.recompute_total", figures.recompute),
                ("load_aware_locality.spill_active_total", figures.spill_active),
                ("load_aware_locality.stale_locality_total", figures.stale_locality),
                ("plimsoll.load_aware_mode_changes", figures.mode_changes),
            ]);
        }
        if let Some(hashed) = summary.hashed {
            stats.extend(of_hash_tables(hashed));
        }
        if let Some(weights) = summary.weights {
            stats.extend([
                ("plimsoll.weight_passes", weights.passes),
                ("plimsoll.weight_changes", weights.changes),
                ("plimsoll.weights_usable", weights.usable),
                ("plimsoll.weights_in_blackout", weights.blackout),
                ("plimsoll.weights_unknown", weights.unknown),
                ("plimsoll.weights_by_utilization", weights.by_utilization),
                ("plimsoll.weights_not_renewed", weights.not_renewed),
            ]);
        }
        stats.retain(|&(_, value)| value != 0);
        stats.sort_unstable();
        Self(stats)
    }

    /// One figure; 0 if it is not there.
    #[must_use]
    pub fn get(&self, name: &str) -> u64 {
        let found = self.0.binary_search_by(|(other, _)| (*other).cmp(name));
        found.map_or(0, |index| self.0[index].1)
    }

    /// All figures that are not zero, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().copied()
    }
}

/// The figures of ring hash or Maglev.
fn of_hash_tables(hashed: HashSummary) -> impl Iterator<Item = (&'static str, u64)> {
    let HashSummary { figures, is_maglev, built_as_envoy } = hashed;
    let TableFigures { size, fewest, most, without } = figures.table;
    let gauges = if is_maglev {
        vec![("maglev_lb.min_entries_per_host", fewest), ("maglev_lb.max_entries_per_host", most)]
    } else {
        vec![
            ("ring_hash_lb.size", size),
            ("ring_hash_lb.min_hashes_per_host", fewest),
            ("ring_hash_lb.max_hashes_per_host", most),
        ]
    };
    gauges.into_iter().chain([
        ("plimsoll.duplicate_keys", figures.duplicate_keys),
        ("plimsoll.hosts_without_places", without),
        ("plimsoll.tables_built", figures.built),
        ("plimsoll.tables_built_as_envoy", built_as_envoy.unwrap_or(0)),
    ])
}

impl fmt::Display for Stats {
    /// One `name: value` line for each figure, as Envoy's admin page has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, value)| writeln!(f, "{name}: {value}"))
    }
}
