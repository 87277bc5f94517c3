//! The runtime state of hosts, which lives outside every snapshot and is addressed by slot.
//!
//! The cells of 512 slots make a block. Neighbouring slots stand on different cache lines, so that
//! two workers which count on two of a few hosts do not disturb each other; with many hosts the
//! lines fill up, and nothing is padding.
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
use crate::sync::{Arc, AtomicU32, AtomicU64, CachePadded, Ordering};

/// A cache line's worth of cells.
const LANES: usize = 4;
/// Few under loom, whose atomics are large and whose stacks are small.
const LINES: usize = if cfg!(loom) { 4 } else { 128 };
const BLOCK: usize = LANES * LINES;
const SEGMENTS: usize = 18;

/// The largest number of requests that a host can be said to have: sums have a sign, and room for
/// what is counted besides.
pub const MAX_LOAD: u32 = 1 << 30;

/// The most hosts a cluster can hold.
pub(crate) const MAX_HOSTS: usize = BLOCK * Segments::<Arc<Block>, 0, SEGMENTS>::CAPACITY;

/// One host's counters.
#[derive(Debug, Default)]
struct HostCell {
    /// Active requests that are counted here, and so keep the slot.
    active: AtomicU32,
    /// What requests that are counted elsewhere add to them: a signed number that wraps, negative
    /// if they were said to be fewer.
    elsewhere: AtomicU32,
    /// Requests that wait for a connection, which are counted elsewhere.
    pending: AtomicU32,
    generation: AtomicU32,
}

impl HostCell {
    /// All active requests.
    #[inline]
    fn load(&self) -> u32 {
        // No edge: figures. Read one after the other, so that a request which begins between the
        // two counts or not, as if a moment later.
        let elsewhere = self.elsewhere.load(Ordering::Relaxed);
        let load = self.active.load(Ordering::Relaxed).wrapping_add(elsewhere);
        if load.cast_signed() < 0 { 0 } else { load }
    }
}

#[derive(Debug)]
#[repr(align(64))]
struct Line([HostCell; LANES]);

/// The cells of 512 slots.
#[derive(Debug)]
pub(crate) struct Block([Line; LINES]);

impl Block {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Line(std::array::from_fn(|_| HostCell::default()))))
    }

    #[inline]
    fn cell(&self, slot: u32) -> &HostCell {
        let slot = slot as usize;
        &self.0[slot % LINES].0[slot / LINES % LANES]
    }
}

/// The counters of the hosts that one snapshot can name, for its picks: one step less to a cell
/// than through the [`Table`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    blocks: Arc<[Arc<Block>]>,
    total: Arc<Total>,
}

/// Requests over all hosts, for bounded load: those of its own picks, and those that are counted
/// elsewhere, a signed number that wraps.
#[derive(Debug, Default)]
struct Total {
    active: CachePadded<AtomicU64>,
    elsewhere: AtomicU64,
}

impl Total {
    fn load(&self) -> u64 {
        // No edge: figures.
        let elsewhere = self.elsewhere.load(Ordering::Relaxed);
        let load = self.active.load(Ordering::Relaxed).wrapping_add(elsewhere);
        if load.cast_signed() < 0 { 0 } else { load }
    }

    /// Takes note of another number of requests that are counted elsewhere. Control side.
    fn moves(&self, before: u32, after: u32) {
        let change = i64::from(after.cast_signed()) - i64::from(before.cast_signed());
        // No edge: a figure.
        self.elsewhere.fetch_add(change.cast_unsigned(), Ordering::Relaxed);
    }
}

