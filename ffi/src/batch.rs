//! Many picks in one call, so that the way between two languages is gone once for all of them.

use std::mem::MaybeUninit;
use std::slice;

use plimsoll::{NoHost, Worker};

use crate::guard::status;
use crate::out::fresh;
use crate::pick::{Given, Pick, PickContext, given};
use crate::status::Status;
use crate::worker::WorkerHandle;

/// Picks a host for each of up to `capacity` requests, all by the same snapshot.
///
/// `*count` picks stand at the start of `out` afterwards, the rest of it is zero; each pick is as
/// one of `plimsoll_worker_pick`. With `PLIMSOLL_PICK_HASHED` all of them have the same hash. `*count`
/// is less than `capacity` only if there is no host for the next one, and 0 on failure. With a
/// `capacity` of 0 `out` may be NULL, and nothing is picked.
///
/// Fails as `plimsoll_worker_pick` does if there is no host for the first.
///
/// Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
/// `size` says, `out` is NULL or has room for `capacity` picks, `count` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_pick_batch(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    out: *mut Pick,
    capacity: usize,
    count: *mut usize,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let count = unsafe { fresh(count, 0) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        let fill = |given: Given<'_>| {
            if capacity == 0 {
                return Ok(0);
            }
            if out.is_null() {
                return Err(Status::NullArgument);
            }
            // SAFETY: not null; the caller promises the room.
            Ok(unsafe { fill(&mut *worker.engine()?, &given.to_engine(), out, capacity) }?)
        };
        // SAFETY: passed on from the caller.
        *count = unsafe { given(context, fill) }?;
        Ok(())
    })
}

type Place = MaybeUninit<Pick>;

/// Picks into the caller's memory, each pick in the caller's form at once. A buffer of our own would
/// either be allocated or have an end, and a batch in pieces would not be of one snapshot.
///
/// # Safety
///
/// `out` has room for `capacity` picks.
unsafe fn fill(
    engine: &mut Worker,
    context: &plimsoll::PickContext,
    out: *mut Pick,
    capacity: usize,
) -> Result<usize, NoHost> {
    // SAFETY: the caller promises the room, which need not have been written to.
    let places = unsafe { slice::from_raw_parts_mut(out.cast::<Place>(), capacity) };
    let answer = engine.pick_batch_as(context, places, |pick| Place::new(Pick::of(pick)));
    let count = answer.unwrap_or(0);
    places[count..].fill(Place::new(Pick::NONE));
    answer
}
