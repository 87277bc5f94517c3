//! Out-of-band load reports through a cluster: which streams it wants, where they go, and what
//! becomes of what they bring.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#authority

mod common;

use std::time::Duration;

use common::{BEHAVIORS, assignment, config, group, open};
use plimsoll::config::{
    Behavior, ClientSideWeightedRoundRobin, ClusterConfig, Endpoint, OutOfBandReporting, Policy,
};
use plimsoll::orca::LoadReport;
use plimsoll::{Cluster, StreamAction, StreamEnd, StreamHost, Update};

const SECOND: u64 = 1_000_000_000;

/// cpu_utilization 0.5, rps_fractional 100.
const REPORT: &[u8] = b"\x09\0\0\0\0\0\0\xe0\x3f\x31\0\0\0\0\0\0\x59\x40";

fn policy() -> ClientSideWeightedRoundRobin {
    ClientSideWeightedRoundRobin {
        enable_oob_load_report: true,
        oob_reporting_period: Duration::from_secs(1),
        blackout_period: Duration::ZERO,
        ..ClientSideWeightedRoundRobin::default()
    }
}

fn settings(behavior: Behavior, policy: ClientSideWeightedRoundRobin) -> ClusterConfig {
    config(behavior, &Policy::ClientSideWeightedRoundRobin(policy))
}

fn cluster(behavior: Behavior) -> Cluster {
    let hosts = ["10.0.0.1:80", "10.0.0.2:80"].map(Endpoint::new).to_vec();
    open(settings(behavior, policy()), &assignment(vec![group(0, "z", hosts)]))
}

/// The hosts whose streams are opened by now.
fn opened(cluster: &Cluster, now_ns: u64) -> Vec<StreamHost> {
    let mut hosts = Vec::new();
    for action in cluster.poll_report_streams(now_ns).unwrap() {
        match action {
            StreamAction::Open { host, interval } => {
                assert_eq!(interval, Duration::from_secs(1));
                hosts.push(host);
            }
            StreamAction::Close { host } => panic!("{host:?} is closed"),
        }
    }
    hosts.sort();
    hosts
}

fn stat(cluster: &Cluster, name: &str) -> u64 {
    cluster.stats().unwrap().get(name)
}

#[test]
fn each_host_has_a_stream_and_its_reports_become_weights() {
    for behavior in BEHAVIORS {
        let cluster = cluster(behavior);
        assert!(cluster.next_report_stream_ns().unwrap() < Some(SECOND));
        let hosts = opened(&cluster, SECOND);
        assert_eq!(hosts.len(), 2, "{behavior:?}");
        cluster.report_stream_message(hosts[0], REPORT, SECOND).unwrap();
        cluster.report_stream_message(hosts[0], b"", SECOND).unwrap();
        cluster.tick(2 * SECOND).unwrap();
        let view = cluster.view();
        let target = cluster.report_stream_target(hosts[0]).unwrap().unwrap();
        let host =
            view.hosts().into_iter().find(|host| host.host.address().as_str() == target.address);
        let weight = host.unwrap().load.unwrap().weight;
        assert!((weight - 200.0).abs() < 1e-6, "{weight}");
        assert_eq!(stat(&cluster, "lb_orca_oob.reports_received"), 1, "an empty one is none");
        assert_eq!(stat(&cluster, "lb_orca_oob.active_sessions"), 2);
        // No requests: no weight, and an error in Envoy; in native a utilization is something.
        cluster.report_stream_message(hosts[1], &REPORT[..9], SECOND).unwrap();
        let errors = u64::from(behavior == Behavior::Envoy);
        assert_eq!(stat(&cluster, "lb_orca_oob.report_errors"), errors);
    }
}

#[test]
fn streams_follow_hosts_and_settings() {
    for behavior in BEHAVIORS {
        let cluster = cluster(behavior);
        let hosts = opened(&cluster, SECOND);
        cluster.apply(&Update::new().remove("10.0.0.1:80")).unwrap();
        let gone = cluster.poll_report_streams(SECOND).unwrap();
        let [StreamAction::Close { host }] = gone.as_slice() else { panic!("{gone:?}") };
        assert_eq!(cluster.report_stream_target(*host).unwrap(), None);
        cluster.report_stream_message(*host, REPORT, SECOND).unwrap();
        cluster.report_stream_ended(*host, StreamEnd::Broken, SECOND).unwrap();
        assert_eq!(stat(&cluster, "lb_orca_oob.reports_received"), 0, "of a host that is gone");
        let off = ClientSideWeightedRoundRobin { enable_oob_load_report: false, ..policy() };
        cluster.reconfigure(settings(behavior, off)).unwrap();
        assert_eq!(cluster.poll_report_streams(SECOND).unwrap().len(), 1, "the other is closed");
        assert_eq!(stat(&cluster, "lb_orca_oob.active_sessions"), 0);
        assert!(hosts.contains(host));
        cluster.reconfigure(settings(behavior, policy())).unwrap();
        assert_eq!(opened(&cluster, 3 * SECOND).len(), 1);
    }
}

#[test]
fn another_behavior_starts_streams_anew_and_counts_on() {
    let cluster = cluster(Behavior::Envoy);
    let hosts = opened(&cluster, SECOND);
    cluster.report_stream_message(hosts[0], REPORT, SECOND).unwrap();
    cluster.reconfigure(settings(Behavior::Native, policy())).unwrap();
    let close = |&host| StreamAction::Close { host };
    let mut closed = cluster.poll_report_streams(0).unwrap();
    closed.sort_by_key(|action| match action {
        StreamAction::Open { host, .. } | StreamAction::Close { host } => *host,
    });
    assert_eq!(closed, hosts.iter().map(close).collect::<Vec<_>>());
    assert_eq!(opened(&cluster, 3 * SECOND).len(), 2);
    assert_eq!(stat(&cluster, "lb_orca_oob.reports_received"), 1);
    assert_eq!(stat(&cluster, "lb_orca_oob.active_sessions"), 2);
}

