//! Structs that may grow, and the options of a cluster.
//!
//! A growable struct says in its first member how large its caller thinks it is. A caller with an
//! older, smaller header leaves the rest zero, which every new member must take as "not set". A
//! caller with a newer, larger header is served as long as it does not use what this library does
//! not know: a non-zero byte there is refused, because ignoring a setting would send traffic
//! elsewhere in silence.

use std::mem::{MaybeUninit, size_of};
use std::{ptr, slice};

use plimsoll::config::Behavior;
use plimsoll::{Locality, Options};

use crate::failure::Failure;
use crate::status::Status;
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
}

/// A struct that may grow.
///
/// # Safety
///
/// The type is `repr(C)`, starts with a `usize` that says its size, has no padding, and is valid
/// for any bytes.
pub(crate) unsafe trait Growable: Copy {}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for ClusterOptions {}

/// No struct of this interface will be larger. A size above it is a member that was never set.
const LARGEST: usize = 4096;

/// Why a growable struct was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeProblem {
    /// `size` cannot be the size of this struct.
    Impossible { size: usize },
    /// A byte beyond what this library knows is not zero.
    Unknown { offset: usize },
}

impl SizeProblem {
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Impossible { .. } => Status::InvalidArgument,
            Self::Unknown { .. } => Status::UnsupportedField,
        }
    }

    /// The same with words; `name` is the argument's.
    pub(crate) fn failure(self, name: &str) -> Failure {
        match self {
            Self::Impossible { size } => {
                Failure::invalid(&format!("{name}.size"), format!("{size} bytes cannot be it"))
            }
            Self::Unknown { offset } => {
                let message = format!(
                    "byte {offset} is set, and this library knows of none there: it is older \
                     than the header of its caller"
                );
                Failure::new(Status::UnsupportedField, name, message)
            }
        }
    }
}

/// A growable struct of any vintage, in the form that this library knows.
///
/// # Safety
///
/// `from` is aligned and points to as many readable bytes as its first member says, and to that
/// member at least.
///
/// # Errors
///
/// A size that cannot be, or a byte that is set and not known here.
#[inline]
pub(crate) unsafe fn read<T: Growable>(from: *const T) -> Result<T, SizeProblem> {
    // SAFETY: the first member is a `usize` (`Growable`), and the caller promises that it is there.
    let size = unsafe { from.cast::<usize>().read() };
    if size == size_of::<T>() {
        // SAFETY: as many bytes as `T` has are readable, and `T` is valid for any.
        return Ok(unsafe { from.read() });
    }
    // SAFETY: passed on from the caller.
    unsafe { read_other(from, size) }
}

/// The same for a size that is not ours.
///
/// # Safety
///
/// `from` is aligned and points to `size` readable bytes.
#[cold]
unsafe fn read_other<T: Growable>(from: *const T, size: usize) -> Result<T, SizeProblem> {
    if !(size_of::<usize>()..=LARGEST).contains(&size) {
        return Err(SizeProblem::Impossible { size });
    }
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes are readable, and this is within them.
    let tail = unsafe { from.cast::<u8>().add(known) };
    // SAFETY: what is left of the `size` readable bytes.
    let tail = unsafe { slice::from_raw_parts(tail, size - known) };
    if let Some(set) = tail.iter().position(|byte| *byte != 0) {
        return Err(SizeProblem::Unknown { offset: known + set });
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` is at most the size of either side, and `value` is our own.
    unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), known) };
    // SAFETY: `T` is valid for any bytes, zeroes included.
    Ok(unsafe { value.assume_init() })
}

/// The options in the engine's form, and the behavior, which is a setting of the cluster there.
///
/// # Safety
///
/// `options` is null or as [`read`] wants it, and its texts are readable during the call.
///
/// # Errors
///
/// What [`read`] refuses, a number that stands for nothing, or text that is not UTF-8.
pub(crate) unsafe fn engine_options(
    options: *const ClusterOptions,
) -> Result<(Behavior, Options), Failure> {
    if options.is_null() {
        return Ok((Behavior::default(), Options::default()));
    }
    // SAFETY: not null; the caller promises the rest.
    let given = unsafe { read(options) }.map_err(|problem| problem.failure("options"))?;
    let behavior = match given.behavior {
        PLIMSOLL_BEHAVIOR_NATIVE => Behavior::Native,
        PLIMSOLL_BEHAVIOR_ENVOY => Behavior::Envoy,
        other => return Err(unknown_number("options.behavior", other)),
    };
    let seed = match given.has_seed {
        0 => None,
        1 => Some(given.seed),
        other => return Err(unknown_number("options.has_seed", other)),
    };
    // SAFETY: the caller promises that the texts are readable.
    let place = unsafe { locality("options", given.region, given.zone, given.sub_zone) }?;
    let node_locality = (place != Locality::default()).then_some(place);
    Ok((behavior, Options { node_locality, seed, now_ns: given.now_ns, ..Options::default() }))
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

/// A number that stands for nothing.
pub(crate) fn unknown_number(field: &str, number: u32) -> Failure {
    Failure::invalid(field, format!("{number} stands for nothing here"))
}
