//! A record of one word: a 32-bit float and the time in milliseconds, which wraps after 49 days.
//!
//! # Edges
//!
//! None: each word is a whole message. The time of the first report is set from nothing by
//! compare-and-exchange and taken back by the control side only, which looks again afterwards, so
//! that a report which comes meanwhile does not end up without one. That requests fail is noted in
//! a word of no report, and only by exchange: no report is lost to it.

use super::{Kept, Origin, Periods, Record, Sample, Verdict, verdict};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use state::Word;

const NS_PER_MS: u64 = 1_000_000;

/// Reports older than this are given this age, so that none looks new when the clock wraps.
const OLDEST_MS: u32 = 1 << 30;

/// See the module.
#[derive(Debug)]
pub struct Packed {
    state: state::State,
}

impl Record for Packed {
    fn new() -> Self {
        Self { state: state::State::new() }
    }

    fn report(&self, sample: Sample, origin: Origin) -> bool {
        let stamp = stamp(sample.now_ns);
        match origin {
            Origin::Response if self.state.is_streamed(stamp) => return false,
            Origin::Response => {}
            Origin::Stream { fresh_ns } => self.state.set_streamed(stamp, fresh_ns),
        }
        self.state.set_utilization(sample.utilization);
        self.state.begin(stamp);
        self.state.set(sample.value, stamp);
        true
    }

    #[inline]
    fn outcome(&self, succeeded: bool) {
        self.state.set_failing(!succeeded);
    }

    fn judge(&self, now_ns: u64, periods: Periods) -> Verdict {
        let now = stamp(now_ns);
        self.state.end_stream(now);
        let mut report = match self.state.get() {
            Word::Nothing => return Verdict::Unknown,
            Word::Failing => return Verdict::Failing,
            Word::Report(report) => report,
        };
        // A report without a first one came while the host was made new.
        self.state.begin(report.stamp);
        let oldest = now.wrapping_sub(OLDEST_MS).max(1);
        let age_ms = age(report.stamp, now);
        if age_ms > OLDEST_MS {
            report = self.state.replace(report, oldest);
        }
        let known_ms = self.state.since().map(|since| age(since, now));
        if known_ms.is_some_and(|known_ms| known_ms > OLDEST_MS) {
            self.state.restart(oldest);
        }
        let known_ns = known_ms.map(nanoseconds);
        let verdict = verdict(report.value.into(), nanoseconds(age_ms), known_ns, periods);
        if verdict == Verdict::Expired && !self.state.clear(report) {
            // A new report came in between; it is judged next time.
            return Verdict::Blackout;
        }
        verdict
    }

    fn last(&self, now_ns: u64) -> Option<Sample> {
        let Word::Report(report) = self.state.get() else { return None };
        let age_ns = nanoseconds(age(report.stamp, stamp(now_ns)));
        let utilization = self.state.utilization();
        Some(Sample {
            value: report.value.into(),
            utilization,
            now_ns: now_ns.saturating_sub(age_ns),
        })
    }

    fn keep(&self, now_ns: u64) -> Option<Kept> {
        let Word::Report(report) = self.state.get() else { return None };
        let now = stamp(now_ns);
        let since = self.state.since().unwrap_or(report.stamp);
        Some(Kept {
            value: report.value.into(),
            utilization: self.state.utilization(),
            age_ns: nanoseconds(age(report.stamp, now)),
            known_ns: nanoseconds(age(since, now)),
        })
    }

    fn restore(&self, kept: Kept, now_ns: u64) -> bool {
        let now = stamp(now_ns);
        let then = |age_ns: u64| {
            let age_ms = (age_ns / NS_PER_MS).min(OLDEST_MS.into());
            now.wrapping_sub(u32::try_from(age_ms).unwrap_or(OLDEST_MS)).max(1)
        };
        // Before the report, so that the host is not new if another one comes meanwhile.
        self.state.begin(then(kept.known_ns));
        let is_restored = self.state.fill(kept.value, then(kept.age_ns));
        if is_restored {
            self.state.set_utilization(kept.utilization);
        }
        is_restored
    }

    fn forget(&self) {
        self.state.forget();
    }
}

/// Milliseconds and one more, never 0.
#[allow(clippy::cast_possible_truncation)] // wraps
fn stamp(now_ns: u64) -> u32 {
    ((now_ns / NS_PER_MS) as u32).wrapping_add(1).max(1)
}

