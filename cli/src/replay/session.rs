//! The clusters of one replay, by name.

use std::collections::HashMap;

use plimsoll::config::{ConfigError, Problem};
use plimsoll::{Cluster, Error};
use plimsoll_json::Part;
use serde_json::Value;

use super::cluster::ReplayCluster;
use super::hash;
use super::names::What;
use super::op::{Open, Operation, Show};
use super::reports::{Refused, Reported};

/// What a successful operation gives: the key of its result, and the value.
pub(crate) type Payload = (&'static str, Value);

/// The error for something that replays have and this version does not.
pub(crate) fn unsupported(field: &str, what: impl Into<String>) -> Error {
    ConfigError::new(field, Problem::Unsupported { what: what.into() }).into()
}

/// The error for a value that is well-formed and cannot be used.
pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Error {
    ConfigError::new(field, Problem::Invalid { message: message.into() }).into()
}

/// The error for a cluster that is not there.
fn not_open(field: &str, name: &str) -> Error {
    invalid(field, format!("no cluster {} is open", plimsoll_json::text(&name.into())))
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Session {
    clusters: HashMap<String, ReplayCluster>,
    /// The cluster opened last, the default of all operations.
    last: Option<String>,
}

impl Session {
    /// Runs one operation on the cluster of this name, or on the default one; `hash` needs none.
    ///
    /// # Errors
    ///
    /// Why the operation failed; it has had no effect then.
    pub(crate) fn execute(
        &mut self,
        name: Option<&str>,
        operation: Operation,
    ) -> Result<Payload, Refused> {
        self.clusters.values().try_for_each(ReplayCluster::follow)?;
        match operation {
            Operation::Open(open) => self.open(name, *open)?,
            Operation::Assign { load_assignment } => self.cluster(name)?.assign(load_assignment)?,
            Operation::Reconfigure { config } => self.cluster(name)?.reconfigure(config)?,
            Operation::Health { hosts } => self.cluster(name)?.health(hosts)?,
            Operation::Runtime { values } => self.cluster(name)?.runtime(&values)?,
            Operation::Advance { ms, late } => {
                return Ok(("now_ms", self.cluster(name)?.advance(ms.0, late)?.into()));
            }
            Operation::Report(report) => {
                if let Reported::Echo(report) = self.cluster(name)?.report(&report)? {
                    return Ok(("report", report));
                }
            }
            Operation::Load { hosts } => self.cluster(name)?.load(&hosts)?,
            Operation::Draws { values, worker } => self.cluster(name)?.draws(worker, &values)?,
            Operation::Pick(choice) => return Ok(("picks", self.cluster(name)?.pick(&choice)?)),
            Operation::Peek(choice) => return Ok(("peeks", self.cluster(name)?.peek(&choice)?)),
            Operation::Done { hosts, outcome } => self.cluster(name)?.done(&hosts, outcome)?,
            Operation::Tally(tally) => return Ok(("tally", self.cluster(name)?.tally(&tally)?)),
            Operation::Worker { worker, action } => self.cluster(name)?.worker(worker, action)?,
            Operation::Explain(choice) => {
                return Ok(("explain", self.cluster(name)?.explain(&choice)?));
            }
            Operation::Show(show) => return Ok(self::show(self.cluster(name)?.engine(), &show)?),
            Operation::Hash(hash) => return Ok(("hash", hash::of(hash)?)),
        }
        Ok(("ok", Value::Bool(true)))
    }

    /// A name that is open already is replaced; the configuration's name is the default.
    fn open(&mut self, name: Option<&str>, open: Open) -> Result<(), Error> {
        let local_cluster = open.local_cluster.as_deref().map(|name| {
            let missing = || not_open("local_cluster", name);
            let cluster = self.clusters.get(name).ok_or_else(missing)?;
            Ok::<_, Error>(cluster.engine().as_local_cluster())
        });
        let local_cluster = local_cluster.transpose()?;
        let (own_name, cluster) = ReplayCluster::open(open, local_cluster)?;
        let name = name.map_or(own_name, str::to_owned);
        self.clusters.insert(name.clone(), cluster);
        self.last = Some(name);
        Ok(())
    }

    fn cluster(&mut self, name: Option<&str>) -> Result<&mut ReplayCluster, Error> {
        let name = name.or(self.last.as_deref());
        let name = name.ok_or_else(|| invalid("cluster", "no cluster is open"))?;
        self.clusters.get_mut(name).ok_or_else(|| not_open("cluster", name))
    }
}

fn show(cluster: &Cluster, show: &Show) -> Result<Payload, Error> {
    let source = show.source.map(Into::into);
    let priority = show.priority.map(|priority| priority.0);
    let (key, part) = match show.what {
        What::Loads => ("loads", Part::Loads),
        What::Hosts => ("hosts", Part::Hosts),
        What::Localities => ("localities", Part::Localities),
        What::Table => ("table", Part::Table),
        What::Stats => ("stats", Part::Stats),
        What::Snapshot => ("snapshot", Part::Snapshot),
    };
    Ok((key, plimsoll_json::show(cluster, &plimsoll_json::Show { part, priority, source })?))
}
