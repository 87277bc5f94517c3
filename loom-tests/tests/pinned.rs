//! Edge S5: guards of threads without a reader, beside readers and publishes.
//!
//! These models need crossbeam-epoch itself under loom (`--cfg crossbeam_loom`), which makes them
//! large; the others run without, where the collector is taken for correct.
#![cfg(all(loom, crossbeam_loom))]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;
use plimsoll::snapshot::Cell;
use plimsoll_loom_tests::{Watched, check, is_soak};

#[test]
fn s5_a_pinned_value_outlives_its_replacement() {
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, mut publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        let looking = {
            let cell = cell.clone();
            thread::spawn(move || {
                let pinned = Cell::pin(&cell);
                pinned.read();
            })
        };
        publisher.publish(Watched::new(1, &destroyed));
        looking.join().unwrap();
    });
}

#[test]
fn s5_a_guard_beside_a_reader() {
    if !is_soak() {
        return;
    }
    check(|| {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let (cell, mut publisher) = Cell::<_>::with_publisher(Watched::new(0, &destroyed));
        let mut reader = publisher.reader();
        let picking = thread::spawn(move || {
            reader.newest().0.read();
        });
        let looking = {
            let cell = cell.clone();
            thread::spawn(move || {
                Cell::pin(&cell).read();
            })
        };
        publisher.publish(Watched::new(1, &destroyed));
        picking.join().unwrap();
        looking.join().unwrap();
        publisher.scan();
        drop((publisher, cell));
        assert_eq!(destroyed.load(Ordering::Relaxed), 2);
    });
}
