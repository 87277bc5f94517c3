//! Load-aware routing on the control side: counts what hosts reported, once for each priority and
//! source, and keeps what the arithmetic makes of it.

mod count;

use std::collections::HashMap;

use count::{Count, Counter};

use super::model::Model;
use super::period::{Period, nanoseconds};
use super::set::{Bucket, PrioritySet};
use crate::config::{Behavior, ClusterConfig, LocalityRouting};
use crate::host::Locality;
use crate::locality::load_aware::{Flags, Zone, envoy, native};
use crate::policy::Source;
use crate::policy::envoy::Aware;
use crate::records::{Periods, Records};
use crate::reports::Gauge;
use crate::sync::Arc;

const SOURCES: [Source; 3] = [Source::Healthy, Source::Degraded, Source::All];

/// See the module.
#[derive(Debug)]
pub(super) struct LoadAwareness {
    behavior: Behavior,
    pub(super) gauge: Arc<Gauge>,
    periods: Periods,
    /// Of ticks.
    pub(super) updates: Period,
    /// When the last one was; `None` before the first.
    last_tick_ns: Option<u64>,
    envoy: (envoy::Settings, Vec<[OfEnvoy; 3]>),
    native: (native::Settings, Vec<[OfNative; 3]>),
    pub(super) figures: LoadAwareFigures,
}

/// What one priority and source has in Envoy.
#[derive(Debug, Clone, Default)]
struct OfEnvoy {
    history: envoy::History,
    /// Weights and utilizations of the last tick. Localities that came since have none.
    published: HashMap<Arc<Locality>, (f64, f64)>,
    all_local: bool,
}

/// What it has in native.
#[derive(Debug, Clone, Default)]
struct OfNative {
    controller: native::Controller,
    split: native::Split,
}

/// What it counts, by Envoy's names.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LoadAwareFigures {
    pub(crate) recompute: u64,
    pub(crate) all_overloaded: u64,
    pub(crate) local_preferred: u64,
    pub(crate) probe_active: u64,
    pub(crate) spill_active: u64,
    pub(crate) stale_locality: u64,
    /// How often a local locality began or ceased to share its traffic; native only.
    pub(crate) mode_changes: u64,
}

impl LoadAwareness {
    /// For a policy that goes by load. What was reported and made of it before stays, if the
    /// behaviour is the same. `now` is the time and a seed.
    pub(super) fn for_policy(
        config: &ClusterConfig,
        named_first: bool,
        before: Option<Self>,
        now: (u64, u64),
    ) -> Option<Self> {
        let LocalityRouting::LoadAware(policy) = &config.locality_routing else { return None };
        let behavior = config.behavior;
        let before = before.filter(|before| before.behavior == behavior);
        let records = before.as_ref().map(|before| Arc::clone(&before.gauge.records));
        let records = records.unwrap_or_else(|| Arc::new(Records::new(behavior)));
        let expiration_ns = nanoseconds(policy.weight_expiration_period);
        let updates = before.as_ref().map(|before| before.updates);
        let updates = Period::new(policy.weight_update_period, behavior, updates, now);
        let (last_tick_ns, figures) = before
            .as_ref()
            .map_or((None, LoadAwareFigures::default()), |it| (it.last_tick_ns, it.figures));
        let (of_envoy, of_native) = before.map(|it| (it.envoy.1, it.native.1)).unwrap_or_default();
        Some(Self {
            behavior,
            gauge: Arc::new(Gauge::new(policy, behavior, named_first, records)),
            periods: Periods {
                blackout_ns: 0,
                expiration_ns: (expiration_ns > 0).then_some(expiration_ns),
                blackout_first: false,
            },
            updates,
            last_tick_ns,
            envoy: (envoy::Settings::new(policy), of_envoy),
            native: (native::Settings::new(policy), of_native),
            figures,
        })
    }

    /// Takes over what hosts have reported, if it is time; says whether it was.
    pub(super) fn tick_if_due(&mut self, model: &Model) -> bool {
        let is_due = self.updates.take(model.now_ns);
        if is_due {
            self.tick(model);
        }
        is_due
    }

    /// Forgets what the host in `slot` reported, for another host in it.
    pub(super) fn forget(&self, slot: u32) {
        self.gauge.records.forget(slot);
    }

    /// Takes over what hosts have reported.
    fn tick(&mut self, model: &Model) {
        self.grow(model);
        let before_ns = self.last_tick_ns.replace(model.now_ns).unwrap_or(model.now_ns);
        let elapsed_ns = model.now_ns.saturating_sub(before_ns);
        let mut any = Flags::default();
        for (index, set) in model.priorities.iter().enumerate() {
            let counts = self.count(set, model);
            for source in SOURCES {
                let zones = zones(set, &counts, source);
                let has_local = model.has_local(set);
                let (flags, stale) = match self.behavior {
                    Behavior::Envoy => self.tick_envoy(index, source, &zones, has_local),
                    Behavior::Native => {
                        self.tick_native(index, source, &zones, has_local, elapsed_ns)
                    }
                };
                any.all_overloaded |= flags.all_overloaded;
                any.local_preferred |= flags.local_preferred;
                any.probe_active |= flags.probe_active;
                any.spill_active |= flags.spill_active;
                if source == Source::All {
                    self.figures.stale_locality += stale;
                }
            }
        }
        let figures = &mut self.figures;
        figures.recompute += 1;
        figures.all_overloaded += u64::from(any.all_overloaded);
        figures.local_preferred += u64::from(any.local_preferred);
        figures.probe_active += u64::from(any.probe_active);
        figures.spill_active += u64::from(any.spill_active);
    }

