//! The weighted choice on its own, warm and cold, without the rest of a pick.

use std::hint::black_box;

use plimsoll_benches::choosers::{Chooser, KINDS, Kind};
use plimsoll_benches::cold::{Operation, measure};
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::scenario;

use crate::sheet::{Cell, Sheet};

const SIZES: [usize; 5] = [10, 100, 1_000, 10_000, 100_000];
const MEBIBYTES: [usize; 2] = [2, 8];
const SAMPLES: usize = 501;

/// What the hosts weigh.
#[derive(Clone, Copy)]
pub(crate) enum Weights {
    Mild,
    OneHeavy,
}

impl Weights {
    pub(crate) const ALL: [Self; 2] = [Self::Mild, Self::OneHeavy];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Mild => "weights 1 to 100",
            Self::OneHeavy => "one host of weight 10 000, the others of 1",
        }
    }

    pub(crate) fn of(self, hosts: usize) -> Vec<u32> {
        let weight = |index| match self {
            Self::Mild => scenario::weight(index),
            Self::OneHeavy if index == 0 => 10_000,
            Self::OneHeavy => 1,
        };
        (0..).map(weight).take(hosts).collect()
    }
}

pub(crate) fn run() {
    Weights::ALL.into_iter().for_each(measured);
}

/// All tables of one set of weights: the same choosers, warm and then cold.
fn measured(weights: Weights) {
    let mut warm = Sheet::new();
    let mut cold = MEBIBYTES.map(|_| Sheet::new());
    for hosts in SIZES {
        let mut entrants = Entrants::new(&weights.of(hosts));
        warm.add(hosts, entrants.warm());
        for (sheet, mebibytes) in cold.iter_mut().zip(MEBIBYTES) {
            sheet.add(hosts, entrants.cold(mebibytes << 20));
        }
    }
    let title = weights.title();
    warm.print(&format!("weighted choice alone, {title}: best ns"));
    for (sheet, mebibytes) in cold.into_iter().zip(MEBIBYTES) {
        let what = format!("cold, {mebibytes} MiB walked before it: median ns above an empty one");
        sheet.print(&format!("weighted choice alone, {title}, {what}"));
    }
}

/// The choosers that take so many hosts.
struct Entrants(Vec<Entrant>);

/// A chooser and its name.
type Entrant = (&'static str, Box<dyn Chooser>);

impl Entrants {
    fn new(weights: &[u32]) -> Self {
        let fits = |kind: &&Kind| weights.len() <= kind.most_hosts;
        let entrant = |kind: &Kind| {
            let mut chooser = (kind.prepare)(weights)();
            black_box(chooser.picks(kind.seasoning * weights.len() as u64));
            (kind.name, chooser)
        };
        Self(KINDS.iter().filter(fits).map(entrant).collect())
    }

    fn warm(&mut self) -> Vec<Cell> {
        let contenders = self.0.iter_mut().map(looping).collect();
        compare(contenders, Plan::default()).into_iter().map(Cell::from).collect()
    }

    /// No cells where there is no time stamp counter to measure with.
    fn cold(&mut self, walked: usize) -> Vec<Cell> {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
        let operations = self.0.iter_mut().map(single).collect();
        let medians = measure(operations, SAMPLES, walked).unwrap_or_default();
        let cell =
            |(name, &ns): (&str, &f64)| Cell { name: name.into(), ns, times: medians[0] / ns };
        names.into_iter().zip(&medians).map(cell).collect()
    }
}

fn looping((name, chooser): &mut Entrant) -> Contender<'_> {
    Contender::looping(*name, |count| chooser.picks(count))
}

fn single((_, chooser): &mut Entrant) -> Operation<'_> {
    Box::new(|| {
        black_box(chooser.pick());
    })
}
