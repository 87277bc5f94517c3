//! A host's address in text form, its identity.

use std::borrow::Borrow;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// A host's address as text, `10.0.0.1:80` or `[::1]:80`.
///
/// Two addresses are the same when their texts are; the engine neither parses nor resolves them,
/// so that a name (`backend.local:80`) or a path works as well. Cloning shares the text.
///
/// ```
/// use plimsoll::Address;
///
/// let address = Address::from("[::1]:80".parse::<std::net::SocketAddr>().unwrap());
/// assert_eq!(address.as_str(), "[::1]:80");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(Arc<str>);

impl Address {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        Self(Arc::from(text))
    }
}

impl From<String> for Address {
    fn from(text: String) -> Self {
        Self(Arc::from(text))
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::from(address.to_string())
    }
}

impl Borrow<str> for Address {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
