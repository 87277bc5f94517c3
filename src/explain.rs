//! Why a pick went where it went.

use std::fmt::Write as _;

use crate::config::{Behavior, Policy};
use crate::host::{Address, Locality};
use crate::policy::{Candidate, NoHost, PriorityChoice, Recorder, Source};
use crate::published::{Published, Warmup, percent};

/// The decisions of one pick, as its own code made them. See
/// [`Worker::explain`](crate::Worker::explain).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// Whose decisions the cluster makes.
    pub behavior: Behavior,
    /// The version of the snapshot that decided.
    pub snapshot: u64,
    /// The random number of the (last) attempt; `None` if none was drawn.
    pub draw: Option<u64>,
    /// How the priority was chosen; `None` if nothing was chosen at all.
    pub priority: Option<PriorityDecision>,
    /// How the locality was chosen; `None` if that was up to the hosts.
    pub locality: Option<LocalityDecision>,
    /// The policy that chose the host.
    pub policy: Policy,
    /// The host, or why there is none.
    pub host: Result<ExplainedHost, NoHost>,
    /// All of it in one sentence.
    pub why: String,
}

/// How a priority was chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PriorityDecision {
    /// The number that decided.
    pub hash: u64,
    /// For each priority, what its healthy hosts get, in percent.
    pub healthy_load: Vec<f64>,
    /// For each priority, what its degraded hosts get, in percent.
    pub degraded_load: Vec<f64>,
    /// The chosen priority.
    pub chosen: u32,
    /// Which of its hosts were eligible.
    pub source: Source,
    /// Whether the priority panics.
    pub panic: bool,
}

/// How a locality was chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LocalityDecision {
    /// The weights of all localities, see [`LocalityRoute`](crate::LocalityRoute).
    pub weights: Vec<f64>,
    /// The chosen one.
    pub chosen: Locality,
}

/// The chosen host.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExplainedHost {
    /// Its address.
    pub address: Address,
    /// Its configured weight.
    pub weight: u32,
    /// The weight that the policy uses now, slow start included and its requests not.
    pub effective_weight: f64,
    /// How far it is with its slow start; `None` if it is not in it.
    pub slow_start: Option<Warmup>,
}

/// What a recorder noted.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) draw: Option<u64>,
    pub(crate) priority: Option<PriorityChoice>,
    /// The length of the list that the host was chosen from.
    pub(crate) hosts: usize,
}

impl Recorder for Trace {
    fn draw(&mut self, number: u64) {
        self.draw = Some(number);
    }

    fn priority(&mut self, choice: PriorityChoice) {
        self.priority = Some(choice);
    }

    fn hosts(&mut self, hosts: usize) {
        self.hosts = hosts;
    }
}

impl Explanation {
    pub(crate) fn new(
        snapshot: &Published,
        trace: Trace,
        result: Result<Candidate, NoHost>,
        now_ns: u64,
    ) -> Self {
        let host = result.and_then(|candidate| {
            let entry = snapshot.directory.get(candidate.host.slot).ok_or(NoHost::Empty)?;
            Ok(ExplainedHost {
                address: entry.info.address.clone(),
                weight: entry.weight,
                effective_weight: snapshot.effective_weight(entry, now_ns),
                slow_start: snapshot.warmup(entry, now_ns),
            })
        });
        let priority = trace.priority.map(|choice| decision(snapshot, choice));
        let locality = trace.priority.and_then(|choice| locality(snapshot, choice));
        let why = sentence(snapshot, &trace, &host);
        let behavior = snapshot.config.behavior;
        let (snapshot, policy) = (snapshot.version, snapshot.config.policy.clone());
        Self { behavior, snapshot, draw: trace.draw, priority, locality, policy, host, why }
    }
}

fn decision(snapshot: &Published, choice: PriorityChoice) -> PriorityDecision {
    let percents =
        |loads: &[u64]| loads.iter().map(|&load| percent(load, snapshot.config.behavior)).collect();
    PriorityDecision {
        hash: choice.hash,
        healthy_load: percents(&snapshot.loads.healthy),
        degraded_load: percents(&snapshot.loads.degraded),
        chosen: choice.priority,
        source: choice.source,
        panic: choice.panic,
    }
}

fn locality(snapshot: &Published, choice: PriorityChoice) -> Option<LocalityDecision> {
    let routes = snapshot.priorities[choice.priority as usize]
        .routes(choice.source, snapshot.config.behavior);
    let chosen = routes.localities.get(choice.locality? as usize)?.locality.clone();
    Some(LocalityDecision {
        weights: routes.localities.iter().map(|it| it.weight).collect(),
        chosen,
    })
}

fn sentence(snapshot: &Published, trace: &Trace, host: &Result<ExplainedHost, NoHost>) -> String {
    let mut why = String::new();
    if let Some(choice) = trace.priority {
        let index = choice.priority as usize;
        let loads = match choice.source {
            Source::Degraded => &snapshot.loads.degraded,
            _ => &snapshot.loads.healthy,
        };
        let load = percent(loads[index], snapshot.config.behavior);
        let panics = if choice.panic { " (in panic)" } else { "" };
        let source = choice.source.name();
        let _ = write!(why, "priority {index}, {source} hosts{panics}, load {load:.2} %; ");
        if let Some(LocalityDecision { chosen, .. }) = locality(snapshot, choice) {
            let _ = write!(why, "locality {chosen}; ");
        }
    }
    let _ = match host {
        Ok(host) => {
            let policy = snapshot.config.policy.name();
            let _ = write!(why, "{policy} took {} of {} hosts", host.address, trace.hosts);
            let is_hashed = snapshot.config.policy.consistent_hashing().is_some();
            if let Some(choice) = trace.priority.filter(|_| is_hashed) {
                let _ = write!(why, " by hash {}", choice.hash);
            }
            host.slow_start.map_or(Ok(()), |Warmup { factor, seconds_left }| {
                let percent = factor * 100.0;
                write!(why, ", in slow start at {percent:.2} % for {seconds_left} s more")
            })
        }
        Err(reason) => write!(why, "{reason}"),
    };
    why
}
