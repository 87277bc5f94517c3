//! Bounded load: a member that has more than its share of the active requests sends some of them
//! to others.
//!
//! Envoy gives each member slots in proportion to its part of the whole and asks members in an
//! order that the request's hash decides until one has a slot free; see [`choose`].
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer
//!
//! envoy-differs: Envoy's bound does not hold, because it asks for the load before the request and
//! not after. Native has a [`Bound`], which does.

mod shuffle;
mod twister;

use shuffle::Shuffle;

/// The slots of the whole cluster for a factor in percent, as Envoy counts them: in 32 bits, which
/// may overflow.
///
/// //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#hostOverloadFactor
pub(crate) fn total_slots(active: u32, factor: u32) -> u32 {
    active.wrapping_add(1).wrapping_mul(factor).wrapping_add(99) / 100
}

/// How loaded a member is that has this part of the whole: overloaded above 1.
///
/// //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#hostOverloadFactor
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a part of 32 bits
pub(crate) fn overload(active: u32, total_slots: u32, weight: f64) -> f64 {
    let slots = (f64::from(total_slots) * weight).ceil() as u32;
    f64::from(active) / f64::from(slots.max(1))
}

/// The member that gets a request: `primary`, unless it is overloaded; then the first one in an
/// order that the hash decides that is not; if all are, the one that is overloaded least.
///
/// `is_primary` is for members that are the same host as the primary; they are passed over. The
/// order is kept in `scratch`, which needs room for as many as there are members.
///
/// //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer
pub(crate) fn choose(
    hash: u64,
    primary: usize,
    scratch: &mut Vec<u32>,
    members: usize,
    is_primary: impl Fn(usize) -> bool,
    overload: impl Fn(usize) -> f64,
) -> usize {
    let mut least = overload(primary);
    if least <= 1.0 {
        return primary;
    }
    let mut chosen = primary;
    for member in Shuffle::new(hash, members, scratch) {
        if is_primary(member) {
            continue;
        }
        let overload = overload(member);
        if overload <= 1.0 {
            return member;
        }
        if overload < least {
            (chosen, least) = (member, overload);
        }
    }
    chosen
}

/// How many active requests members may have, the next one included: the factor (in percent) times
/// their fair share of all active requests and the next one, rounded up, and at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    /// All active requests and the next one, times the factor.
    percents: u64,
}

impl Bound {
    pub(crate) fn new(total_active: u64, factor: u32) -> Self {
        // So many requests that this saturates are more than any host may have.
        Self { percents: total_active.saturating_add(1).saturating_mul(factor.into()) }
    }

    /// Whether a member that has so many active requests may get the next one. `share` is its part
    /// of the whole in units of 2^-32.
    #[inline]
    pub(crate) fn has_room(self, active: u32, share: u64) -> bool {
        // Less than the bound rounded up is less than the bound; so nothing needs to be divided.
        let (own, all) = (u128::from(active) * (100 << 32), u128::from(self.percents));
        active == 0 || own < all * u128::from(share)
    }
}

#[cfg(test)]
mod tests;
