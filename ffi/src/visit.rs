//! Calls of a function of the caller's, one for each thing that a cluster shows.

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;

use plimsoll::View;

use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::handle;
use crate::status::Status;

/// What the caller has called with its `userdata` and a thing; it ends the visits with anything but 0.
type Visit<T> = unsafe extern "C" fn(*mut c_void, *const T) -> c_int;

/// Hands what `show` finds in the newest snapshot to `visit`, one after another. No lock is held.
///
/// # Safety
///
/// `cluster` is null or alive, and stays so during the call; `visit` may be called with `userdata`;
/// `error` is null or writable.
pub(crate) unsafe fn each<T>(
    cluster: *const ClusterHandle,
    (userdata, visit): (*mut c_void, Option<Visit<T>>),
    error: *mut *mut Failure,
    show: impl FnOnce(&View, &dyn Fn(T) -> ControlFlow<()>) -> ControlFlow<()>,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        let visit = visit.ok_or_else(|| Failure::null("visit"))?;
        let visit = |shown: T| {
            // SAFETY: the caller promises that it may be called so.
            let answer = unsafe { visit(userdata, &raw const shown) };
            if answer == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        // That `visit` ends it is no failure.
        let _ended = show(&cluster.engine().view(), &visit);
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}
