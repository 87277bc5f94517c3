//! One engine: a cluster of Plimsoll, what reaches it from Envoy's threads, and what they look at.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll::config::{Assignment, Behavior, ConsistentHashing, LocalityRouting, Policy};
use plimsoll::{Cluster, Error};

use crate::config::Settings;
use crate::counts::{AllCounts, Counts};
use crate::figures::Figures;
use crate::log;

/// See the module.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) cluster: Cluster,
    pub(crate) wants: Wants,
    /// Whether it sees the whole cluster, and serves all threads.
    pub(crate) is_shared: bool,
    /// The newest hosts, until our thread applies them: several that follow one another are one
    /// update.
    inbox: Mutex<Option<Assignment>>,
    /// Whether degraded hosts or, in panic, any hosts have a part of the traffic.
    overflows: AtomicBool,
    counts: Mutex<AllCounts>,
    /// The cluster's engine before this one, until that has handed over.
    before: Mutex<Option<Arc<Engine>>>,
    pub(crate) figures: Figures,
}

/// What the policy takes into account, so that nothing else is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wants {
    /// The hash of the request.
    pub(crate) hash: bool,
    /// How many requests each host has, or how they ended.
    pub(crate) ends: bool,
    /// The time, to weigh hosts in slow start at each pick.
    pub(crate) time: bool,
    /// Load reports.
    pub(crate) reports: bool,
    /// Only the first report of a response; trailers are newer than headers otherwise.
    pub(crate) first_report: bool,
}

impl Wants {
    fn of(settings: &Settings) -> Self {
        let config = &settings.config;
        let is_native = config.behavior == Behavior::Native;
        let hashing = config.policy.consistent_hashing();
        let balanced = |it: &ConsistentHashing| it.hash_balance_factor.is_some_and(|it| it > 0);
        let by_load = matches!(config.policy, Policy::ClientSideWeightedRoundRobin(_));
        let by_requests = matches!(config.policy, Policy::LeastRequest(_));
        Self {
            hash: hashing.is_some(),
            ends: by_requests || hashing.is_some_and(balanced) || (by_load && is_native),
            time: config.policy.slow_start().is_some() && !is_native,
            first_report: !is_native,
            reports: by_load || matches!(config.locality_routing, LocalityRouting::LoadAware(_)),
        }
    }
}

impl Engine {
    pub(crate) fn open(
        settings: &Settings,
        cluster: &str,
        is_shared: bool,
        now_ns: u64,
    ) -> Result<Self, Error> {
        let config = settings.named(cluster);
        let assignment = Assignment {
            overprovisioning_factor: settings.overprovisioning_factor,
            weighted_priority_health: settings.weighted_priority_health,
            ..Assignment::default()
        };
        Ok(Self {
            cluster: Cluster::open(config, &assignment, settings.options(now_ns))?,
            wants: Wants::of(settings),
            is_shared,
            inbox: Mutex::default(),
            overflows: AtomicBool::new(false),
            counts: Mutex::default(),
            before: Mutex::default(),
            figures: Figures::default(),
        })
    }

    /// Leaves hosts for [`work`](Self::work).
    pub(crate) fn leave(&self, assignment: Assignment) {
        *lock(&self.inbox) = Some(assignment);
    }

    /// Does what is due: applies the hosts that were left, and ticks.
    pub(crate) fn work(&self, now_ns: u64) {
        let assignment = lock(&self.inbox).take();
        if let Some(assignment) = assignment {
            self.assign(&assignment);
        }
        if self.cluster.tick(now_ns).is_err() {
            // That is poisoned, which was logged when it happened; workers go on.
            return;
        }
        self.look();
        self.figures.collect(self, now_ns);
    }

    /// Applies hosts at once.
    pub(crate) fn assign(&self, assignment: &Assignment) {
        if let Err(error) = self.cluster.assign(assignment) {
            let place = error.field();
            log::error(&format!("hosts of {} were refused: {place}: {error}", self.name()));
        } else if !assignment.endpoints.is_empty() {
            // Not locked while it works.
            let before = lock(&self.before).take();
            if let Some(before) = before {
                self.take_over(&before);
            }
        }
        self.look();
    }

    /// Has this engine take over from another one as soon as it has hosts; from that one's
    /// predecessor, if it never had any itself.
    pub(crate) fn follows(&self, before: Arc<Self>) {
        if self.cluster.view().config().behavior == Behavior::Native {
            let earlier = lock(&before.before).take();
            *lock(&self.before) = Some(earlier.unwrap_or(before));
        }
    }

    /// Takes over what hosts have reported. In Envoy a new cluster knows nothing of the one before.
    fn take_over(&self, before: &Self) {
        let reports = before.cluster.export_reports();
        let taken = reports.and_then(|reports| self.cluster.import_reports(&reports));
        if let Err(error) = taken {
            log::error(&format!("reports of {} are lost: {error}", self.name()));
        }
    }

    pub(crate) fn name(&self) -> String {
        self.cluster.view().config().name.clone()
    }

    /// When there is something to do next; `None` if nothing is periodic.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.cluster.next_tick_ns().ok().flatten()
    }

    /// Whether some picks lead to hosts that are not healthy.
    pub(crate) fn overflows(&self) -> bool {
        // No edge: a hint; the pick itself reads a snapshot.
        self.overflows.load(Ordering::Relaxed)
    }

    fn look(&self) {
        let view = self.cluster.view();
        let overflows = view.priorities().any(|it| it.panic || it.degraded_load > 0.0);
        // No edge: see `overflows`.
        self.overflows.store(overflows, Ordering::Relaxed);
    }

    /// Counters for one more instance.
    pub(crate) fn count_for(&self, counts: Arc<Counts>) {
        lock(&self.counts).add(counts);
    }

    /// The sums of what all instances counted, in the order of [`Counts::ALL`].
    pub(crate) fn counted(&self) -> [u64; Counts::ALL.len()] {
        lock(&self.counts).sums()
    }
}

/// Locks what no panic can leave half done: values in here are replaced whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
