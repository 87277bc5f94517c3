//! The worker side: a handle that picks hosts, wait-free.

use crate::cluster::{Cluster, Shared};
use crate::error::Error;
use crate::explain::{Explanation, Trace};
use crate::host::HostRef;
use crate::orca::Parser;
use crate::pick::{DoneError, MAX_RETRIES, Outcome, Pick, PickContext};
use crate::policy::{Candidate, Counter, NoHost, State, Tables, envoy, native};
use crate::published::Published;
use crate::reports::{ReportFailure, ReportRejected, ResponseLoad, counter};
use crate::snapshot::Reader;
use crate::sync::WatchedArc;

/// More peeks than this are never outstanding, whatever [`WorkerOptions::peek_capacity`] asks for.
pub const MAX_PEEKS: usize = 1 << 20;

/// How a worker is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerOptions {
    /// How many peeks may be outstanding, at most [`MAX_PEEKS`]; each costs 8 bytes. Default 64.
    pub peek_capacity: usize,
    /// Which generator and which starting point the worker gets; by default one more than the
    /// last worker's.
    pub number: Option<u64>,
    /// Numbers to use before the generator, from the first one on. For replays.
    pub draws: Vec<u64>,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self { peek_capacity: 64, number: None, draws: Vec::new() }
    }
}

impl Cluster {
    /// A handle to pick with, for one thread at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn worker(&self) -> Result<Worker, Error> {
        self.worker_with(WorkerOptions::default())
    }

    /// A handle with other than the default options.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] only.
    pub fn worker_with(&self, options: WorkerOptions) -> Result<Worker, Error> {
        let mut control = self.lock()?;
        let state = control.register(options.number, options.peek_capacity.min(MAX_PEEKS));
        let reader = control.publisher.reader();
        drop(control);
        Ok(Worker::new(WatchedArc::clone(&self.shared), reader, state, &options.draws))
    }
}

/// A handle to pick with. Each worker thread of a proxy has its own; it may move between threads,
/// and it may outlive the cluster.
///
/// Picks, peeks and ends of requests never allocate, lock, wait, or make a system call. Reading
/// the newest snapshot is one load and one compare. Three exceptions, all off the common path: the
/// first pick after [`quiesce`](Self::quiesce) repeats its attempt while publishes fall between
/// its two loads; in `behavior: envoy`, hosts of different weight or in slow start are scheduled,
/// and the scheduler is allocated at the first pick after an update, and room for its peeks, as is
/// room for a bounded load when there are more hosts than ever before; and dropping the last handle
/// of a cluster frees all of it.
///
/// ```
/// # use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
/// # use plimsoll::{Cluster, Options};
/// use plimsoll::{Outcome, PickContext};
///
/// # let endpoints = vec![Endpoint::new("10.0.0.1:80")];
/// # let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
/// # let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
/// # let cluster = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default())?;
/// let mut worker = cluster.worker()?;
/// match worker.pick(&PickContext::default()) {
///     Ok(pick) => {
///         // … send the request to `worker.host(pick)` …
///         worker.done(pick, Outcome::Success).unwrap();
///     }
///     Err(why) => println!("503: {why}"),
/// }
/// # Ok::<(), plimsoll::Error>(())
/// ```
#[derive(Debug)]
pub struct Worker {
    reader: Reader<Published>,
    state: State,
    shared: WatchedArc<Shared>,
    /// Of load reports.
    parser: Parser,
}

impl Worker {
    pub(crate) fn new(
        shared: WatchedArc<Shared>,
        reader: Reader<Published>,
        mut state: State,
        draws: &[u64],
    ) -> Self {
        state.draws.queue(draws);
        if let Some(snapshot) = reader.held() {
            snapshot.tables.adopt(&mut state, snapshot.identity);
        }
        Self { reader, state, shared, parser: Parser::new() }
    }

    /// Picks a host for one request. Unless the context says otherwise it counts as active until
    /// [`done`](Self::done).
    ///
    /// # Errors
    ///
    /// Why there is no host.
    #[inline]
    pub fn pick(&mut self, context: &PickContext) -> Result<Pick, NoHost> {
        let (snapshot, state) = self.advance();
        let uncounted = context.uncounted;
        // Not a `match`: that would become a jump through a table, which is two more places in
        // memory to wait for when the caches are cold. And a function for each kind of tables, so
        // that none of them saves registers that only another one needs.
        if let Tables::RoundRobin(tables) = &snapshot.tables {
            round_robin(tables, snapshot, state, uncounted)
        } else if let Tables::Random(tables) = &snapshot.tables {
            random(tables, snapshot, state, uncounted)
        } else {
            others(snapshot, state, context)
        }
    }

