//! Hash policies at their edges: hosts that nobody foresaw, weights and tables of absurd sizes, and
//! what becomes of bounds and shares then.
#![allow(clippy::cast_precision_loss)] // counts are far below 2^53

mod common;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use common::{BEHAVIORS, assignment, config, endpoint, group, open, plain};
use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, ConsistentHashing, Endpoint, LoadAware, LocalityEndpoints,
    LocalityRouting, Maglev, Policy, RingHash,
};
use plimsoll::{
    Cluster, EdsHealth, HealthEvent, MAX_RETRIES, NoHost, Outcome, Pick, PickContext, Update,
    Worker,
};

const HASHED: [Policy; 2] = [Policy::RING_HASH, Policy::MAGLEV];

fn kinds() -> impl Iterator<Item = (Behavior, Policy)> {
    BEHAVIORS.into_iter().flat_map(|behavior| HASHED.map(|policy| (behavior, policy)))
}

fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31) ^ number
}

fn request(number: u64) -> PickContext {
    PickContext { hash: Some(mixed(number)), ..PickContext::uncounted() }
}

fn counted(number: u64) -> PickContext {
    PickContext { uncounted: false, ..request(number) }
}

fn address(worker: &Worker, pick: Pick) -> String {
    worker.host(pick).expect("a picked host is in the worker's snapshot").address().to_string()
}

fn bounded(policy: &Policy, factor: u32) -> Policy {
    let consistent_hashing =
        ConsistentHashing { hash_balance_factor: Some(factor), ..ConsistentHashing::default() };
    match policy {
        Policy::RingHash(ring) => Policy::RingHash(RingHash { consistent_hashing, ..ring.clone() }),
        Policy::Maglev(maglev) => Policy::Maglev(Maglev { consistent_hashing, ..maglev.clone() }),
        _ => unreachable!("{policy:?} is no hash policy"),
    }
}

fn weighted(weights: &[u32]) -> Assignment {
    let host = |(index, &load_balancing_weight): (usize, &u32)| Endpoint {
        load_balancing_weight,
        ..Endpoint::new(format!("10.0.0.{index}:80"))
    };
    assignment(vec![group(0, "", weights.iter().enumerate().map(host).collect())])
}

/// Tables of so few places that any weights are quickly made into one.
fn small(policy: Policy) -> Policy {
    match policy {
        Policy::RingHash(ring) => {
            let (minimum_ring_size, maximum_ring_size) = (64, Some(4096));
            Policy::RingHash(RingHash { minimum_ring_size, maximum_ring_size, ..ring })
        }
        Policy::Maglev(maglev) => Policy::Maglev(Maglev { table_size: 251, ..maglev }),
        policy => policy,
    }
}

fn share_sum(cluster: &Cluster) -> f64 {
    cluster.view().hosts().iter().map(|host| host.share).sum()
}

#[test]
fn requests_at_named_hosts_count_for_the_bound_as_well() {
    for (behavior, policy) in kinds() {
        let hosts = assignment(vec![plain(0, 0, 4)]);
        let cluster = open(config(behavior, &bounded(&policy, 150)), &hosts);
        let mut worker = cluster.worker().unwrap();
        let named = |worker: &mut Worker, host: u32| {
            let addresses = [format!("10.0.0.{}:80", host % 4 + 1)];
            worker.pick_override(&counted(0), addresses, true).unwrap()
        };
        let held: Vec<Pick> = (0..40).map(|host| named(&mut worker, host)).collect();
        assert!(held.iter().all(|pick| pick.in_total), "{behavior:?} {policy:?}");
        for number in 0..200 {
            let pick = worker.pick(&counted(number)).unwrap();
            worker.done(pick, Outcome::Success).unwrap();
        }
        // Ten of forty requests each, and fifteen would be allowed.
        let redirects = cluster.stats().unwrap().get("plimsoll.bounded_load_redirects");
        assert_eq!(redirects, 0, "{behavior:?} {policy:?}");
        held.into_iter().for_each(|pick| worker.done(pick, Outcome::Success).unwrap());
    }
}

