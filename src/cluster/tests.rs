//! What needs the control lock in hand.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::config::{Endpoint, LocalityEndpoints};
use crate::pick::{Outcome, Pick, PickContext};

fn open() -> Cluster {
    let endpoints = (1..=9).map(|host| Endpoint::new(format!("10.0.0.{host}:80"))).collect();
    let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
    let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
    Cluster::open(ClusterConfig::new("test"), &hosts, Options::default()).unwrap()
}

#[test]
fn workers_take_no_lock() {
    let cluster = open();
    let mut worker = cluster.worker().unwrap();
    cluster.apply(&Update::new().remove("10.0.0.9:80")).unwrap();
    let control = cluster.lock().unwrap();
    let (report, finished) = mpsc::channel();
    let picking = thread::spawn(move || {
        let context = PickContext::default();
        let pick = worker.pick(&context).unwrap();
        worker.peek().unwrap();
        worker.host(pick).unwrap();
        worker.done(pick, Outcome::Success).unwrap();
        worker.quiesce();
        worker.refresh();
        worker.pick_batch(&context, &mut [Pick::default(); 4]).unwrap();
        drop(worker);
        report.send(()).unwrap();
    });
    let outcome = finished.recv_timeout(Duration::from_secs(20));
    drop(control);
    picking.join().unwrap();
    assert_eq!(outcome, Ok(()), "a worker waited for the control lock");
}

#[test]
fn a_panic_under_the_lock_leaves_workers_serving() {
    let cluster = open();
    let mut worker = cluster.worker().unwrap();
    let broken = thread::scope(|scope| {
        let call = || cluster.change(|_, _| -> Result<(), Error> { panic!("on purpose") });
        scope.spawn(call).join()
    });
    assert!(broken.is_err());
    assert_eq!(cluster.tick(1), Err(Error::Poisoned));
    assert_eq!(cluster.worker().err(), Some(Error::Poisoned));
    assert!(worker.pick(&PickContext::default()).is_ok());
    assert_eq!(cluster.view().hosts().len(), 9);
}

#[test]
fn a_panic_under_the_lock_is_said_once() {
    let (said, heard) = mpsc::channel();
    let write = move |level, text: &str| said.send((level, text.to_owned())).unwrap();
    let log = Some(LogSink::new(LogLevel::Error, write));
    let options = Options { log, ..Options::default() };
    let cluster = Cluster::open(ClusterConfig::new("api"), &Assignment::default(), options);
    let cluster = cluster.unwrap();
    let broken = thread::scope(|scope| {
        let call = || cluster.change(|_, _| -> Result<(), Error> { panic!("on purpose") });
        scope.spawn(call).join()
    });
    assert!(broken.is_err());
    assert_eq!(cluster.tick(1), Err(Error::Poisoned));
    let said: Vec<_> = heard.try_iter().collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].0 == LogLevel::Error && said[0].1.starts_with("a control call panicked"));
}

#[test]
fn host_data_may_call_back_when_it_is_dropped() {
    struct CallsBack(std::sync::Arc<Cluster>, mpsc::Sender<u64>);
    impl Drop for CallsBack {
        fn drop(&mut self) {
            let departed = self.0.stats().unwrap().get("plimsoll.hosts_departed");
            self.1.send(departed).unwrap();
        }
    }
    let cluster = std::sync::Arc::new(open());
    let (report, released) = mpsc::channel();
    let data = || Box::new(CallsBack(std::sync::Arc::clone(&cluster), report.clone()));
    cluster.set_host_data("10.0.0.9:80", data()).unwrap();
    // Refused data is dropped too, and not under the lock either.
    assert!(cluster.set_host_data("10.0.0.9:80", data()).is_err());
    assert!(cluster.set_host_data("nobody:80", data()).is_err());
    assert_eq!([released.try_recv(), released.try_recv()], [Ok(0), Ok(0)]);
    cluster.apply(&Update::new().remove("10.0.0.9:80")).unwrap();
    assert_eq!(released.recv_timeout(Duration::from_secs(20)), Ok(0));
}

#[test]
fn workers_that_come_and_go_leave_nothing_behind() {
    let cluster = open();
    for _ in 0..10_000 {
        drop(cluster.worker().unwrap());
    }
    let control = cluster.lock().unwrap();
    assert!(control.publisher.readers() < 10, "{} readers", control.publisher.readers());
    assert!(control.summary().workers < 10, "{} workers", control.summary().workers);
}
