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

/// Brings every part up to date and returns how many were built.
pub(super) fn rebuild(model: &mut Model, behavior: Behavior, settings: &Settings) -> u64 {
    let built = match behavior {
        Behavior::Native => rebuild_native(model, settings),
        Behavior::Envoy => rebuild_envoy(model, settings),
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

fn rebuild_native(model: &mut Model, settings: &Settings) -> u64 {
    let layout = Layout::of(settings.method);
    let Model { directory, priorities, now_ns, latest_host_added_ns, .. } = model;
    let mut built = 0;
    for set in priorities.iter_mut().filter(|set| set.is_dirty()) {
        for bucket in set.buckets.iter().filter(|bucket| bucket.dirty) {
            warmup::note_healthy(&bucket.members, directory, *now_ns, latest_host_added_ns);
        }
        let slow_start = settings.slow_start(*latest_host_added_ns);
        let warmup = slow_start.map(|slow_start| Warmup { slow_start, now_ns: *now_ns });
        let warmup = warmup.filter(|warmup| warmup.divides(set, directory));
        for bucket in &mut set.buckets {
            built += rebuild_bucket(bucket, directory, layout, warmup.as_ref());
        }
    }
    built
}

/// The hosts and weights of one health class.
type Class = (Vec<HostId>, Vec<u32>);

fn rebuild_bucket(
    bucket: &mut Bucket,
    directory: &Directory,
    layout: Layout,
    warmup: Option<&Warmup>,
) -> u64 {
    if !std::mem::take(&mut bucket.dirty) {
        return 0;
    }
    let (tally, classes) = classify(&bucket.members, directory);
    bucket.tally = tally;
    bucket.next_step_ns = None;
    let mut built = 0;
    for (class, (hosts, weights)) in classes.into_iter().enumerate() {
        // The healthy ones come first, and only they are warmed up.
        let weights = match warmup.filter(|_| class == 0) {
            Some(warmup) => warmup.weights(&hosts, weights, directory, &mut bucket.next_step_ns),
            None => Weights::Whole(weights),
        };
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
fn classify(members: &[u32], directory: &Directory) -> (Tally, [Class; 3]) {
    let mut tally = Tally::default();
    let mut classes: [Class; 3] = Default::default();
    // Most hosts are healthy most of the time.
    classes[0] = (Vec::with_capacity(members.len()), Vec::with_capacity(members.len()));
    for (slot, entry) in entries(members, directory) {
        tally.count(entry.flags, entry.eds, entry.weight);
        let class = match entry.flags.coarse() {
            CoarseHealth::Healthy => 0,
            CoarseHealth::Degraded => 1,
            CoarseHealth::Unhealthy if entry.eds.takes_out() => continue,
            CoarseHealth::Unhealthy => 2,
        };
        classes[class].0.push(HostId::new(slot, entry));
        classes[class].1.push(entry.weight);
    }
    (tally, classes)
}

/// Envoy takes every priority that was updated anew: hosts in slow start and requests change the
/// weights of a moment, so that even the same hosts are not the same lists.
fn rebuild_envoy(model: &mut Model, settings: &Settings) -> u64 {
    let cells = model.slots.cells();
    let Model { directory, priorities, now_ns, latest_host_added_ns, .. } = model;
    let counts_requests = matches!(settings.method, Method::LeastRequest(_));
    let depends_on_time = settings.ramp.is_some() || counts_requests;
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
            built += rebuild_lists(set, directory, refresh);
        }
    }
    built
}

fn rebuild_lists(set: &mut PrioritySet, directory: &Directory, refresh: impl Fn(&mut List)) -> u64 {
    set.lists_are_stale = false;
    for bucket in set.buckets.iter_mut().filter(|bucket| bucket.dirty) {
        bucket.dirty = false;
        bucket.tally = classify(&bucket.members, directory).0;
        bucket.chunks = [None, None, None];
        bucket.next_step_ns = None;
    }
    let list = |health: Option<CoarseHealth>| {
        let fits = |entry: &Entry| health.is_none_or(|health| entry.flags.coarse() == health);
        let mut list: List =
            entries(&set.order, directory).filter(|(_, entry)| fits(entry)).collect();
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
