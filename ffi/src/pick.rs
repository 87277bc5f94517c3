//! The calls of one request: pick a host, and say when the request is done.
//!
//! These run in nanoseconds and by the million: they allocate nothing but Envoy's schedules, lock
//! nothing, call no system function and build no error object. A test counts the allocations.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use plimsoll::{HostRef, NoHost, Outcome, Worker};

use crate::growable::{self, Growable, SizeProblem};
use crate::guard::status;
use crate::out::fresh;
use crate::status::Status;
use crate::worker::WorkerHandle;

/// `plimsoll_pick.flags`: the pick counts as an active request until `plimsoll_worker_done`.
pub const PLIMSOLL_PICK_COUNTED: u32 = 1;
/// `plimsoll_pick.flags`, with `PLIMSOLL_PICK_COUNTED` only: it counts in the total that a policy
/// with a `hash_balance_factor` goes by.
pub const PLIMSOLL_PICK_IN_TOTAL: u32 = 2;

/// `plimsoll_pick_context.flags`: the pick is not to be counted. It is valid until the same
/// worker's next pick, and is not to be done.
pub const PLIMSOLL_PICK_UNCOUNTED: u32 = 1;
/// `plimsoll_pick_context.flags`: `hash` is the hash of the request.
pub const PLIMSOLL_PICK_HASHED: u32 = 2;

/// `plimsoll_worker_done`: the request was answered.
pub const PLIMSOLL_OUTCOME_SUCCESS: u32 = 0;
/// `plimsoll_worker_done`: the request failed.
pub const PLIMSOLL_OUTCOME_ERROR: u32 = 1;

/// A host that was picked: a value to copy, not to be changed.
///
/// `slot` is a small number that is the host's for as long as a snapshot or a pick names it, so
/// that it can index an array of yours; `generation` changes when the slot is given to another
/// host.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// The host's slot.
    pub slot: u32,
    /// Which host had the slot.
    pub generation: u32,
    /// The priority that the host was picked at.
    pub priority: u32,
    /// `PLIMSOLL_PICK_COUNTED`, perhaps with `PLIMSOLL_PICK_IN_TOTAL`, or 0.
    pub flags: u32,
}

/// What is known of a request before its host is picked. Growable: start from
/// `PLIMSOLL_PICK_CONTEXT_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct PickContext {
    /// `sizeof(plimsoll_pick_context)`.
    pub size: usize,
    /// How many more hosts `plimsoll_worker_pick_filtered` tries while they are refused; more than
    /// 128 count as 128.
    pub retries: u32,
    /// `PLIMSOLL_PICK_UNCOUNTED` and `PLIMSOLL_PICK_HASHED`, or 0.
    pub flags: u32,
    /// What the clock shows now, on the scale of `plimsoll_cluster_tick`; 0 for what the last tick
    /// was told. With `PLIMSOLL_BEHAVIOR_ENVOY` hosts in slow start are weighed by it; nothing else
    /// reads it.
    pub now_ns: u64,
    /// The hash of the request, with `PLIMSOLL_PICK_HASHED`; read by `ring_hash` and `maglev`, which
    /// draw a number without it.
    pub hash: u64,
    /// Which attempt at the same request this is, 0 first; more than 128 count as 128. Read by
    /// `ring_hash` and `maglev`, which give another host each time.
    pub attempt: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers only; `layout` leaves no room for padding.
unsafe impl Growable for PickContext {}

impl Pick {
    pub(crate) const NONE: Self = Self { slot: 0, generation: 0, priority: 0, flags: 0 };

    pub(crate) fn of(pick: plimsoll::Pick) -> Self {
        // What counts in the total is counted as well.
        let flags = u32::from(pick.counted) * PLIMSOLL_PICK_COUNTED
            + u32::from(pick.in_total) * PLIMSOLL_PICK_IN_TOTAL;
        Self { slot: pick.slot, generation: pick.generation, priority: pick.priority, flags }
    }

