//! From reports to utilization: Envoy's tests, and what was recorded from Envoy 1.40.0 as weights.

use plimsoll::orca::{LoadReport, MetricNames, Report};
use proptest::prelude::*;

/// `key=value` for a field, or for an entry of a map after its name and a dot, which in a report in
/// TEXT not all may be.
fn report(fields: &str) -> LoadReport {
    let mut report = LoadReport::default();
    for field in fields.split_whitespace() {
        let (name, value) = field.rsplit_once('=').unwrap();
        let value: f64 = value.parse().unwrap();
        let (map, key) = name.split_once('.').unwrap_or((name, ""));
        match map {
            "cpu" => report.cpu_utilization = value,
            "mem" => report.mem_utilization = value,
            "app" => report.application_utilization = value,
            "rps" => report.rps_fractional = value,
            "eps" => report.eps = value,
            "named" => drop(report.named_metrics.insert(key.to_owned(), value)),
            "utilization" => drop(report.utilization.insert(key.to_owned(), value)),
            "cost" => drop(report.request_cost.insert(key.to_owned(), value)),
            _ => panic!("{field}"),
        }
    }
    report
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/orca_weight_manager.cc#getUtilizationFromOrcaReport
#[test]
fn envoys_own_tests_of_utilization_hold() {
    let names = MetricNames::new(["named_metrics.foo"]);
    for (fields, named_first, utilization) in [
        ("app=0.5 cpu=0.6", true, 0.5),
        ("named.foo=0.3 cpu=0.6", true, 0.3),
        ("app=0.5 named.foo=0.3 cpu=0.6", true, 0.3),
        ("app=0.5 named.foo=0.3 cpu=0.6", false, 0.5),
        ("named.foo=0.3 cpu=0.6", false, 0.3),
        ("cpu=0.6", false, 0.6),
        ("named.bar=0.3 cpu=0.6", true, 0.6),
        ("", true, 0.0),
    ] {
        let seen = report(fields).as_report().utilization(&names, named_first);
        assert_eq!(seen.to_bits(), f64::to_bits(utilization), "{fields} {named_first}");
    }
}

/// The weight of a host without penalty for errors; `None` where Envoy keeps the last one.
fn weight(report: &Report<'_>, names: &MetricNames, named_first: bool) -> Option<u32> {
    let (qps, utilization) = (report.rps_fractional(), report.utilization(names, named_first));
    if qps <= 0.0 || utilization <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Some(((qps / utilization) as u32).max(1))
}

/// A report, and its weight with named metrics first and second.
type Weighed = (&'static str, Option<u32>, Option<u32>);

#[test]
fn recorded_weights_follow_from_the_utilization() {
    let rows: [(&[&str], &[Weighed]); 3] = [
        (
            &[],
            &[
                ("cpu=0.5 rps=1000", Some(2_000), Some(2_000)),
                ("app=0.5 cpu=0.6 rps=1000", Some(2_000), Some(2_000)),
                ("app=0 cpu=0.6 rps=600", Some(1_000), Some(1_000)),
                ("app=-1 cpu=0.5 rps=100", Some(200), Some(200)),
                ("app=NaN cpu=0.5 rps=100", Some(200), Some(200)),
                ("app=inf rps=100", Some(1), Some(1)),
                ("cpu=NaN rps=100", Some(1), Some(1)),
                ("cpu=inf rps=100", Some(1), Some(1)),
                ("cpu=0.5 rps=NaN", Some(1), Some(1)),
                ("cpu=1e-7 rps=1e13", Some(u32::MAX), Some(u32::MAX)),
                ("cpu=2.5 rps=100", Some(40), Some(40)),
                ("cpu=inf rps=inf", Some(1), Some(1)),
                ("cpu=0.5 rps=inf", Some(u32::MAX), Some(u32::MAX)),
                ("cpu=0 rps=100", None, None),
                ("cpu=-1 rps=100", None, None),
                ("cpu=0.5 rps=0", None, None),
                ("", None, None),
            ],
        ),
        (
            &["named_metrics.foo", "named_metrics.bar"],
            &[
                ("named.foo=0.3 app=0.5 cpu=0.6 rps=600", Some(2_000), Some(1_200)),
                ("named.foo=0 app=0.5 rps=600", Some(1_200), Some(1_200)),
                ("named.foo=-1 app=0.5 rps=600", Some(1_200), Some(1_200)),
                ("named.foo=NaN app=0.5 rps=600", Some(1_200), Some(1_200)),
                ("named.foo=0.3 named.bar=0.4 cpu=0.6 rps=600", Some(1_500), Some(1_500)),
                ("named.foo=0.3 named.bar=NaN rps=600", Some(2_000), Some(2_000)),
                ("named.foo=NaN named.bar=0.3 rps=600", Some(2_000), Some(2_000)),
                ("named.foo=inf rps=600", Some(1), Some(1)),
                ("named.baz=0.3 cpu=0.6 rps=600", Some(1_000), Some(1_000)),
            ],
        ),
        (
            &["cpu_utilization", "mem_utilization"],
            &[("mem=0.4 cpu=0.2 app=0.1 rps=1000", Some(2_500), Some(10_000))],
        ),
    ];
    for (names, reports) in rows {
        let names = MetricNames::new(names);
        for &(fields, on, off) in reports {
            let owned = report(fields);
            assert_eq!(weight(&owned.as_report(), &names, true), on, "{fields}");
            assert_eq!(weight(&owned.as_report(), &names, false), off, "{fields}");
        }
    }
}

#[test]
fn names_stand_for_fields_entries_or_whole_maps() {
    for (names, fields, on) in [
        (["named_metrics.*"].as_slice(), "named.a=0.3 named.b=0.4 cpu=0.6 rps=600", 1_500),
        (&["named_metrics.*"], "named.*=0.3 cpu=0.6 rps=600", 2_000),
        (&["named_metrics.*"], "cpu=0.6 rps=600", 1_000),
        (&["named_metrics."], "named.=0.3 cpu=0.6 rps=600", 2_000),
        (&["mem_utilization"], "mem=0.4 cpu=0.2 rps=1000", 2_500),
        (&["utilization.u"], "utilization.u=0.9 cpu=0.2 rps=1000", 1_111),
        (&["request_cost.c"], "cost.c=3 cpu=0.2 rps=1000", 333),
        (&["eps"], "eps=5 cpu=0.2 rps=1000", 200),
        (&["rps_fractional"], "cpu=0.2 rps=1000", 1),
        (&["named_metrics.a.b"], "named.a.b=0.5 rps=1000", 2_000),
        (&["utilization.*", "named_metrics.*"], "utilization.u=0.9 named.z=0.95 rps=1000", 1_052),
    ] {
        let (names, owned) = (MetricNames::new(names), report(fields));
        assert_eq!(names.skipped(), 0, "{fields}");
        assert_eq!(weight(&owned.as_report(), &names, true), Some(on), "{fields}");
    }
    let skipped = ["bogus", "rps", "", "named_metrics", "Cpu_utilization", "named_metrics*"];
    let names = MetricNames::new(skipped);
    assert_eq!(names.skipped(), skipped.len());
    let owned = report("cpu=0.2 named.bogus=0.9 named.rps=0.9 named.=0.9 rps=1000");
    assert_eq!(weight(&owned.as_report(), &names, true), Some(5_000));
}

/// As Envoy writes it, name by name.
fn naive(names: &[&str], report: &LoadReport) -> f64 {
    let mut largest = 0.0;
    for name in names {
        let values: Vec<f64> = match *name {
            "cpu_utilization" => vec![report.cpu_utilization],
            "eps" => vec![report.eps],
            "named_metrics.*" => report.named_metrics.values().copied().collect(),
            "named_metrics.a" => report.named_metrics.get("a").copied().into_iter().collect(),
            _ => Vec::new(),
        };
        for value in values {
            largest = if largest < value { value } else { largest };
        }
    }
    match report.application_utilization {
        _ if largest > 0.0 => largest,
        application if application > 0.0 => application,
        _ => report.cpu_utilization,
    }
}

proptest! {
    #[test]
    fn utilization_is_that_of_a_walk_through_the_names_in_order(
        names in prop::collection::vec(
            prop::sample::select(vec!["cpu_utilization", "eps", "named_metrics.*", "named_metrics.a", "x"]),
            0..6,
        ),
        numbers in prop::array::uniform5(prop_oneof![
            any::<f64>(),
            prop::sample::select(vec![0.0, -0.0, 1.0, f64::NAN, f64::INFINITY]),
        ]),
    ) {
        let [cpu_utilization, eps, application_utilization, a, b] = numbers;
        let named_metrics = [("a".to_owned(), a), ("b".to_owned(), b)].into();
        let report = LoadReport {
            cpu_utilization, eps, application_utilization, named_metrics, ..LoadReport::default()
        };
        let seen = report.as_report().utilization(&MetricNames::new(&names), true);
        prop_assert_eq!(seen.to_bits(), naive(&names, &report).to_bits());
    }
}