#[test]
fn a_hot_key_spreads_over_its_priority_when_that_has_no_room_left() {
    // Two fifths of the first priority are gone, and the second one has a small part of the
    // traffic. All requests that there are come there all the same.
    let mut groups = vec![plain(0, 0, 10), plain(1, 0, 10)];
    groups[0].endpoints[..4].iter_mut().for_each(|it| it.health_status = EdsHealth::Unhealthy);
    for (behavior, policy) in kinds() {
        let cluster = open(config(behavior, &bounded(&policy, 120)), &assignment(groups.clone()));
        let mut worker = cluster.worker().unwrap();
        let second = |number: &u64| worker.pick(&request(*number)).unwrap().priority == 1;
        let key = (0..).find(second).unwrap();
        let picks: Vec<Pick> = (0..200).map(|_| worker.pick(&counted(key)).unwrap()).collect();
        let mut active = BTreeMap::new();
        picks.iter().for_each(|pick| *active.entry(pick.slot).or_insert(0) += 1);
        let busiest = active.values().max();
        assert!(busiest <= Some(&25), "{behavior:?} {policy:?}: {active:?}");
        picks.into_iter().for_each(|pick| worker.done(pick, Outcome::Success).unwrap());
    }
}

#[test]
fn hosts_of_one_key_have_all_of_the_traffic_together() {
    for behavior in BEHAVIORS {
        let policy = Policy::RingHash(RingHash { minimum_ring_size: 1, ..RingHash::default() });
        let twin = |host| Endpoint {
            hash_key: "twin".to_owned(),
            ..Endpoint::new(format!("10.0.0.{host}:80"))
        };
        for count in 1..=3 {
            let twins = assignment(vec![group(0, "", (0..count).map(twin).collect())]);
            let cluster = open(config(behavior, &policy), &twins);
            let mut worker = cluster.worker().unwrap();
            let pick = worker.pick(&request(1)).unwrap();
            let picked = address(&worker, pick);
            let view = cluster.view();
            let with_share: Vec<_> = view.hosts().into_iter().filter(|it| it.share > 0.0).collect();
            let addresses: Vec<&str> =
                with_share.iter().map(|it| it.host.address().as_str()).collect();
            assert_eq!(addresses, [picked], "{behavior:?}, {count} twins");
            assert!((share_sum(&cluster) - 1.0).abs() < 1e-9, "{behavior:?}, {count} twins");
        }
    }
}

#[test]
fn any_weights_make_a_table() {
    const MOST: u32 = u32::MAX;
    for (behavior, policy) in kinds() {
        for policy in [small(policy.clone()), bounded(&small(policy), 100)] {
            for weights in [&[MOST][..], &[1], &[MOST - 1, 1], &[1, MOST - 1], &[7; 5]] {
                let cluster = open(config(behavior, &policy), &weighted(weights));
                let mut worker = cluster.worker().unwrap();
                assert!((0..200).all(|number| worker.pick(&request(number)).is_ok()));
                let held: Vec<Pick> =
                    (0..200).map(|number| worker.pick(&counted(number)).unwrap()).collect();
                held.into_iter().for_each(|pick| worker.done(pick, Outcome::Success).unwrap());
                let sum = share_sum(&cluster);
                assert!((sum - 1.0).abs() < 1e-9, "{behavior:?} {policy:?} {weights:?}: {sum}");
            }
        }
    }
}

