//! How little traffic may leave its zone, and how near native comes to that.
//!
//! A zone that keeps traffic of its own may be busier than the others by the threshold and what is
//! allowed above it. How busy the others are on average depends on the zone's own load only: what
//! does not stay goes to them, wherever. So each zone has a load that it may reach, and what its own
//! proxies have beyond that leaves, however it is divided then.

use super::closed_loop::{MIXES, WINDOWS, assert_settled, envoy, native, reports};
use super::world::{Balancer, Measured, Reports, World};
use crate::config::LoadAware;
use crate::rng::splitmix64;

/// Requests a second that a host takes.
const HOST: f64 = 200.0;

/// The part of all requests that leaves its zone at least, without probes.
fn least_cross(hosts: &[f64], demands: &[f64]) -> f64 {
    let total: f64 = demands.iter().sum();
    let all = hosts.iter().sum::<f64>() * HOST;
    let mut own = vec![0.0; hosts.len()];
    for (proxy, demand) in demands.iter().enumerate() {
        own[proxy % hosts.len()] += demand;
    }
    let leaves = |(own, hosts): (&f64, &f64)| (own - most_load(hosts * HOST, all, total)).max(0.0);
    own.iter().zip(hosts).map(leaves).sum::<f64>() / total
}

/// The load that a zone of this capacity may reach, by bisection.
fn most_load(capacity: f64, all: f64, total: f64) -> f64 {
    let is_allowed = |utilization: f64| {
        let others = (total - utilization * capacity) / (all - capacity);
        let preference = 1.0 - ((utilization - 0.9) / 0.1).clamp(0.0, 1.0);
        utilization - others <= 0.1 * preference + 0.08
    };
    let (mut low, mut high) = (0.0, 4.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        *(if is_allowed(middle) { &mut low } else { &mut high }) = middle;
    }
    low * capacity
}

/// Some zones and what the proxies of the first of them have to send.
struct Case {
    hosts: Vec<f64>,
    demands: Vec<f64>,
    reports: Reports,
}

impl Case {
    /// Two minutes after one to settle.
    fn run(&self, balancer: &Balancer) -> Measured {
        let mut world = World::new(balancer, &self.hosts, &self.demands, self.reports);
        world.run(60.0);
        world.run(120.0)
    }
}

/// So many cases by chance: 2 to 10 zones of 1 to 6 hosts, and up to 95 % of what they take.
fn random(cases: usize, proxies: usize) -> Vec<Case> {
    let mut drawn = 0_u64;
    let mut uniform = || {
        drawn += 1;
        splitmix64(drawn) as f64 / u64::MAX as f64
    };
    let mut draw = |round: usize| {
        let zones = 2 + round % 9;
        let hosts: Vec<f64> = (0..zones).map(|_| 1.0 + (uniform() * 6.0).floor()).collect();
        let most = 5.4 * HOST / proxies as f64;
        let mut demands: Vec<f64> =
            (0..proxies).map(|proxy| hosts[proxy % zones] * most * uniform()).collect();
        let scale = 0.95 * HOST * hosts.iter().sum::<f64>() / demands.iter().sum::<f64>();
        demands.iter_mut().for_each(|demand| *demand *= scale.min(1.0));
        Case { hosts, demands, reports: reports(WINDOWS[round % 3]) }
    };
    (0..cases).map(&mut draw).collect()
}

/// The demand of a proxy in each of the first three zones, by what the zone takes: six mixes.
const DEMANDS: [[f64; 3]; 6] = [
    [0.9, 0.5, 0.5],
    [0.9, 0.25, 0.25],
    [1.25, 0.5, 0.5],
    [0.95, 0.85, 0.75],
    [0.6, 0.45, 0.15],
    [1.5, 0.125, 0.125],
];

/// The six mixes in so many zones of two hosts.
fn grid(zones: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for demands in DEMANDS {
        for window in WINDOWS {
            let hosts = vec![2.0; zones];
            let demands = demands.iter().take(zones).map(|demand| demand * 2.0 * HOST).collect();
            cases.push(Case { hosts, demands, reports: reports(window) });
        }
    }
    cases
}

/// No case of the grid swings or sends more away than Envoy does, or much more than it must.
fn assert_grid(zones: usize) {
    for Case { hosts, demands, reports } in grid(zones) {
        let case = Case { hosts, demands, reports };
        let (native, envoy) = (case.run(&native()), case.run(&envoy()));
        let least = least_cross(&case.hosts, &case.demands);
        let seen = format!("{zones} zones, {:?} {reports:?}: {native:?} {envoy:?}", case.demands);
        assert_settled(native);
        assert!(native.cross <= envoy.cross, "{seen}");
        assert!(native.cross < least + 0.04, "at least {least}; {seen}");
    }
}

