//! What the control lock protects: the model, and the way from it to the next snapshot.

use std::collections::HashMap;
use std::mem::discriminant;

use super::build;
use super::check::check;
use super::draft::Draft;
use super::fleet::LocalCluster;
use super::hash_tables::{HashFigures, HashTables};
use super::journal::Journal;
use super::load_aware::LoadAwareFigures;
use super::localities::{Router, RouterFigures};
use super::model::Model;
use super::refreshes::Refreshes;
use super::runtime::{NAMED_METRICS_FIRST, Runtime, RuntimeValue};
use super::settings;
use super::streams::{StreamTarget, Streams, target};
use super::update::{Applied, Update};
use super::weights::{PassFigures, ReportedWeights};
use crate::config::{Behavior, ClusterConfig, LocalityRouting, Policy};
use crate::error::Error;
use crate::host::{Address, HealthEvent, HostData, Table};
use crate::log::{LogSink, Note};
use crate::orca::Report;
use crate::out_of_band::{StreamAction, StreamEnd, StreamHost, StreamStats};
use crate::policy::{Clock, Counter, Counts, Identity, Method, Settings, State, WorkerShared};
use crate::priority::{Loads, Tally};
use crate::published::Published;
use crate::records::Origin;
use crate::reports::{ReportFailure, ReportRejected, Reports, counter};
use crate::snapshot::{Cell, Publisher};
use crate::sync::{Arc, WatchedArc};

/// See the module.
#[derive(Debug)]
pub(crate) struct Control {
    pub(super) model: Model,
    pub(crate) publisher: Publisher<Published>,
    pub(super) runtime: Runtime,
    figures: Figures,
    workers: Vec<Arc<WorkerShared>>,
    clock: Arc<Clock>,
    config: Arc<ClusterConfig>,
    /// What the policy goes by.
    settings: Settings,
    /// The weights that follow from reports, if the policy goes by them.
    pub(super) weights: Option<ReportedWeights>,
    /// Where reports go, if anybody goes by them.
    pub(super) reports: Option<Arc<Reports>>,
    streams: Streams,
    router: Router,
    /// The tables of policies that go by hashes.
    hash_tables: HashTables,
    refreshes: Refreshes,
    /// What other clusters see of this one.
    as_local: LocalCluster,
    loads: Loads,
    identity: Identity,
    version: u64,
    seed: u64,
    next_worker: u64,
    /// What is to be said, if anybody listens.
    journal: Option<Journal>,
}

/// What the control side counts.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) published: u64,
    pub(crate) schedulers_built: u64,
    pub(crate) membership_change: u64,
    pub(crate) update_no_rebuild: u64,
    /// What workers counted that are gone, and what was counted without one.
    counts: Counts,
}

/// Everything that statistics show.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) figures: Figures,
    pub(crate) tally: Tally,
    pub(crate) counts: Counts,
    pub(crate) weights: Option<PassFigures>,
    pub(crate) streams: StreamStats,
    pub(crate) router: RouterFigures,
    pub(crate) load_aware: Option<LoadAwareFigures>,
    pub(crate) hashed: Option<HashSummary>,
    pub(crate) duplicates: u64,
    pub(crate) max_host_weight: u32,
    pub(crate) departed: usize,
    pub(crate) workers: usize,
}

/// What statistics show of a policy that goes by hashes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HashSummary {
    pub(crate) figures: HashFigures,
    /// It is Maglev, not a ring.
    pub(crate) is_maglev: bool,
    /// Tables as Envoy would have built them, in `behavior: envoy` only.
    pub(crate) built_as_envoy: Option<u64>,
}

/// What a new cluster is made of.
pub(super) struct Seeds {
    pub(super) model: Model,
    pub(super) runtime: Runtime,
    pub(super) seed: u64,
    pub(super) clock: Arc<Clock>,
    pub(super) local_cluster: Option<LocalCluster>,
    pub(super) as_local: LocalCluster,
    pub(super) log: Option<LogSink>,
}

