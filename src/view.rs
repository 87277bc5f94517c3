//! A snapshot to look at: loads, hosts, and what share of the traffic each host gets.

use std::fmt;
use std::time::Duration;

use crate::cluster::{Cluster, Shared};
use crate::config::ClusterConfig;
use crate::host::{HostRef, Locality};
use crate::policy::Source;
use crate::priority::Tally;
use crate::published::{Published, Warmup, percent};
use crate::records::Sample;
use crate::routes::Routes;
use crate::snapshot::{Cell, Pinned};
use crate::sync::WatchedArc;

/// One snapshot of a cluster. See [`Cluster::view`](crate::Cluster::view).
///
/// Everything in it belongs together: no update can fall between two questions. `Display` writes
/// an aligned table of all hosts.
///
/// ```
/// # use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
/// # use plimsoll::{Cluster, Options};
/// # let endpoints = vec![Endpoint::new("10.0.0.1:80"), Endpoint::new("10.0.0.2:80")];
/// # let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
/// # let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
/// # let cluster = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default())?;
/// let view = cluster.view();
/// let shares: Vec<f64> = view.hosts().iter().map(|host| host.share).collect();
/// assert!((shares[0] - 0.5).abs() < 1e-9);
/// # Ok::<(), plimsoll::Error>(())
/// ```
#[derive(Debug)]
pub struct View {
    snapshot: Pinned<Published>,
    shared: WatchedArc<Shared>,
}

/// One priority of a [`View`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PriorityView<'a> {
    /// What its healthy hosts get, in percent of all traffic.
    pub healthy_load: f64,
    /// What its degraded hosts get, in percent of all traffic.
    pub degraded_load: f64,
    /// Whether it sends to all its hosts whatever their health.
    pub panic: bool,
    /// Its hosts by health.
    pub tally: Tally,
    snapshot: &'a Published,
    index: usize,
}

/// The hosts of one priority in one locality.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LocalityView<'a> {
    /// The place.
    pub locality: &'a Locality,
    /// The weight that the assignment gave it, or 0.
    pub weight: u32,
    /// Its hosts by health.
    pub tally: Tally,
}

/// What a host last reported of its load.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ReportedLoad {
    /// The utilization that the policy goes by.
    pub utilization: f64,
    /// How old the report is.
    pub age: Duration,
    /// The weight that follows from it; 0 if the policy makes none of it.
    pub weight: f64,
}

/// One host of a [`View`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HostView<'a> {
    /// Who and how it is.
    pub host: HostRef<'a>,
    /// The weight that the policy uses now, slow start included and its requests not.
    pub effective_weight: f64,
    /// How far it is with its slow start; `None` if it is not in it.
    pub slow_start: Option<Warmup>,
    /// What it last reported of its load; `None` if it never did, or if the policy does not go by
    /// reports.
    pub load: Option<ReportedLoad>,
    /// Its active requests; changes while one looks.
    pub active: u32,
    /// The part of the traffic that it gets, 0 to 1: the probability that a pick at a random
    /// moment lands on it; in `least_request`, while no host has requests.
    pub share: f64,
}

impl Cluster {
    /// The newest snapshot, to look at. Takes no lock; keep it only as long as needed, since all
    /// later snapshots stay in memory until it is dropped.
    #[must_use]
    pub fn view(&self) -> View {
        View::new(WatchedArc::clone(&self.shared))
    }
}

impl View {
    pub(crate) fn new(shared: WatchedArc<Shared>) -> Self {
        Self { snapshot: Cell::pin(&shared.cell), shared }
    }

