//! Workers whose picks can be repeated: with a number of their own, and with given random numbers.

use plimsoll::{Worker, WorkerOptions as EngineOptions};

use crate::array;
use crate::cluster::ClusterHandle;
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::number::boolean;
use crate::status::Status;
use crate::text;
use crate::worker::{self, WorkerHandle};

/// What a worker is told at its start. Growable: start from `PLIMSOLL_WORKER_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct WorkerOptions {
    /// `sizeof(plimsoll_worker_options)`.
    pub size: usize,
    /// How many peeks may be outstanding, 65536 at most; each costs 8 bytes. 0 stands for 64.
    pub peek_capacity: u32,
    /// 1: `number` is to be used. 0: the worker is numbered after the one that was made last.
    pub has_number: u32,
    /// Which of the cluster's generators of random numbers the worker gets, and where its picks
    /// begin, if `has_number` is 1: a worker with the number of one that was freed goes the same way
    /// again. Workers that live at the same time need different numbers, or they pick in lockstep.
    pub number: u64,
    /// Numbers to be used before those of the generator, as with `plimsoll_worker_push_draws`, and
    /// from the first one that is drawn. May be NULL if `draw_count` is 0.
    pub draws: *const u64,
    /// How many.
    pub draw_count: usize,
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for WorkerOptions {}

/// Makes a worker with other than the usual options: for many peeks, or to repeat what a worker did
/// before, in tests and replays.
///
/// `options` may be NULL: then it is `plimsoll_worker_new`. `*out` is NULL on failure. Free it with
/// `plimsoll_worker_free`.
///
/// Fails as `plimsoll_worker_new` does, and with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number
/// that stands for nothing (the error object names it) or `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for
/// options of a newer header.
///
/// Thread: any. Allocates: yes. Blocks: on control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `options` is NULL or as large as its `size` says, its `draws` are
/// NULL or `draw_count` readable numbers, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_new_with(
    cluster: *const ClusterHandle,
    options: *const WorkerOptions,
    out: *mut *mut WorkerHandle,
    error: *mut *mut Failure,
) -> Status {
    // SAFETY: passed on from the caller.
    let options = || unsafe { engine_options(options) };
    // SAFETY: passed on from the caller.
    unsafe { worker::new(cluster, options, out, error) }
}

/// The options in the engine's form.
///
/// # Safety
///
/// `options` is null or as [`growable::read`] wants it, and its draws are null or readable.
///
/// # Errors
///
/// What [`growable::read`] refuses, a number that stands for nothing, or NULL for draws.
unsafe fn engine_options(options: *const WorkerOptions) -> Result<EngineOptions, Failure> {
    let usual = EngineOptions::default();
    // SAFETY: passed on from the caller.
    let Some(given) = unsafe { growable::given(options, "options") }? else {
        return Ok(usual);
    };
    let number = boolean(given.has_number, "options.has_number")?.then_some(given.number);
    // SAFETY: the caller promises that they are readable.
    let draws = unsafe { array::items(given.draws, given.draw_count) }
        .map_err(|status| text::failure(status, "options.draws"))?;
    let peek_capacity = match given.peek_capacity {
        0 => usual.peek_capacity,
        capacity => capacity as usize,
    };
    Ok(EngineOptions { peek_capacity, number, draws: draws.to_vec() })
}

/// Queues `count` numbers, which the worker uses before those of its generator: for tests that want
/// a certain decision, and to repeat what happened elsewhere. Which pick draws how many numbers is
/// for the policy to say. `draws` may be NULL if `count` is 0.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside `accept`,
/// or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: yes. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `draws` is NULL or points to `count`
/// readable numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_worker_push_draws(
    worker: *mut WorkerHandle,
    draws: *const u64,
    count: usize,
) -> Status {
    let push = |worker: &mut Worker| {
        // SAFETY: the caller promises that they are readable.
        worker.push_draws(unsafe { array::items(draws, count) }?);
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { worker::with_engine(worker, push) }
}
