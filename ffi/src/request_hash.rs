//! The hash of a request: what of it the policies ask for comes in, the hash and new cookies go out.
//!
//! Runs on the path of a request, before its pick. What a client sent is no mistake of the caller:
//! values of headers need not be UTF-8, and a request in which nothing is found has an answer of its
//! own.

use std::ffi::c_void;
use std::ptr;

use plimsoll::config::HashPolicy;
use plimsoll::{HashInput, RequestHash, hash_request};
use plimsoll_envoy_config::parse_hash_policies;

use crate::array;
use crate::error::report;
use crate::failure::Failure;
use crate::growable::{self, Growable, SizeProblem};
use crate::guard::{silent, status};
use crate::handle;
use crate::out::fresh;
use crate::status::Status;
use crate::text::Str;
use crate::worker::WorkerHandle;

/// The `hash_policy` of a route: what its requests are hashed from. Any thread may use it, several
/// at once.
pub struct HashPolicies {
    policies: Vec<HashPolicy>,
}

impl HashPolicies {
    pub(crate) fn into_raw(policies: Vec<HashPolicy>) -> *mut Self {
        handle::into_raw(Self { policies })
    }

    pub(crate) fn engine(&self) -> &[HashPolicy] {
        &self.policies
    }
}

/// A header of a request.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// Its name, in any case. Pseudo-headers such as `:authority` are headers like others.
    pub name: Str,
    /// Its value, which need not be UTF-8.
    pub value: Str,
}

/// An object that the proxy keeps for a request under a key, Envoy's filter state: the entries
/// `filter_state` of a `hash_policy` ask for it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FilterState {
    /// Its key.
    pub key: Str,
    /// The hash of the object, which is what the object makes it.
    pub hash: u64,
}

/// What is known of a request that is to be hashed. Growable: start from `PLIMSOLL_REQUEST_INIT`.
///
/// Only what the policies in use ask for has to be there. A text of length 0 is not known.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// `sizeof(plimsoll_request)`.
    pub size: usize,
    /// Its headers, in any order; one that comes several times stands here several times. Cookies
    /// are found in the header `cookie`, unless they are in `cookies`.
    pub headers: *const Header,
    /// How many.
    pub header_count: usize,
    /// The path with its query, as in `/cart?user=7`.
    pub path: Str,
    /// The query without its question mark; where `data` is NULL it is found in `path`.
    pub query: Str,
    /// The IP address that the request comes from, without a port: `10.0.0.1` or `::1`. Not known if
    /// it comes from elsewhere, such as a pipe.
    pub source_ip: Str,
    /// The address that the request comes from, with a port: `10.0.0.1:4711`, `[::1]:4711` or a
    /// path. New cookies are made from it and the next one, and none is made without them.
    pub remote_address: Str,
    /// The address that the request came to, as above.
    pub local_address: Str,
    /// Its cookies by name, where they have been parsed already; the values are without the quotes
    /// around them. One that is not here is looked for in the header `cookie`.
    pub cookies: *const Header,
    /// How many.
    pub cookie_count: usize,
    /// The objects that the proxy keeps for the request, as far as policies ask for them.
    pub filter_states: *const FilterState,
    /// How many.
    pub filter_state_count: usize,
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for Request {}

/// Reads a route's `hash_policy`: a list of Envoy's `RouteAction.HashPolicy`, as JSON or YAML.
///
/// Once for many requests. `*out` is NULL on failure. Free it with `plimsoll_hash_policies_free`.
///
/// Fails with `PLIMSOLL_STATUS_PARSE_ERROR` for text that is neither JSON nor YAML,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range or an unknown field (the error
/// object names it), `PLIMSOLL_STATUS_UNSUPPORTED` for what Envoy accepts and this version does
/// not, `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: no.
///
/// # Safety
///
/// `text` is readable, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_hash_policies_parse(
    text: Str,
    out: *mut *mut HashPolicies,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, ptr::null_mut()) }.ok_or_else(|| Failure::null("out"))?;
        // SAFETY: the caller promises that it is readable.
        let policies = parse_hash_policies(unsafe { text.read("text") }?)?;
        *out = HashPolicies::into_raw(policies);
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// Frees a list of policies. NULL is fine.
///
/// Thread: any, while nobody else uses `policies`. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `policies` is NULL or came from `plimsoll_hash_policies_parse` or `_new`, was not freed before, and
/// nobody uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_hash_policies_free(policies: *mut HashPolicies) {
    // SAFETY: passed on from the caller.
    silent(|| unsafe { handle::free(policies) });
}

