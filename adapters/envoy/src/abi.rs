//! The part of Envoy's dynamic modules interface that is used: types and functions that Envoy
//! exports to its modules, the same in 1.39 and 1.40. What Envoy calls is in
//! [`lb_hooks`](crate::lb_hooks) and [`filter_hooks`](crate::filter_hooks).
//!
//! Functions are found when they are first called, as Envoy loads modules lazily.

// A C interface: texts come in as raw pointers.
#![allow(unsafe_code)]

use std::ffi::c_void;

/// An opaque object of Envoy's.
pub(crate) type EnvoyPtr = *mut c_void;

/// An opaque object of ours, as Envoy keeps it.
pub(crate) type ModulePtr = *const c_void;

/// A text that is somebody else's.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) data: *const u8,
    pub(crate) length: usize,
}

impl Buffer {
    pub(crate) const EMPTY: Self = Self { data: std::ptr::null(), length: 0 };

    pub(crate) fn of(text: &str) -> Self {
        Self { data: text.as_ptr(), length: text.len() }
    }

    /// The bytes.
    ///
    /// # Safety
    ///
    /// The buffer is empty, or points to that many bytes which stay as they are for `'a`.
    pub(crate) unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: the caller's promise; it is not null.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }

    /// The text; empty if it is not UTF-8, which addresses, names and localities always are.
    ///
    /// # Safety
    ///
    /// As for [`bytes`](Self::bytes).
    pub(crate) unsafe fn text<'a>(self) -> &'a str {
        // SAFETY: the caller's promise.
        str::from_utf8(unsafe { self.bytes() }).unwrap_or_default()
    }
}

/// What the functions of metrics answer when all is well.
pub(crate) const METRIC_OK: u32 = 0;
/// The number of the attribute `upstream.address`.
pub(crate) const UPSTREAM_ADDRESS: u32 = 41;

/// A function of 1.40 that 1.39 does not have, by which the two are told apart.
pub(crate) const ONLY_IN_1_40: &std::ffi::CStr = c"envoy_dynamic_module_callback_log_v2";

unsafe extern "C" {
    pub(crate) fn envoy_dynamic_module_callback_log(level: u32, message: Buffer);
    pub(crate) fn envoy_dynamic_module_callback_is_validation_mode() -> bool;

    pub(crate) fn envoy_dynamic_module_callback_lb_get_cluster_name(lb: EnvoyPtr, out: *mut Buffer);
    pub(crate) fn envoy_dynamic_module_callback_lb_get_priority_set_size(lb: EnvoyPtr) -> usize;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_hosts_count(
        lb: EnvoyPtr,
        priority: u32,
    ) -> usize;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_healthy_hosts_count(
        lb: EnvoyPtr,
        priority: u32,
    ) -> usize;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_host_address(
        lb: EnvoyPtr,
        priority: u32,
        index: usize,
        out: *mut Buffer,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_healthy_host_address(
        lb: EnvoyPtr,
        priority: u32,
        index: usize,
        out: *mut Buffer,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_host_weight(
        lb: EnvoyPtr,
        priority: u32,
        index: usize,
    ) -> u32;
    /// 0 unhealthy, 1 degraded, 2 healthy.
    pub(crate) fn envoy_dynamic_module_callback_lb_get_host_health(
        lb: EnvoyPtr,
        priority: u32,
        index: usize,
    ) -> u32;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_host_locality(
        lb: EnvoyPtr,
        priority: u32,
        index: usize,
        region: *mut Buffer,
        zone: *mut Buffer,
        sub_zone: *mut Buffer,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_host_metadata_string(
        lb: EnvoyPtr,
        priority: u32,
        index: usize,
        filter: Buffer,
        key: Buffer,
        out: *mut Buffer,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_locality_count(
        lb: EnvoyPtr,
        priority: u32,
    ) -> usize;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_locality_host_address(
        lb: EnvoyPtr,
        priority: u32,
        locality: usize,
        index: usize,
        out: *mut Buffer,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_lb_get_locality_weight(
        lb: EnvoyPtr,
        priority: u32,
        locality: usize,
    ) -> u32;

    pub(crate) fn envoy_dynamic_module_callback_lb_context_compute_hash_key(
        context: EnvoyPtr,
        out: *mut u64,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_lb_context_get_host_selection_retry_count(
        context: EnvoyPtr,
    ) -> u32;
    pub(crate) fn envoy_dynamic_module_callback_lb_context_should_select_another_host(
        lb: EnvoyPtr,
        context: EnvoyPtr,
        priority: u32,
        index: usize,
    ) -> bool;

    pub(crate) fn envoy_dynamic_module_callback_lb_config_define_counter(
        config: EnvoyPtr,
        name: Buffer,
        labels: *mut Buffer,
        label_count: usize,
        out: *mut usize,
    ) -> u32;
    pub(crate) fn envoy_dynamic_module_callback_lb_config_define_gauge(
        config: EnvoyPtr,
        name: Buffer,
        labels: *mut Buffer,
        label_count: usize,
        out: *mut usize,
    ) -> u32;
    pub(crate) fn envoy_dynamic_module_callback_lb_config_increment_counter(
        config: EnvoyPtr,
        id: usize,
        labels: *mut Buffer,
        label_count: usize,
        value: u64,
    ) -> u32;
    pub(crate) fn envoy_dynamic_module_callback_lb_config_set_gauge(
        config: EnvoyPtr,
        id: usize,
        labels: *mut Buffer,
        label_count: usize,
        value: u64,
    ) -> u32;

    pub(crate) fn envoy_dynamic_module_callback_http_get_header(
        filter: EnvoyPtr,
        kind: u32,
        key: Buffer,
        out: *mut Buffer,
        index: usize,
        out_count: *mut usize,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_http_filter_get_attribute_string(
        filter: EnvoyPtr,
        attribute: u32,
        out: *mut Buffer,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_http_get_cluster_name(
        filter: EnvoyPtr,
        out: *mut Buffer,
    ) -> bool;
    pub(crate) fn envoy_dynamic_module_callback_http_set_upstream_override_host(
        filter: EnvoyPtr,
        host: Buffer,
        strict: bool,
    ) -> bool;
}
