//! The tables of `behavior: envoy`: lists in the assignment's order, and Envoy's own draws.
//!
//! Round robin takes the hosts of a list in turn, and least request draws some of them; or both
//! go by EDF, if weights differ or hosts are in slow start. A worker makes an EDF scheduler at the
//! first pick that needs it after its priority was updated, always from the same seed, as in Envoy:
//! besides room for bounded load this is the one place where a pick allocates.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#hostSourceToUse
//! //= envoy v1.40 source/extensions/load_balancing_policies/random/random_lb.cc#peekOrChoose
//! //= envoy v1.40 source/extensions/load_balancing_policies/round_robin/round_robin_lb.h#unweightedHostPick

mod children;
mod hashed;
mod lists;
mod localities;

pub(crate) use children::Child;
pub(crate) use hashed::Hashed;
pub(crate) use lists::{List, Lists, Weighing};
pub(crate) use localities::{Aware, Localities, Weighted, Zoned};

use super::{
    Candidate, Chosen, Counter, Identity, Method, NoHost, PriorityChoice, Recorder, Selection,
    Source, State,
};
use crate::config::MAX_PRIORITY;
use crate::host::Cells;
use crate::priority::{Loads, envoy};
use crate::sync::Arc;

/// Positions of a worker for the lists of a priority as a whole.
pub(crate) const LISTS: usize = 3;

/// Where the positions for the lists of localities begin, after those of all priorities.
pub(crate) const FIRST_LOCALITY_LIST: usize = LISTS * (MAX_PRIORITY as usize + 1);

/// See the module.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) method: Method,
    pub(crate) weighing: Weighing,
    pub(crate) fail_traffic_on_panic: bool,
    pub(crate) loads: Loads,
    pub(crate) lists: Box<[Arc<Lists>]>,
    /// How the traffic of each priority divides among its localities.
    pub(crate) localities: Box<[Localities]>,
    /// For each priority, how often it was updated: its schedulers start anew each time.
    pub(crate) updates: Box<[u64]>,
    /// How many policies of localities there have been.
    pub(crate) children: u64,
    pub(crate) cells: Cells,
}

/// What a turn is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Pick,
    Peek,
}

