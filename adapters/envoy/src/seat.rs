//! What one thread has of an engine: a worker to pick with, and the way from picked hosts to Envoy's
//! numbers. Filters keep it as long as they have requests of it, also when its instance is gone.

use std::sync::Arc;

use plimsoll::orca::Headers;
use plimsoll::{
    NoHost, Outcome, Pick, PickContext, ReportFailure, ResponseLoad, Worker, WorkerOptions,
};
use plimsoll_envoy_config::parse_load_report;

use crate::clock::now_ns;
use crate::counts::Counts;
use crate::engine::{Engine, Wants};
use crate::host::{LbHost, Request};
use crate::log;
use crate::metrics::Metrics;
use crate::view::View;

/// So many more hosts are tried while this thread cannot answer with the picked one.
const SUBSTITUTES: u32 = 8;
/// After so many picks it is clear that no request goes through the filter.
const UNFILTERED: u64 = 1000;

/// See the module.
#[derive(Debug)]
pub(crate) struct Seat {
    engine: Arc<Engine>,
    /// Made with the first pick on the main thread, which mostly has none.
    worker: Option<Worker>,
    /// `None` until somebody asks, on the main thread.
    view: Option<View>,
    /// Which healthy host is next, where the engine's pick cannot be had.
    turn: u64,
    counts: Arc<Counts>,
    /// `None` once the instance is gone, and with it perhaps the configuration.
    metrics: Option<Arc<Metrics>>,
}

/// The answer to Envoy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) priority: u32,
    /// Among the healthy hosts of the priority.
    pub(crate) index: u32,
    /// The engine's pick, if this is it.
    pub(crate) pick: Option<Pick>,
}

impl Seat {
    pub(crate) fn new(engine: Arc<Engine>, metrics: Arc<Metrics>) -> Self {
        let counts = Arc::new(Counts::default());
        engine.count_for(Arc::clone(&counts));
        Self { engine, worker: None, view: None, turn: 0, counts, metrics: Some(metrics) }
    }

    /// The instance goes.
    pub(crate) fn close(&mut self) {
        self.metrics = None;
    }

