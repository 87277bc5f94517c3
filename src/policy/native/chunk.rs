//! The hosts of one priority, health class and locality: what is shared between snapshots.

use std::ops::Range;

use super::weights::Weights;
use crate::policy::{HostId, Method, Source};
use crate::schedule::{Lottery, Schedule, Walk};
use crate::sync::Arc;

/// The hosts of one priority, health class and locality.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(super) weights: Weights,
    /// The sum of the weights, in a unit that all chunks have.
    pub(super) total: u128,
    table: Table,
    layout: Layout,
}

/// What a policy needs of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A host by one number of this kind.
    Schedule(Walk),
    /// Several different hosts by lot.
    Lottery,
    /// The hosts alone: a table is made from several chunks.
    Hosts,
}

#[derive(Debug)]
enum Table {
    Schedule(Schedule<HostId>),
    Lottery(Lottery<HostId>),
    Hosts(Box<[HostId]>),
}

impl Layout {
    /// The layout that a policy needs.
    pub(crate) fn of(method: Method) -> Self {
        match method {
            Method::RoundRobin => Self::Schedule(Walk::Cursor),
            Method::LeastRequest(_) => Self::Lottery,
            Method::Random => Self::Schedule(Walk::Random),
            Method::Hash => Self::Hosts,
        }
    }
}

impl Table {
    fn new(hosts: &[HostId], weights: &Weights, layout: Layout) -> Self {
        match (layout, weights) {
            (Layout::Hosts, _) => Self::Hosts(hosts.into()),
            (Layout::Schedule(walk), Weights::Whole(weights)) => {
                Self::Schedule(Schedule::new(hosts, weights, walk))
            }
            (Layout::Schedule(walk), Weights::Scaled { weights, .. }) => {
                Self::Schedule(Schedule::new(hosts, weights, walk))
            }
            (Layout::Lottery, Weights::Whole(weights)) => {
                Self::Lottery(Lottery::new(hosts, weights))
            }
            (Layout::Lottery, Weights::Scaled { weights, .. }) => {
                Self::Lottery(Lottery::new(hosts, weights))
            }
        }
    }
}

impl Chunk {
    /// A chunk of at least one host; `weights` go with `hosts`.
    pub(crate) fn new(hosts: &[HostId], weights: Weights, layout: Layout) -> Self {
        let table = Table::new(hosts, &weights, layout);
        Self { table, total: weights.total(), weights, layout }
    }

    /// Whether the chunk was made from these hosts and weights for this layout.
    pub(crate) fn is_made_from(&self, hosts: &[HostId], weights: &Weights, layout: Layout) -> bool {
        let is_over = || match &self.table {
            Table::Schedule(schedule) => schedule.is_over(hosts),
            Table::Lottery(lottery) => lottery.iter().map(|lot| lot.item).eq(hosts.iter().copied()),
            Table::Hosts(own) => **own == *hosts,
        };
        self.layout == layout && self.weights == *weights && is_over()
    }

    /// The schedule, if that is the layout.
    pub(super) fn schedule(&self) -> Option<&Schedule<HostId>> {
        match &self.table {
            Table::Schedule(schedule) => Some(schedule),
            Table::Lottery(_) | Table::Hosts(_) => None,
        }
    }

    /// The hosts, if that is the layout.
    pub(crate) fn hosts(&self) -> &[HostId] {
        match &self.table {
            Table::Schedule(_) | Table::Lottery(_) => &[],
            Table::Hosts(hosts) => hosts,
        }
    }

    /// The lottery, if that is the layout.
    pub(super) fn lottery(&self) -> Option<&Lottery<HostId>> {
        match &self.table {
            Table::Schedule(_) | Table::Hosts(_) => None,
            Table::Lottery(lottery) => Some(lottery),
        }
    }

    /// Calls `each` with every slot and its part of the chunk's traffic, all of which is `share`.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(super) fn shares(&self, share: f64, each: &mut impl FnMut(u32, f64)) {
        let sums = self.weights.sums();
        let unit = share / sums.last().map_or(1.0, |&total| total as f64);
        let (mut sums, mut before) = (sums.into_iter(), 0);
        let host = |host: HostId| {
            let end = sums.next().unwrap_or(before);
            each(host.slot, (end - std::mem::replace(&mut before, end)) as f64 * unit);
        };
        match &self.table {
            Table::Schedule(schedule) => schedule.each(host),
            Table::Lottery(lottery) => lottery.iter().map(|lot| lot.item).for_each(host),
            Table::Hosts(hosts) => hosts.iter().copied().for_each(host),
        }
    }
}

/// The chunks of one priority, and how its traffic divides among its localities.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// For each locality the chunks of its healthy, its degraded, and its failed hosts that panic
    /// may use.
    pub(crate) localities: Vec<[Option<Arc<Chunk>>; 3]>,
    /// For each [`Source`] what the localities get of it; `None` if that is up to their hosts.
    pub(crate) shares: [Option<Arc<[u64]>>; 3],
}

impl Chunks {
    /// The chunks that belong to `source`, in groups: each with its locality, and its part of the
    /// traffic. Groups without hosts or traffic are left out. There is one group without a locality
    /// if localities do not matter, or if their shares lead nowhere.
    pub(super) fn groups(&self, source: Source) -> Vec<Group<'_>> {
        let shares = self.shares[source as usize].as_deref().unwrap_or_default();
        let mut groups = Vec::new();
        for ((locality, chunks), &share) in (0..).zip(&self.localities).zip(shares) {
            let chunks: Vec<_> = chunks[classes(source)].iter().flatten().collect();
            if share > 0 && !chunks.is_empty() {
                groups.push(Group { locality: Some(locality), share: share.into(), chunks });
            }
        }
        if !groups.is_empty() {
            return groups;
        }
        let class = |class: usize| self.localities.iter().filter_map(move |it| it[class].as_ref());
        let chunks: Vec<_> = classes(source).flat_map(class).collect();
        if chunks.is_empty() {
            Vec::new()
        } else {
            vec![Group { locality: None, share: 1, chunks }]
        }
    }
}

/// Which chunks of a locality belong to a source.
fn classes(source: Source) -> Range<usize> {
    match source {
        Source::Healthy => 0..1,
        Source::Degraded => 1..2,
        Source::All => 0..3,
    }
}

/// Chunks that divide a part of the traffic by their weight.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) locality: Option<u32>,
    pub(super) share: u128,
    pub(super) chunks: Vec<&'a Arc<Chunk>>,
}
