//! What hosts have reported, added up by locality.

use crate::cluster::model::Model;
use crate::cluster::set::PrioritySet;
use crate::config::Behavior;
use crate::host::{CoarseHealth, Entry, Locality};
use crate::locality::load_aware::Zone;
use crate::policy::Source;
use crate::records::{Periods, Records, Verdict};
use crate::sync::Arc;

/// What was counted in one locality.
#[derive(Debug, Default)]
pub(super) struct Count {
    hosts: u32,
    eligible: u32,
    weight: f64,
    reporting: u32,
    utilizations: f64,
    ages_ns: u128,
}

/// What counting goes by.
pub(super) struct Counter<'a> {
    pub(super) behavior: Behavior,
    pub(super) records: &'a Records,
    pub(super) periods: Periods,
    pub(super) model: &'a Model,
}

impl Counter<'_> {
    /// Counts one source of a priority, by locality.
    pub(super) fn count(&self, set: &PrioritySet, source: Source) -> Vec<Count> {
        let mut counts = Vec::with_capacity(set.buckets.len());
        for (index, bucket) in set.buckets.iter().enumerate() {
            let hosts = u32::try_from(bucket.members.len()).unwrap_or(u32::MAX);
            let mut count = Count { hosts, ..Count::default() };
            // Envoy adds up in the order of its lists, which shows in the last bits.
            match (self.behavior, set.lists.localities.get(index)) {
                (Behavior::Envoy, Some(lists)) => {
                    lists[source as usize].slots().for_each(|slot| self.add(slot, &mut count));
                }
                _ => {
                    let slots = bucket.members.iter().copied();
                    let is_eligible = |slot: &u32| self.is_eligible(*slot, source);
                    slots.filter(is_eligible).for_each(|slot| self.add(slot, &mut count));
                }
            }
            counts.push(count);
        }
        counts
    }

    fn is_eligible(&self, slot: u32, source: Source) -> bool {
        let fits = |entry: &Entry| match source {
            Source::Healthy => entry.flags.coarse() == CoarseHealth::Healthy,
            Source::Degraded => entry.flags.coarse() == CoarseHealth::Degraded,
            Source::All => {
                !(entry.eds.takes_out() && entry.flags.coarse() == CoarseHealth::Unhealthy)
            }
        };
        self.model.directory.get(slot).is_some_and(fits)
    }

    fn add(&self, slot: u32, count: &mut Count) {
        let weight = self.model.directory.get(slot).map_or(0, |entry| entry.weight);
        count.eligible += 1;
        count.weight += f64::from(weight);
        let now_ns = self.model.now_ns;
        if let Verdict::Usable(utilization) = self.records.judge(slot, now_ns, self.periods) {
            let reported_ns = self.records.last(slot, now_ns).map_or(now_ns, |last| last.now_ns);
            count.reporting += 1;
            count.utilizations += utilization;
            count.ages_ns += u128::from(now_ns.saturating_sub(reported_ns));
        }
    }
}

impl Count {
    /// The same as the arithmetic wants it.
    pub(super) fn zone<'a>(&self, identity: &'a Arc<Locality>) -> Zone<'a> {
        let age_ns = self.ages_ns / u128::from(self.reporting.max(1));
        Zone {
            identity,
            hosts: self.hosts,
            eligible: self.eligible,
            weight: self.weight,
            reporting: self.reporting,
            utilizations: self.utilizations,
            age_ns: u64::try_from(age_ns).unwrap_or(u64::MAX),
        }
    }
}
