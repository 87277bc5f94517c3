//! Picks of hosts that the request names.

use std::ffi::{c_int, c_void};

use plimsoll::HostRef;
use plimsoll::config::override_addresses;

use crate::array;
use crate::guard::status;
use crate::out::fresh;
use crate::pick::{Given, Pick, PickContext, given};
use crate::status::Status;
use crate::text::Str;
use crate::worker::WorkerHandle;

/// Picks the host that the request names, in any priority and instead of a pick by policy.
///
/// `addresses` are `count` texts as they come in headers: each holds one address of a host, or
/// several between commas, in the order in which they are wanted; blanks around them do not count.
/// What is no address, or not UTF-8, names no host. No address at all asks for nothing, and the pick
/// is one by policy.
///
/// Without the policy `override_host` it is the first address whose host is there and has a health
/// that `override_host_status` allows. With it health does not matter, and attempt
/// `context->attempt`, counted from 0, takes that one of the addresses whose hosts are there.
///
/// `strict` is 0 or 1. With 0 a pick by policy follows if none of the addresses can be had; with 1
/// the call fails then.
///
/// Everything else is as with `plimsoll_worker_pick`; `context->retries` means nothing here, see
/// `plimsoll_worker_pick_override_filtered`. Where the addresses come from is for the cluster to say,
/// see `plimsoll_cluster_for_each_override_source`.
///
/// Fails with `PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND` if the cluster has none of the hosts, or none is
/// left for this attempt, and `PLIMSOLL_STATUS_OVERRIDE_NOT_ALLOWED` if it has some but their health
/// is not allowed; both with `strict` only. Also as `plimsoll_worker_pick` does, and with
/// `PLIMSOLL_STATUS_NULL_ARGUMENT` for a text without a place or
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for `strict`.
///
/// Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
/// `size` says, `addresses` is NULL or points to `count` readable texts, `out` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_pick_override(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    addresses: *const Str,
    count: usize,
    strict: u32,
    out: *mut Pick,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, Pick::NONE) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        let strict = switch(strict)?;
        // SAFETY: the caller promises that they are readable.
        let named = unsafe { named(addresses, count) }?;
        let choose = |given: Given<'_>| {
            let mut engine = worker.engine()?;
            Ok(Pick::of(engine.pick_override(&given.to_engine(), named, strict)?))
        };
        // SAFETY: passed on from the caller.
        *out = unsafe { given(context, choose) }?;
        Ok(())
    })
}

/// The same with a filter for the hosts that the policy picks, if it comes to that: as with
/// `plimsoll_worker_pick_filtered`, `context->retries` more hosts are tried while `accept` returns
/// 0. Hosts that the request names do not go through it, as in Envoy.
///
/// Fails as `plimsoll_worker_pick_override` and `plimsoll_worker_pick_filtered` do.
///
/// Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no, unless
/// `accept` does.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
/// `size` says, `addresses` is NULL or points to `count` readable texts, `accept` is NULL or may be
/// called with `userdata`, `out` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_pick_override_filtered(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    addresses: *const Str,
    count: usize,
    strict: u32,
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
        let strict = switch(strict)?;
        // SAFETY: the caller promises that they are readable.
        let named = unsafe { named(addresses, count) }?;
        // SAFETY: the caller promises that it may be called so.
        let agrees = |pick, host: HostRef<'_>| unsafe { worker.ask(pick, host, userdata, accept) };
        let choose = |given: Given<'_>| {
            let mut engine = worker.engine()?;
            let context = given.to_engine();
            Ok(Pick::of(engine.pick_override_filtered(&context, named, strict, agrees)?))
        };
        // SAFETY: passed on from the caller.
        *out = unsafe { given(context, choose) }?;
        Ok(())
    })
}

fn switch(strict: u32) -> Result<bool, Status> {
    match strict {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Status::InvalidArgument),
    }
}

/// The addresses in all texts, each of which is checked.
///
/// # Safety
///
/// `from` is null or points to `count` texts that are readable during `'call`.
///
/// # Errors
///
/// A text without a place.
unsafe fn named<'call>(
    from: *const Str,
    count: usize,
) -> Result<impl Iterator<Item = &'call str>, Status> {
    // SAFETY: passed on from the caller.
    let texts: &'call [Str] = unsafe { array::items(from, count) }?;
    for text in texts {
        // SAFETY: passed on from the caller.
        unsafe { text.bytes() }?;
    }
    // SAFETY: checked just now, and readable during the call.
    let bytes = |text: &Str| unsafe { text.bytes() }.ok().flatten().unwrap_or_default();
    Ok(texts.iter().flat_map(move |text| named_in(bytes(text))))
}

/// Stands for what is not UTF-8, which no host can have for an address.
const NOBODY: &str = "\u{fffd}";

/// The addresses in a text.
fn named_in(text: &[u8]) -> impl Iterator<Item = &str> {
    let parts = text.split(|byte| *byte == b',');
    parts.flat_map(|part| override_addresses(str::from_utf8(part).unwrap_or(NOBODY)))
}
