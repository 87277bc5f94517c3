//! The figures of all runs as files of comma-separated values.

use std::fmt::Write as _;

use super::Run;
use super::proxy::Route;
use super::record::{ProxySecond, Second, ZoneSecond};
use super::scenario::Scenario;
use super::summary::{FIGURES, modes};

/// The files by name.
pub(crate) fn files(scenario: &Scenario, runs: &[Run]) -> Vec<(&'static str, String)> {
    vec![
        ("requests.csv", requests(scenario, runs)),
        ("zones.csv", zones(scenario, runs)),
        ("proxies.csv", proxies(scenario, runs)),
        ("weights.csv", weights(scenario, runs)),
        ("summary.csv", summary(scenario, runs)),
    ]
}

/// A file that grows line by line.
struct File(String);

impl File {
    fn new(heading: &str) -> Self {
        Self(format!("{heading}\n"))
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{line}");
    }
}

/// All seconds of all runs: the behavior's name, the second's number, from 1, and the second.
fn seconds(runs: &[Run]) -> impl Iterator<Item = (&'static str, usize, &Second)> {
    runs.iter().flat_map(|run| {
        let numbered = run.record.seconds.iter().enumerate();
        numbered.map(|(index, second)| (run.behavior.name(), index + 1, second))
    })
}

fn requests(scenario: &Scenario, runs: &[Run]) -> String {
    let mut file = File::new("behavior,second,proxy,zone,requests,intended_share");
    for (behavior, number, second) in seconds(runs) {
        for (proxy, figures) in scenario.proxies.iter().zip(&second.proxies) {
            let zones = scenario.zones.iter().zip(&figures.requests).zip(&figures.intended);
            for ((zone, requests), intended) in zones {
                let (proxy, zone, intended) = (&proxy.name, &zone.name, optional(*intended));
                file.line(format_args!("{behavior},{number},{proxy},{zone},{requests},{intended}"));
            }
        }
    }
    file.0
}

fn zones(scenario: &Scenario, runs: &[Run]) -> String {
    let heading = "behavior,second,zone,requests,capacity,utilization,measured_utilization,\
                   busiest_host_utilization,overload,failed";
    let mut file = File::new(heading);
    for (behavior, number, second) in seconds(runs) {
        for (zone, figures) in scenario.zones.iter().zip(&second.zones) {
            let ZoneSecond { requests, overload, failed, capacity, measured, busiest } = figures;
            let utilization = optional(figures.utilization());
            file.line(format_args!(
                "{behavior},{number},{},{requests},{capacity},{utilization},{measured:.6},\
                 {busiest:.6},{overload},{failed}",
                zone.name
            ));
        }
    }
    file.0
}

fn proxies(scenario: &Scenario, runs: &[Run]) -> String {
    let mut file = File::new("behavior,second,proxy,requests,no_host,local_share,mode");
    for run in runs {
        for (index, proxy) in scenario.proxies.iter().enumerate() {
            let modes = modes(&run.record, index, proxy.zone);
            for (number, (second, mode)) in run.record.seconds.iter().zip(modes).enumerate() {
                let figures = &second.proxies[index];
                let ProxySecond { requests, no_host, .. } = figures;
                let sent: u32 = requests.iter().sum();
                file.line(format_args!(
                    "{},{},{},{},{no_host},{},{}",
                    run.behavior.name(),
                    number + 1,
                    proxy.name,
                    sent + no_host,
                    optional(figures.share(proxy.zone)),
                    mode.map_or("", |mode| mode.name()),
                ));
            }
        }
    }
    file.0
}

fn weights(scenario: &Scenario, runs: &[Run]) -> String {
    let heading = "behavior,second,proxy,priority,source,locality,utilization,weight,share";
    let mut file = File::new(heading);
    for (behavior, number, second) in seconds(runs) {
        for (proxy, figures) in scenario.proxies.iter().zip(&second.proxies) {
            for Route { priority, source, zone, utilization, weight, share } in &figures.routes {
                let (zone, utilization) = (&scenario.zones[*zone].name, optional(*utilization));
                file.line(format_args!(
                    "{behavior},{number},{},{priority},{source},{zone},{utilization},{weight:.6},\
                     {share:.6}",
                    proxy.name
                ));
            }
        }
    }
    file.0
}

/// A number, or nothing.
fn optional(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.6}")).unwrap_or_default()
}

fn summary(scenario: &Scenario, runs: &[Run]) -> String {
    let mut file = File::new("behavior,figure,of,value");
    for Run { behavior, summary, .. } in runs {
        let behavior = behavior.name();
        for (figure, value) in FIGURES.iter().zip(summary.figures) {
            file.line(format_args!("{behavior},{},,{value:.6}", figure.name));
        }
        for (zone, spread) in scenario.zones.iter().zip(&summary.zones) {
            let spread = [
                ("mean", spread.mean),
                ("sd", spread.sd),
                ("min", spread.min),
                ("max", spread.max),
            ];
            for (name, value) in spread {
                file.line(format_args!("{behavior},utilization_{name},{},{value:.6}", zone.name));
            }
        }
        for (proxy, flips) in scenario.proxies.iter().zip(&summary.flips) {
            file.line(format_args!("{behavior},flips_per_minute,{},{flips:.6}", proxy.name));
        }
        file.line(format_args!("{behavior},requests,,{}", summary.requests));
    }
    file.0
}
