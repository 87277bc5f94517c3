//! Envoy's priority loads: integer percents, with everything that follows from them.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#recalculatePerPriorityState

use super::{Loads, Rules, Tally, distribute, spread_by_hosts};

/// Loads are whole percents.
pub(crate) const SCALE: u64 = 100;

/// Envoy's conversion of a configured percentage: 29, 57 and 58 lose one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 100, checked before
pub(crate) fn truncated_percent(percent: f64) -> u64 {
    (100.0 * (percent / 100.0)) as u64
}

/// The loads after an update. `loads` are the ones before it, because two cases leave parts of
/// them standing: when nothing is available and panic is off, old panic flags and the old loads
/// of all priorities but the first remain.
pub(crate) fn recalculate(loads: &mut Loads, tallies: &[Tally], rules: Rules) {
    loads.resize(tallies.len());
    loads.healthy_hosts = 0;
    let availability: Vec<_> = tallies.iter().map(|tally| availability(tally, rules)).collect();
    let sum = availability.iter().map(|&(healthy, degraded)| healthy + degraded).sum::<u64>();
    let available = sum.min(SCALE);
    if available > 0 {
        distribute(loads, &availability, SCALE, |availability| availability * SCALE / available);
        loads.healthy_hosts = tallies.iter().map(|tally| tally.healthy).sum();
    }
    panic(loads, tallies, rules, available);
}

fn panic(loads: &mut Loads, tallies: &[Tally], rules: Rules, available: u64) {
    let threshold = rules.panic_threshold;
    if threshold <= 0.0 && available == 0 {
        loads.healthy[0] = SCALE;
        return;
    }
    for (panic, tally) in loads.panic.iter_mut().zip(tallies) {
        *panic = available != SCALE && tally.available_percent() < threshold;
    }
    if loads.panic.iter().all(|&panic| panic) {
        let hosts: Vec<_> = tallies.iter().map(|tally| tally.hosts).collect();
        spread_by_hosts(loads, &hosts, SCALE);
    }
}

/// A priority's healthy and degraded availability, 0 to 100.
fn availability(tally: &Tally, rules: Rules) -> (u64, u64) {
    let Some((healthy, degraded, total)) = tally.available(rules.weighted) else { return (0, 0) };
    let factor = u128::from(rules.overprovisioning_factor);
    let percent = |part: u64| {
        let percent = factor * u128::from(part) / u128::from(total);
        u64::try_from(percent).unwrap_or(SCALE).min(SCALE)
    };
    (percent(healthy), percent(degraded))
}

/// Which priority a number chooses, and whether its healthy hosts: the first whose running sum
/// reaches `hash mod 100 + 1`, all healthy loads before all degraded ones.
//= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#choosePriority
#[inline]
pub(crate) fn choose(healthy: &[u64], degraded: &[u64], hash: u64) -> (usize, bool) {
    let wanted = hash % SCALE + 1;
    let mut sum = 0;
    for (kind, loads) in [(true, healthy), (false, degraded)] {
        for (priority, load) in loads.iter().enumerate() {
            sum += load;
            if wanted <= sum {
                return (priority, kind);
            }
        }
    }
    (0, true)
}
