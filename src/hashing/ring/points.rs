//! The points of a ring while it is made: hashed, put in order, merged with those of a ring before.
//!
//! Point `i` of a member is the hash of its key, an underscore and `i` in decimal.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring

use super::{Before, MAX_POINTS};
use crate::config::HashFunction;
use crate::hashing::hash;

/// One point of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) hash: u64,
    pub(super) member: u32,
}

/// See the module.
pub(super) struct Points {
    function: HashFunction,
    /// What is hashed; its memory serves all points.
    bytes: Vec<u8>,
    points: Vec<Point>,
}

impl Points {
    pub(super) fn new(function: HashFunction) -> Self {
        Self { function, bytes: Vec::new(), points: Vec::new() }
    }

    /// Makes the points of the members that are `wanted`, in the order of their hashes.
    pub(super) fn make(&mut self, keys: &[&str], counts: &[u32], wanted: impl Fn(usize) -> bool) {
        let members = || (0..).zip(keys.iter().zip(counts)).filter(|&(member, _)| wanted(member));
        let points: usize = members().map(|(_, (_, &count))| count as usize).sum();
        self.points.reserve_exact(points.min(MAX_POINTS));
        for (member, (key, &count)) in members() {
            self.add(u32::try_from(member).unwrap_or(u32::MAX), key, count);
        }
        self.points.sort_unstable_by_key(|point| point.hash);
    }

    /// Makes the points of the members that have none in the ring before, and takes over those of
    /// the others.
    pub(super) fn make_after(&mut self, keys: &[&str], counts: &[u32], before: Before<'_>) {
        let members = keys.len().min(counts.len());
        let renamed = Renamed::new(&before, members);
        self.make(keys, counts, |member| !renamed.is_kept(member));
        let old = before
            .ring
            .iter()
            .filter_map(|(hash, member)| Some(Point { hash, member: renamed.new_index(member)? }));
        self.points = merged(&self.points, old, before.ring.len());
    }

    /// All points in their final order.
    pub(super) fn finish(mut self, keys: &[&str]) -> Vec<Point> {
        let key = |point: &Point| (keys.get(point.member as usize), point.member);
        for equal in self.points.chunk_by_mut(|one, next| one.hash == next.hash) {
            if equal.len() > 1 {
                equal.sort_unstable_by_key(key);
            }
        }
        self.points
    }

    fn add(&mut self, member: u32, key: &str, count: u32) {
        let count = (count as usize).min(MAX_POINTS - self.points.len());
        self.bytes.clear();
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.push(b'_');
        let start = self.bytes.len();
        self.bytes.push(b'0');
        for _ in 0..count {
            let hash = hash(self.function, &self.bytes);
            self.points.push(Point { hash, member });
            increment(&mut self.bytes, start);
        }
    }
}

/// Adds one to the decimal number that begins at `start`.
fn increment(bytes: &mut Vec<u8>, start: usize) {
    for digit in bytes[start..].iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    bytes.insert(start, b'1');
}

/// Two runs of points as one, both in the order of their hashes; `length` is at least that of the
/// second one.
fn merged(one: &[Point], other: impl Iterator<Item = Point>, length: usize) -> Vec<Point> {
    let mut all = Vec::with_capacity(one.len() + length);
    let mut rest = one;
    for point in other {
        let earlier = rest.iter().take_while(|next| next.hash < point.hash).count();
        let (before, after) = rest.split_at(earlier);
        all.extend_from_slice(before);
        all.push(point);
        rest = after;
    }
    all.extend_from_slice(rest);
    all
}

/// Which members of the ring before are members of the new one, and as what.
struct Renamed {
    /// For each old member the new one.
    new: Vec<Option<u32>>,
    is_kept: Vec<bool>,
}

impl Renamed {
    fn new(before: &Before<'_>, members: usize) -> Self {
        let mut renamed =
            Self { new: vec![None; before.ring.members()], is_kept: vec![false; members] };
        for (member, (is_kept, old)) in (0..).zip(renamed.is_kept.iter_mut().zip(before.kept)) {
            let place = old.and_then(|old| renamed.new.get_mut(old as usize));
            // An old member goes on as one new member at most.
            if let Some(place @ None) = place {
                *place = Some(member);
                *is_kept = true;
            }
        }
        renamed
    }

    fn is_kept(&self, member: usize) -> bool {
        self.is_kept.get(member).copied().unwrap_or(false)
    }

    fn new_index(&self, old: u32) -> Option<u32> {
        self.new.get(old as usize).copied().flatten()
    }
}
