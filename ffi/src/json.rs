//! What a cluster looks like and why a pick goes where it goes, as JSON in the caller's buffer. The
//! forms are those of `docs/replay.md`, made by the same code.

use std::ffi::{c_char, c_int, c_void};

use plimsoll::{HostRef, Source};
use plimsoll_json::{Part, Show, show, text};

use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::guard::status;
use crate::handle;
use crate::localities::{PLIMSOLL_SOURCE_ALL, PLIMSOLL_SOURCE_DEGRADED, PLIMSOLL_SOURCE_HEALTHY};
use crate::out::TextBuffer;
use crate::pick::{Given, Pick, PickContext, given};
use crate::status::Status;
use crate::worker::WorkerHandle;

/// `plimsoll_dump_options.part`: how traffic divides among priorities, in percent, and which of them
/// panic.
pub const PLIMSOLL_DUMP_LOADS: u32 = 1;
/// `plimsoll_dump_options.part`: all hosts, by priority, then in the assignment's order.
pub const PLIMSOLL_DUMP_HOSTS: u32 = 2;
/// `plimsoll_dump_options.part`: how the traffic of each priority divides among localities, for
/// healthy, degraded and all hosts.
pub const PLIMSOLL_DUMP_LOCALITIES: u32 = 3;
/// `plimsoll_dump_options.part`: the table of `ring_hash` or `maglev`, one address for each place.
pub const PLIMSOLL_DUMP_TABLE: u32 = 4;
/// `plimsoll_dump_options.part`: all counters and gauges that are not zero, by name.
pub const PLIMSOLL_DUMP_STATS: u32 = 5;
/// `plimsoll_dump_options.part`: the newest snapshot's version, how many were published and are
/// alive, and what was built for them.
pub const PLIMSOLL_DUMP_SNAPSHOT: u32 = 6;

/// `plimsoll_dump_options.flags`: localities and tables of `priority` only.
pub const PLIMSOLL_DUMP_HAS_PRIORITY: u32 = 1;
/// `plimsoll_dump_options.flags`: localities and tables of `source` only.
pub const PLIMSOLL_DUMP_HAS_SOURCE: u32 = 2;

/// What to dump of a cluster. Growable: start from `PLIMSOLL_DUMP_OPTIONS_INIT`, and set `part`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DumpOptions {
    /// `sizeof(plimsoll_dump_options)`.
    pub size: usize,
    /// One of `PLIMSOLL_DUMP_...`.
    pub part: u32,
    /// `PLIMSOLL_DUMP_HAS_PRIORITY` and `PLIMSOLL_DUMP_HAS_SOURCE`, or 0; other parts than localities
    /// and tables have neither.
    pub flags: u32,
    /// With `PLIMSOLL_DUMP_HAS_PRIORITY`: which. Without, localities are of all priorities and a
    /// table is of priority 0.
    pub priority: u64,
    /// With `PLIMSOLL_DUMP_HAS_SOURCE`: one of `PLIMSOLL_SOURCE_...`. Without, localities are of each
    /// and a table is of the healthy hosts.
    pub source: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
}

// SAFETY: integers only; `layout` leaves no room for padding.
unsafe impl Growable for DumpOptions {}

