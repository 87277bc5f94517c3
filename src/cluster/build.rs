//! From the model to the parts of a snapshot: only what changed is built.
//!
//! A part is keyed on what it was made from. A bucket that something touched is read again; where
//! the hosts and weights of one health class come out as before, the old chunk stays.

use super::model::Model;
use super::set::{Bucket, PrioritySet};
use super::warmup::{self, Warmup};
use crate::config::Behavior;
use crate::host::{CoarseHealth, Directory, Entry, Locality};
use crate::policy::envoy::{LISTS, List, Lists};
use crate::policy::native::{Chunk, Chunks, Layout, Weights};
use crate::policy::{HostId, Method, Settings, Source};
use crate::priority::Tally;
use crate::sync::Arc;

/// What parts are made with besides the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Means<'a> {
    pub(super) behavior: Behavior,
    pub(super) settings: &'a Settings,
    /// Weights that follow from reports, by slot.
    pub(super) reported: Option<&'a [f64]>,
    /// Localities may be chosen before hosts.
    pub(super) by_locality: bool,
    /// Each locality has policies of its own in Envoy.
    pub(super) has_children: bool,
}

/// Brings every part up to date and returns how many were built.
pub(super) fn rebuild(model: &mut Model, means: Means<'_>) -> u64 {
    let built = match means.behavior {
        Behavior::Native => rebuild_native(model, means),
        Behavior::Envoy => rebuild_envoy(model, means),
    };
    model.visible |= built > 0;
    built
}

/// Marks every part as out of date, for a change of policy or behaviour.
pub(super) fn invalidate(model: &mut Model) {
    model.priorities.iter_mut().for_each(PrioritySet::invalidate);
}

/// The chunks of every priority for a snapshot.
pub(super) fn chunks(model: &Model) -> Vec<Chunks> {
    let of_set = |set: &PrioritySet| Chunks {
        localities: set.buckets.iter().map(|bucket| bucket.chunks.clone()).collect(),
        shares: set.shares.clone(),
    };
    model.priorities.iter().map(of_set).collect()
}

fn rebuild_native(model: &mut Model, means: Means<'_>) -> u64 {
    let Means { settings, reported, .. } = means;
    let layout = Layout::of(settings.method);
    let Model { directory, priorities, now_ns, latest_host_added_ns, .. } = model;
    let mut built = 0;
    for set in priorities.iter_mut().filter(|set| set.is_dirty()) {
        set.recounts = true;
        for bucket in set.buckets.iter().filter(|bucket| bucket.dirty) {
            warmup::note_healthy(&bucket.members, directory, *now_ns, latest_host_added_ns);
        }
        let slow_start = settings.slow_start(*latest_host_added_ns);
        let warmup = slow_start.map(|slow_start| Warmup { slow_start, now_ns: *now_ns });
        let moment = Moment {
            warmup: warmup.filter(|warmup| warmup.divides(set, directory)),
            reported: reported.map(|weights| (weights, largest(set, weights))),
        };
        for bucket in &mut set.buckets {
            built += rebuild_bucket(bucket, directory, layout, &moment);
        }
    }
    built
}

/// The largest reported weight of a set. When it changes, all buckets are out of date: what they
/// have is a part of it.
#[allow(clippy::float_cmp)] // the same or not
fn largest(set: &mut PrioritySet, weights: &[f64]) -> f64 {
    let largest = set.order.iter().map(|&slot| of_slot(weights, slot)).fold(0.0, f64::max);
    if largest != std::mem::replace(&mut set.largest_reported, largest) {
        set.mark_buckets();
    }
    largest
}

fn of_slot(weights: &[f64], slot: u32) -> f64 {
    weights.get(slot as usize).copied().unwrap_or(0.0)
}

/// What decides about weights at one moment besides those that are configured.
struct Moment<'a> {
    warmup: Option<Warmup>,
    /// Reported weights by slot, and the largest of the set.
    reported: Option<(&'a [f64], f64)>,
}

impl Moment<'_> {
    /// The weights of one health class; `whole` are the configured ones.
    fn weights(
        &self,
        hosts: &[HostId],
        mut whole: Vec<u32>,
        is_healthy: bool,
        directory: &Directory,
        next_step_ns: &mut Option<u64>,
    ) -> Weights {
        let warmup = self.warmup.as_ref().filter(|_| is_healthy);
        let mut factors = match self.reported {
            Some((weights, largest)) if largest > 0.0 => {
                whole.fill(1);
                hosts.iter().map(|host| of_slot(weights, host.slot) / largest).collect()
            }
            _ if warmup.is_none() => return Weights::Whole(whole),
            _ => vec![1.0; hosts.len()],
        };
        if let Some(warmup) = warmup {
            warmup.apply(hosts, directory, &mut factors, next_step_ns);
        }
        if factors.iter().all(|&factor| factor >= 1.0) {
            return Weights::Whole(whole);
        }
        Weights::scaled(&whole, &factors)
    }
}

