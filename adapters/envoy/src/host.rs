//! What the module asks of Envoy, as traits: [`envoy`](crate::envoy) has the real thing, and unit
//! tests a fake one.
//!
//! Texts are borrowed from Envoy and hold until the call that the handle was passed for returns.

use plimsoll::CoarseHealth;

/// One load balancer instance: the hosts of a cluster as one thread of Envoy sees them.
pub(crate) trait LbHost {
    fn cluster_name(&self) -> &str;

    /// How many priorities there are; those without hosts stay.
    fn priorities(&self) -> u32;

    /// How many hosts a priority has, and how many of them are healthy.
    fn hosts(&self, priority: u32) -> u32;
    fn healthy_hosts(&self, priority: u32) -> u32;

    /// The address of a host by its index among all hosts of a priority.
    fn address(&self, priority: u32, index: u32) -> Option<&str>;

    /// All of it, by the same index.
    fn host(&self, priority: u32, index: u32) -> Option<HostRow<'_>>;

    /// The key that takes the place of a host's address in hash tables, if its metadata has one.
    fn hash_key(&self, priority: u32, index: u32) -> Option<&str>;

    /// The address of a host by its index among the healthy hosts of a priority: another numbering.
    fn healthy_address(&self, priority: u32, index: u32) -> Option<&str>;

    /// How many localities a priority has.
    fn localities(&self, priority: u32) -> u32;

    /// The weight of a locality (0 if it has none) and the address of a healthy host in it, by
    /// which to tell which one it is.
    fn locality(&self, priority: u32, index: u32) -> Option<(u32, &str)>;
}

/// A host as Envoy shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostRow<'a> {
    pub(crate) address: &'a str,
    pub(crate) weight: u32,
    pub(crate) health: CoarseHealth,
    /// Region, zone and sub-zone.
    pub(crate) locality: [&'a str; 3],
}

/// What a pick is told of its request.
pub(crate) trait Request {
    /// The hash that the route's `hash_policy` gives it.
    fn hash(&self) -> Option<u64>;

    /// How many more hosts may be tried while [`refuses`](Self::refuses) says so.
    fn retries(&self) -> u32;

    /// Whether a retry predicate of the route does not want this host, by its index among all.
    fn refuses(&self, priority: u32, index: u32) -> bool;
}

/// The metrics of one configuration. `define_` holds while the configuration is made only; labelled
/// metrics are for Envoy's own threads.
pub(crate) trait MetricHost: Send + Sync {
    fn define_counter(&self, name: &str, labels: &[&str]) -> Option<Metric>;
    fn define_gauge(&self, name: &str, labels: &[&str]) -> Option<Metric>;
    fn add(&self, counter: Metric, labels: &[&str], value: u64);
    fn set(&self, gauge: Metric, labels: &[&str], value: u64);
}

/// Envoy's number of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Metric(pub(crate) usize);

/// Where a header stands, in Envoy's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Place {
    ResponseHeaders = 2,
    ResponseTrailers = 3,
}

/// One HTTP stream that a filter sees.
pub(crate) trait Stream {
    /// The first value of a header.
    fn header(&self, place: Place, name: &str) -> Option<&[u8]>;

    /// The address of the host that the request went to.
    fn upstream_address(&self) -> Option<&str>;

    /// The cluster that the route leads to.
    fn cluster_name(&self) -> Option<&str>;

    /// Has the request go to this host, if Envoy lets it; by policy otherwise. False for what is no IP
    /// address.
    fn prefer_host(&self, address: &str) -> bool;
}
