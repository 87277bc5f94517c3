//! The driver between real servers and the engine's own streams. Waits end as soon as what is
//! waited for happens; periods are so long that a slow machine makes no stream silent.

mod common;

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{
    Counted, Orca, Raw, Reports, Streams, all, every, listen, nobody, report, silence, within,
};
use plimsoll::config::Behavior;
use plimsoll::{ReportStreams, StreamAction, StreamEnd, StreamFrame, StreamHost, StreamStats};
use plimsoll_orca_oob::{Action, Driver, OrcaLoadReport, Source, Target};
use prost::Message;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_stream::StreamExt;
use tonic::Status;

const HOST: StreamHost = StreamHost { slot: 1, generation: 0 };
const MS: Duration = Duration::from_millis(1);
/// The random number of every delay: so many milliseconds.
const RANDOM: u64 = 20;

/// One host of the engine.
struct Engine {
    target: Target,
    streams: Mutex<ReportStreams>,
    reports: mpsc::UnboundedSender<f64>,
}

impl Engine {
    /// Wants reports of the server at an address.
    fn new(
        behavior: Behavior,
        period_ms: u64,
        address: String,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<f64>) {
        let mut streams = ReportStreams::new(behavior);
        streams.want(HOST, &[period_ms], 0, || 0);
        let (reports, receiver) = mpsc::unbounded_channel();
        let (target, streams) = (Target::new(address), Mutex::new(streams));
        (Arc::new(Self { target, streams, reports }), receiver)
    }

    /// Waits until something has been counted.
    async fn until(&self, condition: impl Fn(StreamStats) -> bool) {
        until(|| condition(self.stats())).await;
    }

    fn stats(&self) -> StreamStats {
        self.streams.lock().unwrap().stats()
    }
}

impl Source for Engine {
    fn poll(&self, now_ns: u64) -> Vec<Action> {
        let actions = self.streams.lock().unwrap().poll(now_ns, || RANDOM);
        let action = |action| match action {
            StreamAction::Open { host: id, interval } => {
                Action::Open { id, target: self.target.clone(), interval }
            }
            StreamAction::Close { host: id } => Action::Close { id },
        };
        actions.into_iter().map(action).collect()
    }

    fn report(&self, id: StreamHost, report: &[u8], now_ns: u64) {
        let frame = match OrcaLoadReport::decode(report) {
            Err(_) => StreamFrame::Malformed,
            Ok(_) if report.is_empty() => StreamFrame::Empty,
            Ok(report) if report.rps_fractional > 0.0 => {
                self.reports.send(report.rps_fractional).unwrap();
                StreamFrame::Accepted
            }
            Ok(_) => StreamFrame::Refused,
        };
        self.streams.lock().unwrap().frame(id, frame, now_ns, || RANDOM);
    }

    fn ended(&self, id: StreamHost, end: StreamEnd, now_ns: u64) {
        self.streams.lock().unwrap().ended(id, end, now_ns, || RANDOM);
    }
}

/// Runs a driver until it is aborted, or to the end of the test's runtime.
fn drive(source: impl Source + Send + Sync + 'static) -> JoinHandle<Infallible> {
    let start = Instant::now();
    let clock = move || u64::try_from(start.elapsed().as_nanos()).unwrap();
    tokio::spawn(Driver::new(source, clock).tick(MS).run())
}

/// A server that counts its streams.
async fn counted(reports: fn() -> Reports) -> (String, Arc<Streams>) {
    let streams = Arc::new(Streams::default());
    let shared = Arc::clone(&streams);
    let orca = Orca::new(move |_| Ok(Box::pin(Counted::new(reports(), &shared))));
    (orca.start().await, streams)
}

async fn until(condition: impl Fn() -> bool) {
    within(async {
        while !condition() {
            tokio::time::sleep(MS).await;
        }
    })
    .await;
}

#[tokio::test]
async fn reports_reach_the_engine_in_order() {
    for behavior in [Behavior::Envoy, Behavior::Native] {
        let (address, streams) = counted(|| every(50 * MS)).await;
        let (engine, mut reports) = Engine::new(behavior, 60_000, address);
        let driver = drive(Arc::clone(&engine));
        for number in 1..=10 {
            assert_eq!(within(reports.recv()).await, Some(f64::from(number)));
        }
        let stats = engine.stats();
        assert!(stats.reports_received >= 10 && stats.active_sessions == 1, "{stats:?}");
        assert_eq!((stats.report_errors, stats.stream_failures), (0, 0));
        assert_eq!((streams.all(), streams.open()), (1, 1));
        driver.abort();
        until(|| streams.open() == 0).await;
    }
}

#[tokio::test]
async fn a_stream_that_nobody_wants_any_more_is_closed() {
    let (address, streams) = counted(|| every(50 * MS)).await;
    let (engine, mut reports) = Engine::new(Behavior::Native, 60_000, address);
    drive(Arc::clone(&engine));
    within(reports.recv()).await;
    engine.streams.lock().unwrap().forget(HOST);
    until(|| streams.open() == 0).await;
    let stats = engine.stats();
    assert_eq!((stats.active_sessions, stats.stream_failures), (0, 0));
    assert_eq!(streams.all(), 1);
}