/// From one moment to another; what lies in the future is now.
fn age(since: u32, now: u32) -> u32 {
    let age = now.wrapping_sub(since);
    if age > u32::MAX - OLDEST_MS { 0 } else { age }
}

fn nanoseconds(ms: u32) -> u64 {
    u64::from(ms) * NS_PER_MS
}

/// The words and what is in them.
mod state {
    use super::*;

    /// A report as the word has it.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Report {
        pub(super) value: f32,
        pub(super) stamp: u32,
    }

    /// What the word says.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) enum Word {
        Nothing,
        Failing,
        Report(Report),
    }

    /// A word of no report while requests fail: no stamp is 0.
    const FAILING: u64 = 1 << 32;

    #[derive(Debug)]
    pub(super) struct State {
        /// The value in the high half, the time in the low one; 0 or [`FAILING`] for none.
        word: AtomicU64,
        /// The time of the first report; 0 for none.
        since: AtomicU32,
        utilization: AtomicU32,
        /// Until when the reports of a stream are preferred; 0 for not at all.
        streamed: AtomicU32,
    }

    impl State {
        pub(super) fn new() -> Self {
            Self {
                word: AtomicU64::new(0),
                since: AtomicU32::new(0),
                utilization: AtomicU32::new(0),
                streamed: AtomicU32::new(0),
            }
        }

        #[allow(clippy::cast_possible_truncation)] // two halves
        pub(super) fn get(&self) -> Word {
            // No edge: the word is the whole message.
            match self.word.load(Ordering::Relaxed) {
                0 => Word::Nothing,
                FAILING => Word::Failing,
                word => Word::Report(Report {
                    value: f32::from_bits((word >> 32) as u32),
                    stamp: word as u32,
                }),
            }
        }

        /// Notes whether requests fail, unless there is a report.
        #[inline]
        pub(super) fn set_failing(&self, failing: bool) {
            let (before, after) = if failing { (0, FAILING) } else { (FAILING, 0) };
            // No edge: a guess, which the exchange verifies; and the word is the whole message.
            if self.word.load(Ordering::Relaxed) == before {
                let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
                let _ = self.word.compare_exchange(before, after, success, failure);
            }
        }

        #[allow(clippy::cast_possible_truncation)] // 24 bits of a float are plenty
        pub(super) fn set(&self, value: f64, stamp: u32) {
            let word = pack(Report { value: value as f32, stamp });
            if cfg!(loom) {
                // Loom lets an exchange succeed on a value that a plain store has replaced already,
                // which the language does not. No edge, as below.
                self.word.swap(word, Ordering::Relaxed);
            } else {
                // No edge: the word is the whole message.
                self.word.store(word, Ordering::Relaxed);
            }
        }

        /// Sets a report if there is none; says whether it did.
        #[allow(clippy::cast_possible_truncation)] // as above
        pub(super) fn fill(&self, value: f64, stamp: u32) -> bool {
            let most = f64::from(f32::MAX);
            let word = pack(Report { value: value.clamp(-most, most) as f32, stamp });
            // No edge: a guess, which the exchange verifies; and the word is the whole message.
            let mut before = self.word.load(Ordering::Relaxed);
            while let 0 | FAILING = before {
                let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
                match self.word.compare_exchange_weak(before, word, success, failure) {
                    Ok(_) => return true,
                    // Requests fail or succeed meanwhile, or there is a report.
                    Err(found) => before = found,
                }
            }
            false
        }

        /// Gives the last report another time, unless there is a newer one; the report with it.
        pub(super) fn replace(&self, report: Report, stamp: u32) -> Report {
            let next = Report { stamp, ..report };
            // No edge: the word is the whole message.
            let _ = self.word.compare_exchange(
                pack(report),
                pack(next),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            next
        }

        /// Makes the host new, unless there is a newer report. Says whether it did.
        pub(super) fn clear(&self, report: Report) -> bool {
            // No edge: the word is the whole message.
            let cleared =
                self.word.compare_exchange(pack(report), 0, Ordering::Relaxed, Ordering::Relaxed);
            if cleared.is_ok() {
                // No edge: a report that came meanwhile is found without a first one, see `judge`.
                self.since.store(0, Ordering::Relaxed);
            }
            cleared.is_ok()
        }

        /// The time of the first report.
        pub(super) fn since(&self) -> Option<u32> {
            // No edge: the word is the whole message.
            Some(self.since.load(Ordering::Relaxed)).filter(|&since| since != 0)
        }

        /// Sets the time of the first report, if there is none.
        pub(super) fn begin(&self, stamp: u32) {
            // No edge: of several reports one is the first, whichever.
            if self.since.load(Ordering::Relaxed) == 0 {
                let _ = self.since.compare_exchange(0, stamp, Ordering::Relaxed, Ordering::Relaxed);
            }
        }

        /// Moves the time of the first report. Control side.
        pub(super) fn restart(&self, stamp: u32) {
            // No edge: workers set it from nothing only.
            self.since.store(stamp, Ordering::Relaxed);
        }

        pub(super) fn utilization(&self) -> f64 {
            // No edge: a figure.
            f32::from_bits(self.utilization.load(Ordering::Relaxed)).into()
        }

        #[allow(clippy::cast_possible_truncation)] // for people
        pub(super) fn set_utilization(&self, utilization: f64) {
            // No edge: a figure.
            self.utilization.store((utilization as f32).to_bits(), Ordering::Relaxed);
        }

        /// Whether the reports of a stream are preferred now.
        #[inline]
        pub(super) fn is_streamed(&self, now: u32) -> bool {
            // No edge: a report more or less.
            let until = self.streamed.load(Ordering::Relaxed);
            until != 0 && age(now, until) > 0
        }

        /// Prefers the reports of a stream for so long.
        #[allow(clippy::cast_possible_truncation)] // no more than a few days
        pub(super) fn set_streamed(&self, now: u32, fresh_ns: u64) {
            let fresh_ms = (fresh_ns / NS_PER_MS).min(OLDEST_MS.into()) as u32;
            // No edge: a report more or less. Never 0, as no stamp is.
            self.streamed.store(now.wrapping_add(fresh_ms).max(1), Ordering::Relaxed);
        }

        /// Ends the preference when it is over, so that it does not begin anew when the clock
        /// wraps. Control side, where the reports of streams come in, too.
        pub(super) fn end_stream(&self, now: u32) {
            // No edge: workers do not write it.
            if self.streamed.load(Ordering::Relaxed) != 0 && !self.is_streamed(now) {
                self.streamed.store(0, Ordering::Relaxed);
            }
        }

        pub(super) fn forget(&self) {
            // No edge: no snapshot names the host, and so nobody reports.
            self.word.store(0, Ordering::Relaxed);
            self.since.store(0, Ordering::Relaxed);
            self.streamed.store(0, Ordering::Relaxed);
        }
    }

    fn pack(report: Report) -> u64 {
        u64::from(report.value.to_bits()) << 32 | u64::from(report.stamp)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: u64 = NS_PER_MS;
    const PERIODS: Periods =
        Periods { blackout_ns: 10 * MS, expiration_ns: Some(100 * MS), blackout_first: false };

    fn report(record: &Packed, value: f64, ms: u64) {
        let sample = Sample { value, utilization: value / 2.0, now_ns: ms * MS };
        assert!(record.report(sample, Origin::Response));
    }

    #[test]
    fn a_host_is_unknown_then_new_then_known_then_expired_then_new_again() {
        let record = Packed::new();
        assert_eq!(record.judge(0, PERIODS), Verdict::Unknown);
        report(&record, 2.5, 5);
        assert_eq!(record.judge(14 * MS, PERIODS), Verdict::Blackout);
        assert_eq!(record.judge(15 * MS, PERIODS).value(), Some(2.5));
        report(&record, 3.5, 50);
        assert_eq!(record.judge(150 * MS, PERIODS).value(), Some(3.5));
        assert_eq!(record.judge(151 * MS, PERIODS), Verdict::Expired);
        assert_eq!(record.judge(151 * MS, PERIODS), Verdict::Unknown);
        report(&record, 4.5, 160);
        assert_eq!(record.judge(169 * MS, PERIODS), Verdict::Blackout);
        assert_eq!(record.judge(170 * MS, PERIODS).value(), Some(4.5));
    }

    #[test]
    fn a_silent_host_never_looks_new_when_the_clock_wraps() {
        let record = Packed::new();
        report(&record, 1.0, 1);
        let for_ever = Periods { expiration_ns: None, ..PERIODS };
        let day = 86_400_000;
        for days in 1..200 {
            assert_eq!(record.judge(days * day * MS, for_ever).value(), Some(1.0));
            let age_ms = days * day - record.last(days * day * MS).unwrap().now_ns / MS;
            assert!(age_ms >= (12 * day).min(days * day - 1), "{days} days: {age_ms} ms old");
        }
        assert_eq!(record.judge(200 * day * MS, PERIODS), Verdict::Expired);
    }

    #[test]
    fn a_report_from_the_future_is_of_now() {
        let record = Packed::new();
        report(&record, 1.0, 1000);
        assert_eq!(record.judge(900 * MS, PERIODS), Verdict::Blackout);
        assert_eq!(record.last(900 * MS).unwrap().now_ns, 900 * MS);
    }

    #[test]
    fn while_a_stream_is_fresh_other_reports_are_left_out() {
        let record = Packed::new();
        let sample = |value, ms| Sample { value, utilization: value, now_ns: ms * MS };
        let stream = Origin::Stream { fresh_ns: 20 * MS };
        report(&record, 1.0, 1);
        assert!(record.report(sample(2.0, 10), stream));
        assert!(!record.report(sample(3.0, 29), Origin::Response));
        assert_eq!(record.judge(29 * MS, PERIODS).value(), Some(2.0));
        report(&record, 4.0, 30);
        assert!(record.report(sample(5.0, 31), stream));
        assert_eq!(record.judge(60 * MS, PERIODS).value(), Some(5.0));
        // 50 days later the clock has wrapped, and the stream is long gone.
        report(&record, 6.0, 50 * 86_400_000);
        record.forget();
        report(&record, 7.0, 32);
    }

    #[test]
    fn failures_are_known_until_a_success_or_a_report() {
        let record = Packed::new();
        record.outcome(false);
        record.outcome(false);
        assert_eq!(record.judge(0, PERIODS), Verdict::Failing);
        assert_eq!(record.last(0), None);
        record.outcome(true);
        assert_eq!(record.judge(0, PERIODS), Verdict::Unknown);
        record.outcome(false);
        report(&record, 0.0, 0);
        assert_eq!(record.judge(60 * MS, PERIODS).value(), Some(0.0));
        record.outcome(false);
        assert_eq!(record.judge(60 * MS, PERIODS).value(), Some(0.0), "it has reported");
        record.forget();
        assert_eq!(record.judge(60 * MS, PERIODS), Verdict::Unknown);
    }

    #[test]
    fn a_restored_record_is_as_old_as_it_was_and_gives_way_to_a_report() {
        let record = Packed::new();
        assert_eq!(record.keep(0), None);
        report(&record, 2.5, 5);
        report(&record, 3.5, 50);
        let kept = record.keep(60 * MS).unwrap();
        let expected = Kept { value: 3.5, utilization: 1.75, age_ns: 10 * MS, known_ns: 55 * MS };
        assert_eq!(kept, expected);
        // Another clock, which shows less than the record is old.
        let other = Packed::new();
        other.outcome(false);
        assert!(other.restore(kept, 3 * MS) && !other.restore(kept, 3 * MS));
        assert_eq!(other.keep(3 * MS), Some(kept));
        assert_eq!(other.judge(3 * MS, PERIODS).value(), Some(3.5), "past its blackout");
        assert_eq!(other.judge(94 * MS, PERIODS), Verdict::Expired);
        report(&other, 4.5, 94);
        assert!(!other.restore(kept, 95 * MS));
        let endless = Kept { value: 1e300, age_ns: u64::MAX, known_ns: u64::MAX, ..kept };
        let third = Packed::new();
        assert!(third.restore(endless, 0));
        assert_eq!(third.judge(0, PERIODS), Verdict::Expired);
    }

    #[test]
    fn zero_is_a_report() {
        let record = Packed::new();
        report(&record, 0.0, 0);
        assert_eq!(record.judge(60 * MS, PERIODS).value(), Some(0.0));
        record.forget();
        assert_eq!(record.judge(60 * MS, PERIODS), Verdict::Unknown);
    }
}
