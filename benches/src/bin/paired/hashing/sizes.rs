//! What tables take on the heap.

use plimsoll_benches::choosers::heap_bytes;
use plimsoll_benches::hashed::{Hosts, Kind, MAGLEVS, RINGS, SLOTS};
use plimsoll_benches::table;

use super::lookups::equal;

pub(super) fn run() {
    let columns = [100, 1_000, 10_000].map(|hosts| (equal(hosts), hosts, SLOTS));
    print("bytes of a table for each of 65 537 slots", "100 1000 10000", MAGLEVS, &columns);
    let columns = [1_024, 65_536, 262_144].map(|points| (equal(100), 100, points));
    print("bytes of a ring for each point, 100 hosts", "1024 65536 262144", RINGS, &columns);
}

fn print(title: &str, columns: &str, kinds: &[Kind], cases: &[(Hosts, u32, u32)]) {
    let line = |kind: &Kind| {
        let bytes = |(given, hosts, size): &(Hosts, u32, u32)| {
            if *hosts <= kind.most_hosts { each(kind, given, *size) } else { "-".into() }
        };
        [kind.name.to_owned()].into_iter().chain(cases.iter().map(bytes)).collect()
    };
    let heading: Vec<&str> = ["contender"].into_iter().chain(columns.split(' ')).collect();
    table::print(title, &heading, &kinds.iter().map(line).collect::<Vec<Vec<String>>>());
}

#[allow(clippy::cast_precision_loss)] // far below 2^53
fn each(kind: &Kind, hosts: &Hosts, size: u32) -> String {
    let before = heap_bytes();
    let made = (kind.make)(hosts, size);
    let after = heap_bytes();
    drop(made);
    format!("{:.1}", after.saturating_sub(before) as f64 / f64::from(size))
}
