//! What hosts have reported, from one cluster to the one that takes its place.

use std::ffi::c_char;

use plimsoll::ExportedReports;

use crate::cluster::ClusterHandle;
use crate::dump::text;
use crate::error::report;
use crate::failure::Failure;
use crate::handle;
use crate::out::fresh;
use crate::status::Status;
use crate::text::Str;

/// Writes what the cluster's hosts have reported, and how far their weights have followed that, and
/// a NUL into `buffer`: for `plimsoll_cluster_import_reports`, in this process or in the next one.
/// Nobody else should read more of it than its first line.
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
pub unsafe extern "C" fn plimsoll_cluster_export_reports(
    cluster: *const ClusterHandle,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    // SAFETY: passed on from the caller.
    unsafe {
        text(cluster, buffer, capacity, needed, |engine| Ok(engine.export_reports()?.to_string()))
    }
}

/// Takes over what `plimsoll_cluster_export_reports` wrote, by address, as if the hosts had reported
/// it to this cluster at that time; weights follow at once. A host that has reported to this cluster
/// keeps that, and hosts and policies that it does not have are passed over. Reports are as much
/// older than the cluster's clock shows now: tell it the time first, with
/// `plimsoll_cluster_options.now_ns` or `plimsoll_cluster_tick`.
///
/// `*taken` is how many records it took, one for each host and policy; it may be NULL.
///
/// Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` if `reports` is not such a text (the error object
/// names the line), or not UTF-8, `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
/// `PLIMSOLL_STATUS_PANIC`; nothing was taken over then.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `reports` is readable, `taken` and `error` are NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_import_reports(
    cluster: *const ClusterHandle,
    reports: Str,
    taken: *mut usize,
    error: *mut *mut Failure,
) -> Status {
    // SAFETY: the caller promises that it is null or writable.
    let taken = unsafe { fresh(taken, 0) };
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        // SAFETY: the caller promises that it is readable.
        let reports = unsafe { reports.read("reports") }?;
        let reports: ExportedReports = reports.parse().map_err(plimsoll::Error::Config)?;
        let count = cluster.engine().import_reports(&reports)?;
        if let Some(taken) = taken {
            *taken = count;
        }
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}
