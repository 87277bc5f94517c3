//! What can be asked about the host of a pick: its address, and the data behind it.
//!
//! The worker's present snapshot answers, so that the questions cost no more than a pick: they
//! neither allocate nor lock.

use std::ffi::{c_char, c_void};
use std::ptr;

use crate::guard::status;
use crate::host_data;
use crate::out::{TextBuffer, fresh};
use crate::pick::Pick;
use crate::status::Status;
use crate::worker::WorkerHandle;

/// Writes the address of the host of a pick and a NUL into `buffer`.
///
/// `*needed` is the number of bytes that takes, the NUL included. `buffer` may be NULL if
/// `capacity` is 0. On failure the buffer holds an empty text. Inside `accept` the candidate may
/// be asked about.
///
/// The worker looks in the snapshot that it has: a host that has left since is not found after the
/// worker's next pick, though its request goes on.
///
/// Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
/// `PLIMSOLL_STATUS_STALE_PICK` if the snapshot has no such host,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for flags that no pick has
/// or for another pick inside `accept`, or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable, `buffer` is
/// NULL or has `capacity` writable bytes, `needed` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_host_address(
    worker: *const WorkerHandle,
    pick: *const Pick,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    status(|| {
        // SAFETY: the caller promises that they are null or writable.
        let buffer = unsafe { TextBuffer::new(buffer, capacity, needed) }?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        // SAFETY: null is handled; otherwise the caller promises that it is readable.
        let pick = unsafe { pick.as_ref() }.ok_or(Status::NullArgument)?;
        worker.with_host(pick.to_engine()?, |host| buffer.put(host.address().as_str()))?
    })
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
        let out = unsafe { fresh(out, ptr::null_mut()) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        // SAFETY: null is handled; otherwise the caller promises that it is readable.
        let pick = unsafe { pick.as_ref() }.ok_or(Status::NullArgument)?;
        *out = worker.with_host(pick.to_engine()?, host_data::pointer)?;
        Ok(())
    })
}
