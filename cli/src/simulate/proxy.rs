//! One proxy: the engine itself, as a program would use it, on the proxy's own clock.

use std::fmt::Write as _;

use plimsoll::config::{Assignment, ClusterConfig};
use plimsoll::orca::{Headers, LoadReport};
use plimsoll::{
    Cluster, Error, HealthEvent, LocalCluster, Locality, LocalityRoute, NoHost, Options, Outcome,
    Pick, PickContext, ResponseLoad, Source, Update, Worker,
};

use super::agenda::Load;
use super::units::SECOND;

/// What a proxy's clock shows at the start: any time that is not 0, which has a meaning of its own.
const START: u64 = 1_000 * SECOND;

/// The control loop runs so often at least, to free what nobody uses any more.
const LONGEST_SLEEP: u64 = SECOND;

/// What a proxy is told when it starts, and when it starts again.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) config: ClusterConfig,
    pub(crate) node: Locality,
    pub(crate) local_cluster: Option<LocalCluster>,
    pub(crate) seed: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Proxy {
    cluster: Cluster,
    worker: Worker,
    setup: Setup,
    /// How far its clock is ahead of the simulation's, beyond `START`.
    ahead: u64,
    stalled_until: u64,
    /// How often it has been started.
    pub(crate) life: u64,
    /// Which of its planned ticks counts.
    pub(crate) plan: u64,
    /// The header of a response, kept for its memory.
    header: String,
}

/// How one locality's part of the traffic comes about, for one kind of hosts of one priority.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Route {
    pub(crate) priority: usize,
    pub(crate) source: &'static str,
    pub(crate) zone: usize,
    /// As the engine sees it, if the routing goes by it.
    pub(crate) utilization: Option<f64>,
    pub(crate) weight: f64,
    /// Its part of all weights.
    pub(crate) share: f64,
}

impl Proxy {
    /// A proxy that starts at this time.
    pub(crate) fn start(setup: Setup, now_ns: u64, assignment: &Assignment) -> Result<Self, Error> {
        let (cluster, worker) = setup.open(setup.seed, START + now_ns, assignment)?;
        let header = String::new();
        let (ahead, stalled_until, life, plan) = (0, 0, 0, 0);
        Ok(Self { cluster, worker, setup, ahead, stalled_until, life, plan, header })
    }

    fn clock(&self, now_ns: u64) -> u64 {
        START + self.ahead + now_ns
    }

    /// Starts it anew: it knows its configuration, and nothing of what it had learned.
    pub(crate) fn restart(&mut self, now_ns: u64, assignment: &Assignment) -> Result<(), Error> {
        self.life += 1;
        let seed = self.setup.seed.wrapping_add(self.life);
        (self.cluster, self.worker) = self.setup.open(seed, self.clock(now_ns), assignment)?;
        Ok(())
    }

    /// Replaces the worker.
    pub(crate) fn renew_worker(&mut self) -> Result<(), Error> {
        self.worker = self.cluster.worker()?;
        Ok(())
    }

    /// Chooses a host for a request.
    pub(crate) fn pick(&mut self, now_ns: u64) -> Result<Pick, NoHost> {
        let now_ns = self.clock(now_ns);
        self.worker.pick(&PickContext { now_ns, ..PickContext::default() })
    }

    /// Where a pick goes.
    pub(crate) fn address(&self, pick: Pick) -> Option<&str> {
        self.worker.host(pick).map(|host| host.address().as_str())
    }

    /// Takes in the load that a response brings, in a header as a host would send it.
    pub(crate) fn response(&mut self, pick: Pick, load: Load, now_ns: u64) {
        let Load { rps, utilization } = load;
        self.header.clear();
        // Writing to a string does not fail.
        let _ =
            write!(self.header, "TEXT rps_fractional={rps},application_utilization={utilization}");
        let headers = Headers { text: Some(self.header.as_bytes()), ..Headers::default() };
        let response = ResponseLoad { headers, ..ResponseLoad::default() };
        // A policy that does not go by reports says so; so does one that finds nothing in it.
        let _ = self.worker.report(pick, &response, START + self.ahead + now_ns);
    }

