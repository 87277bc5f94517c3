//! Texts about a cluster for a human or a log, written into the caller's buffer.

use std::ffi::c_char;

use plimsoll::{Cluster, Error};

use crate::cluster::ClusterHandle;
use crate::guard::status;
use crate::out::TextBuffer;
use crate::status::Status;

/// Writes a table of all hosts of the newest snapshot and a NUL into `buffer`: for humans, its form
/// may change.
///
/// `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
/// call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
///
/// Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: no.
///
/// # Safety
///
/// `cluster` is NULL or alive, `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL
/// or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_hosts(
    cluster: *const ClusterHandle,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    // SAFETY: passed on from the caller.
    unsafe { text(cluster, buffer, capacity, needed, |engine| Ok(engine.view().to_string())) }
}

/// Writes the cluster's counters and a NUL into `buffer`: a line `name: value` for each that is not
/// zero, sorted by name. Names are Envoy's where Envoy has the counter; ours start with
/// `plimsoll.`.
///
/// `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
/// call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
///
/// Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL
/// or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_stats(
    cluster: *const ClusterHandle,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    let render = |engine: &Cluster| Ok(engine.stats()?.to_string());
    // SAFETY: passed on from the caller.
    unsafe { text(cluster, buffer, capacity, needed, render) }
}

/// A call that writes a text about the cluster.
///
/// # Safety
///
/// As for [`plimsoll_cluster_hosts`].
pub(crate) unsafe fn text(
    cluster: *const ClusterHandle,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    render: impl FnOnce(&Cluster) -> Result<String, Error>,
) -> Status {
    status(|| {
        // SAFETY: the caller promises that they are null or writable.
        let buffer = unsafe { TextBuffer::new(buffer, capacity, needed) }?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { cluster.as_ref() }.ok_or(Status::NullArgument)?;
        let text = render(cluster.engine()).map_err(|error| Status::of_code(error.code()))?;
        buffer.put(&text)
    })
}
