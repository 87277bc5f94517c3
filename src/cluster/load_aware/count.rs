//! What hosts have reported, added up by locality: one walk over the hosts for all sources, since
//! most hosts belong to two of them.

use crate::cluster::model::Model;
use crate::cluster::set::PrioritySet;
use crate::config::Behavior;
use crate::host::{CoarseHealth, Locality};
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
    /// Counts a priority by locality, each of its sources.
    pub(super) fn count(&self, set: &PrioritySet) -> Vec<[Count; 3]> {
        let mut counts = Vec::with_capacity(set.buckets.len());
        for (index, bucket) in set.buckets.iter().enumerate() {
            let hosts = u32::try_from(bucket.members.len()).unwrap_or(u32::MAX);
            let mut own = [(); 3].map(|()| Count { hosts, ..Count::default() });
            // Envoy adds up in the order of its lists, which shows in the last bits. That of all
            // hosts has the others in it, in their order.
            match (self.behavior, set.lists.localities.get(index)) {
                (Behavior::Envoy, Some(lists)) => {
                    let slots = lists[Source::All as usize].slots();
                    slots.for_each(|slot| self.add(slot, &mut own));
                }
                _ => bucket.members.iter().for_each(|&slot| self.add(slot, &mut own)),
            }
            counts.push(own);
        }
        counts
    }

    /// Adds a host to the sources that it belongs to.
    fn add(&self, slot: u32, counts: &mut [Count; 3]) {
        let Some(entry) = self.model.directory.get(slot) else { return };
        let health = entry.flags.coarse();
        let is_out = entry.eds.takes_out() && health == CoarseHealth::Unhealthy;
        let in_all = self.behavior == Behavior::Envoy || !is_out;
        let report = self.report(slot);
        for (source, belongs) in [
            (Source::Healthy, health == CoarseHealth::Healthy),
            (Source::Degraded, health == CoarseHealth::Degraded),
            (Source::All, in_all),
        ] {
            if belongs {
                counts[source as usize].add(entry.weight, report);
            }
        }
    }

    /// What the host in `slot` reported, if that still counts.
    fn report(&self, slot: u32) -> Option<Reported> {
        match self.records.judge(slot, self.model.now_ns, self.periods) {
            Verdict::Usable { value, age_ns } => Some(Reported { utilization: value, age_ns }),
            _ => None,
        }
    }
}

/// A report that counts.
#[derive(Debug, Clone, Copy)]
struct Reported {
    utilization: f64,
    age_ns: u64,
}

impl Count {
    fn add(&mut self, weight: u32, report: Option<Reported>) {
        self.eligible += 1;
        self.weight += f64::from(weight);
        if let Some(Reported { utilization, age_ns }) = report {
            self.reporting += 1;
            self.utilizations += utilization;
            self.ages_ns += u128::from(age_ns);
        }
    }

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
