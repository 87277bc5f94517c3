//! Counting the hosts of a list by health.

use std::ops::AddAssign;

use crate::host::{CoarseHealth, EdsHealth, HealthFlags};

/// Hosts and weights by health. Excluded hosts are also counted by their health, normally as
/// unhealthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// All hosts.
    pub hosts: u64,
    /// Hosts that get traffic first.
    pub healthy: u64,
    /// Hosts that get what the healthy ones cannot take.
    pub degraded: u64,
    /// Hosts that are left out of every percentage.
    pub excluded: u64,
    /// Hosts that panic may send to in `behavior: native`.
    pub available_in_panic: u64,
    /// The sum of all weights.
    pub weight: u64,
    /// The sum of the healthy hosts' weights.
    pub healthy_weight: u64,
    /// The sum of the degraded hosts' weights.
    pub degraded_weight: u64,
    /// The sum of the excluded hosts' weights.
    pub excluded_weight: u64,
}

impl Tally {
    /// Counts one host.
    pub(crate) fn count(&mut self, flags: HealthFlags, eds: EdsHealth, weight: u32) {
        let weight = u64::from(weight);
        self.hosts += 1;
        self.weight += weight;
        match flags.coarse() {
            CoarseHealth::Healthy => {
                self.healthy += 1;
                self.healthy_weight += weight;
            }
            CoarseHealth::Degraded => {
                self.degraded += 1;
                self.degraded_weight += weight;
            }
            CoarseHealth::Unhealthy => {}
        }
        if flags.excluded() {
            self.excluded += 1;
            self.excluded_weight += weight;
        }
        self.available_in_panic += u64::from(!eds.takes_out());
    }

    /// What is healthy, what is degraded, and what both are parts of, by hosts or by weight; `None`
    /// if every host is excluded.
    pub(crate) fn available(&self, by_weight: bool) -> Option<(u64, u64, u64)> {
        if self.considered() == 0 {
            None
        } else if by_weight {
            let total = self.weight - self.excluded_weight;
            Some((self.healthy_weight, self.degraded_weight, total))
        } else {
            Some((self.healthy, self.degraded, self.considered()))
        }
    }

    /// Hosts that percentages are taken of.
    fn considered(&self) -> u64 {
        self.hosts - self.excluded
    }

    /// The available share in percent by hosts, the figure that the panic threshold is compared
    /// with: overprovisioning and weights do not enter.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#isHostSetInPanic
    #[allow(clippy::cast_precision_loss)] // host counts are far below 2^53
    pub(crate) fn available_percent(&self) -> f64 {
        let considered = self.considered();
        if considered == 0 {
            return 0.0;
        }
        let percent = |hosts: u64| 100.0 * hosts as f64 / considered as f64;
        percent(self.healthy) + percent(self.degraded)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.hosts += other.hosts;
        self.healthy += other.healthy;
        self.degraded += other.degraded;
        self.excluded += other.excluded;
        self.available_in_panic += other.available_in_panic;
        self.weight += other.weight;
        self.healthy_weight += other.healthy_weight;
        self.degraded_weight += other.degraded_weight;
        self.excluded_weight += other.excluded_weight;
    }
}
