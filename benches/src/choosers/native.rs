//! The engine's own tables, made as it makes them, and its EDF scheduler.

use std::rc::Rc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{Chooser, Maker};
use crate::schedule::{Edf, Lottery, Schedule, Walk};

/// The step of the engine's cursors.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// What the engine's tables name: a slot and its generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HostId {
    slot: u32,
    _generation: u32,
}

/// What tables are made from.
struct Given {
    hosts: Vec<HostId>,
    weights: Vec<u32>,
}

impl Given {
    fn new(weights: &[u32]) -> Self {
        let host = |slot| HostId { slot, _generation: 0 };
        Self { hosts: (0..).map(host).take(weights.len()).collect(), weights: weights.to_vec() }
    }
}

/// The table of `round_robin`, and a cursor in steps of the golden ratio.
struct Guide {
    schedule: Schedule<HostId>,
    position: u64,
}

impl Chooser for Guide {
    #[inline]
    fn pick(&mut self) -> u32 {
        let x = self.position;
        self.position = x.wrapping_add(GOLDEN);
        find(&self.schedule, x)
    }
}

/// The table of `random`.
struct Alias {
    schedule: Schedule<HostId>,
    generator: Xoshiro256PlusPlus,
}

impl Chooser for Alias {
    #[inline]
    fn pick(&mut self) -> u32 {
        find(&self.schedule, self.generator.next_u64())
    }
}

#[inline]
fn find(schedule: &Schedule<HostId>, x: u64) -> u32 {
    schedule.walk(x).unwrap_or_else(|| bisect(schedule, x)).slot
}

#[cold]
#[inline(never)]
fn bisect(schedule: &Schedule<HostId>, x: u64) -> HostId {
    schedule.find(x)
}

/// The scheduler of `round_robin` in `behavior: envoy`.
struct Deadlines {
    edf: Edf,
    weights: Rc<[f64]>,
}

impl Chooser for Deadlines {
    #[inline]
    fn pick(&mut self) -> u32 {
        self.edf.pick(|item| self.weights[item as usize]).unwrap_or(0)
    }
}

/// The table of `least_request`: two different hosts a pick, of which it gives the second.
struct Lots {
    lottery: Lottery<HostId>,
    generator: Xoshiro256PlusPlus,
}

impl Chooser for Lots {
    #[inline]
    fn pick(&mut self) -> u32 {
        let first = self.lottery.draw(self.generator.next_u64());
        let second = self.lottery.draw(self.generator.next_u64());
        if first.index == second.index {
            let x = self.generator.next_u64();
            return self.lottery.draw_other(x, first.index).item.slot;
        }
        second.item.slot
    }
}

pub(super) fn guide(weights: &[u32]) -> Maker {
    let Given { hosts, weights } = Given::new(weights);
    Box::new(move || {
        Box::new(Guide { schedule: Schedule::new(&hosts, &weights, Walk::Cursor), position: 0 })
    })
}

pub(super) fn alias(weights: &[u32]) -> Maker {
    let Given { hosts, weights } = Given::new(weights);
    Box::new(move || {
        let schedule = Schedule::new(&hosts, &weights, Walk::Random);
        Box::new(Alias { schedule, generator: generator() })
    })
}

pub(super) fn edf(weights: &[u32]) -> Maker {
    let weights: Rc<[f64]> = weights.iter().copied().map(f64::from).collect();
    Box::new(move || {
        Box::new(Deadlines { edf: Edf::new(&weights, 0), weights: Rc::clone(&weights) })
    })
}

pub(super) fn lottery(weights: &[u32]) -> Maker {
    let Given { hosts, weights } = Given::new(weights);
    Box::new(move || {
        Box::new(Lots { lottery: Lottery::new(&hosts, &weights), generator: generator() })
    })
}

fn generator() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}
