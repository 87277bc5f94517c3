//! What the models share.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::cell::UnsafeCell;

/// A value whose every read and whose destruction loom watches: a read that its destruction does
/// not come after is reported as a race.
pub struct Watched {
    number: UnsafeCell<u32>,
    /// How many of them have been destroyed; plain bookkeeping of the model, no part of it.
    destroyed: Arc<AtomicUsize>,
}

impl Watched {
    pub fn new(number: u32, destroyed: &Arc<AtomicUsize>) -> Box<Self> {
        let value = Self { number: UnsafeCell::new(0), destroyed: Arc::clone(destroyed) };
        // SAFETY: nobody else has the value yet. A write that loom sees, so that a reader which
        // the publish does not order after it is reported.
        value.number.with_mut(|place| unsafe { *place = number });
        Box::new(value)
    }

    pub fn read(&self) -> u32 {
        // SAFETY: the value is written by its destructor only, and loom checks that no read runs
        // beside it.
        self.number.with(|number| unsafe { *number })
    }
}

// SAFETY: shared reads are what the models check; loom reports any that is not ordered.
unsafe impl Sync for Watched {}
// SAFETY: as above.
unsafe impl Send for Watched {}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: `&mut self` is exclusive; loom checks that it really is.
        self.number.with_mut(|number| unsafe { *number = u32::MAX });
        self.destroyed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a model. `PLIMSOLL_LOOM_BOUND` sets the preemption bound: 2 unless given, 0 for none.
pub fn check(model: impl Fn() + Sync + Send + 'static) {
    let bound = std::env::var("PLIMSOLL_LOOM_BOUND").ok().and_then(|bound| bound.parse().ok());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = match bound {
        Some(0) => None,
        Some(bound) => Some(bound),
        None => Some(2),
    };
    builder.check(model);
}

/// Whether the longer models run too (`make soak`).
pub fn is_soak() -> bool {
    std::env::var_os("PLIMSOLL_LOOM_SOAK").is_some()
}

/// Runs a model that must fail, and says so if it does not.
pub fn must_fail(what: &str, model: impl Fn() + Sync + Send + 'static) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(model)));
    assert!(outcome.is_err(), "{what}: the model found nothing wrong");
}
