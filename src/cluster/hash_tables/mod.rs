//! The tables of hash policies: which there are, and which of them can be kept.
//!
//! A table is made from the keys and weights of some hosts, and from nothing else. The last two of
//! each part of the traffic are remembered with what they were made from, so that an update which
//! changes nothing of it builds none, and neither does one that takes the last one back.

mod build;
mod cache;

use cache::{Cache, Candidate, Part};

use super::model::Model;
use super::set::PrioritySet;
use crate::config::{Behavior, ClusterConfig, HashFunction, LocalityRouting, Policy};
use crate::hashing;
use crate::host::{Address, Directory, Place};
use crate::policy::envoy::List;
use crate::policy::hashed::{HashTable, TableFigures};
use crate::policy::native::{Located, Portion};
use crate::policy::{HostId, Source};
use crate::priority::Loads;
use crate::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct HashTables {
    settings: Option<Settings>,
    native: Cache<u64>,
    envoy: Cache<f64>,
    pub(super) figures: HashFigures,
}

/// What is counted about them.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct HashFigures {
    /// Tables that were built since the cluster was opened.
    pub(crate) built: u64,
    /// Of the tables in use; in Envoy, of the one that it built last.
    pub(crate) table: TableFigures,
    /// Hosts in use whose key another host has too.
    pub(crate) duplicate_keys: u64,
}

/// What tables are made by.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settings {
    behavior: Behavior,
    kind: Kind,
    by_name: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Ring { function: HashFunction, minimum: u32, maximum: u32 },
    Maglev { size: u32 },
}

impl Settings {
    fn of(config: &ClusterConfig) -> Option<Self> {
        let kind = match &config.policy {
            Policy::RingHash(ring) => Kind::Ring {
                function: ring.hash_function,
                minimum: ring.minimum_ring_size,
                maximum: ring.maximum_size(config.behavior),
            },
            Policy::Maglev(maglev) => Kind::Maglev { size: maglev.table_size },
            _ => return None,
        };
        let by_name = config.policy.consistent_hashing()?.use_hostname_for_hashing;
        Some(Self { behavior: config.behavior, kind, by_name })
    }

    /// What is hashed of a host.
    ///
    /// envoy-differs: a host without a name goes by its address; in Envoy all of those have one key.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.h#hashKey
    fn key<'a>(&self, address: &'a Address, place: &'a Place) -> &'a str {
        let is_named = self.behavior == Behavior::Envoy || !place.hostname.is_empty();
        if !place.hash_key.is_empty() {
            &place.hash_key
        } else if self.by_name && is_named {
            &place.hostname
        } else {
            address.as_str()
        }
    }
}

impl HashTables {
    pub(super) fn new(config: &ClusterConfig) -> Self {
        Self {
            settings: Settings::of(config),
            native: Cache::default(),
            envoy: Cache::default(),
            figures: HashFigures::default(),
        }
    }

    /// Takes over settings. Tables that were made by others mean nothing any more.
    pub(super) fn configure(&mut self, config: &ClusterConfig) {
        let settings = Settings::of(config);
        if settings != self.settings {
            let built = self.figures.built;
            let figures = HashFigures { built, ..HashFigures::default() };
            *self = Self { settings, figures, ..Self::new(config) };
        }
    }

    /// The native table of a portion of the traffic; `None` if it has no hosts.
    pub(super) fn native(&mut self, portion: &Portion<'_>, model: &Model) -> Option<Located> {
        let settings = self.settings?;
        let Portion { priority, source, locality, chunks, .. } = portion;
        let set = model.priorities.get(*priority as usize)?;
        let locality = locality.and_then(|index| set.buckets.get(index as usize));
        let locality = locality.map(|bucket| Arc::clone(&bucket.locality));
        let part = Part { priority: *priority, source: *source, locality: locality.clone() };
        let hosts = chunks.as_ref().ok()?.iter().flat_map(|chunk| chunk.hosts());
        let members = hosts.filter_map(|&host| {
            let entry = model.directory.get(host.slot)?;
            Some((host, u64::from(entry.weight), entry))
        });
        let (table, is_new) = self.native.table(part, &members.collect::<Vec<_>>(), settings);
        self.figures.built += u64::from(is_new);
        Some((locality, table?))
    }

    /// Envoy's table of every priority; `None` if it has no hosts.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#refresh
    pub(super) fn envoy(
        &mut self,
        model: &Model,
        loads: &Loads,
        routing: &LocalityRouting,
    ) -> Box<[Option<Arc<HashTable<f64>>>]> {
        let Some(settings) = self.settings else { return Box::default() };
        let mut tables = Vec::with_capacity(model.priorities.len());
        for ((priority, set), &panic) in (0..).zip(&model.priorities).zip(&loads.panic) {
            let source = if panic { Source::All } else { Source::Healthy };
            let members = envoys_members(set, source, routing, &model.directory);
            let part = Part { priority, source, locality: None };
            let (table, is_new) = self.envoy.table(part, &members, settings);
            self.figures.built += u64::from(is_new);
            if let Some(table) = &table {
                // Each overwrites those of the one before, and one without hosts none, as in Envoy.
                self.figures.table = table.figures;
            }
            tables.push(table);
        }
        tables.into()
    }

    /// Looks at what is in use, and forgets what has not been for long.
    pub(super) fn settle(&mut self) {
        if self.settings.is_some_and(|settings| settings.behavior == Behavior::Native) {
            let tables = self.native.in_use().map(|built| built.table.figures);
            self.figures.table = tables.reduce(TableFigures::with).unwrap_or_default();
        }
        let duplicates = self.native.in_use().map(|built| built.duplicate_keys).sum::<u64>()
            + self.envoy.in_use().map(|built| built.duplicate_keys).sum::<u64>();
        self.figures.duplicate_keys = duplicates;
        self.native.settle();
        self.envoy.settle();
    }
}

impl TableFigures {
    /// The figures of two tables as one.
    fn with(self, other: Self) -> Self {
        Self {
            size: self.size + other.size,
            fewest: self.fewest.min(other.fewest),
            most: self.most.max(other.most),
            without: self.without + other.without,
        }
    }
}

/// The hosts of Envoy's table with their parts of the whole, in its order.
//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#normalizeWeights
fn envoys_members<'a>(
    set: &PrioritySet,
    source: Source,
    routing: &LocalityRouting,
    directory: &'a Directory,
) -> Vec<Candidate<'a, f64>> {
    let lists: Vec<(u32, &List)> = match routing {
        LocalityRouting::Weighted => {
            let weights = set.buckets.iter().map(|bucket| set.locality_weight(bucket));
            let lists = set.lists.localities.iter().map(|lists| &lists[source as usize]);
            weights.zip(lists).filter(|(weight, _)| *weight > 0).collect()
        }
        _ if source == Source::All => vec![(1, &set.lists.all)],
        _ => vec![(1, &set.lists.healthy)],
    };
    let groups: Vec<hashing::Group<'_>> =
        lists.iter().map(|(weight, list)| list.group(*weight)).collect();
    let weights = hashing::normalized(&groups).weights;
    let hosts = lists.iter().flat_map(|(_, list)| list.hosts());
    let member = |(&host, weight): (&HostId, f64)| Some((host, weight, directory.get(host.slot)?));
    hosts.zip(weights).filter_map(member).collect()
}
