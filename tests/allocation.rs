//! Picks, peeks and ends of requests allocate nothing, also right after a publish.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{BEHAVIORS, POLICIES, assignment, config, goes_by_hash, group, open, plain};
use counting::allocations;
use plimsoll::config::{
    Behavior, ClusterConfig, ConsistentHashing, Endpoint, HashPolicy, HashPolicyKind, LoadAware,
    LocalityRouting, Maglev, Policy, RingHash, ZoneAware,
};
use plimsoll::{
    Cluster, HashInput, HealthEvent, Locality, NoHost, Options, Outcome, Pick, PickContext, Update,
    Worker, hash_request,
};

fn use_everything(worker: &mut Worker) {
    let context = PickContext { retries: 3, ..PickContext::default() };
    let mut picks = [Pick::default(); 16];
    let count = worker.pick_batch(&context, &mut picks).unwrap();
    for pick in &picks[..count] {
        worker.done(*pick, Outcome::Success).unwrap();
    }
    for _ in 0..4 {
        let _ = worker.peek();
    }
    let mut refusals = 0;
    let pick = worker.pick_filtered(&context, |_, host| {
        refusals += usize::from(host.priority() == 0);
        refusals > 2
    });
    worker.done(pick.unwrap(), Outcome::Error).unwrap();
    for addresses in [["/gone", "10.0.1.1:80"], ["/gone", "10.9.9.9:80"]] {
        let pick = worker.pick_override(&context, addresses, false).unwrap();
        worker.done(pick, Outcome::Success).unwrap();
        assert_eq!(worker.pick_override(&context, ["/gone"], true), Err(NoHost::OverrideNotFound));
    }
    assert!(worker.done(picks[0], Outcome::Success).is_err());
    worker.quiesce();
    worker.refresh();
}

#[test]
fn the_counter_counts() {
    assert_ne!(allocations(|| drop(std::hint::black_box(vec![1]))), 0);
}

#[test]
fn picking_allocates_nothing_before_and_after_a_publish() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let hosts = assignment(vec![plain(0, 1, 6), plain(0, 2, 3), plain(1, 1, 4)]);
            let cluster = open(config(behavior, policy), &hosts);
            let mut worker = cluster.worker().unwrap();
            for event in [HealthEvent::Eject, HealthEvent::Uneject] {
                assert_eq!(
                    allocations(|| use_everything(&mut worker)),
                    0,
                    "{behavior:?} {policy:?}"
                );
                let update = Update::new().health("10.0.1.1:80", event);
                assert!(cluster.apply(&update).unwrap().published);
            }
            let more = assignment(vec![plain(0, 1, 6), plain(5, 1, 400)]);
            cluster.assign(&more).unwrap();
            assert_eq!(allocations(|| use_everything(&mut worker)), 0, "{behavior:?} {policy:?}");
        }
    }
}

#[test]
fn routing_by_locality_allocates_nothing_either() {
    for behavior in BEHAVIORS {
        for policy in &POLICIES {
            let hosts = assignment(vec![plain(0, 1, 6), plain(0, 2, 3), plain(1, 1, 4)]);
            let proxies = open(config(behavior, policy), &hosts);
            for locality_routing in [
                LocalityRouting::ZoneAware(ZoneAware { min_cluster_size: 1, ..Default::default() }),
                LocalityRouting::LoadAware(LoadAware::default()),
            ] {
                if goes_by_hash(policy) && matches!(locality_routing, LocalityRouting::ZoneAware(_))
                {
                    continue; // is refused
                }
                let config = ClusterConfig { locality_routing, ..config(behavior, policy) };
                let options = Options {
                    node_locality: Some(Locality::new("", "z1", "")),
                    local_cluster: Some(proxies.as_local_cluster()),
                    ..Options::default()
                };
                let cluster = Cluster::open(config, &hosts, options).unwrap();
                let mut worker = cluster.worker().unwrap();
                let pick = || {
                    let pick = worker.pick(&PickContext::default()).unwrap();
                    worker.done(pick, Outcome::Success).unwrap();
                };
                assert_eq!(allocations(pick), 0, "{behavior:?} {policy:?}");
            }
        }
    }
}

/// Picks by hash in all ways, so many at once that a bound of 100 percent redirects some of them.
fn pick_by_hash(worker: &mut Worker, held: &mut Vec<Pick>) {
    for hash in 0..64 {
        let context = PickContext { hash: Some(hash % 3), retries: 3, ..PickContext::default() };
        held.push(worker.pick(&context).unwrap());
        held.push(worker.pick(&PickContext { attempt: 5, ..context }).unwrap());
        held.push(worker.pick_filtered(&context, |pick, _| pick.slot.is_multiple_of(3)).unwrap());
        held.push(worker.pick_override(&context, ["10.0.1.2:80"], false).unwrap());
    }
    held.drain(..).for_each(|pick| worker.done(pick, Outcome::Success).unwrap());
}

