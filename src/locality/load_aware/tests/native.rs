//! The points in which native is to be better than Envoy, one by one, and what holds always.

use std::time::Duration;

use proptest::prelude::*;

use super::super::Zone;
use super::super::native::{Controller, Mode, Settings, Split};
use super::{Place, read, zones};
use crate::config::LoadAware;
use crate::host::Locality;
use crate::locality::WHOLE;
use crate::sync::Arc;

const SECOND: u64 = 1_000_000_000;

fn settings(change: impl FnOnce(&mut LoadAware)) -> Settings {
    let mut config = LoadAware::default();
    change(&mut config);
    Settings::new(&config)
}

fn defaults() -> Settings {
    settings(|_| ())
}

/// Parts of 1, which sum to it exactly.
#[track_caller]
fn shares(split: &Split) -> Vec<f64> {
    assert_eq!(split.shares.iter().sum::<u64>(), WHOLE, "{split:?}");
    split.shares.iter().map(|&share| share as f64 / WHOLE as f64).collect()
}

#[track_caller]
fn assert_near(actual: &[f64], expected: &[f64], tolerance: f64) {
    let is_near = |(actual, expected): (&f64, &f64)| (actual - expected).abs() <= tolerance;
    let all = actual.len() == expected.len() && actual.iter().zip(expected).all(is_near);
    assert!(all, "{actual:?}, not {expected:?}");
}

/// So many ticks, a second apart, that find the same; what the last one says.
fn ticks(
    controller: &mut Controller,
    count: usize,
    places: &[Place],
    has_local: bool,
    settings: &Settings,
) -> Split {
    let mut split = Split::default();
    for _ in 0..count {
        split = controller.tick(&zones(places), has_local, SECOND, settings);
    }
    split
}

/// A new controller, after so many ticks.
fn after(count: usize, text: &str, has_local: bool) -> (Controller, Split) {
    let mut controller = Controller::default();
    let split = ticks(&mut controller, count, &read(text), has_local, &defaults());
    (controller, split)
}

#[test]
fn without_reports_each_locality_is_taken_to_have_the_same_traffic_of_its_own() {
    let (mut controller, split) = after(1, "a:2 b:2 c:2", true);
    assert_near(&shares(&split), &[0.97, 0.015, 0.015], 1e-9);
    assert_eq!(split.mode, Mode::Local);
    assert!(split.flags.local_preferred && split.flags.probe_active && !split.flags.all_local);
    // Nothing says what would be better, so nothing moves.
    let places = read("a:2 b:2 c:2");
    assert_eq!(ticks(&mut controller, 500, &places, true, &defaults()), split);
    // One host of nine has room for a third of what comes to a third of the localities.
    let (_, split) = after(1, "a:1 b:4 c:4", true);
    assert_near(&shares(&split), &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0], 1e-9);
    assert_eq!(split.mode, Mode::Spill);
    // Without a local locality, traffic goes by capacity.
    let (_, split) = after(1, "a:1 b:4 c:3", false);
    assert_near(&shares(&split), &[0.125, 0.5, 0.375], 1e-9);
    assert_eq!(split.mode, Mode::Spread);
}

#[test]
fn an_unknown_locality_is_as_busy_as_the_known_ones() {
    let (mut controller, _) = after(5, "a:2=.5 b:2=.5", false);
    let split = controller.tick(&zones(&read("a:2=.5 b:2=.5 c:2")), false, SECOND, &defaults());
    assert_near(&shares(&split), &[1.0 / 3.0; 3], 0.02);
    assert!((split.zones[2].utilization - 0.5).abs() < 1e-9 && split.zones[2].confidence <= 0.0);
    // A local one that is overloaded tries it all the same.
    let (_, split) = after(60, "a:2=1 b:2", true);
    assert!(split.mode == Mode::Spill && shares(&split)[1] > 0.1, "{split:?}");
}

#[test]
fn the_first_report_of_a_new_locality_starts_no_rush() {
    // Its hosts average over a window that has just begun, and so report next to nothing.
    let (mut controller, _) = after(60, "a:2=.5 b:2=.5 c:2=.5", false);
    let split =
        ticks(&mut controller, 1, &read("a:2=.5 b:2=.5 c:2=.5 d:2=.02"), false, &defaults());
    assert!(shares(&split)[3] < 0.27, "a fourth is its part: {split:?}");
    // If it goes on like this, it gets more.
    let split =
        ticks(&mut controller, 60, &read("a:2=.5 b:2=.5 c:2=.5 d:2=.02"), false, &defaults());
    assert!(shares(&split)[3] > 0.4, "{split:?}");
}