impl Tables {
    /// Makes a worker get used to these tables. Weighted localities take a number for each update.
    pub(super) fn adopt(&self, state: &mut State, identity: Identity) {
        let is_weighted = self.localities.iter().any(|localities| localities.weighted.is_some());
        state.adopt(identity, if is_weighted { &self.updates } else { &[] });
        self.adopt_children(state);
    }

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
        let choice = PriorityChoice { locality: self.locality(state, mode, choice)?, ..choice };
        recorder.priority(choice);
        let list = self.list(choice);
        recorder.hosts(list.hosts.len());
        if list.hosts.is_empty() {
            return Err(NoHost::Empty);
        }
        let index = self.index(state, hash, mode, choice, list)?;
        Ok(Candidate { host: list.hosts[index], priority: choice.priority })
    }

    /// The index of a host of the list, which has some.
    #[inline]
    fn index(
        &self,
        state: &mut State,
        hash: u64,
        mode: Mode,
        choice: PriorityChoice,
        list: &List,
    ) -> Result<usize, NoHost> {
        let number = if list.child == 0 { hash } else { child_number(state, hash, mode, list)? };
        Ok(match self.method {
            Method::Random | Method::Hash => remainder(number, list.hosts.len()),
            _ if list.initial_weights.is_some() => self.scheduled(state, mode, choice, list),
            Method::RoundRobin => turn(state, mode, list),
            Method::LeastRequest(_) if mode == Mode::Peek => return Err(NoHost::PeekLimit),
            Method::LeastRequest(selection) => self.least_busy(state, selection, list),
        })
    }

    /// The index of the locality, if one is chosen before the host.
    #[inline]
    fn locality(
        &self,
        state: &mut State,
        mode: Mode,
        choice: PriorityChoice,
    ) -> Result<Option<u32>, NoHost> {
        let localities = &self.localities[choice.priority as usize];
        if localities.is_divided() || choice.panic {
            self.divide(state, mode, choice, localities)
        } else {
            Ok(None)
        }
    }

    /// The same where it is not obvious. Apart, so that picks of any host stay short.
    #[inline(never)]
    fn divide(
        &self,
        state: &mut State,
        mode: Mode,
        choice: PriorityChoice,
        localities: &Localities,
    ) -> Result<Option<u32>, NoHost> {
        if let Some(aware) = &localities.aware {
            return self.by_load(state, mode, choice, aware).map(Some);
        }
        if choice.panic {
            state.count(Counter::HealthyPanic);
            return if self.fail_traffic_on_panic { Err(NoHost::Panic) } else { Ok(None) };
        }
        let priority = choice.priority as usize;
        let (update, fail) = (self.updates[priority], self.fail_traffic_on_panic);
        localities.choose(state, (priority, choice.source), update, fail)
    }

    /// The index of the locality by load, which goes on in panic. Peeks count nothing.
    fn by_load(
        &self,
        state: &mut State,
        mode: Mode,
        choice: PriorityChoice,
        aware: &Aware,
    ) -> Result<u32, NoHost> {
        let lists = &self.lists[choice.priority as usize];
        let chosen = aware.choose(lists, choice.source, choice.hash);
        let counter = match chosen {
            _ if choice.panic => Some(Counter::HealthyPanic),
            Some(chosen) => aware.counter(choice.source, chosen),
            None => None,
        };
        if let Some(counter) = counter.filter(|_| mode == Mode::Pick) {
            state.count_route(counter);
        }
        chosen.ok_or(NoHost::Empty)
    }

    /// The index whose turn it is by EDF.
    fn scheduled(
        &self,
        state: &mut State,
        mode: Mode,
        choice: PriorityChoice,
        list: &List,
    ) -> usize {
        let update = self.updates[choice.priority as usize];
        let initial_weights = list.initial_weights.as_deref().unwrap_or_default();
        let now_ns = state.now_ns();
        let scheduler = state.scheduler(list.number, update, initial_weights);
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
        PriorityChoice { hash, priority, source, panic, locality: None }
    }

    #[inline]
    fn list(&self, choice: PriorityChoice) -> &List {
        let lists = &self.lists[choice.priority as usize];
        match (choice.locality, choice.source) {
            (Some(locality), source) => &lists.localities[locality as usize][source as usize],
            (None, Source::Healthy) => &lists.healthy,
            (None, Source::Degraded) => &lists.degraded,
            (None, Source::All) => &lists.all,
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
            for (part, locality) in self.parts(choice) {
                let list = self.list(PriorityChoice { locality, ..choice });
                let mut each = |slot, share: f64| each(slot, share * part);
                match self.method {
                    Method::Random if list.child != 0 => {
                        // A number of its own, whatever the one of the priority was.
                        let part = f64::from(residues.iter().sum::<u32>()) / 100.0;
                        random_shares(list, &[1; 100], &mut |slot, share| each(slot, share * part));
                    }
                    Method::Random => random_shares(list, &residues, &mut each),
                    _ => self.weighted_shares(list, &residues, now_ns, &mut each),
                }
            }
        }
    }

    /// The parts of a choice that go to its localities, or to all of them together.
    fn parts(&self, choice: PriorityChoice) -> Vec<(f64, Option<u32>)> {
        let priority = choice.priority as usize;
        let (localities, lists) = (&self.localities[priority], &self.lists[priority]);
        let parts = match &localities.aware {
            Some(aware) => Some(aware.parts(lists, choice.source)),
            None if choice.panic => None,
            None => localities.shares(choice.source, lists.localities.len()),
        };
        parts.unwrap_or_else(|| vec![(1.0, None)])
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

/// The number of the policy of a list's own. It chooses among its own priorities first, of which
/// there is one.
#[inline(never)]
fn child_number(state: &mut State, hash: u64, mode: Mode, list: &List) -> Result<u64, NoHost> {
    let State { children, draws, .. } = state;
    let Some(child) = children.get_mut(list.number) else { return Ok(hash) };
    let draw = || draws.next();
    match mode {
        Mode::Pick => Ok(child.number(draw)),
        Mode::Peek => child.stash(list.hosts.len(), draw).ok_or(NoHost::PeekLimit),
    }
}

/// The index whose turn it is in a list without weights.
#[inline]
fn turn(state: &mut State, mode: Mode, list: &List) -> usize {
    if list.child != 0
        && let Some(child) = state.children.get_mut(list.number)
    {
        return remainder(child.turn(mode), list.hosts.len());
    }
    let turn = match mode {
        Mode::Pick => next_turn(state, list.number),
        Mode::Peek => peek_turn(state, list.number),
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
