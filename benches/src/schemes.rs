//! Ways to share a snapshot that is replaced from time to time: ours and others.
//!
//! The snapshot is a table of 64 numbers, and a read takes one of them, so that what is measured
//! is the way to the table.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arc_swap::{ArcSwap, Cache};
use crossbeam_epoch::{Atomic, Collector, LocalHandle, Owned};
use plimsoll::snapshot::{Cell, Publisher, Reader};

/// How many numbers a table has.
pub const NUMBERS: usize = 64;

/// What is shared. Tables know how many of them there are.
#[derive(Debug)]
pub struct Table {
    /// The content.
    pub numbers: [u32; NUMBERS],
    live: Option<Arc<AtomicUsize>>,
}

impl Table {
    /// A table full of one number.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Self { numbers: [number; NUMBERS], live: None }
    }

    /// A table that adds one to `live` for as long as it exists.
    #[must_use]
    pub fn counted(number: u32, live: &Arc<AtomicUsize>) -> Self {
        live.fetch_add(1, Ordering::Relaxed);
        Self { live: Some(Arc::clone(live)), ..Self::new(number) }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            live.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A way to share a table.
pub trait Scheme: Sync {
    /// What a reading thread has.
    type Handle<'a>
    where
        Self: 'a;
    /// How tables call it.
    const NAME: &'static str;

    /// Shares a first table.
    fn new(first: Table) -> Self;
    /// The handle of a reading thread, made by that thread.
    fn handle(&self) -> Self::Handle<'_>;
    /// One number of the newest table.
    fn read(handle: &mut Self::Handle<'_>, index: usize) -> u32;
    /// Replaces the table. One thread at a time.
    fn publish(&self, next: Table);
}

/// A reference that never changes: the least a read can cost.
#[derive(Debug)]
pub struct Plain(Table);

impl Scheme for Plain {
    type Handle<'a> = &'a Table;
    const NAME: &'static str = "plain reference (floor)";

    fn new(first: Table) -> Self {
        Self(first)
    }

    fn handle(&self) -> &Table {
        &self.0
    }

    #[inline]
    fn read(handle: &mut &Table, index: usize) -> u32 {
        black_box(*handle).numbers[index]
    }

    fn publish(&self, next: Table) {
        drop(black_box(Box::new(next)));
    }
}

/// The engine's: one load and one compare.
#[derive(Debug)]
pub struct TwoSlots(Mutex<Publisher<Table>>);

impl Scheme for TwoSlots {
    type Handle<'a> = Reader<Table>;
    const NAME: &'static str = "plimsoll";

    fn new(first: Table) -> Self {
        Self(Mutex::new(Cell::with_publisher(Box::new(first)).1))
    }

    fn handle(&self) -> Reader<Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reader()
    }

    #[inline]
    fn read(handle: &mut Reader<Table>, index: usize) -> u32 {
        handle.newest().0.numbers[index]
    }

    fn publish(&self, next: Table) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).publish(Box::new(next));
    }
}

/// A pointer that crossbeam-epoch protects.
#[derive(Debug)]
struct EpochPointer(Atomic<Table>);

impl EpochPointer {
    fn new(first: Table) -> Self {
        Self(Atomic::new(first))
    }

    #[inline]
    fn read(&self, guard: &crossbeam_epoch::Guard, index: usize) -> u32 {
        let table = self.0.load(Ordering::Acquire, guard);
        // SAFETY: never null, and what was loaded under a guard stays as long as the guard.
        unsafe { table.deref() }.numbers[index]
    }

    fn publish(&self, next: Table, guard: &crossbeam_epoch::Guard) {
        let old = self.0.swap(Owned::new(next), Ordering::AcqRel, guard);
        // SAFETY: no longer reachable; guards that are older keep it.
        unsafe { guard.defer_destroy(old) };
    }
}

impl Drop for EpochPointer {
    fn drop(&mut self) {
        let last = std::mem::take(&mut self.0);
        // SAFETY: nobody else is left, and it is never null.
        drop(unsafe { last.into_owned() });
    }
}

/// crossbeam-epoch with a collector of its own and a handle for each thread.
#[derive(Debug)]
pub struct EpochHandle {
    pointer: EpochPointer,
    collector: Collector,
}

