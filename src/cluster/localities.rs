//! How traffic divides among localities, on the control side: from the model to shares (native)
//! and to what Envoy chooses by.

use super::fleet::{Fleet, LocalCluster};
use super::load_aware::{LoadAwareFigures, LoadAwareness};
use super::model::Model;
use super::runtime::{FORCE_LOCAL_ZONE, MIN_CLUSTER_SIZE, Runtime, RuntimeValue, ZONE_ROUTING};
use super::set::{Bucket, PrioritySet};
use crate::config::{Behavior, ClusterConfig, LocalityBasis, LocalityRouting, ZoneAware};
use crate::host::Locality;
use crate::locality::zone_aware::{self, Zone, Zones};
use crate::locality::{WHOLE, part, parts, weighted};
use crate::policy::Source;
use crate::policy::envoy::{Localities, Weighted, Zoned};
use crate::priority::{Rules, Tally, envoy};
use crate::reports::Gauge;
use crate::sync::Arc;

/// What routing by locality has to know besides the hosts.
#[derive(Debug)]
pub(super) struct Router {
    local_cluster: Option<LocalCluster>,
    /// The picture of the local cluster that holds.
    fleet: Arc<Fleet>,
    /// It is another one than at the last publish.
    fleet_changed: bool,
    load_aware: Option<LoadAwareness>,
    pub(super) figures: RouterFigures,
}

/// What it counts.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RouterFigures {
    pub(crate) recalculate_zone_structures: u64,
    pub(crate) local_cluster_not_ok: u64,
    pub(crate) zone_cluster_too_small: u64,
}

/// What routing goes by at one moment.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) config: &'a ClusterConfig,
    pub(super) runtime: &'a Runtime,
    pub(super) rules: Rules,
}

impl Router {
    pub(super) fn new(local_cluster: Option<LocalCluster>) -> Self {
        let fleet = local_cluster.as_ref().map(LocalCluster::fleet).unwrap_or_default();
        let figures = RouterFigures::default();
        Self { local_cluster, fleet, fleet_changed: true, load_aware: None, figures }
    }

    /// Takes over settings; `now` is the time and a seed.
    pub(super) fn configure(&mut self, config: &ClusterConfig, named_first: bool, now: (u64, u64)) {
        let before = self.load_aware.take();
        self.load_aware = LoadAwareness::for_policy(config, named_first, before, now);
    }

    /// What takes utilizations in, if routing goes by them.
    pub(super) fn gauge(&self) -> Option<&Arc<Gauge>> {
        self.load_aware.as_ref().map(|it| &it.gauge)
    }

    /// Forgets what the host in `slot` reported.
    pub(super) fn forget(&self, slot: u32) {
        if let Some(load_aware) = &self.load_aware {
            load_aware.forget(slot);
        }
    }

    /// When the next [`tick`](Self::tick) is due.
    pub(super) fn next_tick_ns(&self) -> Option<u64> {
        self.load_aware.as_ref().map(|it| it.updates.next_ns)
    }

    /// Takes over what hosts have reported, if it is time; says whether it was.
    pub(super) fn tick(&mut self, model: &Model) -> bool {
        self.load_aware.as_mut().is_some_and(|it| it.tick_if_due(model))
    }

    /// What load-aware routing counts.
    pub(super) fn load_aware_figures(&self) -> Option<LoadAwareFigures> {
        self.load_aware.as_ref().map(|it| it.figures)
    }

    /// Looks at the local cluster; says whether it has changed.
    pub(super) fn follow(&mut self) -> bool {
        let newest = self.local_cluster.as_ref().map(LocalCluster::fleet);
        let newest = newest.filter(|newest| !Arc::ptr_eq(newest, &self.fleet));
        let Some(newest) = newest else { return false };
        self.fleet = newest;
        self.fleet_changed = true;
        true
    }

    /// Whether lists are to be made for each locality.
    pub(super) fn needs_lists(&self, config: &ClusterConfig) -> bool {
        self.local_cluster.is_some() || config.locality_routing != LocalityRouting::Unset
    }

