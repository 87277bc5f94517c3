//! Settings that are refused, each with the member that is at fault.

use std::ptr;

use plimsoll_ffi::override_sources::OverrideShown;
use plimsoll_ffi::settings::hashing::{MaglevSettings, RingHashSettings};
use plimsoll_ffi::settings::locality::{LoadAwareSettings, ZoneAwareSettings};
use plimsoll_ffi::settings::override_host::OverrideHostSettings;
use plimsoll_ffi::settings::policy::{LeastRequestSettings, RuntimeNumber, SlowStartSettings};
use plimsoll_ffi::settings::weighted::{OobReporting, WeightedSettings};
use plimsoll_ffi::settings::{ClusterSettings, engine_config};
use plimsoll_ffi::text::Str;

use crate::cases::{keep, place, str};
use crate::header::Structs;

/// Settings of a policy with its number.
fn least_request(own: LeastRequestSettings) -> ClusterSettings {
    ClusterSettings { policy: 1, least_request: keep(own), ..valid() }
}

fn ring_hash(own: RingHashSettings) -> ClusterSettings {
    ClusterSettings { policy: 2, ring_hash: keep(own), ..valid() }
}

fn maglev(own: MaglevSettings) -> ClusterSettings {
    ClusterSettings { policy: 5, maglev: keep(own), ..valid() }
}

fn weighted(own: WeightedSettings) -> ClusterSettings {
    ClusterSettings { policy: 16, client_side_weighted_round_robin: keep(own), ..valid() }
}

fn slow_start(own: SlowStartSettings) -> ClusterSettings {
    ClusterSettings { slow_start: keep(own), ..valid() }
}

fn zone_aware(own: ZoneAwareSettings) -> ClusterSettings {
    ClusterSettings { locality_routing: 1, zone_aware: keep(own), ..valid() }
}

fn load_aware(own: LoadAwareSettings) -> ClusterSettings {
    ClusterSettings { locality_routing: 3, load_aware_locality: keep(own), ..valid() }
}

fn overriding(
    sources: &'static [OverrideShown],
    selected: *const OverrideShown,
) -> ClusterSettings {
    let override_host = keep(OverrideHostSettings {
        sources: sources.as_ptr(),
        source_count: sources.len(),
        selected_host_key: selected,
        ..Default::default()
    });
    ClusterSettings { override_host, ..valid() }
}

fn valid() -> ClusterSettings {
    ClusterSettings { name: str("api"), ..ClusterSettings::default() }
}

fn number(default_value: f64, key: Str) -> *const RuntimeNumber {
    keep(RuntimeNumber { default_value, runtime_key: key })
}

/// A place in metadata.
fn metadata(kind: u32, name: &str, path: &[&str]) -> OverrideShown {
    let path: Vec<Str> = path.iter().map(|field| str(field)).collect();
    let path = keep(path);
    OverrideShown { path: path.as_ptr(), path_count: path.len(), ..place(kind, name) }
}

pub(crate) const NOT_UTF_8: Str = Str { data: c"\xff".as_ptr(), len: 1 };
pub(crate) const NOWHERE: Str = Str { data: ptr::null(), len: 1 };
/// 2 ^ 63 nanoseconds, which no time has.
pub(crate) const ENDLESS: u64 = 1 << 63;

