//! Cookies that are made for clients which have none.

use std::fmt;
use std::time::Duration;

use super::input::HashInput;
use crate::config::HashPolicyKind;
use crate::hashing::xxhash64;

/// A cookie that the client is given, so that its next request has the same hash.
///
/// `Display` gives the value of the `set-cookie` header, in Envoy's form:
///
/// ```
/// # use plimsoll::config::HashPolicyKind;
/// # use plimsoll::{HashInput, hash_request};
/// # struct Request;
/// # impl HashInput for Request {
/// #     fn remote_address(&self) -> Option<&str> { Some("10.0.0.1:4711") }
/// #     fn local_address(&self) -> Option<&str> { Some("10.0.0.9:80") }
/// # }
/// let policies = [HashPolicyKind::Cookie {
///     name: "session".to_owned(),
///     ttl: Some(std::time::Duration::from_secs(60)),
///     path: "/app".to_owned(),
///     attributes: vec![("SameSite".to_owned(), "Lax".to_owned())],
/// }
/// .into()];
/// let result = hash_request(&policies, &Request);
/// let value = result.cookies[0].value();
/// assert_eq!(
///     result.cookies[0].to_string(),
///     format!("session=\"{value}\"; Max-Age=60; Path=/app; SameSite=Lax; HttpOnly")
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCookie<'a> {
    /// Its name.
    pub name: &'a str,
    /// How long the client keeps it, in whole seconds; 0 until the end of its session.
    pub ttl: Duration,
    /// Which paths it is for; may be empty.
    pub path: &'a str,
    /// Its other attributes, by name and value.
    pub attributes: &'a [(String, String)],
    number: u64,
}

impl<'a> NewCookie<'a> {
    //= envoy v1.40 source/common/http/hash_policy.cc#CookieHashMethod::evaluate
    //= envoy v1.40 source/common/router/router.h#Filter::addDownstreamSetCookie
    /// The cookie that the policy has the request's client get, if it has; it needs both addresses.
    pub(super) fn of(
        policy: &'a HashPolicyKind,
        request: &(impl HashInput + ?Sized),
    ) -> Option<Self> {
        let HashPolicyKind::Cookie { name, ttl: Some(ttl), path, attributes } = policy else {
            return None;
        };
        let (remote, local) = (request.remote_address()?, request.local_address()?);
        let number = xxhash64([remote, local].concat().as_bytes(), 0);
        let ttl = Duration::from_secs(ttl.as_secs());
        Some(Self { name, ttl, path, attributes, number })
    }

    /// Its value: sixteen hexadecimal digits.
    #[must_use]
    pub fn value(&self) -> String {
        format!("{:016x}", self.number)
    }

    /// The same as bytes.
    pub(super) fn value_bytes(&self) -> [u8; 16] {
        let digit = |place: usize| {
            let digit = (self.number >> (60 - 4 * place)) & 0xf;
            b"0123456789abcdef"[digit as usize]
        };
        std::array::from_fn(digit)
    }
}

//= envoy v1.40 source/common/http/utility.cc#Utility::makeSetCookieValue
impl fmt::Display for NewCookie<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=\"{:016x}\"", self.name, self.number)?;
        if !self.ttl.is_zero() {
            write!(f, "; Max-Age={}", self.ttl.as_secs())?;
        }
        if !self.path.is_empty() {
            write!(f, "; Path={}", self.path)?;
        }
        for (name, value) in self.attributes {
            match value.is_empty() {
                true => write!(f, "; {name}")?,
                false => write!(f, "; {name}={value}")?,
            }
        }
        f.write_str("; HttpOnly")
    }
}
