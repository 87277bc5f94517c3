//! Slow start on the control side: when hosts came up, and what they weigh while they warm up.
//!
//! In `behavior: native` the tables of a snapshot are made from the weights of its moment. Each
//! bucket knows when its weights will have moved by about a hundredth; the first tick from then on
//! makes its tables anew. So shares follow the clock whatever the traffic, picks know nothing of
//! slow start, and a ramp costs a few hundred small rebuilds however often ticks come.

use super::set::PrioritySet;
use crate::host::{CoarseHealth, Directory};
use crate::policy::{HostId, NS_PER_MS, SlowStart, age_ms};

/// Notes when healthy hosts came up that have no such time yet, and the latest of all times.
//= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#recalculateHostsInSlowStart
pub(super) fn note_healthy(
    members: &[u32],
    directory: &mut Directory,
    now_ns: u64,
    latest_host_added_ns: &mut u64,
) {
    for &slot in members {
        let Some(entry) = directory.get(slot) else { continue };
        if entry.flags.coarse() != CoarseHealth::Healthy {
            continue;
        }
        let since_ns = entry.up_since_ns.unwrap_or(now_ns);
        *latest_host_added_ns = since_ns.max(*latest_host_added_ns);
        if entry.up_since_ns.is_none()
            && let Some(entry) = directory.get_mut(slot)
        {
            entry.up_since_ns = Some(since_ns);
        }
    }
}

/// Slow start at one moment.
pub(super) struct Warmup {
    pub(super) slow_start: SlowStart,
    pub(super) now_ns: u64,
}

impl Warmup {
    /// Whether slow start moves traffic between the healthy hosts of a set. Hosts that all came up
    /// at the same moment have their shares from the beginning, and one host alone has everything.
    /// When the answer changes, all buckets of the set are out of date.
    pub(super) fn divides(&self, set: &mut PrioritySet, directory: &Directory) -> bool {
        let mut healthy = set
            .order
            .iter()
            .filter_map(|&slot| directory.get(slot))
            .filter_map(|entry| entry.warming_since_ns());
        let first = healthy.next();
        let divides =
            self.slow_start.is_on(self.now_ns) && healthy.any(|since_ns| Some(since_ns) != first);
        if divides != std::mem::replace(&mut set.is_warming, divides) {
            set.mark_buckets();
        }
        divides
    }

    /// Multiplies what healthy hosts have by their factors of this moment; `next_step_ns` becomes
    /// the time from which on these are out of date.
    pub(super) fn apply(
        &self,
        hosts: &[HostId],
        directory: &Directory,
        factors: &mut [f64],
        next_step_ns: &mut Option<u64>,
    ) {
        let ramp = &self.slow_start.ramp;
        for (host, factor) in hosts.iter().zip(factors) {
            let since_ns = directory.get(host.slot).and_then(|entry| entry.up_since_ns);
            let Some(since_ns) = since_ns else { continue };
            let age_ms = age_ms(since_ns, self.now_ns);
            if age_ms < ramp.window_ms {
                let step_ns = ramp.next_step(age_ms).saturating_mul(NS_PER_MS);
                let step_ns = since_ns.saturating_add(step_ns);
                *next_step_ns = Some(next_step_ns.map_or(step_ns, |next| next.min(step_ns)));
                *factor *= ramp.factor(age_ms);
            }
        }
    }
}
