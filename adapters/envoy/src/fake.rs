//! A fake Envoy for unit tests: the traits of [`host`](crate::host) over plain values.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use plimsoll::CoarseHealth;

use crate::host::{HostRow, LbHost, Metric, MetricHost, Place, Request, Stream};
use crate::log::Level;

thread_local! {
    static LOG: RefCell<Vec<(Level, String)>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn log(level: Level, line: &str) {
    LOG.with_borrow_mut(|log| log.push((level, line.to_owned())));
}

/// What this thread has logged since the last call.
pub(crate) fn take_log() -> Vec<(Level, String)> {
    LOG.with_borrow_mut(std::mem::take)
}

/// A host of a [`FakeLb`].
#[derive(Debug, Clone)]
pub(crate) struct FakeHost {
    pub(crate) address: String,
    pub(crate) weight: u32,
    pub(crate) health: CoarseHealth,
    pub(crate) zone: &'static str,
    pub(crate) hash_key: Option<String>,
}

impl FakeHost {
    pub(crate) fn new(address: &str, zone: &'static str) -> Self {
        let health = CoarseHealth::Healthy;
        Self { address: address.to_owned(), weight: 1, health, zone, hash_key: None }
    }

    pub(crate) fn is(self, health: CoarseHealth) -> Self {
        Self { health, ..self }
    }

    fn is_healthy(&self) -> bool {
        self.health == CoarseHealth::Healthy
    }
}

/// The hosts of a cluster by priority, and the weights of zones.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeLb {
    /// The cluster's, "be" if empty.
    pub(crate) name: &'static str,
    pub(crate) priorities: Vec<Vec<FakeHost>>,
    pub(crate) weights: BTreeMap<&'static str, u32>,
}

impl FakeLb {
    /// One priority of healthy hosts of one zone.
    pub(crate) fn of(addresses: &[&str]) -> Self {
        let hosts = addresses.iter().map(|address| FakeHost::new(address, "a")).collect();
        Self { priorities: vec![hosts], ..Self::default() }
    }

    fn list(&self, priority: u32) -> &[FakeHost] {
        self.priorities.get(priority as usize).map_or(&[], Vec::as_slice)
    }

    fn healthy(&self, priority: u32) -> impl Iterator<Item = &FakeHost> {
        self.list(priority).iter().filter(|host| host.is_healthy())
    }

    /// The address that an answer stands for, as Envoy looks it up.
    pub(crate) fn answer(&self, priority: u32, index: u32) -> &str {
        &self.healthy(priority).nth(index as usize).expect("Envoy would warn").address
    }

    fn zones(&self, priority: u32) -> Vec<&'static str> {
        let mut zones: Vec<_> = self.list(priority).iter().map(|host| host.zone).collect();
        zones.sort_unstable();
        zones.dedup();
        zones
    }
}

fn count(hosts: usize) -> u32 {
    u32::try_from(hosts).expect("few hosts")
}

impl LbHost for FakeLb {
    fn cluster_name(&self) -> &str {
        if self.name.is_empty() { "be" } else { self.name }
    }

    fn priorities(&self) -> u32 {
        count(self.priorities.len())
    }

    fn hosts(&self, priority: u32) -> u32 {
        count(self.list(priority).len())
    }

    fn healthy_hosts(&self, priority: u32) -> u32 {
        count(self.healthy(priority).count())
    }

    fn address(&self, priority: u32, index: u32) -> Option<&str> {
        Some(&self.list(priority).get(index as usize)?.address)
    }