    /// Divides anew what has to be: in Envoy the priorities that were updated.
    pub(super) fn divide(&mut self, model: &mut Model, moment: Moment<'_>) {
        let fleet_changed = std::mem::take(&mut self.fleet_changed);
        if let Some(load_aware) = &mut self.load_aware {
            load_aware.split(model);
        }
        let Model { priorities, node, visible, .. } = model;
        for (index, set) in priorities.iter_mut().enumerate() {
            let is_changed = match moment.config.behavior {
                Behavior::Native => {
                    let sources = [Source::Healthy, Source::Degraded, Source::All];
                    let shares =
                        sources.map(|it| self.shares((index, set), node.as_ref(), it, moment));
                    let is_changed = shares != set.shares;
                    set.shares = shares;
                    is_changed
                }
                Behavior::Envoy if self.load_aware.is_some() => {
                    let aware = self.load_aware.as_ref();
                    let has_local = set.has_local(node.as_ref());
                    let aware = aware.and_then(|it| it.envoy(index, set, has_local));
                    let is_changed = set.localities.aware.as_deref() != aware.as_ref();
                    if is_changed {
                        let aware = aware.map(Arc::new);
                        set.localities = Localities { aware, ..Localities::default() };
                    }
                    is_changed
                }
                // Its hash policies do not look at zones, and at weights when they make their tables.
                Behavior::Envoy if moment.config.policy.consistent_hashing().is_some() => {
                    let before = std::mem::take(&mut set.localities);
                    before != Localities::default()
                }
                Behavior::Envoy if set.updated || (fleet_changed && index == 0) => {
                    let localities = Localities {
                        aware: None,
                        weighted: weighted(set, moment),
                        zoned: if index == 0 {
                            self.zoned(set, node.as_ref(), moment).map(Arc::new)
                        } else {
                            None
                        },
                    };
                    let is_changed = localities != set.localities;
                    set.localities = localities;
                    is_changed
                }
                Behavior::Envoy => false,
            };
            let load_aware = self.load_aware.as_ref();
            let utilizations = load_aware.map(|it| it.utilizations(index, set)).unwrap_or_default();
            *visible |= is_changed || utilizations != set.utilizations;
            set.utilizations = utilizations;
            set.recounts = false;
        }
    }

    /// Native shares of what goes to `source`; `None` if hosts decide.
    fn shares(
        &self,
        (index, set): (usize, &PrioritySet),
        node: Option<&Locality>,
        source: Source,
        moment: Moment<'_>,
    ) -> Option<Arc<[u64]>> {
        if let Some(load_aware) = &self.load_aware {
            return load_aware.shares(index, source);
        }
        // Panic is no time for subtleties: every host gets the same.
        if source == Source::All {
            return None;
        }
        let shares = match &moment.config.locality_routing {
            LocalityRouting::Weighted => weighted_shares(set, source, moment.rules),
            LocalityRouting::ZoneAware(settings) if self.local_cluster.is_some() => {
                self.zone_shares(set, node, source, settings, moment)
            }
            _ => None,
        };
        shares.map(Into::into)
    }

    fn zone_shares(
        &self,
        set: &PrioritySet,
        node: Option<&Locality>,
        source: Source,
        settings: &ZoneAware,
        Moment { runtime, rules, .. }: Moment<'_>,
    ) -> Option<Box<[u64]>> {
        let node = node?;
        let fleet = self.fleet.tally();
        let available = set.buckets.iter().map(|it| it.tally.healthy + it.tally.degraded);
        let is_large = available.sum::<u64>() >= min_cluster_size(settings, runtime);
        let is_sound =
            self.fleet.zone(node).hosts > 0 && fleet.available_percent() >= rules.panic_threshold;
        if set.buckets.len() < 2 || !is_large || !is_sound {
            return None;
        }
        let amount = |tally: &Tally, source| amount(tally, source, settings.locality_basis);
        let zone = |bucket: &Bucket| Zone {
            hosts: amount(&bucket.tally, source),
            proxies: amount(&self.fleet.zone(&bucket.locality), Source::Healthy),
        };
        let zones: Vec<Zone> = set.buckets.iter().map(zone).collect();
        let first = set.buckets.first()?;
        let has_local = *first.locality == *node;
        let hosts = count(&first.tally, source);
        let forced = force_local_zone(settings, runtime).is_some_and(|min| hosts >= min.max(1));
        let proxies = amount(&fleet, Source::Healthy);
        let shares = zone_aware::native(Zones { zones: &zones, has_local, proxies, forced })?;
        mixed(&shares, &zones, enabled(settings, runtime))
    }

    /// Envoy's zone-aware routing, unless there is a reason against it.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#earlyExitNonLocalityRouting
    fn zoned(
        &mut self,
        set: &PrioritySet,
        node: Option<&Locality>,
        Moment { config, runtime, rules }: Moment<'_>,
    ) -> Option<Zoned> {
        self.local_cluster.as_ref()?;
        self.figures.recalculate_zone_structures += 1;
        let defaults = ZoneAware::default();
        let settings = match &config.locality_routing {
            LocalityRouting::ZoneAware(settings) => settings,
            _ => &defaults,
        };
        let force = force_local_zone(settings, runtime);
        if set.buckets.len() < 2 || (force.is_none() && self.fleet.zones.len() < 2) {
            return None;
        }
        if node.is_none_or(|node| self.fleet.zone(node).hosts == 0) {
            self.figures.local_cluster_not_ok += 1;
            return None;
        }
        if set.tally().healthy < min_cluster_size(settings, runtime) {
            self.figures.zone_cluster_too_small += 1;
            return None;
        }
        let amount = |tally: &Tally| amount(tally, Source::Healthy, settings.locality_basis);
        let zone = |bucket: &Bucket| Zone {
            hosts: amount(&bucket.tally),
            proxies: amount(&self.fleet.zone(&bucket.locality)),
        };
        let zones: Vec<Zone> = set.buckets.iter().map(zone).collect();
        let first = &set.buckets[0];
        let has_local = node.is_some_and(|node| *first.locality == *node);
        let fleet = self.fleet.tally();
        let route = zone_aware::envoy(Zones {
            zones: &zones,
            has_local,
            proxies: amount(&fleet),
            forced: force.is_some_and(|min| first.tally.healthy >= min),
        });
        let local_cluster_panics = fleet.available_percent() < rules.panic_threshold;
        Some(Zoned { route, enabled: enabled_percent(settings, runtime), local_cluster_panics })
    }
}

