//! The time stamp counter, fenced on both sides: the ticks of a single operation.

pub use platform::{tick_ns, ticks_of};

#[cfg(target_arch = "x86_64")]
mod platform {
    use std::arch::x86_64::{__rdtscp, _mm_lfence};
    use std::time::{Duration, Instant};

    /// The time stamp counter, after everything before it and before everything after it.
    fn now() -> u64 {
        let mut processor = 0;
        // SAFETY: every processor of this architecture has the instruction.
        unsafe { _mm_lfence() };
        // SAFETY: every processor that runs a present system has the instruction, and `processor`
        // is a place of our own.
        let ticks = unsafe { __rdtscp(&raw mut processor) };
        // SAFETY: as above.
        unsafe { _mm_lfence() };
        ticks
    }

    /// The ticks that an operation takes, its measurement included.
    #[inline]
    pub fn ticks_of(operation: impl FnOnce()) -> u64 {
        let start = now();
        operation();
        now() - start
    }

    /// The nanoseconds of a tick; `None` where there is no counter.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    pub fn tick_ns() -> Option<f64> {
        let (clock, start) = (Instant::now(), now());
        while clock.elapsed() < Duration::from_millis(50) {}
        let ticks = now() - start;
        Some(clock.elapsed().as_secs_f64() * 1e9 / ticks as f64)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod platform {
    /// Nothing to go by.
    pub fn ticks_of(operation: impl FnOnce()) -> u64 {
        operation();
        0
    }

    /// There is no counter.
    #[must_use]
    pub fn tick_ns() -> Option<f64> {
        None
    }
}
