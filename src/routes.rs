//! How a snapshot divides the traffic of a priority among its localities, for people.

use crate::config::Behavior;
use crate::host::Locality;
use crate::locality::WHOLE;
use crate::policy::Source;
use crate::policy::envoy::Localities;
use crate::priority::Tally;
use crate::published::{LocalityTally, Priority};
use crate::sync::Arc;

/// What a snapshot keeps of it.
#[derive(Debug, Default)]
pub(crate) struct Routing {
    /// The first locality is the proxy's own.
    pub(crate) has_local: bool,
    /// By source; `None` if hosts decide.
    pub(crate) shares: [Option<Arc<[u64]>>; 3],
    pub(crate) localities: Localities,
    /// Utilizations by source; empty if routing does not go by them.
    pub(crate) utilizations: [Arc<[f64]>; 3],
}

/// How what goes to one kind of hosts of a priority divides among its localities. See
/// [`PriorityView::routes`](crate::PriorityView::routes).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Routes<'a> {
    /// Whether the proxy's own locality gets everything.
    pub all_local: bool,
    /// The proxy's own locality first, then by name.
    pub localities: Vec<LocalityRoute<'a>>,
}

/// One locality of [`Routes`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LocalityRoute<'a> {
    /// The place.
    pub locality: &'a Locality,
    /// Its hosts of that kind.
    pub hosts: u64,
    /// How busy they are, if the routing goes by it.
    pub utilization: Option<f64>,
    /// In `behavior: native` its part of the traffic, 0 to 1; in `behavior: envoy` its weight, as
    /// Envoy's own routing has it.
    pub weight: f64,
}

impl Priority {
    /// How what goes to `source` divides among the localities.
    pub(crate) fn routes(&self, source: Source, behavior: Behavior) -> Routes<'_> {
        let weights = self.weights(source);
        let is_all_local = |(index, weight): (usize, &f64)| (index == 0) == (*weight > 0.0);
        let all_local = match &self.routing.localities.aware {
            Some(aware) => aware.all_local[source as usize],
            None => self.routing.has_local && weights.iter().enumerate().all(is_all_local),
        };
        let utilizations = &self.routing.utilizations[source as usize];
        let mut localities = Vec::with_capacity(weights.len());
        for (index, weight) in weights.into_iter().enumerate() {
            let LocalityTally { locality, tally, .. } = &self.localities[index];
            let utilization = utilizations.get(index).copied();
            let hosts = hosts(tally, source, behavior);
            localities.push(LocalityRoute { locality, hosts, utilization, weight });
        }
        Routes { all_local, localities }
    }

    #[allow(clippy::cast_precision_loss)] // for people
    fn weights(&self, source: Source) -> Vec<f64> {
        if let Some(shares) = &self.routing.shares[source as usize] {
            return shares.iter().map(|&share| share as f64 / WHOLE as f64).collect();
        }
        let by_hosts: Vec<f64> =
            self.localities.iter().map(|it| host_weight(&it.tally, source) as f64).collect();
        let total = by_hosts.iter().sum::<f64>();
        let by_hosts =
            by_hosts.into_iter().map(|weight| if total > 0.0 { weight / total } else { 0.0 });
        if source == Source::All && self.routing.localities.aware.is_none() {
            return by_hosts.collect();
        }
        if let Some(weights) = self.routing.localities.weights(source, self.localities.len()) {
            return weights;
        }
        let Some(parts) = self.routing.localities.shares(source, self.localities.len()) else {
            return by_hosts.collect();
        };
        let of_locality = |locality: usize| {
            let own = |(_, it): &&(f64, Option<u32>)| *it == u32::try_from(locality).ok();
            parts.iter().filter(own).map(|(part, _)| part).sum::<f64>()
        };
        let flat = parts.iter().filter(|(_, it)| it.is_none()).map(|(part, _)| part).sum::<f64>();
        by_hosts.enumerate().map(|(index, weight)| of_locality(index) + flat * weight).collect()
    }
}

fn hosts(tally: &Tally, source: Source, behavior: Behavior) -> u64 {
    match (source, behavior) {
        (Source::Healthy, _) => tally.healthy,
        (Source::Degraded, _) => tally.degraded,
        (Source::All, Behavior::Native) => tally.available_in_panic,
        (Source::All, Behavior::Envoy) => tally.hosts,
    }
}

fn host_weight(tally: &Tally, source: Source) -> u64 {
    match source {
        Source::Healthy => tally.healthy_weight,
        Source::Degraded => tally.degraded_weight,
        Source::All => tally.weight,
    }
}
