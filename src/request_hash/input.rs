//! What a request is hashed from, as far as the proxy knows it.

/// What a proxy knows of a request, for [`hash_request`](super::hash_request).
///
/// Every method has a default, which knows nothing: implement those that the policies in use ask
/// for. None of them is called more than once for a policy, and text need not be UTF-8.
pub trait HashInput {
    /// Hands each value of a header to `each`, in any order. `name` is in lower case.
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        let _ = (name, each);
    }

    /// The value of a cookie, without the quotes around it. By default it is found in the header
    /// `cookie`, as Envoy finds it.
    fn cookie(&self, name: &str) -> Option<&[u8]> {
        let mut found = None;
        self.header_values("cookie", &mut |cookies| {
            found = found.or_else(|| cookie_in(cookies, name.as_bytes()));
        });
        found
    }

    /// The path with its query, as in the header `:path`.
    fn path(&self) -> Option<&[u8]> {
        None
    }

    /// The query without the question mark before it. By default it is found in the path.
    fn query(&self) -> Option<&[u8]> {
        let path = self.path()?;
        let mark = path.iter().position(|&byte| byte == b'?')?;
        Some(&path[mark + 1..])
    }

    /// The IP address that the request comes from as text, without a port: `10.0.0.1` or `::1`.
    /// `None` if it comes from elsewhere, such as a pipe.
    fn source_ip(&self) -> Option<&str> {
        None
    }

    /// The address that the request comes from as text, with a port: `10.0.0.1:4711`,
    /// `[::1]:4711` or a path. New cookies are made from it.
    fn remote_address(&self) -> Option<&str> {
        None
    }

    /// The address that the request came to, as [`remote_address`](Self::remote_address).
    fn local_address(&self) -> Option<&str> {
        None
    }

    /// The hash of an object that the proxy keeps for the request under this key.
    fn filter_state_hash(&self, key: &str) -> Option<u64> {
        let _ = key;
        None
    }
}

//= envoy v1.40 source/common/http/utility.cc#Utility::parseCookieValue
/// The value of the first cookie of this name in a header. Cookies without a `=` do not count.
fn cookie_in<'a>(cookies: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    cookies.split(|&byte| byte == b';').find_map(|cookie| {
        let equals = cookie.iter().position(|&byte| byte == b'=')?;
        let spaces = cookie.iter().take_while(|&&byte| byte == b' ').count();
        (cookie.get(spaces..equals)? == name).then(|| unquoted(&cookie[equals + 1..]))
    })
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value)
}

//= envoy v1.40 source/common/http/utility.cc#Utility::QueryParamsMulti::parseQueryString
/// The first value of a parameter as it is written, escapes and all. One without a `=` is empty.
pub(super) fn parameter_in<'a>(query: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    query.split(|&byte| byte == b'&').find_map(|parameter| {
        let equals = parameter.iter().position(|&byte| byte == b'=');
        let (own, value) = match equals {
            Some(equals) => (&parameter[..equals], &parameter[equals + 1..]),
            None => (parameter, &[][..]),
        };
        (own == name).then_some(value)
    })
}
