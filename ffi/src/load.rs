//! How busy hosts are, for a caller that counts requests which the library does not see.

use std::mem::offset_of;

use crate::cluster::ClusterHandle;
use crate::error::report;
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::handle;
use crate::status::Status;
use crate::text::Str;

/// The largest number of requests that `plimsoll_cluster_set_loads` takes.
pub const PLIMSOLL_MAX_LOAD: u32 = 0x4000_0000;

const _: () = assert!(PLIMSOLL_MAX_LOAD == plimsoll::MAX_LOAD);

/// `plimsoll_host_load.flags`: `pending` is to be set, too. Without it, what was set before stays.
pub const PLIMSOLL_LOAD_HAS_PENDING: u32 = 1;

/// How busy one host is. Growable: start from `PLIMSOLL_HOST_LOAD_INIT`.
///
/// All loads of one call have the same `size`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HostLoad {
    /// `sizeof(plimsoll_host_load)`.
    pub size: usize,
    /// The host's address, its identity.
    pub address: Str,
    /// How many requests are active on it, `PLIMSOLL_MAX_LOAD` at most.
    pub active: u32,
    /// With `PLIMSOLL_LOAD_HAS_PENDING`: how many requests wait for a connection to it,
    /// `PLIMSOLL_MAX_LOAD` at most. They count with `LEAST_REQUEST` only, and only while the
    /// runtime key `envoy.reloadable_features.least_request_lb_count_pending_requests` is true.
    pub pending: u32,
    /// `PLIMSOLL_LOAD_HAS_PENDING`, or 0.
    pub flags: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for HostLoad {}

/// Sets how busy hosts are, all or nothing. For requests that the library does not count itself:
/// those of other processes, or of picks with `PLIMSOLL_PICK_UNCOUNTED`. Counted picks and
/// `plimsoll_worker_done` count on from there.
///
/// The next pick of every worker sees it, without a new snapshot. What is set here never keeps a
/// host that leaves. If a host stands in the array twice, the later load holds. `loads` may be NULL
/// if `count` is 0.
///
/// Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if a host is not there,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number outside its range (the error object names it,
/// `loads[3].active`), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for loads of a newer header,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `loads` is NULL or an array of `count` structs, each as large as the
/// first one's `size` says, `error` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_set_loads(
    cluster: *const ClusterHandle,
    loads: *const HostLoad,
    count: usize,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let cluster = unsafe { handle::named(cluster, "cluster") }?;
        let add = |mut all: Vec<_>, load: &HostLoad, name: &str| {
            // SAFETY: the caller promises that the text of each load is readable.
            all.push(unsafe { engine_load(load, name) }?);
            Ok(all)
        };
        // SAFETY: null is handled; otherwise the caller promises `count` structs.
        let loads = unsafe { growable::fold(loads, count, "loads", Vec::new(), add) }?;
        Ok(cluster.engine().set_loads(&loads)?)
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// A load in the engine's form.
///
/// # Safety
///
/// The text of `load` is readable during the call.
///
/// # Errors
///
/// The first member that is refused, with `name` before it.
unsafe fn engine_load<'call>(
    load: &HostLoad,
    name: &str,
) -> Result<(&'call str, plimsoll::HostLoad), Failure> {
    let field = |member: &str| format!("{name}.{member}");
    growable::unused(load.reserved, offset_of!(HostLoad, reserved), name)?;
    // SAFETY: the caller promises that it is readable.
    let address = unsafe { load.address.read(format_args!("{name}.address")) }?;
    let pending = match load.flags {
        0 => None,
        PLIMSOLL_LOAD_HAS_PENDING => Some(load.pending),
        other => {
            return Err(Failure::unknown_number(
                &field("flags"),
                other,
                "0 or PLIMSOLL_LOAD_HAS_PENDING",
            ));
        }
    };
    for (member, number) in [("active", load.active), ("pending", pending.unwrap_or(0))] {
        if number > PLIMSOLL_MAX_LOAD {
            return Err(Failure::too_large(&field(member), PLIMSOLL_MAX_LOAD));
        }
    }
    Ok((address, plimsoll::HostLoad { active: load.active, pending }))
}
