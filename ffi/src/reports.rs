//! What hosts say of their own load, for a policy that weighs hosts by it.
//!
//! A report comes with a response, in its headers or its trailers, or on a stream of its own. Those
//! of responses are taken in on the path of a request: without a lock, and without an allocation
//! unless they are in JSON.

use std::ffi::{c_char, c_void};

use plimsoll::config::Behavior;
use plimsoll::orca::{Headers, Parser, Report, ReportError};
use plimsoll_envoy_config::parse_load_report;
use plimsoll_json::text as json_text;

use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::growable::{self, Growable, SizeProblem};
use crate::guard::status;
use crate::options;
use crate::out::TextBuffer;
use crate::pick::Pick;
use crate::status::Status;
use crate::text::{self, Str};
use crate::worker::WorkerHandle;

/// What a response says of its host's load. Growable: start from `PLIMSOLL_RESPONSE_LOAD_INIT`.
///
/// The texts are the values of headers as they came: they need not be UTF-8, and may have blanks
/// around them. A `data` of NULL stands for a header that is absent, which is not the same as one
/// without a value. Of several headers with one name give the first.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ResponseLoad {
    /// `sizeof(plimsoll_response_load)`.
    pub size: usize,
    /// Of the headers: `endpoint-load-metrics-bin`. Where there is one, `header_text` is not read.
    pub header_binary: Str,
    /// Of the headers: `endpoint-load-metrics`.
    pub header_text: Str,
    /// Of the trailers: `endpoint-load-metrics-bin`. Where there is one, `trailer_text` is not read.
    pub trailer_binary: Str,
    /// Of the trailers: `endpoint-load-metrics`.
    pub trailer_text: Str,
    /// What the clock shows now, on the scale of `plimsoll_cluster_tick`; 0 for what the last tick
    /// was told.
    pub now_ns: u64,
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for ResponseLoad {}

/// Takes in what a response said of its host's load. `plimsoll_cluster_tick` takes the weights from
/// it, if the policy goes by reports.
///
/// Call it before `plimsoll_worker_done`, or before the worker's next pick if the pick is not
/// counted. A worker that let go of its snapshot (`plimsoll_worker_quiesce`) still has none after.
///
/// With `PLIMSOLL_BEHAVIOR_NATIVE` trailers come before headers, since they are newer. Call it for
/// each attempt of a request; and if the trailers come much later than the headers, once for
/// either. With `PLIMSOLL_BEHAVIOR_ENVOY` headers come before trailers, and the first report of a
/// request that can be read is the only one: call it again only after `PLIMSOLL_STATUS_NO_REPORT`
/// or `PLIMSOLL_STATUS_REPORT_UNREADABLE`.
///
/// What a host sends is no mistake of the caller, and all but the first of these answers are
/// counted, see `plimsoll_cluster_stats`: `PLIMSOLL_STATUS_NO_REPORT` if the response says nothing
/// of load, `PLIMSOLL_STATUS_REPORT_UNREADABLE` if what it says cannot be read,
/// `PLIMSOLL_STATUS_REPORT_REJECTED` if nothing can be made of it,
/// `PLIMSOLL_STATUS_REPORT_NOT_WANTED` if the policy does not go by reports, and
/// `PLIMSOLL_STATUS_STALE_PICK` if the host is gone.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
/// `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for `load`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for flags
/// that no pick has or inside `accept`, or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: no, but for JSON, and for a report that is larger
/// than any before. Blocks: no.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable, `load` is NULL
/// or as large as its `size` says, and its texts are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_worker_report(
    worker: *mut WorkerHandle,
    pick: *const Pick,
    load: *const ResponseLoad,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { worker.as_ref() }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is readable.
        let pick = unsafe { pick.as_ref() }.ok_or(Status::NullArgument)?;
        if load.is_null() {
            return Err(Status::NullArgument);
        }
        // SAFETY: not null; the caller promises the rest.
        let load = unsafe { growable::read(load) }.map_err(SizeProblem::status)?;
        // SAFETY: the caller promises that its texts are readable.
        let response = unsafe { engine_response(&load) }?;
        worker.engine()?.report(pick.to_engine()?, &response, load.now_ns)?;
        Ok(())
    })
}

/// A response in the engine's form.
///
/// # Safety
///
/// The texts of `load` are readable during `'call`.
///
/// # Errors
///
/// NULL with a length, or a length that no object can have.
unsafe fn engine_response<'call>(
    load: &ResponseLoad,
) -> Result<plimsoll::ResponseLoad<'call>, Status> {
    // SAFETY: passed on from the caller.
    let headers = unsafe { engine_headers(load.header_binary, load.header_text) }?;
    // SAFETY: as above.
    let trailers = unsafe { engine_headers(load.trailer_binary, load.trailer_text) }?;
    Ok(plimsoll::ResponseLoad { headers, trailers, json: Some(&parse_load_report) })
}

/// Headers in the engine's form.
///
/// # Safety
///
/// Both texts are readable during `'call`.
///
/// # Errors
///
/// NULL with a length, or a length that no object can have.
unsafe fn engine_headers<'call>(binary: Str, text: Str) -> Result<Headers<'call>, Status> {
    // SAFETY: passed on from the caller.
    let binary = unsafe { binary.bytes() }?;
    // SAFETY: as above.
    let text = unsafe { text.bytes() }?;
    Ok(Headers { binary, text })
}

