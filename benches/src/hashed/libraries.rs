//! Tables of published crates. Each hashes what it is given, which here is the request's hash: its
//! times include that. Only `pingora-ketama` knows weights.

use std::net::{IpAddr, SocketAddr};

use ::conhash::{ConsistentHash, Node};
use ::hashring::HashRing;
use ::maglev::{ConsistentHasher, Maglev};
use pingora_ketama::{Bucket, Continuum};

use super::{Hosts, SLOTS, Table};

impl Table for Maglev<u32> {
    #[inline]
    fn find(&self, hash: u64) -> u32 {
        self.get(&hash).copied().expect("a host")
    }
}

/// One point of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Point {
    host: u32,
    number: u32,
}

impl Table for HashRing<Point> {
    #[inline]
    fn find(&self, hash: u64) -> u32 {
        self.get(&hash).expect("a host").host
    }
}

/// A host under a name.
#[derive(Debug, Clone, Copy)]
struct Named(u32);

impl Node for Named {
    fn name(&self) -> String {
        self.0.to_string()
    }
}

struct Conhash(ConsistentHash<Named>);

impl Table for Conhash {
    #[inline]
    fn find(&self, hash: u64) -> u32 {
        self.0.get(&hash.to_ne_bytes()).expect("a host").0
    }
}

/// nginx's points: 160 for each unit of weight.
struct Ketama(Continuum);

impl Table for Ketama {
    #[inline]
    fn find(&self, hash: u64) -> u32 {
        match self.0.node(&hash.to_ne_bytes()).expect("a host").ip() {
            IpAddr::V4(address) => address.to_bits(),
            IpAddr::V6(_) => unreachable!("all addresses are of version 4"),
        }
    }
}

pub(super) fn maglev(hosts: &Hosts, _: u32) -> Box<dyn Table> {
    Box::new(Maglev::with_capacity(0..count(hosts), SLOTS as usize))
}

pub(super) fn hashring(hosts: &Hosts, points: u32) -> Box<dyn Table> {
    let mut ring = HashRing::new();
    let each = 0..points / count(hosts);
    let points = |host| each.clone().map(move |number| Point { host, number });
    ring.batch_add((0..count(hosts)).flat_map(points).collect());
    Box::new(ring)
}

pub(super) fn conhash(hosts: &Hosts, points: u32) -> Box<dyn Table> {
    let mut ring = ConsistentHash::new();
    (0..count(hosts)).for_each(|host| ring.add(&Named(host), (points / count(hosts)) as usize));
    Box::new(Conhash(ring))
}

/// With few points it has fewer hosts than others, as none can have less than 160.
pub(super) fn pingora(hosts: &Hosts, points: u32) -> Box<dyn Table> {
    const POINTS: u32 = pingora_ketama::DEFAULT_POINT_MULTIPLE;
    let count = count(hosts).min(points / POINTS).max(1);
    let weight = (points / POINTS / count).max(1);
    let bucket = |key: &String| {
        Bucket::new(key.parse::<SocketAddr>().expect("an address of version 4"), weight)
    };
    let buckets: Vec<Bucket> = hosts.keys.iter().take(count as usize).map(bucket).collect();
    Box::new(Ketama(Continuum::new(&buckets)))
}

fn count(hosts: &Hosts) -> u32 {
    u32::try_from(hosts.keys.len()).unwrap_or(u32::MAX)
}
