//! What Envoy calls of an HTTP filter: 20 functions, of which it asks for all, and which mostly
//! let the stream go on.
//!
//! # Pointers
//!
//! A configuration goes to Envoy as a boxed [`Kind`], a stream as a boxed [`Filtered`]; each comes
//! back for calls and once to be destroyed. A stream's calls all come on the thread that made it.

// A C interface: what comes in are raw pointers.
#![allow(unsafe_code)]

use crate::abi::{Buffer, EnvoyPtr, ModulePtr};
use crate::envoy::Filter;
use crate::guard::guard;
use crate::host::Place;
use crate::log;
use crate::orca_filter::Attempt;
use crate::overflow_filter::Detour;

/// Lets the stream go on.
const CONTINUE: u32 = 0;

/// Which filter it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Orca,
    Overflow,
}

/// A stream of one of them.
enum Filtered {
    Orca(Attempt),
    Overflow(Detour),
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
    guard("http_filter_new", std::ptr::null(), || {
        // SAFETY: the caller's promise.
        let stream = match unsafe { *kind.cast::<Kind>() } {
            Kind::Orca => Filtered::Orca(Attempt::new()),
            Kind::Overflow => Filtered::Overflow(Detour::new()),
        };
        Box::into_raw(Box::new(stream)).cast_const().cast()
    })
}

/// # Safety
///
/// `stream` came from `http_filter_new` on this thread and was not destroyed.
#[unsafe(no_mangle)]
unsafe extern "C" fn envoy_dynamic_module_on_http_filter_destroy(stream: ModulePtr) {
    guard("http_filter_destroy", (), || {
        // SAFETY: it was made by `Box::into_raw`, and this is the one time that it is taken.
        match *unsafe { Box::from_raw(stream.cast_mut().cast::<Filtered>()) } {
            Filtered::Orca(attempt) => attempt.end(),
            Filtered::Overflow(detour) => detour.end(),
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
        // SAFETY: the caller's promise.
        if let Some(Filtered::Overflow(detour)) = unsafe { filtered(stream) } {
            // SAFETY: the caller's promise.
            detour.request(&unsafe { Filter::new(filter) });
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
        // SAFETY: the caller's promise.
        let filter = unsafe { Filter::new(filter) };
        // SAFETY: the caller's promise.
        match unsafe { filtered(stream) } {
            Some(Filtered::Orca(attempt)) => attempt.response(&filter, place),
            Some(Filtered::Overflow(detour)) if place == Place::ResponseHeaders => {
                detour.response(&filter);
            }
            Some(Filtered::Overflow(_)) | None => {}
        }
    });
    CONTINUE
}

/// The stream behind a pointer; `None` if it could not be made.
///
/// # Safety
///
/// It came from `http_filter_new` on this thread and was not destroyed; calls of one stream do not
/// overlap.
unsafe fn filtered<'a>(stream: ModulePtr) -> Option<&'a mut Filtered> {
    // SAFETY: NULL is handled; otherwise it is the caller's promise.
    unsafe { stream.cast_mut().cast::<Filtered>().as_mut() }
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
