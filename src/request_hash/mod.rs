//! The hash of a request, for policies that choose a host by it.

mod cookie;
mod input;

use std::borrow::Cow;

pub use self::cookie::NewCookie;
pub use self::input::HashInput;
use self::input::parameter_in;
use crate::config::{HashPolicy, HashPolicyKind};
use crate::hashing::{xxhash64, xxhash64_of_list};
use crate::worker::Worker;

/// What [`hash_request`] makes of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestHash<'a> {
    /// The hash, for [`PickContext::hash`](crate::PickContext::hash); `None` if no policy found
    /// anything.
    pub hash: Option<u64>,
    /// The cookies that the response has to carry, so that the client's next requests have the same
    /// hash.
    pub cookies: Vec<NewCookie<'a>>,
}

/// The hash of a request by these policies, in order.
///
/// The policies are those of the cluster, in
/// [`ConsistentHashing::hash_policy`](crate::config::ConsistentHashing::hash_policy), or if it has
/// none, those of the route. The result is the same as Envoy's, bit for bit, so that both may
/// balance over the same hosts. Nothing is allocated unless a cookie is made, a header has more
/// than eight values, or its name in the policy is not in lower case.
///
/// Not for keys that clients must not be able to choose: whoever knows the policies can find
/// requests that all go to one host.
///
/// ```
/// use plimsoll::config::{HashPolicy, HashPolicyKind};
/// use plimsoll::{HashInput, hash_request};
///
/// struct Request {
///     user: Option<String>,
///     from: String,
/// }
///
/// impl HashInput for Request {
///     fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
///         if let (Some(user), "x-user") = (&self.user, name) {
///             each(user.as_bytes());
///         }
///     }
///
///     fn source_ip(&self) -> Option<&str> {
///         Some(&self.from)
///     }
/// }
///
/// // The user, or else the address.
/// let user = HashPolicyKind::Header { header_name: "x-user".to_owned() };
/// let policies =
///     [HashPolicy { kind: user, terminal: true }, HashPolicyKind::SourceIp.into()];
///
/// let hash = |user: Option<&str>, from: &str| {
///     let request = Request { user: user.map(str::to_owned), from: from.to_owned() };
///     hash_request(&policies, &request).hash
/// };
/// assert_eq!(hash(Some("foo"), "10.0.0.1"), Some(3_728_699_739_546_630_719));
/// assert_eq!(hash(Some("foo"), "10.0.0.2"), hash(Some("foo"), "10.0.0.1"));
/// assert_ne!(hash(None, "10.0.0.2"), hash(None, "10.0.0.1"));
/// ```
#[must_use]
pub fn hash_request<'a>(
    policies: &'a [HashPolicy],
    request: &(impl HashInput + ?Sized),
) -> RequestHash<'a> {
    let mut result = RequestHash::default();
    for policy in policies {
        result.take(policy, request);
        if policy.terminal && result.hash.is_some() {
            break;
        }
    }
    result
}

impl<'a> RequestHash<'a> {
    //= envoy v1.40 source/common/http/hash_policy.cc#HashPolicyImpl::generateHash
    /// Adds what a policy finds. What was there is rotated, so that a value found twice does not
    /// cancel itself.
    fn take(&mut self, policy: &'a HashPolicy, request: &(impl HashInput + ?Sized)) {
        let value = match &policy.kind {
            HashPolicyKind::Header { header_name } => hash_of_header(header_name, request),
            HashPolicyKind::Cookie { name, .. } => {
                match request.cookie(name).filter(|value| !value.is_empty()) {
                    Some(value) => Some(xxhash64(value, 0)),
                    None => self.add_cookie(&policy.kind, request),
                }
            }
            HashPolicyKind::SourceIp => request.source_ip().and_then(hash_of_ip),
            HashPolicyKind::QueryParameter { name } => {
                let value = request.query().and_then(|query| parameter_in(query, name.as_bytes()));
                value.map(|value| xxhash64(value, 0))
            }
            HashPolicyKind::FilterState { key } => request.filter_state_hash(key),
        };
        if let Some(value) = value {
            self.hash = Some(self.hash.map_or(value, |before| before.rotate_left(1) ^ value));
        }
    }