#[test]
fn any_attempt_finds_a_host_in_tables_of_any_size() {
    for behavior in BEHAVIORS {
        let maglev = |table_size| Policy::Maglev(Maglev { table_size, ..Maglev::default() });
        let ring = |size| {
            let (minimum_ring_size, maximum_ring_size) = (size, Some(size));
            Policy::RingHash(RingHash {
                minimum_ring_size,
                maximum_ring_size,
                ..RingHash::default()
            })
        };
        for policy in [maglev(2), maglev(3), maglev(251), ring(1), ring(2), ring(300)] {
            for hosts in [1, 2, 3, 200] {
                let cluster =
                    open(config(behavior, &policy), &assignment(vec![plain(0, 0, hosts)]));
                let mut worker = cluster.worker().unwrap();
                for attempt in [0, 1, 127, MAX_RETRIES, MAX_RETRIES + 1, u32::MAX] {
                    let context = PickContext { retries: u32::MAX, attempt, ..request(9) };
                    let mut asked = BTreeSet::new();
                    worker
                        .pick_filtered(&context, |pick, _| {
                            asked.insert(pick.slot);
                            false
                        })
                        .unwrap();
                    if behavior == Behavior::Native {
                        assert_eq!(asked.len(), hosts.min(MAX_RETRIES) as usize, "{policy:?}");
                    }
                }
                let sum = share_sum(&cluster);
                assert!((sum - 1.0).abs() < 1e-9, "{behavior:?} {policy:?} {hosts} hosts: {sum}");
            }
        }
    }
}

#[test]
fn more_hosts_than_half_an_index_can_tell_apart_make_a_table() {
    let hosts = |count: u32| {
        let host = |index| Endpoint::new(format!("h{index}"));
        assignment(vec![group(0, "", (0..count).map(host).collect())])
    };
    let few = RingHash { minimum_ring_size: 8, ..RingHash::default() };
    for (behavior, policy) in [
        (Behavior::Native, Policy::RingHash(few)),
        (Behavior::Native, Policy::MAGLEV),
        (Behavior::Envoy, Policy::RING_HASH),
    ] {
        let cluster = open(config(behavior, &policy), &hosts(65_537));
        let stats = cluster.stats().unwrap();
        assert_eq!(stats.get("plimsoll.hosts_without_places"), 0, "{policy:?}");
        let mut worker = cluster.worker().unwrap();
        let of_last = (0..300_000).map(request).any(|it| worker.pick(&it).unwrap().slot == 65_536);
        assert!(of_last, "{policy:?}: a host of index 65 536 has keys");
        cluster.assign(&hosts(65_536)).unwrap();
        assert!((share_sum(&cluster) - 1.0).abs() < 1e-6, "{policy:?}");
    }
}

/// Host data that tells when it is dropped.
type Alive = Arc<()>;

#[test]
fn tables_that_are_kept_keep_no_hosts() {
    for (behavior, policy) in kinds() {
        let policy = small(policy);
        let cluster = open(config(behavior, &policy), &assignment(vec![]));
        let mut worker = cluster.worker().unwrap();
        let alive = Alive::default();
        let mut slots = BTreeSet::new();
        let mut last = HashMap::new();
        for round in 0..1500_u32 {
            let name = |host| format!("r{round}h{host}");
            let host =
                |host| Endpoint { hash_key: format!("k{host}"), ..Endpoint::new(name(host)) };
            // Other hosts with the same keys, in a locality that is new or comes back.
            let zone = format!("z{}", if round % 2 == 0 { round } else { 1 });
            cluster.assign(&assignment(vec![group(0, &zone, (0..3).map(host).collect())])).unwrap();
            for host in 0..3 {
                cluster.set_host_data(&name(host), Box::new(Arc::clone(&alive))).unwrap();
            }
            // Back and forth between the last two tables.
            for event in [HealthEvent::Eject, HealthEvent::Uneject] {
                cluster.apply(&Update::new().health(name(0), event)).unwrap();
                let pick = worker.pick(&counted(round.into())).unwrap();
                let address = address(&worker, pick);
                assert!(address.starts_with(&format!("r{round}h")), "{address} in round {round}");
                worker.done(pick, Outcome::Success).unwrap();
                slots.insert(pick.slot);
                let before = last.insert(pick.slot, pick.generation);
                assert!(before.is_none_or(|before| before <= pick.generation));
            }
        }
        cluster.tick(1).unwrap();
        cluster.tick(2).unwrap();
        assert!(slots.len() <= 12, "{behavior:?} {policy:?}: slots {slots:?}");
        assert_eq!(Alive::strong_count(&alive), 4, "{behavior:?} {policy:?}: three hosts are left");
    }
}