#[test]
fn silence_is_no_reward() {
    let (mut controller, split) = after(60, "a:2=.9 b:2=.2", false);
    let before = shares(&split)[0];
    assert!(before < 0.15, "{split:?}");
    let silent = read("a:2 b:2=.2");
    let split = ticks(&mut controller, 1, &silent, false, &defaults());
    assert!((shares(&split)[0] - before).abs() < 0.03 && split.stale == 1, "{split:?}");
    let split = ticks(&mut controller, 179, &silent, false, &defaults());
    assert!((split.zones[0].confidence - (-1.0_f64).exp()).abs() < 1e-6, "{split:?}");
    let mut last = shares(&split)[0];
    for _ in 0..100 {
        let split = ticks(&mut controller, 20, &silent, false, &defaults());
        let share = shares(&split)[0];
        assert!(share >= last - 1e-6 && share < 0.52, "{share} after {last}");
        last = share;
    }
    assert!(last > 0.49, "in the end it is like the others: {last}");
}

#[test]
fn a_silent_local_locality_keeps_its_share() {
    let (mut controller, before) = after(20, "a:2=.9 b:2=.2", true);
    let after = ticks(&mut controller, 1000, &read("a:2 b:2=.2"), true, &defaults());
    assert_near(&shares(&after), &shares(&before), 0.02);
}

#[test]
fn membership_and_health_count_at_once_and_twice_is_once() {
    let (controller, split) = after(30, "a:2=.5 b:2=.4 c:2=.4", true);
    assert_eq!(split.mode, Mode::Local);
    let settings = defaults();
    let split = |text: &str, has_local: bool| {
        let places = read(text);
        let once = controller.split(&zones(&places), has_local, &settings);
        assert_eq!(controller.split(&zones(&places), has_local, &settings), once);
        shares(&once)
    };
    assert_near(&split("a:0/2 b:2=.4 c:2=.4", true), &[0.0, 0.5, 0.5], 0.01);
    assert_near(&split("b:2=.4 c:2=.4", false), &[0.5, 0.5], 0.01);
    assert_eq!(split("a:2=.5 b:2=.4 c:0/2", true)[2].to_bits(), 0.0_f64.to_bits());
    // A new zone is like the others, and half a local zone keeps what half a zone can take.
    assert_near(&split("b:2=.4 c:2=.4 d:2", false), &[1.0 / 3.0; 3], 0.02);
    let half = split("a:1/2=.5 b:2=.4 c:2=.4", true)[0];
    assert!((0.4..0.7).contains(&half), "{half}");
    // Nothing is shared as long as there is room.
    let (controller, _) = after(30, "a:2=.2 b:2=.4 c:2=.4", true);
    let zones_then = read("a:1/2=.2 b:2=.4 c:2=.4");
    let split = controller.split(&zones(&zones_then), true, &defaults());
    assert!(shares(&split)[0] > 0.97, "{split:?}");
}

#[test]
fn ticks_go_by_the_time_that_passed() {
    let run = |count: u64, elapsed_ns: u64| {
        let (mut controller, _) = after(1, "a:2=.5 b:2=.5", true);
        let busy = read("a:2=.9 b:2=.3");
        let mut split = Split::default();
        for _ in 0..count {
            split = controller.tick(&zones(&busy), true, elapsed_ns, &defaults());
        }
        (split.zones[0].utilization, shares(&split)[0])
    };
    let ((used, share), (used_often, share_often)) = (run(10, SECOND), run(100, SECOND / 10));
    assert!((used - used_often).abs() < 1e-9 && (share - share_often).abs() < 0.03);
    // Ticks without time between them do nothing; after an hour only the present counts, and no
    // more than half of the traffic moves.
    let (used, share) = run(1000, 0);
    assert!((used - 0.5).abs() < 1e-9 && share > 0.97, "{used} {share}");
    let (used, share) = run(1, 3600 * SECOND);
    assert!((used - 0.9).abs() < 1e-9 && (0.48..0.97).contains(&share), "{used} {share}");
}

#[test]
fn overload_keeps_its_magnitude_up_to_four() {
    let (_, split) = after(60, "a:2=1.5 b:2=.99", true);
    assert_eq!(split.mode, Mode::Spill);
    assert!(split.flags.spill_active && shares(&split)[0] < 0.5, "{split:?}");
    let (_, four) = after(9, "a:2=4 b:2=.5", true);
    assert_eq!(after(9, "a:2=9999 b:2=.5", true).1, four);
}

