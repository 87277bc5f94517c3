//! The control side of a cluster: everything that changes it.

mod build;
mod check;
mod control;
mod draft;
mod fleet;
mod handover;
mod hash_tables;
mod load;
mod load_aware;
mod localities;
mod model;
mod period;
mod refreshes;
mod runtime;
mod set;
mod settings;
mod slots;
mod streams;
mod update;
mod warmup;
mod weights;

pub use fleet::LocalCluster;
pub use load::HostLoad;
pub use runtime::{Runtime, RuntimeValue};
pub use streams::StreamTarget;
pub use update::{Applied, HostChange, Update};

use control::{Control, Seeds};
pub(crate) use control::{HashSummary, Summary};
pub(crate) use localities::RouterFigures;
use model::Model;

use crate::config::{Assignment, ClusterConfig};
use crate::error::Error;
use crate::host::{Address, HostData, Locality, Table};
use crate::orca::Report;
use crate::out_of_band::{StreamAction, StreamEnd, StreamHost};
use crate::policy::Clock;
use crate::published::Published;
use crate::reports::ExportedReports;
use crate::rng::entropy;
use crate::snapshot::Cell;
use crate::sync::{Arc, Mutex, MutexGuard, WatchedArc};

/// What a new cluster may be told besides its configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Where this proxy is: hosts of that locality come first among the localities.
    pub node_locality: Option<Locality>,
    /// The cluster that this proxy itself belongs to, for zone-aware routing.
    pub local_cluster: Option<LocalCluster>,
    /// The seed of all generators; from the operating system's entropy if `None`, so that two
    /// proxies never pick in lockstep.
    pub seed: Option<u64>,
    /// What the clock shows now, in nanoseconds since any fixed moment.
    pub now_ns: u64,
    /// Runtime values that hold from the start.
    pub runtime: Runtime,
}

/// A set of hosts to balance over.
///
/// Any thread may call any method. Calls that change something lock each other out; they never
/// make a [`Worker`](crate::Worker) wait, and no worker makes them wait. Create clusters after a fork: handles
/// that a child inherits are not supported.
///
/// When a cluster is dropped its workers go on with the last snapshot; dropping the last handle
/// frees the rest.
///
/// ```
/// use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
/// use plimsoll::{Cluster, HealthEvent, Options, Outcome, PickContext, Update};
///
/// let hosts = Assignment {
///     endpoints: vec![LocalityEndpoints {
///         endpoints: vec![Endpoint::new("10.0.0.1:80"), Endpoint::new("10.0.0.2:80")],
///         ..LocalityEndpoints::default()
///     }],
///     ..Assignment::default()
/// };
/// let cluster = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default())?;
/// let mut worker = cluster.worker()?;
///
/// cluster.apply(&Update::new().health("10.0.0.1:80", HealthEvent::Eject))?;
/// let pick = worker.pick(&PickContext::default()).unwrap();
/// assert_eq!(worker.host(pick).unwrap().address().as_str(), "10.0.0.2:80");
/// worker.done(pick, Outcome::Success).unwrap();
/// # Ok::<(), plimsoll::Error>(())
/// ```
#[derive(Debug)]
pub struct Cluster {
    pub(crate) shared: WatchedArc<Shared>,
}

/// What a cluster and its workers own together.
#[derive(Debug)]
pub(crate) struct Shared {
    control: Mutex<Control>,
    /// What `tick` was told last.
    pub(crate) clock: Arc<Clock>,
    pub(crate) cell: WatchedArc<Cell<Published>>,
    pub(crate) table: Table,
    as_local: LocalCluster,
}

impl Cluster {
    /// Opens a cluster with its first hosts.
    ///
    /// # Errors
    ///
    /// The first value of the configuration or of the assignment that is refused.
    pub fn open(
        config: ClusterConfig,
        assignment: &Assignment,
        options: Options,
    ) -> Result<Self, Error> {
        let table = Table::new();
        let clock = Arc::new(Clock::new(options.now_ns));
        let as_local = LocalCluster::new();
        let seeds = Seeds {
            model: Model::new(options.node_locality, options.now_ns),
            runtime: options.runtime,
            seed: options.seed.unwrap_or_else(entropy),
            clock: Arc::clone(&clock),
            local_cluster: options.local_cluster,
            as_local: as_local.clone(),
        };
        let update = Update::new().assign(assignment.clone());
        let (control, cell) = Control::open(config, &update, seeds, &table)?;
        let shared = Shared { control: Mutex::new(control), clock, cell, table, as_local };
        Ok(Self { shared: WatchedArc::new(shared) })
    }

