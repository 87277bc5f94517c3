//! The hosts of one priority: their order, their localities, and the parts of a snapshot that are
//! made from them.

use std::collections::BTreeMap;

use crate::host::{Directory, Locality};
use crate::policy::envoy::{Lists, Localities};
use crate::policy::native::Chunk;
use crate::priority::Tally;
use crate::sync::Arc;

/// The hosts of one priority.
#[derive(Debug)]
pub(super) struct PrioritySet {
    /// Every host, in the order of the assignment that last changed the set.
    pub(super) order: Vec<u32>,
    /// The same for snapshots, as of the last rebuild; `None` when it is out of date.
    shared_order: Option<Arc<[u32]>>,
    /// One for each locality that has hosts, the local one first, then by name.
    pub(super) buckets: Vec<Bucket>,
    /// The weights that the assignment gave to localities.
    pub(super) locality_weights: BTreeMap<Locality, u32>,
    /// Envoy's lists, in `behavior: envoy` only.
    pub(super) lists: Arc<Lists>,
    /// Something changed that the lists are made from.
    pub(super) lists_are_stale: bool,
    /// Hosts came, left, or changed in a way that Envoy counts as an update of the host set.
    pub(super) updated: bool,
    /// How many such updates were published.
    pub(super) updates: u64,
    /// Something changed that is counted by locality, in `behavior: native` only.
    pub(super) recounts: bool,
    /// Hosts came or left.
    pub(super) membership_changed: bool,
    /// Hosts in slow start have less than their weights give them, in `behavior: native` only.
    pub(super) is_warming: bool,
    /// The largest weight that follows from reports, in `behavior: native` only.
    pub(super) largest_reported: f64,
    /// For each source what the localities get of it, in `behavior: native` only; `None` if that is
    /// up to their hosts.
    pub(super) shares: [Option<Arc<[u64]>>; 3],
    /// How Envoy chooses a locality, in `behavior: envoy` only.
    pub(super) localities: Localities,
    /// The positions of the lists of each locality, three of them from this one on.
    pub(super) list_numbers: Vec<usize>,
    /// The policies of each locality by source, in Envoy's load-aware routing; 0 for none.
    pub(super) children: Vec<[u64; 3]>,
    /// Utilizations of the localities by source, if routing goes by them. For people.
    pub(super) utilizations: [Arc<[f64]>; 3],
}

/// The hosts of one priority and locality.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) locality: Arc<Locality>,
    /// Slots, ascending, so that the order of messages does not matter to what is built.
    pub(super) members: Vec<u32>,
    pub(super) tally: Tally,
    /// The chunks of the healthy, the degraded, and the failed hosts that panic may use.
    pub(super) chunks: [Option<Arc<Chunk>>; 3],
    /// Something changed that the tally or the chunks are made from.
    pub(super) dirty: bool,
    /// When the chunks are out of date because hosts warm up.
    pub(super) next_step_ns: Option<u64>,
}

impl Bucket {
    fn new(locality: Arc<Locality>) -> Self {
        Self {
            locality,
            members: Vec::new(),
            tally: Tally::default(),
            chunks: [None, None, None],
            dirty: true,
            next_step_ns: None,
        }
    }
}

impl Default for PrioritySet {
    /// An empty set, as it is when a higher priority is named.
    fn default() -> Self {
        Self {
            order: Vec::new(),
            shared_order: None,
            buckets: Vec::new(),
            locality_weights: BTreeMap::new(),
            lists: Arc::default(),
            lists_are_stale: false,
            updated: true,
            updates: 0,
            recounts: true,
            membership_changed: false,
            is_warming: false,
            largest_reported: 0.0,
            shares: [None, None, None],
            localities: Localities::default(),
            list_numbers: Vec::new(),
            children: Vec::new(),
            utilizations: Default::default(),
        }
    }
}

