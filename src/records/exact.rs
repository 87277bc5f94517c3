//! A record of all bits: value and time under a sequence number, which is odd while a report is
//! written. Writers never wait: one that finds another at work leaves its report out, which is of
//! the same moment anyway.
//!
//! # Edges
//!
//! | edge | release side | acquire side | what becomes visible |
//! |---|---|---|---|
//! | R1 | [`Exact::write`] makes the sequence even | [`Exact::read`] finds it even | the report before it |
//! | R2 | [`Exact::write`] fences after it made the sequence odd | [`Exact::read`] fences before it looks again | that a report which is seen in part is being written |
//! | R3 | [`Exact::write`] makes the sequence even | the next one makes it odd | so that words of two writers do not mix |
//!
//! The time of the first report is set from nothing by compare-and-exchange and taken back by the
//! control side only, which looks again afterwards.

use super::{Kept, Origin, Periods, Record, Sample, Verdict, verdict};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence, spin_hint};

/// No time.
const NEVER: u64 = u64::MAX;

/// How often the control side looks again while reports are written, before it leaves a record
/// for the next time.
const ATTEMPTS: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Exact {
    sequence: AtomicU32,
    value: AtomicU64,
    last_ns: AtomicU64,
    since_ns: AtomicU64,
    /// The time of the report that expired last.
    expired_ns: AtomicU64,
    utilization: AtomicU64,
}

impl Record for Exact {
    fn new() -> Self {
        Self {
            sequence: AtomicU32::new(0),
            value: AtomicU64::new(0),
            last_ns: AtomicU64::new(NEVER),
            since_ns: AtomicU64::new(NEVER),
            expired_ns: AtomicU64::new(NEVER),
            utilization: AtomicU64::new(0),
        }
    }

    /// Envoy does not look at it.
    fn outcome(&self, _: bool) {}

    /// Envoy takes everything in, whatever it is from.
    fn report(&self, sample: Sample, _: Origin) -> bool {
        let now_ns = sample.now_ns.min(NEVER - 1);
        if self.write(Sample { now_ns, ..sample }, |_| true) {
            self.begin(now_ns);
        }
        true
    }

    fn judge(&self, now_ns: u64, periods: Periods) -> Verdict {
        let Some((value, last_ns)) = self.read() else { return Verdict::Unknown };
        // No edge: only the control side, which asks, writes it.
        if last_ns != self.expired_ns.load(Ordering::Relaxed) {
            // A report without a first one came while the host was made new.
            self.begin(last_ns);
        }
        // No edge: the number is the whole message.
        let since_ns = self.since_ns.load(Ordering::Relaxed);
        let known_ns = (since_ns != NEVER).then(|| now_ns.saturating_sub(since_ns));
        let verdict = verdict(value, now_ns.saturating_sub(last_ns), known_ns, periods);
        if verdict == Verdict::Expired {
            // No edge: a report that comes meanwhile is found without a first one the next time.
            self.expired_ns.store(last_ns, Ordering::Relaxed);
            self.since_ns.store(NEVER, Ordering::Relaxed);
        }
        verdict
    }

    fn last(&self, now_ns: u64) -> Option<Sample> {
        let (value, last_ns) = self.read()?;
        // No edge: a figure.
        let utilization = f64::from_bits(self.utilization.load(Ordering::Relaxed));
        Some(Sample { value, utilization, now_ns: last_ns.min(now_ns) })
    }

    fn keep(&self, now_ns: u64) -> Option<Kept> {
        let (value, last_ns) = self.read()?;
        // No edge: figures.
        let since_ns = self.since_ns.load(Ordering::Relaxed).min(last_ns);
        let utilization = f64::from_bits(self.utilization.load(Ordering::Relaxed));
        let age = |then_ns: u64| now_ns.saturating_sub(then_ns);
        Some(Kept { value, utilization, age_ns: age(last_ns), known_ns: age(since_ns) })
    }

    /// What is older than the clock is as old as the clock.
    fn restore(&self, kept: Kept, now_ns: u64) -> bool {
        let Kept { value, utilization, age_ns, known_ns } = kept;
        let sample = Sample { value, utilization, now_ns: now_ns.saturating_sub(age_ns) };
        // Before the report, so that the host is not new if another one comes meanwhile.
        self.begin(now_ns.saturating_sub(known_ns));
        self.write(sample, |last_ns| last_ns == NEVER)
    }

    fn forget(&self) {
        // No edge: no snapshot names the host, and so nobody reports.
        self.last_ns.store(NEVER, Ordering::Relaxed);
        self.since_ns.store(NEVER, Ordering::Relaxed);
        self.expired_ns.store(NEVER, Ordering::Relaxed);
    }
}

