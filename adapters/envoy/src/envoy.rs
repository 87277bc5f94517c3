//! The traits of [`host`](crate::host) over Envoy's own functions.
//!
//! A value of a type here stands for a handle that Envoy passed to the present call of a hook, and
//! is made by that hook only; what it lends does not outlive the call.

// The functions of a C interface cannot be called without.
#![allow(unsafe_code)]

use std::ffi::CStr;

use plimsoll::CoarseHealth;

use crate::abi::{self, Buffer, EnvoyPtr};
use crate::host::{HostRow, LbHost, Metric, MetricHost, Place, Request, Stream};

pub(crate) fn log(level: u32, line: &str) {
    // SAFETY: Envoy copies the text. It may be called from any thread.
    unsafe { abi::envoy_dynamic_module_callback_log(level, Buffer::of(line)) }
}

/// Whether Envoy only checks its configuration and ends then.
pub(crate) fn is_validating() -> bool {
    // SAFETY: no arguments; Envoy answers from program start on.
    unsafe { abi::envoy_dynamic_module_callback_is_validation_mode() }
}

/// Whether Envoy is 1.40 or later.
pub(crate) fn is_1_40() -> bool {
    has(abi::ONLY_IN_1_40)
}

fn has(symbol: &CStr) -> bool {
    // SAFETY: the name ends with a zero; the answer is only compared with null.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }.is_null()
}

/// The buffer that `call` fills, if it says that it did.
fn ask(call: impl FnOnce(*mut Buffer) -> bool) -> Option<Buffer> {
    let mut buffer = Buffer::EMPTY;
    call(&raw mut buffer).then_some(buffer)
}

/// Counts in Envoy are `size_t`; four billion hosts are not.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// See [`LbHost`].
pub(crate) struct Lb(EnvoyPtr);

impl Lb {
    /// # Safety
    ///
    /// Envoy passed the handle to the present call of a hook, on this thread.
    pub(crate) unsafe fn new(handle: EnvoyPtr) -> Self {
        Self(handle)
    }
}

impl LbHost for Lb {
    fn cluster_name(&self) -> &str {
        let mut name = Buffer::EMPTY;
        // SAFETY: a live handle, see `new`, and a place for one buffer.
        unsafe { abi::envoy_dynamic_module_callback_lb_get_cluster_name(self.0, &raw mut name) };
        // SAFETY: the name lives as long as the instance.
        unsafe { name.text() }
    }

    fn priorities(&self) -> u32 {
        // SAFETY: a live handle.
        narrow(unsafe { abi::envoy_dynamic_module_callback_lb_get_priority_set_size(self.0) })
    }

    fn hosts(&self, priority: u32) -> u32 {
        // SAFETY: a live handle; Envoy checks the priority.
        narrow(unsafe { abi::envoy_dynamic_module_callback_lb_get_hosts_count(self.0, priority) })
    }

    fn healthy_hosts(&self, priority: u32) -> u32 {
        let handle = self.0;
        // SAFETY: a live handle; Envoy checks the priority.
        narrow(unsafe {
            abi::envoy_dynamic_module_callback_lb_get_healthy_hosts_count(handle, priority)
        })
    }

    fn address(&self, priority: u32, index: u32) -> Option<&str> {
        let (handle, index) = (self.0, index as usize);
        let address = ask(|out| {
            // SAFETY: a live handle and a place for one buffer; Envoy checks the numbers.
            unsafe {
                abi::envoy_dynamic_module_callback_lb_get_host_address(handle, priority, index, out)
            }
        });
        // SAFETY: the address of a host of the present set lives while the call lasts.
        address.map(|address| unsafe { address.text() })
    }

