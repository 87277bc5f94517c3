//! A request as a proxy may have it, and what its hash is made from.

use std::hint::black_box;

use plimsoll::HashInput;
use plimsoll::config::{HashPolicy, HashPolicyKind};

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Request;

const HEADERS: [(&str, &str); 4] = [
    (":authority", "api.example.com"),
    ("user-agent", "curl/8.5.0"),
    ("x-session", "3f2a9c0d71be4586"),
    ("cookie", "theme=dark; consent=yes; session=3f2a9c0d71be4586"),
];

impl HashInput for Request {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        for (own, value) in black_box(&HEADERS) {
            if *own == name {
                each(value.as_bytes());
            }
        }
    }
}

/// By a header of 16 bytes.
#[must_use]
pub fn by_header() -> HashPolicy {
    HashPolicyKind::Header { header_name: "x-session".to_owned() }.into()
}

/// By a cookie of 16 bytes, the third of three.
#[must_use]
pub fn by_cookie() -> HashPolicy {
    let kind = HashPolicyKind::Cookie {
        name: "session".to_owned(),
        ttl: None,
        path: String::new(),
        attributes: Vec::new(),
    };
    kind.into()
}
