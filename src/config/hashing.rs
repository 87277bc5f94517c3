//! The policies that choose a host by the hash of a request.
//!
//! envoy-differs: ranges are checked wherever the settings come from. Envoy checks them in the older
//! fields of `Cluster` only, and some not even there: a ring of 0 points refuses all traffic, a table
//! of 1 place and a hash policy without a kind end the process.

use std::time::Duration;

use super::cluster::Behavior;
use super::error::{ConfigError, Problem};

/// The settings of [`Policy::RingHash`](super::Policy::RingHash).
///
/// Each host has points on a ring, as many as its weight deserves; a request goes to the first
/// point from its hash on.
///
/// Not for weights that change often, nor for an even load of many hosts: in `behavior: envoy` with
/// the default size the busiest of a hundred hosts gets 1.8 times the average ([`Maglev`]: 1.05
/// times), and halving the weight of one of them moves 8 % of all requests. Not with
/// [`LocalityRouting::ZoneAware`](super::LocalityRouting::ZoneAware).
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
    /// the default in `behavior: envoy`. Native halves the points of all hosts until they fit; its
    /// default is 1 048 576, or `minimum_ring_size` if that is more: weights in the hundreds would
    /// make the largest ring of a hundred megabytes.
    pub maximum_ring_size: Option<u32>,
    /// What both hash policies have.
    pub consistent_hashing: ConsistentHashing,
}

/// The largest size of a ring.
pub const MAX_RING_SIZE: u32 = 8_388_608;

impl RingHash {
    pub(super) const DEFAULT: Self = Self {
        hash_function: HashFunction::XxHash,
        minimum_ring_size: 1024,
        maximum_ring_size: None,
        consistent_hashing: ConsistentHashing::DEFAULT,
    };
}

impl RingHash {
    /// The largest ring in force.
    pub(crate) fn maximum_size(&self, behavior: Behavior) -> u32 {
        const NATIVE: u32 = 1 << 20;
        self.maximum_ring_size.unwrap_or(match behavior {
            Behavior::Native => NATIVE.max(self.minimum_ring_size),
            Behavior::Envoy => MAX_RING_SIZE,
        })
    }

    //= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#RingHashLoadBalancer::RingHashLoadBalancer
    pub(super) fn validate_own(&self) -> Result<(), ConfigError> {
        let minimum = self.minimum_ring_size;
        let maximum = self.maximum_ring_size.unwrap_or(MAX_RING_SIZE);
        let largest = u64::from(MAX_RING_SIZE);
        if !(1..=MAX_RING_SIZE).contains(&minimum) {
            let rule = "RingHashValidationError.MinimumRingSize";
            let problem = Problem::OutsideRange { rule, minimum: 1, maximum: largest };
            return Err(ConfigError::new("minimum_ring_size", problem));
        }
        if maximum > MAX_RING_SIZE {
            let rule = "RingHashValidationError.MaximumRingSize";
            let problem = Problem::AboveMaximum { rule, maximum: largest };
            return Err(ConfigError::new("maximum_ring_size", problem));
        }
        if minimum > maximum {
            let message =
                format!("ring hash: minimum_ring_size ({minimum}) > maximum_ring_size ({maximum})");
            return Err(invalid("minimum_ring_size", message));
        }
        self.consistent_hashing.validate()
    }
}