/// Hashes a request by the cluster's own `hash_policy`, or, if that has no entries, by `route`, as
/// Envoy does. Put `*out` into `plimsoll_pick_context.hash`, for each attempt at the request, and
/// set `PLIMSOLL_PICK_HASHED`.
///
/// `route` may be NULL: then the cluster's own policies are all there are.
///
/// Where a policy wants the client to have a cookie that it did not send, `set_cookie` is called
/// with the value of the header `set-cookie` that the response is to carry, so that the client's next
/// request has the same hash; at most once for each policy. The text does not end in a NUL and is
/// valid until `set_cookie` returns. With a NULL `set_cookie` nobody gets a cookie, and such a policy
/// finds nothing. `set_cookie` runs on this thread, during the call; every call with this worker is
/// refused inside it, and the worker must not be freed. It must not unwind or `longjmp`.
///
/// Fails with `PLIMSOLL_STATUS_NO_HASH` if no policy finds anything in the request or the cluster's
/// policy does not go by hashes: pick without one. Also with `PLIMSOLL_STATUS_NULL_ARGUMENT`,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` or `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the request,
/// `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside `accept`, or `PLIMSOLL_STATUS_PANIC`. `*out` is 0 on
/// failure.
///
/// Thread: the one that uses `worker`. Allocates: for new cookies, and for a header with more than
/// eight values. Blocks: no, unless `set_cookie` does.
///
/// # Safety
///
/// `worker` is NULL or alive and no other thread uses it, `route` is NULL or alive, `request` is NULL
/// or as large as its `size` says, and its headers, cookies and texts are readable, `set_cookie` is
/// NULL or may be called with `userdata`, `out` is NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_worker_hash(
    worker: *mut WorkerHandle,
    route: *const HashPolicies,
    request: *const Request,
    userdata: *mut c_void,
    set_cookie: Option<unsafe extern "C" fn(userdata: *mut c_void, value: Str)>,
    out: *mut u64,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, 0) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let worker = unsafe { WorkerHandle::entered(worker) }?;
        let route: &[HashPolicy] = match route.is_null() {
            true => &[],
            // SAFETY: not null, so the caller promises that it is alive.
            false => unsafe { handle::alive(route) }?.engine(),
        };
        // SAFETY: passed on from the caller.
        let input = unsafe { Input::of(request, set_cookie.is_some()) }?;
        let mut engine = worker.engine()?;
        let result = engine.hash_request(route, &input);
        // SAFETY: the caller promises that it may be called so.
        *out = unsafe { answer(&result, userdata, set_cookie) }?;
        Ok(())
    })
}

/// Hashes a request by a list of policies alone, whatever a cluster has: for a proxy that hashes
/// before it knows the cluster, and to try policies out. Otherwise as `plimsoll_worker_hash`.
///
/// Fails with `PLIMSOLL_STATUS_NO_HASH` if no policy finds anything in the request. Also with
/// `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
/// `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the request, or `PLIMSOLL_STATUS_PANIC`. `*out` is 0 on
/// failure.
///
/// Thread: any. Allocates: for new cookies, and for a header with more than eight values.
/// Blocks: no, unless `set_cookie` does.
///
/// # Safety
///
/// `policies` is NULL or alive, `request` is NULL or as large as its `size` says, and its headers,
/// cookies and texts are readable, `set_cookie` is NULL or may be called with `userdata`, `out` is
/// NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_hash_policies_hash(
    policies: *const HashPolicies,
    request: *const Request,
    userdata: *mut c_void,
    set_cookie: Option<unsafe extern "C" fn(userdata: *mut c_void, value: Str)>,
    out: *mut u64,
) -> Status {
    status(|| {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, 0) }.ok_or(Status::NullArgument)?;
        // SAFETY: null is handled; otherwise the caller promises that it is alive.
        let policies = unsafe { handle::alive(policies) }?;
        // SAFETY: passed on from the caller.
        let input = unsafe { Input::of(request, set_cookie.is_some()) }?;
        let result = hash_request(&policies.policies, &input);
        // SAFETY: the caller promises that it may be called so.
        *out = unsafe { answer(&result, userdata, set_cookie) }?;
        Ok(())
    })
}

/// Hands out new cookies, and gives the hash.
///
/// # Safety
///
/// `set_cookie` may be called with `userdata`.
unsafe fn answer(
    result: &RequestHash<'_>,
    userdata: *mut c_void,
    set_cookie: Option<unsafe extern "C" fn(userdata: *mut c_void, value: Str)>,
) -> Result<u64, Status> {
    if let Some(set_cookie) = set_cookie {
        for cookie in &result.cookies {
            // SAFETY: passed on from the caller.
            unsafe { set_cookie(userdata, Str::lend(&cookie.to_string())) };
        }
    }
    result.hash.ok_or(Status::NoHash)
}

/// A request as the engine asks about it. Invariant: the texts of all headers, cookies and
/// objects are readable during `'call`.
struct Input<'call> {
    headers: Headers<'call>,
    cookies: Headers<'call>,
    path: Option<&'call [u8]>,
    query: Option<&'call [u8]>,
    source_ip: Option<&'call str>,
    remote_address: Option<&'call str>,
    local_address: Option<&'call str>,
    filter_states: &'call [FilterState],
}

