//! A worker's own view of the cell: the value it holds, and the two slots that protect it.

use std::ptr;

use super::{Cell, Protocol, Sound};
use crate::sync::{Arc, AtomicBool, AtomicPtr, CachePadded, Ordering, WatchedArc, fence};

/// What the control side sees of one reader. Written by the reader only; a line of its own, so
/// that the scan disturbs no other worker.
#[derive(Debug)]
pub(super) struct Line<T> {
    pub(super) slots: CachePadded<[AtomicPtr<T>; 2]>,
    pub(super) closed: AtomicBool,
}

/// A handle that reads the newest value without ever waiting. One thread at a time uses it.
#[derive(Debug)]
pub struct Reader<T, P: Protocol = Sound> {
    /// Null after [`quiesce`](Self::quiesce), else named by `line.slots[side]`.
    held: *const T,
    side: usize,
    line: Arc<Line<T>>,
    cell: WatchedArc<Cell<T, P>>,
}

// SAFETY: a reader only hands out `&T` and never drops a `T` itself, except through the cell when
// it is the last owner; both are what `T: Send + Sync` allows on any thread.
#[allow(unsafe_code)]
unsafe impl<T: Send + Sync, P: Protocol> Send for Reader<T, P> {}

impl<T: Send + Sync + 'static, P: Protocol> Reader<T, P> {
    /// A reader that holds the newest value. The caller is the publisher, under the control lock:
    /// nothing can be published or freed before the line is in its list.
    pub(super) fn register(cell: WatchedArc<Cell<T, P>>) -> (Self, Arc<Line<T>>) {
        // No edge for these: the control lock orders them with every publish and scan.
        let held = cell.current.load(Ordering::Relaxed);
        let slots = [AtomicPtr::new(held), AtomicPtr::new(ptr::null_mut())];
        let line =
            Arc::new(Line { slots: CachePadded::new(slots), closed: AtomicBool::new(false) });
        (Self { held, side: 0, line: Arc::clone(&line), cell }, line)
    }

    /// The newest value, and whether it is another one than at the last call. While publishes fall
    /// between the two loads of every attempt, it is an older value for as long as they do.
    ///
    /// One load and one compare when nothing was published. Wait-free, except right after
    /// [`quiesce`](Self::quiesce): then there is nothing to go on with, and the attempt is
    /// repeated until no publish falls between its two loads.
    #[inline]
    pub fn newest(&mut self) -> (&T, bool) {
        // S1, acquire side.
        let newest = self.cell.current.load(Ordering::Acquire);
        let moved = newest.cast_const() != self.held && self.change(newest);
        // SAFETY: `current` is never null, and if it is not held, `change` has left a value in
        // `held`. A slot names it since before it could be freed, and stays until `self` is
        // borrowed again.
        #[allow(unsafe_code)]
        let value = unsafe { &*self.held };
        (value, moved)
    }

    /// The value that is held. `None` after [`quiesce`](Self::quiesce).
    #[inline]
    pub fn held(&self) -> Option<&T> {
        // SAFETY: null, or named by a slot since before it could be freed; the borrow of `self`
        // keeps the slot from being cleared.
        #[allow(unsafe_code)]
        unsafe {
            self.held.as_ref()
        }
    }

    #[cold]
    #[inline(never)]
    fn change(&mut self, candidate: *mut T) -> bool {
        if !self.held.is_null() {
            return self.adopt(candidate);
        }
        let mut candidate = candidate;
        while !self.adopt(candidate) {
            // S1, acquire side.
            candidate = self.cell.current.load(Ordering::Acquire);
        }
        true
    }

    /// One attempt to hold `candidate`.
    fn adopt(&mut self, candidate: *mut T) -> bool {
        let free = 1 - self.side;
        // No edge of its own: the fence below orders it.
        self.line.slots[free].store(candidate, Ordering::Relaxed);
        if P::FENCE {
            // S2, the reader's side.
            fence(Ordering::SeqCst);
        }
        // S1, acquire side, and needed as such: an address that was freed and came back carries a
        // value whose publish only this load has seen. (Models do not reuse addresses.)
        if P::RECHECK && self.cell.current.load(Ordering::Acquire) != candidate {
            // No edge: nothing was read through this name.
            self.line.slots[free].store(ptr::null_mut(), Ordering::Relaxed);
            return false;
        }
        // S3, release side: all uses of the old value come before this.
        self.line.slots[self.side].store(ptr::null_mut(), Ordering::Release);
        self.held = candidate;
        self.side = free;
        true
    }

    /// Lets go of the held value, so that an idle handle keeps nothing alive.
    pub fn quiesce(&mut self) {
        self.held = ptr::null();
        // S3, release side.
        self.line.slots[self.side].store(ptr::null_mut(), Ordering::Release);
    }
}

impl<T, P: Protocol> Drop for Reader<T, P> {
    fn drop(&mut self) {
        // S3, release side: a scan may see this before it sees `closed`.
        self.line.slots[self.side].store(ptr::null_mut(), Ordering::Release);
        // S4, release side.
        self.line.closed.store(true, Ordering::Release);
    }
}
