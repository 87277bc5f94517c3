//! Clusters in Prometheus' text format.
//!
//! A scrape has each family once, so that several clusters are written together. How many hosts and
//! localities get samples of their own is for the caller to bound; those that are left out are
//! counted.

mod figures;
mod text;

use std::collections::HashMap;

use self::figures::{Figure, Kind};
use self::text::Text;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::host::{CoarseHealth, Locality};
use crate::stats::Stats;
use crate::view::{HostView, View};

/// How much a scrape may hold of each cluster; by default its totals and its priorities only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrometheusLimits {
    /// How many hosts at most, the first by priority and then in the assignment's order.
    pub hosts: usize,
    /// How many localities at most, counted for each priority anew.
    pub localities: usize,
}

/// What these clusters count and how they stand, in Prometheus' text format. Their names are the
/// label `cluster`, and ought to differ.
///
/// The names are those of [`Stats`] after `plimsoll_`, with `_` for dots and `_total` where, and only
/// where, a figure only rises.
///
/// ```
/// # use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
/// # use plimsoll::{Cluster, Options, PrometheusLimits, prometheus_text};
/// # let endpoints = vec![Endpoint::new("10.0.0.1:80"), Endpoint::new("10.0.0.2:80")];
/// # let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
/// # let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
/// # let cluster = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default())?;
/// let text = prometheus_text([&cluster], PrometheusLimits { hosts: 100, localities: 10 })?;
/// assert!(text.contains("\nplimsoll_membership_healthy{cluster=\"api\"} 2\n"));
/// assert!(text.contains("\nplimsoll_host_share{cluster=\"api\",host=\"10.0.0.1:80\"} 0.5\n"));
/// # Ok::<(), plimsoll::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Poisoned`] only.
pub fn prometheus_text<'a>(
    clusters: impl IntoIterator<Item = &'a Cluster>,
    limits: PrometheusLimits,
) -> Result<String, Error> {
    let mut looks = Vec::new();
    for cluster in clusters {
        looks.push((cluster.stats()?, cluster.view()));
    }
    let looks: Vec<Look<'_>> =
        looks.iter().map(|(stats, view)| Look::new(stats, view, limits)).collect();
    let mut text = Text::default();
    write_figures(&mut text, &looks);
    write_priorities(&mut text, &looks);
    if limits.localities > 0 {
        write_localities(&mut text, &looks, limits.localities);
    }
    if limits.hosts > 0 {
        write_hosts(&mut text, &looks, limits.hosts);
    }
    Ok(text.into_string())
}

/// What is known of one cluster.
struct Look<'a> {
    name: &'a str,
    stats: &'a Stats,
    view: &'a View,
    /// Empty if nobody asks for hosts or localities.
    hosts: Vec<HostView<'a>>,
}

impl<'a> Look<'a> {
    fn new(stats: &'a Stats, view: &'a View, limits: PrometheusLimits) -> Self {
        let wanted = limits != PrometheusLimits::default();
        let hosts = if wanted { view.hosts() } else { Vec::new() };
        Self { name: &view.config().name, stats, view, hosts }
    }
}

/// The figures of statistics, family by family.
fn write_figures(text: &mut Text, looks: &[Look<'_>]) {
    let mut names: Vec<&str> =
        looks.iter().flat_map(|look| look.stats.all()).map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        // A test holds that all of them are known.
        let Some(figure) = Figure::of(name) else { continue };
        text.family(&figure.name, figure.kind, figure.help);
        for look in looks {
            let all = look.stats.all();
            if let Ok(found) = all.binary_search_by(|(other, _)| (*other).cmp(name)) {
                text.sample(&figure.name, &[("cluster", look.name)], all[found].1);
            }
        }
    }
}

