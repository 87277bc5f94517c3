//! Streams of load reports: which of them to open and close by now, and what came of them. The sockets
//! are the caller's; the rules, and when to try again, are the engine's.

use std::ffi::c_void;
use std::time::Duration;

use plimsoll::{Cluster, StreamAction, StreamEnd, StreamHost, StreamTarget};

use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::handle;
use crate::out::fresh;
use crate::status::Status;
use crate::text::{self, Str};

/// `plimsoll_stream_action.kind`: connect to `dial` and call
/// `xds.service.orca.v3.OpenRcaService/StreamCoreMetrics`. If there still is a stream of this host,
/// this one replaces it.
pub const PLIMSOLL_STREAM_OPEN: u32 = 1;
/// `plimsoll_stream_action.kind`: close the connection without waiting for anything; its end need not
/// be told. There may be none.
pub const PLIMSOLL_STREAM_CLOSE: u32 = 2;

/// `plimsoll_cluster_stream_ended`: there is no status of gRPC. No connection, a reset, a GOAWAY.
pub const PLIMSOLL_STREAM_BROKEN: i32 = -1;

/// What is to be done about one stream.
///
/// A later library may know more of it: `size` says how large its struct is. The texts are UTF-8, do
/// not end in a NUL, and are valid during the call of `act` only.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct StreamShown {
    /// How many bytes of the struct the library has filled in.
    pub size: usize,
    /// `PLIMSOLL_STREAM_OPEN` or `PLIMSOLL_STREAM_CLOSE`.
    pub kind: u32,
    /// The slot of the host, as in a `plimsoll_pick`.
    pub slot: u32,
    /// Which host has the slot, as in a `plimsoll_pick`.
    pub generation: u32,
    /// 0. Fills the place that would be padding.
    pub reserved: u32,
    /// To open: the `report_interval` to ask for, in nanoseconds.
    pub interval_ns: u64,
    /// To open: the host's address.
    pub address: Str,
    /// To open: what to connect to, the address with the port of `oob_reporting_config` if there is
    /// one.
    pub dial: Str,
    /// To open: what to call the host in the request.
    pub authority: Str,
}

impl StreamShown {
    fn of(kind: u32, host: StreamHost) -> Self {
        Self {
            size: size_of::<Self>(),
            kind,
            slot: host.slot,
            generation: host.generation,
            reserved: 0,
            interval_ns: 0,
            address: Str::EMPTY,
            dial: Str::EMPTY,
            authority: Str::EMPTY,
        }
    }

    fn open(host: StreamHost, interval: Duration, target: &StreamTarget) -> Self {
        Self {
            interval_ns: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
            address: Str::lend(&target.address),
            dial: Str::lend(&target.dial),
            authority: Str::lend(&target.authority),
            ..Self::of(PLIMSOLL_STREAM_OPEN, host)
        }
    }
}

/// Shows one action. A host that left since the poll is not to be opened any more; the next poll
/// closes what it takes for open.
fn show(
    engine: &Cluster,
    action: StreamAction,
    mut act: impl FnMut(&StreamShown),
) -> Result<(), Failure> {
    match action {
        StreamAction::Open { host, interval } => {
            if let Some(target) = engine.report_stream_target(host)? {
                act(&StreamShown::open(host, interval, &target));
            }
        }
        StreamAction::Close { host } => act(&StreamShown::of(PLIMSOLL_STREAM_CLOSE, host)),
    }
    Ok(())
}

/// Calls `act` for each stream of load reports that is to be opened or closed by now, and says when to
/// ask again: `*next_ns`, on the scale of `plimsoll_cluster_tick`, and 0 if nothing is due by itself.
/// There are none unless the policy asks for such streams (`enable_oob_load_report`). Ask at that time
/// and after every change of hosts or settings; what streams bring and how they end goes to
/// `plimsoll_cluster_stream_message` and `plimsoll_cluster_stream_ended`.
///
/// `act` runs on this thread, during the call. No lock is held: any call of this library may be made
/// in it, but the cluster must not be freed. It must not unwind or `longjmp`. Each action is shown
/// once.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls, and if `act` does.
///
/// # Safety
///
/// `cluster` is NULL or alive, and stays so during the call; `act` is NULL or may be called with
/// `userdata`; `next_ns` and `error` are NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_poll_streams(
    cluster: *const ClusterHandle,
    now_ns: u64,
    userdata: *mut c_void,
    act: Option<unsafe extern "C" fn(userdata: *mut c_void, action: *const StreamShown)>,
    next_ns: *mut u64,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let next_ns = unsafe { fresh(next_ns, 0) }.ok_or_else(|| Failure::null("next_ns"))?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let engine = unsafe { handle::named(cluster, "cluster") }?.engine();
        let act = act.ok_or_else(|| Failure::null("act"))?;
        // Each is told once: after a failure the others are shown all the same.
        let mut told = Ok(());
        for action in engine.poll_report_streams(now_ns)? {
            // SAFETY: the caller promises that it may be called so.
            told = told.and(show(engine, action, |shown| unsafe { act(userdata, shown) }));
        }
        told?;
        *next_ns = engine.next_report_stream_ns()?.unwrap_or(0);
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Takes in a message of a stream that was opened for the host with this slot and generation:
/// `length` bytes of an `xds.data.orca.v3.OrcaLoadReport` in protobuf. `message` may be NULL if `length`
/// is 0, which is how a report looks in which everything is 0. A stream whose message is no report is
/// closed by the next `plimsoll_cluster_poll_streams`. A message of a stream that is no longer wanted does
/// nothing. What becomes of messages is counted, see `lb_orca_oob` in `plimsoll_cluster_stats`. A `now_ns`
/// of 0 stands for what the last tick was told.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a length that no
/// object can have, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `message` is NULL or has `length` readable bytes, `error` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_stream_message(
    cluster: *const ClusterHandle,
    slot: u32,
    generation: u32,
    message: *const c_void,
    length: usize,
    now_ns: u64,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let engine = unsafe { handle::named(cluster, "cluster") }?.engine();
        // SAFETY: the caller promises `length` readable bytes.
        let message = unsafe { text::bytes(message.cast(), length) }
            .map_err(|status| text::failure(status, "message"))?;
        let host = StreamHost { slot, generation };
        Ok(engine.report_stream_message(host, message.unwrap_or_default(), now_ns)?)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Takes note that a stream ended which was not closed on request. `grpc_status` is the status of gRPC,
/// 0 included, or `PLIMSOLL_STREAM_BROKEN` if there is none. With 12, UNIMPLEMENTED, the host is not
/// asked again, or not for long; otherwise the stream is opened again after a while, which doubles. A
/// `now_ns` of 0 stands for what the last tick was told.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for another negative
/// status, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_stream_ended(
    cluster: *const ClusterHandle,
    slot: u32,
    generation: u32,
    grpc_status: i32,
    now_ns: u64,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let engine = unsafe { handle::named(cluster, "cluster") }?.engine();
        let end = match u32::try_from(grpc_status) {
            Ok(status) => StreamEnd::from_status(status),
            Err(_) if grpc_status == PLIMSOLL_STREAM_BROKEN => StreamEnd::Broken,
            Err(_) => {
                let message = format!(
                    "{grpc_status} stands for nothing here: a status of gRPC or \
                     PLIMSOLL_STREAM_BROKEN is expected"
                );
                return Err(Failure::invalid("grpc_status", message));
            }
        };
        let host = StreamHost { slot, generation };
        Ok(engine.report_stream_ended(host, end, now_ns)?)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}