#[test]
fn saturation_is_reached_and_has_no_cliff() {
    let (mut controller, _) = after(5, "a:4=.5 b:2=.5", true);
    let full = read("a:4=1 b:2=1");
    let split = ticks(&mut controller, 40, &full, true, &defaults());
    assert!(split.flags.all_overloaded, "{split:?}");
    let split = ticks(&mut controller, 200, &full, true, &defaults());
    assert_near(&shares(&split), &[2.0 / 3.0, 1.0 / 3.0], 0.01);
    // From tick to tick little changes, wherever the utilization of all is.
    let mut controller = Controller::default();
    let mut last = 0.97;
    for step in 0..200 {
        let used = 0.9 + f64::from(step) * 1e-3;
        let places = read(&format!("a:2={used} b:2={used}"));
        let share = shares(&controller.tick(&zones(&places), true, SECOND, &defaults()))[0];
        assert!((share - last).abs() < 0.04, "{used}: from {last} to {share}");
        last = share;
    }
}

#[test]
fn capacity_is_the_weight_of_hosts() {
    let mut places = read("a:2=.5 b:2=.5");
    let heavy = |places: &[Place]| {
        let mut zones = zones(places).into_iter().map(|zone| Zone { weight: 2.0, ..zone });
        let (a, b) = (zones.next().unwrap(), zones.next().unwrap());
        let zones = [Zone { weight: 6.0, ..a }, b].to_vec();
        shares(&Controller::default().tick(&zones, false, SECOND, &defaults()))
    };
    assert_near(&heavy(&places), &[0.75, 0.25], 1e-9);
    places.reverse();
    assert_near(&heavy(&places), &[0.75, 0.25], 1e-9);
}

#[test]
fn probes_go_where_samples_are_old() {
    let mut places = read("a:2=.1 b:2=.3 c:2=.3 d:2");
    let mut probes = |b: u64, c: u64, settings: &Settings| {
        (places[1].age_ns, places[2].age_ns) = (b * SECOND, c * SECOND);
        let split = Controller::default().tick(&zones(&places), true, SECOND, settings);
        shares(&split)[1..].to_vec()
    };
    let settings = defaults();
    assert_near(&probes(5, 99, &settings), &[0.01, 0.01, 0.01], 1e-9);
    assert_near(&probes(0, 0, &settings), &[0.0, 0.0, 0.03], 0.001);
    let sum = probes(1, 5, &settings).iter().sum::<f64>();
    assert!(sum < 0.03, "{sum}");
    // Streams keep samples fresh without probes.
    let settings = self::settings(|config| {
        config.enable_oob_load_report = true;
        config.oob_reporting_period = Duration::ZERO;
    });
    assert_near(&probes(15, 5, &settings), &[0.0, 0.0, 0.03], 1e-6);
    assert_near(&probes(30, 30, &settings), &[0.01, 0.01, 0.01], 1e-9);
}

#[test]
fn without_probes_everything_may_stay() {
    let settings = settings(|config| config.remote_probe_fraction = 0.0);
    let mut controller = Controller::default();
    let split = ticks(&mut controller, 3, &read("a:2=.5 b:2=.5"), true, &settings);
    assert_eq!(*split.shares, [WHOLE, 0]);
    assert!(split.flags.all_local && !split.flags.probe_active);
}

/// Envoy's scaling matrix, third row: 100 requests a second, 100 remote localities of 10 hosts.
#[test]
fn no_locality_expires_as_long_as_probes_suffice() {
    let mut places: Vec<Place> =
        (0..101).map(|zone| Place::new(&format!("{zone:03}"), 10, 10, vec![0.5; 10])).collect();
    let mut asked = vec![0.0; places.len()];
    let mut ages = vec![vec![0_u64; 10]; places.len()];
    let mut controller = Controller::default();
    for _ in 0..400 {
        for (place, ages) in places.iter_mut().zip(&ages) {
            place.reports = vec![0.5; ages.iter().filter(|&&age| age <= 180).count()];
            assert!(!place.reports.is_empty(), "nobody was asked for {ages:?} s");
            place.age_ns = ages.iter().sum::<u64>() * SECOND / 10;
        }
        let split = controller.tick(&zones(&places), true, SECOND, &defaults());
        for ((asked, ages), share) in asked.iter_mut().zip(&mut ages).zip(shares(&split)) {
            ages.iter_mut().for_each(|age| *age += 1);
            *asked += 100.0 * share;
            while *asked >= 1.0 {
                *asked -= 1.0;
                *ages.iter_mut().max().unwrap() = 0;
            }
        }
    }
}

