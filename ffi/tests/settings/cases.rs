//! Settings twice: as fields of Envoy's messages, and as what sets the members of structs.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::ptr;

use plimsoll_ffi::hash_policy::{
    HashPolicy, PLIMSOLL_HASH_HEADER, PLIMSOLL_HASH_SOURCE_IP, plimsoll_hash_policies_new,
};
use plimsoll_ffi::override_sources::{
    OverrideShown, PLIMSOLL_OVERRIDE_HEADER, PLIMSOLL_OVERRIDE_METADATA,
    PLIMSOLL_OVERRIDE_SELECTED_HOST,
};
use plimsoll_ffi::request_hash::HashPolicies;
use plimsoll_ffi::settings::hashing::{
    MaglevSettings, PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2, RingHashSettings,
};
use plimsoll_ffi::settings::locality::{
    LoadAwareSettings, PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT, ZoneAwareSettings,
};
use plimsoll_ffi::settings::override_host::OverrideHostSettings;
use plimsoll_ffi::settings::policy::{
    LeastRequestSettings, PLIMSOLL_SELECTION_FULL_SCAN, RuntimeNumber, SlowStartSettings,
};
use plimsoll_ffi::settings::weighted::{OobReporting, WeightedSettings};
use plimsoll_ffi::settings::{
    ClusterSettings, PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN,
    PLIMSOLL_POLICY_LEAST_REQUEST, PLIMSOLL_POLICY_MAGLEV, PLIMSOLL_POLICY_RANDOM,
    PLIMSOLL_POLICY_RING_HASH, PLIMSOLL_POLICY_ROUND_ROBIN, PLIMSOLL_ROUTING_LOAD_AWARE,
    PLIMSOLL_ROUTING_UNSET, PLIMSOLL_ROUTING_WEIGHTED, PLIMSOLL_ROUTING_ZONE_AWARE,
};
use plimsoll_ffi::status::Status;
use plimsoll_ffi::text::Str;

/// A text for as long as the tests run.
pub(crate) fn str(text: &str) -> Str {
    let text: &'static str = keep(text.to_owned());
    Str { data: text.as_ptr().cast::<c_char>(), len: text.len() }
}

/// Something for as long as the tests run: what structs point to is read after the call that made it.
pub(crate) fn keep<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A field of a message, and what sets the members that stand for it.
struct Field<T> {
    text: &'static str,
    set: fn(&mut T),
}

/// Some fields of a message at once.
struct Fields<T> {
    text: Vec<&'static str>,
    set: Vec<fn(&mut T)>,
    of: PhantomData<T>,
}

impl<T> Fields<T> {
    /// Its text after a comma, or nothing.
    fn after(&self) -> String {
        self.text.iter().map(|field| format!(", {field}")).collect()
    }

    fn before(&self) -> String {
        self.text.join(", ")
    }

    fn struct_of(&self) -> &'static T
    where
        T: Default,
    {
        let mut value = T::default();
        self.set.iter().for_each(|set| set(&mut value));
        keep(value)
    }
}

/// No field, each alone, and each name once together.
fn combinations<T>(fields: &[Field<T>]) -> Vec<Fields<T>> {
    let some = |chosen: &[&Field<T>]| Fields {
        text: chosen.iter().map(|field| field.text).collect(),
        set: chosen.iter().map(|field| field.set).collect(),
        of: PhantomData,
    };
    let name = |field: &Field<T>| field.text.split(':').next();
    let last_of_its_name = |(index, field): &(usize, &Field<T>)| {
        fields[index + 1..].iter().all(|other| name(other) != name(field))
    };
    let together: Vec<&Field<T>> =
        fields.iter().enumerate().filter(last_of_its_name).map(|(_, field)| field).collect();
    let alone = fields.iter().map(|field| some(&[field]));
    [some(&[])].into_iter().chain(alone).chain([some(&together)]).collect()
}

