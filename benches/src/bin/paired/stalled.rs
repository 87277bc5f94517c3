//! What one reader that stops costs in memory. Deterministic: counts, no times.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_benches::schemes::{EpochHandle, Scheme, SwapCache, SwapLoad, Table, TwoSlots};
use plimsoll_benches::table;

const PUBLISHES: u32 = 20_000;

pub(crate) fn run() {
    let lines = vec![ours(), epoch(), swap_load(), swap_cache()];
    let title = format!("tables alive after {PUBLISHES} publishes while one reader stands still");
    table::print(&title, &["scheme", "alive"], &lines);
}

fn ours() -> Vec<String> {
    let (scheme, live) = start::<TwoSlots>();
    let mut stalled = scheme.handle();
    TwoSlots::read(&mut stalled, 0);
    finish(&scheme, &live)
}

fn epoch() -> Vec<String> {
    let (scheme, live) = start::<EpochHandle>();
    let stalled = scheme.handle();
    let guard = stalled.1.pin();
    let line = finish(&scheme, &live);
    drop(guard);
    line
}

fn swap_load() -> Vec<String> {
    let (scheme, live) = start::<SwapLoad>();
    let guard = scheme.handle().load();
    let line = finish(&scheme, &live);
    drop(guard);
    line
}

fn swap_cache() -> Vec<String> {
    let (scheme, live) = start::<SwapCache>();
    let mut stalled = scheme.handle();
    SwapCache::read(&mut stalled, 0);
    finish(&scheme, &live)
}

fn start<S: Scheme>() -> (S, Arc<AtomicUsize>) {
    let live = Arc::new(AtomicUsize::new(0));
    (S::new(Table::counted(0, &live)), live)
}

fn finish<S: Scheme>(scheme: &S, live: &Arc<AtomicUsize>) -> Vec<String> {
    (0..PUBLISHES).for_each(|number| scheme.publish(Table::counted(number, live)));
    vec![S::NAME.to_owned(), live.load(Ordering::Relaxed).to_string()]
}
