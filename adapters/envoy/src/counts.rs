//! What one instance counts: written by its thread, added up by ours.

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
pub(crate) type Read = fn(&Counts) -> u64;

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
