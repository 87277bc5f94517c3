//! Which locality Envoy takes before it takes a host.
//!
//! By EDF over the weights of localities, by the proportions of zone-aware routing, or by the load
//! that hosts report. In the first two cases peeks take a turn and draw numbers like picks: Envoy
//! decides about the locality anew each time.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#ZoneAwareLoadBalancerBase::hostSourceToUse

use super::super::{Counter, NoHost, Source, State};
use super::Lists;
use crate::locality::load_aware::envoy;
use crate::locality::zone_aware::{Choice, Route};
use crate::sync::Arc;

/// How one priority's traffic divides among its localities.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Localities {
    /// Of the healthy and of the degraded hosts, if localities are weighted.
    pub(crate) weighted: Option<[Option<Arc<Weighted>>; 2]>,
    /// If the load of localities decides.
    pub(crate) aware: Option<Arc<Aware>>,
    /// For priority 0 of a cluster that has a local cluster, unless there is a reason against it.
    pub(crate) zoned: Option<Arc<Zoned>>,
}

/// Localities with a weight.
#[derive(Debug, PartialEq)]
pub(crate) struct Weighted {
    pub(crate) localities: Box<[u32]>,
    pub(crate) weights: Box<[f64]>,
}

/// Zone-aware routing.
#[derive(Debug, PartialEq)]
pub(crate) struct Zoned {
    pub(crate) route: Route,
    /// The percentage of picks that it applies to.
    pub(crate) enabled: u64,
    /// The proxy's own cluster panics, so that its proportions mean nothing.
    pub(crate) local_cluster_panics: bool,
}

/// Load-aware routing, by source.
#[derive(Debug, PartialEq)]
pub(crate) struct Aware {
    pub(crate) weights: [Box<[f64]>; 3],
    /// The weights, added up.
    pub(crate) sums: [Box<[f64]>; 3],
    /// The last tick gave everything to the local locality.
    pub(crate) all_local: [bool; 3],
    /// The first locality is the proxy's own.
    pub(crate) has_local: bool,
}

impl Aware {
    /// The index of the locality that `number` chooses; the next one that has hosts if that has none.
    //= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/load_aware_locality_lb.cc#chooseHost
    pub(super) fn choose(&self, lists: &Lists, source: Source, number: u64) -> Option<u32> {
        with_hosts(lists, source, envoy::pick(&self.sums[source as usize], number))
    }

    /// What of the traffic goes to which locality. For people.
    pub(super) fn parts(&self, lists: &Lists, source: Source) -> Vec<(f64, Option<u32>)> {
        let weights = &self.weights[source as usize];
        let total = weights.iter().sum::<f64>();
        let part = |(index, weight): (usize, &f64)| {
            Some((weight / total, Some(with_hosts(lists, source, index)?)))
        };
        match total > 0.0 {
            true => weights.iter().enumerate().filter_map(part).collect(),
            false => with_hosts(lists, source, 0).map(|it| (1.0, Some(it))).into_iter().collect(),
        }
    }

    /// What a pick of this locality counts as, if as anything.
    pub(super) fn counter(&self, source: Source, locality: u32) -> Option<Counter> {
        self.has_local.then_some(match locality {
            0 if self.all_local[source as usize] => Counter::ZoneRoutingAllDirectly,
            0 => Counter::ZoneRoutingSampled,
            _ => Counter::ZoneRoutingCrossZone,
        })
    }
}

/// The first locality from this one on that has hosts.
fn with_hosts(lists: &Lists, source: Source, preferred: usize) -> Option<u32> {
    let has_hosts = |index: usize| !lists.localities[index][source as usize].is_empty();
    let count = lists.localities.len();
    if preferred < count && has_hosts(preferred) {
        return u32::try_from(preferred).ok();
    }
    let mut all = (0..count).map(|step| (preferred + step) % count);
    let found = all.find(|&it| has_hosts(it))?;
    u32::try_from(found).ok()
}

