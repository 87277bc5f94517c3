//! Ring hash and Maglev as in Envoy: one table for each priority, of its healthy hosts, or of all
//! of them in panic. Degraded hosts are in none, so that a request that a degraded load brings finds
//! nobody. Under load-aware routing the locality that was chosen does not matter, as in Envoy,
//! whose tables are those of the whole cluster.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#LoadBalancerImpl::chooseHost

use super::super::hashed::{Balance, HashTable};
use super::super::{
    Candidate, Chosen, Counter, Identity, NoHost, PriorityChoice, Recorder, Source, State,
};
use super::{Mode, Tables};
use crate::hashing::bounded;
use crate::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct Hashed {
    base: Tables,
    /// For each priority; `None` without hosts to choose among.
    tables: Box<[Option<Arc<HashTable<f64>>>]>,
    balance: Option<Balance>,
}

impl Hashed {
    pub(crate) fn new(
        base: Tables,
        tables: Box<[Option<Arc<HashTable<f64>>>]>,
        balance: Option<Balance>,
    ) -> Self {
        Self { base, tables, balance }
    }

    /// Makes a worker get used to these tables: bounded load looks at hosts in an order that it
    /// writes down.
    pub(crate) fn adopt(&self, state: &mut State, identity: Identity) {
        self.base.adopt(state, identity);
        if self.balance.is_some() {
            let hosts = self.tables.iter().flatten().map(|table| table.len()).max();
            // Emptied first, so that what the last walk left takes no room besides.
            state.order.clear();
            state.order.reserve(hosts.unwrap_or(0));
        }
    }

    /// The first attempt: by the hash of the request, or by a number.
    pub(crate) fn pick<R: Recorder>(
        &self,
        hash: Option<u64>,
        state: &mut State,
        recorder: &mut R,
    ) -> Chosen {
        self.choose_locality(state, recorder)?;
        let hash = state.begin_hashed(hash, recorder);
        let choice = self.choice(hash);
        recorder.priority(choice);
        if choice.panic {
            state.count(Counter::HealthyPanic);
        }
        self.at(state, choice, recorder)
    }

    /// Another attempt of the same pick.
    pub(crate) fn again<R: Recorder>(&self, state: &mut State, recorder: &mut R) -> Chosen {
        state.request.attempt = state.request.attempt.saturating_add(1);
        self.at(state, self.choice(state.attempt), recorder)
    }

    /// Under load-aware routing, the number that chooses a locality, and what is counted of it.
    fn choose_locality<R: Recorder>(
        &self,
        state: &mut State,
        recorder: &mut R,
    ) -> Result<(), NoHost> {
        if !self.base.localities.iter().any(|localities| localities.aware.is_some()) {
            return Ok(());
        }
        let number = state.next_number();
        recorder.draw(number);
        self.base.locality(state, Mode::Pick, self.base.source(number)).map(|_| ())
    }

    fn choice(&self, hash: u64) -> PriorityChoice {
        let choice = self.base.source(hash);
        let source = if choice.panic { Source::All } else { Source::Healthy };
        PriorityChoice { source, ..choice }
    }

    fn at<R: Recorder>(
        &self,
        state: &mut State,
        choice: PriorityChoice,
        recorder: &mut R,
    ) -> Chosen {
        let table = self.tables[choice.priority as usize].as_ref().ok_or(NoHost::Empty)?;
        recorder.hosts(table.len());
        let hash = state.attempt;
        let member = table.as_envoy(hash, state.request.attempt);
        let member = match &self.balance {
            None => member,
            Some(balance) => balanced(table, balance, state, (hash, member)),
        };
        Ok(Candidate { host: table.host(member), priority: choice.priority })
    }

    /// Whether hosts are bounded.
    pub(crate) fn is_balanced(&self) -> bool {
        self.balance.is_some()
    }

    /// Calls `each` with every host that can be picked and its share of the traffic. A host may
    /// come several times.
    pub(crate) fn shares(&self, mut each: impl FnMut(u32, f64)) {
        let mut percents = vec![0.0; self.tables.len()];
        for residue in 0..100 {
            percents[self.base.source(residue).priority as usize] += 0.01;
        }
        for (table, share) in self.tables.iter().zip(percents) {
            if let Some(table) = table {
                table.shares(share, &mut each);
            }
        }
    }

    /// The table of a priority that is in use.
    pub(crate) fn table(&self, priority: u32) -> Option<&HashTable<f64>> {
        self.tables.get(priority as usize)?.as_deref()
    }
}

/// The member of a hash, or another one if its host has more requests than it should.
//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer::chooseHost
fn balanced(
    table: &HashTable<f64>,
    balance: &Balance,
    state: &mut State,
    (hash, member): (u64, u32),
) -> u32 {
    // The gauge has 32 bits.
    let slots = bounded::total_slots(low_half(balance.total()), balance.factor);
    let overload = |index: usize| {
        let index = index_of(index);
        bounded::overload(balance.load(table.host(index)), slots, table.part(index))
    };
    let is_primary = |index: usize| index == member as usize;
    let (hosts, order) = (table.len(), &mut state.order);
    index_of(bounded::choose(hash, member as usize, order, hosts, is_primary, overload))
}

/// There are less than 2^32 hosts.
fn index_of(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[allow(clippy::cast_possible_truncation)] // as in Envoy
fn low_half(x: u64) -> u32 {
    x as u32
}
