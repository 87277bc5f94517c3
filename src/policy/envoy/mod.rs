//! The tables of `behavior: envoy`: lists in the assignment's order, and Envoy's own draws.
//!
//! Round robin takes the hosts of a list in turn, and least request draws some of them; or both
//! go by EDF, if weights differ or hosts are in slow start. A worker
//! makes an EDF scheduler at the first pick that needs it after its priority was updated, always
//! from the same seed, as in Envoy: this is the one place where a pick allocates.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#hostSourceToUse
//! //= envoy v1.40 source/extensions/load_balancing_policies/random/random_lb.cc#peekOrChoose
//! //= envoy v1.40 source/extensions/load_balancing_policies/round_robin/round_robin_lb.h#unweightedHostPick

mod lists;

pub(crate) use lists::{List, Lists, Weighing};

use super::{
    Candidate, Chosen, Counter, Method, NoHost, PriorityChoice, Recorder, Selection, Source, State,
};
use crate::host::Cells;
use crate::priority::{Loads, envoy};
use crate::sync::Arc;

/// Lists of a priority, and so positions of a worker.
pub(crate) const LISTS: usize = 3;

/// See the module.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) method: Method,
    pub(crate) weighing: Weighing,
    pub(crate) fail_traffic_on_panic: bool,
    pub(crate) loads: Loads,
    pub(crate) lists: Box<[Arc<Lists>]>,
    /// For each priority, how often it was updated: its schedulers start anew each time.
    pub(crate) updates: Box<[u64]>,
    pub(crate) cells: Cells,
}

/// What a turn is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Pick,
    Peek,
}

impl Tables {
    /// One attempt: a number for the priority, stashed or drawn, then the policy's own choice.
    pub(crate) fn pick<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        let hash = state.next_number();
        self.at(state, hash, Mode::Pick, recorder)
    }

    /// A look ahead. It keeps its number for the pick that follows, whatever comes of it.
    pub(crate) fn peek(&self, state: &mut State) -> Chosen {
        let hash = state.stash_number(self.loads.healthy_hosts)?;
        self.at(state, hash, Mode::Peek, &mut ())
    }

    #[inline]
    fn at<R: Recorder>(
        &self,
        state: &mut State,
        hash: u64,
        mode: Mode,
        recorder: &mut R,
    ) -> Chosen {
        recorder.draw(hash);
        let choice = self.source(hash);
        recorder.priority(choice);
        if choice.panic {
            state.count(Counter::HealthyPanic);
            if self.fail_traffic_on_panic {
                return Err(NoHost::Panic);
            }
        }
        let list = self.list(choice);
        recorder.hosts(list.hosts.len());
        if list.hosts.is_empty() {
            return Err(NoHost::Empty);
        }
        let place = (mode, choice.priority as usize * LISTS + choice.source as usize);
        let index = match self.method {
            Method::Random => remainder(hash, list.hosts.len()),
            _ if list.initial_weights.is_some() => self.scheduled(state, place, choice, list),
            Method::RoundRobin => turn(state, place, list),
            Method::LeastRequest(_) if mode == Mode::Peek => return Err(NoHost::PeekLimit),
            Method::LeastRequest(selection) => self.least_busy(state, selection, list),
        };
        Ok(Candidate { host: list.hosts[index], priority: choice.priority })
    }

    /// The index whose turn it is by EDF.
    fn scheduled(
        &self,
        state: &mut State,
        (mode, number): (Mode, usize),
        choice: PriorityChoice,
        list: &List,
    ) -> usize {
        let update = self.updates[choice.priority as usize];
        let initial_weights = list.initial_weights.as_deref().unwrap_or_default();
        let now_ns = state.now_ns();
        let scheduler = state.scheduler(number, update, initial_weights);
        let weight = |item| self.weighing.weight(list, item, &self.cells, now_ns);
        let item = match mode {
            Mode::Pick => scheduler.pick(weight),
            Mode::Peek => scheduler.peek(weight),
        };
        item.map_or(0, |item| item as usize)
    }

    /// The index of the least busy host: of a few drawn at random, the first of equals; or of all,
    /// any of equals.
    //= envoy v1.40 source/extensions/load_balancing_policies/least_request/least_request_lb.cc#unweightedHostPick
    fn least_busy(&self, state: &mut State, selection: Selection, list: &List) -> usize {
        let load = |index: usize| selection.load(&self.cells, list.hosts[index].slot);
        let Some(choices) = selection.choices else { return least_busy_of_all(state, list, load) };
        let mut draw = || remainder(state.draws.next(), list.hosts.len());
        let mut best = draw();
        for _ in 1..choices {
            let next = draw();
            if load(next) < load(best) {
                best = next;
            }
        }
        best
    }

    #[inline]
    fn source(&self, hash: u64) -> PriorityChoice {
        let (index, healthy) = envoy::choose(&self.loads.healthy, &self.loads.degraded, hash);
        let panic = self.loads.panic[index];
        let source = match (panic, healthy) {
            (true, _) => Source::All,
            (false, true) => Source::Healthy,
            (false, false) => Source::Degraded,
        };
        // There are at most 129 priorities.
        let priority = u32::try_from(index).unwrap_or(u32::MAX);
        PriorityChoice { hash, priority, source, panic }
    }

    #[inline]
    fn list(&self, choice: PriorityChoice) -> &List {
        let lists = &self.lists[choice.priority as usize];
        match choice.source {
            Source::All => &lists.all,
            Source::Healthy => &lists.healthy,
            Source::Degraded => &lists.degraded,
        }
    }

    /// Calls `each` with every host that can be picked and its exact share of the traffic while
    /// all are idle. A host may come several times.
    pub(crate) fn shares(&self, now_ns: u64, mut each: impl FnMut(u32, f64)) {
        let mut residues = [0_u32; 100];
        let mut hash = 0;
        while hash < envoy::SCALE {
            let choice = self.source(hash);
            let same = |other: u64| {
                let other = self.source(other);
                (other.priority, other.source) == (choice.priority, choice.source)
            };
            let end = (hash..envoy::SCALE).find(|&other| !same(other)).unwrap_or(envoy::SCALE);
            residues.fill(0);
            (hash..end).for_each(|hash| residues[remainder(hash, 100)] = 1);
            hash = end;
            if choice.panic && self.fail_traffic_on_panic {
                continue;
            }
            match self.method {
                Method::Random => random_shares(self.list(choice), &residues, &mut each),
                _ => self.weighted_shares(self.list(choice), &residues, now_ns, &mut each),
            }
        }
    }

    /// Divides what these residues (of the hash mod 100) bring among the hosts of `list`.
    fn weighted_shares(
        &self,
        list: &List,
        residues: &[u32; 100],
        now_ns: u64,
        each: &mut impl FnMut(u32, f64),
    ) {
        let weight = |item| self.weighing.idle_weight(list, item, now_ns);
        let mut weights: Vec<f64> = (0..list.hosts.len()).map(weight).collect();
        let largest = weights.iter().copied().fold(0.0, f64::max);
        // Without weights, and with weights of nothing, hosts take turns.
        weights.iter_mut().for_each(|w| *w = if largest > 0.0 { *w / largest } else { 1.0 });
        let total: f64 = weights.iter().sum();
        let unit = f64::from(residues.iter().sum::<u32>()) / 100.0 / total;
        list.hosts.iter().zip(weights).for_each(|(host, weight)| each(host.slot, weight * unit));
    }
}

