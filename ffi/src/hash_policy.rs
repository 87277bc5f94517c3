//! What requests are hashed from, as structs.

use std::mem::offset_of;
use std::ptr;
use std::time::Duration;

use plimsoll::config::{ConfigError, HashPolicyKind};

use crate::array;
use crate::error::report;
use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::member;
use crate::number::{boolean, optional};
use crate::out::fresh;
use crate::request_hash::{HashPolicies, Header};
use crate::status::Status;
use crate::text::{self, Str};

/// `plimsoll_hash_policy.kind`: all values of the header `name`.
pub const PLIMSOLL_HASH_HEADER: u32 = 1;
/// `plimsoll_hash_policy.kind`: the value of the cookie `name`, or of one that is made for a client
/// that has none.
pub const PLIMSOLL_HASH_COOKIE: u32 = 2;
/// `plimsoll_hash_policy.kind`: the address that the request comes from, without its port.
pub const PLIMSOLL_HASH_SOURCE_IP: u32 = 3;
/// `plimsoll_hash_policy.kind`: the first value of the parameter `name` in the query.
pub const PLIMSOLL_HASH_QUERY_PARAMETER: u32 = 4;
/// `plimsoll_hash_policy.kind`: the hash of the object that the proxy keeps under the key `name`.
pub const PLIMSOLL_HASH_FILTER_STATE: u32 = 5;

/// One part of what requests are hashed from, Envoy's `RouteAction.HashPolicy`. Growable: start from
/// `PLIMSOLL_HASH_POLICY_INIT`.
///
/// Policies are asked in order; each value that one finds is combined with those before it. All
/// policies of one call have the same `size`. A member that a kind does not use is not read.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HashPolicy {
    /// `sizeof(plimsoll_hash_policy)`.
    pub size: usize,
    /// One of `PLIMSOLL_HASH_...`.
    pub kind: u32,
    /// 1: ask no further policies once there is a value.
    pub terminal: u32,
    /// For all kinds but `PLIMSOLL_HASH_SOURCE_IP`: which header, cookie, parameter or object. Not
    /// empty. The case of a header's name does not count.
    pub name: Str,
    /// For `PLIMSOLL_HASH_COOKIE`: the path that a new cookie gets. May be empty.
    pub path: Str,
    /// For `PLIMSOLL_HASH_COOKIE`: for how long a client without the cookie is given one, if `has_ttl`
    /// is 1; less than a second is a cookie for the session. 0 unless `has_ttl` is 1.
    pub ttl_ns: u64,
    /// For `PLIMSOLL_HASH_COOKIE`: further attributes of a new cookie, in order. Only values may be
    /// empty. May be NULL if there are none.
    pub attributes: *const Header,
    /// How many.
    pub attribute_count: usize,
    /// For `PLIMSOLL_HASH_COOKIE`: 1: a client without the cookie is given one. 0: it is not.
    pub has_ttl: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
}

impl Default for HashPolicy {
    /// What `PLIMSOLL_HASH_POLICY_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            kind: 0,
            terminal: 0,
            name: Str::NULL,
            path: Str::NULL,
            ttl_ns: 0,
            attributes: ptr::null(),
            attribute_count: 0,
            has_ttl: 0,
            reserved: 0,
        }
    }
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for HashPolicy {}

/// Makes of `count` policies what `plimsoll_worker_hash`, `plimsoll_ring_hash` and `plimsoll_maglev`
/// take; once for many requests. `policies` may be NULL if `count` is 0.
///
/// `*out` is NULL on failure. Free it with `plimsoll_hash_policies_free`; a cluster that was told of it
/// has a copy.
///
/// Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range or a number that stands
/// for nothing (the error object names it, `policies[3].kind`), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for
/// policies of a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
///
/// Thread: any. Allocates: yes. Blocks: no.
///
/// # Safety
///
/// `policies` is NULL or an array of `count` structs, each as large as the first one's `size` says,
/// whose texts and attributes are readable, `out` and `error` are NULL or writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn plimsoll_hash_policies_new(
    policies: *const HashPolicy,
    count: usize,
    out: *mut *mut HashPolicies,
    error: *mut *mut Failure,
) -> Status {
    let body = || {
        // SAFETY: null is handled; otherwise the caller promises that it is writable.
        let out = unsafe { fresh(out, ptr::null_mut()) }.ok_or_else(|| Failure::null("out"))?;
        // SAFETY: passed on from the caller.
        *out = HashPolicies::into_raw(unsafe { engine_policies(policies, count) }?);
        Ok(())
    };
    // SAFETY: the caller promises that it is null or writable.
    unsafe { report(error, body) }
}