    /// The engine's form.
    ///
    /// # Errors
    ///
    /// Flags that no pick has.
    pub(crate) fn to_engine(self) -> Result<plimsoll::Pick, Status> {
        const OF_BOUNDED: u32 = PLIMSOLL_PICK_COUNTED | PLIMSOLL_PICK_IN_TOTAL;
        let (counted, in_total) = match self.flags {
            0 => (false, false),
            PLIMSOLL_PICK_COUNTED => (true, false),
            OF_BOUNDED => (true, true),
            _ => return Err(Status::InvalidArgument),
        };
        let Self { slot, generation, priority, .. } = self;
        Ok(plimsoll::Pick { slot, generation, priority, counted, in_total })
    }
}

/// What a caller knows of its request, checked.
#[derive(Clone, Copy)]
pub(crate) struct Given<'call> {
    /// Whether the pick is not to be counted.
    uncounted: bool,
    /// NULL stands for nothing.
    context: Option<&'call PickContext>,
}

impl Given<'_> {
    /// The engine's form. Most picks read no more of it than `uncounted`, and do without.
    #[inline(always)]
    pub(crate) fn to_engine(self) -> plimsoll::PickContext {
        let Some(context) = self.context else { return plimsoll::PickContext::new() };
        plimsoll::PickContext {
            retries: context.retries,
            uncounted: self.uncounted,
            now_ns: context.now_ns,
            hash: (context.flags & PLIMSOLL_PICK_HASHED != 0).then_some(context.hash),
            attempt: context.attempt,
        }
    }
}

/// What `go` makes of what the caller knows of the request.
///
/// # Safety
///
/// `context` is null or as [`growable::lend`] wants it.
///
/// # Errors
///
/// Those of the context, or of `go`.
#[inline(always)]
pub(crate) unsafe fn given<R>(
    context: *const PickContext,
    go: impl FnOnce(Given<'_>) -> Result<R, Status>,
) -> Result<R, Status> {
    let mut room = MaybeUninit::uninit();
    let given = if context.is_null() {
        Given { uncounted: false, context: None }
    } else {
        // SAFETY: not null; the caller promises the rest.
        let context = unsafe { growable::lend(context, &mut room) }.map_err(SizeProblem::status)?;
        Given { uncounted: context.is_uncounted()?, context: Some(context) }
    };
    go(given)
}

impl PickContext {
    /// What the flags say.
    #[inline(always)]
    fn is_uncounted(&self) -> Result<bool, Status> {
        // A newer header may have a member there, and its caller means something by it.
        if self.reserved != 0 {
            return Err(Status::UnsupportedField);
        }
        match self.flags & !PLIMSOLL_PICK_HASHED {
            0 => Ok(false),
            PLIMSOLL_PICK_UNCOUNTED => Ok(true),
            _ => Err(Status::InvalidArgument),
        }
    }
}

/// Picks a host for one request.
///
/// `context` may be NULL: then the pick is counted, and must be given to `plimsoll_worker_done`
/// when the request is over. On failure `*out` is zero and nothing is counted.
///
/// With `PLIMSOLL_BEHAVIOR_ENVOY`, hosts of different weight or in slow start need a schedule,
/// which the first pick after an update allocates.
///
/// Fails with `PLIMSOLL_STATUS_NO_HOST` if no host is eligible where the pick was led,
/// `PLIMSOLL_STATUS_NO_HOST_PANIC` if the cluster fails traffic on panic and is in panic,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
/// `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the context, or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: no, but for such a schedule. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
/// `size` says, `out` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_pick(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    out: *mut Pick,
) -> Status {
    let pick = |worker: &mut Worker, given: Given<'_>, out: &mut Pick| {
        let end = |chosen: Result<_, NoHost>| chosen.map(|pick| *out = Pick::of(pick));
        Ok(worker.pick_with(given.uncounted, || given.to_engine(), end)?)
    };
    // SAFETY: passed on from the caller.
    unsafe { one(worker, context, out, pick) }
}

