//! What Envoy calls of an HTTP filter: 20 functions, of which it asks for all, and which mostly
//! let the stream go on.
//!
//! # Pointers
//!
//! A configuration goes to Envoy as a boxed [`Kind`]; a stream of the filter `orca` as a boxed
//! [`Attempt`], one of `overflow` as [`OVERFLOW`], which nobody owns.

// A C interface: what comes in are raw pointers.
#![allow(unsafe_code)]

use crate::abi::{Buffer, EnvoyPtr, ModulePtr};
use crate::envoy::Filter;
use crate::guard::guard;
use crate::host::Place;
use crate::log;
use crate::orca_filter::Attempt;
use crate::overflow_filter;

/// Lets the stream go on.
const CONTINUE: u32 = 0;

/// Which filter it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Orca,
    Overflow,
}

/// Stands for each stream of the filter `overflow`, which remembers nothing of one.
static OVERFLOW: u8 = 0;

fn overflow() -> ModulePtr {
    (&raw const OVERFLOW).cast()
}

/// # Safety
///
/// Called by Envoy as its interface says: the buffers live during the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_config_new(
    _config: EnvoyPtr,
    name: Buffer,
    text: Buffer,
) -> ModulePtr {
    guard("http_filter_config_new", std::ptr::null(), || {
        // SAFETY: the caller's promise.
        let name = unsafe { name.text() };
        // SAFETY: the caller's promise.
        let text = unsafe { text.bytes() };
        let kind = match name {
            "orca" => Kind::Orca,
            "overflow" => Kind::Overflow,
            _ => {
                log::error(&format!(
                    "filter_name: there is no filter {name:?} here, only \"orca\" and \"overflow\""
                ));
                return std::ptr::null();
            }
        };
        if !matches!(text.trim_ascii(), b"" | b"{}") {
            log::error(&format!("filter_config: the filter {name:?} has no settings"));
            return std::ptr::null();
        }
        Box::into_raw(Box::new(kind)).cast_const().cast()
    })
}

/// # Safety
///
/// `kind` came from `http_filter_config_new` and was not destroyed.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_config_destroy(kind: ModulePtr) {
    // SAFETY: it was made by `Box::into_raw` there, and this is the one time that it is taken.
    drop(unsafe { Box::from_raw(kind.cast_mut().cast::<Kind>()) });
}

/// # Safety
///
/// `kind` came from `http_filter_config_new` and was not destroyed.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_new(
    kind: ModulePtr,
    _filter: EnvoyPtr,
) -> ModulePtr {
    guard("http_filter_new", overflow(), || {
        // SAFETY: the caller's promise.
        match unsafe { *kind.cast::<Kind>() } {
            Kind::Orca => Box::into_raw(Box::new(Attempt::new())).cast_const().cast(),
            Kind::Overflow => overflow(),
        }
    })
}

/// # Safety
///
/// `stream` came from `http_filter_new` on this thread and was not destroyed.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_destroy(stream: ModulePtr) {
    guard("http_filter_destroy", (), || {
        if !std::ptr::eq(stream, overflow()) {
            // SAFETY: it was made by `Box::into_raw`, and this is the one time that it is taken.
            unsafe { Box::from_raw(stream.cast_mut().cast::<Attempt>()) }.end();
        }
    });
}

/// # Safety
///
/// As above; `filter` is live during the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_request_headers(
    filter: EnvoyPtr,
    stream: ModulePtr,
    _is_end: bool,
) -> u32 {
    guard("http_filter_request_headers", (), || {
        if std::ptr::eq(stream, overflow()) {
            // SAFETY: the caller's promise.
            overflow_filter::request(&unsafe { Filter::new(filter) });
        }
    });
    CONTINUE
}

/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_response_headers(
    filter: EnvoyPtr,
    stream: ModulePtr,
    _is_end: bool,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { response(filter, stream, Place::ResponseHeaders) }
}

/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_response_trailers(
    filter: EnvoyPtr,
    stream: ModulePtr,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { response(filter, stream, Place::ResponseTrailers) }
}

/// # Safety
///
/// As above.
unsafe fn response(filter: EnvoyPtr, stream: ModulePtr, place: Place) -> u32 {
    guard("http_filter_response", (), || {
        if !std::ptr::eq(stream, overflow()) {
            // SAFETY: the caller's promise; calls of one stream do not overlap.
            let attempt = unsafe { &mut *stream.cast_mut().cast::<Attempt>() };
            // SAFETY: the caller's promise.
            attempt.response(&unsafe { Filter::new(filter) }, place);
        }
    });
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_request_body(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _is_end: bool,
) -> u32 {
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_request_trailers(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
) -> u32 {
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_response_body(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _is_end: bool,
) -> u32 {
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_stream_complete(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
) {
}

// The rest answers requests of a filter's own, which these do not make.

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_scheduled(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _event: u64,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_http_callout_done(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _callout: u64,
    _result: u32,
    _headers: EnvoyPtr,
    _header_count: usize,
    _body: EnvoyPtr,
    _body_count: usize,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_headers(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _callout: u64,
    _headers: EnvoyPtr,
    _header_count: usize,
    _is_end: bool,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_data(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _callout: u64,
    _data: EnvoyPtr,
    _data_count: usize,
    _is_end: bool,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_trailers(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _callout: u64,
    _trailers: EnvoyPtr,
    _trailer_count: usize,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_complete(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _callout: u64,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_reset(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
    _callout: u64,
    _reason: u32,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
) {
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(
    _filter: EnvoyPtr,
    _stream: ModulePtr,
) {
}
