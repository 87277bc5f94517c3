//! What a run comes to after its warm-up, in a few figures.

use super::record::{Mean, Record, Second, ZoneSecond};
use super::scenario::Scenario;

/// A proxy is local-mostly if its engine means to keep more than this part of the traffic in its
/// zone, and spilling below the other; in between it stays what it was, so that noise is no flip.
const LOCAL_ABOVE: f64 = 0.6;
const SPILLING_BELOW: f64 = 0.4;

/// See the module. Shares and utilizations are 1 for all of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    pub(crate) zones: Vec<Spread>,
    /// Of each proxy, per minute.
    pub(crate) flips: Vec<f64>,
    /// Of the whole run.
    pub(crate) requests: u64,
    pub(crate) figures: [f64; FIGURES.len()],
}

/// A figure that scenarios may set bounds to.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) words: &'static str,
    pub(crate) unit: Unit,
}

/// How a figure is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Plain,
    Percent,
}

/// All figures, in the order of [`Summary::figures`].
pub(crate) const FIGURES: [Figure; 10] = [
    figure("utilization_sd", "zone utilization, largest standard deviation", Unit::Plain),
    figure("utilization_max", "zone utilization, busiest second", Unit::Plain),
    figure("utilization_gap", "busiest zone less idlest, mean", Unit::Plain),
    figure("host_peak", "host utilization, busiest second", Unit::Plain),
    figure("host_sd", "host utilization, largest standard deviation", Unit::Plain),
    figure("host_spread", "hosts' mean utilizations, standard deviation", Unit::Plain),
    figure("flips_per_minute", "mode flips per minute, worst proxy", Unit::Plain),
    figure("cross_zone_share", "requests that leave their zone", Unit::Percent),
    figure("errors", "requests without a host that serves", Unit::Percent),
    figure("overload", "requests beyond a host's capacity", Unit::Percent),
];

const fn figure(name: &'static str, words: &'static str, unit: Unit) -> Figure {
    Figure { name, words, unit }
}

impl Unit {
    /// A figure as text.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Plain => format!("{value:.3}"),
            Self::Percent => format!("{:.2} %", value * 100.0),
        }
    }
}

/// How values lie.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of these values; zeros if there are none.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mean = self::mean(values).unwrap_or(0.0);
        let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
        let variance = self::mean(&squares).unwrap_or(0.0);
        let min = values.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let max = values.iter().copied().reduce(f64::max).unwrap_or(0.0);
        Self { mean, sd: variance.sqrt(), min, max }
    }
}

/// The mean, if there is one.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    let mut mean = Mean::default();
    values.iter().for_each(|&value| mean.add(value));
    mean.value()
}

/// Where a proxy's engine means to send most requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Local,
    Spilling,
}

impl Mode {
    /// The name in files and pages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Spilling => "spilling",
        }
    }
}

/// The mode of a proxy at the end of each second; `None` until there is one.
pub(crate) fn modes(record: &Record, proxy: usize, zone: usize) -> Vec<Option<Mode>> {
    let mut mode = None;
    let after = |second: &Second| {
        mode = match second.proxies[proxy].intended_share(zone) {
            Some(share) if share > LOCAL_ABOVE => Some(Mode::Local),
            Some(share) if share < SPILLING_BELOW => Some(Mode::Spilling),
            _ => mode,
        };
        mode
    };
    record.seconds.iter().map(after).collect()
}

impl Summary {
    /// Sums a run up.
    pub(crate) fn of(record: &Record, scenario: &Scenario) -> Self {
        let warm = &record.seconds[scenario.warm_up.whole_seconds()..];
        let zones: Vec<Spread> =
            (0..scenario.zones.len()).map(|zone| Spread::of(&utilizations(warm, zone))).collect();
        let flips: Vec<f64> = (0..scenario.proxies.len())
            .map(|proxy| flips_per_minute(record, scenario, proxy))
            .collect();
        let worst = |figure: fn(&Spread) -> f64| zones.iter().map(figure).fold(0.0, f64::max);
        let hosts: Vec<f64> = record.hosts.iter().filter_map(|host| host.value()).collect();
        let requests = warm.iter().flat_map(|second| &second.proxies);
        let [all, no_host] = requests.fold([0, 0], |[all, no_host], proxy| {
            let sent: u32 = proxy.requests.iter().sum();
            [all + u64::from(sent + proxy.no_host), no_host + u64::from(proxy.no_host)]
        });
        let part = |count: u64| ratio(count, all);
        let figures = [
            worst(|zone| zone.sd),
            worst(|zone| zone.max),
            gap(warm),
            in_zones(warm).map(|zone| zone.busiest).fold(0.0, f64::max),
            record.hosts.iter().filter_map(Mean::deviation).fold(0.0, f64::max),
            Spread::of(&hosts).sd,
            flips.iter().copied().fold(0.0, f64::max),
            part(crossing(warm, scenario)),
            part(no_host + in_zones(warm).map(|zone| u64::from(zone.failed)).sum::<u64>()),
            part(in_zones(warm).map(|zone| u64::from(zone.overload)).sum()),
        ];
        Self { zones, flips, requests: record.arrived, figures }
    }
}

fn in_zones(seconds: &[Second]) -> impl Iterator<Item = &ZoneSecond> {
    seconds.iter().flat_map(|second| &second.zones)
}

/// A zone's utilization in every second in which it has a host.
fn utilizations(seconds: &[Second], zone: usize) -> Vec<f64> {
    seconds.iter().filter_map(|second| second.zones[zone].utilization()).collect()
}

fn flips_per_minute(record: &Record, scenario: &Scenario, proxy: usize) -> f64 {
    let modes = modes(record, proxy, scenario.proxies[proxy].zone);
    let warm_up = scenario.warm_up.whole_seconds();
    // The last second before counts as where the mode comes from.
    let warm = &modes[warm_up.saturating_sub(1)..];
    let is_flip = |pair: &&[Option<Mode>]| pair[0].is_some() && pair[0] != pair[1];
    let flips = warm.windows(2).filter(is_flip).count();
    let minutes = (scenario.duration.seconds() - scenario.warm_up.seconds()) / 60.0;
    ratio(flips as u64, 1) / minutes
}

/// The mean difference between the busiest zone and the idlest one.
fn gap(seconds: &[Second]) -> f64 {
    let mut mean = Mean::default();
    for second in seconds {
        let zones: Vec<f64> = second.zones.iter().filter_map(ZoneSecond::utilization).collect();
        let Spread { min, max, .. } = Spread::of(&zones);
        mean.add(max - min);
    }
    mean.value().unwrap_or(0.0)
}

/// Requests that went to another zone than their proxy's.
fn crossing(seconds: &[Second], scenario: &Scenario) -> u64 {
    let homes: Vec<usize> = scenario.proxies.iter().map(|proxy| proxy.zone).collect();
    let of_second = |second: &Second| {
        let of_proxy = |(proxy, &home): (&super::record::ProxySecond, &usize)| {
            let away = proxy.requests.iter().enumerate().filter(|&(zone, _)| zone != home);
            away.map(|(_, &requests)| u64::from(requests)).sum::<u64>()
        };
        second.proxies.iter().zip(&homes).map(of_proxy).sum::<u64>()
    };
    seconds.iter().map(of_second).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a scenario has fewer requests than that")]
fn ratio(count: u64, all: u64) -> f64 {
    count as f64 / all.max(1) as f64
}
