//! The caller's own data behind a host: usually its connections.
//!
//! The engine keeps the data as long as a pick or a snapshot can still name the host, and then
//! drops it, which calls the caller's `release`. A call that fails must leave the data with the
//! caller, although the engine drops what it refuses: so the call itself holds the data as well,
//! and the last of the two to let go releases it, or, after a failure, nobody does.

use std::ffi::c_void;
use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::Arc;

use plimsoll::HostRef;

use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::handle;
use crate::status::Status;
use crate::text::Str;

type Release = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// The caller's pointer.
#[derive(Clone, Copy)]
struct Pointer(*mut c_void);

// SAFETY: the library only carries the pointer and gives it back. What is behind it is for the
// caller to share between its threads, and the interface says that `release` may run on any.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

/// The caller's data: given back when it is dropped.
struct Owned {
    data: Pointer,
    release: Release,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the data was handed over with this function, to be called so, once.
            unsafe { release(self.data.0) };
        }
    }
}

/// What the engine keeps behind the host. The pointer stands here once more, so that a request
/// finds it without another step.
struct Attached {
    data: Pointer,
    _owned: Arc<Owned>,
}

/// Puts the caller's data behind a host, once for each host.
///
/// From then on the data belongs to the library. `release(data)` is called exactly once, when the
/// host has left the cluster, its last request is done, and no worker holds a snapshot that names
/// it: in the first control call that finds it so (`plimsoll_cluster_tick` will do), and at the
/// latest when the last handle of the cluster is freed. It runs on the thread of that call, without
/// any lock of the library held; it must not free a handle, unwind or `longjmp`. `release` may be
/// NULL: then nothing is called. A host that is described anew keeps its data; one that leaves and
/// returns later has none.
///
/// On failure the data stays yours, and `release` is not called.
///
/// Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if the cluster has no host with this address, with
/// `PLIMSOLL_STATUS_HAS_DATA` if it has data already, with `PLIMSOLL_STATUS_NULL_ARGUMENT`,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an address that is not UTF-8,
/// `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `address` is readable, `error` is NULL or writable. `release` may be
/// called with `data` on any thread.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_set_host_data(
    cluster: *const ClusterHandle,
    address: Str,
    data: *mut c_void,
    release: Option<unsafe extern "C" fn(data: *mut c_void)>,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        // SAFETY: the caller promises that it is readable.
        let address = unsafe { address.read("address") }?;
        offer(cluster, address, data, release)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

fn offer(
    cluster: &ClusterHandle,
    address: &str,
    data: *mut c_void,
    release: Release,
) -> Result<(), Failure> {
    let data = Pointer(data);
    // Not dropped by a panic either: the data of a call that fails is the caller's.
    let held = ManuallyDrop::new(Arc::new(Owned { data, release }));
    let attached = Attached { data, _owned: Arc::clone(&held) };
    let taken = cluster.engine().set_host_data(address, Box::new(attached));
    settle(ManuallyDrop::into_inner(held), taken.is_ok());
    Ok(taken?)
}

/// Lets go of the call's hold on the data, once the engine has either taken or dropped its own.
fn settle(held: Arc<Owned>, taken: bool) {
    if taken {
        // Another thread may have removed the host since: then this releases the data.
        drop(held);
    } else if let Some(refused) = Arc::into_inner(held) {
        mem::forget(refused);
    }
}

/// The caller's pointer behind a host; null if it has none.
pub(crate) fn pointer(host: HostRef<'_>) -> *mut c_void {
    let attached = host.data().and_then(|data| data.downcast_ref::<Attached>());
    attached.map_or(ptr::null_mut(), |attached| attached.data.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn count(data: *mut c_void) {
        // SAFETY: the tests below give the pointer to a counter that outlives the data.
        unsafe { *data.cast::<u32>() += 1 };
    }

    fn owned(counter: &mut u32) -> Arc<Owned> {
        let data = Pointer((&raw mut *counter).cast());
        Arc::new(Owned { data, release: Some(count) })
    }

    #[test]
    fn refused_data_is_not_released() {
        let mut released = 0;
        let held = owned(&mut released);
        drop(Arc::clone(&held));
        settle(held, false);
        assert_eq!(released, 0);
    }

    #[test]
    fn taken_data_is_released_when_it_is_dropped() {
        let mut released = 0;
        let held = owned(&mut released);
        let engines = Arc::clone(&held);
        settle(held, true);
        drop(engines);
        assert_eq!(released, 1);
    }

    #[test]
    fn data_that_is_dropped_before_its_call_returns_is_released_by_the_call() {
        let mut released = 0;
        let held = owned(&mut released);
        drop(Arc::clone(&held));
        settle(held, true);
        assert_eq!(released, 1);
    }
}
