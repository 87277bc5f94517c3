//! A worker's handle: how it comes and goes, and which snapshot it holds.
//!
//! A handle is used by one thread at a time, so that nothing here is atomic. One thing can still
//! get in the way of a call: an `accept` callback that calls back into its own worker while that
//! one is in the middle of a pick. The borrow that the pick holds shows it, and everything is
//! refused then but questions about the candidate.

use std::cell::{Cell, RefCell, RefMut};
use std::ffi::{c_int, c_void};
use std::ops::Deref;
use std::ptr;

use plimsoll::{HostRef, Worker, WorkerOptions};

use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::guard::{silent, status};
use crate::handle::{self, Occupancy, Occupied};
use crate::out::fresh;
use crate::pick::Pick;
use crate::status::Status;

/// Picks hosts of one cluster. Used by one thread at a time, and outlives the cluster.
pub struct WorkerHandle {
    engine: RefCell<Worker>,
    candidate: Cell<Option<Candidate>>,
    /// Shows a second thread, in a debug build.
    occupancy: Occupancy,
}

/// A handle that a call is using.
pub(crate) struct Entered<'call> {
    worker: &'call WorkerHandle,
    _occupied: Occupied<'call>,
}

impl Deref for Entered<'_> {
    type Target = WorkerHandle;

    #[inline(always)]
    fn deref(&self) -> &WorkerHandle {
        self.worker
    }
}

// The header lets a worker move between threads.
const _: () = {
    const fn may_move<T: Send>() {}
    may_move::<Worker>();
};

/// The host that an `accept` callback is being asked about.
#[derive(Clone, Copy)]
struct Candidate {
    pick: plimsoll::Pick,
    /// Points to a live value for as long as the candidate stands in the handle.
    host: *const HostRef<'static>,
}

impl WorkerHandle {
    /// The handle, for as long as the call lasts.
    ///
    /// # Safety
    ///
    /// `worker` is null or alive and no other thread uses it.
    ///
    /// # Errors
    ///
    /// NULL, and in a debug build a handle that is not alive or that another thread is using.
    #[inline(always)]
    pub(crate) unsafe fn entered<'call>(worker: *const Self) -> Result<Entered<'call>, Status> {
        // SAFETY: passed on from the caller.
        let worker = unsafe { handle::alive(worker) }?;
        Ok(Entered { worker, _occupied: worker.occupancy.enter()? })
    }

    /// The engine's worker, unless a pick of this handle is under way further up the stack.
    #[inline]
    pub(crate) fn engine(&self) -> Result<RefMut<'_, Worker>, Status> {
        self.engine.try_borrow_mut().map_err(|_| Status::InvalidArgument)
    }

    /// What `read` makes of the host of `pick`.
    pub(crate) fn with_host<R>(
        &self,
        pick: plimsoll::Pick,
        read: impl FnOnce(HostRef<'_>) -> R,
    ) -> Result<R, Status> {
        if let Ok(engine) = self.engine.try_borrow() {
            return engine.host(pick).map(read).ok_or(Status::StalePick);
        }
        let candidate = self.candidate.get().filter(|candidate| candidate.pick == pick);
        let candidate = candidate.ok_or(Status::InvalidArgument)?;
        // SAFETY: `ask` put it there, and takes it out before the host goes away.
        let host: HostRef<'_> = unsafe { *candidate.host };
        Ok(read(host))
    }

    /// Whether `accept` takes the candidate, about which it can ask meanwhile.
    ///
    /// # Safety
    ///
    /// `accept` may be called with `userdata`.
    pub(crate) unsafe fn ask(
        &self,
        pick: plimsoll::Pick,
        host: HostRef<'_>,
        userdata: *mut c_void,
        accept: unsafe extern "C" fn(userdata: *mut c_void, candidate: *const Pick) -> c_int,
    ) -> bool {
        let host = ptr::from_ref(&host).cast::<HostRef<'static>>();
        self.candidate.set(Some(Candidate { pick, host }));
        let candidate = Pick::of(pick);
        // SAFETY: passed on from the caller.
        let answer = unsafe { accept(userdata, &raw const candidate) };
        self.candidate.set(None);
        answer != 0
    }
}

/// Makes a worker. A thread that picks has one of its own; a pool of them works as well.
///
/// `*out` is NULL on failure. Free it with `plimsoll_worker_free`.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
/// `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_new(
    cluster: *const ClusterHandle,
    out: *mut *mut WorkerHandle,
    error: *mut *mut Failure,
) -> Status {
    // SAFETY: passed on from the caller.
    unsafe { new(cluster, || Ok(WorkerOptions::default()), out, error) }
}

/// A call that makes a worker.
///
/// # Safety
///
/// As for [`plimsoll_worker_new`].
pub(crate) unsafe fn new(
    cluster: *const ClusterHandle,
    options: impl FnOnce() -> Result<WorkerOptions, Failure>,
    out: *mut *mut WorkerHandle,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, ptr::null_mut()) }.ok_or_else(|| Failure::null("out"))?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        let engine = RefCell::new(cluster.engine().worker_with(options()?)?);
        *out = handle::into_raw(WorkerHandle {
            engine,
            candidate: Cell::new(None),
            occupancy: Occupancy::default(),
        });
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Frees a worker. NULL is fine. Its picks that are not done stay counted until another worker of
/// the cluster is told.
///
/// The last handle of a cluster takes the rest with it, so that `release` callbacks may run.
///
/// Thread: any, while nobody else uses `worker`. Allocates: no. Blocks: on control calls that free
/// snapshots.
///
/// # Safety
///
/// `worker` is NULL or came from `plimsoll_worker_new` or `plimsoll_worker_new_with`, was not freed
/// before, and nobody uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_worker_free(worker: *mut WorkerHandle) {
    silent(|| {
        // SAFETY: passed on from the caller.
        #[cfg(debug_assertions)]
        if let Ok(worker) = unsafe { handle::alive(worker) } {
            worker.occupancy.assert_empty("worker");
        }
        // SAFETY: passed on from the caller.
        unsafe { handle::free(worker) }
    });
}

/// Adopts the newest snapshot without a pick, so that an idle worker does not hold up an old one.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside
/// `accept`, or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_worker_refresh(worker: *mut WorkerHandle) -> Status {
    let act = |worker: &mut Worker| {
        worker.refresh();
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { with_engine(worker, act) }
}

/// Lets go of the snapshot, so that an idle worker holds neither memory nor host data. The next
/// pick adopts the newest one; picks that are not counted are no longer valid.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside
/// `accept`, or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_worker_quiesce(worker: *mut WorkerHandle) -> Status {
    let act = |worker: &mut Worker| {
        worker.quiesce();
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { with_engine(worker, act) }
}

/// Checks the handle and calls `act`.
///
/// # Safety
///
/// `worker` is null or alive and no other thread uses it.
pub(crate) unsafe fn with_engine(
    worker: *mut WorkerHandle,
    act: impl FnOnce(&mut Worker) -> Result<(), Status>,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        act(&mut *worker.engine()?)
    })
}
