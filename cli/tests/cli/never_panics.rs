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

/// A bound or none, and what requests are hashed by.
fn hashing() -> impl Strategy<Value = String> {
    let bound = prop_oneof![Just("100"), Just("150"), Just("4294967295"), Just("99"), Just("0")];
    let policy = prop_oneof![Just(r#"{"header":{"header_name":"k"}}"#), Just("{}")];
    (prop::option::of(bound), prop::option::of(policy), any::<bool>()).prop_map(
        |(bound, policy, by_name)| {
            let bound = bound.map_or(String::new(), |it| format!(r#","hash_balance_factor":{it}"#));
            let policy = policy.unwrap_or_default();
            format!(r#"{{"use_hostname_for_hashing":{by_name},"hash_policy":[{policy}]{bound}}}"#)
        },
    )
}

/// A policy by hash, with tables of any size that is quickly made.
fn by_hash() -> impl Strategy<Value = String> {
    let size = || prop_oneof![0_u32..8, Just(251), Just(u32::MAX)];
    let ring = (size(), size()).prop_map(|(minimum, maximum)| {
        let sizes = format!(r#""minimum_ring_size":{minimum},"maximum_ring_size":{maximum}"#);
        ("ring_hash", "RingHash", sizes)
    });
    let maglev = size().prop_map(|size| ("maglev", "Maglev", format!(r#""table_size":{size}"#)));
    (prop_oneof![ring, maglev], hashing(), any::<bool>()).prop_map(
        |((name, message, sizes), hashing, weighted)| {
            let weighted = if weighted { r#","locality_weighted_lb_config":{}"# } else { "" };
            let fields = format!(r#"{sizes},"consistent_hashing_lb_config":{hashing}{weighted}"#);
            policy(name, message, &fields)
        },
    )
}

fn policy(name: &str, message: &str, fields: &str) -> String {
    const PACKAGE: &str = "envoy.extensions.load_balancing_policies";
    format!(
        r#"{{"policies":[{{"typed_extension_config":{{"name":"{name}","typed_config":{{"@type":"type.googleapis.com/{PACKAGE}.{name}.v3.{message}",{fields}}}}}}}]}}"#
    )
}

/// A policy in the older field of a cluster or in the newer one.
fn any_policy() -> impl Strategy<Value = String> {
    let older = prop_oneof![Just("RANDOM"), Just("ROUND_ROBIN"), Just("MAGLEV"), Just("RING_HASH")];
    let newer = || by_hash().prop_map(|policy| format!(r#""load_balancing_policy":{policy}"#));
    let statuses = prop_oneof![Just("HEALTHY"), Just("DEGRADED")];
    let filtered = (newer(), statuses).prop_map(|(policy, status)| {
        format!(
            r#"{policy},"common_lb_config":{{"override_host_status":{{"statuses":["{status}"]}}}}"#
        )
    });
    let named = by_hash().prop_map(|fallback| {
        let sources = r#""override_host_sources":[{"header":"h"}],"fallback_policy":"#;
        let policy = policy("override_host", "OverrideHost", &format!("{sources}{fallback}"));
        format!(r#""load_balancing_policy":{policy}"#)
    });
    let older = older.prop_map(|policy| format!(r#""lb_policy":"{policy}""#));
    prop_oneof![3 => older, 3 => newer(), 1 => filtered, 1 => named]
}

fn config(with_hosts: bool) -> impl Strategy<Value = String> {
    any_policy().prop_map(move |policy| {
        if with_hosts {
            CONFIG.replace(r#""lb_policy":"RANDOM""#, &policy)
        } else {
            format!(r#"{{"name":"c",{policy}}}"#)
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

/// What a request says of itself: a hash, an attempt, hosts that it names; or nothing.
fn request() -> impl Strategy<Value = String> {
    let hash = prop_oneof![
        Just(String::new()),
        number().prop_map(|hash| format!(r#","hash":{hash}"#)),
        prop::collection::vec(number(), 0..3)
            .prop_map(|hashes| format!(r#","hash":[{}]"#, hashes.join(","))),
    ];
    let attempt = prop::option::of(prop_oneof![0_u64..4, Just(128), Just(u64::from(u32::MAX))]);
    let named = prop::option::of((hosts(), any::<bool>()));
    (hash, attempt, named).prop_map(|(hash, attempt, named)| {
        let attempt = attempt.map_or(String::new(), |it| format!(r#","attempt":{it}"#));
        let named = named.map_or(String::new(), |(hosts, strict)| {
            format!(r#","override":[{hosts}],"strict":{strict}"#)
        });
        hash + &attempt + &named
    })
}

/// Operations that choose hosts.
fn choice() -> impl Strategy<Value = String> {
    let op = prop_oneof![3 => Just("pick"), 1 => Just("peek"), 1 => Just("explain")];
    (op, count(), number(), hosts(), number(), any::<bool>(), request()).prop_map(
        |(op, n, worker, reject, retries, hold, request)| {
            format!(
                r#"{{"op":"{op}","n":{n},"worker":{worker},"reject":[{reject}],"retries":{retries},"hold":{hold}{request}}}"#
            )
        },
    )
}

/// Hashing a request.
fn hash() -> impl Strategy<Value = String> {
    let policy = prop_oneof![
        Just(r#"{"header":{"header_name":"k"}}"#),
        Just(r#"{"cookie":{"name":"k","ttl":"1s"},"terminal":true}"#),
        Just(r#"{"connection_properties":{"source_ip":true}}"#),
        Just(r#"{"query_parameter":{"name":"k"}}"#),
        Just("{}"),
    ];
    let policies = prop::collection::vec(policy, 0..4);
    (policies, "[k=&;%+\"a]{0,6}").prop_map(|(policies, text)| {
        let (policies, text) = (policies.join(","), format!("{text:?}"));
        format!(
            r#"{{"op":"hash","policies":[{policies}],"request":{{"headers":{{"k":{text}}},"cookies":{{"k":{text}}},"query":{text},"source_ip":{text}}}}}"#
        )
    })
}

/// Where keys go.
fn table() -> impl Strategy<Value = String> {
    let source = prop_oneof![Just("healthy"), Just("degraded"), Just("all")];
    (prop::option::of(0_u32..3), prop::option::of(source)).prop_map(|(priority, source)| {
        let priority = priority.map_or(String::new(), |it| format!(r#","priority":{it}"#));
        let source = source.map_or(String::new(), |it| format!(r#","source":"{it}""#));
        format!(r#"{{"op":"show","what":"table"{priority}{source}}}"#)
    })
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
        count().prop_map(|n| format!(r#"{{"op":"tally","n":{n},"hash":"random"}}"#)),
        hash(),
        table(),
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