    /// The hash of a new cookie, if there is to be one.
    fn add_cookie(
        &mut self,
        policy: &'a HashPolicyKind,
        request: &(impl HashInput + ?Sized),
    ) -> Option<u64> {
        let cookie = NewCookie::of(policy, request)?;
        let hash = xxhash64(&cookie.value_bytes(), 0);
        self.cookies.push(cookie);
        Some(hash)
    }
}

impl Worker {
    /// The hash of a request by the policies that hold for it: those of the cluster's own
    /// [`policy`](crate::config::ClusterConfig::policy), or if it has none those of the `route`, as in
    /// Envoy. There is none if the cluster does not go by hashes. See [`hash_request`](fn@hash_request).
    ///
    /// ```
    /// use plimsoll::config::{ClusterConfig, HashPolicyKind, Maglev, Policy};
    /// # use plimsoll::config::Assignment;
    /// # use plimsoll::{Cluster, HashInput, Options};
    /// # struct Request;
    /// # impl HashInput for Request {
    /// #     fn source_ip(&self) -> Option<&str> { Some("10.0.0.1") }
    /// # }
    ///
    /// let policy = Policy::Maglev(Maglev::default());
    /// let config = ClusterConfig { policy, ..ClusterConfig::new("api") };
    /// let cluster = Cluster::open(config, &Assignment::default(), Options::default())?;
    /// let mut worker = cluster.worker()?;
    /// assert_eq!(worker.hash_request(&[], &Request).hash, None);
    /// let route = [HashPolicyKind::SourceIp.into()];
    /// assert!(worker.hash_request(&route, &Request).hash.is_some());
    /// # Ok::<(), plimsoll::Error>(())
    /// ```
    #[must_use]
    pub fn hash_request<'a>(
        &'a mut self,
        route: &'a [HashPolicy],
        request: &(impl HashInput + ?Sized),
    ) -> RequestHash<'a> {
        let (snapshot, _) = self.advance();
        match snapshot.config.policy.consistent_hashing() {
            Some(own) if own.hash_policy.is_empty() => hash_request(route, request),
            Some(own) => hash_request(&own.hash_policy, request),
            None => RequestHash::default(),
        }
    }
}

fn hash_of_ip(ip: &str) -> Option<u64> {
    (!ip.is_empty()).then(|| xxhash64(ip.as_bytes(), 0))
}

/// All values in sorted order, each with the hash of those before it for its seed.
fn hash_of_header(name: &str, request: &(impl HashInput + ?Sized)) -> Option<u64> {
    let mut values = Values::default();
    request.header_values(&lower_case(name), &mut |value| values.push(value));
    let sorted = values.sorted();
    (!sorted.is_empty()).then(|| xxhash64_of_list(sorted.iter().copied(), 0))
}

fn lower_case(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}

/// So many values of a header need no memory of their own.
const FEW: usize = 8;

/// The values of a header. `many` has all of them once they are more than a few.
#[derive(Default)]
struct Values<'a> {
    few: [&'a [u8]; FEW],
    count: usize,
    many: Vec<&'a [u8]>,
}

impl<'a> Values<'a> {
    fn push(&mut self, value: &'a [u8]) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = value,
            None => {
                if self.many.is_empty() {
                    self.many.reserve(2 * FEW);
                    self.many.extend_from_slice(&self.few);
                }
                self.many.push(value);
            }
        }
        self.count += 1;
    }

    fn sorted(&mut self) -> &[&'a [u8]] {
        let values =
            if self.many.is_empty() { &mut self.few[..self.count] } else { &mut self.many };
        // Equal ones are the same, so nothing is lost by not keeping their order.
        values.sort_unstable();
        values
    }
}
