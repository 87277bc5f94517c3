//! The edges of `snapshot`, each under the name it has in the module's table.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::sync::Mutex;
use loom::thread;
use plimsoll::snapshot::{Cell, Protocol, Reader, Sound};
use plimsoll_loom_tests::{Watched, check, is_soak, must_fail};

/// No fence on either side.
struct NoFence;
// SAFETY: used in models only, which report what goes wrong.
unsafe impl Protocol for NoFence {
    const FENCE: bool = false;
}

/// A reader trusts its first load.
struct NoRecheck;
// SAFETY: as above.
unsafe impl Protocol for NoRecheck {
    const RECHECK: bool = false;
}

/// The scan does not acquire what readers release.
struct RelaxedScan;
// SAFETY: as above.
unsafe impl Protocol for RelaxedScan {
    const SCAN: loom::sync::atomic::Ordering = loom::sync::atomic::Ordering::Relaxed;
}

/// The pointer is replaced without a release. The fence after it would order the readers too, if
/// they came late enough, so it is left out as well.
struct WeakPublish;
// SAFETY: as above.
unsafe impl Protocol for WeakPublish {
    const PUBLISH: loom::sync::atomic::Ordering = loom::sync::atomic::Ordering::Acquire;
    const FENCE: bool = false;
}

/// Uses the reader `picks` times; the numbers it sees never go back.
fn read<P: Protocol>(reader: &mut Reader<Watched, P>, picks: usize) {
    let mut last = 0;
    for _ in 0..picks {
        let seen = reader.newest().0.read();
        assert!(seen >= last, "the reader went back from {last} to {seen}");
        last = seen;
    }
}

/// One reader that picks while one writer publishes; afterwards everything but the newest value
/// is gone.
fn one_reader<P: Protocol>(picks: usize, publishes: u32) {
    let destroyed = Arc::new(AtomicUsize::new(0));
    let (cell, mut publisher) = Cell::<_, P>::with_publisher(Watched::new(0, &destroyed));
    let mut reader = publisher.reader();
    let picking = thread::spawn(move || read(&mut reader, picks));
    for number in 1..=publishes {
        publisher.publish(Watched::new(number, &destroyed));
        assert!(cell.live() <= 3, "one reader, yet {} values are alive", cell.live());
    }
    picking.join().unwrap();
    publisher.scan();
    assert_eq!(destroyed.load(Ordering::Relaxed), publishes as usize, "freed values");
    assert_eq!(cell.live(), 1);
}

#[test]
fn s1_s2_s3_a_reader_never_sees_a_freed_value_and_what_no_slot_names_is_freed() {
    check(|| one_reader::<Sound>(2, 2));
    if is_soak() {
        check(|| one_reader::<Sound>(3, 3));
    }
}

/// One publish and one use: sound without the fences, because the one old value is still held
/// when the reader gives it up.
fn one_publish<P: Protocol>() {
    let destroyed = Arc::new(AtomicUsize::new(0));
    let (_cell, mut publisher) = Cell::<_, P>::with_publisher(Watched::new(0, &destroyed));
    let mut reader = publisher.reader();
    let picking = thread::spawn(move || read(&mut reader, 1));
    publisher.publish(Watched::new(1, &destroyed));
    picking.join().unwrap();
}

#[test]
fn s1_a_publish_makes_the_whole_value_visible() {
    check(one_publish::<NoFence>);
    must_fail("publish without release", one_publish::<WeakPublish>);
}

#[test]
fn a_failed_attempt_leaves_no_name_behind() {
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, mut publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        let mut reader = publisher.reader();
        let picking = thread::spawn(move || {
            reader.newest().0.read();
            reader.quiesce();
            reader
        });
        publisher.publish(Watched::new(1, &destroyed));
        publisher.publish(Watched::new(2, &destroyed));
        let reader = picking.join().unwrap();
        publisher.scan();
        assert_eq!(cell.live(), 1, "a name that nobody uses kept a value alive");
        drop(reader);
    });
}

#[test]
fn s1_two_readers_beside_a_writer() {
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, mut publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        let readers = [publisher.reader(), publisher.reader()];
        let picking = readers.map(|mut reader| thread::spawn(move || read(&mut reader, 1)));
        publisher.publish(Watched::new(1, &destroyed));
        for thread in picking {
            thread.join().unwrap();
        }
        publisher.scan();
        assert_eq!(cell.live(), 1);
    });
}

#[test]
fn s2_without_the_fences_the_model_fails() {
    must_fail("no fence", || one_reader::<NoFence>(2, 2));
}

#[test]
fn s2_without_the_second_load_the_model_fails() {
    must_fail("no second load", || one_reader::<NoRecheck>(2, 2));
}

#[test]
fn s3_with_a_relaxed_scan_the_model_fails() {
    must_fail("relaxed scan", || one_reader::<RelaxedScan>(2, 2));
}

#[test]
fn s4_a_reader_that_goes_away_leaves_nothing_behind() {
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, mut publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        let mut reader = publisher.reader();
        let leaving = thread::spawn(move || {
            read(&mut reader, 1);
            drop(reader);
        });
        publisher.publish(Watched::new(1, &destroyed));
        leaving.join().unwrap();
        publisher.scan();
        assert_eq!(publisher.readers(), 0);
        assert_eq!(cell.live(), 1);
    });
}

#[test]
fn registration_hands_over_a_protected_value() {
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        let publisher = Arc::new(Mutex::new(publisher));
        let registering = {
            let publisher = Arc::clone(&publisher);
            thread::spawn(move || {
                let mut reader = publisher.lock().unwrap().reader();
                reader.held().expect("a new reader holds a value").read();
                read(&mut reader, 1);
            })
        };
        publisher.lock().unwrap().publish(Watched::new(1, &destroyed));
        registering.join().unwrap();
        publisher.lock().unwrap().scan();
        assert_eq!(cell.live(), 1);
    });
}

#[test]
fn a_quiescent_reader_keeps_nothing_and_comes_back() {
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, mut publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        let mut reader = publisher.reader();
        let idling = thread::spawn(move || {
            reader.quiesce();
            assert!(reader.held().is_none());
            read(&mut reader, 1);
            reader.quiesce();
            reader
        });
        publisher.publish(Watched::new(1, &destroyed));
        let reader = idling.join().unwrap();
        publisher.scan();
        assert_eq!(cell.live(), 1, "a quiescent reader kept a value alive");
        drop(reader);
    });
}

#[test]
fn readers_outlive_the_publisher() {
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, mut publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        drop(cell);
        let mut reader = publisher.reader();
        let staying = thread::spawn(move || read(&mut reader, 2));
        publisher.publish(Watched::new(1, &destroyed));
        drop(publisher);
        staying.join().unwrap();
        assert_eq!(destroyed.load(Ordering::Relaxed), 2, "the last handle frees everything");
    });
}
