//! Runtime values: numbers that override settings, by Envoy's runtime keys. There is a function for
//! each form that a value may have, and one for several keys at once.

use plimsoll::Cluster;

use crate::cluster::ClusterHandle;
use crate::control::{Applied, control};
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::number::boolean;
use crate::status::Status;
use crate::text::Str;

/// `plimsoll_runtime_value.kind`: the key is removed.
pub const PLIMSOLL_RUNTIME_REMOVED: u32 = 0;
/// `plimsoll_runtime_value.kind`: the value is `integer`.
pub const PLIMSOLL_RUNTIME_INTEGER: u32 = 1;
/// `plimsoll_runtime_value.kind`: the value is `number`.
pub const PLIMSOLL_RUNTIME_NUMBER: u32 = 2;
/// `plimsoll_runtime_value.kind`: the value is `boolean`.
pub const PLIMSOLL_RUNTIME_BOOLEAN: u32 = 3;

/// One runtime key and its value. Growable: start from `PLIMSOLL_RUNTIME_VALUE_INIT`.
///
/// All values of one call have the same `size`. A member that a kind does not use is not read.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RuntimeValue {
    /// `sizeof(plimsoll_runtime_value)`.
    pub size: usize,
    /// The key, such as `upstream.healthy_panic_threshold`.
    pub key: Str,
    /// One of `PLIMSOLL_RUNTIME_...`.
    pub kind: u32,
    /// For `PLIMSOLL_RUNTIME_BOOLEAN`: 1 for true, 0 for false.
    pub boolean: u32,
    /// For `PLIMSOLL_RUNTIME_INTEGER`: a whole number, which also stands for a double, and for true
    /// unless it is 0.
    pub integer: u64,
    /// For `PLIMSOLL_RUNTIME_NUMBER`: a double. It must be finite.
    pub number: f64,
}

// SAFETY: numbers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for RuntimeValue {}

/// Keys and values in the engine's form; `None` removes a key.
pub(crate) type EngineValues<'call> = Vec<(&'call str, Option<plimsoll::RuntimeValue>)>;

/// All values of an array, which `argument` names.
///
/// # Safety
///
/// `values` is null or an array of `count` structs, each as large as the first one's `size` says;
/// their keys are readable during `'call`.
///
/// # Errors
///
/// The first member that is refused.
pub(crate) unsafe fn engine_values<'call>(
    values: *const RuntimeValue,
    count: usize,
    argument: &str,
) -> Result<EngineValues<'call>, Failure> {
    let add = |mut all: EngineValues<'call>, value: &RuntimeValue, name: &str| {
        // SAFETY: the caller promises that it is readable.
        let key = unsafe { value.key.read(format_args!("{name}.key")) }?;
        all.push((key, value.engine_value(name)?));
        Ok(all)
    };
    // SAFETY: null is handled; otherwise the caller promises `count` structs.
    unsafe { growable::fold(values, count, argument, Vec::new(), add) }
}

impl RuntimeValue {
    fn engine_value(&self, name: &str) -> Result<Option<plimsoll::RuntimeValue>, Failure> {
        let value = match self.kind {
            PLIMSOLL_RUNTIME_REMOVED => return Ok(None),
            PLIMSOLL_RUNTIME_INTEGER => plimsoll::RuntimeValue::Integer(self.integer),
            PLIMSOLL_RUNTIME_NUMBER => finite(self.number, &format!("{name}.number"))?,
            PLIMSOLL_RUNTIME_BOOLEAN => {
                let truth = boolean(self.boolean, format_args!("{name}.boolean"))?;
                plimsoll::RuntimeValue::Boolean(truth)
            }
            other => {
                return Err(Failure::unknown_number(
                    &format!("{name}.kind"),
                    other,
                    "one of PLIMSOLL_RUNTIME_...",
                ));
            }
        };
        Ok(Some(value))
    }
}

fn finite(number: f64, field: &str) -> Result<plimsoll::RuntimeValue, Failure> {
    if !number.is_finite() {
        return Err(Failure::invalid(field, "value must be finite"));
    }
    Ok(plimsoll::RuntimeValue::Number(number))
}