#[test]
fn without_eligible_hosts_there_is_a_reason_and_later_there_are_hosts() {
    let routings = [
        LocalityRouting::default(),
        LocalityRouting::Weighted,
        LocalityRouting::LoadAware(LoadAware::default()),
    ];
    let healths =
        [EdsHealth::Draining, EdsHealth::Unhealthy, EdsHealth::Timeout, EdsHealth::Degraded];
    // Priorities 1, 3 and 4 have no hosts, and 4 has been named.
    let all = |health, load_balancing_weight| {
        let host = |priority, index| endpoint(&format!("10.{priority}.0.{index}:80"), health);
        let hosts = |priority| (0..3).map(|index| host(priority, index)).collect();
        let groups = [0, 2].map(|priority| group(priority, "z", hosts(priority)));
        let groups = groups.into_iter().chain([group(4, "z", vec![])]);
        assignment(groups.map(|it| LocalityEndpoints { load_balancing_weight, ..it }).collect())
    };
    for (behavior, policy) in kinds() {
        for policy in [small(policy.clone()), bounded(&small(policy), 100)] {
            for (routing, threshold) in
                routings.iter().flat_map(|it| [0.0, 100.0].map(|at| (it, at)))
            {
                let settings = ClusterConfig {
                    locality_routing: routing.clone(),
                    healthy_panic_threshold: threshold,
                    ..config(behavior, &policy)
                };
                for (health, weight) in
                    healths.iter().flat_map(|it| [None, Some(1)].map(|weight| (*it, weight)))
                {
                    let cluster = open(settings.clone(), &all(health, weight));
                    let mut worker = cluster.worker().unwrap();
                    let picks = |worker: &mut Worker| {
                        (0..50).filter(|it| worker.pick(&request(*it)).is_ok()).count()
                    };
                    let served = picks(&mut worker);
                    let explained = worker.explain(&request(0), None, |_, _| true);
                    assert_eq!(explained.host.is_ok(), worker.pick(&request(0)).is_ok());
                    if behavior == Behavior::Native && health == EdsHealth::Degraded {
                        assert_eq!(served, 50, "{settings:?}");
                    }
                    for now_ns in [1, 5_000_000_000] {
                        cluster.assign(&Assignment::default()).unwrap();
                        cluster.tick(now_ns).unwrap();
                        assert_eq!(worker.pick(&request(1)), Err(NoHost::Empty));
                        assert!(cluster.view().hosts().is_empty());
                        cluster.assign(&all(EdsHealth::Healthy, weight)).unwrap();
                        cluster.tick(now_ns + 1).unwrap();
                        // Envoy has no host for localities without weights.
                        let serves = behavior == Behavior::Native
                            || weight.is_some()
                            || *routing != LocalityRouting::Weighted;
                        let expected = if serves { 50 } else { 0 };
                        assert_eq!(picks(&mut worker), expected, "{settings:?} {weight:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn keys_that_stay_in_their_locality_when_another_one_dies_stay_at_their_host() {
    let routings = [LocalityRouting::Weighted, LocalityRouting::LoadAware(LoadAware::default())];
    for (policy, dead) in HASHED.into_iter().flat_map(|it| [0, 1, 2].map(|dead| (it.clone(), dead)))
    {
        for locality_routing in routings.clone() {
            let mut zones = [0, 1, 2].map(|zone| plain(0, zone, 4));
            zones.iter_mut().for_each(|zone| zone.load_balancing_weight = Some(1));
            let settings = ClusterConfig { locality_routing, ..config(Behavior::Native, &policy) };
            let cluster = open(settings, &assignment(zones.into()));
            let mut worker = cluster.worker().unwrap();
            let all = |worker: &mut Worker| -> Vec<String> {
                let pick = |number| worker.pick(&request(number)).unwrap();
                let picks: Vec<Pick> = (0..3000).map(pick).collect();
                picks.into_iter().map(|pick| address(worker, pick)).collect()
            };
            let before = all(&mut worker);
            let remove = |update: Update, host| update.remove(format!("10.0.{dead}.{host}:80"));
            // No tick comes between.
            cluster.apply(&(1..=4).fold(Update::new(), remove)).unwrap();
            let after = all(&mut worker);
            let zone = |host: &str| host.split('.').nth(2).map(str::to_owned);
            let of_dead = Some(dead.to_string());
            let pairs = || before.iter().zip(&after).filter(|(old, _)| zone(old) != of_dead);
            let strayed = pairs().filter(|(old, new)| zone(old) != zone(new)).count();
            let moved = pairs().filter(|(old, new)| old != new).count();
            assert_eq!(moved, strayed, "{policy:?}, zone {dead}: hosts changed inside a locality");
            // The table of localities is filled anew, which moves a few places between others.
            assert!(strayed < 60, "{policy:?}, zone {dead}: {strayed} of 2000 keys strayed");
        }
    }
}

#[test]
fn a_table_that_was_in_use_is_kept_for_64_publishes() {
    for policy in HASHED {
        let hosts = assignment(vec![plain(0, 0, 4), plain(1, 0, 4)]);
        let cluster = open(config(Behavior::Native, &policy), &hosts);
        let built = || cluster.stats().unwrap().get("plimsoll.tables_built");
        let all = |event| {
            let host = |update: Update, host| update.health(format!("10.0.0.{host}:80"), event);
            cluster.apply(&(1..=4).fold(Update::new(), host)).unwrap();
        };
        let fails_over = || {
            let before = built();
            all(HealthEvent::Fail);
            all(HealthEvent::Pass);
            built() - before
        };
        assert_eq!((built(), fails_over()), (1, 1), "made when it is needed: {policy:?}");
        let publish = |times: u32| {
            for number in 0..times {
                let mut hosts = hosts.clone();
                hosts.endpoints[0].endpoints[0].hostname = format!("host{number}");
                assert!(cluster.assign(&hosts).unwrap().published);
            }
        };
        publish(62);
        assert_eq!(fails_over(), 0, "{policy:?}");
        publish(64);
        assert_eq!(fails_over(), 1, "{policy:?}");
    }
}

#[test]
fn later_attempts_spread_over_a_locality_that_one_host_fills() {
    // Light hosts have no places, so that attempts come to them by their numbers alone.
    let zone = |zone: u32| {
        let mut zone = plain(0, zone, 21);
        zone.endpoints[0].load_balancing_weight = 100_000_000;
        LocalityEndpoints { load_balancing_weight: Some(1), ..zone }
    };
    let locality_routing = LocalityRouting::Weighted;
    let settings = ClusterConfig { locality_routing, ..config(Behavior::Native, &Policy::MAGLEV) };
    let cluster = open(settings, &assignment((0..10).map(zone).collect()));
    let mut worker = cluster.worker().unwrap();
    let mut second = BTreeMap::new();
    for number in 0..20_000 {
        let pick = worker.pick(&PickContext { attempt: 1, ..request(number) }).unwrap();
        *second.entry(pick.slot).or_insert(0) += 1;
    }
    // 2000 for each locality, and about 95 for each of its hosts; the standard deviation is 10.
    let light = second.values().filter(|&&requests| requests > 20).count();
    assert_eq!(light, 200, "{second:?}");
}