impl Control {
    /// The control side of a new cluster, with its first snapshot published.
    pub(super) fn open(
        config: ClusterConfig,
        update: &Update,
        seeds: Seeds,
        table: &Table,
    ) -> Result<(Self, WatchedArc<Cell<Published>>), Error> {
        let Seeds { mut model, runtime, seed, clock, local_cluster, as_local, log } = seeds;
        config.validate()?;
        check(update, &model, &config)?;
        let config = Arc::new(config);
        change_hosts(&mut model, update, &config, table);
        let settings = settings::resolve(&config.policy, &runtime);
        let mut weights =
            ReportedWeights::for_policy(&config, &runtime, None, (model.now_ns, seed));
        if let Some(weights) = &mut weights {
            weights.pass(&mut model, &runtime);
        }
        let mut router = Router::new(local_cluster);
        let named_first = runtime.is_on(NAMED_METRICS_FIRST, true);
        router.configure(&config, named_first, (model.now_ns, seed));
        let reports = reports(&config, weights.as_ref(), &router);
        let mut draft = Draft {
            model: &mut model,
            config: &config,
            runtime: &runtime,
            settings: &settings,
            weights: weights.as_ref(),
            reports: reports.as_ref(),
        };
        let mut figures = Figures::default();
        let built = draft.rebuild(&mut router, &mut figures.membership_change);
        figures.schedulers_built += schedulers(&settings, built);
        as_local.show(draft.model);
        figures.published = 1;
        let loads = draft.loads(&Loads::default());
        let identity = Identity { instance: 1, revision: 1, seeded: is_seeded(&config) };
        draft.model.visible = false;
        let mut streams = Streams::new(&config, seed);
        streams.follow(draft.model, &config);
        let mut refreshes = Refreshes::default();
        refreshes.make_policy(&runtime, draft.model.priorities.len());
        refreshes.end_first_batch(draft.model.priorities.len());
        let mut hash_tables = HashTables::new(&config);
        let first = draft.contents(&loads, identity, 1, &mut hash_tables);
        let (cell, publisher) = Cell::with_publisher(Box::new(first));
        let mut control = Self {
            model,
            publisher,
            runtime,
            figures,
            workers: Vec::new(),
            clock,
            config,
            settings,
            weights,
            reports,
            streams,
            router,
            hash_tables,
            refreshes,
            as_local,
            loads,
            identity,
            version: 1,
            seed,
            next_worker: 0,
            journal: None,
        };
        control.journal = log.map(|sink| Journal::open(sink, &control));
        Ok((control, cell))
    }

    /// Applies a batch, all or nothing.
    pub(super) fn apply(&mut self, update: &Update, table: &Table) -> Result<Applied, Error> {
        let config = match &update.config {
            Some(config) if *config != *self.config => Arc::new(config.clone()),
            _ => Arc::clone(&self.config),
        };
        check(update, &self.model, &config)?;
        let before = (self.model.priorities.len(), self.model.health_changes);
        change_hosts(&mut self.model, update, &config, table);
        self.count_refreshes(update, before);
        if update.assignment.is_some() {
            if let Some(weights) = &self.weights {
                weights.note_assignment(&mut self.model);
            }
            let changed = self.model.priorities.iter().any(|set| set.updated);
            self.figures.update_no_rebuild += u64::from(!changed);
        }
        if !Arc::ptr_eq(&config, &self.config) {
            self.reconfigure(config);
        }
        Ok(self.publish())
    }

    /// Counts the tables that Envoy would build for this update; `before` has the priorities and the
    /// health changes before it.
    fn count_refreshes(&mut self, update: &Update, before: (usize, u64)) {
        let Self { model, refreshes, .. } = self;
        let priorities = model.priorities.len();
        if update.assignment.is_some() || !update.upserts.is_empty() || !update.removals.is_empty()
        {
            let sets = model.priorities.iter().enumerate();
            let updated: Vec<usize> =
                sets.filter(|(_, set)| set.updated).map(|(index, _)| index).collect();
            refreshes.take_batch(&updated, before.0, priorities);
        }
        refreshes.take_health(model.health_changes - before.1, priorities);
    }

