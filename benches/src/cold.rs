//! Single operations on cold caches.
//!
//! Between any two of them some megabytes are walked: 2 MiB evict what the first level of the
//! caches held and more or less of the second, 8 MiB all of that. One operation is then timed with
//! the time stamp counter, fenced on both sides. The measurement itself takes longer than a warm
//! pick, so an empty operation is measured along with the others and taken off.

use crate::paired::median;

/// An operation, one at a time.
pub type Operation<'a> = Box<dyn FnMut() + 'a>;

/// The median nanoseconds of each operation above those of an empty one; `None` where there is no
/// time stamp counter to read. `walked` bytes are walked between any two operations.
#[must_use]
pub fn measure(operations: Vec<Operation<'_>>, samples: usize, walked: usize) -> Option<Vec<f64>> {
    let tick_ns = counter::tick_ns()?;
    let empty: Operation<'_> = Box::new(|| {});
    let mut operations: Vec<_> = std::iter::once(empty).chain(operations).collect();
    let mut ticks = vec![Vec::with_capacity(samples); operations.len()];
    let mut memory = vec![0_u64; walked / size_of::<u64>()];
    for sample in 0..samples {
        for (operation, ticks) in operations.iter_mut().zip(&mut ticks) {
            walk(&mut memory, sample as u64);
            ticks.push(counter::ticks_of(operation));
        }
    }
    let medians: Vec<f64> = ticks.into_iter().map(median).collect();
    Some(medians[1..].iter().map(|&own| (own - medians[0]) * tick_ns).collect())
}

/// Writes one word of every cache line.
fn walk(memory: &mut [u64], value: u64) {
    for word in memory.iter_mut().step_by(8) {
        *word = word.wrapping_add(value);
    }
    std::hint::black_box(memory);
}

#[cfg(target_arch = "x86_64")]
mod counter {
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

    #[allow(clippy::cast_precision_loss)] // far below 2^53
    pub(super) fn ticks_of(operation: &mut super::Operation<'_>) -> f64 {
        let start = now();
        operation();
        (now() - start) as f64
    }

    /// The nanoseconds of a tick.
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    pub(super) fn tick_ns() -> Option<f64> {
        let (clock, start) = (Instant::now(), now());
        while clock.elapsed() < Duration::from_millis(50) {}
        let ticks = now() - start;
        Some(clock.elapsed().as_secs_f64() * 1e9 / ticks as f64)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod counter {
    pub(super) fn ticks_of(_: &mut super::Operation<'_>) -> f64 {
        f64::NAN
    }

    pub(super) fn tick_ns() -> Option<f64> {
        None
    }
}