impl Scheme for EpochHandle {
    type Handle<'a> = (&'a Self, LocalHandle);
    const NAME: &'static str = "crossbeam-epoch, own LocalHandle";

    fn new(first: Table) -> Self {
        Self { pointer: EpochPointer::new(first), collector: Collector::new() }
    }

    fn handle(&self) -> Self::Handle<'_> {
        (self, self.collector.register())
    }

    #[inline]
    fn read((scheme, handle): &mut Self::Handle<'_>, index: usize) -> u32 {
        scheme.pointer.read(&handle.pin(), index)
    }

    fn publish(&self, next: Table) {
        self.pointer.publish(next, &self.collector.register().pin());
    }
}

/// crossbeam-epoch as most use it: `crossbeam_epoch::pin()`.
#[derive(Debug)]
pub struct EpochPin(EpochPointer);

impl Scheme for EpochPin {
    type Handle<'a> = &'a Self;
    const NAME: &'static str = "crossbeam_epoch::pin()";

    fn new(first: Table) -> Self {
        Self(EpochPointer::new(first))
    }

    fn handle(&self) -> &Self {
        self
    }

    #[inline]
    fn read(handle: &mut &Self, index: usize) -> u32 {
        handle.0.read(&crossbeam_epoch::pin(), index)
    }

    fn publish(&self, next: Table) {
        self.0.publish(next, &crossbeam_epoch::pin());
    }
}

/// arc-swap, by a guard for each read.
#[derive(Debug)]
pub struct SwapLoad(ArcSwap<Table>);

impl Scheme for SwapLoad {
    type Handle<'a> = &'a ArcSwap<Table>;
    const NAME: &'static str = "arc-swap load";

    fn new(first: Table) -> Self {
        Self(ArcSwap::from_pointee(first))
    }

    fn handle(&self) -> &ArcSwap<Table> {
        &self.0
    }

    #[inline]
    fn read(handle: &mut &ArcSwap<Table>, index: usize) -> u32 {
        handle.load().numbers[index]
    }

    fn publish(&self, next: Table) {
        self.0.store(Arc::new(next));
    }
}

/// arc-swap, with a cached `Arc` for each thread.
#[derive(Debug)]
pub struct SwapCache(ArcSwap<Table>);

impl Scheme for SwapCache {
    type Handle<'a> = Cache<&'a ArcSwap<Table>, Arc<Table>>;
    const NAME: &'static str = "arc-swap Cache";

    fn new(first: Table) -> Self {
        Self(ArcSwap::from_pointee(first))
    }

    fn handle(&self) -> Self::Handle<'_> {
        Cache::new(&self.0)
    }

    #[inline]
    fn read(handle: &mut Self::Handle<'_>, index: usize) -> u32 {
        handle.load().numbers[index]
    }

    fn publish(&self, next: Table) {
        self.0.store(Arc::new(next));
    }
}

/// A lock around the table, which readers take for each read.
macro_rules! locked {
    ($(#[$doc:meta])* $scheme:ident, $lock:ty, $name:literal, $read:ident, $write:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $scheme($lock);

        impl Scheme for $scheme {
            type Handle<'a> = &'a $lock;
            const NAME: &'static str = $name;

            fn new(first: Table) -> Self {
                Self(<$lock>::new(Box::new(first)))
            }

            fn handle(&self) -> &$lock {
                &self.0
            }

            #[inline]
            fn read(handle: &mut &$lock, index: usize) -> u32 {
                Unpoisoned::guard(handle.$read()).numbers[index]
            }

            fn publish(&self, next: Table) {
                let old = {
                    let mut place = Unpoisoned::guard(self.0.$write());
                    std::mem::replace(&mut *place, Box::new(next))
                };
                drop(old);
            }
        }
    };
}

/// What locking gives: a guard, or one that may be poisoned.
trait Unpoisoned {
    type Guard;
    fn guard(self) -> Self::Guard;
}

impl<G> Unpoisoned for Result<G, PoisonError<G>> {
    type Guard = G;

    #[inline]
    fn guard(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a, T> Unpoisoned for parking_lot::RwLockReadGuard<'a, T> {
    type Guard = Self;

    #[inline]
    fn guard(self) -> Self {
        self
    }
}

impl<'a, T> Unpoisoned for parking_lot::RwLockWriteGuard<'a, T> {
    type Guard = Self;

    #[inline]
    fn guard(self) -> Self {
        self
    }
}

locked! {
    /// The standard library's reader-writer lock.
    StdRwLock, RwLock<Box<Table>>, "std RwLock", read, write
}

locked! {
    /// parking_lot's reader-writer lock.
    ParkingRwLock, parking_lot::RwLock<Box<Table>>, "parking_lot RwLock", read, write
}

locked! {
    /// The standard library's mutex.
    StdMutex, Mutex<Box<Table>>, "std Mutex", lock, lock
}