#[test]
fn picking_by_hash_allocates_nothing_with_a_bound_or_without() {
    let hashing = |factor| ConsistentHashing { hash_balance_factor: factor, ..Default::default() };
    for (behavior, factor) in BEHAVIORS.into_iter().flat_map(|it| [(it, None), (it, Some(100))]) {
        for policy in [
            Policy::RingHash(RingHash {
                consistent_hashing: hashing(factor),
                ..Default::default()
            }),
            Policy::Maglev(Maglev { consistent_hashing: hashing(factor), ..Default::default() }),
        ] {
            let hosts = assignment(vec![plain(0, 1, 60), plain(0, 2, 3), plain(1, 1, 4)]);
            let cluster = open(config(behavior, &policy), &hosts);
            let mut worker = cluster.worker().unwrap();
            let mut held = Vec::with_capacity(1000);
            // Envoy's walk notes its order where there is room for all hosts: it is taken by the
            // first pick that sees more of them than any before.
            let takes_room = behavior == Behavior::Envoy && factor.is_some();
            for (more, grows) in [(60, false), (30, false), (61, false), (900, true), (899, false)]
            {
                cluster.assign(&assignment(vec![plain(0, 1, more), plain(1, 1, 4)])).unwrap();
                let first = allocations(|| worker.refresh());
                assert_eq!(first > 0, grows && takes_room, "{behavior:?} {policy:?}, {more} hosts");
                let picks = allocations(|| pick_by_hash(&mut worker, &mut held));
                assert_eq!(picks, 0, "{behavior:?} {policy:?}, {more} hosts");
            }
            let redirects = cluster.stats().unwrap().get("plimsoll.bounded_load_redirects");
            let counts = behavior == Behavior::Native && factor.is_some();
            assert_eq!(redirects > 0, counts, "{behavior:?} {policy:?}");
        }
    }
}

/// One exception: Envoy's schedulers, which a worker makes for itself after an update.
#[test]
fn envoys_schedulers_are_made_once_and_then_allocate_nothing() {
    let heavy = |host: u32| Endpoint {
        load_balancing_weight: host + 1,
        ..Endpoint::new(format!("10.0.0.{host}:80"))
    };
    let hosts = assignment(vec![group(0, "z", (0..40).map(heavy).collect())]);
    let cluster = open(config(Behavior::Envoy, &Policy::ROUND_ROBIN), &hosts);
    let mut worker = cluster.worker().unwrap();
    let context = PickContext::default();
    for event in [HealthEvent::Eject, HealthEvent::Uneject] {
        let mut pick = || assert!(worker.pick(&context).is_ok());
        assert_ne!(allocations(&mut pick), 0, "the scheduler");
        assert_eq!(allocations(|| (0..1000).for_each(|_| pick())), 0);
        cluster.apply(&Update::new().health("10.0.0.1:80", event)).unwrap();
    }
}

/// A request with so many values in each header.
struct Request(usize);

impl HashInput for Request {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        let value = if name == "cookie" { "a=b; session=\"foo\"" } else { "foo" };
        (0..self.0).for_each(|_| each(value.as_bytes()));
    }

    fn path(&self) -> Option<&[u8]> {
        Some(b"/?a=b&user=foo")
    }

    fn source_ip(&self) -> Option<&str> {
        Some("10.0.0.1")
    }
}

#[test]
fn hashing_a_request_allocates_nothing_unless_it_is_out_of_the_ordinary() {
    let header = |name: &str| HashPolicyKind::Header { header_name: name.to_owned() };
    let cookie = HashPolicyKind::Cookie {
        name: "session".to_owned(),
        ttl: Some(std::time::Duration::from_secs(1)),
        path: String::new(),
        attributes: Vec::new(),
    };
    let parameter = HashPolicyKind::QueryParameter { name: "user".to_owned() };
    let policies = [header("x-user"), cookie, HashPolicyKind::SourceIp, parameter];
    let policies = policies.map(HashPolicy::from);
    for (values, policies, expected) in [
        (1, &policies[..], 0),
        (8, &policies, 0),
        // Memory is taken and returned.
        (9, &policies, 2),
        // Without addresses no cookie is made.
        (0, &policies, 0),
        (1, &[header("X-User").into()], 2),
    ] {
        let count = allocations(|| {
            std::hint::black_box(hash_request(policies, &Request(values)));
        });
        assert_eq!(count, expected, "{values} {policies:?}");
    }
}
