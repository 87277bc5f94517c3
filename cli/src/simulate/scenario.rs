//! A scenario that can be simulated: what was written, with names resolved and ranges checked.

use std::collections::HashSet;
use std::fmt;

use plimsoll::config::{ClusterConfig, LocalityRouting, MAX_PRIORITY};
use plimsoll_envoy_config::cluster_from_value;
use serde_json::Value;

use super::curve::{Capacity, Curve, Demand, Point};
use super::event::{self, Event, Names};
use super::expect::Expectations;
use super::text::{Mistake, Text};
use super::units::{SECOND, Time};
use super::written::{Reports, Requests, Written, WrittenProxy, Zone};

/// What a run may take, so that a file cannot ask for a day of work or for all memory.
const MAX_DURATION: Time = Time(24 * 3600 * SECOND);
const MAX_ZONES: usize = 100;
const MAX_HOSTS: usize = 10_000;
const MAX_PROXIES: usize = 100;
const MAX_RPS: f64 = 1e6;
const MAX_REQUESTS: f64 = 1e8;
/// Seconds x proxies x zones: what is kept until the end.
const MAX_FIGURES: usize = 500_000;
/// Seconds x proxies x hosts: what is looked at.
const MAX_LOOKS: usize = 100_000_000;
/// More lines than this in one plot tell nothing.
const SHOWN_HOSTS: usize = 10;
/// Requests and reports on their way.
const MAX_PENDING: f64 = 1e6;

/// See the module.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) seed: u64,
    pub(crate) duration: Time,
    pub(crate) warm_up: Time,
    pub(crate) cluster: ClusterConfig,
    pub(crate) local_cluster: bool,
    /// Those of the start first, then those that are added.
    pub(crate) zones: Vec<Place>,
    pub(crate) proxies: Vec<Proxy>,
    pub(crate) requests: Requests,
    pub(crate) reports: Reports,
    /// In the order of their time.
    pub(crate) events: Vec<Event>,
    pub(crate) expectations: Expectations,
}

/// A zone and its hosts.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// Of each host.
    pub(crate) capacities: Vec<f64>,
    pub(crate) weight: Option<u32>,
    pub(crate) priority: u32,
    /// It is there from the start.
    pub(crate) at_start: bool,
}

/// A proxy, where it is, and what comes to it.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) name: String,
    pub(crate) zone: usize,
    pub(crate) demand: Curve,
}

impl Scenario {
    /// Reads a scenario.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let text = Text::parse(text)?;
        let written = text.read()?;
        Self::check(written).map_err(|mistake| text.locate(mistake))
    }

    fn check(written: Written) -> Result<Self, Mistake> {
        check_times(&written)?;
        let cluster = cluster(&written.cluster)?;
        let mut zones = zones(&written)?;
        let added = event::added_zones(&written.events);
        for (field, zone) in added {
            let place = place(zone, false).map_err(|mistake| within(&field, mistake))?;
            if zones.iter().any(|earlier| earlier.name == place.name) {
                return Err(taken(&format!("{field}.name"), &place.name));
            }
            zones.push(place);
        }
        let proxies = proxies(&written.proxies, &zones)?;
        check_reports(&written.reports)?;
        check_size(&written, &zones, &proxies)?;
        let names = Names { zones: &zones, proxies: &proxies, duration: written.duration };
        let events = event::events(&written.events, &names)?;
        let expectations = Expectations::parse(&written.expect)?;
        let Written {
            title, about, seed, duration, warm_up, local_cluster, requests, reports, ..
        } = written;
        Ok(Self {
            title,
            about,
            seed,
            duration,
            warm_up,
            cluster,
            local_cluster,
            zones,
            proxies,
            requests,
            reports,
            events,
            expectations,
        })
    }

    /// Whether hosts are looked at one by one: they are not alike, and few enough to tell apart.
    pub(crate) fn shows_hosts(&self) -> bool {
        let is_uneven = |zone: &Place| {
            zone.capacities.windows(2).any(|pair| pair[0].total_cmp(&pair[1]).is_ne())
        };
        self.hosts() <= SHOWN_HOSTS && self.zones.iter().any(is_uneven)
    }

    /// The names of all hosts in their order.
    pub(crate) fn host_names(&self) -> Vec<String> {
        let of_zone = |zone: &Place| {
            let name = |number| format!("{}-{number}", zone.name);
            (1..=zone.capacities.len()).map(name).collect::<Vec<_>>()
        };
        self.zones.iter().flat_map(of_zone).collect()
    }

    /// How the proxies choose, in Envoy's words.
    pub(crate) fn policy(&self) -> String {
        let policy = self.cluster.policy.name();
        match self.cluster.locality_routing {
            LocalityRouting::Unset => policy.to_owned(),
            LocalityRouting::ZoneAware(_) => format!("{policy}, zone-aware"),
            LocalityRouting::Weighted => format!("{policy}, localities by weight"),
            LocalityRouting::LoadAware(_) => format!("load_aware_locality of {policy}"),
        }
    }

    /// The zones that have hosts, with their index.
    pub(crate) fn zones_with_hosts(&self) -> impl Iterator<Item = (usize, &Place)> {
        self.zones.iter().enumerate().filter(|(_, zone)| !zone.capacities.is_empty())
    }

    /// How many hosts there are in all zones together.
    pub(crate) fn hosts(&self) -> usize {
        self.zones.iter().map(|zone| zone.capacities.len()).sum()
    }
}

