//! One change to one host, and a batch of them as the engine takes it.

use std::mem::offset_of;

use plimsoll::config::{Endpoint, MAX_PRIORITY};
use plimsoll::{Address, Update};

use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::health;
use crate::options::locality;
use crate::text::Str;

/// `plimsoll_host_change.kind`: the host is added, or its description replaced if it is there.
pub const PLIMSOLL_CHANGE_UPSERT: u32 = 1;
/// `plimsoll_host_change.kind`: the host is removed.
pub const PLIMSOLL_CHANGE_REMOVE: u32 = 2;
/// `plimsoll_host_change.kind`: something was learnt about the host's health.
pub const PLIMSOLL_CHANGE_HEALTH: u32 = 3;

/// One change to one host. Growable: start from `PLIMSOLL_HOST_CHANGE_INIT`.
///
/// All changes of one call have the same `size`. A member that a kind does not use is not read.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HostChange {
    /// `sizeof(plimsoll_host_change)`.
    pub size: usize,
    /// One of `PLIMSOLL_CHANGE_...`.
    pub kind: u32,
    /// For `PLIMSOLL_CHANGE_HEALTH`: one of `PLIMSOLL_HEALTH_...`.
    pub event: u32,
    /// The host's address, its identity: `10.0.0.1:80`, `[::1]:80` or any other text. Not empty.
    pub address: Str,
    /// For `PLIMSOLL_CHANGE_UPSERT`: its name, for dumps and for hashing by name. May be empty.
    pub hostname: Str,
    /// For `PLIMSOLL_CHANGE_UPSERT`: its region. May be empty, as the next two.
    pub region: Str,
    /// For `PLIMSOLL_CHANGE_UPSERT`: its zone.
    pub zone: Str,
    /// For `PLIMSOLL_CHANGE_UPSERT`: its sub-zone.
    pub sub_zone: Str,
    /// For `PLIMSOLL_CHANGE_UPSERT`: 0, which is used first, to 128.
    pub priority: u32,
    /// For `PLIMSOLL_CHANGE_UPSERT`: its weight; 0 stands for 1.
    pub weight: u32,
    /// For `PLIMSOLL_CHANGE_UPSERT`: one of `PLIMSOLL_EDS_...`, which are Envoy's numbers.
    pub health_status: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
    /// For `PLIMSOLL_CHANGE_UPSERT`: what `ring_hash` and `maglev` place it by, `hash_key` in Envoy's
    /// metadata `envoy.lb`. Empty: its name or its address, as the policy says.
    pub hash_key: Str,
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for HostChange {}

/// A batch in the engine's form.
///
/// # Safety
///
/// `changes` is null or aligned and points to `count` structs, each as large as the first one's
/// `size` says; their texts are readable during the call.
///
/// # Errors
///
/// The first change that is refused, named by its index.
pub(crate) unsafe fn batch(changes: *const HostChange, count: usize) -> Result<Update, Failure> {
    // SAFETY: the caller promises that the texts of each change are readable.
    let add = |update, change: &HostChange, name: &str| unsafe { add(update, change, name) };
    // SAFETY: passed on from the caller.
    unsafe { growable::fold(changes, count, "changes", Update::new(), add) }
}

/// Adds one change to the batch.
///
/// # Safety
///
/// The texts of `change` are readable during the call.
unsafe fn add(update: Update, change: &HostChange, name: &str) -> Result<Update, Failure> {
    let field = |member: &str| format!("{name}.{member}");
    growable::unused(change.reserved, offset_of!(HostChange, reserved), name)?;
    // SAFETY: the caller promises that it is readable.
    let address = unsafe { change.address.read(format_args!("{name}.address")) }?;
    if address.is_empty() {
        return Err(Failure::invalid(&field("address"), "value is required"));
    }
    let address = Address::from(address);
    match change.kind {
        PLIMSOLL_CHANGE_UPSERT => {
            // SAFETY: passed on from the caller.
            Ok(update.upsert(unsafe { upsert(address, change, name) }?))
        }
        PLIMSOLL_CHANGE_REMOVE => Ok(update.remove(address)),
        PLIMSOLL_CHANGE_HEALTH => {
            let event = health::event(change.event).ok_or_else(|| {
                Failure::unknown_number(&field("event"), change.event, "one of PLIMSOLL_HEALTH_...")
            })?;
            Ok(update.health(address, event))
        }
        other => Err(Failure::unknown_number(&field("kind"), other, "one of PLIMSOLL_CHANGE_...")),
    }
}

/// The description of a host.
///
/// # Safety
///
/// The texts of `change` are readable during the call.
unsafe fn upsert(
    address: Address,
    change: &HostChange,
    name: &str,
) -> Result<plimsoll::HostChange, Failure> {
    // SAFETY: the caller promises that it is readable.
    let hostname = unsafe { change.hostname.read(format_args!("{name}.hostname")) }?;
    // SAFETY: as above.
    let hash_key = unsafe { change.hash_key.read(format_args!("{name}.hash_key")) }?;
    // SAFETY: as above, for all three.
    let locality = unsafe { locality(name, change.region, change.zone, change.sub_zone) }?;
    let health_status = health::eds_health(change.health_status).ok_or_else(|| {
        let field = format!("{name}.health_status");
        Failure::unknown_number(&field, change.health_status, "one of PLIMSOLL_EDS_...")
    })?;
    if change.priority > MAX_PRIORITY {
        return Err(Failure::too_large(&format!("{name}.priority"), MAX_PRIORITY));
    }
    let endpoint = Endpoint {
        hostname: hostname.to_owned(),
        hash_key: hash_key.to_owned(),
        load_balancing_weight: change.weight.max(1),
        health_status,
        ..Endpoint::new(address)
    };
    Ok(plimsoll::HostChange { endpoint, priority: change.priority, locality })
}
