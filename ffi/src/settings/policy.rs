//! The settings of policies that take turns or draw hosts, and of what they have in common: slow
//! start, and numbers that a runtime key overrides.

use std::ptr;
use std::time::Duration;

use plimsoll::config::{LeastRequest, RuntimeDouble, SelectionMethod, SlowStart};

use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::text::Str;

/// `plimsoll_least_request.selection_method`: the least busy of `choice_count` hosts that are drawn
/// at random. The default.
pub const PLIMSOLL_SELECTION_N_CHOICES: u32 = 0;
/// `plimsoll_least_request.selection_method`: the least busy of all hosts, at a cost in proportion to
/// their number.
pub const PLIMSOLL_SELECTION_FULL_SCAN: u32 = 1;

/// A number that a runtime value replaces.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RuntimeNumber {
    /// The number while there is no value for the key.
    pub default_value: f64,
    /// The key, see `plimsoll_cluster_set_runtime_double`. Not empty.
    pub runtime_key: Str,
}

/// How the share of a new host grows to what its weight gives it. Growable: start from
/// `PLIMSOLL_SLOW_START_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SlowStartSettings {
    /// `sizeof(plimsoll_slow_start)`.
    pub size: usize,
    /// How long it takes, at least a millisecond; 0, the default, switches it off.
    pub window_ns: u64,
    /// The least share of its weight that a new host has, 0 to 100. Default 10.
    pub min_weight_percent: f64,
    /// 1 grows linearly, more than 1 faster at first; more than 0. NULL: 1.
    pub aggression: *const RuntimeNumber,
}

/// The settings of `PLIMSOLL_POLICY_LEAST_REQUEST`. Growable: start from
/// `PLIMSOLL_LEAST_REQUEST_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LeastRequestSettings {
    /// `sizeof(plimsoll_least_request)`.
    pub size: usize,
    /// How many hosts are drawn, 2 to 65536. Default 2. Without effect with
    /// `PLIMSOLL_SELECTION_FULL_SCAN`.
    pub choice_count: u32,
    /// One of `PLIMSOLL_SELECTION_...`.
    pub selection_method: u32,
    /// How much active requests count, at least 0. NULL: 1.
    pub active_request_bias: *const RuntimeNumber,
}

impl Default for SlowStartSettings {
    /// What `PLIMSOLL_SLOW_START_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            window_ns: 0,
            min_weight_percent: 10.0,
            aggression: ptr::null(),
        }
    }
}

impl Default for LeastRequestSettings {
    /// What `PLIMSOLL_LEAST_REQUEST_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            choice_count: 2,
            selection_method: PLIMSOLL_SELECTION_N_CHOICES,
            active_request_bias: ptr::null(),
        }
    }
}

// SAFETY: numbers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for SlowStartSettings {
    fn unset() -> Self {
        Self::default()
    }
}

// SAFETY: as above.
unsafe impl Growable for LeastRequestSettings {
    fn unset() -> Self {
        Self::default()
    }
}

/// # Safety
///
/// `from` is null or as [`growable::read`] wants it; its number is null or readable, with its key.
///
/// # Errors
///
/// The first member that is refused; ranges are for the engine to check.
pub(super) unsafe fn slow_start(
    from: *const SlowStartSettings,
) -> Result<Option<SlowStart>, Failure> {
    let name = "settings.slow_start";
    // SAFETY: passed on from the caller.
    let Some(given) = unsafe { growable::given(from, name) }? else { return Ok(None) };
    Ok(Some(SlowStart {
        // SAFETY: passed on from the caller.
        aggression: unsafe { number(given.aggression, &format!("{name}.aggression")) }?,
        min_weight_percent: given.min_weight_percent,
        ..SlowStart::new(Duration::from_nanos(given.window_ns))
    }))
}

/// # Safety
///
/// As for [`slow_start`].
///
/// # Errors
///
/// As for [`slow_start`].
pub(super) unsafe fn least_request(
    from: *const LeastRequestSettings,
    slow_start: Option<SlowStart>,
) -> Result<LeastRequest, Failure> {
    let name = "settings.least_request";
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(from, name) }?.unwrap_or_default();
    Ok(LeastRequest {
        choice_count: given.choice_count,
        active_request_bias: {
            let name = format!("{name}.active_request_bias");
            // SAFETY: passed on from the caller.
            unsafe { number(given.active_request_bias, &name) }?
        },
        selection_method: match given.selection_method {
            PLIMSOLL_SELECTION_N_CHOICES => SelectionMethod::NChoices,
            PLIMSOLL_SELECTION_FULL_SCAN => SelectionMethod::FullScan,
            other => {
                return Err(Failure::unknown_number(
                    &format!("{name}.selection_method"),
                    other,
                    "one of PLIMSOLL_SELECTION_...",
                ));
            }
        },
        slow_start,
    })
}

/// # Safety
///
/// `from` is null or readable, with its key.
unsafe fn number(from: *const RuntimeNumber, name: &str) -> Result<Option<RuntimeDouble>, Failure> {
    // SAFETY: passed on from the caller.
    let Some(given) = (unsafe { from.as_ref() }) else { return Ok(None) };
    // SAFETY: passed on from the caller.
    let runtime_key =
        unsafe { given.runtime_key.read(format_args!("{name}.runtime_key")) }?.to_owned();
    Ok(Some(RuntimeDouble { default_value: given.default_value, runtime_key }))
}
