//! A ring of points: each member has as many as it deserves, and a request goes to the first point
//! from its hash on.
//!
//! Points are ordered by their hashes. Those of one hash are ordered by the keys of their members,
//! then by the members' indexes.
//!
//! A guide table says for the high bits of a hash which points have the same, so that a point is
//! found in constant expected time.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
//!
//! envoy-differs: Envoy leaves the order of equal hashes to an unstable sort.

mod counts;
mod points;

pub(crate) use counts::{envoy_counts, native_counts};

use super::distinct::distinct;
use super::indexes::Indexes;
use crate::config::HashFunction;
use points::Points;

/// So many points are compared at once; a bisection follows if they were not enough.
const NEAR: usize = 4;
/// More points than that are left out, so that their indexes fit 32 bits.
const MAX_POINTS: usize = u32::MAX as usize;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ring {
    hashes: Box<[u64]>,
    /// The member of each point.
    owners: Indexes,
    members: usize,
    guide: Guide,
}

/// A ring from which another one is made that differs in a few members.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before<'a> {
    /// Made with the same hash function.
    pub(crate) ring: &'a Ring,
    /// For each member of the new ring the one of the old ring that had the same key and as many
    /// points.
    pub(crate) kept: &'a [Option<u32>],
}

impl Ring {
    /// The ring of members with these keys and numbers of points. What is the same `before` is
    /// taken over, which makes no difference but to the time that it takes.
    pub(crate) fn new(
        keys: &[&str],
        counts: &[u32],
        function: HashFunction,
        before: Option<Before<'_>>,
    ) -> Self {
        let mut points = Points::new(function);
        match before {
            Some(before) => points.make_after(keys, counts, before),
            None => points.make(keys, counts, |_| true),
        }
        let points = points.finish(keys);
        let members = keys.len().min(counts.len());
        let hashes: Box<[u64]> = points.iter().map(|point| point.hash).collect();
        let owners = points.iter().map(|point| point.member).collect();
        let guide = Guide::new(&hashes);
        Self { hashes, owners: Indexes::new(owners, members), members, guide }
    }

    /// The first point from `hash` on; after the last one comes the first.
    ///
    /// //= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#chooseHost
    #[inline]
    pub(crate) fn find(&self, hash: u64) -> usize {
        let point = self.guide.find(&self.hashes, hash);
        if point < self.hashes.len() { point } else { 0 }
    }

    /// The member that a point belongs to. There is none if there are no points.
    #[inline]
    pub(crate) fn member(&self, point: usize) -> u32 {
        self.owners.get(point)
    }

    /// The member of an attempt, from 0 on, as Envoy has it: that of the next point, which may
    /// well be the same.
    ///
    /// //= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#chooseHost
    pub(crate) fn attempt(&self, hash: u64, attempt: u32) -> u32 {
        self.member(self.after(self.find(hash), attempt as usize))
    }

    /// The member of an attempt, from 0 on: for each another one, in the order in which their
    /// points follow.
    pub(crate) fn distinct(&self, hash: u64, attempt: u32) -> u32 {
        let point = self.find(hash);
        distinct(hash, attempt, self.members, |step| self.member(self.after(point, step)))
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The number of members, those without a point among them.
    pub(crate) fn members(&self) -> usize {
        self.members
    }

    /// The hash and the member of each point, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (u64, u32)> {
        self.hashes.iter().copied().zip(self.owners.iter())
    }

    /// The point so many steps after another.
    #[inline]
    fn after(&self, point: usize, steps: usize) -> usize {
        let (place, points) = (point.wrapping_add(steps), self.hashes.len());
        // Few steps go around, so that few divide.
        if place < points { place } else { place.checked_rem(points).unwrap_or(0) }
    }
}

/// For each value of the high bits of a hash the first point that has it or a greater one, and
/// the number of points in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Guide {
    starts: Box<[u32]>,
    shift: u32,
}

impl Guide {
    /// A guide to hashes in order, with a bucket for each of them or more.
    fn new(hashes: &[u64]) -> Self {
        // At least two buckets, so that the shift is less than the width.
        let bits = hashes.len().next_power_of_two().ilog2().max(1);
        let guide = Self { starts: Box::default(), shift: u64::BITS - bits };
        // Sums of counts, because a walk through both would mispredict at each bucket.
        let mut starts = vec![0; (1 << bits) + 1];
        for &hash in hashes {
            starts[guide.bucket(hash) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { starts: starts.into(), ..guide }
    }

    /// The first of the hashes that is at least `hash`; their number if there is none.
    #[inline]
    fn find(&self, hashes: &[u64], hash: u64) -> usize {
        let bucket = self.bucket(hash);
        let start = self.starts[bucket] as usize;
        // Nearly always it is among these; to count them takes no branch that depends on the hash.
        let near = hashes.get(start..).and_then(|hashes| hashes.first_chunk::<NEAR>());
        let before = near.map_or(NEAR, |near| near.iter().filter(|&&other| other < hash).count());
        if before < NEAR {
            return start + before;
        }
        self.bisect(hashes, hash, bucket)
    }

    /// The same in a crowded bucket, or at the end.
    #[cold]
    fn bisect(&self, hashes: &[u64], hash: u64, bucket: usize) -> usize {
        let [start, end] = [bucket, bucket + 1].map(|bucket| self.starts[bucket] as usize);
        let crowd = hashes.get(start..end).unwrap_or_default();
        start + crowd.partition_point(|&other| other < hash)
    }

    #[inline(always)]
    fn bucket(&self, hash: u64) -> usize {
        usize::try_from(hash >> self.shift).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests;