    /// The same for bindings to other languages. The frequent policies become part of the calling
    /// function, which is a frame of its own anyway; `context` is asked only for policies that read
    /// more of it than whether it is `uncounted`, in which it must agree; and what comes out goes
    /// to `end`, so that a pick is written once, in its last form.
    ///
    /// ```
    /// use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
    /// use plimsoll::{Cluster, Options, PickContext};
    ///
    /// let endpoints = vec![Endpoint::new("10.0.0.1:80")];
    /// let endpoints = vec![LocalityEndpoints { endpoints, ..LocalityEndpoints::default() }];
    /// let assignment = Assignment { endpoints, ..Assignment::default() };
    /// let cluster = Cluster::open(ClusterConfig::new("api"), &assignment, Options::default())?;
    /// let mut worker = cluster.worker()?;
    /// let slot = worker.pick_with(true, PickContext::uncounted, |pick| pick.map(|it| it.slot));
    /// assert_eq!(slot, Ok(0));
    /// # Ok::<(), plimsoll::Error>(())
    /// ```
    #[inline(always)]
    pub fn pick_with<T>(
        &mut self,
        uncounted: bool,
        context: impl FnOnce() -> PickContext,
        end: impl FnOnce(Result<Pick, NoHost>) -> T,
    ) -> T {
        let (snapshot, state) = self.advance();
        let finish = |chosen, state: &mut State| finish(chosen, snapshot, state, uncounted);
        if let Tables::RoundRobin(tables) = &snapshot.tables {
            tables.round_robin(state, &mut (), |chosen, state| end(finish(chosen, state)))
        } else if let Tables::Random(tables) = &snapshot.tables {
            tables.random(state, &mut (), |chosen, state| end(finish(chosen, state)))
        } else {
            end(others(snapshot, state, &context()))
        }
    }

