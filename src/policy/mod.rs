//! From a snapshot's tables and a worker's state to a host.
//!
//! The control side builds [`Tables`] when it publishes; a worker picks from them with its own
//! [`State`]. The behaviour selects the type of the tables, so that the pick path never asks.
//! Every pick takes a [`Recorder`]: picks pass `()`, which vanishes; `explain` passes one that
//! writes down each decision, and so explains the very code that picks.

pub(crate) mod envoy;
pub(crate) mod hashed;
pub(crate) mod native;
mod settings;
mod state;

pub(crate) use settings::{Method, NS_PER_MS, Selection, Settings, SlowStart, age_ms};
pub(crate) use state::{Clock, Counter, Counts, Identity, Request, State, WorkerShared};

use crate::host::Entry;
use std::fmt;

/// A host as a pick names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct HostId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl HostId {
    /// The host in `slot`.
    pub(crate) fn new(slot: u32, entry: &Entry) -> Self {
        Self { slot, generation: entry.generation }
    }
}

/// A host that a policy proposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) host: HostId,
    pub(crate) priority: u32,
}

/// What a policy comes to.
pub(crate) type Chosen = Result<Candidate, NoHost>;

/// Why a pick gives no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoHost {
    /// No host is eligible where the loads led.
    Empty,
    /// The priority panics and `fail_traffic_on_panic` is set.
    Panic,
    /// Peeks only: as many are outstanding as there are healthy hosts, or as the worker's
    /// [`peek_capacity`](crate::WorkerOptions::peek_capacity) allows; or, in `behavior: envoy`,
    /// least request draws its hosts, which Envoy does not do ahead of time; or the policy goes by
    /// the hash of a request, which nobody knows ahead of time.
    PeekLimit,
    /// The cluster has none of the hosts that the pick was restricted to, or earlier attempts have
    /// used them up.
    OverrideNotFound,
    /// It has some of them, and the health of none is one of
    /// [`override_host_status`](crate::config::ClusterConfig::override_host_status).
    OverrideNotAllowed,
}

impl fmt::Display for NoHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "no eligible host",
            Self::Panic => "the priority panics and fail_traffic_on_panic is set",
            Self::PeekLimit => "no more picks can be peeked",
            Self::OverrideNotFound => "no host has an address that was asked for",
            Self::OverrideNotAllowed => "the health of the host that was asked for is not allowed",
        })
    }
}

impl std::error::Error for NoHost {}

/// Which hosts of a priority a pick chooses among.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The healthy ones.
    Healthy,
    /// The degraded ones.
    Degraded,
    /// All of them, in panic.
    All,
}

impl Source {
    /// The name used in replays and dumps.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::All => "all",
        }
    }
}

/// The first decisions of a pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PriorityChoice {
    /// The number that decided.
    pub(crate) hash: u64,
    pub(crate) priority: u32,
    pub(crate) source: Source,
    pub(crate) panic: bool,
    /// The index of the locality, if that was chosen before the host.
    pub(crate) locality: Option<u32>,
}

/// Sees the decisions of a pick as they are made.
pub(crate) trait Recorder {
    /// Whether anybody looks.
    const RECORDS: bool = true;

    /// A random number was drawn.
    fn draw(&mut self, _number: u64) {}
    /// A priority was chosen.
    fn priority(&mut self, _choice: PriorityChoice) {}
    /// A host is being chosen among `hosts`.
    fn hosts(&mut self, _hosts: usize) {}
}

impl Recorder for () {
    const RECORDS: bool = false;
}

/// What a pick reads.
///
/// With a tag of its own, because reading the tag out of a niche of the largest variant takes six
/// instructions more.
#[derive(Debug)]
#[repr(u8)]
pub(crate) enum Tables {
    /// `behavior: native`, `round_robin`.
    RoundRobin(native::Tables<native::Walked>),
    /// `behavior: native`, `random`.
    Random(native::Tables<native::Drawn>),
    /// `behavior: native`, `least_request`.
    LeastRequest(native::LeastRequest),
    /// `behavior: native`, `ring_hash` and `maglev`.
    Hashed(native::Hashed),
    /// `behavior: envoy`.
    Envoy(envoy::Tables),
    /// The same, `ring_hash` and `maglev`.
    EnvoyHashed(envoy::Hashed),
}

