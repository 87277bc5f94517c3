//! From reports to weights: the update pass of client-side weighted round robin.
//!
//! Workers write what they make of reports into records; the control side takes them over from
//! time to time. Configured weights are kept apart, so that an assignment that says nothing new
//! changes nothing.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_weight_manager.cc#updateWeightsOnMainThread

use super::model::Model;
use super::period::{Period, nanoseconds};
use super::set::PrioritySet;
use crate::config::{Behavior, ClusterConfig, MIN_WEIGHT_UPDATE_PERIOD, Policy};
use crate::host::Directory;
use crate::records::{Periods, Records, Verdict};
use crate::reports::Weigher;
use crate::sync::Arc;

/// Weights in native move by more than this part of themselves before tables are made anew.
const MATERIAL: f64 = 1.0 / 128.0;

/// In native no host weighs less than this part of the average, so that it is asked now and then
/// and can report something else.
const LEAST: f64 = 0.01;

/// The weights of hosts that report.
#[derive(Debug)]
pub(super) struct ReportedWeights {
    behavior: Behavior,
    periods: Periods,
    /// Of passes.
    pub(super) updates: Period,
    pub(super) weigher: Arc<Weigher>,
    /// By slot; 0 for a host that has not been weighed.
    weights: Arc<[f64]>,
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
}