/// Takes in a load report that did not come with a response: of a stream of its own, or of another
/// proxy. `message` is one `xds.data.orca.v3.OrcaLoadReport` in protobuf, `length` bytes of it; it
/// may be NULL if `length` is 0. `now_ns` is as in `plimsoll_response_load`.
///
/// Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if the cluster has no host with this address,
/// `PLIMSOLL_STATUS_REPORT_UNREADABLE` if the message is not such a report,
/// `PLIMSOLL_STATUS_REPORT_REJECTED` if nothing can be made of it,
/// `PLIMSOLL_STATUS_REPORT_NOT_WANTED` if the policy does not go by reports,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an address that is not UTF-8,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `address` is readable, `message` is NULL or has `length` readable
/// bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_report(
    cluster: *const ClusterHandle,
    address: Str,
    message: *const c_void,
    length: usize,
    now_ns: u64,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { cluster.as_ref() }.ok_or_else(|| Failure::null("cluster"))?;
        // SAFETY: the caller promises that it is readable.
        let address = unsafe { address.read("address") }?;
        // SAFETY: the caller promises `length` readable bytes.
        let message = unsafe { text::bytes(message.cast(), length) }
            .map_err(|status| text::failure(status, "message"))?;
        let mut parser = Parser::new();
        let report = parser.grpc(message.unwrap_or_default()).map_err(|error| {
            Failure::new(Status::ReportUnreadable, "message", error.to_string())
        })?;
        Ok(cluster.engine().report(address, &report, now_ns)?)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Takes in what a response said of the load of the host with this address: for a proxy that has no
/// pick at hand any more. Which of headers and trailers counts is as with `plimsoll_worker_report`,
/// which is the call for the path of a request.
///
/// Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if the cluster has no host with this address,
/// `PLIMSOLL_STATUS_NO_REPORT` if the response says nothing of load,
/// `PLIMSOLL_STATUS_REPORT_UNREADABLE` if what it says cannot be read (the error object says why),
/// `PLIMSOLL_STATUS_REPORT_REJECTED` if nothing can be made of it,
/// `PLIMSOLL_STATUS_REPORT_NOT_WANTED` if the policy does not go by reports,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an address that is not UTF-8 or for `load`,
/// `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for a load of a newer header,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `address` is readable, `load` is NULL or as large as its `size` says,
/// and its texts are readable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_report_response(
    cluster: *const ClusterHandle,
    address: Str,
    load: *const ResponseLoad,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { cluster.as_ref() }.ok_or_else(|| Failure::null("cluster"))?;
        // SAFETY: the caller promises that it is readable.
        let address = unsafe { address.read("address") }?;
        let engine = cluster.engine();
        let take = |report: &Report<'_>, now_ns| Ok(engine.report(address, report, now_ns)?);
        // SAFETY: passed on from the caller.
        unsafe { read(load, engine.view().config().behavior, take) }
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Writes what a response says of load, as the library understands it, as JSON and a NUL into
/// `buffer`: all fields of `OrcaLoadReport`, those that were not sent too. To find out what becomes
/// of a header; nothing is taken in.
///
/// `behavior` is `PLIMSOLL_BEHAVIOR_NATIVE` or `PLIMSOLL_BEHAVIOR_ENVOY`, which decides between
/// headers and trailers as with `plimsoll_worker_report`.
///
/// `*needed` is the number of bytes that takes, the NUL included. `buffer` may be NULL if
/// `capacity` is 0. On failure the buffer holds an empty text.
///
/// Fails with `PLIMSOLL_STATUS_NO_REPORT` if the response says nothing of load,
/// `PLIMSOLL_STATUS_REPORT_UNREADABLE` if what it says cannot be read (the error object says why),
/// `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT`, `PLIMSOLL_STATUS_UNSUPPORTED_FIELD`,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: no.
///
/// # Safety
///
/// `load` is NULL or as large as its `size` says, and its texts are readable, `buffer` is NULL or
/// has `capacity` writable bytes, `needed` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_response_load_json(
    load: *const ResponseLoad,
    behavior: u32,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: the caller promises that they are null or writable.
        let buffer = unsafe { TextBuffer::named(buffer, capacity, needed) }?;
        let behavior = options::behavior(behavior, "behavior")?;
        let shown = |report: &Report<'_>, _| {
            Ok(json_text(&plimsoll_json::load_report(&report.to_owned_report())))
        };
        // SAFETY: passed on from the caller.
        Ok(buffer.put(&unsafe { read(load, behavior, shown) }?)?)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// What `then` makes of the report in a response, and of the time.
///
/// # Safety
///
/// `load` is null or as [`growable::read`] wants it, and its texts are readable.
///
/// # Errors
///
/// NULL, what cannot be read, or those of `then`.
unsafe fn read<T>(
    load: *const ResponseLoad,
    behavior: Behavior,
    then: impl FnOnce(&Report<'_>, u64) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if load.is_null() {
        return Err(Failure::null("load"));
    }
    // SAFETY: not null; the caller promises the rest.
    let load = unsafe { growable::read(load) }.map_err(|problem| problem.failure("load"))?;
    // SAFETY: the caller promises that its texts are readable.
    let response =
        unsafe { engine_response(&load) }.map_err(|status| text::failure(status, "load"))?;
    response.read(&mut Parser::new(), behavior, |report| match report {
        Ok(report) => then(&report, load.now_ns),
        Err(error) => Err(unreadable(&error)),
    })
}

fn unreadable(error: &ReportError<'_>) -> Failure {
    let status = match error {
        ReportError::NoData => Status::NoReport,
        _ => Status::ReportUnreadable,
    };
    Failure::new(status, "", error.to_string())
}
