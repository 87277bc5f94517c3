//! The options of a cluster.

use plimsoll::config::Behavior;
use plimsoll::{Locality, Options, Runtime};

use crate::cluster::ClusterHandle;
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::runtime::{self, RuntimeValue};
use crate::text::Str;

/// `plimsoll_cluster_options.behavior`: the same configuration and weights as Envoy, chosen
/// better. The default.
pub const PLIMSOLL_BEHAVIOR_NATIVE: u32 = 0;
/// `plimsoll_cluster_options.behavior`: Envoy 1.40.0, number for number.
pub const PLIMSOLL_BEHAVIOR_ENVOY: u32 = 1;

/// What a cluster needs to know besides its configuration. Growable: start from
/// `PLIMSOLL_CLUSTER_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClusterOptions {
    /// `sizeof(plimsoll_cluster_options)`.
    pub size: usize,
    /// `PLIMSOLL_BEHAVIOR_NATIVE` or `PLIMSOLL_BEHAVIOR_ENVOY`.
    pub behavior: u32,
    /// 1: `seed` is to be used, and picks can be repeated. 0: seeded from the system's entropy,
    /// as in production, so that two proxies never pick in lockstep.
    pub has_seed: u32,
    /// The seed of all random numbers, if `has_seed` is 1.
    pub seed: u64,
    /// What the clock shows now, in nanoseconds since any fixed moment.
    pub now_ns: u64,
    /// The region of this node itself. All three parts empty: the node's place is not known.
    pub region: Str,
    /// The zone of this node itself.
    pub zone: Str,
    /// The sub-zone of this node itself.
    pub sub_zone: Str,
    /// The cluster that this node itself belongs to, Envoy's `local_cluster_name`; zone-aware
    /// routing goes by where its healthy hosts are. NULL: not known. This cluster follows its
    /// changes with its own next control call, `plimsoll_cluster_tick` at the latest. Either cluster
    /// may be freed first: once the local one is freed, what it was last goes on to count.
    pub local_cluster: *const ClusterHandle,
    /// Runtime values that hold from the start, also with `PLIMSOLL_BEHAVIOR_ENVOY`, which takes
    /// later ones up with the next change only. May be NULL if `runtime_count` is 0.
    pub runtime: *const RuntimeValue,
    /// How many.
    pub runtime_count: usize,
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for ClusterOptions {}

/// The options in the engine's form, and the behavior, which is a setting of the cluster there.
///
/// # Safety
///
/// `options` is null or as [`growable::read`] wants it, its texts are readable during the call, its
/// local cluster is null or alive during the call, and its runtime values are as
/// [`runtime::engine_values`] wants them.
///
/// # Errors
///
/// What [`growable::read`] refuses, a number that stands for nothing, or text that is not UTF-8.
pub(crate) unsafe fn engine_options(
    options: *const ClusterOptions,
) -> Result<(Behavior, Options), Failure> {
    if options.is_null() {
        return Ok((Behavior::default(), Options::default()));
    }
    // SAFETY: not null; the caller promises the rest.
    let given = unsafe { growable::read(options) }.map_err(|problem| problem.failure("options"))?;
    let behavior = behavior(given.behavior, "options.behavior")?;
    let seed = match given.has_seed {
        0 => None,
        1 => Some(given.seed),
        other => return Err(Failure::unknown_number("options.has_seed", other)),
    };
    // SAFETY: the caller promises that the texts are readable.
    let place = unsafe { locality("options", given.region, given.zone, given.sub_zone) }?;
    let node_locality = (place != Locality::default()).then_some(place);
    // SAFETY: the caller promises that it is null or alive.
    let local_cluster = unsafe { given.local_cluster.as_ref() };
    let local_cluster = local_cluster.map(|local| local.engine().as_local_cluster());
    let now_ns = given.now_ns;
    let mut runtime = Runtime::default();
    // SAFETY: passed on from the caller.
    let values =
        unsafe { runtime::engine_values(given.runtime, given.runtime_count, "options.runtime") }?;
    values.into_iter().for_each(|(key, value)| runtime.set(key, value));
    Ok((behavior, Options { node_locality, local_cluster, seed, now_ns, runtime }))
}

/// A behavior by its number; `field` is where it stood.
///
/// # Errors
///
/// A number that stands for nothing.
pub(crate) fn behavior(number: u32, field: &str) -> Result<Behavior, Failure> {
    match number {
        PLIMSOLL_BEHAVIOR_NATIVE => Ok(Behavior::Native),
        PLIMSOLL_BEHAVIOR_ENVOY => Ok(Behavior::Envoy),
        other => Err(Failure::unknown_number(field, other)),
    }
}

/// Three texts as a place.
///
/// # Safety
///
/// The texts are readable during the call.
///
/// # Errors
///
/// Text that is not UTF-8.
pub(crate) unsafe fn locality(
    owner: &str,
    region: Str,
    zone: Str,
    sub_zone: Str,
) -> Result<Locality, Failure> {
    // SAFETY: the caller promises that all three are readable.
    let region = unsafe { region.read(&format!("{owner}.region")) }?;
    // SAFETY: as above.
    let zone = unsafe { zone.read(&format!("{owner}.zone")) }?;
    // SAFETY: as above.
    let sub_zone = unsafe { sub_zone.read(&format!("{owner}.sub_zone")) }?;
    Ok(Locality::new(region, zone, sub_zone))
}
