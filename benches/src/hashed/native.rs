//! The engine's own tables, made as it makes them but for what it remembers of its hosts.

use super::{Hosts, SLOTS, Table};
use crate::config::HashFunction;
use crate::hashing::{
    Before, Group, Maglev, Modulus, Permutation, Ring, Weight, envoy_counts, native_counts,
    normalized,
};

/// For each unit of its weight a host has an eighth of the smallest ring in points.
const UNITS: u32 = 8;
const MAX_POINTS: u32 = 1 << 20;

/// A Maglev table, and the hosts of its members.
#[derive(Debug)]
pub struct MaglevTable {
    maglev: Maglev,
    slots: Box<[u32]>,
}

impl MaglevTable {
    /// With whole numbers as weights.
    #[must_use]
    pub fn native(hosts: &Hosts) -> Self {
        Self::new(&hosts.keys, &whole(hosts))
    }

    /// With floats.
    #[must_use]
    pub fn envoy(hosts: &Hosts) -> Self {
        Self::new(&hosts.keys, &parts(hosts))
    }

    fn new<W: Weight>(keys: &[String], weights: &[W]) -> Self {
        let modulus = Modulus::new(SLOTS);
        let maglev = Maglev::new(modulus, &permutations(keys, modulus), weights);
        Self { maglev, slots: numbers(keys.len()) }
    }

    /// The host of each slot.
    #[must_use]
    pub fn members(&self) -> Vec<u32> {
        self.maglev.iter().collect()
    }

    /// The host of an attempt: another one each time.
    #[inline]
    #[must_use]
    pub fn distinct(&self, hash: u64, attempt: u32) -> u32 {
        self.slots[self.maglev.distinct(hash, attempt) as usize]
    }

    /// The host of an attempt as Envoy has it.
    #[inline]
    #[must_use]
    pub fn attempt(&self, hash: u64, attempt: u32) -> u32 {
        self.slots[self.maglev.attempt(hash, attempt) as usize]
    }
}

impl Table for MaglevTable {
    #[inline]
    fn find(&self, hash: u64) -> u32 {
        self.slots[self.maglev.member(self.maglev.find(hash)) as usize]
    }
}

/// A ring, and the hosts of its members.
#[derive(Debug)]
pub struct RingTable {
    ring: Ring,
    slots: Box<[u32]>,
}

impl RingTable {
    /// With about so many points, as many for each host.
    #[must_use]
    pub fn native(hosts: &Hosts, points: u32) -> Self {
        Self::new(hosts, &native_points(hosts, points), None)
    }

    /// The same as Envoy has it.
    #[must_use]
    pub fn envoy(hosts: &Hosts, points: u32) -> Self {
        let (counts, _) = envoy_counts(&parts(hosts), points, 1 << 23);
        Self::new(hosts, &counts, None)
    }

    /// The native ring over the same hosts without the one in the middle.
    ///
    /// # Panics
    ///
    /// If there are no hosts.
    #[must_use]
    pub fn without(&self, hosts: &Hosts, points: u32) -> Self {
        let (fewer, gone) = fewer(hosts);
        let kept: Vec<Option<u32>> =
            (0..).take(hosts.keys.len()).filter(|&member| member != gone).map(Some).collect();
        let counts = native_points(&fewer, points);
        Self::new(&fewer, &counts, Some(Before { ring: &self.ring, kept: &kept }))
    }

    /// The native ring over these hosts, of which this one has all but the one in the middle.
    #[must_use]
    pub fn with(&self, hosts: &Hosts, points: u32) -> Self {
        let (_, new) = fewer(hosts);
        let old = |member: u32| match member.cmp(&new) {
            std::cmp::Ordering::Less => Some(member),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(member - 1),
        };
        let kept: Vec<Option<u32>> = (0..).take(hosts.keys.len()).map(old).collect();
        let counts = native_points(hosts, points);
        Self::new(hosts, &counts, Some(Before { ring: &self.ring, kept: &kept }))
    }

    fn new(hosts: &Hosts, counts: &[u32], before: Option<Before<'_>>) -> Self {
        let keys: Vec<&str> = hosts.keys.iter().map(String::as_str).collect();
        let ring = Ring::new(&keys, counts, HashFunction::XxHash, before);
        Self { ring, slots: numbers(keys.len()) }
    }

    /// The host of each point.
    #[must_use]
    pub fn members(&self) -> Vec<u32> {
        self.ring.iter().map(|(_, member)| member).collect()
    }

