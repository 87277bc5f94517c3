//! Where panics end: one that left a hook would abort Envoy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::log;

/// Panics that nobody has put into a metric yet.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Runs the body of a hook. Should it panic, the answer is `otherwise`.
pub(crate) fn guard<T>(hook: &str, otherwise: T, body: impl FnOnce() -> T) -> T {
    // What a hook can leave half done is the state of one thread's instance, whose parts are each
    // valid at any time, or lies behind a lock of the engine's, which knows that it was left.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(answer) => answer,
        Err(payload) => {
            // The destructor of a payload that we know nothing of might panic in its turn.
            std::mem::forget(payload);
            // No edge: a figure.
            PANICS.fetch_add(1, Ordering::Relaxed);
            log::error(&format!("a panic in {hook} was caught; its message is on stderr"));
            otherwise
        }
    }
}

/// Takes the number of panics since the last call.
pub(crate) fn take_panics() -> u64 {
    // No edge: a figure.
    PANICS.swap(0, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_in_the_guard_and_is_counted() {
        let answer = guard("choose_host", false, || panic!("deliberate"));
        assert!(!answer);
        assert!(take_panics() >= 1);
        assert!(guard("choose_host", false, || true));
    }
}
