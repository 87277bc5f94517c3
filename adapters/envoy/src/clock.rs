//! The one place that reads a clock.

use std::sync::OnceLock;

/// Nanoseconds since the module first asked, plus one: 0 has a meaning of its own to the engine.
#[allow(clippy::disallowed_types)] // the caller of the engine owns the clock, and that is here
pub(crate) fn now_ns() -> u64 {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    let elapsed = START.get_or_init(std::time::Instant::now).elapsed().as_nanos();
    u64::try_from(elapsed).unwrap_or(u64::MAX - 1) + 1
}
