//! How long picks and updates take where they happen, for `bench/run.py`. There only with the feature
//! `time-picks`; each thread logs what it has measured when its instance goes.

use std::cell::RefCell;

use crate::clock::now_ns;
use crate::log;

/// Steps of a sixteenth: 16 for each power of two.
const STEPS: u64 = 16;

/// What is timed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    Picks,
    Updates,
}

impl What {
    const ALL: [(Self, &'static str); 2] = [(Self::Picks, "picks"), (Self::Updates, "updates")];
}

thread_local! {
    static BUCKETS: RefCell<[Vec<u64>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

/// Does something and notes how long it took, reading the clock once included.
pub(crate) fn timed<T>(what: What, work: impl FnOnce() -> T) -> T {
    let begun = now_ns();
    let answer = work();
    note(what, now_ns() - begun);
    answer
}

fn note(what: What, ns: u64) {
    let index = bucket(ns.max(1));
    BUCKETS.with_borrow_mut(|buckets| {
        let buckets = &mut buckets[what as usize];
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
    let all = BUCKETS.with_borrow_mut(std::mem::take);
    for (what, name) in What::ALL {
        log_one(name, &all[what as usize]);
    }
}

fn log_one(name: &str, buckets: &[u64]) {
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
    log::warn(&format!("{name}={total} p50_ns={p50} p90_ns={p90} p99_ns={p99} p999_ns={p999}"));
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
        (0..1000).for_each(|_| timed(What::Picks, || ()));
        log_all();
        log_all();
        let log = crate::fake::take_log();
        assert!(log.len() == 1 && log[0].1.starts_with("plimsoll: picks=1000 p50_ns="), "{log:?}");
    }
}