impl Tables {
    /// Makes a worker get used to these tables.
    #[cold]
    pub(crate) fn adopt(&self, state: &mut State, identity: Identity) {
        match self {
            Self::Envoy(tables) => tables.adopt(state, identity),
            Self::EnvoyHashed(tables) => tables.adopt(state, identity),
            _ => state.adopt(identity, &[]),
        }
    }

    /// One attempt: the first of a pick, or another one.
    fn attempt<R: Recorder>(&self, state: &mut State, is_first: bool, recorder: &mut R) -> Chosen {
        match self {
            Self::RoundRobin(tables) => tables.round_robin(state, recorder, |chosen, _| chosen),
            Self::Random(tables) if is_first => tables.random(state, recorder, |chosen, _| chosen),
            Self::Random(tables) => tables.random_again(state, recorder),
            Self::LeastRequest(tables) if is_first => {
                tables.pick(state, recorder, |chosen, _| chosen)
            }
            Self::LeastRequest(tables) => tables.again(state, recorder),
            Self::Hashed(tables) if is_first => tables.pick(state.request.hash, state, recorder),
            Self::Hashed(tables) => tables.again(state, recorder),
            Self::Envoy(tables) => tables.pick(state, recorder),
            Self::EnvoyHashed(tables) if is_first => {
                tables.pick(state.request.hash, state, recorder)
            }
            Self::EnvoyHashed(tables) => tables.again(state, recorder),
        }
    }

    /// Whether picks count in the total that bounded load goes by.
    pub(crate) fn is_balanced(&self) -> bool {
        match self {
            Self::Hashed(tables) => tables.is_balanced(),
            Self::EnvoyHashed(tables) => tables.is_balanced(),
            _ => false,
        }
    }

    /// A pick that `accept` likes: up to `retries` more attempts while it refuses, then the last
    /// one all the same.
    pub(crate) fn pick_filtered<R: Recorder>(
        &self,
        state: &mut State,
        retries: u32,
        mut accept: impl FnMut(Candidate) -> bool,
        recorder: &mut R,
    ) -> Chosen {
        let mut candidate = self.attempt(state, true, recorder)?;
        for _ in 0..retries {
            if accept(candidate) {
                break;
            }
            candidate = self.attempt(state, false, recorder)?;
        }
        Ok(candidate)
    }

    /// Looks ahead at the next pick that was not peeked yet.
    pub(crate) fn peek(&self, state: &mut State) -> Chosen {
        match self {
            Self::RoundRobin(tables) => tables.peek_round_robin(state),
            Self::Random(tables) => tables.peek_random(state),
            Self::LeastRequest(tables) => tables.peek(state),
            Self::Envoy(tables) => tables.peek(state),
            Self::Hashed(_) | Self::EnvoyHashed(_) => Err(NoHost::PeekLimit),
        }
    }

    /// The host of every place of the hash tables for one kind of hosts of a priority.
    pub(crate) fn places(
        &self,
        priority: u32,
        source: Source,
    ) -> Box<dyn Iterator<Item = HostId> + '_> {
        match self {
            Self::Hashed(tables) => {
                let tables = tables.tables(priority, source);
                Box::new(tables.flat_map(|table| table.places()))
            }
            Self::EnvoyHashed(tables) => {
                Box::new(tables.table(priority).into_iter().flat_map(|table| table.places()))
            }
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Calls `each` with every host that can be picked and its share of the traffic while all are
    /// idle. A host may come several times.
    pub(crate) fn shares(&self, now_ns: u64, each: impl FnMut(u32, f64)) {
        match self {
            Self::RoundRobin(tables) => tables.shares(each),
            Self::Random(tables) => tables.shares(each),
            Self::LeastRequest(tables) => tables.shares(each),
            Self::Hashed(tables) => tables.shares(each),
            Self::Envoy(tables) => tables.shares(now_ns, each),
            Self::EnvoyHashed(tables) => tables.shares(each),
        }
    }
}
