//! The same model without its rounding: loads in 2^32 fixed point, exact percents, and panic that
//! depends on nothing but the present.
//!
//! envoy-differs: availabilities are rounded up to 2^-32 instead of down to 1 %, so that one
//! healthy host of 200 gets its share and three thirds make a whole; the threshold is taken as
//! written (29 is 29); panic flags never outlive their cause; and total panic spreads by the hosts
//! that panic may use, so that a priority whose hosts were all taken out gets nothing.

use super::{Loads, Rules, Tally, distribute, scaled, spread_by_hosts};

/// The unit of loads.
pub(crate) const SCALE: u64 = 1 << 32;

/// The loads of these hosts.
pub(crate) fn loads(tallies: &[Tally], rules: Rules) -> Loads {
    let mut loads = Loads::default();
    loads.resize(tallies.len());
    let availability: Vec<_> = tallies.iter().map(|tally| availability(tally, rules)).collect();
    let sum = availability.iter().map(|&(healthy, degraded)| healthy + degraded).sum::<u64>();
    let available = sum.min(SCALE);
    if available > 0 {
        let part = |availability| scaled(SCALE, availability, available).min(SCALE);
        distribute(&mut loads, &availability, SCALE, part);
    } else {
        loads.healthy[0] = SCALE;
    }
    loads.healthy_hosts = tallies.iter().map(|tally| tally.healthy).sum();
    for (panic, tally) in loads.panic.iter_mut().zip(tallies) {
        *panic = available != SCALE && tally.available_percent() < rules.panic_threshold;
    }
    if loads.panic.iter().all(|&panic| panic) {
        let hosts: Vec<_> = tallies.iter().map(|tally| tally.available_in_panic).collect();
        spread_by_hosts(&mut loads, &hosts, SCALE);
    }
    loads
}

/// A priority's healthy and degraded availability, 0 to [`SCALE`].
fn availability(tally: &Tally, rules: Rules) -> (u64, u64) {
    let Some((healthy, degraded, total)) = tally.available(rules.weighted) else { return (0, 0) };
    let factor = u128::from(rules.overprovisioning_factor) * u128::from(SCALE);
    let whole = 100 * u128::from(total);
    let part = |part: u64| {
        // Saturates above 2^128 only, and is cut to SCALE anyway.
        let share = factor.saturating_mul(u128::from(part)).div_ceil(whole);
        u64::try_from(share).unwrap_or(SCALE).min(SCALE)
    };
    (part(healthy), part(degraded))
}