    /// The snapshot's number; the first is 1.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.snapshot.version
    }

    /// What the cluster's clock showed when the snapshot was published.
    #[must_use]
    pub fn published_ns(&self) -> u64 {
        self.snapshot.published_ns
    }

    /// The settings in force.
    #[must_use]
    pub fn config(&self) -> &ClusterConfig {
        &self.snapshot.config
    }

    /// All priorities, 0 first.
    pub fn priorities(&self) -> impl Iterator<Item = PriorityView<'_>> {
        let snapshot = &*self.snapshot;
        let behavior = snapshot.config.behavior;
        snapshot.priorities.iter().enumerate().map(move |(index, priority)| PriorityView {
            healthy_load: percent(snapshot.loads.healthy[index], behavior),
            degraded_load: percent(snapshot.loads.degraded[index], behavior),
            panic: snapshot.loads.panic[index],
            tally: priority.tally,
            snapshot,
            index,
        })
    }

    /// All hosts, by priority, then in the assignment's order.
    #[must_use]
    pub fn hosts(&self) -> Vec<HostView<'_>> {
        let now_ns = self.shared.clock.now_ns();
        let shares = self.shares(now_ns);
        let slots = self.snapshot.priorities.iter().flat_map(|priority| priority.order.iter());
        let of_slot = |&slot: &u32| {
            let entry = self.snapshot.directory.get(slot)?;
            Some(HostView {
                host: HostRef::new(entry),
                effective_weight: self.snapshot.effective_weight(entry, now_ns),
                slow_start: self.snapshot.warmup(entry, now_ns),
                load: self.load(slot, now_ns),
                active: self.shared.table.load(slot),
                share: shares.get(slot as usize).copied().unwrap_or(0.0),
            })
        };
        slots.filter_map(of_slot).collect()
    }

    fn load(&self, slot: u32, now_ns: u64) -> Option<ReportedLoad> {
        let Sample { value, utilization, now_ns: reported_ns } =
            self.snapshot.reports.as_ref()?.last(slot, now_ns)?;
        let age = Duration::from_nanos(now_ns.saturating_sub(reported_ns));
        Some(ReportedLoad { utilization, age, weight: value })
    }

    /// The share of every slot.
    fn shares(&self, now_ns: u64) -> Vec<f64> {
        let orders = self.snapshot.priorities.iter().flat_map(|priority| priority.order.iter());
        let slots = orders.max().map_or(0, |&last| last as usize + 1);
        let mut shares = vec![0.0; slots];
        let add = |slot: u32, share: f64| {
            if let Some(sum) = shares.get_mut(slot as usize) {
                *sum += share;
            }
        };
        self.snapshot.tables.shares(now_ns, add);
        shares
    }
}

impl<'a> PriorityView<'a> {
    /// Its localities that have hosts: the proxy's own first, then by name.
    pub fn localities(&self) -> impl Iterator<Item = LocalityView<'a>> + use<'a> {
        self.snapshot.priorities[self.index].localities.iter().map(|locality| LocalityView {
            locality: &locality.locality,
            weight: locality.weight,
            tally: locality.tally,
        })
    }

    /// The host of each place of the hash table for its healthy, its degraded or, in panic, all its
    /// hosts: ring hash in the order of the ring, Maglev by slot. Empty unless the policy goes by
    /// hashes and such hosts have traffic. In `behavior: native` traffic that is divided among
    /// localities has a table for each, one after the other; in `behavior: envoy` a priority has
    /// one table, of whatever hosts.
    pub fn hash_table(&self, source: Source) -> impl Iterator<Item = HostRef<'a>> + use<'a> {
        let snapshot = self.snapshot;
        let priority = u32::try_from(self.index).unwrap_or(u32::MAX);
        let places = snapshot.tables.places(priority, source);
        places.filter_map(|host| snapshot.directory.get(host.slot).map(HostRef::new))
    }

    /// How what goes to its healthy, its degraded or, in panic, all its hosts divides among its
    /// localities.
    #[must_use]
    pub fn routes(&self, source: Source) -> Routes<'a> {
        self.snapshot.priorities[self.index].routes(source, self.snapshot.config.behavior)
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["priority", "locality", "address", "health", "weight", "effective"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows[0].extend(["active", "share"].map(str::to_owned));
        rows.extend(self.hosts().iter().map(row));
        let columns = rows[0].len();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        for row in &rows {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(f, "{cell:>width$}")?,
                    1..=3 => write!(f, "  {cell:<width$}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn row(host: &HostView<'_>) -> Vec<String> {
    vec![
        host.host.priority().to_string(),
        host.host.locality().to_string(),
        host.host.address().to_string(),
        host.host.health().to_string(),
        host.host.weight().to_string(),
        host.effective_weight.to_string(),
        host.active.to_string(),
        format!("{:.3} %", host.share * 100.0),
    ]
}
