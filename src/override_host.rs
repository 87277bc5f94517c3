//! Picks of hosts that the caller names.
//!
//! Envoy has two ways, and a call has the one that the cluster is configured for. Without the
//! policy `override_host` a filter names a host, and its health decides; with it the request names
//! several, each attempt takes the next one that is there, and nothing else is asked.

use crate::host::HostRef;
use crate::pick::{Pick, PickContext};
use crate::policy::{Candidate, HostId, NoHost};
use crate::published::Published;
use crate::worker::{self, Worker};

impl Worker {
    /// Picks the host that has one of these addresses, in any priority and instead of a pick by
    /// policy; if that cannot be, picks by policy all the same, unless `strict`. No addresses at
    /// all ask for nothing, and the pick is one by policy.
    ///
    /// Without [`ClusterConfig::override_host`](crate::config::ClusterConfig::override_host) it
    /// is the first address whose host is there and of one of the
    /// [`override_host_status`](crate::config::ClusterConfig::override_host_status).
    ///
    /// With it health does not matter, and each attempt at a request takes another address: attempt
    /// [`context.attempt`](PickContext::attempt) that one of those whose hosts are there, counted
    /// from 0. An address that stands twice counts twice. Once all are used up there is none.
    ///
    /// Otherwise as [`pick`](Self::pick): it is counted, allocates nothing, and ends with
    /// [`done`](Self::done). It draws no number and uses no peek, unless it comes to the policy.
    ///
    /// ```
    /// # use plimsoll::config::{Assignment, ClusterConfig, Endpoint, LocalityEndpoints};
    /// # use plimsoll::{Cluster, Options};
    /// use plimsoll::{NoHost, PickContext};
    ///
    /// # let endpoints = vec![Endpoint::new("10.0.0.1:80"), Endpoint::new("10.0.0.2:80")];
    /// # let group = LocalityEndpoints { endpoints, ..LocalityEndpoints::default() };
    /// # let hosts = Assignment { endpoints: vec![group], ..Assignment::default() };
    /// # let cluster = Cluster::open(ClusterConfig::new("api"), &hosts, Options::default())?;
    /// let mut worker = cluster.worker()?;
    /// let context = PickContext::uncounted();
    /// let pick = worker.pick_override(&context, ["10.0.0.9:80", "10.0.0.2:80"], true).unwrap();
    /// assert_eq!(worker.host(pick).unwrap().address().as_str(), "10.0.0.2:80");
    /// let gone = worker.pick_override(&context, ["10.0.0.9:80"], true);
    /// assert_eq!(gone, Err(NoHost::OverrideNotFound));
    /// assert!(worker.pick_override(&context, ["10.0.0.9:80"], false).is_ok());
    /// # Ok::<(), plimsoll::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `strict`, [`NoHost::OverrideNotFound`] or [`NoHost::OverrideNotAllowed`]; otherwise why
    /// the policy has no host.
    pub fn pick_override<A: AsRef<str>>(
        &mut self,
        context: &PickContext,
        addresses: impl IntoIterator<Item = A>,
        strict: bool,
    ) -> Result<Pick, NoHost> {
        match self.named(context, addresses, strict) {
            Some(picked) => picked,
            None => self.pick(context),
        }
    }

    /// The same with a filter for the hosts that the policy picks, see
    /// [`pick_filtered`](Self::pick_filtered). Hosts that are named do not go through it, as in
    /// Envoy.
    ///
    /// # Errors
    ///
    /// As [`pick_override`](Self::pick_override).
    pub fn pick_override_filtered<A: AsRef<str>>(
        &mut self,
        context: &PickContext,
        addresses: impl IntoIterator<Item = A>,
        strict: bool,
        accept: impl FnMut(Pick, HostRef<'_>) -> bool,
    ) -> Result<Pick, NoHost> {
        match self.named(context, addresses, strict) {
            Some(picked) => picked,
            None => self.pick_filtered(context, accept),
        }
    }

    /// The pick, unless it is the policy's. That may then read a newer snapshot, as if it had been
    /// called a moment later.
    fn named<A: AsRef<str>>(
        &mut self,
        context: &PickContext,
        addresses: impl IntoIterator<Item = A>,
        strict: bool,
    ) -> Option<Result<Pick, NoHost>> {
        let (snapshot, state) = self.advance();
        let chosen = choose(snapshot, addresses, context.attempt)?;
        let is_final = strict || chosen.is_ok();
        is_final.then(|| worker::finish_of_any(chosen, snapshot, state, context.uncounted))
    }
}

//= envoy v1.40 source/common/upstream/host_utility.cc#HostUtility::selectOverrideHost
//= envoy v1.40 source/extensions/load_balancing_policies/override_host/load_balancer.cc#getEndpoint
/// The host that the addresses come to; `None` if there is no address.
fn choose<A: AsRef<str>>(
    snapshot: &Published,
    addresses: impl IntoIterator<Item = A>,
    attempt: u32,
) -> Option<Result<Candidate, NoHost>> {
    let config = &*snapshot.config;
    let mut used_up = attempt;
    let mut outcome = None;
    for address in addresses {
        let why = outcome.get_or_insert(NoHost::OverrideNotFound);
        let found = snapshot.by_address.get(address.as_ref(), &snapshot.directory);
        let Some(entry) = found else { continue };
        if config.override_host.is_some() {
            if used_up > 0 {
                used_up -= 1;
                continue;
            }
        } else if !config.override_host_status.contains(entry.flags.fine(entry.eds)) {
            *why = NoHost::OverrideNotAllowed;
            continue;
        }
        let host = HostId::new(entry.info.slot, entry);
        return Some(Ok(Candidate { host, priority: entry.priority }));
    }
    outcome.map(Err)
}