/// How traffic divides among priorities; there are never many.
fn write_priorities(text: &mut Text, looks: &[Look<'_>]) {
    let name = "plimsoll_priority_load";
    text.family(name, Kind::Gauge, "The part of all traffic that a priority's hosts get, 0 to 1.");
    for look in looks {
        for (priority, it) in look.view.priorities().enumerate() {
            let priority = priority.to_string();
            for (health, load) in [("healthy", it.healthy_load), ("degraded", it.degraded_load)] {
                let labels = [("cluster", look.name), ("priority", &priority), ("health", health)];
                text.sample(name, &labels, load / 100.0);
            }
        }
    }
    let name = "plimsoll_priority_panic";
    text.family(
        name,
        Kind::Gauge,
        "1 if a priority sends to all its hosts, whatever their health.",
    );
    for look in looks {
        for (priority, it) in look.view.priorities().enumerate() {
            let labels = [("cluster", look.name), ("priority", &priority.to_string())];
            text.sample(name, &labels, u8::from(it.panic));
        }
    }
}

/// One locality of one priority.
struct Place<'a> {
    cluster: &'a str,
    priority: String,
    locality: &'a Locality,
    by_health: [(&'static str, u64); 3],
    share: f64,
}

impl<'a> Place<'a> {
    fn labels(&self) -> [(&'static str, &str); 5] {
        let Locality { region, zone, sub_zone } = self.locality;
        [
            ("cluster", self.cluster),
            ("priority", &self.priority),
            ("region", region),
            ("zone", zone),
            ("sub_zone", sub_zone),
        ]
    }

    /// All places of a cluster, and whether each is within the limit.
    fn all(look: &Look<'a>, limit: usize) -> Vec<(Self, bool)> {
        let mut shares: HashMap<(usize, &Locality), f64> = HashMap::new();
        for host in &look.hosts {
            let place = (host.host.priority() as usize, host.host.locality());
            *shares.entry(place).or_default() += host.share;
        }
        let mut places = Vec::new();
        for (priority, it) in look.view.priorities().enumerate() {
            for (index, place) in it.localities().enumerate() {
                let tally = place.tally;
                let rest = tally.hosts - tally.healthy - tally.degraded;
                let place = Self {
                    cluster: look.name,
                    priority: priority.to_string(),
                    locality: place.locality,
                    by_health: [
                        ("healthy", tally.healthy),
                        ("degraded", tally.degraded),
                        ("unhealthy", rest),
                    ],
                    share: shares.get(&(priority, place.locality)).copied().unwrap_or(0.0),
                };
                places.push((place, index < limit));
            }
        }
        places
    }
}

fn write_localities(text: &mut Text, looks: &[Look<'_>], limit: usize) {
    let places: Vec<_> = looks.iter().map(|look| (look.name, Place::all(look, limit))).collect();
    let shown = || {
        let all = places.iter().flat_map(|(_, places)| places);
        all.filter(|(_, is_within)| *is_within).map(|(place, _)| place)
    };
    let name = "plimsoll_locality_hosts";
    text.family(name, Kind::Gauge, "Hosts of a locality by health.");
    for place in shown() {
        let [cluster, priority, region, zone, sub_zone] = place.labels();
        for (health, hosts) in place.by_health {
            let labels = [cluster, priority, region, zone, sub_zone, ("health", health)];
            text.sample(name, &labels, hosts);
        }
    }
    let name = "plimsoll_locality_share";
    text.family(name, Kind::Gauge, "The part of all traffic that a locality gets, 0 to 1.");
    shown().for_each(|place| text.sample(name, &place.labels(), place.share));
    let name = "plimsoll_localities_omitted";
    text.family(name, Kind::Gauge, "Localities that are not among the samples.");
    for (cluster, places) in &places {
        let omitted = places.iter().filter(|(_, is_within)| !is_within).count();
        text.sample(name, &[("cluster", cluster)], omitted);
    }
}

/// A figure of a host: its name, its help, and its value if the host has one.
type HostFigure = (&'static str, &'static str, fn(&HostView<'_>) -> Option<f64>);

const OF_HOSTS: [HostFigure; 8] = [
    ("plimsoll_host_active_requests", "Requests that are active on a host.", |host| {
        Some(host.active.into())
    }),
    ("plimsoll_host_effective_weight", "The weight that the policy uses now.", |host| {
        Some(host.effective_weight)
    }),
    ("plimsoll_host_health", "0: healthy, 1: degraded, 2: unhealthy.", |host| {
        Some(match host.host.coarse_health() {
            CoarseHealth::Healthy => 0.0,
            CoarseHealth::Degraded => 1.0,
            CoarseHealth::Unhealthy => 2.0,
        })
    }),
    ("plimsoll_host_report_age_seconds", "How long ago a host reported its load.", |host| {
        host.load.map(|load| load.age.as_secs_f64())
    }),
    ("plimsoll_host_share", "The part of all traffic that a host gets, 0 to 1.", |host| {
        Some(host.share)
    }),
    ("plimsoll_host_slow_start_factor", "What slow start multiplies a weight with.", |host| {
        host.slow_start.map(|warmup| warmup.factor)
    }),
    ("plimsoll_host_utilization", "The utilization that a host reported.", |host| {
        host.load.map(|load| load.utilization)
    }),
    ("plimsoll_host_weight", "The weight that a host is configured with.", |host| {
        Some(host.host.weight().into())
    }),
];

fn write_hosts(text: &mut Text, looks: &[Look<'_>], limit: usize) {
    let shown = || {
        looks.iter().flat_map(|look| look.hosts.iter().take(limit).map(|host| (look.name, host)))
    };
    // What says where a host is stands apart, so that its other series go on when it moves.
    let name = "plimsoll_host_info";
    text.family(name, Kind::Gauge, "Where a host is; always 1.");
    for (cluster, host) in shown() {
        let Locality { region, zone, sub_zone } = host.host.locality();
        let labels = [
            ("cluster", cluster),
            ("host", host.host.address().as_str()),
            ("hostname", host.host.hostname()),
            ("priority", &host.host.priority().to_string()),
            ("region", region),
            ("zone", zone),
            ("sub_zone", sub_zone),
        ];
        text.sample(name, &labels, 1);
    }
    for (name, help, value) in OF_HOSTS {
        text.family(name, Kind::Gauge, help);
        for (cluster, host) in shown() {
            if let Some(value) = value(host) {
                let labels = [("cluster", cluster), ("host", host.host.address().as_str())];
                text.sample(name, &labels, value);
            }
        }
    }
    let name = "plimsoll_hosts_omitted";
    text.family(name, Kind::Gauge, "Hosts that are not among the samples.");
    for look in looks {
        let omitted = look.hosts.len().saturating_sub(limit);
        text.sample(name, &[("cluster", look.name)], omitted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Options;
    use crate::config::{
        Assignment, Behavior, ClientSideWeightedRoundRobin, ClusterConfig, LoadAware,
        LocalityRouting, Maglev, Policy, RingHash,
    };

    #[test]
    fn every_figure_of_every_policy_is_in_words() {
        let policies = [
            Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin::default()),
            Policy::RingHash(RingHash::default()),
            Policy::Maglev(Maglev::default()),
        ];
        for behavior in [Behavior::Native, Behavior::Envoy] {
            for policy in policies.clone() {
                let is_hashed = policy.consistent_hashing().is_some();
                let mut config = ClusterConfig { behavior, policy, ..ClusterConfig::new("api") };
                if !is_hashed {
                    config.locality_routing = LocalityRouting::LoadAware(LoadAware::default());
                }
                let cluster = Cluster::open(config, &Assignment::default(), Options::default());
                let stats = cluster.and_then(|cluster| cluster.stats()).expect("a valid cluster");
                for (name, _) in stats.all() {
                    assert!(Figure::of(name).is_some(), "{name} is not in words");
                }
            }
        }
    }
}
