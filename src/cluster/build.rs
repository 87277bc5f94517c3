//! From the model to the parts of a snapshot: only what changed is built.
//!
//! A part is keyed on what it was made from. A bucket that something touched is read again; where
//! the hosts and weights of one health class come out as before, the old chunk stays.

use super::model::Model;
use super::set::{Bucket, PrioritySet};
use crate::config::{Behavior, Policy};
use crate::host::{CoarseHealth, Directory, Entry};
use crate::policy::HostId;
use crate::policy::envoy::Lists;
use crate::policy::native::{Chunk, Chunks, walk};
use crate::priority::Tally;
use crate::schedule::Walk;
use crate::sync::Arc;

/// Brings every part up to date and returns how many were built.
pub(super) fn rebuild(model: &mut Model, behavior: Behavior, policy: Policy) -> u64 {
    let Model { directory, priorities, .. } = model;
    let build = |set: &mut PrioritySet| match behavior {
        Behavior::Native => {
            let walk = walk(policy);
            set.buckets.iter_mut().map(|bucket| rebuild_bucket(bucket, directory, walk)).sum()
        }
        Behavior::Envoy if set.updated && set.lists_are_stale => rebuild_lists(set, directory),
        Behavior::Envoy => 0,
    };
    let built = priorities.iter_mut().map(build).sum();
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

/// The hosts and weights of one health class.
type Class = (Vec<HostId>, Vec<u32>);

fn rebuild_bucket(bucket: &mut Bucket, directory: &Directory, walk: Walk) -> u64 {
    if !std::mem::take(&mut bucket.dirty) {
        return 0;
    }
    let (tally, classes) = classify(&bucket.members, directory);
    bucket.tally = tally;
    let mut built = 0;
    for (chunk, (hosts, weights)) in bucket.chunks.iter_mut().zip(classes) {
        if chunk.as_ref().is_some_and(|chunk| chunk.is_made_from(&hosts, &weights, walk)) {
            continue;
        }
        *chunk = if hosts.is_empty() {
            None
        } else {
            built += 1;
            Some(Arc::new(Chunk::new(&hosts, weights, walk)))
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

fn rebuild_lists(set: &mut PrioritySet, directory: &Directory) -> u64 {
    set.lists_are_stale = false;
    for bucket in set.buckets.iter_mut().filter(|bucket| bucket.dirty) {
        bucket.dirty = false;
        bucket.tally = classify(&bucket.members, directory).0;
        bucket.chunks = [None, None, None];
    }
    let all = || entries(&set.order, directory);
    let of =
        |health: CoarseHealth| all().filter(|(_, entry)| entry.flags.coarse() == health).collect();
    let lists = Lists {
        all: all().collect(),
        healthy: of(CoarseHealth::Healthy),
        degraded: of(CoarseHealth::Degraded),
    };
    if *set.lists == lists {
        return 0;
    }
    set.lists = Arc::new(lists);
    1
}
