//! Records of load reports: several writers and the control side.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use plimsoll::records::{Exact, Kept, Origin, Packed, Periods, Record, Sample, Verdict};
use plimsoll_loom_tests::check;

const MS: u64 = 1_000_000;

/// A report whose value, utilization and time belong together.
fn report(record: &impl Record, ms: u32) {
    let sample = Sample { value: ms.into(), utilization: ms.into(), now_ns: u64::from(ms) * MS };
    record.report(sample, Origin::Response);
}

const PERIODS: Periods =
    Periods { blackout_ns: 10 * MS, expiration_ns: Some(100 * MS), blackout_first: false };

/// Two workers report while the control side looks: what it sees is of one report.
fn never_mixes<R: Record + Send + Sync + 'static>() {
    check(|| {
        let record = Arc::new(R::new());
        report(&*record, 7);
        let writers = [11, 12].map(|ms| {
            let record = Arc::clone(&record);
            thread::spawn(move || report(&*record, ms))
        });
        for _ in 0..2 {
            if let Some(sample) = record.last(1_000 * MS) {
                let ms = sample.value;
                assert!([7.0, 11.0, 12.0].contains(&ms), "{sample:?}");
                assert_eq!(sample.now_ns as f64, ms * MS as f64, "of two reports");
            }
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let last = record.last(1_000 * MS).expect("three reports");
        assert!([11.0, 12.0].contains(&last.value), "both reports left out: {last:?}");
        assert_eq!(record.judge(17 * MS, PERIODS).value(), Some(last.value));
    });
}

/// A worker reports while the control side finds the host's last report too old: the new one counts
/// after a blackout, and is not forgotten.
fn never_loses_a_fresh_report<R: Record + Send + Sync + 'static>() {
    check(|| {
        let record = Arc::new(R::new());
        report(&*record, 1);
        let writer = {
            let record = Arc::clone(&record);
            thread::spawn(move || report(&*record, 200))
        };
        let _ = record.judge(200 * MS, PERIODS);
        writer.join().unwrap();
        let _ = record.judge(201 * MS, PERIODS);
        let later = record.judge(210 * MS, PERIODS);
        assert_eq!(later.value(), Some(200.0), "ten milliseconds after a report");
    });
}

/// One worker reports while others see requests fail and succeed: the report stays.
#[test]
fn a_packed_record_keeps_a_report_that_comes_while_requests_end() {
    check(|| {
        let record = Arc::new(Packed::new());
        let enders = [false, true].map(|succeeded| {
            let record = Arc::clone(&record);
            thread::spawn(move || record.outcome(succeeded))
        });
        report(&*record, 7);
        enders.into_iter().for_each(|ender| ender.join().unwrap());
        assert_eq!(record.judge(17 * MS, PERIODS).value(), Some(7.0));
    });
}

/// A record is taken over from another cluster while the host's first report here comes: it is of one
/// of both, and of the report unless that `may_be_left_out`.
fn restores_without_mixing<R: Record + Send + Sync + 'static>(may_be_left_out: bool) {
    check(move || {
        let record = Arc::new(R::new());
        let writer = {
            let record = Arc::clone(&record);
            thread::spawn(move || report(&*record, 17))
        };
        let (age_ns, known_ns) = (5 * MS, 15 * MS);
        let kept = Kept { value: 12.0, utilization: 12.0, age_ns, known_ns };
        let is_restored = record.restore(kept, 17 * MS);
        writer.join().unwrap();
        let last = record.keep(17 * MS).expect("a report");
        assert!([0, known_ns].contains(&last.known_ns), "{last:?}");
        match last.value {
            17.0 => assert_eq!(last.age_ns, 0, "of two reports"),
            12.0 => assert!(last.age_ns == age_ns && is_restored && may_be_left_out, "{last:?}"),
            _ => panic!("{last:?}"),
        }
    });
}

#[test]
fn a_packed_record_prefers_a_report_to_a_restored_one() {
    restores_without_mixing::<Packed>(false);
}

#[test]
fn r3_an_exact_record_is_restored_or_reported() {
    restores_without_mixing::<Exact>(true);
}

#[test]
fn r1_r2_r3_an_exact_record_is_of_one_report() {
    never_mixes::<Exact>();
}

#[test]
fn a_packed_record_is_of_one_report() {
    never_mixes::<Packed>();
}

#[test]
fn an_exact_record_keeps_a_report_that_comes_while_it_expires() {
    never_loses_a_fresh_report::<Exact>();
}

#[test]
fn a_packed_record_keeps_a_report_that_comes_while_it_expires() {
    never_loses_a_fresh_report::<Packed>();
}

#[test]
fn two_first_reports_are_one_beginning() {
    check(|| {
        let record = Arc::new(Exact::new());
        let writers = [3, 4].map(|ms| {
            let record = Arc::clone(&record);
            thread::spawn(move || report(&*record, ms))
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert_eq!(record.judge(12 * MS, PERIODS), Verdict::Blackout);
        assert!(record.judge(14 * MS, PERIODS).value().is_some());
    });
}
