//! From reports to weights: the update pass of client-side weighted round robin.
//!
//! Workers write what they make of reports into records; the control side takes them over from
//! time to time. Configured weights are kept apart, so that an assignment that says nothing new
//! changes nothing.

mod envoy;
mod native;
mod smoothing;

use native::Course;
use smoothing::Step;

use super::model::Model;
use super::period::{Period, nanoseconds};
use super::runtime::{NAMED_METRICS_FIRST, Runtime, WEIGHT_SMOOTHING};
use super::set::PrioritySet;
use crate::config::{Behavior, ClusterConfig, LocalityRouting, MIN_WEIGHT_UPDATE_PERIOD, Policy};
use crate::host::Directory;
use crate::records::{Periods, Records, Verdict};
use crate::reports::{Weighable, Weigher};
use crate::sync::Arc;

/// The weights of hosts that report.
#[derive(Debug)]
pub(super) struct ReportedWeights {
    behavior: Behavior,
    periods: Periods,
    /// A locality is chosen before a host, and so hosts compare within theirs; in native only.
    by_locality: bool,
    /// Of passes.
    pub(super) updates: Period,
    pub(super) weigher: Arc<Weigher>,
    /// By slot; 0 for a host that has not been weighed.
    weights: Arc<[f64]>,
    /// By slot, in native: what the weights are on their way from.
    courses: Vec<Course>,
    /// When the last pass was.
    passed_ns: u64,
    /// How many passes there were, and how many hosts the last one found of each kind.
    pub(super) figures: PassFigures,
}

/// What passes find.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PassFigures {
    pub(crate) passes: u64,
    pub(crate) changes: u64,
    pub(crate) usable: u64,
    pub(crate) blackout: u64,
    pub(crate) unknown: u64,
    /// Of the usable ones, those that say only how busy they are.
    pub(crate) by_utilization: u64,
    /// Of the usable ones, those that have not reported for a whole period.
    pub(crate) not_renewed: u64,
}

impl ReportedWeights {
    /// Weights for a policy that goes by reports. What was reported and weighed before stays, if
    /// the behaviour is the same. `now` is the time and a seed.
    pub(super) fn for_policy(
        config: &ClusterConfig,
        runtime: &Runtime,
        before: Option<&Self>,
        now: (u64, u64),
    ) -> Option<Self> {
        let Policy::ClientSideWeightedRoundRobin(policy) = &config.policy else { return None };
        let behavior = config.behavior;
        let before = before.filter(|before| before.behavior == behavior);
        let records = before.map(|before| Arc::clone(&before.weigher.records));
        let records = records.unwrap_or_else(|| Arc::new(Records::new(behavior)));
        let expiration_ns = nanoseconds(policy.weight_expiration_period);
        let period = policy.weight_update_period.max(MIN_WEIGHT_UPDATE_PERIOD);
        let is_native = behavior == Behavior::Native;
        let named_first = runtime.is_on(NAMED_METRICS_FIRST, true);
        Some(Self {
            behavior,
            periods: Periods {
                blackout_ns: nanoseconds(policy.blackout_period),
                expiration_ns: (expiration_ns > 0 || !is_native).then_some(expiration_ns),
                blackout_first: !is_native,
            },
            by_locality: is_native && config.locality_routing != LocalityRouting::Unset,
            updates: Period::new(period, behavior, before.map(|before| before.updates), now),
            weigher: Arc::new(Weigher::new(policy, behavior, named_first, records)),
            weights: before.map_or_else(|| Arc::new([]) as Arc<[f64]>, Self::share),
            courses: before.map_or_else(Vec::new, |before| before.courses.clone()),
            passed_ns: before.map_or(now.0, |before| before.passed_ns),
            figures: before.map_or_else(PassFigures::default, |before| before.figures),
        })
    }

    /// The weights for a snapshot.
    pub(super) fn share(&self) -> Arc<[f64]> {
        Arc::clone(&self.weights)
    }

    /// The weights by slot; 0 for a host that has not been weighed.
    pub(super) fn by_slot(&self) -> &[f64] {
        &self.weights
    }

    /// Forgets what the host in `slot` weighed and reported, for another host in it.
    pub(super) fn forget(&mut self, slot: u32) {
        self.weigher.records.forget(slot);
        if self.weights.get(slot as usize).is_some_and(|&weight| weight > 0.0) {
            Arc::make_mut(&mut self.weights)[slot as usize] = 0.0;
        }
        if let Some(course) = self.courses.get_mut(slot as usize) {
            *course = Course::None;
        }
    }

    /// How far the weight of the host in `slot` has followed reports of the kind of this one.
    pub(super) fn course(&self, slot: u32, reported: f64) -> Option<f64> {
        let course = self.courses.get(slot as usize).copied()?;
        course.of_kind(Weighable::of(reported)).filter(|_| self.behavior == Behavior::Native)
    }

    /// Has a host whose record was taken over go on from where it was. Envoy knows no way to go.
    pub(super) fn resume(&mut self, slot: u32, reported: f64, course: f64) {
        if self.behavior == Behavior::Envoy {
            return;
        }
        if self.courses.len() <= slot as usize {
            self.courses.resize(slot as usize + 1, Course::None);
        }
        self.courses[slot as usize] = Course::new(Weighable::of(reported), course);
    }