/// Envoy's weights of localities, if they are on.
//= envoy v1.40 source/extensions/load_balancing_policies/common/locality_wrr.cc#rebuildLocalityScheduler
fn weighted(set: &PrioritySet, moment: Moment<'_>) -> Option<[Option<Arc<Weighted>>; 2]> {
    if moment.config.locality_routing != LocalityRouting::Weighted {
        return None;
    }
    let of_source = |source: Source| {
        let (mut localities, mut weights) = (Vec::new(), Vec::new());
        for (locality, bucket) in (0..).zip(&set.buckets) {
            let available = weighted::Available {
                weight: set.locality_weight(bucket),
                eligible: count(&bucket.tally, source),
                considered: bucket.tally.hosts - bucket.tally.excluded,
            };
            let weight = weighted::envoy(available, moment.rules.overprovisioning_factor);
            if weight > 0.0 {
                localities.push(locality);
                weights.push(weight);
            }
        }
        let (localities, weights) = (localities.into(), weights.into());
        let weighted = Weighted { localities, weights };
        (!weighted.weights.is_empty()).then(|| Arc::new(weighted))
    };
    Some([of_source(Source::Healthy), of_source(Source::Degraded)])
}

/// Native shares by the weights of localities; `None` if none of those with hosts has any.
fn weighted_shares(set: &PrioritySet, source: Source, rules: Rules) -> Option<Box<[u64]>> {
    let effective = |bucket: &Bucket| {
        let (healthy, degraded, considered) = bucket.tally.available(rules.weighted)?;
        let eligible = if source == Source::Degraded { degraded } else { healthy };
        let weight = set.locality_weight(bucket);
        let available = weighted::Available { weight, eligible, considered };
        Some(weighted::native(available, rules.overprovisioning_factor))
    };
    let effective: Vec<u128> =
        set.buckets.iter().map(|bucket| effective(bucket).unwrap_or(0)).collect();
    parts(&effective)
}

/// Shares that hold for `enabled` of [`WHOLE`]; for the rest hosts decide.
fn mixed(shares: &[u64], zones: &[Zone], enabled: u64) -> Option<Box<[u64]>> {
    let hosts = zones.iter().map(|zone| zone.hosts).sum();
    let mixed = shares.iter().zip(zones).map(|(&share, zone)| {
        let by_hosts = u128::from(WHOLE - enabled) * u128::from(part(zone.hosts, hosts));
        u128::from(enabled) * u128::from(share) + by_hosts
    });
    parts(&mixed.collect::<Vec<u128>>())
}

fn count(tally: &Tally, source: Source) -> u64 {
    if source == Source::Degraded { tally.degraded } else { tally.healthy }
}

fn amount(tally: &Tally, source: Source, basis: LocalityBasis) -> u64 {
    match (basis, source) {
        (LocalityBasis::HealthyHostsNum, _) => count(tally, source),
        (LocalityBasis::HealthyHostsWeight, Source::Degraded) => tally.degraded_weight,
        (LocalityBasis::HealthyHostsWeight, _) => tally.healthy_weight,
    }
}

fn min_cluster_size(settings: &ZoneAware, runtime: &Runtime) -> u64 {
    let value = runtime.get(MIN_CLUSTER_SIZE).and_then(RuntimeValue::as_integer);
    value.unwrap_or(settings.min_cluster_size)
}

fn force_local_zone(settings: &ZoneAware, runtime: &Runtime) -> Option<u64> {
    let value = runtime.get(FORCE_LOCAL_ZONE).and_then(RuntimeValue::as_integer);
    value.filter(|&min| min > 0).or_else(|| settings.force_local_zone.map(Into::into))
}

/// The percentage of picks that it applies to, as Envoy rounds it.
fn enabled_percent(settings: &ZoneAware, runtime: &Runtime) -> u64 {
    let value = runtime.get(ZONE_ROUTING).and_then(RuntimeValue::as_integer);
    let configured = || envoy::truncated_percent(settings.routing_enabled);
    value.map_or_else(configured, |percent| percent.min(100))
}

/// The same as a part of [`WHOLE`], not rounded.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn enabled(settings: &ZoneAware, runtime: &Runtime) -> u64 {
    let value = runtime.get(ZONE_ROUTING).and_then(RuntimeValue::as_number);
    let percent = value.unwrap_or(settings.routing_enabled).clamp(0.0, 100.0);
    (percent / 100.0 * WHOLE as f64) as u64
}