    /// Takes over other settings. Loads start afresh; positions only if they mean something else.
    fn reconfigure(&mut self, config: Arc<ClusterConfig>) {
        let before = &self.config;
        let is_same_kind = discriminant(&config.policy) == discriminant(&before.policy)
            && discriminant(&config.locality_routing) == discriminant(&before.locality_routing);
        if config.behavior != self.config.behavior || !is_same_kind {
            self.identity.instance += 1;
            self.identity.seeded = is_seeded(&config);
        }
        if config.policy.slow_start() != self.config.policy.slow_start() {
            // In Envoy a new policy counts as a host that has just come up.
            self.model.latest_host_added_ns = self.model.now_ns;
        }
        if self.config.active_health_checks && !config.active_health_checks {
            self.model.forget_health_checks();
        }
        self.config = config;
        self.hash_tables.configure(&self.config);
        self.refreshes.make_policy(&self.runtime, self.model.priorities.len());
        self.weights = ReportedWeights::for_policy(
            &self.config,
            &self.runtime,
            self.weights.as_ref(),
            (self.model.now_ns, self.seed),
        );
        let named_first = self.runtime.is_on(NAMED_METRICS_FIRST, true);
        self.router.configure(&self.config, named_first, (self.model.now_ns, self.seed));
        self.reports = reports(&self.config, self.weights.as_ref(), &self.router);
        self.streams.follow(&self.model, &self.config);
        self.loads = Loads::default();
        build::invalidate(&mut self.model);
        self.model.visible = true;
    }

    /// Takes runtime values in. `behavior: native` follows at once, Envoy with the next update.
    pub(super) fn set_runtime(&mut self, values: &[(&str, Option<RuntimeValue>)]) -> Applied {
        values.iter().for_each(|(key, value)| self.runtime.set(key, *value));
        self.publish()
    }

    /// Publishes a snapshot if it would differ from the one before.
    pub(super) fn publish(&mut self) -> Applied {
        let updated = self.model.priorities.iter().any(|set| set.updated);
        self.resolve_settings(updated);
        self.router.follow();
        let Self { model, config, runtime, figures, settings, weights, streams, router, .. } = self;
        let reports = self.reports.as_ref();
        if model.priorities.iter().any(|set| set.membership_changed) {
            streams.follow(model, config);
        }
        if let Some(weights) = weights
            && updated
        {
            // New hosts want a weight, and Envoy takes all of them over anew.
            weights.pass(model, runtime);
        }
        let weights = weights.as_ref();
        let mut draft = Draft { model, config, runtime, settings, weights, reports };
        let built = draft.rebuild(router, &mut figures.membership_change);
        self.as_local.show(draft.model);
        figures.schedulers_built += schedulers(draft.settings, built);
        let recalculate = config.behavior == Behavior::Native || updated;
        let loads = if recalculate { draft.loads(&self.loads) } else { self.loads.clone() };
        let changed_loads = loads != self.loads;
        let visible = std::mem::take(&mut draft.model.visible);
        if !(visible || changed_loads) {
            return Applied { published: false, version: self.version };
        }
        self.loads = loads;
        self.version += 1;
        self.figures.published += 1;
        if updated || changed_loads || built > 0 {
            self.identity.revision += 1;
        }
        let Self { model, config, runtime, settings, weights, reports, hash_tables, .. } = self;
        let (weights, reports) = (weights.as_ref(), reports.as_ref());
        let draft = Draft { model, config, runtime, settings, weights, reports };
        let next = draft.contents(&self.loads, self.identity, self.version, hash_tables);
        let lists = self.model.positions();
        self.workers.iter().for_each(|worker| worker.grow(lists));
        self.publisher.publish(Box::new(next));
        Applied { published: true, version: self.version }
    }

    /// Takes over what configuration and runtime values come to by now. Envoy reads the aggression
    /// of slow start whenever it weighs a host, everything else when a priority is updated.
    fn resolve_settings(&mut self, updated: bool) {
        let mut settings = settings::resolve(&self.config.policy, &self.runtime);
        if self.config.behavior == Behavior::Envoy && !updated {
            settings.method = self.settings.method;
        }
        if settings.ramp != self.settings.ramp {
            self.warm_up(u64::MAX);
        }
        self.model.visible |= settings != self.settings;
        self.settings = settings;
    }

    /// Lets the clock go on, never back; warms hosts up; and frees what readers have let go of.
    pub(super) fn tick(&mut self, now_ns: u64) {
        let now_ns = now_ns.max(self.model.now_ns);
        self.model.now_ns = now_ns;
        self.clock.set(now_ns);
        let warms_up = self.warm_up(now_ns);
        let mut any = self.take_weights_over();
        any |= warms_up;
        any |= self.router.tick(&self.model);
        any |= self.router.follow();
        if any {
            self.publish();
        }
        self.publisher.scan();
        if let Some(mut journal) = self.journal.take() {
            journal.note_counts(self.counts(), self.streams.stats().stream_failures, now_ns);
            self.journal = Some(journal);
        }
    }

