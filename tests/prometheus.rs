//! Scrapes: every figure is known, every family stands once, and what is left out is counted.

// Whole numbers come out as they went in.
#![allow(clippy::float_cmp)]

use std::collections::{HashMap, HashSet};

use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
use plimsoll::config::{
    Behavior, ClientSideWeightedRoundRobin, LeastRequest, LoadAware, LocalityRouting, Maglev,
    Policy, RingHash,
};
use plimsoll::{
    Cluster, HealthEvent, Locality, Options, PickContext, PrometheusLimits, Update, prometheus_text,
};

const ALL: PrometheusLimits = PrometheusLimits { hosts: usize::MAX, localities: usize::MAX };

fn assignment(places: &[(&str, u32, usize)]) -> Assignment {
    let mut number = 0;
    let endpoints = places.iter().map(|&(zone, priority, hosts)| LocalityEndpoints {
        locality: Locality::new("r", zone, ""),
        priority,
        endpoints: (0..hosts)
            .map(|_| {
                number += 1;
                Endpoint::new(format!("10.0.0.{number}:80"))
            })
            .collect(),
        ..LocalityEndpoints::default()
    });
    Assignment { endpoints: endpoints.collect(), ..Assignment::default() }
}

fn open(config: ClusterConfig, places: &[(&str, u32, usize)]) -> Cluster {
    let options = Options { seed: Some(1), ..Options::default() };
    Cluster::open(config, &assignment(places), options).expect("a valid cluster")
}

/// The samples of a scrape by name and labels. Checks that each family has one head, before its
/// samples, and that they stand together.
fn samples(text: &str) -> HashMap<String, f64> {
    let mut families = HashSet::new();
    let mut current = String::new();
    let mut samples = HashMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a name and a help");
            assert!(families.insert(name.to_owned()), "{name} stands twice");
            assert!(help.ends_with('.'), "{help}");
            current = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert_eq!(name, current);
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a series and a value");
            assert_eq!(series.split('{').next(), Some(current.as_str()));
            let value = value.parse().expect("a number");
            assert!(samples.insert(series.to_owned(), value).is_none(), "{series} stands twice");
        }
    }
    samples
}

fn scrape(clusters: &[&Cluster], limits: PrometheusLimits) -> HashMap<String, f64> {
    let text = prometheus_text(clusters.iter().copied(), limits).expect("no call has panicked");
    samples(&text)
}

#[test]
fn every_figure_of_every_policy_is_known() {
    let with = |name: &str, policy| ClusterConfig { policy, ..ClusterConfig::new(name) };
    let maglev = Policy::Maglev(Maglev::default());
    let configs = [
        with("round_robin", Policy::default()),
        with("ring", Policy::RingHash(RingHash::default())),
        with("maglev", maglev.clone()),
        ClusterConfig { behavior: Behavior::Envoy, ..with("maglev_as_envoy", maglev) },
        with(
            "weighted",
            Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin::default()),
        ),
        ClusterConfig {
            locality_routing: LocalityRouting::LoadAware(LoadAware::default()),
            ..ClusterConfig::new("aware")
        },
        with("least", Policy::LeastRequest(LeastRequest::default())),
    ];
    let clusters = configs.map(|config| open(config, &[("a", 0, 2), ("b", 0, 2)]));
    let found = scrape(&clusters.each_ref(), ALL);
    for cluster in &clusters {
        let name = &cluster.view().config().name.clone();
        for (figure, value) in cluster.stats().expect("no call has panicked").iter() {
            let own = figure.strip_prefix("plimsoll.").unwrap_or(figure).replace('.', "_");
            let stem = own.strip_suffix("_total").unwrap_or(&own);
            let series =
                ["", "_total"].map(|end| format!("plimsoll_{stem}{end}{{cluster=\"{name}\"}}"));
            let value = f64::from(u32::try_from(value).expect("a small number"));
            let shown = series.iter().find_map(|series| found.get(series));
            assert_eq!(shown, Some(&value), "{figure} of {name}");
        }
    }
    let of =
        |figure: &str, name: &str| found.get(&format!("plimsoll_{figure}{{cluster=\"{name}\"}}"));
    assert_eq!(of("lb_healthy_panic_total", "ring"), Some(&0.0), "a counter starts at 0");
    assert_eq!(of("ring_hash_lb_size", "maglev"), None);
}

#[test]
fn hosts_and_localities_are_bounded_and_the_rest_is_counted() {
    let cluster = open(ClusterConfig::new("api"), &[("a", 0, 3), ("b", 0, 1), ("a", 1, 2)]);
    cluster.apply(&Update::new().health("10.0.0.1:80", HealthEvent::Eject)).expect("it is there");
    let mut worker = cluster.worker().expect("no call has panicked");
    worker.pick(&PickContext::default()).expect("there are hosts");
    let found = scrape(&[&cluster], PrometheusLimits { hosts: 2, localities: 1 });
    let hosts = |name: &str| found.keys().filter(|series| series.starts_with(name)).count();
    assert_eq!(hosts("plimsoll_host_share{"), 2);
    assert_eq!(hosts("plimsoll_host_info{"), 2);
    assert_eq!(hosts("plimsoll_host_utilization"), 0, "nobody has reported");
    assert_eq!(found["plimsoll_hosts_omitted{cluster=\"api\"}"], 4.0);
    assert_eq!(found["plimsoll_host_health{cluster=\"api\",host=\"10.0.0.1:80\"}"], 2.0);
    // One of each priority.
    assert_eq!(hosts("plimsoll_locality_share{"), 2);
    assert_eq!(found["plimsoll_localities_omitted{cluster=\"api\"}"], 1.0);

    let found = scrape(&[&cluster], ALL);
    let sum = |name: &str| {
        let parts = found.iter().filter(|(series, _)| series.starts_with(name));
        parts.map(|(_, value)| value).sum::<f64>()
    };
    assert!((sum("plimsoll_host_share{") - 1.0).abs() < 1e-9);
    assert!((sum("plimsoll_locality_share{") - 1.0).abs() < 1e-9);
    assert!((sum("plimsoll_priority_load{") - 1.0).abs() < 1e-9);
    assert_eq!(sum("plimsoll_locality_hosts{"), 6.0);
    assert_eq!(sum("plimsoll_host_active_requests{"), 1.0);
    let place = "cluster=\"api\",priority=\"0\",region=\"r\",zone=\"a\",sub_zone=\"\"";
    assert_eq!(found[&format!("plimsoll_locality_hosts{{{place},health=\"unhealthy\"}}")], 1.0);
}

#[test]
fn without_limits_there_are_totals_and_priorities_only() {
    let cluster = open(ClusterConfig::new("api"), &[("a", 0, 3)]);
    let found = scrape(&[&cluster], PrometheusLimits::default());
    let of = |name: &str| found.keys().any(|series| series.starts_with(name));
    assert!(!of("plimsoll_host_") && !of("plimsoll_locality_"));
    assert!(of("plimsoll_priority_panic{cluster=\"api\",priority=\"0\"}"));
    assert_eq!(prometheus_text([], ALL), Ok(String::new()));
}
