//! Levels against adding up shares.

use super::flat::FLAT_HOSTS;
use super::*;
use crate::policy::{Method, NoHost};
use crate::priority::native::SCALE;
use crate::rng::splitmix64;
use crate::schedule::Walk;
use crate::sync::Arc;
use std::collections::BTreeMap;

fn chunk(slots: std::ops::Range<u32>, weight: impl Fn(u32) -> u32, walk: Walk) -> Arc<Chunk> {
    let hosts: Vec<HostId> = slots.clone().map(|slot| HostId { slot, generation: 0 }).collect();
    let weights = Weights::Whole(slots.map(weight).collect());
    Arc::new(Chunk::new(&hosts, weights, Layout::Schedule(walk)))
}

fn loads(healthy: [u64; 2], degraded: [u64; 2], panic: [bool; 2]) -> Loads {
    Loads {
        healthy: healthy.into(),
        degraded: degraded.into(),
        panic: panic.into(),
        healthy_hosts: 8,
    }
}

fn of_localities<const N: usize>(localities: [[Option<Arc<Chunk>>; 3]; N]) -> Chunks {
    Chunks { localities: localities.into(), ..Chunks::default() }
}

/// Chunks of healthy hosts in one locality.
fn healthy(chunk: Arc<Chunk>) -> Chunks {
    of_localities([[Some(chunk), None, None]])
}

/// Two priorities at 3 : 1, the first over two localities; the second may panic.
fn tables<F: Flattened>(walk: Walk, panic: bool) -> Tables<F> {
    let chunks = [
        of_localities([
            [Some(chunk(0..5, |slot| slot + 1, walk)), Some(chunk(7..8, |_| 50, walk)), None],
            [Some(chunk(5..7, |_| 3, walk)), None, None],
        ]),
        of_localities([[
            Some(chunk(8..9, |_| 1, walk)),
            None,
            Some(chunk(9..12, |slot| slot, walk)),
        ]]),
    ];
    let loads = loads([SCALE / 2, SCALE / 4], [SCALE / 4, 0], [false, panic]);
    Tables::new(false, &loads, &chunks)
}

/// The two kinds of picks as one function.
type Pick<'a> = Box<dyn FnMut(u64) -> Chosen + 'a>;

fn picks<'a>(method: Method, panic: bool, nested: bool) -> (Pick<'a>, BTreeMap<u32, f64>) {
    let mut state = State::new(1, 0, 0, Arc::default());
    let end = |chosen, _: &mut State| chosen;
    match method {
        Method::Random | Method::Hash => {
            let mut tables: Tables<Drawn> = tables(Walk::Random, panic);
            if nested {
                tables.flat = Drawn::new::<u64>(&[], &[]);
            }
            let shares = shares(&tables);
            let pick = move |number| {
                state.draws.queue(&[splitmix64(number)]);
                tables.random(&mut state, &mut (), end)
            };
            (Box::new(pick), shares)
        }
        Method::RoundRobin => {
            let mut tables: Tables<Walked> = tables(Walk::Cursor, panic);
            if nested {
                tables.flat = Walked::of_shares::<u64>(&[], &[]);
            }
            let shares = shares(&tables);
            (Box::new(move |_| tables.round_robin(&mut state, &mut (), end)), shares)
        }
        Method::LeastRequest(_) => unreachable!("it has tables of its own"),
    }
}

fn shares<F: Flattened>(tables: &Tables<F>) -> BTreeMap<u32, f64> {
    let mut shares = BTreeMap::new();
    tables.shares(|slot, share| *shares.entry(slot).or_insert(0.0) += share);
    shares
}

