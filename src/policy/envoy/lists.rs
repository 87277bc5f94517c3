//! Hosts in the assignment's order, and how Envoy weighs them.

use super::super::{HostId, Selection, SlowStart};
use crate::hashing::Group;
use crate::host::{Cells, Entry};

/// The lists of one priority.
#[derive(Debug, PartialEq, Default)]
pub(crate) struct Lists {
    pub(crate) all: List,
    pub(crate) healthy: List,
    pub(crate) degraded: List,
    /// The hosts of each locality by source, if it may be chosen first.
    pub(crate) localities: Box<[[List; 3]]>,
}

/// Hosts in the assignment's order.
#[derive(Debug, PartialEq, Default)]
pub(crate) struct List {
    /// Which of a worker's positions it has.
    pub(super) number: usize,
    /// Which policy of its own it has, if it has one; 0 for none. They are never used again.
    pub(super) child: u64,
    pub(super) hosts: Vec<HostId>,
    pub(super) weights: Vec<u32>,
    /// For healthy hosts, when they came up.
    since_ns: Vec<Option<u64>>,
    /// What EDF schedulers start from: the weights of the moment when the priority was updated.
    /// `None` where Envoy takes turns without weights.
    pub(super) initial_weights: Option<Box<[f64]>>,
}

/// How Envoy weighs a host. A weight holds for the moment when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighing {
    /// Least request's; `None` for round robin.
    pub(crate) selection: Option<Selection>,
    pub(crate) slow_start: Option<SlowStart>,
}

impl<'a> FromIterator<(u32, &'a Entry, u32)> for List {
    /// From slots, what is in them, and what it weighs.
    fn from_iter<I: IntoIterator<Item = (u32, &'a Entry, u32)>>(entries: I) -> Self {
        let mut list = Self::default();
        for (slot, entry, weight) in entries {
            list.hosts.push(HostId::new(slot, entry));
            list.weights.push(weight);
            list.since_ns.push(entry.warming_since_ns());
        }
        list
    }
}

impl List {
    /// The same list with this position.
    pub(crate) fn numbered(self, number: usize) -> Self {
        Self { number, ..self }
    }

    /// The same list with this policy of its own.
    pub(crate) fn of_child(self, child: u64) -> Self {
        Self { child, ..self }
    }

    /// The slots of its hosts.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> {
        self.hosts.iter().map(|host| host.slot)
    }

    pub(crate) fn hosts(&self) -> &[HostId] {
        &self.hosts
    }

    /// Its hosts as part of a hash table, in which their locality has this weight.
    pub(crate) fn group(&self, weight: u32) -> Group<'_> {
        Group { weight, hosts: &self.weights }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Decides whether the list is scheduled by weight, as Envoy does when its priority is updated.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#EdfLoadBalancerBase::refresh
    pub(crate) fn refresh(&mut self, weighing: &Weighing, cells: &Cells, now_ns: u64) {
        let differ = self.weights.windows(2).any(|pair| pair[0] != pair[1]);
        let is_weighted = self.hosts.len() > 1 && (differ || weighing.is_warming(now_ns));
        let weight = |item| weighing.weight(self, item, cells, now_ns);
        self.initial_weights =
            is_weighted.then(|| (0..).take(self.hosts.len()).map(weight).collect());
    }
}

impl Weighing {
    fn is_warming(&self, now_ns: u64) -> bool {
        self.slow_start.is_some_and(|slow_start| slow_start.is_on(now_ns))
    }

    /// The weight of one host of a list, its requests and slow start included.
    #[inline]
    pub(super) fn weight(&self, list: &List, item: u32, cells: &Cells, now_ns: u64) -> f64 {
        let weight = f64::from(list.weights[item as usize]);
        let weight = match &self.selection {
            None => weight,
            Some(selection) => {
                selection.weight(weight, selection.load(cells, list.hosts[item as usize].slot))
            }
        };
        weight * self.factor(list, item, now_ns)
    }