impl Default for RingHash {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The settings of [`Policy::Maglev`](super::Policy::Maglev).
///
/// A table of hosts, filled so that each has as many places as its weight deserves; a request goes
/// to the place that its hash, modulo the size, names.
///
/// Not for more hosts than the table has places: some would have none. Not with
/// [`LocalityRouting::ZoneAware`](super::LocalityRouting::ZoneAware).
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

impl Maglev {
    //= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevLoadBalancer::MaglevLoadBalancer
    pub(super) fn validate_own(&self) -> Result<(), ConfigError> {
        if !is_prime(self.table_size) {
            return Err(invalid("table_size", "The table size of maglev must be prime number"));
        }
        if self.table_size > MAX_TABLE_SIZE {
            let rule = "MaglevValidationError.TableSize";
            let problem = Problem::AboveMaximum { rule, maximum: MAX_TABLE_SIZE.into() };
            return Err(ConfigError::new("table_size", problem));
        }
        self.consistent_hashing.validate()
    }
}

/// By division, which for the largest number takes 32 768 of them.
fn is_prime(number: u32) -> bool {
    let is_odd = number % 2 == 1;
    let mut divisors = (3..=number.isqrt()).step_by(2);
    number == 2 || (number > 2 && is_odd && divisors.all(|divisor| !number.is_multiple_of(divisor)))
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

impl ConsistentHashing {
    /// Checks every range.
    ///
    /// # Errors
    ///
    /// The first value outside its range, below `consistent_hashing_lb_config`.
    fn validate(&self) -> Result<(), ConfigError> {
        self.validate_own().map_err(|error| error.within("consistent_hashing_lb_config"))
    }

    fn validate_own(&self) -> Result<(), ConfigError> {
        if self.hash_balance_factor.is_some_and(|factor| factor < 100) {
            let rule = "ConsistentHashingLbConfigValidationError.HashBalanceFactor";
            let problem = Problem::BelowMinimum { rule, minimum: 100 };
            return Err(ConfigError::new("hash_balance_factor", problem));
        }
        for (index, policy) in self.hash_policy.iter().enumerate() {
            policy.validate().map_err(|error| error.within(&format!("hash_policy[{index}]")))?;
        }
        Ok(())
    }
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
/// Policies are asked in order; each value that one finds is combined with those before it. See
/// [`hash_request`](crate::hash_request), which does that. Source: Envoy's
/// `RouteAction.HashPolicy`.
///
/// ```
/// use plimsoll::config::{HashPolicy, HashPolicyKind};
///
/// let user = HashPolicyKind::Header { header_name: "x-user".to_owned() };
/// let policies =
///     [HashPolicy { terminal: true, ..user.into() }, HashPolicyKind::SourceIp.into()];
/// policies.iter().try_for_each(HashPolicy::validate)?;
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HashPolicy {
    /// Where the value comes from.
    pub kind: HashPolicyKind,
    /// Ask no further policies once there is a value, of this policy or of one before. Default
    /// false.
    pub terminal: bool,
}

impl From<HashPolicyKind> for HashPolicy {
    /// One that is not terminal.
    fn from(kind: HashPolicyKind) -> Self {
        Self { kind, terminal: false }
    }
}

/// Where a [`HashPolicy`] finds its value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HashPolicyKind {
    /// All values of a header, in sorted order.
    Header {
        /// Its name, not empty, in any case. In lower case a request is hashed without allocating.
        header_name: String,
    },
    /// The value of a cookie, or of one that is made for the client if it has none. A value that is
    /// empty counts as none.
    Cookie {
        /// Its name, not empty.
        name: String,
        /// If set, a client without the cookie is given one, for as long as that in whole seconds;
        /// less than a second is a cookie for the session. Less than 2^63 nanoseconds.
        ttl: Option<Duration>,
        /// The path that a new cookie gets; may be empty. Without `;` and control characters.
        path: String,
        /// Further attributes of a new cookie, in order, by name and value; only values may be empty.
        /// Each at most 16 384 bytes, without `;` and control characters.
        attributes: Vec<(String, String)>,
    },
    /// The address that the request comes from, without its port.
    SourceIp,
    /// The first value of a parameter in the query of the path, as it is written there.
    QueryParameter {
        /// Its name, not empty, case-sensitive.
        name: String,
    },
    /// The hash of an object that the proxy keeps for the request.
    FilterState {
        /// Its key, not empty.
        key: String,
    },
}

/// The longest name or value of a cookie's attribute.
const MAX_ATTRIBUTE: usize = 16_384;

impl HashPolicy {
    /// Checks every range. Fields are named as in Envoy's message.
    ///
    /// # Errors
    ///
    /// The first value outside its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let (message, result) = match &self.kind {
            HashPolicyKind::Header { header_name } => {
                let rule = "HeaderValidationError.HeaderName";
                ("header", not_empty("header_name", rule, header_name))
            }
            HashPolicyKind::Cookie { name, ttl, path, attributes } => {
                ("cookie", validate_cookie(name, *ttl, path, attributes))
            }
            HashPolicyKind::SourceIp => ("connection_properties", Ok(())),
            HashPolicyKind::QueryParameter { name } => {
                ("query_parameter", not_empty("name", "QueryParameterValidationError.Name", name))
            }
            HashPolicyKind::FilterState { key } => {
                ("filter_state", not_empty("key", "FilterStateValidationError.Key", key))
            }
        };
        result.map_err(|error| error.within(message))
    }
}

/// envoy-differs: what would end an attribute of a new cookie, or its header, is refused.
fn validate_cookie(
    name: &str,
    ttl: Option<Duration>,
    path: &str,
    attributes: &[(String, String)],
) -> Result<(), ConfigError> {
    not_empty("name", "CookieValidationError.Name", name)?;
    check_text("name", name)?;
    super::weighted::check_periods(&[("ttl", ttl.unwrap_or_default())])?;
    check_text("path", path)?;
    for (index, (name, value)) in attributes.iter().enumerate() {
        validate_attribute(name, value)
            .map_err(|error| error.within(&format!("attributes[{index}]")))?;
    }
    Ok(())
}

fn validate_attribute(name: &str, value: &str) -> Result<(), ConfigError> {
    not_empty("name", "CookieAttributeValidationError.Name", name)?;
    for (field, rule, text) in [("name", "Name", name), ("value", "Value", value)] {
        check_text(field, text)?;
        if text.len() > MAX_ATTRIBUTE {
            let message = format!(
                "CookieAttributeValidationError.{rule}: value length must be at most \
                 {MAX_ATTRIBUTE} bytes"
            );
            return Err(invalid(field, message));
        }
    }
    Ok(())
}

fn not_empty(field: &str, rule: &'static str, text: &str) -> Result<(), ConfigError> {
    if text.is_empty() { Err(ConfigError::new(field, Problem::Empty { rule })) } else { Ok(()) }
}

fn check_text(field: &str, text: &str) -> Result<(), ConfigError> {
    if text.contains(|c: char| c == ';' || c.is_control()) {
        return Err(invalid(field, "a part of a cookie has no `;` and no control characters"));
    }
    Ok(())
}

fn invalid(field: &str, message: impl Into<String>) -> ConfigError {
    ConfigError::new(field, Problem::Invalid { message: message.into() })
}

#[cfg(test)]
mod tests;
