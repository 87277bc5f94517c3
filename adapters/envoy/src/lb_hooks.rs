//! What Envoy calls of a load-balancing policy.
//!
//! # Pointers
//!
//! A configuration goes to Envoy as a counted reference to a [`Policy`], an instance as a boxed
//! [`Instance`]; each comes back for calls and once to be destroyed. An instance's calls all come on
//! the thread that made it.

// A C interface: what comes in are raw pointers.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::Arc;

use crate::abi::{Buffer, EnvoyPtr, ModulePtr};
use crate::envoy::{self, Config, Context, Lb};
use crate::guard::guard;
use crate::instance::Instance;
use crate::policy::{Environment, Policy};

/// The versions of the interface that this module is made for: each release warns of another one
/// than its own.
const V0_1_0: &CStr = c"v0.1.0";
const V0_2_0: &CStr = c"v0.2.0";

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_program_init() -> *const std::ffi::c_char {
    guard("program_init", std::ptr::null(), || {
        let version = if envoy::is_1_40() { V0_2_0 } else { V0_1_0 };
        version.as_ptr()
    })
}

/// # Safety
///
/// Called by Envoy as its interface says: the buffers live during the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_lb_config_new(
    config: EnvoyPtr,
    name: Buffer,
    text: Buffer,
) -> ModulePtr {
    guard("lb_config_new", std::ptr::null(), || {
        let environment =
            Environment { is_validating: envoy::is_validating(), has_batches: envoy::is_1_40() };
        // SAFETY: Envoy passed the handle; it goes with the policy, in `lb_config_destroy`.
        let metrics = unsafe { Config::new(config) };
        // SAFETY: the caller's promise.
        let name = unsafe { name.text() };
        // SAFETY: the caller's promise.
        let text = unsafe { text.bytes() };
        let policy = Policy::open(name, text, Box::new(metrics), environment);
        policy.map_or(std::ptr::null(), |policy| Arc::into_raw(Arc::new(policy)).cast())
    })
}

/// # Safety
///
/// `policy` came from `lb_config_new` and was not destroyed; none of its instances is left.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_lb_config_destroy(policy: ModulePtr) {
    guard("lb_config_destroy", (), || {
        // SAFETY: it was made by `Arc::into_raw` there, and this is the one time that it is taken.
        drop(unsafe { Arc::from_raw(policy.cast::<Policy>()) });
    });
}

/// # Safety
///
/// `policy` came from `lb_config_new` and was not destroyed; `lb` is live during the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_lb_new(policy: ModulePtr, lb: EnvoyPtr) -> ModulePtr {
    guard("lb_new", std::ptr::null(), || {
        let policy = policy.cast::<Policy>();
        // SAFETY: Envoy's reference keeps it alive; the new one is given back with the instance.
        unsafe { Arc::increment_strong_count(policy) };
        // SAFETY: takes over the reference that was just counted.
        let policy = unsafe { Arc::from_raw(policy) };
        // SAFETY: the caller's promise.
        let host = unsafe { Lb::new(lb) };
        let instance = Instance::new(policy, &host);
        instance.map_or(std::ptr::null(), |it| Box::into_raw(Box::new(it)).cast_const().cast())
    })
}

/// # Safety
///
/// `instance` came from `lb_new` on this thread and was not destroyed.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_lb_destroy(instance: ModulePtr) {
    guard("lb_destroy", (), || {
        // SAFETY: it was made by `Box::into_raw` there, and this is the one time that it is taken.
        drop(unsafe { Box::from_raw(instance.cast_mut().cast::<Instance>()) });
    });
}

/// # Safety
///
/// As for `lb_destroy`; `lb` is live during the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_lb_on_host_membership_update(
    lb: EnvoyPtr,
    instance: ModulePtr,
    _added: usize,
    _removed: usize,
) {
    guard("lb_on_host_membership_update", (), || {
        // SAFETY: the caller's promise; calls of one instance do not overlap.
        let instance = unsafe { &mut *instance.cast_mut().cast::<Instance>() };
        // SAFETY: the caller's promise.
        instance.update(&unsafe { Lb::new(lb) });
    });
}

/// # Safety
///
/// As above; `context` is null or live during the call, and there is a place for each answer.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_lb_choose_host(
    lb: EnvoyPtr,
    instance: ModulePtr,
    context: EnvoyPtr,
    priority: *mut u32,
    index: *mut u32,
) -> bool {
    let choice = guard("lb_choose_host", None, || {
        // SAFETY: the caller's promise; calls of one instance do not overlap.
        let instance = unsafe { &mut *instance.cast_mut().cast::<Instance>() };
        // SAFETY: the caller's promise.
        let host = unsafe { Lb::new(lb) };
        // SAFETY: the caller's promise.
        let request = unsafe { Context::new(lb, context) };
        instance.choose(&host, &request)
    });
    let Some(choice) = choice else { return false };
    // SAFETY: the caller's promise.
    unsafe { priority.write(choice.priority) };
    // SAFETY: the caller's promise.
    unsafe { index.write(choice.index) };
    true
}
