//! The next snapshot on its way: from the model and the settings to what is published.

use super::build::{self, Means};
use super::hash_tables::HashTables;
use super::localities::{Moment, Router};
use super::model::Model;
use super::runtime::{HEALTHY_PANIC_THRESHOLD, Runtime, RuntimeValue};
use super::set::PrioritySet;
use super::weights::ReportedWeights;
use crate::config::{Behavior, ClusterConfig, LocalityRouting};
use crate::host::Cells;
use crate::policy::hashed::Balance;
use crate::policy::native::Portion;
use crate::policy::{Identity, Method, Settings, Tables, envoy, native};
use crate::priority::{self, Loads, Rules};
use crate::published::{LocalityTally, Priority, Published};
use crate::reports::Reports;
use crate::routes::Routing;
use crate::sync::Arc;

/// The next snapshot on its way.
pub(super) struct Draft<'a> {
    pub(super) model: &'a mut Model,
    pub(super) config: &'a Arc<ClusterConfig>,
    pub(super) runtime: &'a Runtime,
    pub(super) settings: &'a Settings,
    pub(super) weights: Option<&'a ReportedWeights>,
    pub(super) reports: Option<&'a Arc<Reports>>,
}

impl Draft<'_> {
    /// Brings the parts up to date; returns how many were built.
    pub(super) fn rebuild(&mut self, router: &mut Router, membership_change: &mut u64) -> u64 {
        let means = Means {
            by_locality: router.needs_lists(self.config),
            has_children: matches!(self.config.locality_routing, LocalityRouting::LoadAware(_)),
            behavior: self.config.behavior,
            settings: self.settings,
            reported: self.weights.map(ReportedWeights::by_slot),
        };
        let built = build::rebuild(self.model, means);
        let moment = Moment { config: self.config, runtime: self.runtime, rules: self.rules() };
        router.divide(self.model, moment);
        for set in &mut self.model.priorities {
            set.updates += u64::from(std::mem::take(&mut set.updated));
            *membership_change += u64::from(std::mem::take(&mut set.membership_changed));
        }
        built
    }

    fn rules(&self) -> Rules {
        let runtime = self.runtime.get(HEALTHY_PANIC_THRESHOLD);
        let runtime = runtime.and_then(RuntimeValue::as_integer).map(|value| value.min(100));
        let configured = self.config.healthy_panic_threshold;
        let panic_threshold = match (runtime, self.config.behavior) {
            (Some(percent), _) => percent_as_float(percent),
            (None, Behavior::Native) => configured,
            (None, Behavior::Envoy) => {
                percent_as_float(priority::envoy::truncated_percent(configured))
            }
        };
        Rules {
            overprovisioning_factor: self.model.overprovisioning_factor,
            weighted: self.model.weighted_priority_health,
            panic_threshold,
        }
    }

    pub(super) fn loads(&self, before: &Loads) -> Loads {
        let tallies = self.model.tallies();
        match self.config.behavior {
            Behavior::Native => priority::native::loads(&tallies, self.rules()),
            Behavior::Envoy => {
                let mut loads = before.clone();
                priority::envoy::recalculate(&mut loads, &tallies, self.rules());
                loads
            }
        }
    }

    fn tables(&self, loads: &Loads, hash_tables: &mut HashTables) -> Tables {
        let fail = self.config.fail_traffic_on_panic;
        let Settings { method, .. } = *self.settings;
        let cells = self.model.slots.cells();
        let balance = self.balance(&cells);
        if self.config.behavior == Behavior::Envoy {
            let tables = envoy::Tables {
                method,
                weighing: self.settings.weighing(self.model.latest_host_added_ns),
                fail_traffic_on_panic: fail,
                loads: loads.clone(),
                lists: self.model.priorities.iter().map(|set| Arc::clone(&set.lists)).collect(),
                localities: self.model.priorities.iter().map(|it| it.localities.clone()).collect(),
                updates: self.model.priorities.iter().map(|set| set.updates).collect(),
                children: self.model.children,
                cells,
            };
            if method != Method::Hash {
                return Tables::Envoy(tables);
            }
            let routing = &self.config.locality_routing;
            let by_hash = hash_tables.envoy(self.model, loads, routing);
            return Tables::EnvoyHashed(envoy::Hashed::new(tables, by_hash, balance));
        }
        let chunks = build::chunks(self.model);
        match method {
            Method::RoundRobin => Tables::RoundRobin(native::Tables::new(fail, loads, &chunks)),
            Method::Random => Tables::Random(native::Tables::new(fail, loads, &chunks)),
            Method::Hash => {
                let table = |portion: &Portion<'_>| hash_tables.native(portion, self.model);
                Tables::Hashed(native::Hashed::new(fail, loads, &chunks, balance, table))
            }
            Method::LeastRequest(selection) => {
                let tables = native::LeastRequest::new(fail, loads, &chunks, cells, selection);
                Tables::LeastRequest(tables)
            }
        }
    }

    /// What bounded load goes by, if the policy has a bound.
    fn balance(&self, cells: &Cells) -> Option<Balance> {
        let factor = self.config.policy.consistent_hashing()?.hash_balance_factor?;
        Some(Balance { factor, cells: cells.clone() })
    }

    pub(super) fn contents(
        mut self,
        loads: &Loads,
        identity: Identity,
        version: u64,
        hash_tables: &mut HashTables,
    ) -> Published {
        let tables = self.tables(loads, hash_tables);
        hash_tables.settle();
        Published {
            tables,
            identity,
            cells: self.model.slots.cells(),
            directory: self.model.directory.clone(),
            by_address: self.model.by_address.clone(),
            version,
            published_ns: self.model.now_ns,
            slow_start: self.settings.slow_start(self.model.latest_host_added_ns),
            reported_weights: self.weights.map(ReportedWeights::share),
            reports: self.reports.cloned(),
            config: Arc::clone(self.config),
            loads: loads.clone(),
            priorities: self.priorities(),
        }
    }

    fn priorities(&mut self) -> Box<[Priority]> {
        let Model { priorities, node, .. } = &mut *self.model;
        let of_set = |set: &mut PrioritySet| Priority {
            routing: Routing {
                has_local: set
                    .buckets
                    .first()
                    .is_some_and(|it| Some(&*it.locality) == node.as_ref()),
                shares: set.shares.clone(),
                localities: set.localities.clone(),
                utilizations: set.utilizations.clone(),
            },
            order: set.share_order(),
            tally: set.tally(),
            localities: set
                .buckets
                .iter()
                .map(|bucket| LocalityTally {
                    locality: Arc::clone(&bucket.locality),
                    weight: set.locality_weight(bucket),
                    tally: bucket.tally,
                })
                .collect(),
        };
        priorities.iter_mut().map(of_set).collect()
    }
}

#[allow(clippy::cast_precision_loss)] // at most 100
fn percent_as_float(percent: u64) -> f64 {
    percent as f64
}