#[test]
fn a_stream_that_ends_is_tried_again_unless_the_server_lacks_the_method() {
    for behavior in BEHAVIORS {
        let cluster = cluster(behavior);
        let hosts = opened(&cluster, SECOND);
        cluster.report_stream_ended(hosts[0], StreamEnd::Unimplemented, SECOND).unwrap();
        cluster.report_stream_ended(hosts[1], StreamEnd::Status(14), SECOND).unwrap();
        assert_eq!(stat(&cluster, "lb_orca_oob.stream_terminated"), 1);
        assert_eq!(stat(&cluster, "lb_orca_oob.stream_failures"), 1);
        cluster.report_stream_message(hosts[1], REPORT, SECOND).unwrap();
        cluster.tick(2 * SECOND).unwrap();
        assert_eq!(stat(&cluster, "lb_orca_oob.reports_received"), 0, "it crossed the end");
        assert_eq!(stat(&cluster, "plimsoll.weights_usable"), 0);
        assert_eq!(opened(&cluster, 2 * SECOND), [hosts[1]], "{behavior:?}");
    }
}

#[test]
fn reports_of_a_stream_are_preferred_while_they_are_fresh() {
    let other =
        LoadReport { application_utilization: 0.25, rps_fractional: 100.0, ..Default::default() };
    for behavior in BEHAVIORS {
        let cluster = cluster(behavior);
        let host = opened(&cluster, SECOND)[0];
        let address = cluster.report_stream_target(host).unwrap().unwrap().address;
        cluster.report_stream_message(host, REPORT, SECOND).unwrap();
        let taken = |now_ns| cluster.report(&address, &other.as_report(), now_ns).is_ok();
        let is_envoy = behavior == Behavior::Envoy;
        assert_eq!(taken(3 * SECOND - 1), is_envoy, "two periods of a second");
        assert!(taken(3 * SECOND));
        let ignored = stat(&cluster, "plimsoll.load_reports_ignored");
        assert_eq!(ignored, u64::from(!is_envoy), "{behavior:?}");
    }
}

#[test]
fn bytes_that_are_no_report_close_the_stream() {
    let cluster = cluster(Behavior::Native);
    let hosts = opened(&cluster, SECOND);
    cluster.report_stream_message(hosts[0], b"foo-bar", SECOND).unwrap();
    let actions = cluster.poll_report_streams(SECOND).unwrap();
    assert_eq!(actions, [StreamAction::Close { host: hosts[0] }]);
}

#[test]
fn a_stream_goes_where_the_settings_say() {
    let table = [
        ("2.2.2.2:80", "", 0, "", "2.2.2.2:80", "2.2.2.2:80"),
        ("2.2.2.2:80", "", 9001, "", "2.2.2.2:9001", "2.2.2.2:9001"),
        ("[::1]:80", "", 9001, "", "[::1]:9001", "[::1]:9001"),
        ("2.2.2.2:80", "backend", 9001, "", "2.2.2.2:9001", "backend"),
        ("2.2.2.2:80", "backend", 0, "reports.local", "2.2.2.2:80", "reports.local"),
        ("/run/backend.sock", "", 9001, "", "/run/backend.sock", "test"),
    ];
    for (address, hostname, port_value, authority, dial, name) in table {
        let reporting = OutOfBandReporting { port_value, authority: authority.to_owned() };
        let policy = ClientSideWeightedRoundRobin { oob_reporting_config: reporting, ..policy() };
        let host = Endpoint { hostname: hostname.to_owned(), ..Endpoint::new(address) };
        let hosts = assignment(vec![group(0, "z", vec![host])]);
        let cluster = open(settings(Behavior::Native, policy), &hosts);
        let target = cluster.report_stream_target(opened(&cluster, SECOND)[0]).unwrap().unwrap();
        let seen = [&target.address, &target.dial, &target.authority];
        assert_eq!(seen, [address, dial, name]);
    }
}

#[test]
fn policies_without_reports_want_no_streams() {
    let hosts = assignment(vec![group(0, "z", vec![Endpoint::new("a:1")])]);
    let cluster = open(config(Behavior::Native, &Policy::ROUND_ROBIN), &hosts);
    assert_eq!(cluster.next_report_stream_ns().unwrap(), None);
    assert!(cluster.poll_report_streams(u64::MAX).unwrap().is_empty());
}

#[test]
fn a_time_of_zero_is_that_of_the_last_tick() {
    for behavior in BEHAVIORS {
        let cluster = cluster(behavior);
        cluster.tick(1000 * SECOND).unwrap();
        let hosts = opened(&cluster, 1000 * SECOND);
        cluster.report_stream_message(hosts[0], REPORT, 0).unwrap();
        let view = cluster.view();
        let ages: Vec<_> =
            view.hosts().iter().filter_map(|host| host.load).map(|load| load.age).collect();
        assert_eq!(ages, [std::time::Duration::ZERO], "{behavior:?}");
        cluster.report_stream_ended(hosts[1], StreamEnd::Broken, 0).unwrap();
        let next = cluster.next_report_stream_ns().unwrap().unwrap();
        assert!(next > 1000 * SECOND, "{behavior:?}: not at once, at {next}");
    }
}