    /// Picks a host that `accept` likes: up to `context.retries` more attempts, each a whole
    /// choice from the priority on; if all are refused, the last host all the same, as in Envoy.
    ///
    /// # Errors
    ///
    /// Why there is no host.
    pub fn pick_filtered(
        &mut self,
        context: &PickContext,
        mut accept: impl FnMut(Pick, HostRef<'_>) -> bool,
    ) -> Result<Pick, NoHost> {
        let (snapshot, state) = self.advance();
        state.pick_ns = context.now_ns;
        state.request = context.request();
        let accept = |candidate: Candidate| {
            let entry = snapshot.directory.get(candidate.host.slot);
            entry.is_none_or(|entry| accept(candidate.uncounted(), HostRef::new(entry)))
        };
        let retries = context.retries.min(MAX_RETRIES);
        let chosen = snapshot.tables.pick_filtered(state, retries, accept, &mut ());
        finish_of_any(chosen, snapshot, state, context.uncounted)
    }

    /// Picks hosts for several requests from one snapshot, and returns how many. Stops at the
    /// first request that finds none. There is no filter, so `context.retries` means nothing.
    ///
    /// # Errors
    ///
    /// Why there is no host, if the first request finds none.
    pub fn pick_batch(
        &mut self,
        context: &PickContext,
        picks: &mut [Pick],
    ) -> Result<usize, NoHost> {
        self.pick_batch_as(context, picks, |pick| pick)
    }

    /// The same for a caller that keeps picks in a form of its own, which `make` gives them: without
    /// a second walk over all of them.
    ///
    /// # Errors
    ///
    /// Why there is no host, if the first request finds none.
    #[inline]
    pub fn pick_batch_as<T>(
        &mut self,
        context: &PickContext,
        picks: &mut [T],
        make: impl Fn(Pick) -> T,
    ) -> Result<usize, NoHost> {
        let (snapshot, state) = self.advance();
        // A pick is written where it belongs, and not handed on: what was just written in parts
        // and is read as a whole has to wait.
        let uncounted = context.uncounted;
        let put = |place: &mut T, chosen, state: &mut State| {
            *place = make(finish(chosen, snapshot, state, uncounted)?);
            Ok(())
        };
        match &snapshot.tables {
            Tables::RoundRobin(tables) => fill(picks, |place| {
                tables.round_robin(state, &mut (), |chosen, state| put(place, chosen, state))
            }),
            Tables::Random(tables) => fill(picks, |place| {
                tables.random(state, &mut (), |chosen, state| put(place, chosen, state))
            }),
            Tables::LeastRequest(tables) => fill(picks, |place| {
                tables.pick(state, &mut (), |chosen, state| put(place, chosen, state))
            }),
            Tables::Envoy(tables) => {
                state.pick_ns = context.now_ns;
                fill(picks, |place| put(place, tables.pick(state, &mut ()), state))
            }
            Tables::Hashed(_) | Tables::EnvoyHashed(_) => fill(picks, |place| {
                *place = make(others(snapshot, state, context)?);
                Ok(())
            }),
        }
    }

    /// Looks ahead: the host of the next pick that was not peeked yet. The picks that follow give
    /// the peeked hosts first and in order, unless an update comes between. Never counted.
    ///
    /// `least_request` looks at loads, so that its picks come to the peeked hosts only as long as
    /// loads are what they were. In `behavior: envoy` it cannot be peeked at all, unless weights
    /// differ or hosts are in slow start.
    ///
    /// In `behavior: envoy`, `round_robin` keeps that promise as far as Envoy does: its lists of
    /// equal weights share one count of peeks, so that peeks over several priorities may come out
    /// in other places, and a weighted list keeps its peeks over updates of other priorities.
    ///
    /// # Errors
    ///
    /// Why there is no host; [`NoHost::PeekLimit`] once as many are outstanding as there are
    /// healthy hosts.
    pub fn peek(&mut self) -> Result<Pick, NoHost> {
        let (snapshot, state) = self.advance();
        state.pick_ns = 0;
        snapshot.tables.peek(state).map(Candidate::uncounted)
    }

    /// Ends a counted request. Any worker of the cluster may end any pick of it.
    ///
    /// The outcome is there for policies that learn from it. One does: client-side weighted round
    /// robin in `behavior: native` does not trust a host that has never reported its load and fails.
    /// A worker that is [quiescent](Self::quiesce) learns nothing.
    ///
    /// # Errors
    ///
    /// The caller's mistakes, see [`DoneError`]. Ending one request twice while others are active
    /// on the same host cannot be noticed and ends one of those.
    #[inline]
    pub fn done(&self, pick: Pick, outcome: Outcome) -> Result<(), DoneError> {
        if !pick.counted {
            return Err(DoneError::NotCounted);
        }
        if self.reader.held().is_some_and(|snapshot| snapshot.reports.is_some()) {
            self.learn(pick, outcome);
        }
        if !self.shared.table.end(pick.slot, pick.generation) {
            return Err(self.stale());
        }
        if pick.in_total {
            self.shared.table.end_in_total();
        }
        Ok(())
    }

    /// The caller's mistake, counted. Apart for the same reason as `learn`.
    #[cold]
    #[inline(never)]
    fn stale(&self) -> DoneError {
        self.state.count(Counter::DoneStale);
        DoneError::Stale
    }

    /// Lets a policy that wants to learn of it know how a request ended: before the end, after
    /// which the slot may be given to another host. Apart, so that `done` stays short enough to
    /// become part of its caller.
    #[cold]
    #[inline(never)]
    fn learn(&self, pick: Pick, outcome: Outcome) {
        let reports = self.reader.held().and_then(|snapshot| snapshot.reports.as_ref());
        if let Some(reports) = reports
            && self.shared.table.is_generation(pick.slot, pick.generation)
        {
            reports.outcome(pick.slot, outcome == Outcome::Success);
        }
    }

    /// Takes in what a response said of its host's load. Call it before [`done`](Self::done), or in
    /// any case before the worker's next pick if the pick was not counted.
    ///
    /// In `behavior: native` call it for each attempt. In `behavior: envoy` the first report of a
    /// request that can be read counts: do not call it for further attempts once it has not failed
    /// with [`ReportFailure::NoData`] or [`ReportFailure::Unreadable`].
    ///
    /// `now_ns` is the time on the scale of [`Cluster::tick`]; 0 for what the last tick was told.
    /// Never waits; allocates for JSON only, or while a report is larger than any before. A worker
    /// that is [quiescent](Self::quiesce) stays so.
    ///
    /// # Errors
    ///
    /// Why nothing was taken in.
    pub fn report(
        &mut self,
        pick: Pick,
        response: &ResponseLoad<'_>,
        now_ns: u64,
    ) -> Result<(), ReportFailure> {
        let was_quiescent = self.reader.held().is_none();
        if was_quiescent {
            self.advance();
        }
        let Self { reader, state, shared, parser } = self;
        let now_ns = if now_ns == 0 { shared.clock.now_ns() } else { now_ns };
        let reports = reader.held().and_then(|snapshot| snapshot.reports.as_ref());
        let outcome = match reports {
            _ if response.is_empty() => Err(ReportFailure::NoData),
            None => Err(ReportFailure::Rejected(ReportRejected::NotWanted)),
            Some(_) if !shared.table.is_generation(pick.slot, pick.generation) => {
                Err(ReportFailure::Rejected(ReportRejected::UnknownHost))
            }
            Some(reports) => reports.take_response(pick.slot, response, parser, now_ns),
        };
        if was_quiescent {
            reader.quiesce();
        }
        if let Some(counter) = counter(outcome) {
            state.count(counter);
        }
        outcome
    }

    /// The host of a pick, as the worker's present snapshot knows it; `None` if it has left, or
    /// if the worker is [quiescent](Self::quiesce).
    #[must_use]
    pub fn host(&self, pick: Pick) -> Option<HostRef<'_>> {
        let entry = self.reader.held()?.directory.get(pick.slot)?;
        (entry.info.generation == pick.generation).then(|| HostRef::new(entry))
    }

