//! The hash of a request, by policies that stand beside it. It needs no cluster.

use std::collections::BTreeMap;

use plimsoll::{Error, HashInput, hash_request};
use plimsoll_envoy_config::hash_policies;
use serde_json::{Value, json};

use super::line::Keyed;
use super::op::{Hash, Request};
use super::reports::{Bytes, bytes};

/// The hash, or `null` if no policy finds anything.
pub(super) fn of(operation: Hash) -> Result<Value, Error> {
    let Hash { policies, request: Keyed(request) } = operation;
    let policies = policies.into_iter().map(Value::Object).collect();
    let policies = hash_policies(&policies)?;
    let Request { headers, query, cookies, source_ip } = &request;
    let headers = Headers(bytes("request.headers", headers)?);
    let known = Known { headers, query, cookies, source_ip };
    Ok(json!(hash_request(&policies, &known).hash))
}

/// What the operation says of the request.
struct Known<'r> {
    headers: Headers<'r>,
    /// Empty for none, as the address.
    query: &'r str,
    cookies: &'r BTreeMap<String, String>,
    source_ip: &'r str,
}

impl HashInput for Known<'_> {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        self.headers.header_values(name, each);
    }

    /// What is not among the cookies may still be in their header.
    fn cookie(&self, name: &str) -> Option<&[u8]> {
        let own = self.cookies.get(name).map(String::as_bytes);
        own.or_else(|| self.headers.cookie(name))
    }

    fn query(&self) -> Option<&[u8]> {
        (!self.query.is_empty()).then_some(self.query.as_bytes())
    }

    fn source_ip(&self) -> Option<&str> {
        (!self.source_ip.is_empty()).then_some(self.source_ip)
    }
}

/// Headers alone, whose names may be in any case.
struct Headers<'r>(Bytes<'r>);

impl HashInput for Headers<'_> {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        let own = self.0.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
        own.for_each(|(_, value)| each(value));
    }
}
