//! How long picks take where they are made, for `bench/run.py`. There only with the feature
//! `time-picks`; each thread logs what it has measured when its instance goes.

use std::cell::RefCell;

use crate::clock::now_ns;
use crate::log;

/// Steps of a sixteenth: 16 for each power of two.
const STEPS: u64 = 16;

thread_local! {
    static BUCKETS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Runs a pick and notes how long it took, reading the clock once included.
pub(crate) fn timed<T>(pick: impl FnOnce() -> T) -> T {
    let begun = now_ns();
    let answer = pick();
    note(now_ns() - begun);
    answer
}

fn note(ns: u64) {
    let index = bucket(ns.max(1));
    BUCKETS.with_borrow_mut(|buckets| {
        if buckets.len() <= index {
            buckets.resize(index + 1, 0);
        }
        buckets[index] += 1;
    });
}

fn bucket(ns: u64) -> usize {
    let octave = u64::from(ns.ilog2());
    let step = (u128::from(ns - (1 << octave)) * u128::from(STEPS)) >> octave;
    usize::try_from(octave * STEPS).unwrap_or_default() + usize::try_from(step).unwrap_or_default()
}

/// The smallest time of a bucket.
fn floor_ns(index: usize) -> u64 {
    let (octave, step) = (index as u64 / STEPS, index as u64 % STEPS);
    (1 << octave) + ((step << octave) / STEPS)
}

/// Logs what this thread has measured, and begins anew.
pub(crate) fn log_all() {
    let buckets = BUCKETS.with_borrow_mut(std::mem::take);
    let total: u64 = buckets.iter().sum();
    if total == 0 {
        return;
    }
    let quantile = |part: u64| {
        let mut left = total * part / 1000;
        let found = buckets.iter().position(|&count| {
            let is_here = count > left;
            left = left.saturating_sub(count);
            is_here
        });
        floor_ns(found.unwrap_or(buckets.len() - 1))
    };
    let [p50, p90, p99, p999] = [500, 900, 990, 999].map(quantile);
    log::warn(&format!("picks={total} p50_ns={p50} p90_ns={p90} p99_ns={p99} p999_ns={p999}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_what_they_say() {
        for ns in (1..5000).chain([1 << 20, (1 << 40) - 1]) {
            let index = bucket(ns);
            assert!(floor_ns(index) <= ns && ns < floor_ns(index + 1).max(ns + 1), "{ns}");
            assert!(floor_ns(index) * 17 / 16 + 1 >= ns, "{ns}");
        }
    }

    #[test]
    fn quantiles_are_logged_once() {
        crate::fake::take_log();
        (0..1000).for_each(|_| timed(|| ()));
        log_all();
        log_all();
        let log = crate::fake::take_log();
        assert!(log.len() == 1 && log[0].1.starts_with("plimsoll: picks=1000 p50_ns="), "{log:?}");
    }
}
