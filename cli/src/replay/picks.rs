//! The operations of a replay that choose hosts, and the end of requests.

use std::collections::{BTreeMap, HashMap, HashSet};

use plimsoll::{Error, HostRef, NoHost, Pick, PickContext, Worker, WorkerOptions};
use serde_json::{Map, Value, json};

use super::cluster::{ReplayCluster, open_worker_of};
use super::line::U64;
use super::names::Outcome;
use super::op::{Choice, Tally, Workers};
use super::session::{invalid, unsupported};

/// More picks than this in one operation are refused: its result is one line.
const MAX_PICKS: u64 = 1_000_000;

/// More picks than this in one tally are refused, so that a line cannot run forever.
const MAX_TALLY: u64 = 10_000_000;

impl ReplayCluster {
    /// Picks hosts. Each request ends before the next pick, unless it is held.
    pub(super) fn pick(&mut self, choice: &Choice) -> Result<Value, Error> {
        check_supported(choice)?;
        let n = at_most(choice.n, MAX_PICKS)?;
        self.check_hosts(&choice.reject)?;
        let rejected = rejected(choice);
        let worker = open_worker_of(&mut self.workers, choice.worker)?;
        let mut addresses = Vec::new();
        let named = choice.override_hosts.as_deref().unwrap_or_default();
        for index in 0..n {
            let context = context(choice, index);
            let accept = |_, host: HostRef<'_>| accepts(&rejected, host);
            let picked = worker.pick_override_filtered(&context, named, choice.strict, accept);
            let address = address(worker, picked);
            if let Ok(pick) = picked {
                match &address {
                    Some(address) if choice.hold => {
                        self.held.entry(address.clone()).or_default().push_back(pick);
                    }
                    _ => end(worker, pick, Outcome::Success),
                }
            }
            addresses.push(address);
        }
        Ok(json!(addresses))
    }

    /// Looks ahead. Envoy's peeks ask no retry filter.
    pub(super) fn peek(&mut self, choice: &Choice) -> Result<Value, Error> {
        check_supported(choice)?;
        check_not_held(choice)?;
        check_by_policy(choice, "peek")?;
        let n = at_most(choice.n, MAX_PICKS)?;
        self.check_hosts(&choice.reject)?;
        let worker = open_worker_of(&mut self.workers, choice.worker)?;
        let peek = |_| {
            let peeked = worker.peek();
            address(worker, peeked)
        };
        Ok(json!((0..n).map(peek).collect::<Vec<_>>()))
    }

    /// Counts picks by host.
    pub(super) fn tally(&mut self, tally: &Tally) -> Result<Value, Error> {
        let n = at_most(tally.n, MAX_TALLY)?;
        let context = PickContext { attempt: saturated(tally.attempt), ..PickContext::default() };
        let named = tally.override_hosts.as_deref().unwrap_or_default();
        let workers = self.workers_of(tally.worker)?;
        let mut counts = self.no_counts();
        let mut none = 0_u64;
        for &index in workers.iter().cycle().take(n) {
            let Some(worker) = &mut self.workers[index] else { continue };
            let Ok(pick) = worker.pick_override(&context, named, tally.strict) else {
                none += 1;
                continue;
            };
            if let Some(host) = worker.host(pick)
                && let Some(count) = counts.get_mut(host.address().as_str())
            {
                *count += 1;
            }
            end(worker, pick, Outcome::Success);
        }
        let sorted: BTreeMap<String, u64> = counts.into_iter().collect();
        let counted = sorted.into_iter().map(|(host, count)| (host, json!(count)));
        let failed = (none > 0).then(|| ("none".to_owned(), json!(none)));
        Ok(Value::Object(counted.chain(failed).collect::<Map<_, _>>()))
    }

    /// Explains the next pick; changes nothing.
    pub(super) fn explain(&mut self, choice: &Choice) -> Result<Value, Error> {
        check_supported(choice)?;
        check_not_held(choice)?;
        check_by_policy(choice, "explain")?;
        if choice.n != U64(1) {
            return Err(invalid("n", "one pick is explained at a time"));
        }
        self.check_hosts(&choice.reject)?;
        let rejected = rejected(choice);
        let draw = choice.draw.map(|draw| draw.0);
        let worker = open_worker_of(&mut self.workers, choice.worker)?;
        let accept = |_, host: HostRef<'_>| accepts(&rejected, host);
        let explanation = worker.explain(&context(choice, 0), draw, accept);
        Ok(plimsoll_json::explanation(&explanation))
    }