#[tokio::test]
async fn one_report_and_ok_makes_envoy_call_again_soon_and_native_not_for_a_period() {
    let one = || all(vec![report(1)]);
    let (address, _) = counted(one).await;
    let (engine, _reports) = Engine::new(Behavior::Envoy, 60_000, address);
    drive(Arc::clone(&engine));
    engine.until(|stats| stats.stream_failures >= 5 && stats.reports_received >= 5).await;

    let (address, streams) = counted(one).await;
    let (engine, _reports) = Engine::new(Behavior::Native, 60_000, address);
    drive(Arc::clone(&engine));
    engine.until(|stats| stats.stream_failures == 1).await;
    tokio::time::sleep(300 * MS).await;
    let stats = engine.stats();
    assert_eq!((stats.reports_received, stats.stream_failures, streams.all()), (1, 1, 1));
}

#[tokio::test]
async fn a_server_without_the_method_is_called_once() {
    for behavior in [Behavior::Envoy, Behavior::Native] {
        let orca = Orca::new(|_| Err(Status::unimplemented("no")));
        let (engine, _reports) = Engine::new(behavior, 100, orca.start().await);
        drive(Arc::clone(&engine));
        engine.until(|stats| stats.stream_terminated == 1).await;
        tokio::time::sleep(300 * MS).await;
        let expected = StreamStats { stream_terminated: 1, ..StreamStats::default() };
        assert_eq!(engine.stats(), expected);
    }
}

#[tokio::test]
async fn a_server_that_comes_late_is_found() {
    let (engine, _reports) = Engine::new(Behavior::Envoy, 60_000, nobody().await);
    drive(Arc::clone(&engine));
    engine.until(|stats| stats.stream_failures >= 3).await;

    let (listener, address) = listen().await;
    let (engine, mut reports) = Engine::new(Behavior::Envoy, 60_000, address.to_string());
    drive(Arc::clone(&engine));
    for _ in 0..3 {
        drop(within(listener.accept()).await.unwrap());
    }
    tokio::spawn(Orca::new(|_| Ok(every(50 * MS))).serve(listener));
    assert_eq!(within(reports.recv()).await, Some(1.0));
    assert_eq!(engine.stats().stream_failures, 3);
}

#[tokio::test]
async fn silent_streams_are_closed_and_opened_again() {
    for behavior in [Behavior::Envoy, Behavior::Native] {
        let (address, streams) = counted(silence).await;
        let (engine, _reports) = Engine::new(behavior, 50, address);
        drive(Arc::clone(&engine));
        engine.until(|stats| stats.stream_failures >= 3).await;
        until(|| streams.all() >= 3 && streams.open() <= 1).await;
        assert_eq!(engine.stats().reports_received, 0);
    }
}

#[tokio::test]
async fn bytes_that_are_no_report_close_the_stream() {
    let raw = Raw {
        status: 200,
        headers: vec![("content-type", "application/grpc")],
        data: vec![0, 0, 0, 0, 2, 0xff, 0xff],
        end: None,
    };
    let (engine, _reports) = Engine::new(Behavior::Envoy, 60_000, raw.start().await);
    drive(Arc::clone(&engine));
    engine.until(|stats| stats.stream_failures >= 2).await;
    assert_eq!(engine.stats().reports_received, 0);
}

/// Gives what is put in, and takes the numbers of the reports out.
struct Script {
    actions: Mutex<Vec<Action>>,
    reports: mpsc::UnboundedSender<f64>,
}

impl Source for Script {
    fn poll(&self, _: u64) -> Vec<Action> {
        std::mem::take(&mut self.actions.lock().unwrap())
    }

    fn report(&self, _: StreamHost, report: &[u8], _: u64) {
        let report = OrcaLoadReport::decode(report).unwrap();
        self.reports.send(report.rps_fractional).unwrap();
    }

    fn ended(&self, _: StreamHost, end: StreamEnd, _: u64) {
        panic!("nothing ended: {end:?}");
    }
}

impl Script {
    /// A source that opens one stream.
    fn new(address: String) -> (Arc<Self>, mpsc::UnboundedReceiver<f64>) {
        let (reports, receiver) = mpsc::unbounded_channel();
        (Arc::new(Self { actions: Mutex::new(vec![open(address)]), reports }), receiver)
    }
}

fn open(address: String) -> Action {
    Action::Open { id: HOST, target: Target::new(address), interval: Duration::from_secs(1) }
}

#[tokio::test]
async fn empty_messages_reach_the_source_as_no_bytes() {
    let orca = Orca::new(|_| {
        let idle = OrcaLoadReport::default();
        let reports = [idle.clone(), idle.clone(), report(1), idle].map(Ok);
        Ok(Box::pin(tokio_stream::iter(reports).chain(silence())))
    });
    let (script, mut reports) = Script::new(orca.start().await);
    drive(script);
    for expected in [0.0, 0.0, 1.0, 0.0] {
        assert_eq!(within(reports.recv()).await, Some(expected));
    }
}

#[tokio::test]
async fn a_stream_that_is_replaced_is_not_heard_of_again() {
    fn high() -> Reports {
        Box::pin(tokio_stream::iter(1..).map(|number| Ok(report(1_000 + number))).throttle(MS))
    }
    let (old, old_streams) = counted(|| every(MS)).await;
    let (new, new_streams) = counted(high).await;
    let (script, mut reports) = Script::new(old);
    drive(Arc::clone(&script));
    assert_eq!(within(reports.recv()).await, Some(1.0));
    script.actions.lock().unwrap().push(open(new));
    while within(reports.recv()).await.unwrap() < 1_000.0 {}
    for _ in 0..20 {
        assert!(within(reports.recv()).await.unwrap() > 1_000.0, "of the old stream");
    }
    until(|| old_streams.open() == 0).await;
    assert_eq!(new_streams.open(), 1);
}
