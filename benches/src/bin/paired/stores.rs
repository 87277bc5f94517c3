//! The records of reports on their own: one thread, and two that write the same.

use std::hint::black_box;

use plimsoll::records::{Exact, Origin, Packed, Record, Sample};
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::reporting::{Mutexes, NOW_NS};
use plimsoll_benches::table;

use crate::threads::together;

/// Hosts whose records one thread writes in turn.
const HOSTS: usize = 64;

pub(crate) fn run() {
    let alone = [HOSTS, 1].into_iter().flat_map(|hosts| contenders(1, hosts));
    let contenders = alone.chain(contenders(2, 1)).collect();
    table::print_rows("store alone", &compare(contenders, Plan::default()));
}

fn contenders<'a>(threads: usize, hosts: usize) -> [Contender<'a>; 3] {
    let mutexes = Mutexes::new(hosts);
    let packed: Vec<Packed> = (0..hosts).map(|_| Packed::new()).collect();
    let exact: Vec<Exact> = (0..hosts).map(|_| Exact::new()).collect();
    [
        stores("mutex", threads, hosts, move |host, sample| {
            mutexes.store(host, sample.value, sample.now_ns);
        }),
        stores("native record", threads, hosts, move |host, sample| {
            packed[host].report(sample, Origin::Response);
        }),
        stores("envoy record", threads, hosts, move |host, sample| {
            exact[host].report(sample, Origin::Response);
        }),
    ]
}

fn stores<'a>(
    what: &str,
    threads: usize,
    hosts: usize,
    store: impl Fn(usize, Sample) + Sync + 'a,
) -> Contender<'a> {
    let plural = |number: usize| if number == 1 { "" } else { "s" };
    let name =
        format!("{what}, {threads} thread{}, {hosts} host{}", plural(threads), plural(hosts));
    let work = move |count| {
        for (index, now_ns) in (0..count).zip(NOW_NS..) {
            let sample = black_box(Sample { value: 42.0, utilization: 0.5, now_ns });
            store(usize::try_from(index).unwrap_or(0) % hosts, sample);
        }
        count
    };
    if threads == 1 {
        return Contender::looping(name, work);
    }
    Contender::timing(name, move |count| together(&mut vec![(); threads], |()| work(count), count))
}
