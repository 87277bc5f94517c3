//! One cluster of a replay: its engine, clock and workers, and the operations that change it. The
//! operations that pick are in [`picks`](super::picks).

use std::collections::{BTreeMap, HashMap, VecDeque};

use plimsoll::config::{Behavior, ClusterConfig};
use plimsoll::{
    Cluster, Error, HealthEvent, HostLoad, LocalCluster, Options, Pick, Runtime, RuntimeValue,
    Update, Worker, WorkerOptions,
};
use plimsoll_envoy_config::{assignment_from_value, cluster_from_value};
use serde_json::Value;

use super::line::{Keyed, U64};
use super::names::{Action, Event};
use super::op::{Load, Loads, Object, Open};
use super::session::invalid;

/// More workers than this are refused: each has a place for [`PEEK_CAPACITY`] numbers.
const MAX_WORKERS: u64 = 1024;

/// So many that only the number of healthy hosts limits peeks, as in Envoy.
const PEEK_CAPACITY: usize = 65_536;

const NS_PER_MS: u64 = 1_000_000;

/// More ticks than this are not made by one operation, so that a line cannot run forever: nearly
/// three hours of the shortest period there is. What is left of the time is one tick.
const MAX_TICKS: usize = 100_000;

/// See the module.
#[derive(Debug)]
pub(crate) struct ReplayCluster {
    pub(super) cluster: Cluster,
    pub(super) behavior: Behavior,
    /// By index; `None` while closed.
    pub(super) workers: Vec<Option<Worker>>,
    /// Requests that were picked with `hold` and have not ended, oldest first, by address. A host
    /// that left keeps its own.
    pub(super) held: HashMap<String, VecDeque<Pick>>,
    now_ms: u64,
    /// It has a local cluster, which another operation may have changed.
    follows: bool,
}

impl ReplayCluster {
    /// Opens a cluster; also returns the name in its configuration.
    ///
    /// # Errors
    ///
    /// What is refused or not supported.
    pub(super) fn open(
        open: Open,
        local_cluster: Option<LocalCluster>,
    ) -> Result<(String, Self), Error> {
        if !(1..=MAX_WORKERS).contains(&open.workers.0) {
            return Err(invalid("workers", format!("value must be from 1 to {MAX_WORKERS}")));
        }
        let mut runtime = Runtime::default();
        for (key, value) in runtime_values("runtime", &open.runtime)? {
            runtime.set(key, value);
        }
        let now_ns = nanoseconds("now_ms", open.now_ms.0)?;
        let behavior = open.behavior.into();
        let file = cluster_from_value(&Value::Object(open.config))?;
        let config = ClusterConfig { behavior, ..file.config };
        let options = Options {
            node_locality: open.node.0.locality.map(|Keyed(place)| place.into()),
            local_cluster,
            seed: Some(open.seed.0),
            now_ns,
            runtime,
        };
        let name = config.name.clone();
        let follows = options.local_cluster.is_some();
        let cluster = Cluster::open(config, &file.assignment.unwrap_or_default(), options)?;
        let mut draws = numbers(&open.draws);
        let of_worker =
            |number| open_worker(&cluster, number, std::mem::take(&mut draws)).map(Some);
        let workers = (0..open.workers.0).map(of_worker).collect::<Result<_, _>>()?;
        let held = HashMap::new();
        Ok((name, Self { cluster, behavior, workers, held, now_ms: open.now_ms.0, follows }))
    }

    /// The engine's cluster.
    pub(super) fn engine(&self) -> &Cluster {
        &self.cluster
    }

    /// Follows its local cluster at once, as Envoy does.
    pub(super) fn follow(&self) -> Result<(), Error> {
        if self.follows {
            self.cluster.tick(nanoseconds("now_ms", self.now_ms)?)?;
        }
        Ok(())
    }

    /// Replaces all hosts.
    pub(super) fn assign(&self, load_assignment: Object) -> Result<(), Error> {
        let assignment = assignment_from_value(&Value::Object(load_assignment))?;
        self.cluster.assign(&assignment).map(drop)
    }

    /// Replaces the settings; the behavior stays.
    pub(super) fn reconfigure(&self, config: Object) -> Result<(), Error> {
        let has = |key| config.get(key).is_some_and(|value| !value.is_null());
        if has("load_assignment") || has("loadAssignment") {
            let message = "reconfigure changes settings only; assign changes hosts";
            return Err(invalid("load_assignment", message));
        }
        let file = cluster_from_value(&Value::Object(config))?;
        let config = ClusterConfig { behavior: self.behavior, ..file.config };
        self.cluster.reconfigure(config).map(drop)
    }

    /// Reports about the health of several hosts in one batch.
    pub(super) fn health(&self, hosts: BTreeMap<String, Event>) -> Result<(), Error> {
        let add = |update: Update, (host, event)| update.health(host, HealthEvent::from(event));
        self.cluster.apply(&hosts.into_iter().fold(Update::new(), add)).map(drop)
    }

    /// Sets and removes runtime values.
    pub(super) fn runtime(&self, values: &Object) -> Result<(), Error> {
        self.cluster.set_runtime(&runtime_values("values", values)?).map(drop)
    }