impl Cells {
    /// Counts one more active request. The caller's snapshot names the slot.
    #[inline]
    pub(crate) fn begin(&self, slot: u32) {
        if let Some(block) = self.blocks.get(slot as usize / BLOCK) {
            // H1: made visible by clearing the snapshot's name, which comes later.
            block.cell(slot).active.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many requests are active on a host, wherever they are counted.
    #[inline]
    pub(crate) fn load(&self, slot: u32) -> u32 {
        self.blocks.get(slot as usize / BLOCK).map_or(0, |block| block.cell(slot).load())
    }

    /// Counts one more request of a bounded policy.
    #[inline]
    pub(crate) fn begin_in_total(&self) {
        // No edge: a figure.
        self.total.active.fetch_add(1, Ordering::Relaxed);
    }

    /// The requests of bounded policies, and those that are counted elsewhere.
    #[inline]
    pub(crate) fn total(&self) -> u64 {
        self.total.load()
    }

    /// The same with those that wait for a connection.
    pub(crate) fn load_with_pending(&self, slot: u32) -> u64 {
        let Some(block) = self.blocks.get(slot as usize / BLOCK) else { return 0 };
        let cell = block.cell(slot);
        // No edge: a figure.
        u64::from(cell.load()) + u64::from(cell.pending.load(Ordering::Relaxed))
    }
}

/// The counters of all hosts, shared by all workers and all snapshots.
#[derive(Debug)]
pub(crate) struct Table {
    blocks: Segments<Arc<Block>, 0, SEGMENTS>,
    total: Arc<Total>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { blocks: Segments::new(), total: Arc::default() }
    }

    /// Makes sure that slots `0..slots` exist, and returns the cells of all that do. Control side.
    pub(crate) fn grow(&self, slots: usize) -> Cells {
        self.blocks.grow(slots.div_ceil(BLOCK), |_| Arc::new(Block::new()));
        let blocks = self.blocks.iter().cloned().collect();
        Cells { blocks, total: Arc::clone(&self.total) }
    }

    /// Whether `slot` exists.
    pub(crate) fn has(&self, slot: u32) -> bool {
        self.cell(slot).is_some()
    }

    #[inline]
    fn cell(&self, slot: u32) -> Option<&HostCell> {
        Some(self.blocks.get(slot as usize / BLOCK)?.cell(slot))
    }

    /// Counts one active request less. False if the host is gone or had none.
    #[inline]
    pub(crate) fn end(&self, slot: u32, generation: u32) -> bool {
        let Some(cell) = self.cell(slot) else { return false };
        // No edge: only tells a handle that was ended before.
        if cell.generation.load(Ordering::Relaxed) != generation {
            return false;
        }
        // H2, release side. Not a plain subtraction: a mistaken end must never be seen by others,
        // who would take what it leaves for requests.
        let end = |active: u32| active.checked_sub(1);
        cell.active.fetch_update(Ordering::Release, Ordering::Relaxed, end).is_ok()
    }

    /// Counts one request of a bounded policy less.
    pub(crate) fn end_in_total(&self) {
        // No edge: a figure.
        self.total.active.fetch_sub(1, Ordering::Relaxed);
    }

    /// The active requests of a host, wherever they are counted, as a figure.
    pub(crate) fn load(&self, slot: u32) -> u32 {
        self.cell(slot).map_or(0, HostCell::load)
    }

    /// Lets a host have `load` active requests now, some of which are counted here, and `pending`
    /// ones if that is said. `load` is at most [`MAX_LOAD`]. Control side.
    pub(crate) fn set_load(&self, slot: u32, load: u32, pending: Option<u32>) {
        let Some(cell) = self.cell(slot) else { return };
        // No edge: figures. Requests that begin or end meanwhile go on from there.
        let counted = cell.active.load(Ordering::Relaxed);
        let elsewhere = load.wrapping_sub(counted);
        self.total.moves(cell.elsewhere.load(Ordering::Relaxed), elsewhere);
        cell.elsewhere.store(elsewhere, Ordering::Relaxed);
        if let Some(pending) = pending {
            // No edge: as above.
            cell.pending.store(pending, Ordering::Relaxed);
        }
    }

    /// Whether no request is active on a host that no snapshot names any more.
    pub(crate) fn is_idle(&self, slot: u32) -> bool {
        // H2, acquire side.
        self.cell(slot).is_none_or(|cell| cell.active.load(Ordering::Acquire) == 0)
    }

    /// Whether the slot's present host is of this generation.
    pub(crate) fn is_generation(&self, slot: u32, generation: u32) -> bool {
        // No edge: only tells a handle of a host that is gone.
        self.cell(slot).is_some_and(|cell| cell.generation.load(Ordering::Relaxed) == generation)
    }

    /// The generation of the slot's present or next host.
    pub(crate) fn generation(&self, slot: u32) -> u32 {
        // No edge: only the control side, which asks, writes it.
        self.cell(slot).map_or(0, |cell| cell.generation.load(Ordering::Relaxed))
    }

    /// Ends the life of the slot's host: its handles are recognised from now on, and what was
    /// said of its load is forgotten.
    pub(crate) fn advance_generation(&self, slot: u32) {
        if let Some(cell) = self.cell(slot) {
            // No edge: no snapshot names the host, so only the control side and ended handles look.
            cell.generation.fetch_add(1, Ordering::Relaxed);
            self.total.moves(cell.elsewhere.load(Ordering::Relaxed), 0);
            cell.elsewhere.store(0, Ordering::Relaxed);
            // No edge: as above.
            cell.pending.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_once() {
        let table = Table::new();
        let cells = table.grow(1);
        cells.begin(0);
        assert!(!table.is_idle(0));
        assert!(table.end(0, 0));
        assert!(!table.end(0, 0), "the second end of one request was accepted");
        assert_eq!(table.load(0), 0);
    }

    #[test]
    fn requests_that_are_counted_elsewhere_add_up_and_never_go_below_none() {
        let table = Table::new();
        let cells = table.grow(1);
        (0..3).for_each(|_| cells.begin(0));
        table.set_load(0, MAX_LOAD, Some(u32::MAX));
        assert_eq!((cells.load(0), table.load(0)), (MAX_LOAD, MAX_LOAD));
        assert_eq!(cells.load_with_pending(0), u64::from(MAX_LOAD) + u64::from(u32::MAX));
        table.set_load(0, 1, None);
        assert_eq!((cells.load(0), cells.load_with_pending(0)), (1, 1 + u64::from(u32::MAX)));
        table.end(0, 0);
        table.end(0, 0);
        assert_eq!(
            (cells.load(0), table.is_idle(0)),
            (0, false),
            "one counted, two less elsewhere"
        );
        table.end(0, 0);
        table.advance_generation(0);
        assert_eq!((cells.load_with_pending(0), table.is_idle(0)), (0, true));
    }

    #[test]
    fn a_handle_of_the_slots_last_host_is_recognised() {
        let table = Table::new();
        let cells = table.grow(1);
        table.advance_generation(0);
        let generation = table.generation(0);
        cells.begin(0);
        assert!(!table.end(0, generation.wrapping_sub(1)));
        assert!(table.end(0, generation));
    }

    #[test]
    fn every_slot_has_a_cell_of_its_own() {
        let table = Table::new();
        let cells = table.grow(BLOCK + 1);
        let slots = 0..u32::try_from(3 * BLOCK).unwrap();
        slots.clone().for_each(|slot| cells.begin(slot));
        assert!(slots.clone().all(|slot| table.load(slot) == 1));
        assert!(!table.has(slots.end) && !table.end(slots.end, 0), "a slot that does not exist");
    }

    #[test]
    fn neighbours_stand_on_different_cache_lines() {
        let block = Block::new();
        let address = |slot| std::ptr::from_ref(block.cell(slot)).addr() / 64;
        assert_ne!(address(0), address(1));
        assert_eq!(address(0), address(u32::try_from(LINES).unwrap()));
        assert_eq!(size_of::<Block>(), BLOCK * size_of::<HostCell>());
    }
}
