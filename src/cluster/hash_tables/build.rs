//! From hosts to a table, with what was worked out for them before.

use std::collections::HashMap;

use super::cache::Candidate;
use super::{Kind, Settings};
use crate::config::{Behavior, HashFunction};
use crate::hashing::{self, Before, Maglev, Modulus, Permutation, Ring};
use crate::host::{Address, Entry, Place};
use crate::policy::HostId;
use crate::policy::hashed::{HashTable, Shape};
use crate::sync::Arc;

/// For each unit of its weight a host has an eighth of the smallest ring in points.
const UNITS: u32 = 8;

/// A table and what it was made from.
#[derive(Debug)]
pub(super) struct Built<W> {
    pub(super) members: Box<[Member<W>]>,
    pub(super) table: Arc<HashTable<W>>,
    /// Hosts whose key another one has too.
    pub(super) duplicate_keys: u64,
    derived: HashMap<HostId, Derived>,
}

/// A host of a table.
#[derive(Debug)]
pub(super) struct Member<W> {
    pub(super) host: HostId,
    pub(super) weight: W,
    address: Address,
    place: Arc<Place>,
}

/// What was worked out for a host, to be taken over by the next table.
#[derive(Debug)]
struct Derived {
    /// Its number in the table.
    member: u32,
    place: Arc<Place>,
    shape: DerivedShape,
}

#[derive(Debug, Clone, Copy)]
enum DerivedShape {
    /// How many points it has.
    Ring(u32),
    /// Where it looks for places.
    Maglev(Permutation),
}

impl<W: Copy> Member<W> {
    fn of(&(host, weight, entry): &Candidate<'_, W>) -> Self {
        let place = Arc::clone(&entry.place);
        Self { host, weight, address: entry.info.address.clone(), place }
    }
}

impl<W> Member<W> {
    /// What is hashed of it.
    pub(super) fn key(&self, settings: Settings) -> &str {
        settings.key(&self.address, &self.place)
    }

    /// Whether this host has the same key.
    pub(super) fn has_key_of(&self, entry: &Entry, settings: Settings) -> bool {
        Arc::ptr_eq(&self.place, &entry.place)
            || self.key(settings) == settings.key(&entry.info.address, &entry.place)
    }
}

/// What a behaviour has for weights.
pub(super) trait TableWeight: hashing::Weight + PartialEq {
    /// The parts that bounded load goes by.
    fn parts(weights: &[Self]) -> Box<[Self]>;
    /// The points of each member, and how large the ring is said to be.
    fn points(weights: &[Self], minimum: u32, maximum: u32) -> (Vec<u32>, Option<u64>);
}

impl TableWeight for f64 {
    fn parts(weights: &[Self]) -> Box<[Self]> {
        weights.into()
    }

    fn points(weights: &[Self], minimum: u32, maximum: u32) -> (Vec<u32>, Option<u64>) {
        let (points, size) = hashing::envoy_counts(weights, minimum, maximum);
        (points, Some(size))
    }
}

impl TableWeight for u64 {
    fn parts(weights: &[Self]) -> Box<[Self]> {
        let total = weights.iter().copied().map(u128::from).sum::<u128>().max(1);
        let part = |&weight: &u64| (u128::from(weight) << 32) / total;
        weights.iter().map(|weight| u64::try_from(part(weight)).unwrap_or(u64::MAX)).collect()
    }

    fn points(weights: &[Self], minimum: u32, maximum: u32) -> (Vec<u32>, Option<u64>) {
        (hashing::native_counts(weights, (minimum / UNITS).max(1), maximum), None)
    }
}

/// A table over some hosts, and what is to be remembered of it.
pub(super) fn build<W: TableWeight>(
    candidates: &[Candidate<'_, W>],
    settings: Settings,
    before: Option<&Built<W>>,
) -> Built<W> {
    let members: Box<[Member<W>]> = candidates.iter().map(Member::of).collect();
    let known = Known { before, settings };
    let by_key = known.by_key(&members);
    let twins = by_key.windows(2).map(|pair| [pair[0], pair[1]].map(|it| &members[it as usize]));
    let twins = twins.filter(|[one, other]| one.key(settings) == other.key(settings));
    let duplicate_keys = twins.count() as u64;
    let listed = || members.iter().collect::<Vec<_>>();
    let sorted = || by_key.iter().map(|&index| &members[index as usize]).collect::<Vec<_>>();
    // The order in the shape, that of the hosts, and how one becomes the other. What Envoy's ring
    // looks like depends on the list, and so does in which order bounded load looks at hosts.
    let (of_shape, of_hosts, order) = match (settings.behavior, settings.kind) {
        (Behavior::Native, _) => (sorted(), sorted(), None),
        (Behavior::Envoy, Kind::Ring { .. }) => (listed(), listed(), None),
        (Behavior::Envoy, Kind::Maglev { .. }) => (sorted(), listed(), Some(by_key.clone().into())),
    };
    let (shape, size, derived) = known.shape(&of_shape);
    let hosts = of_hosts.iter().map(|member| member.host).collect();
    let weights: Vec<W> = of_hosts.iter().map(|member| member.weight).collect();
    let table = HashTable::new(hosts, W::parts(&weights), (shape, order), size);
    Built { table: Arc::new(table), duplicate_keys, derived, members }
}

/// What the table before can give to the next one.
struct Known<'a, W> {
    before: Option<&'a Built<W>>,
    settings: Settings,
}