impl Localities {
    /// Whether a locality may be chosen before a host.
    #[inline]
    pub(super) fn is_divided(&self) -> bool {
        self.aware.is_some() || self.weighted.is_some() || self.zoned.is_some()
    }

    /// The index of the locality for a pick that is not in panic; `None` for the hosts of all.
    /// `update` is the number of the priority's last update.
    pub(super) fn choose(
        &self,
        state: &mut State,
        (priority, source): (usize, Source),
        update: u64,
        fail_traffic_on_panic: bool,
    ) -> Result<Option<u32>, NoHost> {
        let class = usize::from(source == Source::Degraded);
        if let Some(weighted) = self.weighted.as_ref().and_then(|it| it[class].as_ref()) {
            let scheduler =
                state.locality_scheduler(priority * 2 + class, update, &weighted.weights);
            let item = scheduler.pick(|item| weighted.weights[item as usize]);
            return Ok(item.map(|item| weighted.localities[item as usize]));
        }
        let Some(zoned) = &self.zoned else { return Ok(None) };
        if !zoned.applies(state) {
            return Ok(None);
        }
        if zoned.local_cluster_panics {
            state.count(Counter::LocalClusterNotOk);
            return if fail_traffic_on_panic { Err(NoHost::Panic) } else { Ok(None) };
        }
        let (locality, choice) = zoned.route.choose(|| state.draws.next());
        match choice {
            Choice::Direct => state.count_route(Counter::ZoneRoutingAllDirectly),
            Choice::Sampled => state.count_route(Counter::ZoneRoutingSampled),
            Choice::CrossZone => state.count_route(Counter::ZoneRoutingCrossZone),
            Choice::NoCapacityLeft => {
                state.count_route(Counter::ZoneRoutingCrossZone);
                state.count(Counter::ZoneNoCapacityLeft);
            }
        }
        Ok(u32::try_from(locality).ok())
    }

    /// The weights of all localities, if they are weighted. For people.
    pub(crate) fn weights(&self, source: Source, localities: usize) -> Option<Vec<f64>> {
        if let Some(aware) = &self.aware {
            return Some(aware.weights[source as usize].to_vec());
        }
        let class = usize::from(source == Source::Degraded);
        let weighted = self.weighted.as_ref()?[class].as_ref()?;
        let mut weights = vec![0.0; localities];
        for (&locality, &weight) in weighted.localities.iter().zip(&weighted.weights) {
            weights[locality as usize] = weight;
        }
        Some(weights)
    }

    /// For each locality its part of the traffic of `source`, all of which is 1; `None` if it is not
    /// divided by locality. For people.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(crate) fn shares(
        &self,
        source: Source,
        localities: usize,
    ) -> Option<Vec<(f64, Option<u32>)>> {
        let class = usize::from(source == Source::Degraded);
        if let Some(weighted) = self.weighted.as_ref().and_then(|it| it[class].as_ref()) {
            let total: f64 = weighted.weights.iter().sum();
            let share = |(&locality, weight): (&u32, &f64)| (weight / total, Some(locality));
            return Some(weighted.localities.iter().zip(&weighted.weights).map(share).collect());
        }
        let zoned = self.zoned.as_ref().filter(|zoned| !zoned.local_cluster_panics)?;
        let enabled = zoned.enabled.min(100) as f64 / 100.0;
        let of_route = zoned.route.shares(localities);
        let of_route = (0..).zip(of_route).map(|(it, share)| (share * enabled, Some(it)));
        Some(std::iter::once((1.0 - enabled, None)).chain(of_route).collect())
    }
}

impl Zoned {
    /// Whether it applies to this pick, which takes a number unless that is sure.
    fn applies(&self, state: &mut State) -> bool {
        match self.enabled {
            0 => false,
            100.. => true,
            percent => state.draws.next() % 100 < percent,
        }
    }
}