/// The hosts and weights of one health class.
type Class = (Vec<HostId>, Vec<u32>);

fn rebuild_bucket(
    bucket: &mut Bucket,
    directory: &Directory,
    layout: Layout,
    moment: &Moment<'_>,
) -> u64 {
    if !std::mem::take(&mut bucket.dirty) {
        return 0;
    }
    let (tally, classes) = classify(&bucket.members, directory, |_, entry| entry.weight);
    bucket.tally = tally;
    bucket.next_step_ns = None;
    let mut built = 0;
    for (class, (hosts, weights)) in classes.into_iter().enumerate() {
        // The healthy ones come first.
        let next_step_ns = &mut bucket.next_step_ns;
        let weights = moment.weights(&hosts, weights, class == 0, directory, next_step_ns);
        let chunk = &mut bucket.chunks[class];
        if chunk.as_ref().is_some_and(|chunk| chunk.is_made_from(&hosts, &weights, layout)) {
            continue;
        }
        *chunk = if hosts.is_empty() {
            None
        } else {
            built += 1;
            Some(Arc::new(Chunk::new(&hosts, weights, layout)))
        };
    }
    built
}

/// The hosts in these slots.
fn entries<'a>(
    slots: &'a [u32],
    directory: &'a Directory,
) -> impl Iterator<Item = (u32, &'a Entry)> {
    slots.iter().filter_map(|&slot| Some((slot, directory.get(slot)?)))
}

/// Counts the members and sorts them into healthy, degraded, and failed but usable in panic.
fn classify(
    members: &[u32],
    directory: &Directory,
    weight: impl Fn(u32, &Entry) -> u32,
) -> (Tally, [Class; 3]) {
    let mut tally = Tally::default();
    let mut classes: [Class; 3] = Default::default();
    // Most hosts are healthy most of the time.
    classes[0] = (Vec::with_capacity(members.len()), Vec::with_capacity(members.len()));
    for (slot, entry) in entries(members, directory) {
        let weight = weight(slot, entry);
        tally.count(entry.flags, entry.eds, weight);
        let class = match entry.flags.coarse() {
            CoarseHealth::Healthy => 0,
            CoarseHealth::Degraded => 1,
            CoarseHealth::Unhealthy if entry.eds.takes_out() => continue,
            CoarseHealth::Unhealthy => 2,
        };
        classes[class].0.push(HostId::new(slot, entry));
        classes[class].1.push(weight);
    }
    (tally, classes)
}

/// Envoy takes every priority that was updated anew: hosts in slow start and requests change the
/// weights of a moment, so that even the same hosts are not the same lists.
fn rebuild_envoy(model: &mut Model, means: Means<'_>) -> u64 {
    let Means { settings, reported, by_locality, has_children, .. } = means;
    let cells = model.slots.cells();
    let Model {
        directory, priorities, now_ns, latest_host_added_ns, node, lists, children, ..
    } = model;
    let counts_requests = matches!(settings.method, Method::LeastRequest(_));
    let depends_on_time = settings.ramp.is_some() || counts_requests;
    let weight = |slot: u32, entry: &Entry| as_envoys(reported, slot).unwrap_or(entry.weight);
    let mut built = 0;
    for (priority, set) in priorities.iter_mut().enumerate().filter(|(_, set)| set.updated) {
        if settings.ramp.is_some() {
            warmup::note_healthy(&set.order, directory, *now_ns, latest_host_added_ns);
        }
        if set.lists_are_stale || depends_on_time {
            let weighing = settings.weighing(*latest_host_added_ns);
            let refresh = |list: &mut List| {
                if !matches!(settings.method, Method::Random | Method::Hash) {
                    list.refresh(&weighing, &cells, *now_ns);
                }
            };
            let list = |slots: &[u32], health, number| {
                let mut list = list(slots, directory, health, weight).numbered(number);
                refresh(&mut list);
                list
            };
            set.note_tallies(directory, weight);
            let mut localities = if by_locality {
                locality_lists(set, directory, node.as_ref(), lists, list)
            } else {
                Box::default()
            };
            if has_children {
                localities = set.give_children(localities, children);
            }
            built += set.take_lists(Lists {
                all: list(&set.order, None, priority * LISTS + Source::All as usize),
                healthy: list(&set.order, HEALTHY, priority * LISTS + Source::Healthy as usize),
                degraded: list(&set.order, DEGRADED, priority * LISTS + Source::Degraded as usize),
                localities,
            });
        }
    }
    built
}