impl PrioritySet {
    /// The set's own figures: the sum over its localities.
    pub(super) fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        self.buckets.iter().for_each(|bucket| sum += bucket.tally);
        sum
    }

    /// Whether the first locality is the proxy's own.
    pub(super) fn has_local(&self, node: Option<&Locality>) -> bool {
        self.buckets.first().is_some_and(|bucket| Some(&*bucket.locality) == node)
    }

    /// The weight that the assignment gave to the locality of a bucket, or 0.
    pub(super) fn locality_weight(&self, bucket: &Bucket) -> u32 {
        self.locality_weights.get(&*bucket.locality).copied().unwrap_or(0)
    }

    /// Replaces the members. Buckets keep their chunks, which are compared before they are built
    /// again.
    pub(super) fn replace(
        &mut self,
        order: Vec<u32>,
        directory: &Directory,
        node: Option<&Locality>,
    ) {
        let mut old = std::mem::take(&mut self.buckets);
        for &slot in &order {
            let Some(entry) = directory.get(slot) else { continue };
            let locality = &entry.place.locality;
            if let Some(bucket) = self.buckets.last_mut()
                && bucket.locality == *locality
            {
                // Groups arrive together, so the bucket before is nearly always the right one.
                bucket.members.push(slot);
                continue;
            }
            let place = self.bucket_index(locality, node).unwrap_or_else(|place| {
                let kept = old.iter().position(|bucket| bucket.locality == *locality);
                let bucket = match kept {
                    Some(kept) => {
                        Bucket { members: Vec::new(), dirty: true, ..old.swap_remove(kept) }
                    }
                    None => Bucket::new(Arc::clone(locality)),
                };
                self.buckets.insert(place, bucket);
                place
            });
            self.buckets[place].members.push(slot);
        }
        self.buckets.iter_mut().for_each(|bucket| bucket.members.sort_unstable());
        self.order = order;
        self.shared_order = None;
        self.mark_updated();
    }

    /// Adds one host at the end.
    pub(super) fn insert(&mut self, slot: u32, locality: &Arc<Locality>, node: Option<&Locality>) {
        self.order.push(slot);
        self.shared_order = None;
        let index = self.bucket_index(locality, node).unwrap_or_else(|place| {
            self.buckets.insert(place, Bucket::new(Arc::clone(locality)));
            place
        });
        let bucket = &mut self.buckets[index];
        if let Err(place) = bucket.members.binary_search(&slot) {
            bucket.members.insert(place, slot);
        }
        bucket.dirty = true;
        self.mark_updated();
    }

    /// Takes one host out.
    pub(super) fn remove(&mut self, slot: u32, locality: &Locality, node: Option<&Locality>) {
        self.order.retain(|&other| other != slot);
        self.shared_order = None;
        if let Ok(index) = self.bucket_index(locality, node) {
            let bucket = &mut self.buckets[index];
            if let Ok(place) = bucket.members.binary_search(&slot) {
                bucket.members.remove(place);
            }
            bucket.dirty = true;
            if bucket.members.is_empty() {
                self.buckets.remove(index);
            }
        }
        self.mark_updated();
    }

    /// Notes that a member changed in a way that its bucket's parts are made from; `updated` if
    /// Envoy would see it.
    pub(super) fn touch(&mut self, locality: &Locality, node: Option<&Locality>, updated: bool) {
        if let Ok(index) = self.bucket_index(locality, node) {
            self.buckets[index].dirty = true;
        }
        self.updated |= updated;
        self.lists_are_stale = true;
    }

    /// Whether some bucket's chunks are out of date.
    pub(super) fn is_dirty(&self) -> bool {
        self.buckets.iter().any(|bucket| bucket.dirty)
    }

    /// Marks the buckets whose weights are out of date by now; says whether there are any.
    pub(super) fn warm_up(&mut self, now_ns: u64) -> bool {
        let mut any = false;
        for bucket in &mut self.buckets {
            let is_due = bucket.next_step_ns.is_some_and(|step_ns| step_ns <= now_ns);
            bucket.dirty |= is_due;
            any |= is_due;
        }
        any
    }

    /// The order for a snapshot, which shares it with those before.
    pub(super) fn share_order(&mut self) -> Arc<[u32]> {
        Arc::clone(self.shared_order.get_or_insert_with(|| self.order.as_slice().into()))
    }

    /// Marks everything as out of date, for a change of policy or behaviour.
    pub(super) fn invalidate(&mut self) {
        self.mark_buckets();
        self.mark_updated();
    }

    /// Marks all buckets as out of date.
    pub(super) fn mark_buckets(&mut self) {
        self.buckets.iter_mut().for_each(|bucket| bucket.dirty = true);
    }

    fn mark_updated(&mut self) {
        self.updated = true;
        self.recounts = true;
        self.lists_are_stale = true;
    }

    /// Where the locality's bucket is, or where it belongs: the local one first, then by name.
    pub(super) fn bucket_index(
        &self,
        locality: &Locality,
        node: Option<&Locality>,
    ) -> Result<usize, usize> {
        let key = |locality: &Locality| Some(locality) != node;
        self.buckets.binary_search_by(|bucket| {
            key(&bucket.locality).cmp(&key(locality)).then_with(|| (*bucket.locality).cmp(locality))
        })
    }
}
