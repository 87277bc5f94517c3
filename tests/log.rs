//! What a cluster says, when, and on which side of its locks.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use plimsoll::config::{Assignment, ClusterConfig};
use plimsoll::{Cluster, HostData, LogLevel, LogSink, Options, Update};

type Lines = Arc<Mutex<Vec<(LogLevel, String)>>>;

fn open(level: LogLevel) -> (Cluster, Lines) {
    let lines = Lines::default();
    let kept = Arc::clone(&lines);
    let write = move |level, text: &str| {
        kept.lock().expect("no test panics in it").push((level, text.to_owned()));
    };
    let options = Options { log: Some(LogSink::new(level, write)), ..Options::default() };
    let cluster = Cluster::open(ClusterConfig::new("api"), &Assignment::default(), options);
    (cluster.expect("a valid cluster"), lines)
}

fn upsert(address: &str) -> Update {
    Update::new().upsert(plimsoll::HostChange {
        endpoint: plimsoll::config::Endpoint::new(address),
        priority: 0,
        locality: plimsoll::Locality::default(),
    })
}

#[test]
fn a_message_may_call_back_into_the_cluster_that_it_is_of() {
    let place: Arc<OnceLock<Weak<Cluster>>> = Arc::default();
    let inside = Arc::clone(&place);
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    let write = move |_, _: &str| {
        if let Some(cluster) = inside.get().and_then(Weak::upgrade) {
            cluster.stats().expect("no call has panicked");
            *counted.lock().expect("no test panics in it") += 1;
        }
    };
    let options = Options { log: Some(LogSink::new(LogLevel::Debug, write)), ..Options::default() };
    let cluster = Cluster::open(ClusterConfig::new("api"), &Assignment::default(), options);
    let cluster = Arc::new(cluster.expect("a valid cluster"));
    place.set(Arc::downgrade(&cluster)).expect("set once");
    cluster.apply(&upsert("10.0.0.1:80")).expect("a valid host");
    assert!(*calls.lock().expect("no test panics in it") >= 1);
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("went off");
    }
}

#[test]
fn a_panic_outside_of_the_lock_is_not_taken_for_one_of_the_cluster() {
    let (cluster, lines) = open(LogLevel::Error);
    cluster.apply(&upsert("10.0.0.1:80")).expect("a valid host");
    let data: HostData = Box::new(Bomb);
    cluster.set_host_data("10.0.0.1:80", data).expect("the host is there");
    let remove = Update::new().remove("10.0.0.1:80");
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cluster.apply(&remove).expect("the host is there");
        cluster.tick(1).expect("no call has panicked");
    }));
    assert!(ended.is_err(), "the data is dropped by one of the calls");
    assert!(lines.lock().expect("no test panics in it").is_empty());
    cluster.tick(2).expect("the cluster is whole");
}

#[test]
fn a_sink_gets_its_level_and_what_matters_more() {
    for (level, expected) in
        [(LogLevel::Error, 0), (LogLevel::Warning, 1), (LogLevel::Info, 3), (LogLevel::Debug, 4)]
    {
        let (cluster, lines) = open(level);
        // Empty, and so in panic; then out of it with a new snapshot.
        cluster.apply(&upsert("10.0.0.1:80")).expect("a valid host");
        let lines = lines.lock().expect("no test panics in it").clone();
        assert_eq!(lines.len(), expected, "{level:?}: {lines:?}");
        assert!(lines.iter().all(|(its, _)| *its <= level));
    }
}