    fn host(&self, priority: u32, index: u32) -> Option<HostRow<'_>> {
        let address = self.address(priority, index)?;
        let (handle, index) = (self.0, index as usize);
        let [mut region, mut zone, mut sub_zone] = [Buffer::EMPTY; 3];
        // SAFETY: a live handle and places for three buffers; what is not there stays empty.
        unsafe {
            abi::envoy_dynamic_module_callback_lb_get_host_locality(
                handle,
                priority,
                index,
                &raw mut region,
                &raw mut zone,
                &raw mut sub_zone,
            )
        };
        // SAFETY: as above.
        let weight = unsafe {
            abi::envoy_dynamic_module_callback_lb_get_host_weight(handle, priority, index)
        };
        // SAFETY: as above.
        let health = unsafe {
            abi::envoy_dynamic_module_callback_lb_get_host_health(handle, priority, index)
        };
        // SAFETY: what belongs to a host of the present set lives while the call lasts.
        let locality = [region, zone, sub_zone].map(|buffer| unsafe { buffer.text() });
        let health = match health {
            0 => CoarseHealth::Unhealthy,
            1 => CoarseHealth::Degraded,
            _ => CoarseHealth::Healthy,
        };
        Some(HostRow { address, weight, health, locality })
    }

    fn hash_key(&self, priority: u32, index: u32) -> Option<&str> {
        let (filter, key) = (Buffer::of("envoy.lb"), Buffer::of("hash_key"));
        let (handle, index) = (self.0, index as usize);
        let key = ask(|out| {
            // SAFETY: a live handle and a place for one buffer; Envoy checks the numbers.
            unsafe {
                abi::envoy_dynamic_module_callback_lb_get_host_metadata_string(
                    handle, priority, index, filter, key, out,
                )
            }
        });
        // SAFETY: the metadata of a host of the present set lives while the call lasts.
        key.map(|key| unsafe { key.text() })
    }

    fn healthy_address(&self, priority: u32, index: u32) -> Option<&str> {
        let (handle, index) = (self.0, index as usize);
        let address = ask(|out| {
            // SAFETY: a live handle and a place for one buffer; Envoy checks the numbers.
            unsafe {
                abi::envoy_dynamic_module_callback_lb_get_healthy_host_address(
                    handle, priority, index, out,
                )
            }
        });
        // SAFETY: the address of a host of the present set lives while the call lasts.
        address.map(|address| unsafe { address.text() })
    }

    fn localities(&self, priority: u32) -> u32 {
        let handle = self.0;
        // SAFETY: a live handle; Envoy checks the priority.
        narrow(unsafe {
            abi::envoy_dynamic_module_callback_lb_get_locality_count(handle, priority)
        })
    }

    fn locality(&self, priority: u32, index: u32) -> Option<(u32, &str)> {
        let (handle, index) = (self.0, index as usize);
        let address = ask(|out| {
            // SAFETY: a live handle and a place for one buffer; Envoy checks the numbers.
            unsafe {
                abi::envoy_dynamic_module_callback_lb_get_locality_host_address(
                    handle, priority, index, 0, out,
                )
            }
        })?;
        // SAFETY: as above.
        let weight = unsafe {
            abi::envoy_dynamic_module_callback_lb_get_locality_weight(handle, priority, index)
        };
        // SAFETY: the address of a host of the present set lives while the call lasts.
        Some((weight, unsafe { address.text() }))
    }
}

/// See [`Request`]. A pick may come without one.
pub(crate) struct Context {
    lb: EnvoyPtr,
    context: EnvoyPtr,
}

impl Context {
    /// # Safety
    ///
    /// Envoy passed both to the present call of a hook, on this thread; `context` may be null.
    pub(crate) unsafe fn new(lb: EnvoyPtr, context: EnvoyPtr) -> Self {
        Self { lb, context }
    }
}

impl Request for Context {
    fn hash(&self) -> Option<u64> {
        if self.context.is_null() {
            return None;
        }
        let mut hash = 0;
        let context = self.context;
        // SAFETY: a live context, see `new`, and a place for one number.
        let has_one = unsafe {
            abi::envoy_dynamic_module_callback_lb_context_compute_hash_key(context, &raw mut hash)
        };
        has_one.then_some(hash)
    }

    fn retries(&self) -> u32 {
        if self.context.is_null() {
            return 0;
        }
        let context = self.context;
        // SAFETY: a live context.
        unsafe {
            abi::envoy_dynamic_module_callback_lb_context_get_host_selection_retry_count(context)
        }
    }

    fn refuses(&self, priority: u32, index: u32) -> bool {
        let (lb, context) = (self.lb, self.context);
        // SAFETY: a live handle and, since there are retries, a live context; Envoy checks the
        // numbers.
        unsafe {
            abi::envoy_dynamic_module_callback_lb_context_should_select_another_host(
                lb,
                context,
                priority,
                index as usize,
            )
        }
    }
}

/// See [`MetricHost`].
pub(crate) struct Config(EnvoyPtr);

// SAFETY: Envoy's counters and gauges without labels may be used on any thread, those with labels on
// its own; `metrics` sees to that.
unsafe impl Send for Config {}
// SAFETY: as above.
unsafe impl Sync for Config {}

/// Envoy's function that defines a metric of some kind.
type Define = unsafe extern "C" fn(EnvoyPtr, Buffer, *mut Buffer, usize, *mut usize) -> u32;
/// Envoy's function that changes one.
type Change = unsafe extern "C" fn(EnvoyPtr, usize, *mut Buffer, usize, u64) -> u32;

