//! The tables of `behavior: envoy`: lists in the assignment's order, and Envoy's own draws.
//!
//! Round robin takes the hosts of a list in turn, or by EDF if their weights differ. A worker
//! makes an EDF scheduler at the first pick that needs it after its priority was updated, always
//! from the same seed, as in Envoy: this is the one place where a pick allocates.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#hostSourceToUse
//! //= envoy v1.40 source/extensions/load_balancing_policies/random/random_lb.cc#peekOrChoose
//! //= envoy v1.40 source/extensions/load_balancing_policies/round_robin/round_robin_lb.h#unweightedHostPick

use super::{Candidate, Counter, HostId, NoHost, PriorityChoice, Recorder, Source, State};
use crate::config::Policy;
use crate::host::Entry;
use crate::priority::{Loads, envoy};
use crate::sync::Arc;

/// The lists of one priority.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Lists {
    pub(crate) all: List,
    pub(crate) healthy: List,
    pub(crate) degraded: List,
}

/// Hosts in the assignment's order.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct List {
    hosts: Vec<HostId>,
    weights: Vec<u32>,
    /// Weights differ, so that Envoy schedules by them.
    is_weighted: bool,
}

impl<'a> FromIterator<(u32, &'a Entry)> for List {
    /// From slots and what is in them.
    fn from_iter<I: IntoIterator<Item = (u32, &'a Entry)>>(entries: I) -> Self {
        let host = |(slot, entry)| (HostId::new(slot, entry), entry.weight);
        let (hosts, weights): (Vec<HostId>, Vec<u32>) = entries.into_iter().map(host).unzip();
        let is_weighted = weights.windows(2).any(|pair| pair[0] != pair[1]);
        Self { hosts, weights, is_weighted }
    }
}

/// Lists of a priority, and so positions of a worker.
pub(crate) const LISTS: usize = 3;

/// See the module.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) policy: Policy,
    pub(crate) fail_traffic_on_panic: bool,
    pub(crate) loads: Loads,
    pub(crate) lists: Box<[Arc<Lists>]>,
    /// For each priority, how often it was updated: its schedulers start anew each time.
    pub(crate) updates: Box<[u64]>,
}

/// What a turn of round robin is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Pick,
    Peek,
}

impl Tables {
    /// One attempt: a number for the priority, stashed or drawn, then the policy's own choice.
    pub(crate) fn pick<R: Recorder>(
        &self,
        state: &mut State,
        recorder: &mut R,
    ) -> Result<Candidate, NoHost> {
        let hash = state.next_number();
        self.at(state, hash, Mode::Pick, recorder)
    }

    /// A look ahead. It keeps its number for the pick that follows, whatever comes of it.
    pub(crate) fn peek(&self, state: &mut State) -> Result<Candidate, NoHost> {
        if state.stash.is_full(self.loads.healthy_hosts) {
            return Err(NoHost::PeekLimit);
        }
        let hash = state.draws.next();
        state.stash.push(hash);
        self.at(state, hash, Mode::Peek, &mut ())
    }

    #[inline]
    fn at<R: Recorder>(
        &self,
        state: &mut State,
        hash: u64,
        mode: Mode,
        recorder: &mut R,
    ) -> Result<Candidate, NoHost> {
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
        let index = match self.policy {
            Policy::Random => remainder(hash, list.hosts.len()),
            Policy::RoundRobin => self.turn(state, mode, choice, list),
        };
        Ok(Candidate { host: list.hosts[index], priority: choice.priority })
    }

    /// The index whose turn it is in a round robin list.
    #[inline]
    fn turn(&self, state: &mut State, mode: Mode, choice: PriorityChoice, list: &List) -> usize {
        let number = choice.priority as usize * LISTS + choice.source as usize;
        if list.is_weighted {
            let update = self.updates[choice.priority as usize];
            let scheduler = state.scheduler(number, update, &list.weights);
            let item = match mode {
                Mode::Pick => scheduler.pick(&list.weights),
                Mode::Peek => scheduler.peek(&list.weights),
            };
            return item.map_or(0, |item| item as usize);
        }
        let turn = match mode {
            Mode::Pick => next_turn(state, number),
            Mode::Peek => peek_turn(state, number),
        };
        remainder(turn, list.hosts.len())
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

    /// Calls `each` with every host that can be picked and its exact share of the traffic. A host
    /// may come several times.
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
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
            if !(choice.panic && self.fail_traffic_on_panic) {
                self.shares_of(self.list(choice), &residues, &mut each);
            }
        }
    }

    /// Divides what these residues (of the hash mod 100) bring among the hosts of `list`.
    fn shares_of(&self, list: &List, residues: &[u32; 100], each: &mut impl FnMut(u32, f64)) {
        let List { hosts, weights, .. } = list;
        if self.policy == Policy::RoundRobin {
            let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            let unit = f64::from(residues.iter().sum::<u32>()) / 100.0 / total;
            let shares = weights.iter().map(|&weight| f64::from(weight) * unit);
            hosts.iter().zip(shares).for_each(|(host, share)| each(host.slot, share));
            return;
        }
        // `random` uses the same number for both choices. Residues mod 100 and mod n go together
        // when they agree mod gcd(100, n), each such pair for one number in lcm(100, n).
        let common = gcd(100, hosts.len());
        let unit = length(common) / 100.0 / length(hosts.len());
        for (index, host) in hosts.iter().enumerate() {
            let fitting: u32 = residues.iter().skip(index % common).step_by(common).sum();
            each(host.slot, f64::from(fitting) * unit);
        }
    }
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