/// The policies in the engine's form, and checked.
///
/// # Safety
///
/// `policies` is null or an array of `count` structs, each as large as the first one's `size` says;
/// their texts and attributes are readable during the call.
///
/// # Errors
///
/// The first member that is refused, by its name.
pub unsafe fn engine_policies(
    policies: *const HashPolicy,
    count: usize,
) -> Result<Vec<plimsoll::config::HashPolicy>, Failure> {
    let add = |mut all: Vec<plimsoll::config::HashPolicy>, policy: &HashPolicy, name: &str| {
        // SAFETY: passed on from the caller.
        let policy = unsafe { policy.engine(name) }?;
        policy.validate().map_err(|error| refused(&error, name))?;
        all.push(policy);
        Ok(all)
    };
    // SAFETY: null is handled; otherwise the caller promises `count` structs.
    unsafe { growable::fold(policies, count, "policies", Vec::new(), add) }
}

impl HashPolicy {
    /// # Safety
    ///
    /// Texts and attributes are readable during the call.
    unsafe fn engine(&self, name: &str) -> Result<plimsoll::config::HashPolicy, Failure> {
        growable::unused(self.reserved, offset_of!(HashPolicy, reserved), name)?;
        // SAFETY: the caller promises that it is readable.
        let own_name = || unsafe { self.name.read(format_args!("{name}.name")) };
        let kind = match self.kind {
            // The engine compares them in lower case.
            PLIMSOLL_HASH_HEADER => {
                HashPolicyKind::Header { header_name: own_name()?.to_ascii_lowercase() }
            }
            PLIMSOLL_HASH_COOKIE => HashPolicyKind::Cookie {
                name: own_name()?.to_owned(),
                ttl: optional(name, ("has_ttl", self.has_ttl), ("ttl_ns", self.ttl_ns))?
                    .map(Duration::from_nanos),
                // SAFETY: the caller promises that it is readable.
                path: unsafe { self.path.read(format_args!("{name}.path")) }?.to_owned(),
                // SAFETY: passed on from the caller.
                attributes: unsafe { self.engine_attributes(&format!("{name}.attributes")) }?,
            },
            PLIMSOLL_HASH_SOURCE_IP => HashPolicyKind::SourceIp,
            PLIMSOLL_HASH_QUERY_PARAMETER => {
                HashPolicyKind::QueryParameter { name: own_name()?.to_owned() }
            }
            PLIMSOLL_HASH_FILTER_STATE => {
                HashPolicyKind::FilterState { key: own_name()?.to_owned() }
            }
            other => {
                return Err(Failure::unknown_number(
                    &format!("{name}.kind"),
                    other,
                    "one of PLIMSOLL_HASH_...",
                ));
            }
        };
        let terminal = boolean(self.terminal, format_args!("{name}.terminal"))?;
        Ok(plimsoll::config::HashPolicy { kind, terminal })
    }

    /// # Safety
    ///
    /// The attributes are readable during the call, with their texts.
    unsafe fn engine_attributes(&self, name: &str) -> Result<Vec<(String, String)>, Failure> {
        // SAFETY: passed on from the caller.
        let attributes = unsafe { array::items(self.attributes, self.attribute_count) }
            .map_err(|status| text::failure(status, name))?;
        let copy = |(index, attribute): (usize, &Header)| {
            // SAFETY: passed on from the caller.
            let own_name = unsafe { attribute.name.read(format_args!("{name}[{index}].name")) }?;
            // SAFETY: as above.
            let value = unsafe { attribute.value.read(format_args!("{name}[{index}].value")) }?;
            Ok((own_name.to_owned(), value.to_owned()))
        };
        attributes.iter().enumerate().map(copy).collect()
    }
}

/// What the fields of Envoy's messages are called in the struct, which all kinds share.
const RENAMED: [(&str, &str); 7] = [
    ("header", ""),
    ("cookie", ""),
    ("query_parameter", ""),
    ("filter_state", ""),
    ("header_name", "name"),
    ("key", "name"),
    ("ttl", "ttl_ns"),
];

/// An error of the engine about the policy `name`, with the member's name.
fn refused(error: &ConfigError, name: &str) -> Failure {
    Failure::of_member(&member::path(name, error.field(), &RENAMED), error)
}
