//! The caller's own data behind a host: usually its connections.
//!
//! The engine keeps the data as long as a pick or a snapshot can still name the host, and then
//! drops it, which calls the caller's `release`. A call that fails must leave the data with the
//! caller, although the engine has dropped its box by then; `Ownership` tells the two apart.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll::HostRef;

use crate::cluster::ClusterHandle;
use crate::error::{Failure, report};
use crate::guard::status;
use crate::out::fresh;
use crate::pick::Pick;
use crate::status::Status;
use crate::text::Str;
use crate::worker::WorkerHandle;

type Release = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// Whose the data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ownership {
    /// The call that hands it over has not returned yet.
    Offered,
    /// The engine's: dropping it releases it.
    Taken,
    /// Dropped while it was offered: either refused, or taken and already gone again.
    Dropped,
}

/// The caller's pointer and how to give it back.
struct HostData {
    data: *mut c_void,
    release: Release,
    ownership: Arc<Mutex<Ownership>>,
}

// SAFETY: the library only carries the pointer. The interface says that `release` may run on any
// thread that makes a control call or frees the last handle.
unsafe impl Send for HostData {}
// SAFETY: as above; a shared reference gives the pointer away, and what is behind it is for the
// caller to share between its threads.
unsafe impl Sync for HostData {}

impl Drop for HostData {
    fn drop(&mut self) {
        if exchange(&self.ownership, Ownership::Dropped) == Ownership::Taken {
            // SAFETY: the data was handed over with this function, and this is the one call.
            unsafe { release(self.release, self.data) };
        }
    }
}

fn exchange(ownership: &Mutex<Ownership>, next: Ownership) -> Ownership {
    // Nothing can panic while the lock is held, so that a poisoned one still tells the truth.
    let mut current = ownership.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut current, next)
}

/// Gives the data back.
///
/// # Safety
///
/// `release` came with `data`, and was not called for it before.
unsafe fn release(release: Release, data: *mut c_void) {
    if let Some(release) = release {
        // SAFETY: the caller of the library promises that it may be called so, once.
        unsafe { release(data) };
    }
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
        let cluster = unsafe { cluster.as_ref() }.ok_or_else(|| Failure::null("cluster"))?;
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
    callback: Release,
) -> Result<(), Failure> {
    let ownership = Arc::new(Mutex::new(Ownership::Offered));
    let offered = HostData { data, release: callback, ownership: Arc::clone(&ownership) };
    cluster.engine().set_host_data(address, Box::new(offered))?;
    // SAFETY: the engine has taken the data, and this is said once.
    unsafe { take(&ownership, data, callback) };
    Ok(())
}

/// Makes the data the engine's.
///
/// # Safety
///
/// The engine has taken the [`HostData`] of these three, and this is called once for it.
unsafe fn take(ownership: &Mutex<Ownership>, data: *mut c_void, callback: Release) {
    if exchange(ownership, Ownership::Taken) == Ownership::Dropped {
        // Another thread removed the host since, and the drop there could not know yet that the
        // data had been taken.
        // SAFETY: taken and dropped, and the drop left it to us.
        unsafe { release(callback, data) };
    }
}

/// The data behind the host of a pick; NULL in `*out` if it has none, and on failure.
///
/// The pointer is valid until `release` is called for it, which does not happen before the pick is
/// done, or, for a pick that is not counted, before the worker's next pick. Inside `accept` the
/// candidate may be asked about.
///
/// The worker looks in the snapshot that it has: a host that has left since is not found after the
/// worker's next pick, though its data stays valid. So ask right after the pick.
///
/// Fails with `PLIMSOLL_STATUS_STALE_PICK` if the snapshot has no such host,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for flags that no pick has
/// or for another pick inside `accept`, or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable, `out` is NULL
/// or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_host_data(
    worker: *const WorkerHandle,
    pick: *const Pick,
    out: *mut *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, std::ptr::null_mut()) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { worker.as_ref() }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is readable.
        let pick = unsafe { pick.as_ref() }.ok_or(Status::NullArgument)?;
        *out = worker.with_host(pick.to_engine()?, pointer)?;
        Ok(())
    })
}

fn pointer(host: HostRef<'_>) -> *mut c_void {
    let data = host.data().and_then(|data| data.downcast_ref::<HostData>());
    data.map_or(std::ptr::null_mut(), |data| data.data)
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn count(data: *mut c_void) {
        // SAFETY: the tests below give the pointer to a counter that outlives the data.
        unsafe { *data.cast::<u32>() += 1 };
    }

    fn offered(counter: &mut u32) -> HostData {
        let ownership = Arc::new(Mutex::new(Ownership::Offered));
        HostData { data: (&raw mut *counter).cast(), release: Some(count), ownership }
    }

    #[test]
    fn refused_data_is_not_released() {
        let mut released = 0;
        drop(offered(&mut released));
        assert_eq!(released, 0);
    }

    #[test]
    fn taken_data_is_released_when_it_is_dropped() {
        let mut released = 0;
        let data = offered(&mut released);
        // SAFETY: once, with what belongs together.
        unsafe { take(&data.ownership, data.data, data.release) };
        drop(data);
        assert_eq!(released, 1);
    }

    #[test]
    fn data_that_is_dropped_before_its_call_returns_is_released_by_the_call() {
        let mut released = 0;
        let data = offered(&mut released);
        let (ownership, pointer) = (Arc::clone(&data.ownership), data.data);
        drop(data);
        // SAFETY: once, with what belongs together.
        unsafe { take(&ownership, pointer, Some(count)) };
        assert_eq!(released, 1);
    }
}
