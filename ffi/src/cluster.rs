//! A cluster's handle: how it comes and goes.

use std::ptr;

use plimsoll::config::ClusterConfig;
use plimsoll::{Cluster, Error};
use plimsoll_envoy_config::parse_cluster;

use crate::assignment::{self, Assignment, engine_assignment};
use crate::error::report;
use crate::failure::Failure;
use crate::guard::silent;
use crate::handle;
use crate::options::{self, ClusterOptions};
use crate::out::fresh;
use crate::settings::{self, ClusterSettings};
use crate::status::Status;
use crate::text::Str;

/// A cluster: its settings, its hosts, and the snapshot that its workers pick from. Any thread may
/// use it; control calls wait for each other and never make a worker wait.
pub struct ClusterHandle {
    engine: Cluster,
}

// The header lets any thread use a cluster, and free an error object.
const _: () = {
    const fn any_thread<T: Send + Sync>() {}
    any_thread::<Cluster>();
    any_thread::<Failure>();
};

impl ClusterHandle {
    /// The handle of a cluster that Rust code made; C frees it with [`plimsoll_cluster_free`].
    #[must_use]
    pub fn into_raw(engine: Cluster) -> *mut Self {
        handle::into_raw(Self { engine })
    }

    pub(crate) fn engine(&self) -> &Cluster {
        &self.engine
    }
}

/// Opens a cluster from Envoy's `Cluster` message, as JSON or YAML; its hosts are those of its
/// `load_assignment`, none if it has none.
///
/// `options` may be NULL. `*out` is NULL on failure. Free it with `plimsoll_cluster_free`. Open it
/// after a `fork`: handles do not survive one.
///
/// Fails with `PLIMSOLL_STATUS_PARSE_ERROR` for text that is neither JSON nor YAML,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range or an unknown field (the error
/// object names it), `PLIMSOLL_STATUS_UNSUPPORTED` for what Envoy accepts and this version does
/// not, `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for options of a newer header,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: no.
///
/// # Safety
///
/// `cluster` is readable, `options` is NULL or as large as its `size` says, its `local_cluster` is
/// NULL or alive, its `runtime` NULL or an array of `runtime_count` values whose keys are readable,
/// `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_open(
    cluster: Str,
    options: *const ClusterOptions,
    out: *mut *mut ClusterHandle,
    error: *mut *mut Failure,
) -> Status {
    let read = || {
        // SAFETY: the caller promises that it is readable.
        let file = parse_cluster(unsafe { cluster.read("cluster") }?)?;
        Ok((file.config, file.assignment))
    };
    // SAFETY: passed on from the caller.
    unsafe { open(read, options, out, error, Failure::from) }
}

/// Opens a cluster from structs, without any text of Envoy's. `assignment` are its hosts; NULL: it has
/// none yet.
///
/// `options` may be NULL. `*out` is NULL on failure. Free it with `plimsoll_cluster_free`. Open it
/// after a `fork`: handles do not survive one.
///
/// Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range, a number that stands
/// for nothing, text that is not UTF-8, or settings of what was not chosen; the error object names the
/// member (`settings.least_request.choice_count`, `assignment.localities[2].hosts[0].weight`). Also with
/// `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for structs of a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT`
/// or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: no.
///
/// # Safety
///
/// `settings` is NULL or as large as its `size` says, and so is what it points to, whose texts and
/// arrays are readable and whose handles are alive. So with `assignment`. `options` is as with
/// `plimsoll_cluster_open`, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_new(
    settings: *const ClusterSettings,
    assignment: *const Assignment,
    options: *const ClusterOptions,
    out: *mut *mut ClusterHandle,
    error: *mut *mut Failure,
) -> Status {
    let read = || {
        // SAFETY: passed on from the caller.
        let config = unsafe { settings::engine_config(settings) }?;
        // SAFETY: passed on from the caller.
        Ok((config, unsafe { engine_assignment(assignment) }?))
    };
    // SAFETY: passed on from the caller.
    unsafe { open(read, options, out, error, assignment::failure) }
}

/// Opens a cluster of what `read` gives; `refused` names what the engine refuses of it.
///
/// # Safety
///
/// `options` is as [`options::engine_options`] wants it, `out` and `error` are null or writable.
unsafe fn open(
    read: impl FnOnce() -> Result<(ClusterConfig, Option<plimsoll::config::Assignment>), Failure>,
    options: *const ClusterOptions,
    out: *mut *mut ClusterHandle,
    error: *mut *mut Failure,
    refused: impl FnOnce(Error) -> Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, ptr::null_mut()) }.ok_or_else(|| Failure::null("out"))?;
        let (config, assignment) = read()?;
        // SAFETY: passed on from the caller.
        let (behavior, options) = unsafe { options::engine_options(options) }?;
        let config = ClusterConfig { behavior, ..config };
        let engine = Cluster::open(config, &assignment.unwrap_or_default(), options);
        *out = ClusterHandle::into_raw(engine.map_err(refused)?);
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Frees a cluster. NULL is fine. Its workers keep serving their last snapshot; the last handle to
/// be freed takes the rest with it, so that `release` callbacks may run.
///
/// Thread: any, while nobody else uses `cluster`. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `cluster` is NULL or came from `plimsoll_cluster_open` or `_new`, was not freed before, and nobody
/// uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_free(cluster: *mut ClusterHandle) {
    // SAFETY: passed on from the caller.
    silent(|| unsafe { handle::free(cluster) });
}