#[test]
fn localities_are_known_by_name() {
    let (controller, split) = after(60, "a:2=.9 c:2=.5 d:2=.1", false);
    let [a, c, d] = shares(&split)[..] else { panic!("{split:?}") };
    let places = read("d:2=.1 a:2=.9 c:2=.5");
    let split = controller.split(&zones(&places), false, &defaults());
    assert_near(&shares(&split), &[d, a, c], 1e-6);
    // Another local locality starts anew, and the first one goes on where it was.
    let (mut controller, split) = after(60, "a:2=.9 b:2=.2", true);
    let before = shares(&split)[0];
    assert!(before < 0.3, "{split:?}");
    let split = controller.split(&zones(&read("b:2=.2 a:2=.9")), true, &defaults());
    assert!(shares(&split)[0] > 0.9, "{split:?}");
    ticks(&mut controller, 100, &read("b:2=.2"), false, &defaults());
    let split = controller.split(&zones(&read("a:2=.9 b:2=.2")), true, &defaults());
    assert!((shares(&split)[0] - before).abs() < 1e-6, "{split:?}");
}

#[test]
fn what_is_gone_is_forgotten_in_time() {
    let (mut controller, _) = after(5, "a:2=.9 b:2=.1", false);
    let alone = read("b:2=.1");
    ticks(&mut controller, 170, &alone, false, &defaults());
    let both = read("a:2 b:2=.1");
    assert_eq!(controller.split(&zones(&both), false, &defaults()).stale, 1);
    ticks(&mut controller, 20, &alone, false, &defaults());
    assert_eq!(controller.split(&zones(&both), false, &defaults()).stale, 0);
}

/// What a tick may find, however absurd.
#[derive(Debug, Clone)]
struct Found {
    name: u8,
    counts: (u32, u32, u32),
    weight: f64,
    utilizations: f64,
    age_ns: u64,
}

fn found() -> impl Strategy<Value = Found> {
    let number = || prop_oneof![0.0..10.0_f64, 0.0..1e300_f64, any::<f64>(), Just(0.0)];
    let count = || prop_oneof![0..4_u32, any::<u32>()];
    let age = prop_oneof![0..200 * SECOND, any::<u64>()];
    (0..6_u8, count(), count(), count(), number(), number(), age).prop_map(
        |(name, hosts, eligible, reporting, weight, utilizations, age_ns)| {
            let eligible = eligible.min(hosts);
            let counts = (hosts, eligible, reporting.min(eligible));
            Found { name, counts, weight, utilizations, age_ns }
        },
    )
}

proptest! {
    #[test]
    fn shares_are_whole_and_go_to_those_that_can_take_them(
        ticks in prop::collection::vec(
            (prop::collection::vec(found(), 0..6), any::<bool>(), any::<u64>(), 0..5_u64),
            1..8,
        ),
        config in (0.0..=1.0_f64, 1..20_000_u64, 0.0..1.0_f64, 0..400_u64, any::<bool>()),
    ) {
        let (threshold, constant_ms, probe, expiration, streams) = config;
        let settings = settings(|config| {
            config.utilization_variance_threshold = threshold;
            config.smoothing_time_constant = Duration::from_millis(constant_ms);
            config.remote_probe_fraction = probe;
            config.weight_expiration_period = Duration::from_secs(expiration);
            config.enable_oob_load_report = streams;
        });
        let mut controller = Controller::default();
        for (mut found, has_local, elapsed, seconds) in ticks {
            let mut seen = std::collections::HashSet::new();
            found.retain(|found| seen.insert(found.name));
            let name = |found: &Found| Arc::new(Locality::new("", found.name.to_string(), ""));
            let names: Vec<_> = found.iter().map(name).collect();
            let zone = |(found, identity)| {
                let &Found { counts: (hosts, eligible, reporting), weight, .. } = found;
                let &Found { utilizations, age_ns, .. } = found;
                Zone { identity, hosts, eligible, weight, reporting, utilizations, age_ns }
            };
            let zones: Vec<Zone<'_>> = found.iter().zip(&names).map(zone).collect();
            let elapsed = if seconds > 0 { seconds * SECOND } else { elapsed };
            let before = controller.split(&zones, has_local, &settings);
            let after = controller.tick(&zones, has_local, elapsed, &settings);
            for split in [before, after] {
                let sum: u64 = split.shares.iter().sum();
                let is_possible = zones.iter().any(|zone| zone.eligible > 0);
                prop_assert_eq!(sum, if is_possible { WHOLE } else { 0 });
                for (zone, &share) in zones.iter().zip(&split.shares) {
                    prop_assert!(zone.eligible > 0 || share == 0);
                    prop_assert!(zone.eligible == 0 || probe < 1e-6 || share > 0, "{:?}", split);
                }
                for figures in &split.zones {
                    prop_assert!((0.0..=16.0).contains(&figures.utilization), "{:?}", split);
                    prop_assert!((0.0..=1.0).contains(&figures.confidence), "{:?}", split);
                }
            }
        }
    }
}