    /// Takes over what hosts have reported, and marks what is made from weights that changed; says
    /// whether there is any. In Envoy a change of one priority makes all schedulers start anew.
    pub(super) fn pass(&mut self, model: &mut Model, runtime: &Runtime) -> bool {
        let slots = model.slots.end();
        self.weigher.records.grow(slots);
        self.courses.resize(slots, Course::None);
        let PassFigures { passes, changes, .. } = self.figures;
        self.figures = PassFigures { passes: passes + 1, changes, ..PassFigures::default() };
        let mut weights = self.weights.to_vec();
        weights.resize(slots, 0.0);
        let Model { priorities, directory, now_ns, visible, .. } = model;
        let elapsed = seconds(now_ns.saturating_sub(self.passed_ns));
        let step = Step::new(elapsed, runtime.seconds(WEIGHT_SMOOTHING));
        self.passed_ns = *now_ns;
        let mut changed = false;
        for set in priorities.iter_mut() {
            let hosts = self.judge(set, directory, *now_ns);
            let has_changed = match self.behavior {
                Behavior::Envoy => envoy::weigh(&hosts, &mut weights),
                Behavior::Native => native::weigh(&hosts, step, &mut self.courses, &mut weights),
            };
            if has_changed {
                changed = true;
                set.mark_buckets();
            }
        }
        if changed {
            self.figures.changes += 1;
            self.weights = weights.into();
            *visible = true;
            if self.behavior == Behavior::Envoy {
                priorities.iter_mut().for_each(PrioritySet::invalidate);
            }
        }
        changed
    }

    /// Notes that an assignment came. Envoy writes reported weights over the configured ones, so that
    /// an assignment which says nothing new looks to it like one with other weights.
    //= envoy v1.40 source/common/upstream/upstream_impl.cc#BaseDynamicClusterImpl::updateDynamicHostList
    #[allow(clippy::float_cmp)] // whole numbers
    pub(super) fn note_assignment(&self, model: &mut Model) {
        if self.behavior != Behavior::Envoy {
            return;
        }
        let Model { priorities, directory, visible, .. } = model;
        for set in priorities {
            let differs = |slot: u32| {
                let reported = self.weights.get(slot as usize).copied().unwrap_or(0.0);
                let configured = directory.get(slot).map_or(0, |entry| entry.weight);
                reported > 0.0 && reported != f64::from(configured)
            };
            if set.order.iter().any(|&slot| differs(slot)) {
                set.invalidate();
                *visible = true;
            }
        }
    }

    /// What the records of a priority's hosts are worth.
    fn judge(&mut self, set: &PrioritySet, directory: &Directory, now_ns: u64) -> Vec<Weighed> {
        let mut hosts = Vec::with_capacity(set.order.len());
        if self.by_locality {
            for (group, bucket) in set.buckets.iter().enumerate() {
                let judged = bucket
                    .members
                    .iter()
                    .map(|&slot| self.judge_host(slot, group, directory, now_ns));
                hosts.extend(judged);
            }
        } else {
            hosts.extend(set.order.iter().map(|&slot| self.judge_host(slot, 0, directory, now_ns)));
        }
        hosts.iter().for_each(|host| self.figures.add(host, self.updates.length_ns));
        hosts
    }

    fn judge_host(&self, slot: u32, group: usize, directory: &Directory, now_ns: u64) -> Weighed {
        let verdict = self.weigher.records.judge(slot, now_ns, self.periods);
        let configured = directory.get(slot).map_or(1, |entry| entry.weight).into();
        Weighed { slot, group, verdict, configured }
    }
}

impl PassFigures {
    fn add(&mut self, host: &Weighed, period_ns: u64) {
        match host.verdict {
            Verdict::Usable { value, age_ns } => {
                self.usable += 1;
                let by_utilization = matches!(Weighable::of(value), Weighable::Utilization(_));
                self.by_utilization += u64::from(by_utilization);
                self.not_renewed += u64::from(age_ns > period_ns);
            }
            Verdict::Blackout => self.blackout += 1,
            Verdict::Unknown | Verdict::Failing | Verdict::Expired => self.unknown += 1,
        }
    }
}

/// A host to be weighed.
#[derive(Debug, Clone, Copy)]
struct Weighed {
    slot: u32,
    /// The number of those that it is compared with.
    group: usize,
    /// What it reported.
    verdict: Verdict,
    configured: f64,
}

impl Weighed {
    /// What it reported and how many seconds ago, if that counts.
    fn report(&self) -> Option<(Weighable, f64)> {
        match self.verdict {
            Verdict::Usable { value, age_ns } => Some((Weighable::of(value), seconds(age_ns))),
            _ => None,
        }
    }
}

/// The two values in the middle, which may be one.
fn median(values: &mut [f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let is_odd = !values.len().is_multiple_of(2);
    let (below, &mut high, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    let largest_below = below.iter().copied().max_by(f64::total_cmp);
    let low = largest_below.filter(|_| !is_odd).unwrap_or(high);
    Some((low, high))
}

#[allow(clippy::cast_precision_loss)] // a ten millionth of a second more or less
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host whose record says this.
    pub(super) fn host(slot: u32, record: Option<f64>, configured: f64) -> Weighed {
        let verdict = record.map_or(Verdict::Unknown, |value| Verdict::Usable { value, age_ns: 0 });
        Weighed { slot, group: 0, verdict, configured }
    }

    #[test]
    fn the_values_in_the_middle_are_those_of_a_sorted_list() {
        let mut random = 1_u64;
        for length in 0..40 {
            let mut values: Vec<f64> = Vec::new();
            for _ in 0..length {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                values.push(f64::from((random >> 60) as u8));
            }
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let expected = (length > 0).then(|| (sorted[(length - 1) / 2], sorted[length / 2]));
            assert_eq!(median(&mut values), expected, "{sorted:?}");
        }
    }

    /// Hosts of configured weight 1 whose records say this.
    pub(super) fn hosts(records: &[Option<f64>]) -> Vec<Weighed> {
        (0..).zip(records).map(|(slot, &record)| host(slot, record, 1.0)).collect()
    }
}