impl ReportedWeights {
    /// Weights for a policy that goes by reports. What was reported and weighed before stays, if
    /// the behaviour is the same. `now` is the time and a seed.
    pub(super) fn for_policy(
        config: &ClusterConfig,
        named_first: bool,
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
        Some(Self {
            behavior,
            periods: Periods {
                blackout_ns: nanoseconds(policy.blackout_period),
                expiration_ns: (expiration_ns > 0 || !is_native).then_some(expiration_ns),
                blackout_first: !is_native,
            },
            updates: Period::new(period, behavior, before.map(|before| before.updates), now),
            weigher: Arc::new(Weigher::new(policy, behavior, named_first, records)),
            weights: before.map_or_else(|| Arc::new([]) as Arc<[f64]>, Self::share),
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
    }

    /// Takes over what hosts have reported, and marks what is made from weights that changed; says
    /// whether there is any. In Envoy a change of one priority makes all schedulers start anew.
    pub(super) fn pass(&mut self, model: &mut Model) -> bool {
        let slots = model.slots.end();
        self.weigher.records.grow(slots);
        let PassFigures { passes, changes, .. } = self.figures;
        self.figures = PassFigures { passes: passes + 1, changes, ..PassFigures::default() };
        let mut weights = self.weights.to_vec();
        weights.resize(slots, 0.0);
        let Model { priorities, directory, now_ns, visible, .. } = model;
        let mut changed = false;
        for set in priorities.iter_mut() {
            if self.weigh_set(set, directory, &mut weights, *now_ns) {
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

    fn weigh_set(
        &mut self,
        set: &PrioritySet,
        directory: &Directory,
        weights: &mut [f64],
        now_ns: u64,
    ) -> bool {
        let mut hosts = Vec::with_capacity(set.order.len());
        for &slot in &set.order {
            let verdict = self.weigher.records.judge(slot, now_ns, self.periods);
            let figures = &mut self.figures;
            *match verdict {
                Verdict::Usable(_) => &mut figures.usable,
                Verdict::Blackout => &mut figures.blackout,
                Verdict::Unknown | Verdict::Failing | Verdict::Expired => &mut figures.unknown,
            } += 1;
            let usable = if let Verdict::Usable(weight) = verdict { Some(weight) } else { None };
            let configured = directory.get(slot).map_or(1, |entry| entry.weight).into();
            let is_failing = verdict == Verdict::Failing;
            hosts.push(Weighed { slot, usable, configured, is_failing });
        }
        match self.behavior {
            Behavior::Envoy => weigh_as_envoy(&hosts, weights),
            Behavior::Native => weigh(&hosts, weights),
        }
    }
}

/// A host to be weighed.
#[derive(Debug, Clone, Copy)]
struct Weighed {
    slot: u32,
    /// The weight that it reported.
    usable: Option<f64>,
    configured: f64,
    /// It has not reported, and its last request failed.
    is_failing: bool,
}

/// Whole weights of at least 1; the median for hosts without. A stored 0 never equals what is
/// made of it, so that Envoy finds a change each time.
fn weigh_as_envoy(hosts: &[Weighed], weights: &mut [f64]) -> bool {
    let mut known: Vec<f64> = hosts.iter().filter_map(|host| host.usable).collect();
    let default = match median(&mut known) {
        Some((low, high)) => ((low + high) / 2.0).floor(),
        None => 1.0,
    };
    let mut changed = false;
    for host in hosts {
        let weight = host.usable.unwrap_or(default);
        let place = &mut weights[host.slot as usize];
        let present = if *place > 0.0 { *place } else { host.configured };
        changed |= weight.to_bits() != present.to_bits();
        *place = weight.max(1.0);
    }
    changed
}

/// Real weights. Hosts without one weigh what is configured, in the unit of the others, or next to
/// nothing if they fail; without any report what is configured is all there is.
fn weigh(hosts: &[Weighed], weights: &mut [f64]) -> bool {
    let unit_of = |host: &Weighed| host.usable.map(|weight| weight / host.configured);
    let mut units: Vec<f64> = hosts.iter().filter_map(unit_of).collect();
    let unit = median(&mut units).map(|(low, high)| f64::midpoint(low, high));
    let weigh = |host: &Weighed| match (host.usable, unit) {
        (Some(weight), _) => weight,
        (None, None) => host.configured,
        (None, Some(_)) if host.is_failing => 0.0,
        (None, Some(unit)) => host.configured * unit,
    };
    let sum: f64 = hosts.iter().map(weigh).sum();
    let least = sum / length(hosts) * LEAST;
    let mut changed = false;
    for host in hosts {
        let weight = weigh(host).max(least);
        let place = &mut weights[host.slot as usize];
        if (weight - *place).abs() > MATERIAL * *place {
            *place = weight;
            changed = true;
        }
    }
    changed
}

/// The two values in the middle, which may be one.
fn median(values: &mut [f64]) -> Option<(f64, f64)> {
    values.sort_unstable_by(f64::total_cmp);
    let high = *values.get(values.len() / 2)?;
    let low = if values.len().is_multiple_of(2) { values[values.len() / 2 - 1] } else { high };
    Some((low, high))
}

#[allow(clippy::cast_precision_loss)] // hosts are far fewer than 2^53
fn length(hosts: &[Weighed]) -> f64 {
    hosts.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(slot: u32, usable: Option<f64>, configured: f64) -> Weighed {
        Weighed { slot, usable, configured, is_failing: false }
    }

    /// The weights after a pass over hosts of configured weight 1, and whether it changed any.
    fn pass(behavior: Behavior, usable: &[Option<f64>], before: &[f64]) -> (Vec<f64>, bool) {
        let hosts: Vec<Weighed> =
            (0..).zip(usable).map(|(slot, &usable)| host(slot, usable, 1.0)).collect();
        let mut weights = before.to_vec();
        let changed = match behavior {
            Behavior::Envoy => weigh_as_envoy(&hosts, &mut weights),
            Behavior::Native => weigh(&hosts, &mut weights),
        };
        (weights, changed)
    }

    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_weight_manager.cc#updateWeightsOnMainThread
    #[test]
    fn envoys_default_is_the_median_rounded_down() {
        type Row = (&'static [Option<f64>], &'static [f64], bool);
        let table: [Row; 7] = [
            (&[Some(40.0), Some(41.0), Some(42.0)], &[40.0, 41.0, 42.0], true),
            (&[Some(42.0), None, None], &[42.0; 3], true),
            (&[None, None], &[1.0, 1.0], false),
            (&[Some(5.0), Some(42.0), None], &[5.0, 42.0, 23.0], true),
            (&[Some(5.0), Some(42.0), None, None, None], &[5.0, 42.0, 23.0, 23.0, 23.0], true),
            (&[Some(10.0), Some(20.0), Some(30.0), None], &[10.0, 20.0, 30.0, 20.0], true),
            (
                &[Some(5.0), Some(42.0), Some(5000.0), None, None],
                &[5.0, 42.0, 5000.0, 42.0, 42.0],
                true,
            ),
        ];
        for (usable, expected, change) in table {
            let (weights, changed) = pass(Behavior::Envoy, usable, &vec![0.0; usable.len()]);
            assert_eq!((weights.as_slice(), changed), (expected, change), "{usable:?}");
            assert!(!pass(Behavior::Envoy, usable, &weights).1, "{usable:?} a second time");
        }
    }

    #[test]
    fn envoys_weight_of_nothing_changes_each_time() {
        let (weights, changed) = pass(Behavior::Envoy, &[Some(0.0)], &[1.0]);
        assert_eq!((weights, changed), (vec![1.0], true));
    }

    #[test]
    fn native_weights_are_real_and_none_is_too_small() {
        let (weights, _) = pass(Behavior::Native, &[Some(2.2), Some(10.0)], &[0.0; 2]);
        assert_eq!(weights, [2.2, 10.0]);
        let (weights, _) = pass(Behavior::Native, &[Some(1e-10), Some(100.0)], &[0.0; 2]);
        assert!((weights[0] - 0.5).abs() < 1e-6, "a hundredth of 50: {weights:?}");
    }

    #[test]
    fn native_weights_that_hardly_move_stay() {
        let before = [100.0, 200.0];
        let (weights, changed) = pass(Behavior::Native, &[Some(100.5), Some(199.0)], &before);
        assert_eq!((weights.as_slice(), changed), (&before[..], false));
        assert!(pass(Behavior::Native, &[Some(101.0), Some(200.0)], &before).1);
    }

    #[test]
    fn configured_weights_hold_without_reports_and_scale_beside_them() {
        let hosts = [host(0, None, 3.0), host(1, None, 5.0), host(2, None, 9.0)];
        let mut weights = [0.0; 3];
        weigh(&hosts, &mut weights);
        assert!(weights.iter().eq(&[3.0, 5.0, 9.0]), "{weights:?}");
        let hosts = [host(0, Some(300.0), 3.0), host(1, Some(500.0), 5.0), host(2, None, 9.0)];
        weigh(&hosts, &mut weights);
        assert!(weights.iter().eq(&[300.0, 500.0, 900.0]), "{weights:?}");
    }
}
