//! How traffic divides among the localities of a cluster, one call of a function for each.

use std::ffi::{c_int, c_void};
use std::mem::size_of;

use plimsoll::{Locality, LocalityRoute, PriorityView, Source, View};

use crate::cluster::ClusterHandle;
use crate::failure::Failure;
use crate::status::Status;
use crate::text::Str;
use crate::visit;

/// `plimsoll_locality.source`: the healthy hosts.
pub const PLIMSOLL_SOURCE_HEALTHY: u32 = 0;
/// `plimsoll_locality.source`: the degraded hosts.
pub const PLIMSOLL_SOURCE_DEGRADED: u32 = 1;
/// `plimsoll_locality.source`: all hosts, whatever their health. In panic a priority sends there.
pub const PLIMSOLL_SOURCE_ALL: u32 = 2;

/// One kind of hosts in one locality, as `plimsoll_cluster_for_each_locality` shows it.
///
/// A later library may know more of it: `size` says how large its struct is, so that a program with
/// a newer header than its library can tell which members are there. The texts are UTF-8, may be
/// empty, do not end in a NUL, and are valid during the call of `visit` only.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LocalityShown {
    /// How many bytes of the struct the library has filled in.
    pub size: usize,
    /// The locality's region.
    pub region: Str,
    /// Its zone.
    pub zone: Str,
    /// Its sub-zone.
    pub sub_zone: Str,
    /// The priority of the hosts; 0 is used first.
    pub priority: u32,
    /// Which of its hosts: one of `PLIMSOLL_SOURCE_...`.
    pub source: u32,
    /// 1 if the node's own locality gets everything that goes to such hosts of this priority; the
    /// same for all localities of one priority and source.
    pub all_local: u32,
    /// 1 if routing goes by utilizations; 0 otherwise, and then `utilization` is 0.
    pub has_utilization: u32,
    /// How many such hosts there are.
    pub hosts: u64,
    /// The part of all requests that goes to such hosts of this priority, 0 to 1; the same for all
    /// localities of one priority and source.
    pub load: f64,
    /// How busy they are, as far as it is known, and smoothed. More than 1 is possible.
    pub utilization: f64,
    /// What the locality gets of `load`: with `PLIMSOLL_BEHAVIOR_NATIVE` its part, 0 to 1; with
    /// `PLIMSOLL_BEHAVIOR_ENVOY` in proportion to this, which is the weight that Envoy's own routing
    /// has. It means nothing if the priority has no such hosts.
    pub weight: f64,
}

/// All that there is to show of a snapshot. The texts are the snapshot's own.
fn shown(view: &View) -> impl Iterator<Item = LocalityShown> {
    let sources = [Source::Healthy, Source::Degraded, Source::All];
    (0..).zip(view.priorities()).flat_map(move |(number, priority)| {
        sources.into_iter().flat_map(move |source| of_source(number, &priority, source))
    })
}

fn of_source(number: u32, priority: &PriorityView<'_>, source: Source) -> Vec<LocalityShown> {
    let routes = priority.routes(source);
    let of_route = |route: &LocalityRoute<'_>| {
        let LocalityRoute { locality, hosts, utilization, weight, .. } = *route;
        let Locality { region, zone, sub_zone } = locality;
        LocalityShown {
            size: size_of::<LocalityShown>(),
            region: Str::lend(region),
            zone: Str::lend(zone),
            sub_zone: Str::lend(sub_zone),
            priority: number,
            source: source_number(source),
            all_local: routes.all_local.into(),
            has_utilization: utilization.is_some().into(),
            hosts,
            load: load(priority, source),
            utilization: utilization.unwrap_or(0.0),
            weight,
        }
    };
    routes.localities.iter().map(of_route).collect()
}

fn source_number(source: Source) -> u32 {
    match source {
        Source::Healthy => PLIMSOLL_SOURCE_HEALTHY,
        Source::Degraded => PLIMSOLL_SOURCE_DEGRADED,
        Source::All => PLIMSOLL_SOURCE_ALL,
    }
}

/// The part of all requests that goes to this kind of hosts of a priority.
fn load(priority: &PriorityView<'_>, source: Source) -> f64 {
    let PriorityView { healthy_load, degraded_load, panic, .. } = *priority;
    let percent = match (panic, source) {
        (true, Source::All) => healthy_load + degraded_load,
        (false, Source::Healthy) => healthy_load,
        (false, Source::Degraded) => degraded_load,
        (true, _) | (false, Source::All) => 0.0,
    };
    percent / 100.0
}

/// Calls `visit` for every locality of the newest snapshot that has hosts, and there for its
/// healthy, its degraded and all its hosts, until it returns something else than 0. The order is by
/// priority, by `PLIMSOLL_SOURCE_...`, then the node's own locality first and the others by name. All
/// of it is of the same snapshot, whatever happens meanwhile. That `visit` ends it is no failure.
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
pub unsafe extern "C" fn plimsoll_cluster_for_each_locality(
    cluster: *const ClusterHandle,
    userdata: *mut c_void,
    visit: Option<
        unsafe extern "C" fn(userdata: *mut c_void, locality: *const LocalityShown) -> c_int,
    >,
    error: *mut *mut Failure,
) -> Status {
    let show = |view: &View, visit: &dyn Fn(_) -> _| shown(view).into_iter().try_for_each(visit);
    // SAFETY: passed on from the caller.
    unsafe { visit::each(cluster, (userdata, visit), error, show) }
}