/// The same for `random`, which uses one number for both choices. Residues mod 100 and mod n go
/// together when they agree mod gcd(100, n), each such pair for one number in lcm(100, n).
fn random_shares(list: &List, residues: &[u32; 100], each: &mut impl FnMut(u32, f64)) {
    let count = list.hosts.len();
    let common = gcd(100, count);
    let unit = length(common) / 100.0 / length(count);
    for (index, host) in list.hosts.iter().enumerate() {
        let fitting: u32 = residues.iter().skip(index % common).step_by(common).sum();
        each(host.slot, f64::from(fitting) * unit);
    }
}

/// The index of a host with the least load; each further host of the same load replaces the one
/// before with a chance of one in their number, which takes a random number.
fn least_busy_of_all(state: &mut State, list: &List, load: impl Fn(usize) -> u64) -> usize {
    let (mut best, mut least, mut tied) = (0, load(0), 1_u64);
    for next in 1..list.hosts.len() {
        let load = load(next);
        if load < least {
            (best, least, tied) = (next, load, 1);
        } else if load == least {
            tied += 1;
            if state.draws.next().is_multiple_of(tied) {
                best = next;
            }
        }
    }
    best
}

/// The index whose turn it is in a list without weights.
#[inline]
fn turn(state: &mut State, (mode, number): (Mode, usize), list: &List) -> usize {
    let turn = match mode {
        Mode::Pick => next_turn(state, number),
        Mode::Peek => peek_turn(state, number),
    };
    remainder(turn, list.hosts.len())
}

/// The turn of a list without weights.
#[inline]
fn next_turn(state: &mut State, list: usize) -> u64 {
    state.ahead = state.ahead.saturating_sub(1);
    state.turn(list, 1)
}

/// The turn that a list will have after the picks that were peeked. One count of peeks serves all
/// lists, as in Envoy.
fn peek_turn(state: &mut State, list: usize) -> u64 {
    let turn = state.turn(list, 0).wrapping_add(state.ahead);
    state.ahead += 1;
    turn
}

/// `number mod length`.
#[inline]
#[allow(clippy::cast_possible_truncation)] // less than a length
fn remainder(number: u64, length: usize) -> usize {
    (number % length as u64) as usize
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[allow(clippy::cast_precision_loss)] // list lengths are far below 2^53
fn length(hosts: usize) -> f64 {
    hosts as f64
}

#[cfg(test)]
mod tests;
