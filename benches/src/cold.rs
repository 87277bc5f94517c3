//! Single operations on cold caches.
//!
//! Between any two of them some megabytes are walked: 2 MiB evict what the first level of the
//! caches held and more or less of the second, 8 MiB all of that. One operation is then timed with
//! the time stamp counter, fenced on both sides. The measurement itself takes longer than a warm
//! pick, so an empty operation is measured along with the others and taken off.

use crate::counter;
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
            ticks.push(ticks_of(operation));
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

#[allow(clippy::cast_precision_loss)] // far below 2^53
fn ticks_of(operation: &mut Operation<'_>) -> f64 {
    counter::ticks_of(operation) as f64
}
