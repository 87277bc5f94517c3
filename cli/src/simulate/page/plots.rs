//! The plots of a page, each for one run.

use super::super::Run;
use super::super::record::{ProxySecond, Second, ZoneSecond};
use super::super::scenario::{Place, Scenario};
use super::super::summary::{Mode, modes};
use super::draw::{Line, Series, lines, stack, strip};
use super::frame::{Frame, Scale};

/// How high plots are.
pub(super) const TALL: f64 = 230.0;
const LOW: f64 = 160.0;
/// A strip of a mode, with the space around it.
const ROW: f64 = 18.0;

/// The class with a zone's colour.
pub(super) fn colour(zone: usize) -> String {
    format!("z{}", zone % 10)
}

fn line(name: &str, class: String, values: Series) -> Line {
    Line { name: name.to_owned(), class, values }
}

fn each_second<T>(run: &Run, value: impl Fn(&Second) -> T) -> Vec<T> {
    run.record.seconds.iter().map(value).collect()
}

/// The largest utilization of all runs, so that their plots have one scale.
pub(super) fn top(runs: &[Run]) -> f64 {
    let seconds = runs.iter().flat_map(|run| &run.record.seconds);
    let zones = seconds.clone().flat_map(|second| &second.zones);
    let zones = zones.filter_map(ZoneSecond::utilization);
    let hosts = seconds.flat_map(|second| second.hosts.iter().copied().flatten());
    (zones.chain(hosts).fold(0.0, f64::max) * 1.05).max(1.1)
}

/// How busy zones are.
pub(super) fn utilization(scenario: &Scenario, run: &Run, top: f64) -> String {
    let mut frame = Frame::new(scenario, "utilization of zones", (TALL, top), Scale::Plain);
    frame.limit(1.0);
    let of_zone = |(index, zone): (usize, &Place)| {
        let values = each_second(run, |second| second.zones[index].utilization());
        line(&zone.name, colour(index), values)
    };
    lines(&mut frame, &scenario.zones_with_hosts().map(of_zone).collect::<Vec<_>>());
    frame.finish()
}

/// How busy hosts are.
pub(super) fn hosts(scenario: &Scenario, run: &Run, top: f64) -> String {
    let mut frame = Frame::new(scenario, "utilization of hosts", (TALL, top), Scale::Plain);
    frame.limit(1.0);
    let of_host = |(index, name): (usize, String)| {
        let values = each_second(run, |second| second.hosts.get(index).copied().flatten());
        line(&name, colour(index), values)
    };
    let named = scenario.host_names().into_iter().enumerate();
    lines(&mut frame, &named.map(of_host).collect::<Vec<_>>());
    frame.finish()
}

/// Where the requests of a proxy go.
pub(super) fn shares(scenario: &Scenario, run: &Run, proxy: usize) -> String {
    let mut frame = Frame::new(scenario, "shares of zones", (LOW, 1.0), Scale::Percent);
    let layers: Vec<Line> = home_first(scenario, proxy)
        .into_iter()
        .map(|zone| {
            let values = each_second(run, |second| second.proxies[proxy].share(zone));
            line(&scenario.zones[zone].name, colour(zone), values)
        })
        .collect();
    stack(&mut frame, &layers);
    frame.finish()
}

/// What the engine of a proxy means to send to each zone.
pub(super) fn intended(scenario: &Scenario, run: &Run, proxy: usize) -> String {
    let mut frame = Frame::new(scenario, "weights of localities", (LOW, 1.0), Scale::Percent);
    let all: Vec<Line> = home_first(scenario, proxy)
        .into_iter()
        .map(|zone| {
            let values = each_second(run, |second| second.proxies[proxy].intended[zone]);
            line(&scenario.zones[zone].name, colour(zone), values)
        })
        .collect();
    lines(&mut frame, &all);
    frame.finish()
}

/// The proxy's own zone at the bottom of a stack, and on top of other lines.
fn home_first(scenario: &Scenario, proxy: usize) -> Vec<usize> {
    let home = scenario.proxies[proxy].zone;
    let mut zones: Vec<usize> = scenario.zones_with_hosts().map(|(zone, _)| zone).collect();
    zones.sort_by_key(|&zone| zone != home);
    zones
}

/// Which proxies are local-mostly, and when.
pub(super) fn mode_strips(scenario: &Scenario, run: &Run) -> String {
    let height = ROW.mul_add(super::draw::count(scenario.proxies.len()), 44.0);
    let mut frame = Frame::new(scenario, "modes of proxies", (height, 1.0), Scale::Rows);
    for (index, proxy) in scenario.proxies.iter().enumerate() {
        let modes = modes(&run.record, index, proxy.zone);
        let row = scenario.proxies.len() - 1 - index;
        strip(&mut frame, row, &proxy.name, &stretches(&modes));
    }
    frame.finish()
}

/// Where a mode begins and ends.
fn stretches(modes: &[Option<Mode>]) -> Vec<(usize, usize, &'static str)> {
    let mut from = 0;
    let chunks = modes.chunk_by(|one, next| one == next).filter_map(|chunk| {
        let start = from;
        from += chunk.len();
        let class = match chunk[0]? {
            Mode::Local => "calm",
            Mode::Spilling => "alarm",
        };
        Some((start, from, class))
    });
    chunks.collect()
}

/// What went wrong, in parts of all requests; `None` if nothing did in any run.
pub(super) fn trouble_top(runs: &[Run]) -> Option<f64> {
    let all = runs.iter().flat_map(|run| [errors(run), overload(run)]).flatten().flatten();
    let top = all.fold(0.0, f64::max);
    (top > 0.0).then_some((top * 1.1).min(1.0))
}

/// Requests that failed, and those beyond what hosts can take.
pub(super) fn trouble(scenario: &Scenario, run: &Run, top: f64) -> String {
    let mut frame = Frame::new(scenario, "errors and overload", (LOW, top), Scale::Percent);
    let all = [
        line("errors", "errors".to_owned(), errors(run)),
        line("overload", "overload".to_owned(), overload(run)),
    ];
    lines(&mut frame, &all);
    frame.finish()
}

fn errors(run: &Run) -> Series {
    each_second(run, |second| {
        let no_host = second.proxies.iter().map(|proxy| proxy.no_host);
        part(second, second.zones.iter().map(|zone| zone.failed).chain(no_host).sum())
    })
}

fn overload(run: &Run) -> Series {
    each_second(run, |second| part(second, second.zones.iter().map(|zone| zone.overload).sum()))
}

/// A part of all requests of a second.
fn part(second: &Second, count: u32) -> Option<f64> {
    let of_proxy = |proxy: &ProxySecond| proxy.requests.iter().sum::<u32>() + proxy.no_host;
    let all: u32 = second.proxies.iter().map(of_proxy).sum();
    (all > 0).then(|| f64::from(count) / f64::from(all))
}
