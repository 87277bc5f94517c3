//! What clusters count and how they stand, for a scrape.

use std::ffi::c_char;

use plimsoll::{PrometheusLimits, prometheus_text};

use crate::array;
use crate::cluster::ClusterHandle;
use crate::growable::{self, Growable, SizeProblem};
use crate::guard::status;
use crate::handle;
use crate::out::TextBuffer;
use crate::status::Status;

/// How much a scrape may hold of each cluster. Growable: start from
/// `PLIMSOLL_PROMETHEUS_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct PrometheusOptions {
    /// `sizeof(plimsoll_prometheus_options)`.
    pub size: usize,
    /// How many hosts at most get samples of their own, nine families of them: the first ones by
    /// priority, then in the assignment's order. The rest is counted. 0: none, and no count.
    pub max_hosts: u32,
    /// How many localities of each priority at most. 0: none, and no count.
    pub max_localities: u32,
}

// SAFETY: integers only; `layout` leaves no room for padding.
unsafe impl Growable for PrometheusOptions {}

/// Writes what `count` clusters count and how they stand, in Prometheus' text format, and a NUL into
/// `buffer`. All clusters of a scrape go into one call, because each family of metrics may stand in a
/// scrape once only. Their names are the label `cluster`, and ought to differ.
///
/// The figures are those of `plimsoll_cluster_stats`, zeroes included, after `plimsoll_`, with `_` for
/// dots and `_total` where, and only where, one only rises. With `options` also hosts and localities have samples.
/// `options` may be NULL, and `clusters` if `count` is 0.
///
/// `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
/// call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
///
/// Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, also for a NULL among the clusters,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` or `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the options,
/// `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on control calls.
///
/// # Safety
///
/// `clusters` is NULL or an array of `count` pointers, each NULL or alive, `options` is NULL or as
/// large as its `size` says, `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL or
/// writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_prometheus(
    clusters: *const *const ClusterHandle,
    count: usize,
    options: *const PrometheusOptions,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    status(|| {
        // SAFETY: the caller promises that they are null or writable.
        let buffer = unsafe { TextBuffer::new(buffer, capacity, needed) }?;
        // SAFETY: the caller promises that it is null or readable.
        let handles = unsafe { array::items(clusters, count) }?;
        let mut clusters = Vec::with_capacity(handles.len());
        for cluster in handles {
            // SAFETY: null is handled; otherwise the caller promises that it is alive.
            clusters.push(unsafe { handle::alive(*cluster) }?.engine());
        }
        let options = match options.is_null() {
            true => PrometheusOptions::default(),
            // SAFETY: not null; the caller promises the rest.
            false => unsafe { growable::read(options) }.map_err(SizeProblem::status)?,
        };
        let limits = PrometheusLimits {
            hosts: options.max_hosts as usize,
            localities: options.max_localities as usize,
        };
        let text = prometheus_text(clusters, limits);
        buffer.put(&text.map_err(|error| Status::of_code(error.code()))?)
    })
}
