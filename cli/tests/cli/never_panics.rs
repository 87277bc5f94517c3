//! No input makes a replay panic, and an operation that fails changes nothing.

use plimsoll_cli::replay::{Options, Stop, run};
use proptest::prelude::*;

use crate::support::{CONFIG, replay};

/// What changes most often: a small number, or one at the edge.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u64..4).prop_map(|n| n.to_string()),
        (0_u64..4).prop_map(|n| format!("\"{n}\"")),
        Just(u64::MAX.to_string()),
    ]
}

/// A count of picks, not too many for a test.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..20, Just(u64::MAX)]
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just("/a"), 4 => Just("/b"), 1 => Just("/c")]
        .prop_map(|host| format!("{host:?}"))
}

fn hosts() -> impl Strategy<Value = String> {
    prop::collection::vec(host(), 0..4).prop_map(|hosts| hosts.join(","))
}

fn config(with_hosts: bool) -> impl Strategy<Value = String> {
    let policy = prop_oneof![Just("RANDOM"), Just("ROUND_ROBIN"), Just("MAGLEV")];
    policy.prop_map(move |policy| {
        if with_hosts {
            CONFIG.replace("RANDOM", policy)
        } else {
            format!(r#"{{"name":"c","lb_policy":"{policy}"}}"#)
        }
    })
}

fn open() -> impl Strategy<Value = String> {
    let behavior = prop_oneof![Just("native"), Just("envoy")];
    (config(true), behavior, number(), number()).prop_map(|(config, behavior, workers, now)| {
        format!(
            r#"{{"op":"open","config":{config},"behavior":"{behavior}","workers":{workers},"now_ms":{now},"draws":[{now}]}}"#
        )
    })
}

fn assign() -> impl Strategy<Value = String> {
    let endpoint = (host(), 0_u32..3, 0_u32..3, prop_oneof![Just("HEALTHY"), Just("DRAINING")]);
    prop::collection::vec(endpoint, 0..4).prop_map(|endpoints| {
        let group = |(path, weight, priority, health): (String, u32, u32, &str)| {
            format!(
                r#"{{"priority":{priority},"lb_endpoints":[{{"endpoint":{{"address":{{"pipe":{{"path":{path}}}}}}},"load_balancing_weight":{weight},"health_status":"{health}"}}]}}"#
            )
        };
        let groups: Vec<String> = endpoints.into_iter().map(group).collect();
        let groups = groups.join(",");
        format!(r#"{{"op":"assign","load_assignment":{{"cluster_name":"c","endpoints":[{groups}]}}}}"#)
    })
}

/// Operations that choose hosts.
fn choice() -> impl Strategy<Value = String> {
    let op = prop_oneof![Just("pick"), Just("peek"), Just("explain")];
    (op, count(), number(), hosts(), number(), any::<bool>()).prop_map(
        |(op, n, worker, reject, retries, hold)| {
            format!(
                r#"{{"op":"{op}","n":{n},"worker":{worker},"reject":[{reject}],"retries":{retries},"hold":{hold}}}"#
            )
        },
    )
}

fn other() -> impl Strategy<Value = String> {
    let event = prop_oneof![Just("pass"), Just("fail"), Just("eject"), Just("uneject")];
    let action = prop_oneof![Just("close"), Just("open"), Just("refresh"), Just("quiesce")];
    let what = prop_oneof![Just("stats"), Just("snapshot"), Just("table"), Just("localities")];
    let key = prop_oneof![Just("upstream.healthy_panic_threshold"), Just("k")];
    prop_oneof![
        (host(), event).prop_map(|(h, e)| format!(r#"{{"op":"health","hosts":{{{h}:"{e}"}}}}"#)),
        (key, number()).prop_map(|(k, n)| format!(r#"{{"op":"runtime","values":{{"{k}":{n}}}}}"#)),
        number().prop_map(|ms| format!(r#"{{"op":"advance","ms":{ms}}}"#)),
        (host(), number()).prop_map(|(h, n)| format!(r#"{{"op":"load","hosts":{{{h}:{n}}}}}"#)),
        (number(), number())
            .prop_map(|(v, w)| format!(r#"{{"op":"draws","values":[{v}],"worker":{w}}}"#)),
        hosts().prop_map(|hosts| format!(r#"{{"op":"done","hosts":[{hosts}]}}"#)),
        (count(), number()).prop_map(|(n, w)| format!(r#"{{"op":"tally","n":{n},"worker":{w}}}"#)),
        count().prop_map(|n| format!(r#"{{"op":"tally","n":{n},"worker":"all"}}"#)),
        (number(), action)
            .prop_map(|(w, a)| format!(r#"{{"op":"worker","worker":{w},"action":"{a}"}}"#)),
        what.prop_map(|what| format!(r#"{{"op":"show","what":"{what}"}}"#)),
        config(false).prop_map(|config| format!(r#"{{"op":"reconfigure","config":{config}}}"#)),
    ]
}

fn operation() -> impl Strategy<Value = String> {
    prop_oneof![1 => open(), 3 => assign(), 6 => choice(), 8 => other()]
}

/// Pieces that look like operations, in any order.
fn debris() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[{}\\[\\]:,\"#\\n ]{1,3}",
        Just("\"op\":\"pick\"".to_owned()),
        Just("\"expect\"".to_owned()),
        "[0-9eE.+-]{1,6}",
        "\\PC{0,4}",
    ];
    prop::collection::vec(prop_oneof![3 => piece.boxed(), 1 => operation().boxed()], 0..12)
        .prop_map(|pieces| pieces.concat())
}

const LOOK: &str = "{\"op\":\"show\",\"what\":\"hosts\"}\n{\"op\":\"show\",\"what\":\"loads\"}\n\
                    {\"op\":\"show\",\"what\":\"snapshot\"}\n";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_give_one_result_each_and_failures_change_nothing(
        operations in prop::collection::vec(operation(), 1..30),
    ) {
        let mut input = format!("{{\"op\":\"open\",\"config\":{CONFIG},\"workers\":3}}\n{LOOK}");
        for operation in &operations {
            input += &format!("{operation}\n{LOOK}");
        }
        let (summary, output) = replay(&input, &Options::named("test"));
        let results: Vec<&str> = output.lines().collect();
        prop_assert_eq!(summary.operations, results.len() as u64);
        prop_assert_eq!(results.len(), 4 + 4 * operations.len());
        let parts: Vec<&[&str]> = results.chunks(4).collect();
        for (pair, operation) in parts.windows(2).zip(&operations) {
            if pair[1][0].starts_with("{\"error\":") {
                prop_assert_eq!(&pair[0][1..], &pair[1][1..], "{}", operation);
            }
        }
    }

    #[test]
    fn the_same_operations_give_the_same_bytes(
        operations in prop::collection::vec(operation(), 1..10),
    ) {
        let input = format!("{{\"op\":\"open\",\"config\":{CONFIG}}}\n{}", operations.join("\n"));
        let options = Options::named("test");
        prop_assert_eq!(replay(&input, &options), replay(&input, &options));
    }

    #[test]
    fn debris_is_refused_with_its_line(text in debris()) {
        let options = Options { check: true, ..Options::named("test") };
        match run(text.as_bytes(), Vec::new(), &options) {
            Ok(_) => {}
            Err(Stop::Malformed { line, .. }) => {
                prop_assert!(line >= 1 && line <= 1 + text.matches('\n').count() as u64);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let result = run(&bytes[..], Vec::new(), &Options::named("test"));
        let expected = matches!(result, Ok(_) | Err(Stop::Malformed { .. }));
        prop_assert!(expected, "{result:?}");
    }
}
