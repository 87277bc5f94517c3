//! Where requests go, for policies that choose a host by their hash.

use plimsoll::config::ClusterConfig;
use plimsoll::{Cluster, HashInput, PickContext, Worker};

use super::Failure;
use crate::table::{BAD, Cell, Side, Table};

/// Requests to show the hosts of.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// Hashes of requests.
    pub hashes: Vec<u64>,
    /// The headers of one more request, which the cluster's own `hash_policy` hashes, by name in
    /// lower case and value.
    pub headers: Vec<(String, String)>,
    /// The path of that request with its query.
    pub path: Option<String>,
    /// The IP address that it comes from.
    pub source_ip: Option<String>,
    /// The last attempt to show; the first is 0.
    pub attempt: u32,
}

impl HashInput for Requests {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        let same = self.headers.iter().filter(|(own, _)| own == name);
        same.for_each(|(_, value)| each(value.as_bytes()));
    }

    fn path(&self) -> Option<&[u8]> {
        self.path.as_deref().map(str::as_bytes)
    }

    fn source_ip(&self) -> Option<&str> {
        self.source_ip.as_deref()
    }
}

impl Requests {
    /// Whether there is a request to be hashed.
    fn has_request(&self) -> bool {
        !self.headers.is_empty() || self.path.is_some() || self.source_ip.is_some()
    }
}

/// The host of each request, attempt by attempt; `None` if there are no requests.
pub(super) fn table(cluster: &Cluster, requests: &Requests) -> Result<Option<Table>, Failure> {
    let mut hashes = requests.hashes.clone();
    if hashes.is_empty() && !requests.has_request() {
        return Ok(None);
    }
    let view = cluster.view();
    let mut worker = cluster.worker()?;
    if requests.has_request() {
        hashes.push(hash(&mut worker, view.config(), requests)?);
    } else if view.config().policy.consistent_hashing().is_none() {
        return Err(no_hashes(view.config()));
    }
    let mut table = Table::new(&[
        ("HASH", Side::Right),
        ("ATTEMPT", Side::Right),
        ("HOST", Side::Left),
        ("WHY", Side::Left),
    ]);
    for hash in hashes {
        for attempt in 0..=requests.attempt {
            table.row(row(&mut worker, hash, attempt));
        }
    }
    Ok(Some(table))
}

/// The hash of the request.
fn hash(worker: &mut Worker, config: &ClusterConfig, request: &Requests) -> Result<u64, Failure> {
    let own = config.policy.consistent_hashing().ok_or_else(|| no_hashes(config))?;
    if own.hash_policy.is_empty() {
        return Err(failure("the cluster has no hash_policy of its own to hash a request by"));
    }
    let hash = worker.hash_request(&[], request).hash;
    hash.ok_or_else(|| failure("the hash_policy finds nothing in the request: it goes to any host"))
}

fn no_hashes(config: &ClusterConfig) -> Failure {
    failure(&format!("the policy {} does not go by hashes", config.policy.name()))
}

fn failure(message: &str) -> Failure {
    Failure { field: String::new(), message: message.to_owned() }
}

fn row(worker: &mut Worker, hash: u64, attempt: u32) -> Vec<Cell> {
    let context = PickContext { hash: Some(hash), attempt, ..PickContext::uncounted() };
    let explanation = worker.explain(&context, None, |_, _| true);
    let host = match &explanation.host {
        Ok(host) => Cell::plain(&host.address),
        Err(_) => Cell::new("none", BAD),
    };
    vec![Cell::plain(hash), Cell::plain(attempt), host, Cell::plain(explanation.why)]
}
