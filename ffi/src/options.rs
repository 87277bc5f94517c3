//! The options of a cluster.

use std::ffi::c_void;
use std::mem::offset_of;

use plimsoll::config::Behavior;
use plimsoll::{Locality, LogLevel, LogSink, Options, Runtime};

use crate::cluster::ClusterHandle;
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::handle;
use crate::number::boolean;
use crate::runtime::{self, RuntimeValue};
use crate::text::Str;

/// `plimsoll_cluster_options.behavior`: the same configuration and weights as Envoy, chosen
/// better. The default.
pub const PLIMSOLL_BEHAVIOR_NATIVE: u32 = 0;
/// `plimsoll_cluster_options.behavior`: Envoy 1.40.0, number for number.
pub const PLIMSOLL_BEHAVIOR_ENVOY: u32 = 1;

/// `plimsoll_cluster_options.log_level`: the library failed. A control call panicked.
pub const PLIMSOLL_LOG_ERROR: u32 = 1;
/// `plimsoll_cluster_options.log_level`: traffic may not go where it should. Panic, picks without a
/// host, load reports that are of no use, control calls that were refused, requests that were ended
/// twice.
pub const PLIMSOLL_LOG_WARNING: u32 = 2;
/// `plimsoll_cluster_options.log_level`: what an operator did, and ends of trouble. The cluster was
/// opened, its settings were replaced, a priority is out of panic.
pub const PLIMSOLL_LOG_INFO: u32 = 3;
/// `plimsoll_cluster_options.log_level`: every new snapshot.
pub const PLIMSOLL_LOG_DEBUG: u32 = 4;

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
    /// Where the cluster's messages go; NULL: nowhere. It is called at the end of control calls of
    /// this cluster, `plimsoll_cluster_open` included, on the thread of the call and with no lock of
    /// the library held, so that several threads may be in it at once; never by the calls of a worker,
    /// and not after `plimsoll_cluster_free` has returned. `level` is one of `PLIMSOLL_LOG_...`; `message`
    /// is a line without its end, UTF-8, does not end in a NUL, and is valid until `log` returns. It may
    /// make any call of this library but must not free the cluster, unwind or `longjmp`.
    pub log: Option<unsafe extern "C" fn(userdata: *mut c_void, level: u32, message: Str)>,
    /// What `log` is called with.
    pub log_userdata: *mut c_void,
    /// Which messages: one of `PLIMSOLL_LOG_...`, for those of this level and the ones that matter
    /// more; 0 for `PLIMSOLL_LOG_INFO`. A kind of message comes at most ten times at once, then once a
    /// second of the cluster's clock; what is left out is counted in the next one.
    pub log_level: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
}

// SAFETY: integers, raw pointers and a function or NULL only; `layout` leaves no room for padding.
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
    // SAFETY: passed on from the caller.
    let Some(given) = unsafe { growable::given(options, "options") }? else {
        return Ok((Behavior::default(), Options::default()));
    };
    let behavior = behavior(given.behavior, "options.behavior")?;
    let seed = boolean(given.has_seed, "options.has_seed")?.then_some(given.seed);
    // SAFETY: the caller promises that the texts are readable.
    let place = unsafe { locality("options", given.region, given.zone, given.sub_zone) }?;
    let node_locality = (place != Locality::default()).then_some(place);
    let local_cluster = match given.local_cluster.is_null() {
        true => None,
        // SAFETY: not null, so the caller promises that it is alive.
        false => Some(unsafe { handle::named(given.local_cluster, "options.local_cluster") }?),
    };
    let local_cluster = local_cluster.map(|local| local.engine().as_local_cluster());
    growable::unused(given.reserved, offset_of!(ClusterOptions, reserved), "options")?;
    let log = log(&given)?;
    let now_ns = given.now_ns;
    let mut runtime = Runtime::default();
    // SAFETY: passed on from the caller.
    let values =
        unsafe { runtime::engine_values(given.runtime, given.runtime_count, "options.runtime") }?;
    values.into_iter().for_each(|(key, value)| runtime.set(key, value));
    Ok((behavior, Options { node_locality, local_cluster, seed, now_ns, runtime, log }))
}

/// The caller's pointer for its `log`.
#[derive(Clone, Copy)]
struct Userdata(*mut c_void);

impl Userdata {
    fn get(self) -> *mut c_void {
        self.0
    }
}

// SAFETY: the library only gives the pointer back. The interface says that `log` may run on any
// thread, and on several at once.
unsafe impl Send for Userdata {}
// SAFETY: as above.
unsafe impl Sync for Userdata {}

/// Where messages go.
fn log(given: &ClusterOptions) -> Result<Option<LogSink>, Failure> {
    let level = match given.log_level {
        0 | PLIMSOLL_LOG_INFO => LogLevel::Info,
        PLIMSOLL_LOG_ERROR => LogLevel::Error,
        PLIMSOLL_LOG_WARNING => LogLevel::Warning,
        PLIMSOLL_LOG_DEBUG => LogLevel::Debug,
        other => {
            return Err(Failure::unknown_number(
                "options.log_level",
                other,
                "one of PLIMSOLL_LOG_...",
            ));
        }
    };
    let userdata = Userdata(given.log_userdata);
    Ok(given.log.map(|log| {
        LogSink::new(level, move |level, text| {
            // SAFETY: the caller promises that it may be called so.
            unsafe { log(userdata.get(), level as u32, Str::lend(text)) };
        })
    }))
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
        other => Err(Failure::unknown_number(field, other, "one of PLIMSOLL_BEHAVIOR_...")),
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
    let region = unsafe { region.read(format_args!("{owner}.region")) }?;
    // SAFETY: as above.
    let zone = unsafe { zone.read(format_args!("{owner}.zone")) }?;
    // SAFETY: as above.
    let sub_zone = unsafe { sub_zone.read(format_args!("{owner}.sub_zone")) }?;
    Ok(Locality::new(region, zone, sub_zone))
}