#[test]
fn six_mixes_leave_their_zones_no_more_than_in_envoy() {
    (2..=10).for_each(assert_grid);
}

#[test]
fn hardly_more_leaves_its_zone_than_has_to() {
    let (mut native_cross, mut envoy_cross, mut least) = (0.0, 0.0, 0.0);
    let cases = random(45, 3);
    for case in &cases {
        let native = case.run(&native());
        assert_settled(native);
        native_cross += native.cross;
        envoy_cross += case.run(&envoy()).cross;
        least += least_cross(&case.hosts, &case.demands);
    }
    let mean = |sum: f64| sum / cases.len() as f64;
    let (native, envoy, least) = (mean(native_cross), mean(envoy_cross), mean(least));
    assert!(native < least + 0.025, "{native} where {least} has to leave");
    assert!(native < 0.7 * envoy, "{native}, in Envoy {envoy}");
}

/// Prints the tables of docs/load-aware-locality.md.
#[test]
#[ignore = "prints tables, and checks nothing"]
fn tables() {
    println!(
        "mixes: hosts, demands, window: deviation, leaves, least, peak, flips; Envoy / native"
    );
    for (hosts, demands) in MIXES {
        for window in WINDOWS {
            let (hosts, demands) = (hosts.to_vec(), demands.to_vec());
            let case = Case { hosts, demands, reports: reports(window) };
            let (envoy, native) = (case.run(&envoy()), case.run(&native()));
            println!(
                "{:?} {:?} {window} s: {:.3} / {:.3} | {:.1} / {:.1} % | {:.1} % | {:.2} / {:.2} | \
                 {:.1} / {:.1}",
                case.hosts,
                case.demands,
                envoy.deviation,
                native.deviation,
                envoy.cross * 100.0,
                native.cross * 100.0,
                least_cross(&case.hosts, &case.demands) * 100.0,
                envoy.peak,
                native.peak,
                envoy.flips,
                native.flips
            );
        }
    }
    let streams = LoadAware { enable_oob_load_report: true, ..LoadAware::default() };
    let usual = LoadAware::default();
    let slow = LoadAware {
        smoothing_time_constant: std::time::Duration::from_secs(10),
        ..LoadAware::default()
    };
    type Change = fn(Reports) -> Reports;
    let rows: [(&str, usize, &LoadAware, Change); 6] = [
        ("three proxies", 3, &usual, |it| it),
        ("requests by chance", 3, &usual, |it| Reports { noisy: true, ..it }),
        ("streams", 3, &streams, |it| Reports { stream_period: Some(10.0), ..it }),
        ("nine proxies", 9, &usual, |it| it),
        ("W = 30 s", 3, &usual, |it| Reports { window: 30.0, ..it }),
        ("W = 30 s, 10 s", 3, &slow, |it| Reports { window: 30.0, ..it }),
    ];
    for (name, proxies, config, change) in rows {
        let mut totals = Totals::default();
        for case in random(1000, proxies) {
            totals.add(&Case { reports: change(case.reports), ..case }, config);
        }
        println!("{name}: {totals:?}");
    }
}

/// What many cases come to, by sums of all.
#[derive(Debug, Default)]
#[allow(dead_code)] // printed
struct Totals {
    unsettled: [u32; 2],
    deviation: [f64; 2],
    worst: f64,
    cross: [f64; 2],
    least: f64,
    /// Native sends more away: how often, by how much at most, and how often it could not send less.
    more: u32,
    by: f64,
    of_necessity: u32,
}

impl Totals {
    fn add(&mut self, case: &Case, config: &LoadAware) {
        let least = least_cross(&case.hosts, &case.demands);
        let both = [Balancer::envoy(config), Balancer::native(config)].map(|it| case.run(&it));
        for (index, measured) in both.into_iter().enumerate() {
            let is_settled = measured.deviation < 0.05 && measured.flips <= 1.0;
            self.unsettled[index] += u32::from(!is_settled);
            self.deviation[index] += measured.deviation;
            self.cross[index] += measured.cross;
        }
        let [envoy, native] = both;
        self.worst = self.worst.max(native.deviation);
        self.least += least;
        self.more += u32::from(native.cross > envoy.cross);
        self.by = self.by.max(native.cross - envoy.cross);
        self.of_necessity += u32::from(least > envoy.cross);
    }
}
