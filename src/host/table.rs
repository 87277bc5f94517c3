//! The runtime state of hosts, which lives outside every snapshot and is addressed by slot.
//!
//! # Edges
//!
//! | edge | release side | acquire side | what becomes visible |
//! |---|---|---|---|
//! | H1 | [`Worker`](crate::Worker) clears its snapshot's name (edge S3) | the scan, before [`Table::is_idle`] | a count taken under that snapshot |
//! | H2 | [`Table::end`] takes 1 from a count | [`Table::is_idle`] finds 0 | everything the caller did with the host and its data |
//!
//! A slot is given to another host only after [`Table::is_idle`] and after the last snapshot that
//! names it is gone, so a count can neither be missed (H1) nor end up on the wrong host. The
//! generation is there to recognise a handle that was ended twice, which is the caller's mistake;
//! no edge depends on it.

use super::segments::Segments;
use crate::sync::{AtomicU32, Ordering};

/// Slots up to here have a cache line each, so that two workers which count on neighbours do not
/// disturb each other; with more hosts than this the caches' size matters more than the sharing.
const SPREAD: usize = 2032;
const SPREAD_SEGMENTS: usize = 7;
const PACKED_SEGMENTS: usize = 24;

/// The most hosts a cluster can hold.
pub(crate) const MAX_HOSTS: usize = SPREAD + Segments::<HostCell, PACKED_SEGMENTS>::CAPACITY;

/// One host's counters.
#[derive(Debug)]
struct HostCell {
    active: AtomicU32,
    generation: AtomicU32,
}

#[derive(Debug)]
#[repr(align(64))]
struct Spread(HostCell);

/// The counters of all hosts, shared by all workers and all snapshots.
#[derive(Debug)]
pub(crate) struct Table {
    spread: Segments<Spread, SPREAD_SEGMENTS>,
    packed: Segments<HostCell, PACKED_SEGMENTS>,
}

impl HostCell {
    fn new(_index: usize) -> Self {
        Self { active: AtomicU32::new(0), generation: AtomicU32::new(0) }
    }
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { spread: Segments::new(), packed: Segments::new() }
    }

    /// Makes sure that slots `0..slots` exist. Control side.
    pub(crate) fn grow(&self, slots: usize) {
        self.spread.grow(slots.min(SPREAD), |index| Spread(HostCell::new(index)));
        self.packed.grow(slots.saturating_sub(SPREAD), HostCell::new);
    }

    #[inline]
    fn cell(&self, slot: u32) -> Option<&HostCell> {
        let slot = slot as usize;
        if slot < SPREAD {
            self.spread.get(slot).map(|spread| &spread.0)
        } else {
            self.packed.get(slot - SPREAD)
        }
    }

    /// Counts one more active request. The caller's snapshot names the slot.
    #[inline]
    pub(crate) fn begin(&self, slot: u32) {
        if let Some(cell) = self.cell(slot) {
            // H1: made visible by clearing the snapshot's name, which comes later.
            cell.active.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts one active request less. False if the host is gone or had none.
    #[inline]
    pub(crate) fn end(&self, slot: u32, generation: u32) -> bool {
        let Some(cell) = self.cell(slot) else { return false };
        // No edge: only tells a handle that was ended before.
        if cell.generation.load(Ordering::Relaxed) != generation {
            return false;
        }
        // H2, release side.
        if cell.active.fetch_sub(1, Ordering::Release) == 0 {
            // No edge: takes the mistake back before anybody but a reader of load figures saw it.
            cell.active.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// The active requests of a host, as a figure.
    pub(crate) fn active(&self, slot: u32) -> u32 {
        // No edge: a figure.
        self.cell(slot).map_or(0, |cell| cell.active.load(Ordering::Relaxed))
    }

    /// Replaces a count, for hosts whose requests are counted elsewhere.
    pub(crate) fn set_active(&self, slot: u32, active: u32) {
        if let Some(cell) = self.cell(slot) {
            // No edge: a figure.
            cell.active.store(active, Ordering::Relaxed);
        }
    }

    /// Whether no request is active on a host that no snapshot names any more.
    pub(crate) fn is_idle(&self, slot: u32) -> bool {
        // H2, acquire side.
        self.cell(slot).is_none_or(|cell| cell.active.load(Ordering::Acquire) == 0)
    }

    /// The generation of the slot's present or next host.
    pub(crate) fn generation(&self, slot: u32) -> u32 {
        // No edge: only the control side, which asks, writes it.
        self.cell(slot).map_or(0, |cell| cell.generation.load(Ordering::Relaxed))
    }

    /// Ends the life of the slot's host: its handles are recognised from now on.
    pub(crate) fn advance_generation(&self, slot: u32) {
        if let Some(cell) = self.cell(slot) {
            // No edge: only tells a handle that was ended before.
            cell.generation.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_once() {
        let table = Table::new();
        table.grow(1);
        table.begin(0);
        assert!(!table.is_idle(0));
        assert!(table.end(0, 0));
        assert!(!table.end(0, 0), "the second end of one request was accepted");
        assert_eq!(table.active(0), 0);
    }

    #[test]
    fn a_handle_of_the_slots_last_host_is_recognised() {
        let table = Table::new();
        table.grow(1);
        table.advance_generation(0);
        let generation = table.generation(0);
        table.begin(0);
        assert!(!table.end(0, generation.wrapping_sub(1)));
        assert!(table.end(0, generation));
    }

    #[test]
    fn slots_on_both_sides_of_the_spread_count_apart() {
        let table = Table::new();
        let slots = u32::try_from(SPREAD).unwrap() + 40;
        table.grow(slots as usize);
        (0..slots).for_each(|slot| table.begin(slot));
        assert!((0..slots).all(|slot| table.active(slot) == 1));
        assert!(!table.end(slots + 100_000, 0), "a slot that was never installed");
    }
}