    /// What is to be said about the call that ends.
    pub(super) fn notes(&mut self, refused: Option<&Error>) -> Vec<Note> {
        let Some(mut journal) = self.journal.take() else { return Vec::new() };
        let notes = journal.notes(self, refused);
        self.journal = Some(journal);
        notes
    }

    pub(super) fn config(&self) -> &Arc<ClusterConfig> {
        &self.config
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Which priorities are in panic.
    pub(super) fn panic(&self) -> &[bool] {
        &self.loads.panic
    }

    /// When the next tick has something to do; `None` if nothing is periodic.
    pub(super) fn next_tick_ns(&self) -> Option<u64> {
        let buckets = self.model.priorities.iter().flat_map(|set| set.buckets.iter());
        let step_ns = buckets.filter_map(|bucket| bucket.next_step_ns).min();
        let pass_ns = self.weights.as_ref().map(|weights| weights.updates.next_ns);
        [step_ns, pass_ns, self.router.next_tick_ns()].into_iter().flatten().min()
    }

    /// Takes in a load report that did not come through a worker.
    pub(super) fn report(
        &mut self,
        address: &str,
        report: &Report<'_>,
        now_ns: u64,
    ) -> Result<(), Error> {
        let slot = self.model.slot(address);
        let slot = slot.ok_or_else(|| Error::UnknownHost { address: address.into() })?;
        let now_ns = self.time_or_last(now_ns);
        let taken = match &self.reports {
            None => Err(ReportRejected::NotWanted),
            Some(reports) => reports.take(slot, report, now_ns, Origin::Response),
        };
        if let Some(counter) = counter(taken.map_err(ReportFailure::Rejected)) {
            self.figures.counts[counter as usize] += 1;
        }
        taken.map_err(|why| Error::ReportRejected { address: address.into(), why })
    }

    /// The time that a caller gave; 0 stands for what the last tick was told.
    fn time_or_last(&self, now_ns: u64) -> u64 {
        if now_ns == 0 { self.model.now_ns } else { now_ns }
    }

    /// What is to be done about out-of-band streams by now.
    pub(super) fn poll_streams(&mut self, now_ns: u64) -> Vec<StreamAction> {
        self.streams.poll(now_ns)
    }

    /// A message of an out-of-band stream.
    pub(super) fn stream_message(&mut self, host: StreamHost, message: &[u8], now_ns: u64) {
        let now_ns = self.time_or_last(now_ns);
        let reports = self.reports.as_deref();
        self.streams.message(host, message, (&self.config, reports), now_ns);
    }

    /// The end of an out-of-band stream.
    pub(super) fn stream_ended(&mut self, host: StreamHost, end: StreamEnd, now_ns: u64) {
        let now_ns = self.time_or_last(now_ns);
        self.streams.ended(host, end, now_ns);
    }

    /// When the streams are to be polled next.
    pub(super) fn next_stream_ns(&self) -> Option<u64> {
        self.streams.next_deadline()
    }

    /// Where the stream of a host goes.
    pub(super) fn stream_target(&self, host: StreamHost) -> Option<StreamTarget> {
        target(&self.model, &self.config, host)
    }

    /// Takes over what hosts have reported, if it is time; says whether weights have changed.
    fn take_weights_over(&mut self) -> bool {
        let Self { weights, model, runtime, .. } = self;
        weights.as_mut().is_some_and(|weights| {
            weights.updates.take(model.now_ns) && weights.pass(model, runtime)
        })
    }

    /// Marks what is made from weights that were of another time; says whether there is anything.
    fn warm_up(&mut self, now_ns: u64) -> bool {
        let mut any = false;
        for set in &mut self.model.priorities {
            any |= set.warm_up(now_ns);
        }
        any
    }

    /// The figures of this moment.
    pub(crate) fn summary(&self) -> Summary {
        let mut tally = Tally::default();
        self.model.tallies().into_iter().for_each(|priority| tally += priority);
        Summary {
            figures: self.figures,
            tally,
            counts: self.counts(),
            weights: self.weights.as_ref().map(|weights| weights.figures),
            streams: self.streams.stats(),
            router: self.router.figures,
            load_aware: self.router.load_aware_figures(),
            hashed: self.config.policy.consistent_hashing().map(|_| HashSummary {
                figures: self.hash_tables.figures,
                is_maglev: matches!(self.config.policy, Policy::Maglev(_)),
                built_as_envoy: (self.config.behavior == Behavior::Envoy)
                    .then_some(self.refreshes.tables),
            }),
            duplicates: self.model.duplicates,
            max_host_weight: self.model.max_host_weight,
            departed: self.model.slots.departed(),
            workers: self.workers.len(),
        }
    }

    /// What workers have counted, those that are gone included, and what was counted without one.
    fn counts(&self) -> Counts {
        Counter::ALL.map(|counter| {
            let open = self.workers.iter().map(|worker| worker.counter(counter)).sum::<u64>();
            open + self.figures.counts[counter as usize]
        })
    }

    /// The state and number of a new worker.
    pub(crate) fn register(&mut self, number: Option<u64>, peek_capacity: usize) -> State {
        let number = number.unwrap_or(self.next_worker);
        self.next_worker = number.wrapping_add(1);
        // Workers may come and go without an update; this keeps the list in proportion.
        if self.workers.len().is_power_of_two() {
            self.forget_closed_workers();
        }
        let clock = Arc::clone(&self.clock);
        let state = State::new(self.seed, number, peek_capacity, clock);
        state.shared.grow(self.model.positions());
        self.workers.push(Arc::clone(&state.shared));
        state
    }

    /// Frees what nobody names any more. The host data that comes back is dropped by the caller,
    /// after the lock.
    #[must_use]
    pub(super) fn reclaim(&mut self, table: &Table) -> Vec<HostData> {
        self.forget_closed_workers();
        let Self { model, weights, router, .. } = self;
        model.slots.reclaim(table, |slot| {
            if let Some(weights) = weights {
                weights.forget(slot);
            }
            router.forget(slot);
        })
    }

    fn forget_closed_workers(&mut self) {
        let totals = &mut self.figures.counts;
        self.workers.retain_mut(|worker| {
            // The worker's own reference is gone, so what it counted is final.
            let Some(worker) = Arc::get_mut(worker) else { return true };
            for counter in Counter::ALL {
                totals[counter as usize] += worker.counter(counter);
            }
            false
        });
    }
}

/// Applies the parts of a checked update in their fixed order.
fn change_hosts(model: &mut Model, update: &Update, config: &ClusterConfig, table: &Table) {
    if let Some(assignment) = &update.assignment {
        model.assign(assignment, config, table);
    }
    update.removals.iter().for_each(|address| model.remove(address.as_str()));
    update.upserts.iter().for_each(|host| model.upsert(host, config, table));
    for (address, events) in health_by_host(&update.health) {
        model.health(address.as_str(), &events);
    }
}

/// The events of each host in their order, hosts in the order of their first one, so that events
/// which cancel each other change nothing.
fn health_by_host(events: &[(Address, HealthEvent)]) -> Vec<(&Address, Vec<HealthEvent>)> {
    let mut places = HashMap::new();
    let mut hosts: Vec<(&Address, Vec<HealthEvent>)> = Vec::new();
    for (address, event) in events {
        let place = *places.entry(address).or_insert_with(|| {
            hosts.push((address, Vec::new()));
            hosts.len() - 1
        });
        hosts[place].1.push(*event);
    }
    hosts
}

/// How many of the parts that were built have schedulers: those of hash policies do not.
fn schedulers(settings: &Settings, built: u64) -> u64 {
    if settings.method == Method::Hash { 0 } else { built }
}

/// Where reports go, if anybody goes by them.
fn reports(
    config: &ClusterConfig,
    weights: Option<&ReportedWeights>,
    router: &Router,
) -> Option<Arc<Reports>> {
    let weigher = weights.map(|weights| &weights.weigher);
    Reports::new(config.behavior, weigher, router.gauge()).map(Arc::new)
}

/// Whether Envoy's policy draws a seed when it is made. Load-aware routing itself does not.
fn is_seeded(config: &ClusterConfig) -> bool {
    config.behavior == Behavior::Envoy
        && config.policy != Policy::Random
        && config.policy.consistent_hashing().is_none()
        && !matches!(config.locality_routing, LocalityRouting::LoadAware(_))
}
