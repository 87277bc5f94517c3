//! Assignments and hash policies, as texts and as structs.

use std::ffi::c_char;
use std::ptr;

use plimsoll::config::Assignment as Expected;
use plimsoll_envoy_config::{parse_assignment, parse_hash_policies};
use plimsoll_ffi::assignment::{Assignment, Endpoint, LocalityHosts, engine_assignment};
use plimsoll_ffi::hash_policy::{
    HashPolicy, PLIMSOLL_HASH_COOKIE, PLIMSOLL_HASH_FILTER_STATE, PLIMSOLL_HASH_HEADER,
    PLIMSOLL_HASH_QUERY_PARAMETER, PLIMSOLL_HASH_SOURCE_IP, engine_policies,
};
use plimsoll_ffi::request_hash::Header;
use plimsoll_ffi::text::Str;

use crate::cases::{keep, str};

/// A field and what sets the member that stands for it.
type Field<T> = (&'static str, fn(&mut T));

/// Every subset of the fields, as text and as struct.
fn subsets<T: Default>(fields: &[Field<T>]) -> Vec<(String, T)> {
    let subset = |chosen: usize| {
        let chosen = fields.iter().enumerate().filter(|(index, _)| chosen >> index & 1 == 1);
        let (mut texts, mut value) = (Vec::new(), T::default());
        for (_, (text, set)) in chosen {
            texts.push(*text);
            set(&mut value);
        }
        (texts.join(", "), value)
    };
    (0..1 << fields.len()).map(subset).collect()
}

/// Fields of `LbEndpoint`.
const OF_HOST: &[Field<Endpoint>] = &[
    (r#""load_balancing_weight": 4294967295"#, |it| it.weight = u32::MAX),
    (r#""health_status": "DRAINING""#, |it| it.health_status = 3),
    (r#""metadata": {"filter_metadata": {"envoy.lb": {"hash_key": "k"}}}"#, |it| {
        it.hash_key = str("k");
    }),
];

/// Fields of its `endpoint`.
const OF_ENDPOINT: &[Field<Endpoint>] = &[
    (r#""hostname": "a.local""#, |it| it.hostname = str("a.local")),
    (
        r#""health_check_config": {"disable_active_health_check": true, "address":
           {"socket_address": {"address": "10.1.1.1", "port_value": 81}}}"#,
        |it| {
            it.disable_active_health_check = 1;
            it.health_check_address = str("10.1.1.1:81");
        },
    ),
];

/// Fields of `LocalityLbEndpoints`.
const OF_LOCALITY: &[Field<LocalityHosts>] = &[
    (r#""locality": {"region": "r", "zone": "z", "sub_zone": "s"}"#, |it| {
        (it.region, it.zone, it.sub_zone) = (str("r"), str("z"), str("s"));
    }),
    (r#""priority": 128"#, |it| it.priority = 128),
    (r#""load_balancing_weight": 4294967295"#, |it| it.weight = u32::MAX),
];

/// Fields of `policy`.
const OF_POLICY: &[Field<Assignment>] = &[
    (r#""overprovisioning_factor": 1"#, |it| it.overprovisioning_factor = 1),
    (r#""weighted_priority_health": true"#, |it| it.weighted_priority_health = 1),
];

/// One host for each combination of its fields.
fn hosts() -> (String, Vec<Endpoint>) {
    let mut texts = Vec::new();
    let mut hosts = Vec::new();
    for (outer, host) in subsets(OF_HOST) {
        for (inner, endpoint) in subsets(OF_ENDPOINT) {
            let number = hosts.len();
            let address = format!(
                r#""address": {{"socket_address": {{"address": "10.0.0.{number}", "port_value": 80}}}}"#
            );
            let fields: Vec<&str> = [&address, &inner]
                .into_iter()
                .filter(|it| !it.is_empty())
                .map(|it| &**it)
                .collect();
            let own = format!(r#""endpoint": {{{}}}"#, fields.join(", "));
            let fields: Vec<&str> =
                [&own, &outer].into_iter().filter(|it| !it.is_empty()).map(|it| &**it).collect();
            texts.push(format!("{{{}}}", fields.join(", ")));
            hosts.push(Endpoint {
                address: str(&format!("10.0.0.{number}:80")),
                hostname: endpoint.hostname,
                disable_active_health_check: endpoint.disable_active_health_check,
                health_check_address: endpoint.health_check_address,
                ..host
            });
        }
    }
    (texts.join(", "), hosts)
}

#[test]
fn structs_of_hosts_say_what_texts_say() {
    let (host_texts, hosts) = hosts();
    for (policy, assignment) in subsets(OF_POLICY) {
        let mut texts = Vec::new();
        let mut localities = Vec::new();
        for (locality, group) in subsets(OF_LOCALITY) {
            let separator = if locality.is_empty() { "" } else { ", " };
            texts.push(format!(r#"{{"lb_endpoints": [{host_texts}]{separator}{locality}}}"#));
            localities.push(LocalityHosts {
                hosts: hosts.as_ptr(),
                host_count: hosts.len(),
                ..group
            });
        }
        texts.push("{}".to_owned());
        localities.push(LocalityHosts::default());
        let text = format!(
            r#"{{"cluster_name": "api", "endpoints": [{}], "policy": {{{policy}}}}}"#,
            texts.join(", ")
        );
        let expected = parse_assignment(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(expected.endpoints[0].endpoints.len(), 32);
        let assignment = Assignment {
            localities: localities.as_ptr(),
            locality_count: localities.len(),
            ..assignment
        };
        // SAFETY: all arrays and texts are there.
        let found = unsafe { engine_assignment(&raw const assignment) }.expect("an assignment");
        assert_eq!(found.as_ref(), Some(&expected));
    }
}

#[test]
fn no_hosts_at_all_are_the_default() {
    let empty = Assignment::default();
    // SAFETY: it points to nothing.
    let found = unsafe { engine_assignment(&raw const empty) }.expect("an assignment");
    assert_eq!(found, Some(Expected::default()));
    // SAFETY: as above.
    assert!(unsafe { engine_assignment(ptr::null()) }.expect("nothing").is_none());
}

#[test]
fn health_checks_that_go_to_the_host_itself_need_no_address() {
    let host = Endpoint {
        address: str("10.0.0.1:80"),
        health_check_address: str("10.0.0.1:80"),
        ..Endpoint::default()
    };
    let locality = LocalityHosts { hosts: &raw const host, host_count: 1, ..Default::default() };
    let assignment =
        Assignment { localities: &raw const locality, locality_count: 1, ..Default::default() };
    // SAFETY: all arrays and texts are there.
    let found = unsafe { engine_assignment(&raw const assignment) }.expect("an assignment");
    assert_eq!(found.expect("hosts").endpoints[0].endpoints[0].health_check_address, None);
}

/// Fields of `cookie`, besides its name.
const OF_COOKIE: &[Field<HashPolicy>] = &[
    (r#""ttl": "0s""#, |it| it.has_ttl = 1),
    (r#""path": "/app""#, |it| it.path = str("/app")),
    (r#""attributes": [{"name": "SameSite", "value": "Lax"}, {"name": "Secure"}]"#, |it| {
        let attributes = keep([
            Header { name: str("SameSite"), value: str("Lax") },
            Header { name: str("Secure"), value: str("") },
        ]);
        it.attributes = attributes.as_ptr();
        it.attribute_count = attributes.len();
    }),
];

#[test]
fn structs_of_hash_policies_say_what_texts_say() {
    let of = |kind, name: Str| HashPolicy { kind, name, ..HashPolicy::default() };
    let mut all = vec![
        (
            r#""header": {"header_name": "X-User"}"#.to_owned(),
            of(PLIMSOLL_HASH_HEADER, str("X-User")),
        ),
        (
            r#""connection_properties": {"source_ip": true}"#.to_owned(),
            // The name is not read.
            of(PLIMSOLL_HASH_SOURCE_IP, Str { data: ptr::dangling::<c_char>(), len: usize::MAX }),
        ),
        (
            r#""query_parameter": {"name": "User"}"#.to_owned(),
            of(PLIMSOLL_HASH_QUERY_PARAMETER, str("User")),
        ),
        (
            r#""filter_state": {"key": "Tenant"}"#.to_owned(),
            of(PLIMSOLL_HASH_FILTER_STATE, str("Tenant")),
        ),
        (
            r#""cookie": {"name": "session", "ttl": "1.5s"}"#.to_owned(),
            HashPolicy {
                has_ttl: 1,
                ttl_ns: 1_500_000_000,
                ..of(PLIMSOLL_HASH_COOKIE, str("session"))
            },
        ),
    ];
    for (fields, policy) in subsets(OF_COOKIE) {
        let separator = if fields.is_empty() { "" } else { ", " };
        let text = format!(r#""cookie": {{"name": "session"{separator}{fields}}}"#);
        let policy = HashPolicy { kind: PLIMSOLL_HASH_COOKIE, name: str("session"), ..policy };
        all.push((text, policy));
    }
    let terminal = all.iter().map(|(text, policy)| {
        (format!(r#"{text}, "terminal": true"#), HashPolicy { terminal: 1, ..*policy })
    });
    let all: Vec<(String, HashPolicy)> = terminal.chain(all.iter().cloned()).collect();
    let texts: Vec<String> = all.iter().map(|(text, _)| format!("{{{text}}}")).collect();
    let policies: Vec<HashPolicy> = all.iter().map(|(_, policy)| *policy).collect();
    let expected = parse_hash_policies(&format!("[{}]", texts.join(", "))).expect("policies");
    assert_eq!(expected.len(), 26);
    // SAFETY: the texts and attributes are kept.
    let found = unsafe { engine_policies(policies.as_ptr(), policies.len()) }.expect("policies");
    assert_eq!(found, expected);
}