    /// The weight of one host of a list while it has no requests.
    pub(super) fn idle_weight(&self, list: &List, item: usize, now_ns: u64) -> f64 {
        let factor = u32::try_from(item).map_or(1.0, |item| self.factor(list, item, now_ns));
        f64::from(list.weights[item]) * factor
    }

    #[inline]
    fn factor(&self, list: &List, item: u32, now_ns: u64) -> f64 {
        match &self.slow_start {
            Some(slow_start) if slow_start.is_on(now_ns) => {
                slow_start.factor(list.since_ns[item as usize], now_ns)
            }
            _ => 1.0,
        }
    }
}

impl Selection {
    /// How many requests a host has.
    #[inline]
    pub(super) fn load(&self, cells: &Cells, slot: u32) -> u64 {
        if self.counts_pending { cells.load_with_pending(slot) } else { cells.load(slot).into() }
    }

    /// A weight with `load` requests on it: divided by their number, the next one included, to the
    /// power of the bias. Envoy's order of operations.
    //= envoy v1.40 source/extensions/load_balancing_policies/least_request/least_request_lb.cc#hostWeight
    #[allow(clippy::float_cmp, clippy::cast_precision_loss)] // as in Envoy
    fn weight(&self, weight: f64, load: u64) -> f64 {
        let bias = self.active_request_bias;
        let requests = load.saturating_add(1) as f64;
        if bias == 1.0 {
            weight / requests
        } else if bias == 0.0 {
            weight
        } else {
            weight / requests.powf(bias)
        }
    }
}

#[cfg(test)]
impl List {
    /// Hosts of weight 1 in these slots.
    pub(super) fn of_equal_weight(slots: std::ops::Range<u32>) -> Self {
        Self {
            number: 0,
            child: 0,
            weights: vec![1; slots.len()],
            since_ns: vec![None; slots.len()],
            hosts: slots.map(|slot| HostId { slot, generation: 0 }).collect(),
            initial_weights: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= envoy v1.40 source/extensions/load_balancing_policies/least_request/least_request_lb.cc#hostWeight
    #[test]
    #[allow(clippy::approx_constant)] // numbers of a table
    fn least_request_weights_are_envoys() {
        let table = [
            (0.0, [2.0; 6]),
            (
                0.5,
                [
                    2.0,
                    1.414_213_562_373_095,
                    1.154_700_538_379_251_7,
                    0.894_427_190_999_915_9,
                    0.632_455_532_033_675_9,
                    0.2,
                ],
            ),
            (
                0.9,
                [
                    2.0,
                    1.071_773_462_536_293_1,
                    0.744_082_116_022_603,
                    0.469_847_577_235_207_54,
                    0.251_785_082_358_833_4,
                    0.031_697_863_849_222_27,
                ],
            ),
            (1.0, [2.0, 1.0, 0.666_666_666_666_666_6, 0.4, 0.2, 0.02]),
            (2.0, [2.0, 0.5, 0.222_222_222_222_222_2, 0.08, 0.02, 0.0002]),
        ];
        for (active_request_bias, expected) in table {
            let selection = Selection { choices: None, active_request_bias, counts_pending: false };
            for (load, expected) in [0, 1, 2, 4, 9, 99].into_iter().zip(expected) {
                let weight: f64 = selection.weight(2.0, load);
                assert_eq!(weight.to_bits(), f64::to_bits(expected), "{load}: {weight}");
            }
        }
    }

    #[test]
    fn absurd_biases_give_weights_that_are_no_less_than_nothing() {
        for active_request_bias in [f64::MIN_POSITIVE, 34_816.0, f64::MAX] {
            let selection = Selection { choices: None, active_request_bias, counts_pending: false };
            for load in [0, 1, u64::MAX] {
                let weight = selection.weight(1.0, load);
                assert!((0.0..=1.0).contains(&weight), "{active_request_bias}, {load}: {weight}");
            }
        }
    }
}
