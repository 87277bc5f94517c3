//! How evenly a weighted choice spreads its picks, and what its tables cost. How even is
//! deterministic; random choices have fixed seeds.

use std::hint::black_box;

use plimsoll_benches::choosers::{Chooser, KINDS, Kind, heap_bytes};
use plimsoll_benches::paired::{Contender, Plan, compare, time};
use plimsoll_benches::table;

use crate::weighted::Weights;

const PICKS: u32 = 2_000_000;
const SPREAD_OVER: [usize; 4] = [10, 100, 1_000, 10_000];
const BUILT_OF: [usize; 2] = [1_000, 100_000];
const WEIGHED_AT: usize = 10_000;
/// With more of them, as many picks that visit all hosts take too long.
const MOST_VISITED: usize = 1_000;

pub(crate) fn run() {
    Weights::ALL.into_iter().for_each(spread);
    Weights::ALL.into_iter().for_each(built);
}

fn spread(weights: Weights) {
    let cell = |kind: &Kind, hosts: usize| {
        if hosts > kind.most_hosts || kind.visits_all && hosts > MOST_VISITED {
            return "-".into();
        }
        let weights = weights.of(hosts);
        let off = largest_offset(&mut *(kind.prepare)(&weights)(), &weights);
        if off < 100.0 { format!("{off:.1}") } else { format!("{off:.0}") }
    };
    let line = |kind: &Kind| {
        let cells = SPREAD_OVER.map(|hosts| cell(kind, hosts));
        std::iter::once(kind.name.to_owned()).chain(cells).collect()
    };
    let lines: Vec<Vec<String>> = KINDS.iter().map(line).collect();
    let title = format!(
        "largest lead or lag of a host in {} picks, {}",
        table::count(PICKS as usize),
        weights.title()
    );
    print(&title, &SPREAD_OVER.map(table::count), &lines);
}

/// How many picks a host is ever ahead of what its weight gives it, or behind.
fn largest_offset(chooser: &mut dyn Chooser, weights: &[u32]) -> f64 {
    let total: f64 = weights.iter().copied().map(f64::from).sum();
    let shares: Vec<f64> = weights.iter().map(|&weight| f64::from(weight) / total).collect();
    let mut counts = vec![0.0; weights.len()];
    let mut largest = 0.0_f64;
    // A host lags most just before a pick of it, or at the end, and leads most just after one.
    for picks in 0..PICKS {
        let host = chooser.pick() as usize;
        let lag = shares[host] * f64::from(picks) - counts[host];
        counts[host] += 1.0;
        let lead = counts[host] - shares[host] * f64::from(picks + 1);
        largest = largest.max(lag).max(lead);
    }
    let lag = |(share, count): (&f64, &f64)| share * f64::from(PICKS) - count;
    shares.iter().zip(&counts).map(lag).fold(largest, f64::max)
}

fn built(weights: Weights) {
    let mut lines: Vec<Vec<String>> = KINDS.iter().map(|kind| vec![kind.name.to_owned()]).collect();
    for hosts in BUILT_OF {
        let entrants: Vec<_> = KINDS.iter().filter(|kind| hosts <= kind.most_hosts).collect();
        let of = weights.of(hosts);
        let contender = |kind: &&Kind| {
            let make = (kind.prepare)(&of);
            Contender::single(kind.name, move || {
                let mut made = None;
                let elapsed = time(|| made = Some(make()));
                black_box(made);
                elapsed
            })
        };
        let contenders = entrants.iter().map(contender).collect();
        let rows = compare(contenders, Plan { rounds: 15, ..Plan::default() });
        for line in &mut lines {
            let row = rows.iter().find(|row| row.name == line[0]);
            line.push(row.map_or("-".into(), |row| table::us(row.median)));
        }
    }
    let of = weights.of(WEIGHED_AT);
    for (line, kind) in lines.iter_mut().zip(KINDS) {
        line.push(format!("{:.1}", bytes_a_host(kind, &of)));
    }
    let [few, many] = BUILT_OF.map(|hosts| format!("us to build, {}", table::count(hosts)));
    let heading = [few, many, format!("bytes a host, {}", table::count(WEIGHED_AT))];
    print(&format!("tables, {}", weights.title()), &heading, &lines);
}

/// What a chooser has on the heap, hosts and weights aside.
#[allow(clippy::cast_precision_loss)] // far below 2^53
fn bytes_a_host(kind: &Kind, weights: &[u32]) -> f64 {
    let make = (kind.prepare)(weights);
    let before = heap_bytes();
    let made = make();
    let bytes = heap_bytes() - before;
    drop(made);
    bytes as f64 / weights.len() as f64
}

fn print(title: &str, heading: &[String], lines: &[Vec<String>]) {
    let heading: Vec<&str> =
        std::iter::once("contender").chain(heading.iter().map(String::as_str)).collect();
    table::print(title, &heading, lines);
}