    fn tick_envoy(
        &mut self,
        index: usize,
        source: Source,
        zones: &[Zone<'_>],
        has_local: bool,
    ) -> (Flags, u64) {
        let (settings, priorities) = &mut self.envoy;
        let state = &mut priorities[index][source as usize];
        let outcome = state.history.tick(zones, has_local, settings);
        let values = outcome.weights.iter().copied().zip(outcome.utilizations.iter().copied());
        let identities = zones.iter().map(|zone| Arc::clone(zone.identity));
        state.published = identities.zip(values).collect();
        state.all_local = outcome.flags.all_local;
        (outcome.flags, outcome.stale)
    }

    fn tick_native(
        &mut self,
        index: usize,
        source: Source,
        zones: &[Zone<'_>],
        has_local: bool,
        elapsed_ns: u64,
    ) -> (Flags, u64) {
        let (settings, priorities) = &mut self.native;
        let state = &mut priorities[index][source as usize];
        let before = state.split.mode;
        state.split = state.controller.tick(zones, has_local, elapsed_ns, settings);
        let changed = before != native::Mode::Spread && before != state.split.mode;
        self.figures.mode_changes += u64::from(changed);
        (state.split.flags, state.split.stale)
    }

    /// Divides what goes to priorities that changed anew, as far as what is known allows; in native
    /// only. In Envoy changes wait for the next tick, of which the first is due at once.
    pub(super) fn split(&mut self, model: &Model) {
        if self.last_tick_ns.is_none() {
            return self.tick(model);
        }
        self.grow(model);
        if self.behavior == Behavior::Envoy {
            return;
        }
        for (index, set) in model.priorities.iter().enumerate().filter(|(_, set)| set.recounts) {
            let counts = self.count(set, model);
            for source in SOURCES {
                let zones = zones(set, &counts, source);
                let (settings, priorities) = &mut self.native;
                let state = &mut priorities[index][source as usize];
                state.split = state.controller.split(&zones, model.has_local(set), settings);
            }
        }
    }

    /// Makes room for all priorities and slots.
    fn grow(&mut self, model: &Model) {
        self.gauge.records.grow(model.slots.end());
        let priorities = model.priorities.len();
        match self.behavior {
            Behavior::Envoy => self.envoy.1.resize_with(priorities, Default::default),
            Behavior::Native => self.native.1.resize_with(priorities, Default::default),
        }
    }

    fn count(&self, set: &PrioritySet, model: &Model) -> Vec<[Count; 3]> {
        let counter = Counter {
            behavior: self.behavior,
            records: &self.gauge.records,
            periods: self.periods,
            model,
        };
        counter.count(set)
    }

    /// Native shares of a source of a priority; `None` if nobody is there.
    pub(super) fn shares(&self, index: usize, source: Source) -> Option<Arc<[u64]>> {
        let shares = &self.native.1.get(index)?[source as usize].split.shares;
        shares.iter().any(|&share| share > 0).then(|| shares.as_ref().into())
    }

    /// The utilizations of the localities of a priority, for people.
    pub(super) fn utilizations(&self, index: usize, set: &PrioritySet) -> [Arc<[f64]>; 3] {
        SOURCES.map(|source| match self.behavior {
            Behavior::Native => {
                let split = self.native.1.get(index).map(|it| &it[source as usize].split);
                let zones = split.map(|split| split.zones.iter().map(|zone| zone.utilization));
                zones.map(Iterator::collect).unwrap_or_default()
            }
            Behavior::Envoy => self.published(index, set, source).map(|(_, used)| used).collect(),
        })
    }

    /// What Envoy chooses by: the last tick's weights, for the localities that there are now.
    pub(super) fn envoy(&self, index: usize, set: &PrioritySet, has_local: bool) -> Option<Aware> {
        let state = self.envoy.1.get(index)?;
        let weights = SOURCES.map(|source| {
            self.published(index, set, source).map(|(weight, _)| weight).collect::<Box<[f64]>>()
        });
        Some(Aware {
            sums: weights.clone().map(|weights| envoy::prefix_sums(&weights).into()),
            weights,
            all_local: SOURCES.map(|source| state[source as usize].all_local),
            has_local,
        })
    }

    fn published<'a>(
        &'a self,
        index: usize,
        set: &'a PrioritySet,
        source: Source,
    ) -> impl Iterator<Item = (f64, f64)> + 'a {
        let state = self.envoy.1.get(index).map(|it| &it[source as usize].published);
        let of = move |bucket: &Bucket| state.and_then(|it| it.get(&bucket.locality).copied());
        set.buckets.iter().map(move |bucket| of(bucket).unwrap_or_default())
    }
}

/// The arithmetic's view of what was counted of a source.
fn zones<'a>(set: &'a PrioritySet, counts: &[[Count; 3]], source: Source) -> Vec<Zone<'a>> {
    let zone = |(bucket, counts): (&'a Bucket, &[Count; 3])| {
        counts[source as usize].zone(&bucket.locality)
    };
    set.buckets.iter().zip(counts).map(zone).collect()
}
