//! From what an engine counts to Envoy's metrics: our thread collects once a second, and one of
//! Envoy's threads publishes what was collected, since only those may touch labelled metrics.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll::{Locality, Source, Stats, View};

use crate::engine::{Engine, lock};
use crate::metrics::{COUNTERS, GAUGES, Metrics};

const PERIOD_NS: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    is_fresh: AtomicBool,
    board: Mutex<Board>,
}

/// What was collected last, and how much of it is published.
#[derive(Debug, Default)]
struct Board {
    /// When it was collected for the first time.
    opened_ns: Option<u64>,
    collected_ns: Option<u64>,
    cluster: String,
    counters: Vec<u64>,
    published: Vec<u64>,
    gauges: Vec<u64>,
    localities: Vec<Row>,
    /// What has gauges, some of which may be gone since.
    shown: Vec<Key>,
}

/// A priority and a locality in it, as labels.
type Key = (String, String);

/// The figures of one locality of one priority.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    key: Key,
    weight_ppm: u64,
    /// What the policy goes by, if it goes by reports.
    load: Option<Load>,
}

/// The utilization of a locality, and how old that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Load {
    utilization_ppm: u64,
    sample_age_ms: u64,
}

impl Figures {
    /// Whether there is something to publish.
    pub(crate) fn are_fresh(&self) -> bool {
        // No edge: the board has a lock.
        self.is_fresh.load(Ordering::Relaxed)
    }

    /// Collects, if it is time. For our own thread.
    pub(crate) fn collect(&self, engine: &Engine, now_ns: u64) {
        let Some(opened_ns) = lock(&self.board).due(now_ns) else { return };
        let Ok(stats) = engine.cluster.stats() else { return };
        let view = engine.cluster.view();
        let silence_ms = (now_ns - opened_ns) / NS_PER_MS;
        let silence_ms = engine.wants.reports.then_some(silence_ms);
        // All before the lock, for which a request may wait.
        let localities = if engine.is_shared { rows(&view, silence_ms) } else { vec![] };
        let counters = counters(&stats, engine);
        let gauges = GAUGES.iter().map(|name| stats.get(name)).collect();
        let mut board = lock(&self.board);
        board.collected_ns = Some(now_ns);
        board.cluster.clone_from(&view.config().name);
        board.counters = counters;
        board.gauges = gauges;
        board.localities = localities;
        // No edge: the board has a lock.
        self.is_fresh.store(true, Ordering::Relaxed);
    }

    /// Publishes what is fresh. For Envoy's threads, while the configuration lives.
    #[cold]
    pub(crate) fn publish(&self, metrics: &Metrics) {
        // No edge: the board has a lock; that another thread is about to do it is all this says.
        if self.is_fresh.swap(false, Ordering::Relaxed) {
            lock(&self.board).publish(metrics);
        }
    }
}

fn counters(stats: &Stats, engine: &Engine) -> Vec<u64> {
    COUNTERS.iter().map(|name| stats.get(name)).chain(engine.counted()).collect()
}

impl Board {
    /// When it was collected for the first time, if it is time to do so again.
    fn due(&mut self, now_ns: u64) -> Option<u64> {
        let is_due = self.collected_ns.is_none_or(|last_ns| now_ns >= last_ns + PERIOD_NS);
        is_due.then(|| *self.opened_ns.get_or_insert(now_ns))
    }

    fn publish(&mut self, metrics: &Metrics) {
        let cluster = [self.cluster.as_str()];
        self.published.resize(self.counters.len(), 0);
        let figures = self.counters.iter().zip(&mut self.published);
        for (&metric, (&total, published)) in metrics.counters.iter().zip(figures) {
            if total > *published {
                metrics.host.add(metric, &cluster, total - *published);
                *published = total;
            }
        }
        for (&metric, &value) in metrics.gauges.iter().zip(&self.gauges) {
            metrics.host.set(metric, &cluster, value);
        }
        for row in &self.localities {
            publish_row(metrics, &self.cluster, row);
        }
        let is_gone = |key: &&Key| !self.localities.iter().any(|row| row.key == **key);
        for key in self.shown.iter().filter(is_gone) {
            let nothing = Row { key: key.clone(), weight_ppm: 0, load: Some(Load::default()) };
            publish_row(metrics, &self.cluster, &nothing);
        }
        self.shown = self.localities.iter().map(|row| row.key.clone()).collect();
    }
}

fn publish_row(metrics: &Metrics, cluster: &str, row: &Row) {
    let labels = [cluster, &row.key.0, &row.key.1];
    let gauges = metrics.of_locality;
    metrics.host.set(gauges.weight, &labels, row.weight_ppm);
    if let Some(load) = row.load {
        metrics.host.set(gauges.utilization, &labels, load.utilization_ppm);
        metrics.host.set(gauges.sample_age, &labels, load.sample_age_ms);
    }
}

/// The localities of all priorities. Hosts are looked at only if the policy goes by their reports; a
/// locality that has not said anything counts as silent for `silence_ms` then.
fn rows(view: &View, silence_ms: Option<u64>) -> Vec<Row> {
    let ages = silence_ms.map(|_| youngest_ms(view)).unwrap_or_default();
    let mut rows = Vec::new();
    for (index, priority) in (0..).zip(view.priorities()) {
        let source = if priority.panic { Source::All } else { Source::Healthy };
        let routes = priority.routes(source);
        let total: f64 = routes.localities.iter().map(|route| route.weight).sum();
        for route in &routes.localities {
            let weight = if total > 0.0 { route.weight / total } else { 0.0 };
            let load = silence_ms.map(|silence_ms| Load {
                utilization_ppm: millionths(route.utilization.unwrap_or_default()),
                sample_age_ms: ages.get(&(index, route.locality)).copied().unwrap_or(silence_ms),
            });
            let key = (index.to_string(), route.locality.to_string());
            rows.push(Row { key, weight_ppm: millionths(weight), load });
        }
    }
    rows
}

fn youngest_ms(view: &View) -> HashMap<(u32, &Locality), u64> {
    let mut ages = HashMap::new();
    for host in view.hosts() {
        let Some(load) = host.load else { continue };
        let age = u64::try_from(load.age.as_millis()).unwrap_or(u64::MAX);
        let key = (host.host.priority(), host.host.locality());
        ages.entry(key)
            .and_modify(|youngest: &mut u64| *youngest = age.min(*youngest))
            .or_insert(age);
    }
    ages
}

/// Gauges are whole numbers.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
fn millionths(part: f64) -> u64 {
    (part * 1e6).round() as u64
}