impl<'call> Input<'call> {
    /// Checks everything, so that no question meets a mistake later. Without `gives_cookies` the
    /// addresses that cookies are made from stay unknown.
    ///
    /// # Safety
    ///
    /// `request` is null or as [`growable::read`] wants it; headers, cookies and texts are readable
    /// during `'call`.
    ///
    /// # Errors
    ///
    /// NULL, NULL with a length, a length that no object can have, or an address that is not UTF-8.
    unsafe fn of(request: *const Request, gives_cookies: bool) -> Result<Self, Status> {
        if request.is_null() {
            return Err(Status::NullArgument);
        }
        // SAFETY: not null; the caller promises the rest.
        let request = unsafe { growable::read(request) }.map_err(SizeProblem::status)?;
        // SAFETY: passed on from the caller.
        let headers = unsafe { Headers::of(request.headers, request.header_count) }?;
        // SAFETY: as above. So in all of these.
        let cookies = unsafe { Headers::of(request.cookies, request.cookie_count) }?;
        // SAFETY: as above.
        let path = unsafe { request.path.bytes() }?;
        // SAFETY: as above.
        let query = unsafe { request.query.bytes() }?;
        // SAFETY: as above.
        let source_ip = unsafe { address(request.source_ip) }?;
        // SAFETY: as above.
        let remote_address = unsafe { address(request.remote_address) }?;
        // SAFETY: as above.
        let local_address = unsafe { address(request.local_address) }?;
        let local_address = local_address.filter(|_| gives_cookies);
        // SAFETY: as above.
        let filter_states =
            unsafe { array::items(request.filter_states, request.filter_state_count) }?;
        for object in filter_states {
            // SAFETY: as above.
            unsafe { object.key.bytes() }?;
        }
        Ok(Self {
            headers,
            cookies,
            path,
            query,
            source_ip,
            remote_address,
            local_address,
            filter_states,
        })
    }
}

/// An address; `None` for an empty text.
///
/// # Safety
///
/// The text is readable during `'call`.
unsafe fn address<'call>(text: Str) -> Result<Option<&'call str>, Status> {
    // SAFETY: passed on from the caller.
    let bytes = unsafe { text.bytes() }?.filter(|bytes| !bytes.is_empty());
    bytes.map(std::str::from_utf8).transpose().map_err(|_| Status::InvalidArgument)
}

/// Names and values, in any order. Invariant: the texts are readable during `'call`.
struct Headers<'call>(&'call [Header]);

impl<'call> Headers<'call> {
    /// Checks each of them.
    ///
    /// # Safety
    ///
    /// `from` is null or points to `count` headers that are readable during `'call`, as their texts.
    unsafe fn of(from: *const Header, count: usize) -> Result<Self, Status> {
        // SAFETY: passed on from the caller.
        let headers: &'call [Header] = unsafe { array::items(from, count) }?;
        for header in headers {
            for text in [header.name, header.value] {
                // SAFETY: passed on from the caller.
                unsafe { text.bytes() }?;
            }
        }
        Ok(Self(headers))
    }

    fn iter(&self) -> impl Iterator<Item = (&'call [u8], &'call [u8])> {
        // SAFETY: `of` has checked it, and it is readable during the call.
        let bytes = |text: Str| unsafe { text.bytes() }.ok().flatten().unwrap_or_default();
        self.0.iter().map(move |header| (bytes(header.name), bytes(header.value)))
    }
}

impl HashInput for Headers<'_> {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        for (own, value) in self.iter() {
            if own.eq_ignore_ascii_case(name.as_bytes()) {
                each(value);
            }
        }
    }
}

impl HashInput for Input<'_> {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        self.headers.header_values(name, each);
    }

    fn cookie(&self, name: &str) -> Option<&[u8]> {
        let parsed = self.cookies.iter().find(|(own, _)| *own == name.as_bytes());
        parsed.map(|(_, value)| value).or_else(|| self.headers.cookie(name))
    }

    fn path(&self) -> Option<&[u8]> {
        self.path
    }

    fn query(&self) -> Option<&[u8]> {
        if self.query.is_some() {
            return self.query;
        }
        let path = self.path?;
        let mark = path.iter().position(|byte| *byte == b'?')?;
        Some(&path[mark + 1..])
    }

    fn source_ip(&self) -> Option<&str> {
        self.source_ip
    }

    fn remote_address(&self) -> Option<&str> {
        self.remote_address
    }

    fn local_address(&self) -> Option<&str> {
        self.local_address
    }

    fn filter_state_hash(&self, key: &str) -> Option<u64> {
        // SAFETY: `of` has checked it, and it is readable for as long as `self` lives.
        let bytes = |text: Str| unsafe { text.bytes() }.ok().flatten().unwrap_or_default();
        let mut objects = self.filter_states.iter();
        objects.find(|object| bytes(object.key) == key.as_bytes()).map(|object| object.hash)
    }
}
