//! Levels against adding up shares.

use super::*;
use crate::rng::splitmix64;
use std::collections::BTreeMap;

fn chunk(slots: std::ops::Range<u32>, weight: impl Fn(u32) -> u32, walk: Walk) -> Arc<Chunk> {
    let hosts: Vec<HostId> = slots.clone().map(|slot| HostId { slot, generation: 0 }).collect();
    Arc::new(Chunk::new(&hosts, slots.map(weight).collect(), walk))
}

/// Two priorities at 3 : 1, the first over two localities, the second panicking.
fn tables(policy: Policy) -> Tables {
    let walk = walk(policy);
    let chunks = [
        Chunks {
            healthy: vec![chunk(0..5, |slot| slot + 1, walk), chunk(5..7, |_| 3, walk)],
            degraded: vec![chunk(7..8, |_| 50, walk)],
            failed: vec![],
        },
        Chunks {
            healthy: vec![chunk(8..9, |_| 1, walk)],
            degraded: vec![],
            failed: vec![chunk(9..12, |slot| slot, walk)],
        },
    ];
    let loads = Loads {
        healthy: vec![SCALE / 2, SCALE / 4],
        degraded: vec![SCALE / 4, 0],
        panic: vec![false, true],
        healthy_hosts: 8,
    };
    Tables::new(false, &loads, &chunks)
}

fn shares(tables: &Tables) -> BTreeMap<u32, f64> {
    let mut shares = BTreeMap::new();
    tables.shares(|slot, share| *shares.entry(slot).or_insert(0.0) += share);
    shares
}

#[test]
fn shares_are_load_times_weight() {
    let shares = shares(&tables(Policy::Random));
    let expected = |slot: u32| match slot {
        0..5 => 0.5 * f64::from(slot + 1) / 21.0,
        5..7 => 0.5 * 3.0 / 21.0,
        7 => 0.25,
        8 => 0.25 / 31.0,
        _ => 0.25 * f64::from(slot) / 31.0,
    };
    for (slot, share) in shares {
        assert!((share - expected(slot)).abs() < 1e-9, "slot {slot}: {share}");
    }
}

#[test]
fn both_policies_pick_by_their_shares() {
    for (policy, bound) in [(Policy::Random, 6.0), (Policy::RoundRobin, 0.0)] {
        let tables = tables(policy);
        let mut state = State::new(1, 0, 0);
        let mut counts = BTreeMap::new();
        let picks = 100_000;
        for number in 0..picks {
            state.draws.queue(&[splitmix64(number)]);
            let candidate = match policy {
                Policy::Random => tables.random(&mut state, &mut (), |chosen, _| chosen),
                Policy::RoundRobin => tables.round_robin(&mut state, &mut (), |chosen, _| chosen),
            };
            let candidate = candidate.unwrap();
            *counts.entry(candidate.host.slot).or_insert(0.0) += 1.0;
        }
        for (slot, share) in shares(&tables) {
            let (count, expected) = (counts.get(&slot).copied().unwrap_or(0.0), share * 100_000.0);
            // A cursor is within six picks; random within six standard deviations.
            let allowed = 6.0 + bound * expected.sqrt();
            let off: f64 = count - expected;
            assert!(off.abs() <= allowed, "{policy:?} slot {slot}: {count}, expected {expected}");
        }
    }
}

#[test]
fn the_rest_of_a_level_covers_the_whole_interval() {
    for level in tables(Policy::RoundRobin).levels.items() {
        assert_eq!(level.rest(level.start), 0);
        assert!(level.rest(level.last) >= u64::MAX - (1 << 20));
        let middle = level.rest(level.start + (level.last - level.start) / 2);
        assert!(middle.abs_diff(1 << 63) < 1 << 20, "{middle:x}");
    }
}

#[test]
fn one_level_of_everything_passes_numbers_on() {
    let loads =
        Loads { healthy: vec![SCALE], degraded: vec![0], panic: vec![false], healthy_hosts: 1 };
    let chunks = [Chunks { healthy: vec![chunk(0..9, |_| 1, Walk::Cursor)], ..Chunks::default() }];
    let tables = Tables::new(false, &loads, &chunks);
    for x in [0, 1, 1 << 63, u64::MAX] {
        assert_eq!(tables.levels.items()[0].rest(x), x);
    }
}

#[test]
fn a_failing_panic_gives_no_host() {
    let loads =
        Loads { healthy: vec![SCALE], degraded: vec![0], panic: vec![true], healthy_hosts: 1 };
    let chunks = [Chunks { healthy: vec![chunk(0..1, |_| 1, Walk::Random)], ..Chunks::default() }];
    let tables = Tables::new(true, &loads, &chunks);
    let mut state = State::new(0, 0, 0);
    let pick = tables.random(&mut state, &mut (), |chosen, _| chosen);
    assert_eq!(pick, Err(NoHost::Panic));
    assert_eq!(state.shared.counter(Counter::HealthyPanic), 1);
}