#[test]
fn shares_are_load_times_weight() {
    let shares = shares(&tables::<Drawn>(Walk::Random, true));
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
fn both_policies_pick_by_their_shares_through_either_table() {
    for (method, panic, nested) in [
        (Method::Random, false, false),
        (Method::Random, false, true),
        (Method::Random, true, false),
        (Method::RoundRobin, false, false),
        (Method::RoundRobin, false, true),
        (Method::RoundRobin, true, false),
    ] {
        let (mut pick, shares) = picks(method, panic, nested);
        let mut counts = BTreeMap::new();
        for number in 0..100_000 {
            *counts.entry(pick(number).unwrap().host.slot).or_insert(0.0) += 1.0;
        }
        for (slot, share) in shares {
            let (count, expected) = (counts.get(&slot).copied().unwrap_or(0.0), share * 100_000.0);
            // A cursor is within six picks; random within six standard deviations.
            let spread: f64 = if method == Method::Random { expected } else { 0.0 };
            let off: f64 = count - expected;
            let case = format!("{method:?}, panic {panic}, nested {nested}, slot {slot}");
            assert!(off.abs() <= 6.0 + 6.0 * spread.sqrt(), "{case}: {count}, not {expected}");
        }
    }
}

#[test]
fn one_table_of_few_hosts_walks_as_the_levels_do() {
    let (mut flat, _) = picks(Method::RoundRobin, false, false);
    let (mut nested, _) = picks(Method::RoundRobin, false, true);
    // Borders are rounded differently, by less than 2^-40 of the interval.
    let differ = (0..1_000_000).filter(|&number| flat(number) != nested(number)).count();
    assert_eq!(differ, 0);
}

#[test]
fn many_hosts_have_no_table_of_their_own() {
    let slots = u32::try_from(FLAT_HOSTS).unwrap() + 1;
    let many = healthy(chunk(0..slots, |slot| slot + 1, Walk::Cursor));
    let loads = loads([SCALE, 0], [0, 0], [false, false]);
    let tables = Tables::<Walked>::new(false, &loads, &[many, Chunks::default()]);
    assert!(tables.flat.items().is_empty());
    let mut state = State::new(0, 0, 0, Arc::default());
    let end = |chosen, _: &mut State| chosen;
    assert!((0..100).all(|_| tables.round_robin(&mut state, &mut (), end).is_ok()));
}

#[test]
fn the_rest_of_a_level_covers_the_whole_interval() {
    for level in tables::<Walked>(Walk::Cursor, true).levels.items() {
        assert_eq!(level.rest(level.start), 0);
        assert!(level.rest(level.last) >= u64::MAX - (1 << 20));
        let middle = level.rest(level.start + (level.last - level.start) / 2);
        assert!(middle.abs_diff(1 << 63) < 1 << 20, "{middle:x}");
    }
}

#[test]
fn one_level_of_everything_passes_numbers_on() {
    let one = healthy(chunk(0..9, |_| 1, Walk::Cursor));
    let loads = loads([SCALE, 0], [0, 0], [false, false]);
    let tables = Tables::<Walked>::new(false, &loads, &[one, Chunks::default()]);
    for x in [0, 1, 1 << 63, u64::MAX] {
        assert_eq!(tables.levels.items()[0].rest(x), x);
    }
}

#[test]
fn a_failing_panic_gives_no_host() {
    let one = healthy(chunk(0..1, |_| 1, Walk::Random));
    let loads = loads([SCALE, 0], [0, 0], [true, false]);
    let tables = Tables::<Drawn>::new(true, &loads, &[one, Chunks::default()]);
    let mut state = State::new(0, 0, 0, Arc::default());
    let pick = tables.random(&mut state, &mut (), |chosen, _| chosen);
    assert_eq!(pick, Err(NoHost::Panic));
    assert_eq!(state.shared.counter(Counter::HealthyPanic), 1);
}

#[test]
fn localities_get_their_shares_whatever_their_hosts_weigh() {
    for panic in [false, true] {
        let mut chunks = of_localities([
            [Some(chunk(0..2, |_| 1, Walk::Cursor)), None, None],
            [None, Some(chunk(2..3, |_| 9, Walk::Cursor)), None],
            [
                Some(chunk(3..6, |slot| slot, Walk::Cursor)),
                None,
                Some(chunk(6..7, |_| 12, Walk::Cursor)),
            ],
        ]);
        // The second has no healthy hosts, so that its share goes to the others.
        let shares: Arc<[u64]> = [3, 4, 1].into();
        chunks.shares = [Some(Arc::clone(&shares)), None, Some(shares)];
        let loads = loads([SCALE, 0], [0, 0], [panic, false]);
        let tables = Tables::<Walked>::new(false, &loads, &[chunks, Chunks::default()]);
        let shares = self::shares(&tables);
        let expected: &[f64] = if panic {
            &[3.0 / 16.0, 3.0 / 16.0, 0.5, 3.0 / 192.0, 4.0 / 192.0, 5.0 / 192.0, 0.0625]
        } else {
            &[0.375, 0.375, 0.0, 3.0 / 48.0, 4.0 / 48.0, 5.0 / 48.0, 0.0]
        };
        for (slot, &expected) in (0..).zip(expected) {
            let share = shares.get(&slot).copied().unwrap_or(0.0);
            assert!((share - expected).abs() < 1e-6, "slot {slot}: {share}, not {expected}");
        }
    }
}