    fn host(&self, priority: u32, index: u32) -> Option<HostRow<'_>> {
        let host = self.list(priority).get(index as usize)?;
        let locality = ["r", host.zone, ""];
        Some(HostRow { address: &host.address, weight: host.weight, health: host.health, locality })
    }

    fn hash_key(&self, priority: u32, index: u32) -> Option<&str> {
        self.list(priority).get(index as usize)?.hash_key.as_deref()
    }

    fn healthy_address(&self, priority: u32, index: u32) -> Option<&str> {
        Some(&self.healthy(priority).nth(index as usize)?.address)
    }

    fn localities(&self, priority: u32) -> u32 {
        count(self.zones(priority).len())
    }

    fn locality(&self, priority: u32, index: u32) -> Option<(u32, &str)> {
        let zone = *self.zones(priority).get(index as usize)?;
        let host = self.healthy(priority).find(|host| host.zone == zone)?;
        Some((self.weights.get(zone).copied().unwrap_or(0), &host.address))
    }
}

/// A request, and the hosts that its retry predicates refuse.
#[derive(Debug, Default)]
pub(crate) struct FakeRequest {
    pub(crate) hash: Option<u64>,
    pub(crate) retries: u32,
    pub(crate) refused: Vec<(u32, u32)>,
}

impl Request for FakeRequest {
    fn hash(&self) -> Option<u64> {
        self.hash
    }

    fn retries(&self) -> u32 {
        self.retries
    }

    fn refuses(&self, priority: u32, index: u32) -> bool {
        self.refused.contains(&(priority, index))
    }
}

/// Metrics by name and labels. A clone shows the same ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeMetrics(Arc<Mutex<Defined>>);

#[derive(Debug, Default)]
struct Defined {
    names: Vec<(String, usize)>,
    values: BTreeMap<String, u64>,
    /// Defines no more than this.
    room: Option<usize>,
}

impl FakeMetrics {
    /// Takes no metrics.
    pub(crate) fn full() -> Self {
        let metrics = Self::default();
        metrics.0.lock().unwrap().room = Some(3);
        metrics
    }

    /// The value of `name` or `name.label.label`.
    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.0.lock().unwrap().values.get(name).copied()
    }

    fn define(&self, name: &str, labels: &[&str]) -> Option<Metric> {
        let mut defined = self.0.lock().unwrap();
        if defined.room.is_some_and(|room| defined.names.len() >= room) {
            return None;
        }
        defined.names.push((name.to_owned(), labels.len()));
        Some(Metric(defined.names.len()))
    }

    fn change(&self, metric: Metric, labels: &[&str], change: impl FnOnce(&mut u64)) {
        let mut defined = self.0.lock().unwrap();
        let (name, label_count) = defined.names[metric.0 - 1].clone();
        assert_eq!(labels.len(), label_count, "labels of {name}");
        let key = [&[name.as_str()], labels].concat().join(".");
        change(defined.values.entry(key).or_default());
    }
}

impl MetricHost for FakeMetrics {
    fn define_counter(&self, name: &str, labels: &[&str]) -> Option<Metric> {
        self.define(name, labels)
    }

    fn define_gauge(&self, name: &str, labels: &[&str]) -> Option<Metric> {
        self.define(name, labels)
    }

    fn add(&self, counter: Metric, labels: &[&str], value: u64) {
        self.change(counter, labels, |total| *total += value);
    }

    fn set(&self, gauge: Metric, labels: &[&str], value: u64) {
        self.change(gauge, labels, |present| *present = value);
    }
}

/// A stream of a filter.
#[derive(Debug, Default)]
pub(crate) struct FakeStream {
    pub(crate) headers: Vec<(Place, &'static str, String)>,
    pub(crate) address: Option<String>,
    pub(crate) cluster: Option<String>,
    pub(crate) preferred: RefCell<Option<String>>,
}

impl Stream for FakeStream {
    fn header(&self, place: Place, name: &str) -> Option<&[u8]> {
        let mut found = self.headers.iter().filter(|(at, key, _)| *at == place && *key == name);
        found.next().map(|(_, _, value)| value.as_bytes())
    }

    fn upstream_address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    fn cluster_name(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    fn prefer_host(&self, address: &str) -> bool {
        let is_ip = !address.starts_with('/');
        *self.preferred.borrow_mut() = is_ip.then(|| address.to_owned());
        is_ip
    }
}