    /// The host of an attempt: another one each time.
    #[inline]
    #[must_use]
    pub fn distinct(&self, hash: u64, attempt: u32) -> u32 {
        self.slots[self.ring.distinct(hash, attempt) as usize]
    }

    /// The host of an attempt as Envoy has it.
    #[inline]
    #[must_use]
    pub fn attempt(&self, hash: u64, attempt: u32) -> u32 {
        self.slots[self.ring.attempt(hash, attempt) as usize]
    }
}

impl Table for RingTable {
    #[inline]
    fn find(&self, hash: u64) -> u32 {
        self.slots[self.ring.member(self.ring.find(hash)) as usize]
    }
}

/// The smallest size that a native ring of about so many points over so many hosts asks for.
#[must_use]
pub fn ring_minimum(points: u32, hosts: u32) -> u32 {
    points / hosts.max(1) * UNITS
}

/// The host of each slot by the rule as it is written down: in every turn every host is asked
/// whether it is due, and looks for its next free slot one by one. Floats if `as_envoy`.
#[must_use]
pub fn filled_literally(hosts: &Hosts, as_envoy: bool) -> Vec<u32> {
    if as_envoy { filled(&hosts.keys, &parts(hosts)) } else { filled(&hosts.keys, &whole(hosts)) }
}

fn filled<W: Weight>(keys: &[String], weights: &[W]) -> Vec<u32> {
    let modulus = Modulus::new(SLOTS);
    let mut orders = permutations(keys, modulus);
    let mut targets = vec![W::NOTHING; keys.len()];
    let heavier = |one: W, other: W| if other > one { other } else { one };
    let heaviest = weights.iter().copied().reduce(heavier).unwrap_or(W::ONE);
    let mut owners = vec![u32::MAX; SLOTS as usize];
    let advance = |order: &mut Permutation| {
        order.offset += order.skip;
        if order.offset >= SLOTS {
            order.offset -= SLOTS;
        }
    };
    let mut free = SLOTS;
    for turn in 1.. {
        let members = orders.iter_mut().zip(&mut targets).zip(weights);
        for (member, ((order, target), weight)) in (0..).zip(members) {
            if !weight.is_due(turn, *target) {
                continue;
            }
            *target = W::plus(*target, heaviest);
            while owners[order.offset as usize] != u32::MAX {
                advance(order);
            }
            owners[order.offset as usize] = member;
            advance(order);
            free -= 1;
            if free == 0 {
                return owners;
            }
        }
    }
    owners
}

pub(super) fn maglev(hosts: &Hosts, _: u32) -> Box<dyn Table> {
    Box::new(MaglevTable::native(hosts))
}

pub(super) fn envoy_maglev(hosts: &Hosts, _: u32) -> Box<dyn Table> {
    Box::new(MaglevTable::envoy(hosts))
}

pub(super) fn ring(hosts: &Hosts, points: u32) -> Box<dyn Table> {
    Box::new(RingTable::native(hosts, points))
}

pub(super) fn envoy_ring(hosts: &Hosts, points: u32) -> Box<dyn Table> {
    Box::new(RingTable::envoy(hosts, points))
}

fn permutations(keys: &[String], modulus: Modulus) -> Vec<Permutation> {
    keys.iter().map(|key| Permutation::new(key, modulus)).collect()
}

fn whole(hosts: &Hosts) -> Vec<u64> {
    hosts.weights.iter().copied().map(u64::from).collect()
}

fn parts(hosts: &Hosts) -> Vec<f64> {
    normalized(&[Group { weight: 1, hosts: &hosts.weights }]).weights
}

/// Points of a ring of about that size, whoever of the hosts is there.
fn native_points(hosts: &Hosts, points: u32) -> Vec<u32> {
    // With one host less each has as many as before.
    let count = u32::try_from(hosts.keys.len()).unwrap_or(u32::MAX).next_multiple_of(10);
    native_counts(&whole(hosts), ring_minimum(points, count) / UNITS, MAX_POINTS)
}

/// The same hosts without the one in the middle, and which that is.
fn fewer(hosts: &Hosts) -> (Hosts, u32) {
    let middle = hosts.keys.len() / 2;
    let mut fewer = hosts.clone();
    fewer.keys.remove(middle);
    fewer.weights.remove(middle);
    (fewer, u32::try_from(middle).unwrap_or(u32::MAX))
}

fn numbers(count: usize) -> Box<[u32]> {
    (0..).take(count).collect()
}
