//! Where the newest value stands.

use std::marker::PhantomData;
use std::ptr;

use super::protocol::{Protocol, Sound};
use super::{Pinned, Publisher};
use crate::sync::{Arc, AtomicPtr, AtomicUsize, CachePadded, Mutex, Ordering, WatchedArc, epoch};

/// The newest value, shared by the publisher, all readers, and whoever pins it.
#[derive(Debug)]
pub struct Cell<T, P: Protocol = Sound> {
    /// Never null. Alone on its cache line: every pick loads it.
    pub(super) current: CachePadded<AtomicPtr<T>>,
    /// Values that exist, published or waiting to be freed.
    pub(super) live: Arc<AtomicUsize>,
    pub(super) collector: epoch::Collector,
    /// What the publisher had not freed when it went away.
    pub(super) leftovers: Mutex<Leftovers<T>>,
    protocol: PhantomData<fn() -> P>,
}

/// Values that outlive their publisher because a reader may still hold them.
#[derive(Debug)]
pub(super) struct Leftovers<T>(pub(super) Vec<*mut T>);

// SAFETY: the pointers are owned (each came from a `Box<T>` and is in no other list), so sending
// them sends the values.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for Leftovers<T> {}

impl<T: Send + Sync + 'static, P: Protocol> Cell<T, P> {
    /// A cell that holds `first`, and the one publisher that may replace it.
    pub fn with_publisher(first: Box<T>) -> (WatchedArc<Self>, Publisher<T, P>) {
        let cell = WatchedArc::new(Self {
            current: CachePadded::new(AtomicPtr::new(Box::into_raw(first))),
            live: Arc::new(AtomicUsize::new(1)),
            collector: epoch::Collector::new(),
            leftovers: Mutex::new(Leftovers(Vec::new())),
            protocol: PhantomData,
        });
        let publisher = Publisher::new(WatchedArc::clone(&cell));
        (cell, publisher)
    }

    /// Keeps the newest value for as long as the guard lives. For control threads: it registers
    /// with the collector each time, and a guard that is kept keeps every later value alive.
    pub fn pin(cell: &WatchedArc<Self>) -> Pinned<T, P> {
        Pinned::new(WatchedArc::clone(cell))
    }

    /// The values that exist: the newest, those that readers hold, and those that wait for
    /// pinned guards.
    pub fn live(&self) -> usize {
        // No edge: a figure for people and tests, nothing else is read through it.
        self.live.load(Ordering::Relaxed)
    }
}

impl<T, P: Protocol> Drop for Cell<T, P> {
    fn drop(&mut self) {
        // Readers, guards and the publisher each own a share of the cell, so nobody is left.
        // No edge: dropping the last `Arc` has ordered everything before this.
        let current = self.current.swap(ptr::null_mut(), Ordering::Relaxed);
        let leftovers = match self.leftovers.lock() {
            Ok(mut list) => std::mem::take(&mut list.0),
            Err(poisoned) => std::mem::take(&mut poisoned.into_inner().0),
        };
        for value in leftovers.into_iter().chain([current]) {
            // SAFETY: it came from a `Box` and stands in this one list, or is `current`, which
            // `Publisher::publish` moves to a list when it replaces it.
            #[allow(unsafe_code)]
            let owned = unsafe { Box::from_raw(value) };
            drop(owned);
        }
    }
}