impl Exact {
    /// Writes a report, unless another one is being written or the time of the one before says not
    /// to; says whether it did.
    fn write(&self, sample: Sample, is_wanted: impl Fn(u64) -> bool) -> bool {
        // No edge: a guess, which the exchange verifies.
        let before = self.sequence.load(Ordering::Relaxed);
        if !before.is_multiple_of(2) {
            return false;
        }
        // R3, acquire side.
        let mine = self.sequence.compare_exchange(
            before,
            before.wrapping_add(1),
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        if mine.is_err() {
            return false;
        }
        // R2, release side.
        fence(Ordering::Release);
        // R3: nobody else writes it now.
        let is_wanted = is_wanted(self.last_ns.load(Ordering::Relaxed));
        if is_wanted {
            // R1: made visible by the sequence, and R2 tells who sees them too early.
            self.value.store(sample.value.to_bits(), Ordering::Relaxed);
            self.last_ns.store(sample.now_ns, Ordering::Relaxed);
            // No edge: a figure.
            self.utilization.store(sample.utilization.to_bits(), Ordering::Relaxed);
        }
        // R1 and R3, release side.
        self.sequence.store(before.wrapping_add(2), Ordering::Release);
        is_wanted
    }

    /// The last report's value and time; none if there is none, or if reports come so fast that
    /// none can be read.
    fn read(&self) -> Option<(f64, u64)> {
        for _ in 0..ATTEMPTS {
            // R1, acquire side.
            let before = self.sequence.load(Ordering::Acquire);
            // R1 and R2: whether they belong together is decided below.
            let value = self.value.load(Ordering::Relaxed);
            let last_ns = self.last_ns.load(Ordering::Relaxed);
            // R2, acquire side.
            fence(Ordering::Acquire);
            // R2: ordered by the fence.
            let after = self.sequence.load(Ordering::Relaxed);
            if before.is_multiple_of(2) && before == after {
                return (last_ns != NEVER).then(|| (f64::from_bits(value), last_ns));
            }
            spin_hint();
        }
        None
    }

    /// Sets the time of the first report, if there is none.
    fn begin(&self, now_ns: u64) {
        // No edge: of several reports one is the first, whichever.
        if self.since_ns.load(Ordering::Relaxed) == NEVER {
            let _ =
                self.since_ns.compare_exchange(NEVER, now_ns, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn periods(blackout: u64, expiration: u64) -> Periods {
        Periods {
            blackout_ns: blackout * SECOND,
            expiration_ns: Some(expiration * SECOND),
            blackout_first: true,
        }
    }

    fn report(record: &Exact, value: f64, seconds: u64) {
        record
            .report(Sample { value, utilization: 0.5, now_ns: seconds * SECOND }, Origin::Response);
    }

    #[test]
    fn both_boundaries_are_inclusive_and_blackout_is_asked_first() {
        let record = Exact::new();
        assert_eq!(record.judge(0, periods(0, 0)), Verdict::Unknown);
        report(&record, 42.0, 5);
        // Envoy's own table: seen since 5, last at 10, now such that the limits are 2 and 8.
        report(&record, 42.0, 10);
        let at = |seconds: u64, blackout, expiration| {
            record.judge(seconds * SECOND, periods(blackout, expiration))
        };
        assert_eq!(at(12, 10, 4), Verdict::Blackout, "7 of 10 seconds");
        assert_eq!(at(12, 10, 1), Verdict::Blackout, "though it has expired");
        assert_eq!(at(15, 10, 5).value(), Some(42.0), "exactly both");
        assert_eq!(at(16, 10, 5), Verdict::Expired);
        assert_eq!(at(17, 0, 50), Verdict::Blackout, "new again, without a report");
        report(&record, 43.0, 18);
        assert_eq!(at(27, 10, 50), Verdict::Blackout);
        assert_eq!(at(28, 10, 50).value(), Some(43.0));
    }

    #[test]
    fn a_restored_record_is_as_old_as_it_was_and_gives_way_to_a_report() {
        let record = Exact::new();
        report(&record, 0.1 + 0.2, 5);
        report(&record, 0.1 + 0.2, 10);
        let kept = record.keep(12 * SECOND).unwrap();
        assert_eq!((kept.age_ns, kept.known_ns), (2 * SECOND, 7 * SECOND));
        let other = Exact::new();
        assert!(other.restore(kept, 100 * SECOND) && !other.restore(kept, 100 * SECOND));
        assert_eq!(other.keep(100 * SECOND), Some(kept));
        assert_eq!(other.judge(102 * SECOND, periods(10, 50)), Verdict::Blackout);
        assert_eq!(other.judge(103 * SECOND, periods(10, 50)).value(), Some(0.1 + 0.2));
        // On a clock that shows less than the record is old it is as old as the clock.
        let third = Exact::new();
        assert!(third.restore(kept, SECOND));
        assert_eq!(third.keep(SECOND).unwrap().age_ns, SECOND);
    }

    #[test]
    fn all_bits_survive() {
        let record = Exact::new();
        let (value, now_ns) = (0.1 + 0.2, (1 << 62) + 1);
        record.report(Sample { value, utilization: 1e-300, now_ns }, Origin::Response);
        assert_eq!(record.last(u64::MAX), Some(Sample { value, utilization: 1e-300, now_ns }));
        record.forget();
        assert_eq!(record.last(u64::MAX), None);
        record.report(
            Sample { value: f64::NAN, utilization: f64::NAN, now_ns: u64::MAX },
            Origin::Response,
        );
        assert!(record.last(u64::MAX).unwrap().value.is_nan());
    }
}