    /// Applies a batch, all or nothing, and publishes at most one snapshot for it.
    ///
    /// # Errors
    ///
    /// What is wrong with the update; nothing has changed then.
    pub fn apply(&self, update: &Update) -> Result<Applied, Error> {
        self.change(|control, table| control.apply(update, table))
    }

    /// Replaces all hosts: [`apply`](Self::apply) with an assignment.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn assign(&self, assignment: &Assignment) -> Result<Applied, Error> {
        self.apply(&Update::new().assign(assignment.clone()))
    }

    /// Replaces the settings: [`apply`](Self::apply) with a configuration.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn reconfigure(&self, config: ClusterConfig) -> Result<Applied, Error> {
        self.apply(&Update::new().reconfigure(config))
    }

    /// Sets runtime values, or removes those that are `None`. In `behavior: native` they hold at
    /// once; in `behavior: envoy` from the next update on, as in Envoy, but for the aggression of
    /// slow start, which holds at once there too.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn set_runtime(&self, values: &[(&str, Option<RuntimeValue>)]) -> Result<Applied, Error> {
        self.change(|control, _| Ok(control.set_runtime(values)))
    }

    /// Does the periodic work: warms up hosts in slow start, and frees snapshots, slots and host
    /// data that nothing names any more. `now_ns` is the time in nanoseconds since the moment that [`Options::now_ns`] counts from;
    /// the cluster's clock never goes back. Call it every 100 ms or so, from any thread; late or
    /// bunched calls do no harm.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn tick(&self, now_ns: u64) -> Result<(), Error> {
        self.change(|control, _| {
            control.tick(now_ns);
            Ok(())
        })
    }

    /// Takes in a load report of a host that did not come with a response: of an out-of-band stream,
    /// or of another proxy. `now_ns` as for [`Worker::report`](crate::Worker::report). Locks.
    ///
    /// # Errors
    ///
    /// [`Error::ReportRejected`] says why it was not taken in; [`Error::UnknownHost`].
    pub fn report(&self, address: &str, report: &Report<'_>, now_ns: u64) -> Result<(), Error> {
        self.change(|control, _| control.report(address, report, now_ns))
    }

    /// What hosts have reported so far and how their weights follow it, for a cluster that takes this
    /// one's place: after a restart, or with another name. Locks.
    ///
    /// ```
    /// # use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints, Policy};
    /// # use plimsoll::{Cluster, Options};
    /// # let endpoints = vec![Endpoint::new("10.0.0.1:80"), Endpoint::new("10.0.0.2:80")];
    /// # let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
    /// # let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
    /// # let policy = Policy::ClientSideWeightedRoundRobin(Default::default());
    /// # let config = ClusterConfig { policy, ..ClusterConfig::new("api") };
    /// # let before = Cluster::open(config.clone(), &hosts, Options::default())?;
    /// let text = before.export_reports()?.to_string();
    /// // In the next process, which has the same hosts:
    /// let after = Cluster::open(config, &hosts, Options::default())?;
    /// let taken_over = after.import_reports(&text.parse()?)?;
    /// assert_eq!(taken_over, 0, "nobody has reported yet");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn export_reports(&self) -> Result<ExportedReports, Error> {
        Ok(self.lock()?.export_reports())
    }

    /// Takes over what another cluster's hosts have reported, by address, as if they had reported
    /// it here at that time; weights follow at once. A host that has reported to this cluster keeps
    /// that. Hosts and policies that this cluster does not have are passed over. Call it after the
    /// first [`tick`](Self::tick), or give the time in [`Options::now_ns`]: reports are that much
    /// older than now. Returns how many records it took. Locks.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn import_reports(&self, reports: &ExportedReports) -> Result<usize, Error> {
        self.change(|control, _| Ok(control.import_reports(reports)))
    }

    /// What is to be done about out-of-band streams of load reports by now: which to open, and which
    /// to close. There are none unless the policy wants them. The engine opens no sockets; the crate
    /// `plimsoll-orca-oob` drives these calls. See [`ReportStreams`](crate::ReportStreams) for the
    /// rules.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn poll_report_streams(&self, now_ns: u64) -> Result<Vec<StreamAction>, Error> {
        self.change(|control, _| Ok(control.poll_streams(now_ns)))
    }

    /// When [`poll_report_streams`](Self::poll_report_streams) has something to do next.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn next_report_stream_ns(&self) -> Result<Option<u64>, Error> {
        Ok(self.lock()?.next_stream_ns())
    }

    /// Where the stream of a host goes; `None` if the host is gone or the policy wants none.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn report_stream_target(&self, host: StreamHost) -> Result<Option<StreamTarget>, Error> {
        Ok(self.lock()?.stream_target(host))
    }

    /// Takes in a message of an out-of-band stream: an `OrcaLoadReport` in protobuf, or nothing. A
    /// stream with a message that is no report is closed at the next poll.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn report_stream_message(
        &self,
        host: StreamHost,
        message: &[u8],
        now_ns: u64,
    ) -> Result<(), Error> {
        self.change(|control, _| {
            control.stream_message(host, message, now_ns);
            Ok(())
        })
    }

    /// Takes note of an out-of-band stream that ended without being closed on request.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn report_stream_ended(
        &self,
        host: StreamHost,
        end: StreamEnd,
        now_ns: u64,
    ) -> Result<(), Error> {
        self.change(|control, _| {
            control.stream_ended(host, end, now_ns);
            Ok(())
        })
    }

    /// When the next [`tick`](Self::tick) has something to do, in its nanoseconds; `None` while
    /// nothing is periodic. Ticks may come earlier, later, or at any other time as well.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn next_tick_ns(&self) -> Result<Option<u64>, Error> {
        Ok(self.lock()?.next_tick_ns())
    }

    /// Attaches data to a host, once in the host's life. Picks give it back through
    /// [`HostRef::data`](crate::HostRef::data); see [`HostData`] for when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHost`] or [`Error::HasData`]; the data is dropped then.
    pub fn set_host_data(&self, address: &str, data: HostData) -> Result<(), Error> {
        // Refused data comes out of the lock before it is dropped.
        let refused = self.change(|control, _| {
            let slot = control.model.slot(address);
            let entry = slot.and_then(|slot| control.model.directory.get(slot));
            let address = || Address::from(address);
            Ok(match entry {
                None => Some((data, Error::UnknownHost { address: address() })),
                Some(entry) => {
                    let error = |data| (data, Error::HasData { address: address() });
                    entry.info.data.set(data).err().map(error)
                }
            })
        })?;
        refused.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Sets the active requests of hosts some of whose requests are counted elsewhere. Picks and
    /// their ends count on from there; what is said here never keeps a host that leaves.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHost`], or a load above [`MAX_LOAD`](crate::MAX_LOAD); no count has changed
    /// then.
    pub fn set_loads(&self, loads: &[(&str, HostLoad)]) -> Result<(), Error> {
        self.change(|control, table| {
            let slot_of = |&(address, load): &(&str, HostLoad)| {
                load.validate().map_err(|error| error.within(address))?;
                let slot = control.model.slot(address).map(|slot| (slot, load));
                slot.ok_or_else(|| Error::UnknownHost { address: address.into() })
            };
            let hosts = loads.iter().map(slot_of).collect::<Result<Vec<_>, _>>()?;
            for (slot, load) in hosts {
                table.set_load(slot, load.active, load.pending);
            }
            Ok(())
        })
    }

    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, Control>, Error> {
        self.shared.control.lock().map_err(|_| Error::Poisoned)
    }

    /// Runs `work` under the control lock, then frees what has become free. Host data is dropped
    /// after the lock, so that its destructors may call back.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&mut Control, &Table) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut control = self.lock()?;
        let table = &self.shared.table;
        let result = work(&mut control, table);
        let released = control.reclaim(table);
        drop(control);
        drop(released);
        result
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
