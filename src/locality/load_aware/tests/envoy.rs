//! Envoy's own tables, what follows from its formulas, and what was measured on 1.40.0.
#![allow(clippy::float_cmp)] // number for number

use proptest::prelude::*;

use super::super::Flags;
use super::super::envoy::{History, Outcome, Settings, pick, prefix_sums};
use super::{Place, naive, read, zones};
use crate::config::LoadAware;

const PLAIN: Settings = Settings { alpha: 1.0, threshold: 0.1, probe: 0.0 };
const LOCAL: bool = true;
const ANYWHERE: bool = false;

/// Ticks in a row: the localities of each, and the weights that come out.
struct Run {
    name: &'static str,
    settings: Settings,
    has_local: bool,
    ticks: &'static [Tick],
}

/// Localities, weights, and those of the words all-local, overloaded, preferred, probe, spill and
/// stale that apply.
type Tick = (&'static str, &'static [f64], &'static str);

fn words(outcome: &Outcome) -> String {
    let Flags { all_local, all_overloaded, local_preferred, probe_active, spill_active } =
        outcome.flags;
    let words = [
        (all_local, "all-local"),
        (all_overloaded, "overloaded"),
        (local_preferred, "preferred"),
        (probe_active, "probe"),
        (spill_active, "spill"),
    ];
    let words = words.iter().filter(|(applies, _)| *applies).map(|&(_, word)| word);
    words.chain((0..outcome.stale).map(|_| "stale")).collect::<Vec<_>>().join(" ")
}

fn check(runs: &[Run]) {
    for Run { name, settings, has_local, ticks } in runs {
        let mut history = History::default();
        for (number, &(text, weights, expected)) in ticks.iter().enumerate() {
            let outcome = history.tick(&zones(&read(text)), *has_local, settings);
            assert_eq!(outcome.weights, weights, "{name}, tick {number}");
            assert_eq!(words(&outcome), expected, "{name}, tick {number}");
        }
    }
}

const fn with(threshold: f64, probe: f64) -> Settings {
    Settings { alpha: 1.0, threshold, probe }
}

const fn one(
    name: &'static str,
    has_local: bool,
    settings: Settings,
    ticks: &'static [Tick],
) -> Run {
    Run { name, settings, has_local, ticks }
}

#[test]
fn the_rows_of_envoys_weight_table() {
    check(&[
        one("ScaleWithEligibleHostCounts", ANYWHERE, PLAIN, &[("a:10=.5 b:2=.5", &[5.0, 1.0], "")]),
        one(
            "AllLocalitiesSaturatedFallBacksToHostCount",
            ANYWHERE,
            PLAIN,
            &[("a:3=1 b:1=1", &[3.0, 1.0], "overloaded")],
        ),
        one(
            "AllSaturatedWithLocalSpreadsByHostCountNotSnap",
            LOCAL,
            PLAIN,
            &[("a:3=1 b:1=1", &[3.0, 1.0], "overloaded")],
        ),
        one(
            "LocalSaturatedSpillsBeyondThreshold",
            LOCAL,
            PLAIN,
            &[("a:1=1 b:1=.3", &[0.0, 0.7], "spill")],
        ),
        one(
            "SaturatedLocalWithinThresholdSnapsLocal",
            LOCAL,
            PLAIN,
            &[("a:1=1 b:1=.95", &[1.0, 0.0], "all-local preferred")],
        ),
        one(
            "ProbeDistributionAcrossRemotes",
            LOCAL,
            with(1.0, 0.06),
            &[("a:1=.5 b:2=.5 c:4=.5", &[0.94, 0.02, 0.04], "preferred probe")],
        ),
        one(
            "ProbeHostCountProportionalUnequalUtils",
            LOCAL,
            with(1.0, 0.06),
            &[("a:1=.5 b:2=.8 c:4=.2", &[0.94, 0.02, 0.04], "preferred probe")],
        ),
        one(
            "ProbeRedistributionClampsLocalAtZero",
            LOCAL,
            with(0.0, 2.0),
            &[("a:1=.3 b:1", &[0.0, 1.7], "probe spill")],
        ),
        one(
            "LocalPreferenceRemoteHostWeightedTarget",
            LOCAL,
            with(0.01, 0.0),
            &[("a:1=.5 b:9=.6 c:1", &[1.0, 0.0, 0.0], "all-local preferred")],
        ),
    ]);
}

#[test]
fn the_weights_of_envoys_other_tests() {
    let slow = Settings { alpha: 0.3, ..PLAIN };
    check(&[
        one(
            "BasicRoutingWeightsTrackNoData",
            ANYWHERE,
            PLAIN,
            &[
                ("a:1 b:1", &[1.0, 1.0], ""),
                ("a:1=.9 b:1=.1", &[0.09999999999999998, 0.9], ""),
                ("a:1=.9 b:1=.9", &[0.09999999999999998, 0.09999999999999998], ""),
            ],
        ),
        one(
            "WeightExpirationIgnoresStaleData",
            ANYWHERE,
            PLAIN,
            &[
                ("a:1=.9 b:1=.1", &[0.09999999999999998, 0.9], ""),
                ("a:1 b:1", &[1.0, 1.0], "stale stale"),
            ],
        ),
        one(
            "StaleRemoteCarriesPriorNotZero",
            LOCAL,
            PLAIN,
            &[
                ("a:1=.5 b:1=.6", &[1.0, 0.0], "all-local preferred"),
                ("a:1=.5 b:1", &[1.0, 0.0], "all-local preferred stale"),
            ],
        ),
        one(
            "StaleLocalityHostCountWeighted",
            ANYWHERE,
            PLAIN,
            &[
                ("a:3=.8 b:2=.5", &[0.5999999999999995, 1.0], ""),
                ("a:3=.8 b:2", &[0.5999999999999995, 2.0], "stale"),
            ],
        ),
        one("HealthyWeights", ANYWHERE, PLAIN, &[("a:1/4 b:2/2", &[1.0, 2.0], "")]),
        one(
            "WeightComputationSkipsEmpty",
            ANYWHERE,
            PLAIN,
            &[("a:1=1 b:0", &[1.0, 0.0], "overloaded"), ("a:1=1 b:0 c:1", &[0.0, 0.0, 1.0], "")],
        ),
        one(
            "EwmaLifecycle",
            ANYWHERE,
            slow,
            &[
                ("a:1=.5 b:1=.5", &[0.5, 0.5], ""),
                ("a:1=1 b:1=.5", &[0.3500000000000001, 0.5], ""),
                ("a:1 b:1", &[1.0, 1.0], "stale stale"),
            ],
        ),
        one(
            "EwmaStateFollowsLocalityIdentityOnSameCountSwap",
            ANYWHERE,
            slow,
            &[
                ("a:1=.5 b:1=.9", &[0.5, 0.09999999999999998], ""),
                ("a:1=.5 c:1", &[0.5, 1.0], ""),
                ("a:1=.5 c:1=.1", &[0.5, 0.9], ""),
            ],
        ),
        one("HealthTransition", ANYWHERE, PLAIN, &[("a:1 b:0/1", &[1.0, 0.0], "")]),
        one(
            "AllOverloadedTotal",
            LOCAL,
            PLAIN,
            &[
                ("a:2 b:1", &[1.0, 0.0], "all-local preferred"),
                ("a:2=1 b:1=1", &[2.0, 1.0], "overloaded"),
            ],
        ),
        one(
            "LocalPreferredTotal",
            LOCAL,
            with(0.0, 0.0),
            &[
                ("a:1=.9 b:1=.1", &[0.09999999999999998, 0.9], "spill"),
                ("a:1=.1 b:1=.9", &[1.0, 0.0], "all-local preferred"),
            ],
        ),
        one(
            "SpillActiveNotCountedWithoutEligibleLocalHosts",
            LOCAL,
            PLAIN,
            &[("a:0/1 b:1=.2", &[0.0, 0.8], "")],
        ),
        one(
            "StaleLocalityTotal",
            ANYWHERE,
            PLAIN,
            &[
                ("a:2 b:1 c:3", &[2.0, 1.0, 3.0], ""),
                ("a:2=.5 b:1=.5 c:3=.5", &[1.0, 0.5, 1.5], ""),
                ("a:2=.5 b:1 c:3", &[1.0, 1.0, 3.0], "stale stale"),
            ],
        ),
        one("nothing eligible", LOCAL, PLAIN, &[("a:0/1 b:0/2", &[0.0, 0.0], ""), ("", &[], "")]),
        one("no remotes", LOCAL, with(0.1, 0.03), &[("a:4=.5 b:0/2", &[2.0, 0.0], "")]),
    ]);
}

#[test]
fn thresholds_and_sums_round_as_in_envoy() {
    check(&[
        one(
            ".6 is not above .5 + .1",
            LOCAL,
            PLAIN,
            &[("a:1=.6 b:1=.5", &[1.0, 0.0], "all-local preferred")],
        ),
        one(
            ".4 is not above .3 + .1",
            LOCAL,
            PLAIN,
            &[("a:1=.4 b:1=.3", &[1.0, 0.0], "all-local preferred")],
        ),
        one(
            ".3 is not above .2 + .1",
            LOCAL,
            PLAIN,
            &[("a:1=.3 b:1=.2", &[1.0, 0.0], "all-local preferred")],
        ),
        one(
            ".8 is above .7 + .1",
            LOCAL,
            PLAIN,
            &[("a:1=.8 b:1=.7", &[0.19999999999999996, 0.30000000000000004], "spill")],
        ),
        one(
            "the example of the documentation",
            LOCAL,
            with(0.1, 0.03),
            &[(
                "a:10=.7 b:10=.3 c:10=.4",
                &[2.999999999999999, 7.000000000000001, 6.000000000000001],
                "spill",
            )],
        ),
        one(
            "a probe while spilling",
            LOCAL,
            with(0.0, 0.03),
            &[("a:100=.5 b:1=.49", &[48.994699999999995, 1.5153000000000019], "probe spill")],
        ),
        // The average of 1.0 never gets there: what is left stays above 0 and is no overload.
        one(
            "almost full",
            ANYWHERE,
            Settings { alpha: 0.18126924692201818, ..PLAIN },
            &[("a:1=.5", &[0.5], ""), ("a:1=1", &[0.40936537653899085], "")],
        ),
    ]);
}

#[test]
fn smoothing_over_several_ticks() {
    const SPILL: &str = "spill";
    let settings = Settings::new(&LoadAware::default());
    check(&[one(
        "2/2/2 hosts",
        LOCAL,
        settings,
        &[
            ("a:2 b:2 c:2", &[0.97, 0.015, 0.015], "preferred probe"),
            ("a:2=.9 b:2 c:2", &[0.19999999999999996, 2.0, 2.0], SPILL),
            ("a:2=.9 b:2=.4 c:2", &[0.19999999999999996, 1.2, 2.0], SPILL),
            ("a:2=.9 b:2=.4 c:2=.5", &[0.19999999999999996, 1.2, 1.0], SPILL),
            ("a:2=.3 b:2=.4 c:2=.5", &[0.4175230963064218, 1.2, 1.0], SPILL),
            ("a:2=.3 b:2=.4 c:2=.5", &[0.5956159447572329, 1.2, 1.0], SPILL),
            ("a:2=.3 b:2=.4 c:2=.5", &[0.7414260366871683, 1.2, 1.0], SPILL),
            (
                "a:2=1 b:2=1 c:2=1",
                &[0.6070282973685086, 0.9824769036935781, 0.8187307530779817],
                SPILL,
            ),
        ],
    )]);
}

#[test]
fn a_constant_1_never_counts_as_overload_after_anything_less() {
    let settings = Settings::new(&LoadAware::default());
    let mut history = History::default();
    history.tick(&zones(&read("a:1=.5")), false, &settings);
    for _ in 0..1000 {
        let outcome = history.tick(&zones(&read("a:1=1")), false, &settings);
        assert!(!outcome.flags.all_overloaded && outcome.weights[0] > 0.0, "{outcome:?}");
    }
}

#[test]
fn alpha_is_made_of_whole_milliseconds() {
    let alpha = |period_ms: f64, constant_ms: f64| {
        let duration = |ms: f64| std::time::Duration::from_secs_f64(ms / 1e3);
        let config = LoadAware {
            weight_update_period: duration(period_ms),
            smoothing_time_constant: duration(constant_ms),
            ..LoadAware::default()
        };
        Settings::new(&config).alpha
    };
    assert_eq!(alpha(1000.0, 5000.0), 0.18126924692201818);
    assert_eq!(alpha(2000.0, 4000.0), 0.3934693402873666);
    assert_eq!(alpha(10_000.0, 14_000.0), 0.5104583404430469);
    assert_eq!(alpha(10_000.0, 1000.0), 0.9999546000702375);
    assert_eq!(alpha(100.9, 5000.9), 0.019801326693244747);
}

#[test]
fn picks_go_by_running_sums_and_never_by_more() {
    let picks = |weights: &[f64], count: u64| {
        let sums = prefix_sums(weights);
        (0..count).map(|random| pick(&sums, random)).collect::<Vec<_>>()
    };
    let digits =
        |weights: &[f64]| picks(weights, 40).iter().map(ToString::to_string).collect::<String>();
    assert_eq!(digits(&[3.0, 7.0, 6.0]), "2110112112011211110210222221122220112222");
    assert_eq!(digits(&[5.0, 1.0]), "1000000000000000000000010000000110001010");
    assert_eq!(digits(&[0.6, 2.0]), "1110111111011111110100111111111110111111");
    assert_eq!(digits(&[0.0, 1.0, 0.0]), "1".repeat(40));
    assert_eq!(digits(&[0.97, 0.015, 0.015]), "0".repeat(40));
    let counts = |weights: &[f64]| {
        let mut counts = vec![0; weights.len()];
        picks(weights, 100_000).iter().for_each(|&index| counts[index] += 1);
        counts
    };
    assert_eq!(counts(&[3.0, 7.0, 6.0]), [18890, 43772, 37338]);
    assert_eq!(counts(&[0.97, 0.015, 0.015]), [97013, 1554, 1433]);
    assert_eq!(counts(&[5.0, 1.0]), [83262, 16738]);
    assert_eq!(counts(&[0.6, 2.0]), [23165, 76835]);
    // The mock of Envoy's tests.
    let mock = |weights: &[f64]| {
        let sums = prefix_sums(weights);
        let random = |k: u64| k * (u64::MAX / 100);
        (0..100).filter(|&k| pick(&sums, random(k)) == 1).count()
    };
    assert_eq!((mock(&[1.0, 1.0]), mock(&[0.1, 0.9])), (59, 88));
}

#[test]
fn the_extremes_of_a_pick() {
    let pick = |weights: &[f64], random| pick(&prefix_sums(weights), random);
    assert_eq!(pick(&[0.0, 1.0], 0x61C8_8646_80B5_83EB), 1);
    assert_eq!(pick(&[0.5, 0.5], 0x2FED_F1EF_CE1D_5545), 1);
    // A fraction of exactly 1 goes to the last locality, which weighs nothing.
    assert_eq!(pick(&[1.0, 0.0], 0x3162_8AF6_7B21_31AB), 1);
    assert_eq!(pick(&[1.0, 0.0], 0xDB07_561C_BBA0_E0CC), 1);
    assert_eq!(pick(&[1.0, 0.0], 0x7A2E_D049_1C38_3ABD), 0);
    for nothing in [&[] as &[f64], &[7.0], &[0.0, 0.0]] {
        assert_eq!(pick(nothing, 0x3162_8AF6_7B21_31AB), 0);
    }
}

/// Four names, so that localities come, go and change places.
fn place() -> impl Strategy<Value = Place> {
    let reports = prop::collection::vec(0.0..=1.0_f64, 0..4);
    (0..4_u8, 0..4_u32, reports).prop_map(|(name, others, reports)| {
        let eligible = u32::try_from(reports.len()).unwrap() + others / 2;
        Place::new(&name.to_string(), eligible + others % 2, eligible, reports)
    })
}

fn places() -> impl Strategy<Value = Vec<Place>> {
    prop::collection::vec(place(), 0..5).prop_map(|mut places| {
        let mut seen = std::collections::HashSet::new();
        places.retain(|place| seen.insert(place.identity.clone()));
        places
    })
}

proptest! {
    #[test]
    fn weights_are_those_of_the_naive_model(
        ticks in prop::collection::vec((places(), any::<bool>()), 1..6),
        alpha in 0.0..=1.0_f64,
        threshold in prop_oneof![Just(0.0), Just(0.1), 0.0..=1.0_f64],
        probe in prop_oneof![Just(0.0), Just(0.03), 0.0..1.0_f64],
    ) {
        let settings = Settings { alpha, threshold, probe };
        let (mut history, mut model) = (History::default(), naive::Model::default());
        for (places, has_local) in &ticks {
            let outcome = history.tick(&zones(places), *has_local, &settings);
            let expected = model.tick(places, *has_local, &settings);
            prop_assert!(outcome.weights.iter().all(|&weight| weight.is_finite() && weight >= 0.0));
            prop_assert_eq!(&outcome.weights, &expected.weights);
            prop_assert_eq!(outcome.flags, expected.flags);
            prop_assert_eq!(outcome.stale, expected.stale);
            for (place, &weight) in places.iter().zip(&outcome.weights) {
                prop_assert!(place.eligible > 0 || weight == 0.0);
            }
        }
    }
}