/// A policy that chooses hosts.
pub(crate) struct Policy {
    number: u32,
    message: &'static str,
    fields: String,
    set: Box<dyn Fn(&mut ClusterSettings)>,
}

/// How traffic divides among localities, in the places that Envoy has for it.
pub(crate) struct Routing {
    number: u32,
    /// Fields of `zone_aware_lb_config` or of the message `LoadAwareLocality`.
    fields: String,
    set: Box<dyn Fn(&mut ClusterSettings)>,
}

/// Everything else: fields of `Cluster`, and whether requests name hosts.
pub(crate) struct Case {
    fields: String,
    override_host: Option<String>,
    set: Box<dyn Fn(&mut ClusterSettings)>,
}

impl Case {
    /// The message `Cluster`; `None` where Envoy cannot say it.
    pub(crate) fn text(&self, policy: &Policy, routing: &Routing) -> Option<String> {
        let hashes = matches!(policy.number, PLIMSOLL_POLICY_RING_HASH | PLIMSOLL_POLICY_MAGLEV);
        let weighted = policy.number == PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN;
        let own = |routing: &str| list(policy.message, &format!("{}{routing}", policy.fields));
        let listed = match routing.number {
            PLIMSOLL_ROUTING_ZONE_AWARE if hashes || weighted => return None,
            PLIMSOLL_ROUTING_ZONE_AWARE => {
                let zones = format!(r#""zone_aware_lb_config": {{{}}}"#, routing.fields);
                own(&format!(r#", "locality_lb_config": {{{zones}}}"#))
            }
            PLIMSOLL_ROUTING_WEIGHTED if hashes => own(r#", "locality_weighted_lb_config": {}"#),
            PLIMSOLL_ROUTING_WEIGHTED if weighted => {
                let inside = format!(r#", "endpoint_picking_policy": {}"#, own(""));
                list("wrr_locality.v3.WrrLocality", &inside)
            }
            PLIMSOLL_ROUTING_WEIGHTED => {
                own(r#", "locality_lb_config": {"locality_weighted_lb_config": {}}"#)
            }
            PLIMSOLL_ROUTING_LOAD_AWARE => {
                let fields = &routing.fields;
                let inside = format!(r#", "endpoint_picking_policy": {}{fields}"#, own(""));
                list("load_aware_locality.v3.LoadAwareLocality", &inside)
            }
            _ => own(""),
        };
        let listed = match &self.override_host {
            None => listed,
            Some(fields) => {
                let inside = format!(r#", "fallback_policy": {listed}, {fields}"#);
                list("override_host.v3.OverrideHost", &inside)
            }
        };
        let fields = &self.fields;
        Some(format!(r#"{{"name": "api", "load_balancing_policy": {listed}{fields}}}"#))
    }

    /// The same in the struct.
    pub(crate) fn apply(&self, settings: &mut ClusterSettings, policy: &Policy, routing: &Routing) {
        settings.name = str("api");
        settings.policy = policy.number;
        settings.locality_routing = routing.number;
        for set in [&self.set, &policy.set, &routing.set] {
            set(settings);
        }
    }
}

/// A `LoadBalancingPolicy` of one policy; `fields` begin with a comma.
fn list(message: &str, fields: &str) -> String {
    let prefix = "type.googleapis.com/envoy.extensions.load_balancing_policies.";
    let typed = format!(r#"{{"@type": "{prefix}{message}"{fields}}}"#);
    format!(
        r#"{{"policies": [{{"typed_extension_config": {{"name": "x", "typed_config": {typed}}}}}]}}"#
    )
}

fn number(value: f64, key: &str) -> *const RuntimeNumber {
    keep(RuntimeNumber { default_value: value, runtime_key: str(key) })
}

fn texts(texts: &[&str]) -> &'static [Str] {
    keep(texts.iter().map(|text| str(text)).collect::<Vec<_>>())
}

fn oob_reporting() -> *const OobReporting {
    keep(OobReporting { port_value: 9000, authority: str("api.local"), ..OobReporting::default() })
}

/// A handle that is never freed, as all else here.
pub(crate) fn hash_policies() -> *const HashPolicies {
    let header = HashPolicy {
        kind: PLIMSOLL_HASH_HEADER,
        name: str("X-User"),
        terminal: 1,
        ..HashPolicy::default()
    };
    let policies = [header, HashPolicy { kind: PLIMSOLL_HASH_SOURCE_IP, ..HashPolicy::default() }];
    let mut out = ptr::null_mut();
    // SAFETY: two policies whose texts are kept, and a place for the handle.
    let status =
        unsafe { plimsoll_hash_policies_new(policies.as_ptr(), 2, &raw mut out, ptr::null_mut()) };
    assert_eq!(status, Status::Ok);
    out
}

const SLOW_START: &[Field<SlowStartSettings>] = &[
    Field { text: r#""slow_start_window": "30s""#, set: |it| it.window_ns = 30_000_000_000 },
    Field { text: r#""min_weight_percent": {"value": 0}"#, set: |it| it.min_weight_percent = 0.0 },
    Field {
        text: r#""aggression": {"default_value": 1.5, "runtime_key": "api.aggression"}"#,
        set: |it| it.aggression = number(1.5, "api.aggression"),
    },
];

const LEAST_REQUEST: &[Field<LeastRequestSettings>] = &[
    Field { text: r#""choice_count": 65536"#, set: |it| it.choice_count = 65_536 },
    Field {
        text: r#""selection_method": "FULL_SCAN""#,
        set: |it| it.selection_method = PLIMSOLL_SELECTION_FULL_SCAN,
    },
    Field {
        text: r#""active_request_bias": {"default_value": 0, "runtime_key": "api.bias"}"#,
        set: |it| it.active_request_bias = number(0.0, "api.bias"),
    },
];

const WEIGHTED: &[Field<WeightedSettings>] = &[
    Field { text: r#""blackout_period": "0s""#, set: |it| it.blackout_period_ns = 0 },
    Field {
        text: r#""weight_expiration_period": "1.5s""#,
        set: |it| it.weight_expiration_period_ns = 1_500_000_000,
    },
    Field {
        text: r#""weight_update_period": "0.000000001s""#,
        set: |it| it.weight_update_period_ns = 1,
    },
    Field {
        text: r#""oob_reporting_period": "7s""#,
        set: |it| it.oob_reporting_period_ns = 7_000_000_000,
    },
    Field { text: r#""enable_oob_load_report": true"#, set: |it| it.enable_oob_load_report = 1 },
    Field {
        text: r#""oob_reporting_config": {"port_value": 9000, "authority": "api.local"}"#,
        set: |it| it.oob_reporting_config = oob_reporting(),
    },
    Field {
        text: r#""error_utilization_penalty": 0"#,
        set: |it| it.has_error_utilization_penalty = 1,
    },
    Field {
        text: r#""error_utilization_penalty": 0.3"#,
        set: |it| {
            it.has_error_utilization_penalty = 1;
            it.error_utilization_penalty = 0.3;
        },
    },
    Field {
        text: r#""metric_names_for_computing_utilization": ["named_metrics.a", "cpu_utilization"]"#,
        set: |it| {
            let names = texts(&["named_metrics.a", "cpu_utilization"]);
            it.metric_names_for_computing_utilization = names.as_ptr();
            it.metric_name_count = names.len();
        },
    },
];

const RING_HASH: &[Field<RingHashSettings>] = &[
    Field { text: r#""minimum_ring_size": 1"#, set: |it| it.minimum_ring_size = 1 },
    Field { text: r#""maximum_ring_size": 8388608"#, set: |it| it.maximum_ring_size = 8_388_608 },
    Field {
        text: r#""hash_function": "MURMUR_HASH_2""#,
        set: |it| it.hash_function = PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2,
    },
    Field {
        text: r#""consistent_hashing_lb_config": {"use_hostname_for_hashing": true}"#,
        set: |it| it.use_hostname_for_hashing = 1,
    },
    Field {
        text: r#""consistent_hashing_lb_config": {"hash_balance_factor": 100, "hash_policy":
                 [{"header": {"header_name": "x-user"}, "terminal": true},
                  {"connection_properties": {"source_ip": true}}]}"#,
        set: |it| {
            it.hash_balance_factor = 100;
            it.hash_policies = hash_policies();
        },
    },
];

const MAGLEV: &[Field<MaglevSettings>] = &[
    Field { text: r#""table_size": 5000011"#, set: |it| it.table_size = 5_000_011 },
    Field {
        text: r#""consistent_hashing_lb_config": {"use_hostname_for_hashing": true}"#,
        set: |it| it.use_hostname_for_hashing = 1,
    },
    Field {
        text: r#""consistent_hashing_lb_config": {"hash_balance_factor": 4294967295, "hash_policy":
                 [{"header": {"header_name": "x-user"}, "terminal": true},
                  {"connection_properties": {"source_ip": true}}]}"#,
        set: |it| {
            it.hash_balance_factor = u32::MAX;
            it.hash_policies = hash_policies();
        },
    },
];

const ZONE_AWARE: &[Field<ZoneAwareSettings>] = &[
    Field { text: r#""routing_enabled": {"value": 0}"#, set: |it| it.routing_enabled = 0.0 },
    Field {
        text: r#""min_cluster_size": 18446744073709551615"#,
        set: |it| it.min_cluster_size = u64::MAX,
    },
    Field { text: r#""force_local_zone": {"min_size": 0}"#, set: |it| it.has_force_local_zone = 1 },
    Field {
        text: r#""force_local_zone": {}"#,
        set: |it| {
            it.has_force_local_zone = 1;
            it.force_local_zone = 1;
        },
    },
    Field {
        text: r#""locality_basis": "HEALTHY_HOSTS_WEIGHT""#,
        set: |it| it.locality_basis = PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT,
    },
];

const LOAD_AWARE: &[Field<LoadAwareSettings>] = &[
    Field {
        text: r#""weight_update_period": "0.1s""#,
        set: |it| it.weight_update_period_ns = 100_000_000,
    },
    Field {
        text: r#""smoothing_time_constant": "0.001s""#,
        set: |it| it.smoothing_time_constant_ns = 1_000_000,
    },
    Field {
        text: r#""weight_expiration_period": "0s""#,
        set: |it| it.weight_expiration_period_ns = 0,
    },
    Field {
        text: r#""oob_reporting_period": "7s""#,
        set: |it| it.oob_reporting_period_ns = 7_000_000_000,
    },
    Field {
        text: r#""utilization_variance_threshold": 1"#,
        set: |it| it.utilization_variance_threshold = 1.0,
    },
    Field { text: r#""remote_probe_fraction": 0"#, set: |it| it.remote_probe_fraction = 0.0 },
    Field { text: r#""enable_oob_load_report": true"#, set: |it| it.enable_oob_load_report = 1 },
    Field {
        text: r#""oob_reporting_config": {"port_value": 9000, "authority": "api.local"}"#,
        set: |it| it.oob_reporting_config = oob_reporting(),
    },
    Field {
        text: r#""metric_names_for_computing_utilization": ["named_metrics.*"]"#,
        set: |it| {
            it.metric_names_for_computing_utilization = texts(&["named_metrics.*"]).as_ptr();
            it.metric_name_count = 1;
        },
    },
];

/// Every policy with each of its settings, and with each of slow start's where it has that.
pub(crate) fn policies() -> Vec<Policy> {
    let mut all = vec![Policy {
        number: PLIMSOLL_POLICY_RANDOM,
        message: "random.v3.Random",
        fields: String::new(),
        set: Box::new(|_| ()),
    }];
    let mut add = |number, message, fields: String, set: Box<dyn Fn(&mut ClusterSettings)>| {
        all.push(Policy { number, message, fields, set });
    };
    for fields in combinations(RING_HASH) {
        let own = fields.struct_of();
        let set = Box::new(|it: &mut ClusterSettings| it.ring_hash = own);
        add(PLIMSOLL_POLICY_RING_HASH, "ring_hash.v3.RingHash", fields.after(), set);
    }
    for fields in combinations(MAGLEV) {
        let own = fields.struct_of();
        let set = Box::new(|it: &mut ClusterSettings| it.maglev = own);
        add(PLIMSOLL_POLICY_MAGLEV, "maglev.v3.Maglev", fields.after(), set);
    }
    for (slow_start, warm_up) in slow_starts() {
        let set = Box::new(move |it: &mut ClusterSettings| it.slow_start = slow_start);
        let round_robin = "round_robin.v3.RoundRobin";
        add(PLIMSOLL_POLICY_ROUND_ROBIN, round_robin, warm_up.clone(), set);
        for fields in combinations(LEAST_REQUEST) {
            let own = fields.struct_of();
            let set = Box::new(move |it: &mut ClusterSettings| {
                it.slow_start = slow_start;
                it.least_request = own;
            });
            let text = format!("{}{warm_up}", fields.after());
            add(PLIMSOLL_POLICY_LEAST_REQUEST, "least_request.v3.LeastRequest", text, set);
        }
        for fields in combinations(WEIGHTED) {
            let own = fields.struct_of();
            let set = Box::new(move |it: &mut ClusterSettings| {
                it.slow_start = slow_start;
                it.client_side_weighted_round_robin = own;
            });
            let number = PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN;
            let message = "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin";
            add(number, message, format!("{}{warm_up}", fields.after()), set);
        }
    }
    // Without structs all of them have their defaults.
    for (number, message) in [
        (PLIMSOLL_POLICY_ROUND_ROBIN, "round_robin.v3.RoundRobin"),
        (PLIMSOLL_POLICY_LEAST_REQUEST, "least_request.v3.LeastRequest"),
        (PLIMSOLL_POLICY_RING_HASH, "ring_hash.v3.RingHash"),
        (PLIMSOLL_POLICY_MAGLEV, "maglev.v3.Maglev"),
        (
            PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN,
            "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
        ),
    ] {
        add(number, message, String::new(), Box::new(|_| ()));
    }
    all
}

/// No slow start, and each of its settings, with the text that says so.
fn slow_starts() -> Vec<(*const SlowStartSettings, String)> {
    let some = combinations(SLOW_START).into_iter().map(|fields| {
        let text = format!(r#", "slow_start_config": {{{}}}"#, fields.before());
        (ptr::from_ref(fields.struct_of()), text)
    });
    [(ptr::null(), String::new())].into_iter().chain(some).collect()
}

/// Every routing with each of its settings.
pub(crate) fn routings() -> Vec<Routing> {
    let plain = |number| Routing { number, fields: String::new(), set: Box::new(|_| ()) };
    let mut all = vec![
        plain(PLIMSOLL_ROUTING_UNSET),
        plain(PLIMSOLL_ROUTING_ZONE_AWARE),
        plain(PLIMSOLL_ROUTING_WEIGHTED),
        plain(PLIMSOLL_ROUTING_LOAD_AWARE),
    ];
    for fields in combinations(ZONE_AWARE) {
        let own = fields.struct_of();
        let set = Box::new(move |it: &mut ClusterSettings| it.zone_aware = own);
        all.push(Routing { number: PLIMSOLL_ROUTING_ZONE_AWARE, fields: fields.before(), set });
    }
    let set = Box::new(|it: &mut ClusterSettings| it.fail_traffic_on_panic = 1);
    let fields = r#""fail_traffic_on_panic": true"#.to_owned();
    all.push(Routing { number: PLIMSOLL_ROUTING_ZONE_AWARE, fields, set });
    for fields in combinations(LOAD_AWARE) {
        let own = fields.struct_of();
        let set = Box::new(move |it: &mut ClusterSettings| it.load_aware_locality = own);
        all.push(Routing { number: PLIMSOLL_ROUTING_LOAD_AWARE, fields: fields.after(), set });
    }
    all
}

/// Fields of `Cluster`, but for those in `common_lb_config`.
const OWN: &[Field<ClusterSettings>] = &[
    Field {
        text: r#""health_checks": [{"timeout": "1s"}]"#,
        set: |it| it.active_health_checks = 1,
    },
    Field {
        text: r#""ignore_health_on_host_removal": true"#,
        set: |it| it.ignore_health_on_host_removal = 1,
    },
];

const COMMON: &[Field<ClusterSettings>] = &[
    Field {
        text: r#""healthy_panic_threshold": {"value": 0}"#,
        set: |it| it.healthy_panic_threshold = 0.0,
    },
    Field {
        text: r#""healthy_panic_threshold": {"value": 33.3}"#,
        set: |it| it.healthy_panic_threshold = 33.3,
    },
    Field {
        text: r#""ignore_new_hosts_until_first_hc": true"#,
        set: |it| it.ignore_new_hosts_until_first_hc = 1,
    },
    Field {
        text: r#""override_host_status": {"statuses": []}"#,
        set: |it| it.override_host_status = 0,
    },
    Field {
        text: r#""override_host_status": {"statuses": ["UNHEALTHY", "DRAINING", "TIMEOUT"]}"#,
        set: |it| it.override_host_status = 1 << 2 | 1 << 3 | 1 << 4,
    },
];

const OVERRIDE_HOST: &[Field<OverrideHostSettings>] = &[
    Field {
        text: r#""selected_host_key": {"key": "envoy.lb", "path": [{"key": "selected"}]}"#,
        set: |it| {
            it.selected_host_key = keep(OverrideShown {
                path: texts(&["selected"]).as_ptr(),
                path_count: 1,
                ..place(PLIMSOLL_OVERRIDE_SELECTED_HOST, "envoy.lb")
            });
        },
    },
    Field {
        text: r#""override_host_sources": [{"header": "x-host"},
                 {"metadata": {"key": "envoy.lb", "path": [{"key": "a"}, {"key": "b"}]}}]"#,
        set: |it| {
            let metadata = OverrideShown {
                path: texts(&["a", "b"]).as_ptr(),
                path_count: 2,
                ..place(PLIMSOLL_OVERRIDE_METADATA, "envoy.lb")
            };
            let sources = keep([place(PLIMSOLL_OVERRIDE_HEADER, "x-host"), metadata]);
            it.sources = sources.as_ptr();
            it.source_count = sources.len();
        },
    },
];

pub(crate) fn place(kind: u32, name: &str) -> OverrideShown {
    let size = size_of::<OverrideShown>();
    let (path, path_count) = (ptr::null(), 0);
    OverrideShown { size, kind, reserved: 0, name: str(name), path, path_count }
}

/// Each setting that has nothing to do with policy and routing.
pub(crate) fn common() -> Vec<Case> {
    let mut all = Vec::new();
    for own in combinations(OWN) {
        for common in combinations(COMMON) {
            let sets: Vec<fn(&mut ClusterSettings)> =
                own.set.iter().chain(&common.set).copied().collect();
            let shared = common.before();
            all.push(Case {
                fields: format!(r#"{}, "common_lb_config": {{{shared}}}"#, own.after()),
                override_host: None,
                set: Box::new(move |it| sets.iter().for_each(|set| set(it))),
            });
        }
    }
    for named in combinations(OVERRIDE_HOST) {
        // Without a source it is a mistake.
        if named.text.iter().any(|field| field.contains("override_host_sources")) {
            let own = named.struct_of();
            all.push(Case {
                fields: String::new(),
                override_host: Some(named.before()),
                set: Box::new(move |it| it.override_host = own),
            });
        }
    }
    all
}
