//! Maglev: a table of slots, of which each member owns as many as it deserves; a request goes to
//! the slot that its hash, modulo the size, names.
//!
//! Members claim slots in turns, each in an order of its own that its key decides. So tables of
//! nearly the same members are nearly the same.
//!
//! Members come sorted by key. Then the table does not depend on the order in which hosts are
//! known; who has equal keys is told apart by the caller.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevTable

mod fill;
mod modulus;
mod slots;
mod weight;

pub(crate) use modulus::Modulus;
pub(crate) use weight::Weight;

use super::distinct::distinct;
use super::indexes::Indexes;
use super::xxhash64;

/// The order in which a member prefers slots: from the offset on in equal steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permutation {
    pub(crate) offset: u32,
    pub(crate) skip: u32,
}

impl Permutation {
    /// That of the member with this key. It is worth keeping between tables.
    ///
    /// //= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevTable
    #[allow(clippy::cast_possible_truncation)] // less than the size
    pub(crate) fn new(key: &str, modulus: Modulus) -> Self {
        let skip = xxhash64(key.as_bytes(), 1) % (u64::from(modulus.size()) - 1) + 1;
        Self { offset: modulus.of(xxhash64(key.as_bytes(), 0)), skip: skip as u32 }
    }

    /// The same if it was made for this size; otherwise one that is.
    fn within(&self, modulus: Modulus) -> Self {
        let size = modulus.size();
        Self { offset: self.offset % size, skip: (self.skip % size).max(1) }
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Maglev {
    modulus: Modulus,
    members: usize,
    /// The member that owns each slot; empty with less than two members.
    owners: Indexes,
}

impl Maglev {
    /// The table of members with these permutations and weights, sorted by key. Weights may be
    /// floats, as Envoy has them, or whole numbers. If none is positive, all are equal.
    pub(crate) fn new<W: Weight>(
        modulus: Modulus,
        permutations: &[Permutation],
        weights: &[W],
    ) -> Self {
        let members = permutations.len().min(weights.len());
        let owners = match members {
            0 | 1 => Vec::new(),
            _ => fill::fill(modulus, permutations, weights),
        };
        Self { modulus, members, owners: Indexes::new(owners, members) }
    }

    /// The slot of a hash.
    ///
    /// //= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#chooseHost
    #[inline]
    pub(crate) fn find(&self, hash: u64) -> usize {
        self.modulus.of(hash) as usize
    }

    /// The member that owns a slot. There is none if there are no members.
    #[inline]
    pub(crate) fn member(&self, slot: usize) -> u32 {
        self.owners.get(slot)
    }

    /// The member of an attempt, from 0 on, as Envoy has it; it may well be the same again.
    ///
    /// //= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#chooseHost
    pub(crate) fn attempt(&self, hash: u64, attempt: u32) -> u32 {
        self.member(self.find(hash ^ u64::from(attempt).wrapping_neg()))
    }

    /// The member of an attempt, from 0 on: for each another one, in the order in which their
    /// slots follow.
    pub(crate) fn distinct(&self, hash: u64, attempt: u32) -> u32 {
        let slot = self.find(hash);
        let size = self.modulus.size() as usize;
        distinct(hash, attempt, self.members, |step| {
            let place = slot + step;
            // Few steps go around, so that few divide.
            self.member(if place < size { place } else { place % size })
        })
    }

    /// The number of slots.
    pub(crate) fn len(&self) -> usize {
        self.modulus.size() as usize
    }

    /// How many slots each member owns. A single member has no table; as in Envoy's gauges it
    /// counts as owning one slot.
    ///
    /// //= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevTable
    pub(crate) fn counts(&self) -> Vec<u32> {
        if self.members == 1 {
            return vec![1];
        }
        let mut counts = vec![0; self.members];
        for member in self.owners.iter() {
            if let Some(count) = counts.get_mut(member as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// The member of each slot, in order; none without members.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = u32> {
        let slots = if self.members == 0 { 0 } else { self.len() };
        (0..slots).map(|slot| self.member(slot))
    }
}

#[cfg(test)]
mod tests;