    /// Lets time pass, and returns the new time. Ticks come when there is something to do, and at
    /// the end; if they are late, at the end only.
    pub(super) fn advance(&mut self, ms: u64, late: bool) -> Result<u64, Error> {
        // Saturated, a sum is too many nanoseconds anyway.
        let now_ms = self.now_ms.saturating_add(ms);
        let end_ns = nanoseconds("ms", now_ms)?;
        for _ in 0..MAX_TICKS {
            match self.cluster.next_tick_ns()? {
                Some(due_ns) if due_ns < end_ns && !late => self.cluster.tick(due_ns)?,
                _ => break,
            }
        }
        self.cluster.tick(end_ns)?;
        self.now_ms = now_ms;
        Ok(now_ms)
    }

    /// Replaces counts of requests.
    pub(super) fn load(&self, hosts: &BTreeMap<String, Load>) -> Result<(), Error> {
        // What does not fit is above the engine's own limit, which it names.
        let count = |count: U64| u32::try_from(count.0).unwrap_or(u32::MAX);
        let load = |load: &Load| match load {
            Load::Both(Keyed(Loads { active, pending })) => {
                HostLoad { active: count(*active), pending: pending.map(count) }
            }
            Load::Active(active) => HostLoad::active(count(*active)),
        };
        let loads = hosts.iter().map(|(host, given)| (host.as_str(), load(given)));
        self.cluster.set_loads(&loads.collect::<Vec<_>>())
    }

    /// Queues random numbers for a worker.
    pub(super) fn draws(&mut self, worker: U64, values: &[U64]) -> Result<(), Error> {
        let worker = open_worker_of(&mut self.workers, worker)?;
        worker.push_draws(&numbers(values));
        Ok(())
    }

    /// Closes, opens, refreshes or quiesces a worker.
    pub(super) fn worker(&mut self, worker: U64, action: Action) -> Result<(), Error> {
        match action {
            Action::Refresh => open_worker_of(&mut self.workers, worker)?.refresh(),
            Action::Quiesce => open_worker_of(&mut self.workers, worker)?.quiesce(),
            Action::Close => {
                open_worker_of(&mut self.workers, worker)?;
                *place_of(&mut self.workers, worker)? = None;
            }
            Action::Open => {
                let place = place_of(&mut self.workers, worker)?;
                if place.is_some() {
                    return Err(invalid("worker", format!("worker {} is open", worker.0)));
                }
                *place = Some(open_worker(&self.cluster, worker.0, Vec::new())?);
            }
        }
        Ok(())
    }

    /// Refuses hosts that the cluster does not have.
    pub(super) fn check_hosts(&self, hosts: &[String]) -> Result<(), Error> {
        if hosts.is_empty() {
            return Ok(());
        }
        let view = self.cluster.view();
        let known = view.hosts();
        let is_known = |host: &str| known.iter().any(|known| known.host.address().as_str() == host);
        match hosts.iter().find(|host| !is_known(host)) {
            Some(host) => Err(Error::UnknownHost { address: host.as_str().into() }),
            None => Ok(()),
        }
    }
}

/// A worker that is open.
pub(super) fn open_worker_of(
    workers: &mut [Option<Worker>],
    worker: U64,
) -> Result<&mut Worker, Error> {
    let closed = || invalid("worker", format!("worker {} is closed", worker.0));
    place_of(workers, worker)?.as_mut().ok_or_else(closed)
}

/// A worker's place, open or not.
fn place_of(workers: &mut [Option<Worker>], worker: U64) -> Result<&mut Option<Worker>, Error> {
    let count = workers.len();
    let missing = || invalid("worker", format!("there is no worker {} of {count}", worker.0));
    let index = usize::try_from(worker.0).map_err(|_| missing())?;
    workers.get_mut(index).ok_or_else(missing)
}

fn open_worker(cluster: &Cluster, number: u64, draws: Vec<u64>) -> Result<Worker, Error> {
    let number = Some(number);
    cluster.worker_with(WorkerOptions { peek_capacity: PEEK_CAPACITY, number, draws })
}

fn numbers(values: &[U64]) -> Vec<u64> {
    values.iter().map(|value| value.0).collect()
}

fn nanoseconds(field: &str, ms: u64) -> Result<u64, Error> {
    let too_late = || invalid(field, "the time does not fit into 64 bits of nanoseconds");
    ms.checked_mul(NS_PER_MS).ok_or_else(too_late)
}

/// Runtime values are numbers, or true or false; `null` removes one.
fn runtime_values<'a>(
    field: &str,
    values: &'a Object,
) -> Result<Vec<(&'a str, Option<RuntimeValue>)>, Error> {
    let typed = |(key, value): (&'a String, &Value)| match value {
        Value::Null => Ok((key.as_str(), None)),
        Value::Bool(value) => Ok((key.as_str(), Some(RuntimeValue::from(*value)))),
        value => match (U64::try_from(value.clone()), value.as_f64()) {
            (Ok(number), _) => Ok((key.as_str(), Some(RuntimeValue::from(number.0)))),
            (_, Some(number)) => Ok((key.as_str(), Some(RuntimeValue::from(number)))),
            (Err(message), None) => Err(invalid(format!("{field}.{key}"), message)),
        },
    };
    values.iter().map(typed).collect()
}