    /// Hands metrics to Envoy once a second.
    pub(crate) fn publish(&self) {
        if self.engine.figures.are_fresh()
            && let Some(metrics) = &self.metrics
        {
            self.engine.figures.publish(metrics);
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Gets ready to pick, with a worker and a view that follow what Envoy shows.
    pub(crate) fn prepare(&mut self, host: &impl LbHost) {
        self.view = Some(View::read(host));
        if let Some(worker) = self.worker() {
            worker.refresh();
        }
    }

    /// Takes note of hosts that changed, if it is prepared.
    pub(crate) fn update(&mut self, host: &impl LbHost) {
        if self.view.is_some() {
            self.prepare(host);
        }
    }

    /// Fails when the engine is poisoned; healthy hosts then take turns.
    fn worker(&mut self) -> Option<&mut Worker> {
        if self.worker.is_none() {
            self.worker = self.engine.cluster.worker_with(WorkerOptions::default()).ok();
        }
        self.worker.as_mut()
    }

    /// Chooses a host for a request.
    pub(crate) fn choose(&mut self, host: &impl LbHost, request: &impl Request) -> Option<Choice> {
        self.counts.picks.count();
        if self.view.is_none() {
            self.prepare(host);
        }
        let choice = self.by_policy(request).or_else(|instead| self.substitute(instead).ok_or(()));
        let choice = choice.ok().filter(|choice| self.is_there(choice, host));
        if choice.is_none() {
            self.counts.no_host.count();
        }
        if self.counts.picks.get() == UNFILTERED {
            self.check_filter();
        }
        choice
    }

    /// The engine's pick; otherwise where to take another host from, if any may be taken.
    fn by_policy(&mut self, request: &impl Request) -> Result<Choice, Option<Instead>> {
        let wants = self.engine.wants;
        let retries = request.retries();
        let hash = if wants.hash { request.hash() } else { None };
        let instead = Instead { priority: 0, hash };
        let context = context(wants, hash, retries.saturating_add(SUBSTITUTES));
        let (Some(worker), Some(view)) = (&mut self.worker, &mut self.view) else {
            return Err(Some(instead));
        };
        let mut refused = 0;
        let picked = worker.pick_filtered(&context, |pick, host| {
            let Some(spot) = view.spot(pick, host) else { return false };
            let is_refused = refused < retries && request.refuses(spot.priority, spot.index);
            refused += u32::from(is_refused);
            spot.healthy.is_some() && !is_refused
        });
        let pick = match picked {
            Ok(pick) => pick,
            // Asked for by `fail_traffic_on_panic`.
            Err(NoHost::Panic) => return Err(None),
            Err(_) => return Err(Some(instead)),
        };
        let spot = worker.host(pick).and_then(|host| view.spot(pick, host));
        if let Some((spot, index)) = spot.and_then(|spot| Some((spot, spot.healthy?))) {
            return Ok(Choice { priority: spot.priority, index, pick: Some(pick) });
        }
        self.end(pick, Outcome::Success);
        Err(Some(Instead { priority: pick.priority, ..instead }))
    }

    /// A healthy host where the engine's cannot be had.
    fn substitute(&mut self, instead: Option<Instead>) -> Option<Choice> {
        let Instead { priority, hash } = instead?;
        self.turn += 1;
        let (priority, index) =
            self.view.as_ref()?.any_healthy(priority, hash.unwrap_or(self.turn))?;
        self.counts.substituted.count();
        Some(Choice { priority, index, pick: None })
    }

    /// Whether Envoy's list is as long as it was when it told us, which it is; it would warn.
    fn is_there(&mut self, choice: &Choice, host: &impl LbHost) -> bool {
        let is_there = choice.index < host.healthy_hosts(choice.priority);
        if let Some(pick) = choice.pick.filter(|_| !is_there) {
            self.end(pick, Outcome::Success);
        }
        is_there
    }

    /// Picks a host for the next request, whatever its health, and names it by its address; `None`
    /// if that is for [`choose`](Self::choose) to do: while healthy hosts are all that is wanted, and
    /// where the hash of the request decides, which a filter does not know.
    pub(crate) fn overflow(&mut self, name: impl FnOnce(&str) -> bool) -> Option<Pick> {
        let wants = self.engine.wants;
        if !self.engine.overflows() || wants.hash {
            return None;
        }
        let (worker, view) = (self.worker.as_mut()?, self.view.as_mut()?);
        let pick = worker.pick(&context(wants, None, 0)).ok()?;
        let host = worker.host(pick).filter(|host| view.spot(pick, *host).is_some());
        if !host.is_some_and(|host| name(host.address().as_str())) {
            self.end(pick, Outcome::Success);
            return None;
        }
        self.counts.overflowed.count();
        Some(pick)
    }

    /// Takes in what a response says of its host's load: of the picked one if that is the one at
    /// `address`, else of that one.
    pub(crate) fn report(
        &mut self,
        pick: Option<Pick>,
        address: &str,
        headers: Headers<'_>,
    ) -> Result<(), ReportFailure> {
        let Some(worker) = self.worker() else { return Err(ReportFailure::NoData) };
        let is_at =
            |pick: &Pick| worker.host(*pick).is_some_and(|host| host.address().as_str() == address);
        let pick = pick.filter(is_at);
        let pick =
            pick.or_else(|| worker.pick_override(&PickContext::uncounted(), [address], true).ok());
        // A host that is gone, or not there yet.
        let Some(pick) = pick else { return Err(ReportFailure::NoData) };
        let load = ResponseLoad { headers, json: Some(&parse_load_report), ..Default::default() };
        worker.report(pick, &load, now_ns())
    }

    /// Whether a request went to another of the hosts, this one, and not to the picked one.
    pub(crate) fn went_elsewhere(&self, pick: Pick, address: &str) -> bool {
        let is_known = self.view.as_ref().is_some_and(|view| view.knows(address));
        let host = self.worker.as_ref().and_then(|worker| worker.host(pick));
        is_known && host.is_none_or(|host| host.address().as_str() != address)
    }

    /// Ends a request that was counted, or that never began.
    pub(crate) fn end(&mut self, pick: Pick, outcome: Outcome) {
        if pick.counted
            && let Some(worker) = &self.worker
        {
            // It was counted once and ends once.
            let _ = worker.done(pick, outcome);
        }
    }

    /// Takes note that a picked request goes through the filter.
    pub(crate) fn filters(&self) {
        self.counts.filtered.count();
    }

    /// Whether requests go through the filter.
    pub(crate) fn is_filtered(&self) -> bool {
        self.counts.filtered.get() > 0
    }

    fn check_filter(&self) {
        let wants = self.engine.wants;
        if (wants.reports || wants.ends) && !self.is_filtered() {
            log::warn(&format!(
                "cluster {} goes by what requests tell, and none of {UNFILTERED} went through the \
                 filter \"orca\": is it among the http_filters of the cluster's HttpProtocolOptions?",
                self.engine.name()
            ));
        }
    }
}

/// Where to take a host from, in place of the engine's.
#[derive(Debug, Clone, Copy)]
struct Instead {
    priority: u32,
    hash: Option<u64>,
}

/// What the engine is told of a request.
fn context(wants: Wants, hash: Option<u64>, retries: u32) -> PickContext {
    let now_ns = if wants.time { now_ns() } else { 0 };
    PickContext { retries, uncounted: !wants.ends, now_ns, hash, attempt: 0 }
}