    /// Ends held requests, the oldest first.
    pub(super) fn done(&mut self, hosts: &[String], outcome: Outcome) -> Result<(), Error> {
        self.check_held(hosts)?;
        let spare;
        let worker = match self.workers.iter().flatten().next() {
            Some(worker) => worker,
            None => {
                // Requests outlive the workers that picked them.
                let number = Some(0);
                let options = WorkerOptions { peek_capacity: 0, number, draws: Vec::new() };
                spare = self.cluster.worker_with(options)?;
                &spare
            }
        };
        for host in hosts {
            if let Some(pick) = self.held.get_mut(host).and_then(|picks| picks.pop_front()) {
                end(worker, pick, outcome);
            }
        }
        self.held.retain(|_, picks| !picks.is_empty());
        Ok(())
    }

    /// Checks all hosts before any request ends. A host that left may still hold requests.
    fn check_held(&self, hosts: &[String]) -> Result<(), Error> {
        let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
        hosts.iter().for_each(|host| *asked.entry(host).or_default() += 1);
        for (host, asked) in asked {
            let held = self.held.get(host).map_or(0, |picks| picks.len());
            if held == 0 {
                self.check_hosts(&[host.to_owned()])?;
            }
            if held < asked {
                let message = format!("requests held on {host}: {held}, to end: {asked}");
                return Err(invalid("hosts", message));
            }
        }
        Ok(())
    }

    /// The indexes of the workers that take turns; closed ones take none.
    fn workers_of(&mut self, workers: Workers) -> Result<Vec<usize>, Error> {
        if let Workers::One(worker) = workers {
            open_worker_of(&mut self.workers, worker)?;
            return Ok(usize::try_from(worker.0).into_iter().collect());
        }
        let places = self.workers.iter().enumerate();
        let open: Vec<usize> =
            places.filter_map(|(index, worker)| worker.as_ref().map(|_| index)).collect();
        if open.is_empty() {
            return Err(invalid("worker", "all workers are closed"));
        }
        Ok(open)
    }

    /// Every present host with a count of 0.
    fn no_counts(&self) -> HashMap<String, u64> {
        let view = self.cluster.view();
        view.hosts().iter().map(|host| (host.host.address().to_string(), 0)).collect()
    }
}

/// Keys that Envoy would act on and the present policies do not.
fn check_supported(choice: &Choice) -> Result<(), Error> {
    let given = [("metadata", choice.metadata.is_some(), "matching metadata")];
    match given.iter().find(|(_, given, _)| *given) {
        Some((field, _, what)) => Err(unsupported(field, *what)),
        None => Ok(()),
    }
}

/// Neither peeks nor explanations are about hosts that are named: those take no turn and decide
/// nothing.
fn check_by_policy(choice: &Choice, operation: &str) -> Result<(), Error> {
    match choice.override_hosts {
        Some(_) => Err(invalid("override", format!("{operation} is about picks by policy"))),
        None => Ok(()),
    }
}

fn check_not_held(choice: &Choice) -> Result<(), Error> {
    if choice.hold { Err(invalid("hold", "only picks can be held")) } else { Ok(()) }
}

fn at_most(n: U64, maximum: u64) -> Result<usize, Error> {
    let allowed = usize::try_from(n.0).ok().filter(|_| n.0 <= maximum);
    allowed.ok_or_else(|| invalid("n", format!("value must be at most {maximum}")))
}

/// What the engine is told of the pick with this index.
fn context(choice: &Choice, index: usize) -> PickContext {
    PickContext {
        retries: saturated(choice.retries),
        attempt: saturated(choice.attempt),
        hash: choice.hash.as_ref().and_then(|hashes| hashes.get(index)),
        ..PickContext::default()
    }
}

/// More than fit are more than the engine goes by, too.
fn saturated(count: U64) -> u32 {
    u32::try_from(count.0).unwrap_or(u32::MAX)
}

fn rejected(choice: &Choice) -> HashSet<&str> {
    choice.reject.iter().map(String::as_str).collect()
}

fn accepts(rejected: &HashSet<&str>, host: HostRef<'_>) -> bool {
    !rejected.contains(host.address().as_str())
}

fn address(worker: &Worker, picked: Result<Pick, NoHost>) -> Option<String> {
    let host = worker.host(picked.ok()?)?;
    Some(host.address().to_string())
}

/// Ends a request. The engine refuses when `load` has meanwhile put the host's count to 0; the
/// request is over all the same.
fn end(worker: &Worker, pick: Pick, outcome: Outcome) {
    let _ = worker.done(pick, outcome.into());
}
