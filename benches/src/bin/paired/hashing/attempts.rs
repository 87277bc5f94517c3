//! Attempts at other hosts, and hashes of requests.

use std::hint::black_box;

use plimsoll::config::HashPolicy;
use plimsoll::hash_request;
use plimsoll_benches::hashed::request::{self, Request};
use plimsoll_benches::hashed::{MaglevTable, RingTable, hash};
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::table;

use super::lookups::{equal, numbered};

const POINTS: u32 = 65_536;

pub(super) fn run() {
    let hosts = equal(100);
    let (maglev, ring) = (MaglevTable::native(&hosts), RingTable::native(&hosts, POINTS));
    let mut contenders = Vec::new();
    for attempt in [0, 1, 2, 5] {
        let finders: [(&str, Finder<'_>); 4] = [
            ("native maglev", Box::new(|hash, attempt| maglev.distinct(hash, attempt))),
            ("envoy maglev", Box::new(|hash, attempt| maglev.attempt(hash, attempt))),
            ("native ring", Box::new(|hash, attempt| ring.distinct(hash, attempt))),
            ("envoy ring", Box::new(|hash, attempt| ring.attempt(hash, attempt))),
        ];
        for (who, find) in finders {
            contenders.push(finding(format!("{who}, attempt {attempt}"), attempt, find));
        }
    }
    let title = "attempts, 100 hosts, Maglev of 65 537 slots and ring of 65 536 points";
    table::print_rows(title, &compare(contenders, Plan::default()));
    requests();
}

/// The host of a hash at an attempt.
type Finder<'a> = Box<dyn Fn(u64, u32) -> u32 + 'a>;

fn finding<'a>(name: String, attempt: u32, find: Finder<'a>) -> Contender<'a> {
    numbered(name, move |first, count| {
        (first..first + count).map(|number| u64::from(find(hash(number), black_box(attempt)))).sum()
    })
}

fn requests() {
    let hashing = |name: &str, policy: HashPolicy| {
        let policies = [policy];
        assert!(hash_request(&policies, &Request).hash.is_some(), "{name}");
        Contender::looping(name, move |count| {
            let hash = |_| hash_request(black_box(&policies), &Request).hash.unwrap_or(0) >> 40;
            (0..count).map(hash).sum()
        })
    };
    let contenders = vec![
        hashing("hash_request, a header of 16 bytes", request::by_header()),
        hashing("hash_request, a cookie of 16 bytes, the third of three", request::by_cookie()),
    ];
    table::print_rows("hash of a request", &compare(contenders, Plan::default()));
}
