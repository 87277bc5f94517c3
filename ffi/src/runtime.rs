//! Runtime values: numbers that override settings, by Envoy's runtime keys. There is a function for
//! each form that a value may have.

use plimsoll::{Cluster, RuntimeValue};

use crate::cluster::ClusterHandle;
use crate::control::{Applied, control};
use crate::failure::Failure;
use crate::status::Status;
use crate::text::Str;

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
        Ok(value.map(|&value| RuntimeValue::Integer(value)))
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
        if value.is_some_and(|value| !value.is_finite()) {
            return Err(Failure::invalid("value", "value must be finite"));
        }
        Ok(value.map(|&value| RuntimeValue::Number(value)))
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
        Ok(value.map(|&byte| RuntimeValue::Boolean(byte != 0)))
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
    value: impl FnOnce() -> Result<Option<RuntimeValue>, Failure>,
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
