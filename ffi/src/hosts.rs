//! The hosts of a cluster, one call of a function for each.

use std::ffi::{c_int, c_void};
use std::mem::size_of;
use std::time::Duration;

use plimsoll::{HostView, Locality, View};

use crate::cluster::ClusterHandle;
use crate::failure::Failure;
use crate::health::{coarse_number, eds_number};
use crate::status::Status;
use crate::text::Str;
use crate::visit;

/// A host as `plimsoll_cluster_for_each_host` shows it.
///
/// A later library may know more of a host: `size` says how large its struct is, so that a program
/// with a newer header than its library can tell which members are there. The texts are UTF-8, may
/// be empty, do not end in a NUL, and are valid during the call of `visit` only.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// How many bytes of the struct the library has filled in.
    pub size: usize,
    /// The host's address, its identity.
    pub address: Str,
    /// Its name.
    pub hostname: Str,
    /// Its region.
    pub region: Str,
    /// Its zone.
    pub zone: Str,
    /// Its sub-zone.
    pub sub_zone: Str,
    /// Its priority; 0 is used first.
    pub priority: u32,
    /// Its configured weight.
    pub weight: u32,
    /// How many requests are active on it; changes while one looks.
    pub active: u32,
    /// What is known of its health: any of `PLIMSOLL_FLAG_...`, which are Envoy's bits.
    pub health: u32,
    /// What the control plane says of it: one of `PLIMSOLL_EDS_...`.
    pub eds_health: u32,
    /// What balancing makes of its health: one of `PLIMSOLL_COARSE_...`.
    pub coarse: u32,
    /// The weight that the policy uses now, slow start included and its requests not.
    pub effective_weight: f64,
    /// The part of the traffic that it gets, 0 to 1: the probability that a pick at a random moment
    /// lands on it; with `LEAST_REQUEST`, while no host has requests.
    pub share: f64,
    /// What its slow start multiplies its weight with now, 0 to 1; 1 if it is not in slow start.
    pub slow_start_factor: f64,
    /// How many seconds its slow start still takes; 0 if, and only if, it is not in slow start.
    pub slow_start_seconds_left: f64,
    /// 1 if it has reported its load and the policy goes by that; 0 otherwise, and then the members
    /// below are 0.
    pub has_report: u32,
    /// 0. Fills the place that would be padding.
    pub reserved: u32,
    /// The utilization of its last report that the policy goes by; more than 1 is possible.
    pub utilization: f64,
    /// How long ago its last report came, by the last tick.
    pub report_age_ns: u64,
    /// The weight that follows from its last report. It becomes its `effective_weight` when
    /// weights are taken over, and only while the report counts.
    pub reported_weight: f64,
}

impl Host {
    fn of(view: &HostView<'_>) -> Self {
        let HostView { host, effective_weight, slow_start, load, active, share, .. } = *view;
        let Locality { region, zone, sub_zone } = host.locality();
        Self {
            size: size_of::<Self>(),
            address: Str::lend(host.address().as_str()),
            hostname: Str::lend(host.hostname()),
            region: Str::lend(region),
            zone: Str::lend(zone),
            sub_zone: Str::lend(sub_zone),
            priority: host.priority(),
            weight: host.weight(),
            active,
            health: host.health().bits().into(),
            eds_health: eds_number(host.eds_health()),
            coarse: coarse_number(host.coarse_health()),
            effective_weight,
            share,
            slow_start_factor: slow_start.map_or(1.0, |warmup| warmup.factor),
            slow_start_seconds_left: slow_start.map_or(0.0, |warmup| warmup.seconds_left),
            has_report: load.is_some().into(),
            reserved: 0,
            utilization: load.map_or(0.0, |load| load.utilization),
            report_age_ns: load.map_or(0, |load| nanoseconds(load.age)),
            reported_weight: load.map_or(0.0, |load| load.weight),
        }
    }
}

fn nanoseconds(age: Duration) -> u64 {
    u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)
}

/// Calls `visit` for every host of the newest snapshot, by priority, then in the assignment's order,
/// until it returns something else than 0. All of them are of the same snapshot, whatever happens
/// meanwhile. That `visit` ends it is no failure.
///
/// `visit` runs on this thread, during the call. No lock is held: any call of this library may be
/// made in it, but the cluster must not be freed. It must not unwind or `longjmp`. It should be
/// quick: until the call returns, newer snapshots stay in memory, and hosts that left keep their
/// data.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`; a panic may have come
/// after some of the visits.
///
/// Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
///
/// # Safety
///
/// `cluster` is NULL or alive, and stays so during the call; `visit` is NULL or may be called with
/// `userdata`; `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_for_each_host(
    cluster: *const ClusterHandle,
    userdata: *mut c_void,
    visit: Option<unsafe extern "C" fn(userdata: *mut c_void, host: *const Host) -> c_int>,
    error: *mut *mut Failure,
) -> Status {
    let show = |view: &View, visit: &dyn Fn(_) -> _| {
        view.hosts().iter().try_for_each(|host| visit(Host::of(host)))
    };
    // SAFETY: passed on from the caller.
    unsafe { visit::each(cluster, (userdata, visit), error, show) }
}
