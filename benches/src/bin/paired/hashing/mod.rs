//! Hash policies: finding the host of a hash, making tables, updates, bounded load and attempts.

mod attempts;
mod bounded;
mod builds;
mod control;
mod lookups;
mod sizes;

use plimsoll::config::{Behavior, ConsistentHashing, Maglev, Policy, RingHash};
use plimsoll::{Cluster, PickContext};
use plimsoll_benches::hashed::{hash, ring_minimum};
use plimsoll_benches::scenario::{Layout, assignment, cluster};

pub(crate) fn run() {
    lookups::run();
    builds::run();
    sizes::run();
    control::run();
    bounded::run();
    attempts::run();
}

const BEHAVIORS: [Behavior; 2] = [Behavior::Native, Behavior::Envoy];

/// So many healthy hosts of equal weight in one list.
fn open(behavior: Behavior, policy: Policy, hosts: u32) -> Cluster {
    cluster(behavior, policy, &assignment(Layout::Flat, hosts, true))
}

/// A ring of about so many points over so many hosts.
fn ring_hash(behavior: Behavior, points: u32, hosts: u32) -> Policy {
    let minimum_ring_size = match behavior {
        Behavior::Native => ring_minimum(points, hosts),
        Behavior::Envoy => points,
    };
    Policy::RingHash(RingHash { minimum_ring_size, ..RingHash::default() })
}

/// Maglev with bounded load.
fn bounded_maglev(factor: u32) -> Policy {
    let consistent_hashing =
        ConsistentHashing { hash_balance_factor: Some(factor), ..ConsistentHashing::default() };
    Policy::Maglev(Maglev { consistent_hashing, ..Maglev::default() })
}

/// What a pick is told: the hash that belongs to a number.
#[inline(always)]
fn hashed(number: u64, uncounted: bool) -> PickContext {
    PickContext { hash: Some(hash(number)), uncounted, ..PickContext::new() }
}
