//! Rings against Envoy's tests, against rings that Envoy logged, and against naive ones.

#![allow(clippy::cast_possible_truncation)]

mod envoy;
mod native;

use super::*;
use crate::hashing::{Group, hash, normalized};

/// `127.0.0.1` with each of these ports.
fn addresses(ports: impl IntoIterator<Item = u32>) -> Vec<String> {
    ports.into_iter().map(|port| format!("127.0.0.1:{port}")).collect()
}

/// The keys as a ring takes them.
fn borrowed(keys: &[String]) -> Vec<&str> {
    keys.iter().map(String::as_str).collect()
}

/// A ring, and its points made and ordered one by one.
fn naive(keys: &[&str], counts: &[u32], function: HashFunction) -> Vec<(u64, u32)> {
    let mut points = Vec::new();
    for (member, (key, &count)) in keys.iter().zip(counts).enumerate() {
        for point in 0..count {
            let hash = hash(function, format!("{key}_{point}").as_bytes());
            points.push((hash, *key, member as u32));
        }
    }
    points.sort();
    points.into_iter().map(|(hash, _, member)| (hash, member)).collect()
}

/// The member of the first point from `hash` on, by looking at all of them.
fn naive_member(points: &[(u64, u32)], hash: u64) -> u32 {
    points.iter().find(|point| point.0 >= hash).unwrap_or(&points[0]).1
}