/// What the engine refuses. The order is that of its checks, in `src/config/`.
fn out_of_range() -> Vec<(&'static str, ClusterSettings)> {
    let streams = |port_value, authority| -> *const OobReporting {
        keep(OobReporting { port_value, authority: str(authority), ..OobReporting::default() })
    };
    let (many, control) = (streams(65_536, ""), streams(0, "a\n"));
    vec![
        (
            "least_request.choice_count",
            least_request(LeastRequestSettings { choice_count: 1, ..Default::default() }),
        ),
        (
            "least_request.choice_count",
            least_request(LeastRequestSettings { choice_count: 65_537, ..Default::default() }),
        ),
        (
            "least_request.active_request_bias.runtime_key",
            least_request(LeastRequestSettings {
                active_request_bias: number(1.0, str("")),
                ..Default::default()
            }),
        ),
        (
            "least_request.active_request_bias.default_value",
            least_request(LeastRequestSettings {
                active_request_bias: number(-1.0, str("a")),
                ..Default::default()
            }),
        ),
        (
            "least_request.active_request_bias.default_value",
            least_request(LeastRequestSettings {
                active_request_bias: number(f64::NAN, str("a")),
                ..Default::default()
            }),
        ),
        (
            "client_side_weighted_round_robin.error_utilization_penalty",
            weighted(WeightedSettings {
                has_error_utilization_penalty: 1,
                error_utilization_penalty: -0.1,
                ..Default::default()
            }),
        ),
        (
            "client_side_weighted_round_robin.error_utilization_penalty",
            weighted(WeightedSettings {
                has_error_utilization_penalty: 1,
                error_utilization_penalty: f32::NAN,
                ..Default::default()
            }),
        ),
        (
            "client_side_weighted_round_robin.oob_reporting_config.port_value",
            weighted(WeightedSettings { oob_reporting_config: many, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.oob_reporting_config.authority",
            weighted(WeightedSettings { oob_reporting_config: control, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.oob_reporting_period_ns",
            weighted(WeightedSettings { oob_reporting_period_ns: ENDLESS, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.blackout_period_ns",
            weighted(WeightedSettings { blackout_period_ns: ENDLESS, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.weight_expiration_period_ns",
            weighted(WeightedSettings {
                weight_expiration_period_ns: ENDLESS,
                ..Default::default()
            }),
        ),
        (
            "client_side_weighted_round_robin.weight_update_period_ns",
            weighted(WeightedSettings { weight_update_period_ns: ENDLESS, ..Default::default() }),
        ),
        (
            "ring_hash.minimum_ring_size",
            ring_hash(RingHashSettings { minimum_ring_size: 0, ..Default::default() }),
        ),
        (
            "ring_hash.minimum_ring_size",
            ring_hash(RingHashSettings { minimum_ring_size: 8_388_609, ..Default::default() }),
        ),
        (
            "ring_hash.maximum_ring_size",
            ring_hash(RingHashSettings { maximum_ring_size: 8_388_609, ..Default::default() }),
        ),
        (
            "ring_hash.minimum_ring_size",
            ring_hash(RingHashSettings { maximum_ring_size: 1023, ..Default::default() }),
        ),
        (
            "ring_hash.hash_balance_factor",
            ring_hash(RingHashSettings { hash_balance_factor: 99, ..Default::default() }),
        ),
        ("maglev.table_size", maglev(MaglevSettings { table_size: 65_536, ..Default::default() })),
        (
            "maglev.table_size",
            maglev(MaglevSettings { table_size: 5_000_077, ..Default::default() }),
        ),
        (
            "maglev.hash_balance_factor",
            maglev(MaglevSettings { hash_balance_factor: 1, ..Default::default() }),
        ),
        (
            "slow_start.window_ns",
            slow_start(SlowStartSettings { window_ns: 999_999, ..Default::default() }),
        ),
        (
            "slow_start.window_ns",
            slow_start(SlowStartSettings { window_ns: ENDLESS, ..Default::default() }),
        ),
        (
            "slow_start.window_ns",
            ClusterSettings {
                policy: 1,
                ..slow_start(SlowStartSettings { window_ns: 1, ..Default::default() })
            },
        ),
        (
            "slow_start.window_ns",
            ClusterSettings {
                policy: 16,
                ..slow_start(SlowStartSettings { window_ns: 1, ..Default::default() })
            },
        ),
        (
            "slow_start.aggression.runtime_key",
            slow_start(SlowStartSettings {
                aggression: number(1.0, str("")),
                ..Default::default()
            }),
        ),
        (
            "slow_start.aggression.default_value",
            slow_start(SlowStartSettings {
                aggression: number(0.0, str("a")),
                ..Default::default()
            }),
        ),
        (
            "slow_start.min_weight_percent",
            slow_start(SlowStartSettings { min_weight_percent: 100.1, ..Default::default() }),
        ),
        (
            "slow_start.min_weight_percent",
            slow_start(SlowStartSettings { min_weight_percent: f64::NAN, ..Default::default() }),
        ),
        (
            "zone_aware.routing_enabled",
            zone_aware(ZoneAwareSettings { routing_enabled: 101.0, ..Default::default() }),
        ),
        (
            "zone_aware.routing_enabled",
            zone_aware(ZoneAwareSettings { routing_enabled: f64::NAN, ..Default::default() }),
        ),
        (
            "load_aware_locality.weight_update_period_ns",
            load_aware(LoadAwareSettings {
                weight_update_period_ns: 99_999_999,
                ..Default::default()
            }),
        ),
        (
            "load_aware_locality.smoothing_time_constant_ns",
            load_aware(LoadAwareSettings {
                smoothing_time_constant_ns: 999_999,
                ..Default::default()
            }),
        ),
        (
            "load_aware_locality.utilization_variance_threshold",
            load_aware(LoadAwareSettings {
                utilization_variance_threshold: 1.1,
                ..Default::default()
            }),
        ),
        (
            "load_aware_locality.utilization_variance_threshold",
            load_aware(LoadAwareSettings {
                utilization_variance_threshold: f64::NAN,
                ..Default::default()
            }),
        ),
        (
            "load_aware_locality.remote_probe_fraction",
            load_aware(LoadAwareSettings { remote_probe_fraction: 1.0, ..Default::default() }),
        ),
        (
            "load_aware_locality.oob_reporting_config.port_value",
            load_aware(LoadAwareSettings { oob_reporting_config: many, ..Default::default() }),
        ),
        (
            "load_aware_locality.oob_reporting_config.authority",
            load_aware(LoadAwareSettings { oob_reporting_config: control, ..Default::default() }),
        ),
        (
            "load_aware_locality.weight_update_period_ns",
            load_aware(LoadAwareSettings {
                weight_update_period_ns: ENDLESS,
                ..Default::default()
            }),
        ),
        (
            "load_aware_locality.smoothing_time_constant_ns",
            load_aware(LoadAwareSettings {
                smoothing_time_constant_ns: ENDLESS,
                ..Default::default()
            }),
        ),
        (
            "load_aware_locality.weight_expiration_period_ns",
            load_aware(LoadAwareSettings {
                weight_expiration_period_ns: ENDLESS,
                ..Default::default()
            }),
        ),
        (
            "load_aware_locality.oob_reporting_period_ns",
            load_aware(LoadAwareSettings {
                oob_reporting_period_ns: ENDLESS,
                ..Default::default()
            }),
        ),
        ("locality_routing", ClusterSettings { policy: 2, locality_routing: 1, ..valid() }),
        (
            "locality_routing",
            ClusterSettings { policy: 5, ..zone_aware(ZoneAwareSettings::default()) },
        ),
        ("override_host.sources", overriding(&[], ptr::null())),
        (
            "override_host.sources[1].name",
            overriding(keep([place(1, "a"), place(1, "")]), ptr::null()),
        ),
        ("override_host.sources[0].name", overriding(keep([metadata(2, "", &["a"])]), ptr::null())),
        ("override_host.sources[0].path", overriding(keep([metadata(2, "a", &[])]), ptr::null())),
        (
            "override_host.sources[0].path[1]",
            overriding(keep([metadata(2, "a", &["b", ""])]), ptr::null()),
        ),
        (
            "override_host.selected_host_key.name",
            overriding(keep([place(1, "a")]), keep(metadata(3, "", &["a"]))),
        ),
        (
            "override_host.selected_host_key.path",
            overriding(keep([place(1, "a")]), keep(metadata(3, "a", &[]))),
        ),
        (
            "override_host.selected_host_key.path[0]",
            overriding(keep([place(1, "a")]), keep(metadata(3, "a", &[""]))),
        ),
        ("healthy_panic_threshold", ClusterSettings { healthy_panic_threshold: 100.1, ..valid() }),
        (
            "healthy_panic_threshold",
            ClusterSettings { healthy_panic_threshold: f64::NAN, ..valid() },
        ),
    ]
}

/// What the engine's types cannot hold, or nobody can mean.
fn not_to_be_said() -> Vec<(&'static str, ClusterSettings)> {
    let slow_start = keep(SlowStartSettings::default());
    let reserved = |place: OverrideShown| OverrideShown { reserved: 1, ..place };
    let sources = |sources: *const OverrideShown, source_count| -> *const OverrideHostSettings {
        keep(OverrideHostSettings { sources, source_count, ..Default::default() })
    };
    vec![
        ("size", ClusterSettings { size: 7, ..valid() }),
        ("size", ClusterSettings { size: usize::MAX, ..valid() }),
        ("name", ClusterSettings { name: str(""), ..valid() }),
        ("name", ClusterSettings { name: NOT_UTF_8, ..valid() }),
        ("name", ClusterSettings { name: NOWHERE, ..valid() }),
        ("name", ClusterSettings { name: Str { len: usize::MAX, ..str("a") }, ..valid() }),
        ("policy", ClusterSettings { policy: 4, ..valid() }),
        ("policy", ClusterSettings { policy: u32::MAX, ..valid() }),
        ("locality_routing", ClusterSettings { locality_routing: 4, ..valid() }),
        ("fail_traffic_on_panic", ClusterSettings { fail_traffic_on_panic: 2, ..valid() }),
        ("active_health_checks", ClusterSettings { active_health_checks: 2, ..valid() }),
        (
            "ignore_new_hosts_until_first_hc",
            ClusterSettings { ignore_new_hosts_until_first_hc: 2, ..valid() },
        ),
        (
            "ignore_health_on_host_removal",
            ClusterSettings { ignore_health_on_host_removal: u32::MAX, ..valid() },
        ),
        ("override_host_status", ClusterSettings { override_host_status: 1 << 6, ..valid() }),
        ("override_host_status", ClusterSettings { override_host_status: 1 << 31, ..valid() }),
        // Of what was not chosen.
        ("slow_start", ClusterSettings { policy: 2, slow_start, ..valid() }),
        ("slow_start", ClusterSettings { policy: 3, slow_start, ..valid() }),
        ("slow_start", ClusterSettings { policy: 5, slow_start, ..valid() }),
        ("least_request", ClusterSettings { policy: 0, ..least_request(Default::default()) }),
        (
            "client_side_weighted_round_robin",
            ClusterSettings { policy: 0, ..weighted(Default::default()) },
        ),
        ("ring_hash", ClusterSettings { policy: 5, ..ring_hash(Default::default()) }),
        ("maglev", ClusterSettings { policy: 2, ..maglev(Default::default()) }),
        ("zone_aware", ClusterSettings { locality_routing: 0, ..zone_aware(Default::default()) }),
        (
            "load_aware_locality",
            ClusterSettings { locality_routing: 2, ..load_aware(Default::default()) },
        ),
        // Sizes and numbers of what is pointed to.
        (
            "slow_start.size",
            ClusterSettings {
                slow_start: keep(SlowStartSettings { size: 1, ..Default::default() }),
                ..valid()
            },
        ),
        (
            "slow_start.aggression.runtime_key",
            ClusterSettings {
                slow_start: keep(SlowStartSettings {
                    aggression: number(1.0, NOT_UTF_8),
                    ..Default::default()
                }),
                ..valid()
            },
        ),
        (
            "least_request.size",
            least_request(LeastRequestSettings { size: 4097, ..Default::default() }),
        ),
        (
            "least_request.selection_method",
            least_request(LeastRequestSettings { selection_method: 2, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.size",
            weighted(WeightedSettings { size: 0, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin",
            weighted(WeightedSettings { reserved: 1, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.enable_oob_load_report",
            weighted(WeightedSettings { enable_oob_load_report: 2, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.has_error_utilization_penalty",
            weighted(WeightedSettings { has_error_utilization_penalty: 2, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.error_utilization_penalty",
            weighted(WeightedSettings { error_utilization_penalty: 1.0, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.metric_names_for_computing_utilization",
            weighted(WeightedSettings { metric_name_count: 1, ..Default::default() }),
        ),
        (
            "client_side_weighted_round_robin.metric_names_for_computing_utilization",
            weighted(WeightedSettings {
                metric_names_for_computing_utilization: keep(NOT_UTF_8),
                metric_name_count: usize::MAX,
                ..Default::default()
            }),
        ),
        (
            "client_side_weighted_round_robin.metric_names_for_computing_utilization[0]",
            weighted(WeightedSettings {
                metric_names_for_computing_utilization: keep(NOT_UTF_8),
                metric_name_count: 1,
                ..Default::default()
            }),
        ),
        (
            "client_side_weighted_round_robin.oob_reporting_config.size",
            weighted(WeightedSettings {
                oob_reporting_config: keep(OobReporting { size: 1, ..Default::default() }),
                ..Default::default()
            }),
        ),
        (
            "client_side_weighted_round_robin.oob_reporting_config",
            weighted(WeightedSettings {
                oob_reporting_config: keep(OobReporting { reserved: 1, ..Default::default() }),
                ..Default::default()
            }),
        ),
        (
            "ring_hash.hash_function",
            ring_hash(RingHashSettings { hash_function: 2, ..Default::default() }),
        ),
        (
            "ring_hash.use_hostname_for_hashing",
            ring_hash(RingHashSettings { use_hostname_for_hashing: 2, ..Default::default() }),
        ),
        ("ring_hash", ring_hash(RingHashSettings { reserved: 1, ..Default::default() })),
        (
            "maglev.use_hostname_for_hashing",
            maglev(MaglevSettings { use_hostname_for_hashing: 2, ..Default::default() }),
        ),
        ("maglev", maglev(MaglevSettings { reserved: 1, ..Default::default() })),
        (
            "zone_aware.has_force_local_zone",
            zone_aware(ZoneAwareSettings { has_force_local_zone: 2, ..Default::default() }),
        ),
        (
            "zone_aware.force_local_zone",
            zone_aware(ZoneAwareSettings { force_local_zone: 1, ..Default::default() }),
        ),
        (
            "zone_aware.locality_basis",
            zone_aware(ZoneAwareSettings { locality_basis: 2, ..Default::default() }),
        ),
        ("zone_aware", zone_aware(ZoneAwareSettings { reserved: 1, ..Default::default() })),
        (
            "load_aware_locality.enable_oob_load_report",
            load_aware(LoadAwareSettings { enable_oob_load_report: 2, ..Default::default() }),
        ),
        (
            "load_aware_locality.metric_names_for_computing_utilization",
            load_aware(LoadAwareSettings { metric_name_count: 1, ..Default::default() }),
        ),
        (
            "load_aware_locality",
            load_aware(LoadAwareSettings { reserved: 1, ..Default::default() }),
        ),
        (
            "override_host.sources",
            ClusterSettings { override_host: sources(ptr::null(), 1), ..valid() },
        ),
        (
            "override_host.sources",
            ClusterSettings { override_host: sources(keep(place(1, "a")), usize::MAX), ..valid() },
        ),
        ("override_host.sources[0].kind", overriding(keep([place(3, "a")]), ptr::null())),
        ("override_host.sources[0].kind", overriding(keep([place(0, "a")]), ptr::null())),
        ("override_host.sources[0]", overriding(keep([reserved(place(1, "a"))]), ptr::null())),
        (
            "override_host.sources[0].name",
            overriding(keep([OverrideShown { name: NOT_UTF_8, ..place(1, "") }]), ptr::null()),
        ),
        (
            "override_host.sources[0].path",
            overriding(keep([OverrideShown { path_count: 1, ..place(2, "a") }]), ptr::null()),
        ),
        (
            "override_host.sources[1].size",
            overriding(
                keep([place(1, "a"), OverrideShown { size: 56, ..place(1, "a") }]),
                ptr::null(),
            ),
        ),
        (
            "override_host.selected_host_key.kind",
            overriding(keep([place(1, "a")]), keep(place(1, "a"))),
        ),
    ]
}

#[test]
fn every_mistake_in_settings_is_named_by_a_member_that_is_there() {
    let structs = Structs::read();
    // SAFETY: what the settings point to is kept.
    let refused = |settings: &ClusterSettings| unsafe { engine_config(settings) }.err();
    assert!(refused(&valid()).is_none());
    for (member, settings) in out_of_range().into_iter().chain(not_to_be_said()) {
        let failure = refused(&settings).unwrap_or_else(|| panic!("{member} is accepted"));
        assert_eq!(failure.field(), format!("settings.{member}"));
        assert!(structs.has("plimsoll_cluster_settings", member), "{member}");
    }
}

/// Each path that an error of the engine's settings can have is met above: the names of fields stand
/// in its sources as literals, next to what is wrong with them.
#[test]
fn no_field_that_the_engine_checks_is_left_out() {
    let folder = crate::support::root().join("src/config");
    let sources = ["policy", "weighted", "hashing", "locality", "override_host", "cluster"];
    let known: Vec<&str> = out_of_range().into_iter().map(|(member, _)| member).collect();
    let mut checked = 0;
    for source in sources {
        let text = std::fs::read_to_string(folder.join(source).with_extension("rs"));
        let text = text.expect("a source of the engine");
        // Of a hash policy's kinds the handle takes care, before it can be a setting.
        let text = text.split("impl HashPolicy {").next().unwrap_or_default();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for place in ["ConfigError::new(\"", "invalid(\"", "Err(invalid(\"", "within(\""] {
            for found in text.split(place).skip(1) {
                let name = found.split('"').next().unwrap_or_default();
                let name = name.rsplit('.').next().unwrap_or_default();
                let own = match name {
                    "" | "consistent_hashing_lb_config" | "metadata" => continue,
                    "slow_start_config" => "slow_start",
                    "slow_start_window" => "window_ns",
                    "override_host_sources" => "sources",
                    "key" => "name",
                    other => other,
                };
                checked += 1;
                let is_met = |member: &&str| {
                    member
                        .split(['.', '['])
                        .any(|part| part.trim_end_matches("_ns") == own.trim_end_matches("_ns"))
                };
                assert!(known.iter().any(is_met), "{source}: {name}");
            }
        }
    }
    assert!(checked > 20, "the sources were not understood: {checked}");
}