    /// Takes in a report that did not come with a response.
    pub(crate) fn report(&self, address: &str, load: Load, now_ns: u64) {
        let Load { rps, utilization } = load;
        let report = LoadReport {
            rps_fractional: rps,
            application_utilization: utilization,
            ..LoadReport::default()
        };
        // As above; and the host may be gone.
        let _ = self.cluster.report(address, &report.as_report(), self.clock(now_ns));
    }

    /// Ends a request.
    pub(crate) fn done(&self, pick: Pick, served: bool) {
        let outcome = if served { Outcome::Success } else { Outcome::Error };
        let ended = self.worker.done(pick, outcome);
        debug_assert!(ended.is_ok(), "{ended:?}");
    }

    /// Replaces all hosts.
    pub(crate) fn assign(&self, assignment: &Assignment) -> Result<(), Error> {
        self.cluster.assign(assignment).map(drop)
    }

    /// Takes hosts out of the balancing, or back into it.
    pub(crate) fn eject(&self, addresses: &[&str], ejected: bool) -> Result<(), Error> {
        let event = if ejected { HealthEvent::Eject } else { HealthEvent::Uneject };
        let add = |update: Update, address: &&str| update.health(*address, event);
        self.cluster.apply(&addresses.iter().fold(Update::new(), add)).map(drop)
    }

    /// Keeps the control loop from running.
    pub(crate) fn stall(&mut self, until_ns: u64) {
        self.stalled_until = self.stalled_until.max(until_ns);
    }

    /// Lets the clock leap.
    pub(crate) fn leap(&mut self, by_ns: u64) {
        self.ahead = self.ahead.saturating_add(by_ns);
    }

    /// Runs the control loop, unless it is stalled, and says when it runs next.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Result<u64, Error> {
        if now_ns < self.stalled_until {
            return Ok(self.stalled_until);
        }
        let clock = self.clock(now_ns);
        self.cluster.tick(clock)?;
        let due = self.cluster.next_tick_ns()?.unwrap_or(u64::MAX).max(clock + 1);
        Ok(now_ns + (due - clock).min(LONGEST_SLEEP))
    }

    /// The part of the traffic that the engine means to send to each zone now: `add` gets the zones
    /// of all hosts and their parts.
    pub(crate) fn shares(&self, mut add: impl FnMut(&str, f64)) {
        let view = self.cluster.view();
        view.hosts().iter().for_each(|host| add(&host.host.locality().zone, host.share));
    }

    /// How that comes about, wherever there is traffic; `zone_of` tells the index of a zone.
    pub(crate) fn routes(&self, zone_of: impl Fn(&str) -> Option<usize>) -> Vec<Route> {
        let view = self.cluster.view();
        let mut all = Vec::new();
        for (priority, figures) in view.priorities().enumerate() {
            let healthy = if figures.panic { Source::All } else { Source::Healthy };
            let loads =
                [(healthy, figures.healthy_load), (Source::Degraded, figures.degraded_load)];
            for (source, _) in loads.into_iter().filter(|(_, load)| *load > 0.0) {
                let routes = figures.routes(source);
                let total: f64 = routes.localities.iter().map(|route| route.weight).sum();
                let source = source.name();
                let route = |route: &LocalityRoute<'_>| {
                    let LocalityRoute { utilization, weight, .. } = *route;
                    let share = if total > 0.0 { weight / total } else { 0.0 };
                    let zone = zone_of(&route.locality.zone)?;
                    Some(Route { priority, source, zone, utilization, weight, share })
                };
                all.extend(routes.localities.iter().filter_map(route));
            }
        }
        all
    }
}

impl Setup {
    fn open(
        &self,
        seed: u64,
        now_ns: u64,
        assignment: &Assignment,
    ) -> Result<(Cluster, Worker), Error> {
        let options = Options {
            node_locality: Some(self.node.clone()),
            local_cluster: self.local_cluster.clone(),
            seed: Some(seed),
            now_ns,
            ..Options::default()
        };
        let cluster = Cluster::open(self.config.clone(), assignment, options)?;
        let worker = cluster.worker()?;
        Ok((cluster, worker))
    }
}