/// The mistake one level further out.
pub(super) fn within(prefix: &str, mistake: Mistake) -> Mistake {
    let dot = if mistake.field.is_empty() { "" } else { "." };
    Mistake { field: format!("{prefix}{dot}{}", mistake.field), ..mistake }
}

/// Refuses a value outside its range.
fn check(is_good: bool, field: &str, message: impl fmt::Display) -> Result<(), Mistake> {
    if is_good { Ok(()) } else { Err(Mistake::new(field, message)) }
}

fn taken(field: &str, name: &str) -> Mistake {
    Mistake::new(field, format_args!("the name {name} is taken"))
}

fn check_times(written: &Written) -> Result<(), Mistake> {
    let Written { duration, warm_up, .. } = written;
    for (field, time) in [("duration", duration), ("warm_up", warm_up)] {
        check(time.0 % SECOND == 0, field, "a whole number of seconds is needed")?;
    }
    let is_good = duration.0 > 0 && *duration <= MAX_DURATION;
    check(is_good, "duration", "from 1s to 24h")?;
    check(warm_up < duration, "warm_up", "less than the duration")
}

fn cluster(value: &Value) -> Result<ClusterConfig, Mistake> {
    let file = cluster_from_value(value)
        .map_err(|error| within("cluster", Mistake::new(error.field(), &error)))?;
    let message = "hosts come from zones; a scenario's cluster has none";
    check(file.assignment.is_none(), "cluster.load_assignment", message)?;
    let message = "hosts are healthy from the start; a scenario's cluster checks none";
    check(!file.config.active_health_checks, "cluster.health_checks", message)?;
    Ok(file.config)
}

fn zones(written: &Written) -> Result<Vec<Place>, Mistake> {
    check(!written.zones.is_empty(), "zones", "at least one is needed")?;
    let mut names = HashSet::new();
    let checked = written.zones.iter().enumerate().map(|(index, zone)| {
        let field = format!("zones[{index}]");
        let place = place(zone, true).map_err(|mistake| within(&field, mistake))?;
        if names.insert(zone.name.as_str()) {
            Ok(place)
        } else {
            Err(taken(&format!("{field}.name"), &zone.name))
        }
    });
    checked.collect()
}

fn place(zone: &Zone, at_start: bool) -> Result<Place, Mistake> {
    check_name(&zone.name)?;
    let hosts = zone.hosts as usize;
    check(hosts <= MAX_HOSTS, "hosts", format_args!("at most {MAX_HOSTS}"))?;
    let capacities = match &zone.capacity {
        Some(Capacity::Same(capacity)) => vec![*capacity; hosts],
        Some(Capacity::Each(each)) => each.clone(),
        None if hosts == 0 => Vec::new(),
        None => return Err(Mistake::new("capacity", "needed where there are hosts")),
    };
    let message = format_args!("{} numbers for {hosts} hosts", capacities.len());
    check(capacities.len() == hosts, "capacity", message)?;
    let is_good = capacities.iter().all(|capacity| *capacity > 0.0 && *capacity <= MAX_RPS);
    check(is_good, "capacity", format_args!("more than 0, at most {MAX_RPS}"))?;
    check(zone.weight != Some(0), "weight", "at least 1")?;
    check(zone.priority <= MAX_PRIORITY, "priority", format_args!("at most {MAX_PRIORITY}"))?;
    let Zone { name, weight, priority, .. } = zone;
    Ok(Place { name: name.clone(), capacities, weight: *weight, priority: *priority, at_start })
}