/// A reported weight as Envoy has it, a whole number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole, 1 to 2^32 - 1
fn as_envoys(reported: Option<&[f64]>, slot: u32) -> Option<u32> {
    let weight = reported.map_or(0.0, |weights| of_slot(weights, slot));
    (weight > 0.0).then_some(weight as u32)
}

/// The health of the hosts of a list; `None` for all.
type Health = Option<CoarseHealth>;

const HEALTHY: Health = Some(CoarseHealth::Healthy);
const DEGRADED: Health = Some(CoarseHealth::Degraded);

/// The hosts of some slots that are of this health.
fn list(
    slots: &[u32],
    directory: &Directory,
    health: Health,
    weight: impl Fn(u32, &Entry) -> u32,
) -> List {
    let fits = |entry: &Entry| health.is_none_or(|health| entry.flags.coarse() == health);
    let hosts = entries(slots, directory).filter(|(_, entry)| fits(entry));
    hosts.map(|(slot, entry)| (slot, entry, weight(slot, entry))).collect()
}

/// The lists of each locality. Their positions stay with the place of the locality, as in Envoy.
fn locality_lists(
    set: &mut PrioritySet,
    directory: &Directory,
    node: Option<&Locality>,
    lists: &mut usize,
    list: impl Fn(&[u32], Health, usize) -> List,
) -> Box<[[List; 3]]> {
    let mut members = vec![Vec::new(); set.buckets.len()];
    for (slot, entry) in entries(&set.order, directory) {
        if let Ok(index) = set.bucket_index(&entry.place.locality, node) {
            members[index].push(slot);
        }
    }
    while set.list_numbers.len() < members.len() {
        set.list_numbers.push(*lists);
        *lists += 3;
    }
    let of_locality = |(slots, &number): (&Vec<u32>, &usize)| {
        let of = |health, source| list(slots, health, number + source as usize);
        [of(HEALTHY, Source::Healthy), of(DEGRADED, Source::Degraded), of(None, Source::All)]
    };
    members.iter().zip(&set.list_numbers).map(of_locality).collect()
}

impl PrioritySet {
    /// Counts what has changed. There are no chunks in Envoy.
    fn note_tallies(&mut self, directory: &Directory, weight: impl Fn(u32, &Entry) -> u32 + Copy) {
        self.lists_are_stale = false;
        for bucket in self.buckets.iter_mut().filter(|bucket| bucket.dirty) {
            bucket.dirty = false;
            bucket.tally = classify(&bucket.members, directory, weight).0;
            bucket.chunks = [None, None, None];
            bucket.next_step_ns = None;
        }
    }

    /// Gives lists that have hosts their policies: the one that was there, by the place of the
    /// locality, unless their number has changed, which makes all of them anew.
    //= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/load_aware_locality_lb.cc#syncPriority
    fn give_children(
        &mut self,
        localities: Box<[[List; 3]]>,
        children: &mut u64,
    ) -> Box<[[List; 3]]> {
        if self.children.len() != localities.len() {
            self.children = vec![[0; 3]; localities.len()];
        }
        let mut give = |(list, child): (List, &mut u64)| {
            *child = match (list.is_empty(), *child) {
                (true, _) => 0,
                (false, 0) => {
                    *children += 1;
                    *children
                }
                (false, child) => child,
            };
            list.of_child(*child)
        };
        let of_locality = |(lists, children): ([List; 3], &mut [u64; 3])| {
            let [healthy, degraded, all] = lists;
            let [of_healthy, of_degraded, of_all] = children;
            [give((healthy, of_healthy)), give((degraded, of_degraded)), give((all, of_all))]
        };
        localities.into_iter().zip(&mut self.children).map(of_locality).collect()
    }

    /// Takes lists over, if they are others; how many were built.
    fn take_lists(&mut self, lists: Lists) -> u64 {
        if *self.lists == lists {
            return 0;
        }
        self.lists = Arc::new(lists);
        1
    }
}
