//! How often Envoy builds the tables of its hash policies.
//!
//! It builds those of all priorities each time. How often that is depends on two switches, which it
//! reads when a policy is made; here tables are counted as it would build them, and built only if
//! they differ.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#ThreadAwareLoadBalancerBase::initialize

use super::runtime::{BATCH_AWARE_UPDATE, COALESCE_REBUILDS, Runtime};

/// See the module.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Refreshes {
    /// Both switches are on.
    once_per_batch: bool,
    /// Tables that Envoy would have built since the cluster was opened.
    pub(super) tables: u64,
}

impl Refreshes {
    /// A policy is made for this many priorities.
    pub(super) fn make_policy(&mut self, runtime: &Runtime, priorities: usize) {
        self.once_per_batch =
            runtime.is_on(COALESCE_REBUILDS, true) && runtime.is_on(BATCH_AWARE_UPDATE, true);
        self.refresh(priorities);
    }

    /// The first assignment comes in one batch, in the middle of which the policy is made.
    pub(super) fn end_first_batch(&mut self, priorities: usize) {
        if self.once_per_batch {
            self.refresh(priorities);
        }
    }

    /// A batch of hosts came in. `updated` has the priorities that it changed, in order; `before` is
    /// how many there were.
    pub(super) fn take_batch(&mut self, updated: &[usize], before: usize, priorities: usize) {
        if self.once_per_batch {
            self.refresh(priorities);
        } else {
            updated.iter().for_each(|&index| self.refresh(before.max(index + 1)));
        }
    }

    /// The health of so many hosts changed, one after the other: each updates every priority by
    /// itself.
    pub(super) fn take_health(&mut self, hosts: u64, priorities: usize) {
        self.tables += hosts * (priorities * priorities) as u64;
    }

    fn refresh(&mut self, priorities: usize) {
        self.tables += priorities as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime(coalesce: bool, batch_aware: bool) -> Runtime {
        let mut runtime = Runtime::default();
        runtime.set(COALESCE_REBUILDS, Some(coalesce.into()));
        runtime.set(BATCH_AWARE_UPDATE, Some(batch_aware.into()));
        runtime
    }

    /// Tables that one event builds after a policy was made for three priorities.
    fn tables(runtime: &Runtime, event: impl FnOnce(&mut Refreshes)) -> u64 {
        let mut refreshes = Refreshes::default();
        refreshes.make_policy(runtime, 3);
        let before = refreshes.tables;
        event(&mut refreshes);
        refreshes.tables - before
    }

    #[test]
    fn tables_are_counted_as_envoy_builds_them() {
        let switches = [(true, true), (true, false), (false, true), (false, false)];
        type Event = fn(&mut Refreshes);
        let table: [(&str, Event, [u64; 4]); 6] = [
            ("a host in each of 3 priorities", |it| it.take_batch(&[0, 1, 2], 3, 3), [3, 9, 9, 9]),
            ("a host in one", |it| it.take_batch(&[1], 3, 3), [3, 3, 3, 3]),
            ("a host that moves", |it| it.take_batch(&[1, 2], 3, 3), [3, 6, 6, 6]),
            ("nothing new", |it| it.take_batch(&[], 3, 3), [3, 0, 0, 0]),
            ("a health check", |it| it.take_health(1, 3), [9, 9, 9, 9]),
            ("the first assignment", |it| it.end_first_batch(3), [3, 0, 0, 0]),
        ];
        for (what, event, expected) in table {
            let counts = switches.map(|(coalesce, batch)| tables(&runtime(coalesce, batch), event));
            assert_eq!(counts, expected, "{what}, by switches {switches:?}");
        }
    }
}