/// Looks ahead: the host of the next pick that was not peeked yet, to open a connection in advance
/// for instance. The picks that follow give the peeked hosts first and in order, unless an update
/// comes between. A peek is never counted, and takes nothing from the context. `*out` is zero on
/// failure.
///
/// With `LEAST_REQUEST` the picks come to the peeked hosts only as long as loads are what they
/// were; with `PLIMSOLL_BEHAVIOR_ENVOY` as well it cannot be peeked, unless weights differ or hosts
/// are in slow start. Nor can `ring_hash` and `maglev`, which go by the request.
///
/// Fails as `plimsoll_worker_pick` does, and with `PLIMSOLL_STATUS_PEEK_LIMIT` if as many are
/// outstanding as there are healthy hosts, or 64, or where nothing can be peeked.
///
/// Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
/// `size` says, `out` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_peek(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    out: *mut Pick,
) -> Status {
    let peek = |worker: &mut Worker, _: Given<'_>, out: &mut Pick| {
        *out = Pick::of(worker.peek()?);
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { one(worker, context, out, peek) }
}

/// A call that gives one pick.
///
/// # Safety
///
/// As for [`plimsoll_worker_pick`].
#[inline]
unsafe fn one(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    out: *mut Pick,
    choose: impl FnOnce(&mut Worker, Given<'_>, &mut Pick) -> Result<(), Status>,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, Pick::NONE) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        let choose = |given: Given<'_>| choose(&mut *worker.engine()?, given, out);
        // SAFETY: passed on from the caller.
        unsafe { given(context, choose) }
    })
}

/// Picks a host that `accept` agrees to; it returns 0 to refuse a candidate and anything else to
/// take it. While it refuses, up to `context->retries` more candidates are tried (128 at most), each
/// chosen from the priority on; if all are refused, the last one is taken all the same, as in Envoy.
///
/// `accept` runs on this thread, during the call. It may ask for the candidate's address and data
/// with this worker; every other call with this worker is refused inside it, and the worker must
/// not be freed. It must not unwind or `longjmp`. The candidate is valid until `accept` returns and
/// is not counted.
///
/// Fails as `plimsoll_worker_pick` does.
///
/// Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no, unless
/// `accept` does.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
/// `size` says, `out` is NULL or writable, `accept` is NULL or may be called with `userdata`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_pick_filtered(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    userdata: *mut c_void,
    accept: Option<unsafe extern "C" fn(userdata: *mut c_void, candidate: *const Pick) -> c_int>,
    out: *mut Pick,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, Pick::NONE) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        let accept = accept.ok_or(Status::NullArgument)?;
        // SAFETY: the caller promises that it may be called so.
        let agrees = |pick, host: HostRef<'_>| unsafe { worker.ask(pick, host, userdata, accept) };
        let choose = |given: Given<'_>| {
            Ok(Pick::of(worker.engine()?.pick_filtered(&given.to_engine(), agrees)?))
        };
        // SAFETY: passed on from the caller.
        *out = unsafe { given(context, choose) }?;
        Ok(())
    })
}

/// Says that the request of a counted pick is over. Any worker of the same cluster may say it.
///
/// Fails with `PLIMSOLL_STATUS_NOT_COUNTED` for a pick that is not counted,
/// `PLIMSOLL_STATUS_STALE_PICK` for one that names no request any more (done twice, as far as that
/// can be seen: another active request of the same host hides it), `PLIMSOLL_STATUS_NULL_ARGUMENT`,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an outcome that is none or inside `accept`, or
/// `PLIMSOLL_STATUS_PANIC`.
///
/// `outcome` is `PLIMSOLL_OUTCOME_SUCCESS` or `PLIMSOLL_OUTCOME_ERROR`.
///
/// Thread: the one that uses `worker`. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_worker_done(
    worker: *const WorkerHandle,
    pick: *const Pick,
    outcome: u32,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        // SAFETY: null is handled; otherwise the caller promises that it is readable.
        let pick = unsafe { pick.as_ref() }.ok_or(Status::NullArgument)?;
        let outcome = match outcome {
            PLIMSOLL_OUTCOME_SUCCESS => Outcome::Success,
            PLIMSOLL_OUTCOME_ERROR => Outcome::Error,
            _ => return Err(Status::InvalidArgument),
        };
        worker.engine()?.done(pick.to_engine()?, outcome)?;
        Ok(())
    })
}
