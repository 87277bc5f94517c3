//! What one instance counts: written by its thread, added up by ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A figure with one writer.
#[derive(Debug, Default)]
pub(crate) struct Figure(AtomicU64);

impl Figure {
    /// Adds one. For one thread only.
    pub(crate) fn count(&self) {
        // No edge: a figure; with one writer a load and a store lose nothing.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // No edge: a figure.
        self.0.load(Ordering::Relaxed)
    }
}

/// The way to one of them.
type Read = fn(&Counts) -> u64;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Requests that asked for a host.
    pub(crate) picks: Figure,
    /// Those that got another healthy host than the engine picked, because Envoy takes no other
    /// kind or did not have that one (yet).
    pub(crate) substituted: Figure,
    /// Those that got none.
    pub(crate) no_host: Figure,
    /// Requests for which the filter `overflow` picked.
    pub(crate) overflowed: Figure,
    /// Picks whose request went through the filter `orca`.
    pub(crate) filtered: Figure,
}

impl Counts {
    /// Their names in `/stats`, and the way to them.
    pub(crate) const ALL: [(&'static str, Read); 5] = [
        ("picks", |counts| counts.picks.get()),
        ("picks_substituted", |counts| counts.substituted.get()),
        ("picks_without_host", |counts| counts.no_host.get()),
        ("picks_overflowed", |counts| counts.overflowed.get()),
        ("picks_filtered", |counts| counts.filtered.get()),
    ];
}

/// What all instances of an engine counted, those that are gone included.
#[derive(Debug, Default)]
pub(crate) struct AllCounts {
    present: Vec<Arc<Counts>>,
    /// Of those that are gone.
    gone: [u64; Counts::ALL.len()],
}

impl AllCounts {
    /// Adds those of a new instance. Envoy may make and drop many in the life of an engine.
    pub(crate) fn add(&mut self, counts: Arc<Counts>) {
        let (gone, present): (Vec<_>, _) =
            self.present.drain(..).partition(|counts| Arc::strong_count(counts) == 1);
        self.present = present;
        self.gone = sums(self.gone, &gone);
        self.present.push(counts);
    }

    /// The sums, in the order of [`Counts::ALL`].
    pub(crate) fn sums(&self) -> [u64; Counts::ALL.len()] {
        sums(self.gone, &self.present)
    }
}

fn sums(mut sums: [u64; Counts::ALL.len()], counts: &[Arc<Counts>]) -> [u64; Counts::ALL.len()] {
    for counts in counts {
        for (sum, (_, figure)) in sums.iter_mut().zip(Counts::ALL) {
            *sum += figure(counts);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_that_are_gone_leave_their_sums_and_nothing_else() {
        let mut all = AllCounts::default();
        for _ in 0..1000 {
            let counts = Arc::new(Counts::default());
            counts.picks.count();
            all.add(counts);
        }
        assert_eq!(all.sums()[0], 1000);
        assert_eq!(all.present.len(), 1);
    }
}
