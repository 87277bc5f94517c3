//! From the model to the parts of a snapshot: only what changed is built.
//!
//! A part is keyed on what it was made from. A bucket that something touched is read again; where
//! the hosts and weights of one health class come out as before, the old chunk stays.

use super::model::Model;
use super::set::{Bucket, PrioritySet};
use super::warmup::{self, Warmup};
use crate::config::Behavior;
use crate::host::{CoarseHealth, Directory, Entry};
use crate::policy::envoy::{List, Lists};
use crate::policy::native::{Chunk, Chunks, Layout, Weights};
use crate::policy::{HostId, Method, Settings};
use crate::priority::Tally;
use crate::sync::Arc;

/// What parts are made with besides the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Means<'a> {
    pub(super) behavior: Behavior,
    pub(super) settings: &'a Settings,
    /// Weights that follow from reports, by slot.
    pub(super) reported: Option<&'a [f64]>,
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
    let of_class = |set: &PrioritySet, class: usize| {
        set.buckets.iter().filter_map(|bucket| bucket.chunks[class].clone()).collect()
    };
    let of_set = |set: &PrioritySet| Chunks {
        healthy: of_class(set, 0),
        degraded: of_class(set, 1),
        failed: of_class(set, 2),
    };
    model.priorities.iter().map(of_set).collect()
}

fn rebuild_native(model: &mut Model, means: Means<'_>) -> u64 {
    let Means { settings, reported, .. } = means;
    let layout = Layout::of(settings.method);
    let Model { directory, priorities, now_ns, latest_host_added_ns, .. } = model;
    let mut built = 0;
    for set in priorities.iter_mut().filter(|set| set.is_dirty()) {
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
    let Means { settings, reported, .. } = means;
    let cells = model.slots.cells();
    let Model { directory, priorities, now_ns, latest_host_added_ns, .. } = model;
    let counts_requests = matches!(settings.method, Method::LeastRequest(_));
    let depends_on_time = settings.ramp.is_some() || counts_requests;
    let weight = |slot: u32, entry: &Entry| as_envoys(reported, slot).unwrap_or(entry.weight);
    let mut built = 0;
    for set in priorities.iter_mut().filter(|set| set.updated) {
        if settings.ramp.is_some() {
            warmup::note_healthy(&set.order, directory, *now_ns, latest_host_added_ns);
        }
        if set.lists_are_stale || depends_on_time {
            let weighing = settings.weighing(*latest_host_added_ns);
            let refresh = |list: &mut List| {
                if settings.method != Method::Random {
                    list.refresh(&weighing, &cells, *now_ns);
                }
            };
            built += rebuild_lists(set, directory, weight, refresh);
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

fn rebuild_lists(
    set: &mut PrioritySet,
    directory: &Directory,
    weight: impl Fn(u32, &Entry) -> u32 + Copy,
    refresh: impl Fn(&mut List),
) -> u64 {
    set.lists_are_stale = false;
    for bucket in set.buckets.iter_mut().filter(|bucket| bucket.dirty) {
        bucket.dirty = false;
        bucket.tally = classify(&bucket.members, directory, weight).0;
        bucket.chunks = [None, None, None];
        bucket.next_step_ns = None;
    }
    let list = |health: Option<CoarseHealth>| {
        let fits = |entry: &Entry| health.is_none_or(|health| entry.flags.coarse() == health);
        let hosts = entries(&set.order, directory).filter(|(_, entry)| fits(entry));
        let mut list: List =
            hosts.map(|(slot, entry)| (slot, entry, weight(slot, entry))).collect();
        refresh(&mut list);
        list
    };
    let lists = Lists {
        all: list(None),
        healthy: list(Some(CoarseHealth::Healthy)),
        degraded: list(Some(CoarseHealth::Degraded)),
    };
    if *set.lists == lists {
        return 0;
    }
    set.lists = Arc::new(lists);
    1
}
