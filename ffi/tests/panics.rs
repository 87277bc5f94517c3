//! A panic ends inside the library: it is a status, its message is in the error object, and what
//! can go on goes on.

// Calling the interface as C does takes raw pointers.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
use plimsoll::{Cluster, Options};
use plimsoll_ffi::cluster::{ClusterHandle, plimsoll_cluster_free};
use plimsoll_ffi::control::{plimsoll_cluster_assign, plimsoll_cluster_tick};
use plimsoll_ffi::error::{plimsoll_error_code, plimsoll_error_free, plimsoll_error_message};
use plimsoll_ffi::pick::{Pick, plimsoll_worker_done, plimsoll_worker_pick};
use plimsoll_ffi::status::Status;
use plimsoll_ffi::text::Str;
use plimsoll_ffi::worker::{WorkerHandle, plimsoll_worker_free, plimsoll_worker_new};

/// Host data of a Rust program that cannot be dropped. C cannot make such a thing.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the data of a host went off");
    }
}

const HOST: &str = "10.0.0.1:80";

/// A cluster of one host with a bomb behind it, as C holds it.
fn mined() -> (*mut ClusterHandle, *mut WorkerHandle) {
    let endpoints = vec![Endpoint::new(HOST)];
    let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
    let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
    let engine = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default()).unwrap();
    engine.set_host_data(HOST, Box::new(Bomb)).unwrap();
    let cluster = ClusterHandle::into_raw(engine);
    let mut worker = null_mut();
    // SAFETY: made just now.
    let made = unsafe { plimsoll_worker_new(cluster, &raw mut worker, null_mut()) };
    assert_eq!(made, Status::Ok);
    (cluster, worker)
}

/// A text of an error object.
fn text(lent: Str) -> String {
    // SAFETY: the texts of an error object end in a NUL.
    let text = unsafe { CStr::from_ptr(lent.data) };
    text.to_str().unwrap().to_owned()
}

fn pick(worker: *mut WorkerHandle) -> Status {
    let mut pick = Pick { slot: 0, generation: 0, priority: 0, flags: 0 };
    // SAFETY: alive, and used by this thread only.
    let status = unsafe { plimsoll_worker_pick(worker, null(), &raw mut pick) };
    if status == Status::Ok {
        // SAFETY: as above.
        assert_eq!(unsafe { plimsoll_worker_done(worker, &raw const pick, 0) }, Status::Ok);
    }
    status
}

#[test]
fn a_panic_of_a_control_call_is_a_status_with_a_message() {
    let (cluster, worker) = mined();
    let mut error = null_mut();
    let nobody = r#"{"cluster_name":"api"}"#;
    let nobody = Str { data: nobody.as_ptr().cast(), len: nobody.len() };
    // SAFETY: alive, and the text is.
    let left = unsafe { plimsoll_cluster_assign(cluster, nobody, null_mut(), &raw mut error) };
    assert_eq!((left, error), (Status::Ok, null_mut()));

    // The worker still holds the snapshot of before; its next pick moves on, and then the host is
    // nobody's any more.
    assert_eq!(pick(worker), Status::NoHost);
    // SAFETY: alive.
    let ticked = unsafe { plimsoll_cluster_tick(cluster, 1, &raw mut error) };
    assert_eq!(ticked, Status::Panic);
    // SAFETY: the failed call made it.
    assert_eq!(text(unsafe { plimsoll_error_code(error) }), "panic");
    // SAFETY: as above.
    assert_eq!(text(unsafe { plimsoll_error_message(error) }), "the data of a host went off");
    // SAFETY: as above.
    unsafe { plimsoll_error_free(error) };

    // This one fell outside of the engine's lock, so that control calls go on as well.
    // SAFETY: alive.
    assert_eq!(unsafe { plimsoll_cluster_tick(cluster, 2, null_mut()) }, Status::Ok);
    assert_eq!(pick(worker), Status::NoHost);
    // SAFETY: alive, and not used any more.
    unsafe { plimsoll_worker_free(worker) };
    // SAFETY: as above.
    unsafe { plimsoll_cluster_free(cluster) };
}

#[test]
fn a_panic_while_a_handle_is_freed_stays_inside() {
    let (cluster, worker) = mined();
    // SAFETY: alive, and not used any more.
    unsafe { plimsoll_cluster_free(cluster) };
    assert_eq!(pick(worker), Status::Ok);
    // SAFETY: as above; this is the last handle, and sets off the bomb.
    unsafe { plimsoll_worker_free(worker) };
}
