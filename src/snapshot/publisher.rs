//! The control side: replaces the value, and frees the old ones when nobody can hold them.

use super::reader::Line;
use super::{Cell, Protocol, Reader, Sound};
use crate::sync::{Arc, AtomicUsize, Ordering, WatchedArc, epoch, fence};

/// The one owner of the right to publish. Kept behind the control lock by its owner.
#[derive(Debug)]
pub struct Publisher<T: Send + Sync + 'static, P: Protocol = Sound> {
    cell: WatchedArc<Cell<T, P>>,
    lines: Vec<Arc<Line<T>>>,
    /// Replaced values that a slot still names, or that no scan has looked at.
    retired: Vec<*mut T>,
}

// SAFETY: the retired pointers are owned, so sending them sends values of `T: Send`; everything
// else in here is `Send` by itself.
#[allow(unsafe_code)]
unsafe impl<T: Send + Sync + 'static, P: Protocol> Send for Publisher<T, P> {}

/// How often the collector is asked to move on after a scan. An epoch must pass twice after the
/// one in which a value was retired; without pinned guards each round passes one.
const COLLECTOR_ROUNDS: usize = 4;

impl<T: Send + Sync + 'static, P: Protocol> Publisher<T, P> {
    pub(super) fn new(cell: WatchedArc<Cell<T, P>>) -> Self {
        Self { cell, lines: Vec::new(), retired: Vec::new() }
    }

    /// Makes `next` the newest value, then frees what nobody can hold.
    pub fn publish(&mut self, next: Box<T>) {
        // No edge: a figure for people.
        self.cell.live.fetch_add(1, Ordering::Relaxed);
        // S1, release side. Acquire as well: what comes back is freed by this side.
        let old = self.cell.current.swap(Box::into_raw(next), P::PUBLISH);
        self.retired.push(old);
        self.scan();
    }

    /// Frees the replaced values that no slot names and forgets readers that went away.
    pub fn scan(&mut self) {
        if P::FENCE {
            // S2, the control side.
            fence(Ordering::SeqCst);
        }
        self.forget_closed();
        let slots = self.lines.iter().flat_map(|line| line.slots.iter());
        // S3, acquire side.
        let named: Vec<*mut T> = slots.map(|slot| slot.load(P::SCAN)).collect();
        let (kept, free): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.retired).into_iter().partition(|old| named.contains(old));
        self.retired = kept;
        self.free(free);
    }

    fn forget_closed(&mut self) {
        // S4, acquire side.
        self.lines.retain(|line| !line.closed.load(Ordering::Acquire));
    }

    /// A new reader, which holds the newest value.
    pub fn reader(&mut self) -> Reader<T, P> {
        // Readers may come and go without a publish; this keeps the list in proportion.
        if self.lines.len().is_power_of_two() {
            self.forget_closed();
        }
        let (reader, line) = Reader::register(WatchedArc::clone(&self.cell));
        self.lines.push(line);
        reader
    }

    /// The newest value. Only this publisher replaces it, so it stays for the borrow's length.
    pub fn current(&self) -> &T {
        // No edge: this side stored it.
        let current = self.cell.current.load(Ordering::Relaxed);
        // SAFETY: never null, and freed only after `publish`, which needs `&mut self`, replaced it.
        #[allow(unsafe_code)]
        unsafe {
            &*current
        }
    }

    /// Readers that exist, as of the last scan.
    pub fn readers(&self) -> usize {
        self.lines.len()
    }

    fn free(&self, values: Vec<*mut T>) {
        let handle = self.cell.collector.register();
        for value in values {
            self.defer(value, &handle.pin());
        }
        for _ in 0..COLLECTOR_ROUNDS {
            handle.pin().flush();
        }
    }

    /// Frees `value` once every guard that is pinned now has gone (S5).
    fn defer(&self, value: *mut T, guard: &epoch::Guard) {
        let live = Arc::clone(&self.cell.live);
        let free = move || destroy(value, &live);
        // SAFETY: the closure owns what it captures and runs once, on whichever thread collects;
        // it drops a `T`, which is `Send`. No slot names the value and it is no longer current,
        // so only guards that are pinned already can hold it.
        #[allow(unsafe_code)]
        unsafe {
            guard.defer_unchecked(free);
        }
    }
}

/// Drops a value that nobody can reach any more.
fn destroy<T>(value: *mut T, live: &AtomicUsize) {
    // Under loom the memory itself is kept, so that a variant that must fail is reported by the
    // model as a race with the destructor, instead of being undefined behaviour of the model.
    #[cfg(loom)]
    // SAFETY: it came from `Box::into_raw`, and each caller has taken it out of the only list that
    // held it. The allocation is leaked.
    #[allow(unsafe_code)]
    unsafe {
        std::ptr::drop_in_place(value);
    }
    #[cfg(not(loom))]
    {
        // SAFETY: it came from `Box::into_raw` in `publish` or `with_publisher`, and each caller
        // has taken it out of the only list that held it.
        #[allow(unsafe_code)]
        let owned = unsafe { Box::from_raw(value) };
        drop(owned);
    }
    // No edge: a figure for people.
    live.fetch_sub(1, Ordering::Relaxed);
}

impl<T: Send + Sync + 'static, P: Protocol> Drop for Publisher<T, P> {
    fn drop(&mut self) {
        self.scan();
        // What readers still hold goes with the cell, which they own a share of.
        let rest = std::mem::take(&mut self.retired);
        match self.cell.leftovers.lock() {
            Ok(mut leftovers) => leftovers.0.extend(rest),
            Err(poisoned) => poisoned.into_inner().0.extend(rest),
        }
    }
}