    /// Moves to the newest snapshot without a pick, so that an idle handle does not keep an old
    /// one. Under a storm of publishes it may stay on an older one.
    pub fn refresh(&mut self) {
        self.advance();
    }

    /// Lets go of the snapshot, so that an idle handle keeps nothing at all. The next pick takes
    /// the newest one again.
    pub fn quiesce(&mut self) {
        self.reader.quiesce();
    }

    /// The version of the snapshot that the handle keeps; `None` when quiescent.
    #[must_use]
    pub fn snapshot_version(&self) -> Option<u64> {
        self.reader.held().map(|snapshot| snapshot.version)
    }

    /// Queues numbers to be used before the generator. For replays; allocates.
    pub fn push_draws(&mut self, draws: &[u64]) {
        self.state.draws.queue(draws);
    }

    /// Why the next pick will go where it goes, decided by the pick's own code; with `draw`, as
    /// if that were the next random number. Changes no pick (but moves to the newest snapshot, as a
    /// pick would); allocates. `accept` and `context` are as for
    /// [`pick_filtered`](Self::pick_filtered).
    pub fn explain(
        &mut self,
        context: &PickContext,
        draw: Option<u64>,
        mut accept: impl FnMut(Pick, HostRef<'_>) -> bool,
    ) -> Explanation {
        let (snapshot, state) = self.advance();
        let mut state = state.detached();
        state.pick_ns = context.now_ns;
        state.request = context.request();
        if let Some(draw) = draw {
            state.draw_next(draw);
        }
        let mut trace = Trace::default();
        let retries = context.retries.min(MAX_RETRIES);
        let accept = |candidate: Candidate| {
            let entry = snapshot.directory.get(candidate.host.slot);
            entry.is_none_or(|entry| accept(candidate.uncounted(), HostRef::new(entry)))
        };
        let result = snapshot.tables.pick_filtered(&mut state, retries, accept, &mut trace);
        Explanation::new(snapshot, trace, result, state.now_ns())
    }

    /// The newest snapshot, and the state that goes with it.
    #[inline]
    pub(crate) fn advance(&mut self) -> (&Published, &mut State) {
        let (snapshot, moved) = self.reader.newest();
        if moved {
            adopt(snapshot, &mut self.state);
        }
        (snapshot, &mut self.state)
    }
}

/// Prepares the state for another snapshot. Out of the way of picks, which have none most of the time.
#[cold]
#[inline(never)]
fn adopt(snapshot: &Published, state: &mut State) {
    snapshot.tables.adopt(state, snapshot.identity);
}

/// Fills `picks` up to the first one that finds no host.
#[inline(always)]
fn fill<T>(
    picks: &mut [T],
    mut next: impl FnMut(&mut T) -> Result<(), NoHost>,
) -> Result<usize, NoHost> {
    for (index, place) in picks.iter_mut().enumerate() {
        match next(place) {
            Ok(()) => {}
            Err(why) if index == 0 => return Err(why),
            Err(_) => return Ok(index),
        }
    }
    Ok(picks.len())
}

/// One pick without a filter, by any policy.
#[inline(never)]
fn others(snapshot: &Published, state: &mut State, context: &PickContext) -> Result<Pick, NoHost> {
    let uncounted = context.uncounted;
    match &snapshot.tables {
        Tables::RoundRobin(tables) => round_robin(tables, snapshot, state, uncounted),
        Tables::Random(tables) => random(tables, snapshot, state, uncounted),
        Tables::LeastRequest(tables) => least_request(tables, snapshot, state, uncounted),
        Tables::Hashed(tables) => hashed(tables, snapshot, state, context),
        Tables::Envoy(tables) => as_envoy(tables, snapshot, state, context),
        Tables::EnvoyHashed(tables) => hashed_as_envoy(tables, snapshot, state, context),
    }
}

#[inline(never)]
fn round_robin(
    tables: &native::Tables<native::Walked>,
    snapshot: &Published,
    state: &mut State,
    uncounted: bool,
) -> Result<Pick, NoHost> {
    tables.round_robin(state, &mut (), |chosen, state| finish(chosen, snapshot, state, uncounted))
}

#[inline(never)]
fn random(
    tables: &native::Tables<native::Drawn>,
    snapshot: &Published,
    state: &mut State,
    uncounted: bool,
) -> Result<Pick, NoHost> {
    tables.random(state, &mut (), |chosen, state| finish(chosen, snapshot, state, uncounted))
}

#[inline(never)]
fn least_request(
    tables: &native::LeastRequest,
    snapshot: &Published,
    state: &mut State,
    uncounted: bool,
) -> Result<Pick, NoHost> {
    tables.pick(state, &mut (), |chosen, state| finish(chosen, snapshot, state, uncounted))
}

#[inline(never)]
fn hashed(
    tables: &native::Hashed,
    snapshot: &Published,
    state: &mut State,
    context: &PickContext,
) -> Result<Pick, NoHost> {
    // The hash goes on by itself: the whole would be read wider than it was just written.
    state.request.attempt = context.bounded_attempt();
    let chosen = tables.pick(context.hash, state, &mut ());
    if tables.is_balanced() {
        finish_of_any(chosen, snapshot, state, context.uncounted)
    } else {
        finish(chosen, snapshot, state, context.uncounted)
    }
}

#[inline(never)]
fn as_envoy(
    tables: &envoy::Tables,
    snapshot: &Published,
    state: &mut State,
    context: &PickContext,
) -> Result<Pick, NoHost> {
    state.pick_ns = context.now_ns;
    finish(tables.pick(state, &mut ()), snapshot, state, context.uncounted)
}

#[inline(never)]
fn hashed_as_envoy(
    tables: &envoy::Hashed,
    snapshot: &Published,
    state: &mut State,
    context: &PickContext,
) -> Result<Pick, NoHost> {
    state.request.attempt = context.bounded_attempt();
    let chosen = tables.pick(context.hash, state, &mut ());
    finish_of_any(chosen, snapshot, state, context.uncounted)
}

/// Counts what was chosen.
#[inline(always)]
fn finish(
    chosen: Result<Candidate, NoHost>,
    snapshot: &Published,
    state: &State,
    uncounted: bool,
) -> Result<Pick, NoHost> {
    match chosen {
        Ok(candidate) if uncounted => Ok(candidate.uncounted()),
        Ok(candidate) => {
            snapshot.cells.begin(candidate.host.slot);
            Ok(Pick { counted: true, ..candidate.uncounted() })
        }
        Err(why) => {
            state.count(Counter::NoneHealthy);
            Err(why)
        }
    }
}

/// The same for any policy: one that is bounded counts all requests together as well.
pub(crate) fn finish_of_any(
    chosen: Result<Candidate, NoHost>,
    snapshot: &Published,
    state: &State,
    uncounted: bool,
) -> Result<Pick, NoHost> {
    let pick = finish(chosen, snapshot, state, uncounted)?;
    let in_total = pick.counted && snapshot.tables.is_balanced();
    if in_total {
        snapshot.cells.begin_in_total();
    }
    Ok(Pick { in_total, ..pick })
}