/// Sets and removes `count` runtime keys in one step, all or nothing; any number of them makes one
/// snapshot at most. What a key does is as with `plimsoll_cluster_set_runtime`. If a key stands in
/// the array twice, the later value holds. `values` may be NULL if `count` is 0.
///
/// `out` may be NULL; it is zero on failure.
///
/// Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a key that is not UTF-8, a number that is
/// infinite or none, or a kind that stands for nothing (the error object names it,
/// `values[3].kind`), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for values of a newer header,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `values` is NULL or an array of `count` structs, each as large as
/// the first one's `size` says, whose keys are readable, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_update_runtime(
    cluster: *const ClusterHandle,
    values: *const RuntimeValue,
    count: usize,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let act = |engine: &Cluster| {
        // SAFETY: passed on from the caller.
        let values = unsafe { engine_values(values, count, "values") }?;
        Ok(engine.set_runtime(&values)?)
    };
    // SAFETY: passed on from the caller.
    unsafe { control(cluster, out, error, act) }
}

/// Sets a runtime key, such as `upstream.healthy_panic_threshold`, which overrides the setting of
/// the same meaning; `value` NULL removes the key, whatever form its value has. With
/// `PLIMSOLL_BEHAVIOR_NATIVE` it holds at once, with `PLIMSOLL_BEHAVIOR_ENVOY` from the next change
/// on, as in Envoy; but the aggression of slow start holds at once there, too. A key that this
/// version does not read does nothing.
///
/// As in Envoy, a whole number also stands for a double, and any number but 0 for true. A setting
/// whose key has a value of another form keeps its configured value.
///
/// `out` may be NULL; it is zero on failure.
///
/// Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a key that is not UTF-8,
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// `cluster` is NULL or alive, `key` is readable, `value` is NULL or readable, `out` and `error`
/// are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_set_runtime(
    cluster: *const ClusterHandle,
    key: Str,
    value: *const u64,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let value = || {
        // SAFETY: null or readable, as the caller promises.
        let value = unsafe { value.as_ref() };
        Ok(value.map(|&value| plimsoll::RuntimeValue::Integer(value)))
    };
    // SAFETY: passed on from the caller.
    unsafe { set(cluster, key, value, out, error) }
}

/// Sets a runtime key to a double, for a setting that is one: the `runtime_key` of a
/// `RuntimeDouble`, such as the aggression of slow start. A value that the setting cannot have
/// counts as 1, as in Envoy. Otherwise as `plimsoll_cluster_set_runtime`.
///
/// Fails as `plimsoll_cluster_set_runtime` does, and with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a
/// value that is infinite or not a number.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// As for `plimsoll_cluster_set_runtime`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_set_runtime_double(
    cluster: *const ClusterHandle,
    key: Str,
    value: *const f64,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let value = || {
        // SAFETY: null or readable, as the caller promises.
        let value = unsafe { value.as_ref() };
        value.map(|&value| finite(value, "value")).transpose()
    };
    // SAFETY: passed on from the caller.
    unsafe { set(cluster, key, value, out, error) }
}

/// Sets a runtime key to true or false, for a feature that is on or off, such as
/// `envoy.reloadable_features.least_request_lb_count_pending_requests`. Otherwise as
/// `plimsoll_cluster_set_runtime`.
///
/// Fails as `plimsoll_cluster_set_runtime` does.
///
/// Thread: any. Allocates: yes. Blocks: on other control calls.
///
/// # Safety
///
/// As for `plimsoll_cluster_set_runtime`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_cluster_set_runtime_bool(
    cluster: *const ClusterHandle,
    key: Str,
    value: *const bool,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let value = || {
        // SAFETY: null or readable, as the caller promises. A byte, because C can put any there.
        let value = unsafe { value.cast::<u8>().as_ref() };
        Ok(value.map(|&byte| plimsoll::RuntimeValue::Boolean(byte != 0)))
    };
    // SAFETY: passed on from the caller.
    unsafe { set(cluster, key, value, out, error) }
}

/// A call that sets or removes one key.
///
/// # Safety
///
/// `cluster` is null or alive, `key` is readable, `out` and `error` are null or writable.
unsafe fn set(
    cluster: *const ClusterHandle,
    key: Str,
    value: impl FnOnce() -> Result<Option<plimsoll::RuntimeValue>, Failure>,
    out: *mut Applied,
    error: *mut *mut Failure,
) -> Status {
    let act = |engine: &Cluster| {
        // SAFETY: the caller promises that it is readable.
        let key = unsafe { key.read("key") }?;
        Ok(engine.set_runtime(&[(key, value()?)])?)
    };
    // SAFETY: passed on from the caller.
    unsafe { control(cluster, out, error, act) }
}