impl<W: TableWeight> Known<'_, W> {
    /// The indexes of members in the order of their keys; of equal keys in that of their addresses,
    /// or in Envoy, which leaves it open, in that of the list.
    fn by_key(&self, members: &[Member<W>]) -> Vec<u32> {
        let key = |index: u32| {
            let member = &members[index as usize];
            let is_native = self.settings.behavior == Behavior::Native;
            (member.key(self.settings).as_bytes(), is_native.then_some(&member.address), index)
        };
        let mut order: Vec<u32> = (0..).take(members.len()).collect();
        // In the order from before, which is nearly the right one, there is little left to compare.
        order.sort_by_cached_key(|&index| self.of(&members[index as usize]).map(|it| it.member));
        order.sort_by(|&one, &other| key(one).cmp(&key(other)));
        order
    }

    /// The shape over members in this order, how large it is said to be, and what to remember.
    fn shape(&self, members: &[&Member<W>]) -> (Shape, u64, HashMap<HostId, Derived>) {
        let weights: Vec<W> = members.iter().map(|member| member.weight).collect();
        let (shape, size, derived) = match self.settings.kind {
            Kind::Ring { function, minimum, maximum } => {
                let (points, size) = W::points(&weights, minimum, maximum);
                let (ring, derived) = self.ring(members, &points, function);
                let size = size.unwrap_or(ring.len() as u64);
                (Shape::Ring(ring), size, derived)
            }
            Kind::Maglev { size } => {
                let (maglev, derived) = self.maglev(members, &weights, size);
                (Shape::Maglev(maglev), size.into(), derived)
            }
        };
        let derived = (0..).zip(members).zip(derived).map(|((index, member), shape)| {
            let place = Arc::clone(&member.place);
            (member.host, Derived { member: index, place, shape })
        });
        (shape, size, derived.collect())
    }

    /// What was worked out for a host, if it has the same key.
    fn of(&self, member: &Member<W>) -> Option<&Derived> {
        let derived = self.before?.derived.get(&member.host)?;
        let key = self.settings.key(&member.address, &derived.place);
        (key == member.key(self.settings)).then_some(derived)
    }

    fn ring(
        &self,
        members: &[&Member<W>],
        points: &[u32],
        function: HashFunction,
    ) -> (Ring, Vec<DerivedShape>) {
        let keys: Vec<&str> = members.iter().map(|member| member.key(self.settings)).collect();
        let kept = |(member, &points): (&&Member<W>, &u32)| match self.of(member)? {
            Derived { member, shape: DerivedShape::Ring(before), .. } if *before == points => {
                Some(*member)
            }
            _ => None,
        };
        let kept: Vec<Option<u32>> = members.iter().zip(points).map(kept).collect();
        let before = self.before.and_then(|built| match built.table.shape() {
            Shape::Ring(ring) => Some(Before { ring, kept: &kept }),
            Shape::Maglev(_) => None,
        });
        let ring = Ring::new(&keys, points, function, before);
        (ring, points.iter().copied().map(DerivedShape::Ring).collect())
    }

    fn maglev(
        &self,
        members: &[&Member<W>],
        weights: &[W],
        size: u32,
    ) -> (Maglev, Vec<DerivedShape>) {
        let modulus = Modulus::new(size);
        let permutation = |member: &&Member<W>| match self.of(member) {
            Some(Derived { shape: DerivedShape::Maglev(permutation), .. }) => *permutation,
            _ => Permutation::new(member.key(self.settings), modulus),
        };
        let permutations: Vec<Permutation> = members.iter().map(permutation).collect();
        let maglev = Maglev::new(modulus, &permutations, weights);
        (maglev, permutations.into_iter().map(DerivedShape::Maglev).collect())
    }
}
