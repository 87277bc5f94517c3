//! The C library, with a way to make it panic.
//!
//! C cannot: every panic is a mistake of the library, and none is known. But that panics are caught
//! depends on how the library is linked, so the tests of the packaging package this one in the same
//! way and see what becomes of its panics.

// Everything here is for C.
#![allow(unsafe_code)]

use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
use plimsoll::{Cluster, Options};
use plimsoll_ffi::cluster::ClusterHandle;
use plimsoll_ffi::guard::guard;

/// Host data that panics when the library drops it.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the data of a host went off");
    }
}

/// A cluster `api` with the host `10.0.0.1:80` and a bomb behind it, or NULL. The host must go for
/// it to go off.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_probe_mined() -> *mut ClusterHandle {
    guard(|| mined().unwrap_or(std::ptr::null_mut()), |_| std::ptr::null_mut())
}

fn mined() -> Option<*mut ClusterHandle> {
    let endpoints = vec![Endpoint::new("10.0.0.1:80")];
    let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
    let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
    let engine = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default()).ok()?;
    engine.set_host_data("10.0.0.1:80", Box::new(Bomb)).ok()?;
    Some(ClusterHandle::into_raw(engine))
}

/// Panics inside the library's guard, and answers the length of the message, 7 and the digits of
/// `number`.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_probe_panic(number: u32) -> usize {
    guard(|| panic!("number {number}"), |message| message.len())
}
