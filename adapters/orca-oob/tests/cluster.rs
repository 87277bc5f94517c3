//! A cluster of the engine, servers that report on streams, and the driver between them: traffic
//! follows what the servers say.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{Orca, within};
use plimsoll::config::{
    Assignment, Behavior, ClientSideWeightedRoundRobin, ClusterConfig, Endpoint, LocalityEndpoints,
    Policy,
};
use plimsoll::{Cluster, Options, Outcome, PickContext};
use plimsoll_orca_oob::{Driver, OrcaLoadReport};
use tokio::time::Instant;
use tokio_stream::StreamExt;

const MS: Duration = Duration::from_millis(1);

/// A server that reports 100 requests a second at this utilization, every 20 ms.
async fn server(application_utilization: f64) -> String {
    let report = OrcaLoadReport {
        application_utilization,
        rps_fractional: 100.0,
        ..OrcaLoadReport::default()
    };
    let reports = move |_| {
        let reports = std::iter::repeat(report.clone()).map(Ok);
        Ok(Box::pin(tokio_stream::iter(reports).throttle(20 * MS)) as common::Reports)
    };
    Orca::new(reports).start().await
}

fn cluster(behavior: Behavior, addresses: &[String]) -> Cluster {
    let policy = ClientSideWeightedRoundRobin {
        enable_oob_load_report: true,
        oob_reporting_period: 50 * MS,
        blackout_period: Duration::ZERO,
        weight_update_period: 100 * MS,
        ..ClientSideWeightedRoundRobin::default()
    };
    let policy = Policy::ClientSideWeightedRoundRobin(policy);
    let config = ClusterConfig { behavior, policy, ..ClusterConfig::new("api") };
    let hosts = addresses.iter().map(|it| Endpoint::new(it.as_str())).collect();
    let endpoints = vec![LocalityEndpoints { endpoints: hosts, ..LocalityEndpoints::default() }];
    let assignment = Assignment { endpoints, ..Assignment::default() };
    Cluster::open(config, &assignment, Options { seed: Some(7), ..Options::default() }).unwrap()
}

#[tokio::test]
async fn traffic_follows_what_servers_report_on_their_streams() {
    for behavior in [Behavior::Native, Behavior::Envoy] {
        let addresses = [server(0.2).await, server(0.8).await];
        let cluster = Arc::new(cluster(behavior, &addresses));
        let start = Instant::now();
        let clock = move || u64::try_from(start.elapsed().as_nanos()).unwrap();
        let driver = tokio::spawn(Driver::new(Arc::clone(&cluster), clock).tick(MS).run());
        // Weights are 100 / 0.2 and 100 / 0.8.
        within(async {
            while cluster.stats().unwrap().get("plimsoll.weights_usable") < 2 {
                tokio::time::sleep(5 * MS).await;
                cluster.tick(clock()).unwrap();
            }
        })
        .await;
        let mut worker = cluster.worker().unwrap();
        let mut first = 0;
        for _ in 0..1_000 {
            let pick = worker.pick(&PickContext::default()).unwrap();
            first += u32::from(worker.host(pick).unwrap().address().as_str() == addresses[0]);
            worker.done(pick, Outcome::Success).unwrap();
        }
        assert!((794..=806).contains(&first), "{behavior:?}: {first} of 1000, not 800");
        driver.abort();
    }
}