impl DumpOptions {
    fn engine_show(&self) -> Result<Show, Failure> {
        growable::unused(self.reserved, std::mem::offset_of!(Self, reserved), "options")?;
        let part = match self.part {
            PLIMSOLL_DUMP_LOADS => Part::Loads,
            PLIMSOLL_DUMP_HOSTS => Part::Hosts,
            PLIMSOLL_DUMP_LOCALITIES => Part::Localities,
            PLIMSOLL_DUMP_TABLE => Part::Table,
            PLIMSOLL_DUMP_STATS => Part::Stats,
            PLIMSOLL_DUMP_SNAPSHOT => Part::Snapshot,
            other => {
                return Err(Failure::unknown_number(
                    "options.part",
                    other,
                    "one of PLIMSOLL_DUMP_...",
                ));
            }
        };
        let allowed = match part {
            Part::Localities | Part::Table => PLIMSOLL_DUMP_HAS_PRIORITY | PLIMSOLL_DUMP_HAS_SOURCE,
            _ => 0,
        };
        if self.flags & !allowed != 0 {
            return Err(Failure::unknown_number(
                "options.flags",
                self.flags,
                "a sum of PLIMSOLL_DUMP_HAS_... that the part has",
            ));
        }
        let has = |flag| self.flags & flag != 0;
        let source = match self.source {
            _ if !has(PLIMSOLL_DUMP_HAS_SOURCE) => None,
            PLIMSOLL_SOURCE_HEALTHY => Some(Source::Healthy),
            PLIMSOLL_SOURCE_DEGRADED => Some(Source::Degraded),
            PLIMSOLL_SOURCE_ALL => Some(Source::All),
            other => {
                return Err(Failure::unknown_number(
                    "options.source",
                    other,
                    "one of PLIMSOLL_SOURCE_...",
                ));
            }
        };
        let priority = has(PLIMSOLL_DUMP_HAS_PRIORITY).then_some(self.priority);
        Ok(Show { part, priority, source })
    }
}

/// Writes a part of what there is to see of the newest snapshot, as JSON and a NUL into `buffer`:
/// one line without spaces, for programs; its form is that of the same word's result in a replay,
/// `docs/replay.md`, and later versions may add keys.
///
/// `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
/// call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
///
/// Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number that stands for nothing or a table of a priority
/// that there is not (the error object names it), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for options of
/// a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` (counters only) or
/// `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on control calls, for counters only.
///
/// # Safety
///
/// `cluster` is NULL or alive, `options` is NULL or as large as its `size` says, `buffer` is NULL or
/// has `capacity` writable bytes, `needed` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_dump(
    cluster: *const ClusterHandle,
    options: *const DumpOptions,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: the caller promises that they are null or writable.
        let buffer = unsafe { TextBuffer::named(buffer, capacity, needed) }?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        if options.is_null() {
            return Err(Failure::null("options"));
        }
        // SAFETY: not null; the caller promises the rest.
        let options = unsafe { growable::read(options) };
        let options = options.map_err(|problem| problem.failure("options"))?;
        Ok(buffer.put(&text(&show(cluster.engine(), &options.engine_show()?)?))?)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Writes why the worker's next pick will go where it goes, as JSON and a NUL into `buffer`: decided
/// by the pick's own code, so that it cannot disagree with it. Changes no pick. The form is that of
/// `explain` in a replay, `docs/replay.md`; later versions may add keys.
///
/// `context` and `accept` are as for `plimsoll_worker_pick_filtered`; both may be NULL. `draw` is
/// NULL, or a number to be taken instead of the next random one.
///
/// `*needed` is the number of bytes that takes, the NUL included. `buffer` may be NULL if
/// `capacity` is 0. On failure the buffer holds an empty text. That there is no host is no failure.
///
/// Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
/// `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the context, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside
/// `accept`, or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: the one that uses `worker`. Allocates: yes. Blocks: no, unless `accept` does.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
/// `size` says, `draw` is NULL or readable, `accept` is NULL or may be called with `userdata`,
/// `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_explain(
    worker: *mut WorkerHandle,
    context: *const PickContext,
    draw: *const u64,
    userdata: *mut c_void,
    accept: Option<unsafe extern "C" fn(userdata: *mut c_void, candidate: *const Pick) -> c_int>,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    status(|| {
        // SAFETY: the caller promises that they are null or writable.
        let buffer = unsafe { TextBuffer::new(buffer, capacity, needed) }?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        // SAFETY: the caller promises that it is null or readable.
        let draw = unsafe { draw.as_ref() }.copied();
        let agrees = |pick, host: HostRef<'_>| {
            // SAFETY: the caller promises that it may be called so.
            accept.is_none_or(|accept| unsafe { worker.ask(pick, host, userdata, accept) })
        };
        let explain =
            |given: Given<'_>| Ok(worker.engine()?.explain(&given.to_engine(), draw, agrees));
        // SAFETY: passed on from the caller.
        let explanation = unsafe { given(context, explain) }?;
        buffer.put(&text(&plimsoll_json::explanation(&explanation)))
    })
}
