//! The policies that choose a host by the hash of a request.

use std::time::Duration;

/// Each host has points on a ring, as many as its weight deserves; a request goes to the first
/// point from its hash on.
///
/// ```
/// use plimsoll::config::{Policy, RingHash};
///
/// let policy = Policy::RingHash(RingHash { minimum_ring_size: 4096, ..RingHash::default() });
/// policy.validate()?;
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RingHash {
    /// How keys of hosts are hashed. Default [`HashFunction::XxHash`].
    pub hash_function: HashFunction,
    /// 1 to [`MAX_RING_SIZE`], default 1024. `behavior: envoy`: a ring has at least as many
    /// points. Native: an eighth of it are the points of a host for each unit of its weight, however
    /// many hosts there are, so that hosts which come and go leave the points of others alone.
    pub minimum_ring_size: u32,
    /// A ring has at most as many points: from `minimum_ring_size` to [`MAX_RING_SIZE`], which is
    /// the default. Native halves the points of all hosts until they fit.
    pub maximum_ring_size: u32,
    /// What both hash policies have.
    pub consistent_hashing: ConsistentHashing,
}

/// The largest size of a ring.
pub const MAX_RING_SIZE: u32 = 8_388_608;

impl RingHash {
    pub(super) const DEFAULT: Self = Self {
        hash_function: HashFunction::XxHash,
        minimum_ring_size: 1024,
        maximum_ring_size: MAX_RING_SIZE,
        consistent_hashing: ConsistentHashing::DEFAULT,
    };
}

impl Default for RingHash {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A table of hosts, filled so that each has as many places as its weight deserves; a request goes
/// to the place that its hash, modulo the size, names.
///
/// ```
/// use plimsoll::config::{Maglev, Policy};
///
/// let policy = Policy::Maglev(Maglev { table_size: 65_537, ..Maglev::default() });
/// policy.validate()?;
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Maglev {
    /// A prime, 2 to [`MAX_TABLE_SIZE`], default 65537. A hundred times the number of hosts keeps
    /// their shares within a hundredth.
    pub table_size: u32,
    /// What both hash policies have.
    pub consistent_hashing: ConsistentHashing,
}

/// The largest [`Maglev::table_size`].
pub const MAX_TABLE_SIZE: u32 = 5_000_011;

impl Maglev {
    pub(super) const DEFAULT: Self =
        Self { table_size: 65_537, consistent_hashing: ConsistentHashing::DEFAULT };
}

impl Default for Maglev {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What [`RingHash`] and [`Maglev`] have in common.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConsistentHashing {
    /// A host's key is its name instead of its address, unless its endpoint has a
    /// [`hash_key`](super::Endpoint::hash_key). Default false.
    pub use_hostname_for_hashing: bool,
    /// If set, no host gets more than this percentage of its fair share of the active requests;
    /// what would be too much goes to another host. At least 100. Requests count from a
    /// pick to its end, so picks must not be uncounted.
    pub hash_balance_factor: Option<u32>,
    /// What the hash of a request is made from, in place of what the proxy's route says. Default
    /// empty: the route decides. See [`HashPolicy`].
    pub hash_policy: Vec<HashPolicy>,
}

impl ConsistentHashing {
    pub(super) const DEFAULT: Self = Self {
        use_hostname_for_hashing: false,
        hash_balance_factor: None,
        hash_policy: Vec::new(),
    };
}

/// How keys of hosts become points of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HashFunction {
    /// xxHash64 with seed 0.
    #[default]
    XxHash,
    /// MurmurHash2 in 64 bits as the GNU C++ library has it.
    MurmurHash2,
}

/// One part of what a request's hash is made from.
///
/// Policies are asked in order; each value that one finds is combined with those before it. Source:
/// Envoy's `RouteAction.HashPolicy`.
#[derive(Debug, Clone, PartialEq)]
pub struct HashPolicy {
    /// Where the value comes from.
    pub kind: HashPolicyKind,
    /// Ask no further policies once there is a value, of this policy or of one before. Default
    /// false.
    pub terminal: bool,
}

/// Where a [`HashPolicy`] finds its value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HashPolicyKind {
    /// All values of a header, in sorted order.
    Header {
        /// Its name, in any case.
        header_name: String,
    },
    /// The value of a cookie, or of one that is made for the client if it has none.
    Cookie {
        /// Its name.
        name: String,
        /// If set, a client without the cookie is given one; zero is a cookie for the session.
        ttl: Option<Duration>,
        /// The path that a new cookie gets; may be empty.
        path: String,
        /// Further attributes of a new cookie, in order.
        attributes: Vec<(String, String)>,
    },
    /// The address that the request comes from, without its port.
    SourceIp,
    /// The first value of a parameter in the query of the path.
    QueryParameter {
        /// Its name, case-sensitive.
        name: String,
    },
    /// The hash of an object that the proxy keeps for the request.
    FilterState {
        /// Its key.
        key: String,
    },
}