impl Config {
    /// # Safety
    ///
    /// Envoy passed the handle to `lb_config_new`, and the value is gone when `lb_config_destroy`
    /// of that configuration returns.
    pub(crate) unsafe fn new(handle: EnvoyPtr) -> Self {
        Self(handle)
    }

    fn define(&self, define: Define, name: &str, labels: &[&str]) -> Option<Metric> {
        let mut labels: Vec<Buffer> = labels.iter().map(|label| Buffer::of(label)).collect();
        let (mut id, count) = (0, labels.len());
        let (name, labels) = (Buffer::of(name), labels.as_mut_ptr());
        // SAFETY: a live handle, as many labels as it says, and a place for one number.
        let result = unsafe { define(self.0, name, labels, count, &raw mut id) };
        (result == abi::METRIC_OK).then_some(Metric(id))
    }

    fn change(&self, change: Change, metric: Metric, labels: &[&str], value: u64) {
        let mut buffers = [Buffer::EMPTY; 4];
        for (buffer, label) in buffers.iter_mut().zip(labels) {
            *buffer = Buffer::of(label);
        }
        let labels = (buffers.as_mut_ptr(), labels.len().min(buffers.len()));
        // SAFETY: a live handle and as many labels as it says. That a metric is known and its labels
        // are as many as were defined is all that can go wrong.
        let result = unsafe { change(self.0, metric.0, labels.0, labels.1, value) };
        debug_assert_eq!(result, abi::METRIC_OK);
    }
}

impl MetricHost for Config {
    fn define_counter(&self, name: &str, labels: &[&str]) -> Option<Metric> {
        self.define(abi::envoy_dynamic_module_callback_lb_config_define_counter, name, labels)
    }

    fn define_gauge(&self, name: &str, labels: &[&str]) -> Option<Metric> {
        self.define(abi::envoy_dynamic_module_callback_lb_config_define_gauge, name, labels)
    }

    fn add(&self, counter: Metric, labels: &[&str], value: u64) {
        let change = abi::envoy_dynamic_module_callback_lb_config_increment_counter;
        self.change(change, counter, labels, value);
    }

    fn set(&self, gauge: Metric, labels: &[&str], value: u64) {
        self.change(abi::envoy_dynamic_module_callback_lb_config_set_gauge, gauge, labels, value);
    }
}

/// See [`Stream`].
pub(crate) struct Filter(EnvoyPtr);

impl Filter {
    /// # Safety
    ///
    /// Envoy passed the handle to the present call of a hook, on this thread.
    pub(crate) unsafe fn new(handle: EnvoyPtr) -> Self {
        Self(handle)
    }
}

impl Stream for Filter {
    fn header(&self, place: Place, name: &str) -> Option<&[u8]> {
        let (name, mut count) = (Buffer::of(name), 0);
        let value = ask(|out| {
            // SAFETY: a live handle, see `new`, and places for what comes out.
            unsafe {
                abi::envoy_dynamic_module_callback_http_get_header(
                    self.0,
                    place as u32,
                    name,
                    out,
                    0,
                    &raw mut count,
                )
            }
        });
        // SAFETY: headers that nobody changes live while the call lasts.
        value.filter(|_| count > 0).map(|value| unsafe { value.bytes() })
    }

    fn upstream_address(&self) -> Option<&str> {
        let attribute = abi::UPSTREAM_ADDRESS;
        let address = ask(|out| {
            // SAFETY: a live handle and a place for one buffer.
            unsafe {
                abi::envoy_dynamic_module_callback_http_filter_get_attribute_string(
                    self.0, attribute, out,
                )
            }
        });
        // SAFETY: the stream keeps its host while the call lasts.
        address.map(|address| unsafe { address.text() })
    }

    fn cluster_name(&self) -> Option<&str> {
        let name = ask(|out| {
            // SAFETY: a live handle and a place for one buffer.
            unsafe { abi::envoy_dynamic_module_callback_http_get_cluster_name(self.0, out) }
        });
        // SAFETY: the route keeps its cluster while the call lasts.
        name.map(|name| unsafe { name.text() })
    }

    fn prefer_host(&self, address: &str) -> bool {
        let host = Buffer::of(address);
        // SAFETY: a live handle; Envoy copies the text.
        unsafe {
            abi::envoy_dynamic_module_callback_http_set_upstream_override_host(self.0, host, false)
        }
    }
}