/// Names go into addresses, tables and pages as they are.
fn check_name(name: &str) -> Result<(), Mistake> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_good = (1..=40).contains(&name.len()) && name.chars().all(is_plain);
    check(is_good, "name", "1 to 40 letters, digits, -, _ and . are a name")
}

fn proxies(written: &[WrittenProxy], zones: &[Place]) -> Result<Vec<Proxy>, Mistake> {
    check(!written.is_empty(), "proxies", "at least one is needed")?;
    let mut names = HashSet::new();
    let checked = written.iter().enumerate().map(|(index, proxy)| {
        let field = format!("proxies[{index}]");
        let checked = self::proxy(proxy, zones).map_err(|mistake| within(&field, mistake))?;
        if names.insert(proxy.name.as_str()) {
            Ok(checked)
        } else {
            Err(taken(&format!("{field}.name"), &proxy.name))
        }
    });
    checked.collect()
}

fn proxy(written: &WrittenProxy, zones: &[Place]) -> Result<Proxy, Mistake> {
    check_name(&written.name)?;
    let zone = event::find("zone", "zone", zones.iter().map(|zone| &zone.name), &written.zone)?;
    let points = match &written.demand {
        Demand::Constant(rps) => vec![Point { at: Time(0), rps: *rps }],
        Demand::Points(points) => points.clone(),
    };
    let from_the_start = points.first().is_some_and(|point| point.at == Time(0));
    check(from_the_start, "demand", "the first point is at 0s")?;
    let in_order = points.windows(2).all(|pair| pair[0].at < pair[1].at);
    check(in_order, "demand", "points come in the order of their time")?;
    let is_good = points.iter().all(|point| (0.0..=MAX_RPS).contains(&point.rps));
    check(is_good, "demand", format_args!("from 0 to {MAX_RPS} requests per second"))?;
    Ok(Proxy { name: written.name.clone(), zone, demand: Curve::new(points, written.curve) })
}

fn check_reports(reports: &Reports) -> Result<(), Mistake> {
    let tenth = Time(SECOND / 10);
    check(reports.window >= tenth, "reports.window", "at least 100ms")?;
    let is_good = reports.utilization_window.is_none_or(|window| window >= tenth);
    check(is_good, "reports.utilization_window", "at least 100ms")?;
    check((0.0..=1.0).contains(&reports.loss), "reports.loss", "from 0 to 1")?;
    let is_good = reports.out_of_band.is_none_or(|period| period >= tenth);
    check(is_good, "reports.out_of_band", "at least 100ms")
}

fn check_size(written: &Written, zones: &[Place], proxies: &[Proxy]) -> Result<(), Mistake> {
    check(zones.len() <= MAX_ZONES, "zones", format_args!("at most {MAX_ZONES} in all"))?;
    let hosts: usize = zones.iter().map(|zone| zone.capacities.len()).sum();
    check(hosts <= MAX_HOSTS, "zones", format_args!("at most {MAX_HOSTS} hosts in all"))?;
    check(proxies.len() <= MAX_PROXIES, "proxies", format_args!("at most {MAX_PROXIES}"))?;
    let seconds = written.duration.whole_seconds();
    for (what, count, most) in [("zones", zones.len(), MAX_FIGURES), ("hosts", hosts, MAX_LOOKS)] {
        let message = format_args!("seconds x proxies x {what} come to more than {most}");
        check(seconds * proxies.len() * count <= most, "duration", message)?;
    }
    let peak: f64 = proxies.iter().map(|proxy| proxy.demand.peak()).sum();
    let message = format_args!("the scenario comes to more than {MAX_REQUESTS} requests");
    check(peak * written.duration.seconds() <= MAX_REQUESTS, "duration", message)?;
    for (field, time) in
        [("requests.latency", written.requests.latency), ("reports.delay", written.reports.delay)]
    {
        let message = format_args!("more than {MAX_PENDING} would be on their way");
        check(peak * time.seconds() <= MAX_PENDING, field, message)?;
    }
    Ok(())
}
