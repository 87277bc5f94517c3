//! The control calls of a cluster: each is one step, all or nothing.

use plimsoll::config::ClusterConfig;
use plimsoll::{Cluster, Update};
use plimsoll_envoy_config::{parse_assignment, parse_cluster};

use crate::assignment::{self, Assignment, engine_assignment};
use crate::change::{self, HostChange};
use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::handle;
use crate::out::fresh;
use crate::settings::{self, ClusterSettings};
use crate::status::Status;
use crate::text::Str;

/// What a control call did.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Applied {
    /// The version of the newest snapshot after the call.
    pub version: u64,
    /// Whether the call made a new snapshot. One that changes nothing makes none.
    pub published: bool,
}

impl Applied {
    const NOTHING: Self = Self { version: 0, published: false };
}

/// Takes in a new version of the `Cluster` message: settings and hosts in one step, all or nothing.
/// Without a `load_assignment` the hosts stay. Behavior and options stay, workers stay, and so do
/// hosts that are still there, with their data and their active requests.
///
/// `out` may be NULL; it is zero on failure.
///
/// Fails as `plimsoll_cluster_open` does, and with `PLIMSOLL_STATUS_POISONED`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `text` is readable, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_reload(
    cluster: *const ClusterHandle,
    text: Str,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let update = |engine: &Cluster| {
        // SAFETY: the caller promises that it is readable.
        let text = unsafe { text.read("text") }?;
        let mut file = parse_cluster(text)?;
        file.config.behavior = engine.view().config().behavior;
        let update = Update::new().reconfigure(file.config);
        Ok(match file.assignment {
            Some(assignment) => update.assign(assignment),
            None => update,
        })
    };
    // SAFETY: passed on from the caller.
    unsafe { apply(cluster, out, error, update) }
}

/// Replaces the hosts by those of Envoy's `ClusterLoadAssignment`, as JSON or YAML. Hosts that are
/// still there keep their data and their active requests.
///
/// `out` may be NULL; it is zero on failure.
///
/// Fails with `PLIMSOLL_STATUS_PARSE_ERROR`, `PLIMSOLL_STATUS_INVALID_ARGUMENT`,
/// `PLIMSOLL_STATUS_UNSUPPORTED` (the error object names the field),
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `load_assignment` is readable, `out` and `error` are NULL or
/// writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_assign(
    cluster: *const ClusterHandle,
    load_assignment: Str,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let update = |_: &Cluster| {
        // SAFETY: the caller promises that it is readable.
        let text = unsafe { load_assignment.read("load_assignment") }?;
        Ok(Update::new().assign(parse_assignment(text)?))
    };
    // SAFETY: passed on from the caller.
    unsafe { apply(cluster, out, error, update) }
}

/// Takes in new settings and new hosts from structs in one step, all or nothing. What is NULL stays as
/// it is. Behavior and options stay, workers stay, and so do hosts that are still there, with their
/// data and their active requests.
///
/// `out` may be NULL; it is zero on failure.
///
/// Fails as `plimsoll_cluster_new` does, and with `PLIMSOLL_STATUS_POISONED`. Weights of hosts that do
/// not go with a policy that hashes are named as `assignment.localities`, also where the hosts stay.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `settings` and `assignment` are NULL or as with `plimsoll_cluster_new`,
/// `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_configure(
    cluster: *const ClusterHandle,
    settings: *const ClusterSettings,
    assignment: *const Assignment,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let act = |engine: &Cluster| {
        let mut update = Update::new();
        if !settings.is_null() {
            let behavior = engine.view().config().behavior;
            // SAFETY: passed on from the caller.
            let config = unsafe { settings::engine_config(settings) }?;
            update = update.reconfigure(ClusterConfig { behavior, ..config });
        }
        // SAFETY: passed on from the caller.
        if let Some(assignment) = unsafe { engine_assignment(assignment) }? {
            update = update.assign(assignment);
        }
        engine.apply(&update).map_err(assignment::failure)
    };
    // SAFETY: passed on from the caller.
    unsafe { control(cluster, out, error, act) }
}

/// Applies `count` changes to hosts in one step, all or nothing; any number of them makes one
/// snapshot at most. Wherever they stand in the array, removals come first, then the hosts that are
/// added or described anew, then what was learnt of their health. `changes` may be NULL if `count`
/// is 0.
///
/// `out` may be NULL; it is zero on failure.
///
/// Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if a host to be removed or reported on is not there,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number or a value outside its range (the error object
/// names it, `changes[3].kind`), `PLIMSOLL_STATUS_UNSUPPORTED`, `PLIMSOLL_STATUS_UNSUPPORTED_FIELD`
/// for changes of a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
/// `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `changes` is NULL or an array of `count` structs, each as large as
/// the first one's `size` says, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_update(
    cluster: *const ClusterHandle,
    changes: *const HostChange,
    count: usize,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    // SAFETY: null is handled; otherwise the caller promises `count` structs.
    let update = |_: &Cluster| unsafe { change::batch(changes, count) };
    // SAFETY: passed on from the caller.
    unsafe { apply(cluster, out, error, update) }
}

/// A call whose whole work is one update.
///
/// # Safety
///
/// `cluster` is null or alive, `out` and `error` are null or writable.
unsafe fn apply(
    cluster: *const ClusterHandle,
    out: *mut Applied,
    error: *mut *mut Failure,
    update: impl FnOnce(&Cluster) -> Result<Update, Failure>,
) -> Status {
    let act = |engine: &Cluster| Ok(engine.apply(&update(engine)?)?);
    // SAFETY: passed on from the caller.
    unsafe { control(cluster, out, error, act) }
}

/// Any control call that may make a snapshot.
///
/// # Safety
///
/// `cluster` is null or alive, `out` and `error` are null or writable.
pub(crate) unsafe fn control(
    cluster: *const ClusterHandle,
    out: *mut Applied,
    error: *mut *mut Failure,
    act: impl FnOnce(&Cluster) -> Result<plimsoll::Applied, Failure>,
) -> Status {
    let body = || {
        // SAFETY: null or writable, as the caller promises.
        let out = unsafe { fresh(out, Applied::NOTHING) };
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        let done = act(cluster.engine())?;
        if let Some(out) = out {
            *out = Applied { version: done.version, published: done.published };
        }
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Moves the cluster's time on: hosts in slow start get what their weights give them by now,
/// weights that hosts reported are taken over when their period has passed, and what no worker uses
/// any more is freed, old snapshots and the data of hosts that have left. Call it from your own
/// timer, every 100 ms or so; late or bunched calls do no harm.
///
/// `now_ns` is the time, in nanoseconds since the moment that `plimsoll_cluster_options.now_ns`
/// counts from. The cluster's clock never goes back: an earlier time changes nothing.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
/// `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_tick(
    cluster: *const ClusterHandle,
    now_ns: u64,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        Ok(cluster.engine().tick(now_ns)?)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// When `plimsoll_cluster_tick` has something to do next, in nanoseconds on its scale, for a caller
/// that would rather not call it in vain. `*next_ns` is 0 while nothing is periodic, and on failure.
///
/// A later tick only delays what is due. What is freed by ticks is not due at any time: call one
/// every now and then all the same, and one after an update.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
/// `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: no. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `next_ns` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_next_tick(
    cluster: *const ClusterHandle,
    next_ns: *mut u64,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let next_ns = unsafe { fresh(next_ns, 0) }.ok_or_else(|| Failure::null("next_ns"))?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        *next_ns = cluster.engine().next_tick_ns()?.unwrap_or(0);
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}
