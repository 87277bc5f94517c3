//! How the structs of the interface lie in memory.
//!
//! C code that is compiled already relies on these numbers, so that a change of one of them is a
//! change of the interface. The C tests assert the same from the other side. A growable struct has
//! no padding: a byte that no member names could not be told from one of a later version.

use std::mem::{offset_of, size_of};

use crate::assignment::{Assignment, Endpoint, LocalityHosts};
use crate::change::HostChange;
use crate::control::Applied;
use crate::hash_policy::HashPolicy;
use crate::hosts::Host;
use crate::json::DumpOptions;
use crate::load::HostLoad;
use crate::localities::LocalityShown;
use crate::options::ClusterOptions;
use crate::override_sources::OverrideShown;
use crate::pick::{Pick, PickContext};
use crate::prometheus::PrometheusOptions;
use crate::reports::ResponseLoad;
use crate::request_hash::{FilterState, Header, Request};
use crate::runtime::RuntimeValue;
use crate::settings::ClusterSettings;
use crate::settings::hashing::{MaglevSettings, RingHashSettings};
use crate::settings::locality::{LoadAwareSettings, ZoneAwareSettings};
use crate::settings::override_host::OverrideHostSettings;
use crate::settings::policy::{LeastRequestSettings, RuntimeNumber, SlowStartSettings};
use crate::settings::weighted::{OobReporting, WeightedSettings};
use crate::status::Status;
use crate::streams::StreamShown;
use crate::text::Str;
use crate::worker_options::WorkerOptions;

const _: () = assert!(size_of::<Status>() == 4);

const _: () = assert!(size_of::<Pick>() == 16);
const _: () = assert!(offset_of!(Pick, slot) == 0);
const _: () = assert!(offset_of!(Pick, generation) == 4);
const _: () = assert!(offset_of!(Pick, priority) == 8);
const _: () = assert!(offset_of!(Pick, flags) == 12);

/// Where a pointer has 64 bits.
#[cfg(target_pointer_width = "64")]
mod pointers_of_64_bits {
    use super::*;

    const _: () = assert!(size_of::<Str>() == 16);
    const _: () = assert!(offset_of!(Str, len) == 8);

    const _: () = assert!(size_of::<Applied>() == 16);
    const _: () = assert!(offset_of!(Applied, published) == 8);

    const _: () = assert!(size_of::<ClusterOptions>() == 128);
    const _: () = assert!(offset_of!(ClusterOptions, size) == 0);
    const _: () = assert!(offset_of!(ClusterOptions, behavior) == 8);
    const _: () = assert!(offset_of!(ClusterOptions, has_seed) == 12);
    const _: () = assert!(offset_of!(ClusterOptions, seed) == 16);
    const _: () = assert!(offset_of!(ClusterOptions, now_ns) == 24);
    const _: () = assert!(offset_of!(ClusterOptions, region) == 32);
    const _: () = assert!(offset_of!(ClusterOptions, zone) == 48);
    const _: () = assert!(offset_of!(ClusterOptions, sub_zone) == 64);
    const _: () = assert!(offset_of!(ClusterOptions, local_cluster) == 80);
    const _: () = assert!(offset_of!(ClusterOptions, runtime) == 88);
    const _: () = assert!(offset_of!(ClusterOptions, runtime_count) == 96);
    const _: () = assert!(offset_of!(ClusterOptions, log) == 104);
    const _: () = assert!(offset_of!(ClusterOptions, log_userdata) == 112);
    const _: () = assert!(offset_of!(ClusterOptions, log_level) == 120);
    const _: () = assert!(offset_of!(ClusterOptions, reserved) == 124);

    const _: () = assert!(size_of::<ClusterSettings>() == 128);
    const _: () = assert!(offset_of!(ClusterSettings, size) == 0);
    const _: () = assert!(offset_of!(ClusterSettings, name) == 8);
    const _: () = assert!(offset_of!(ClusterSettings, policy) == 24);
    const _: () = assert!(offset_of!(ClusterSettings, locality_routing) == 28);
    const _: () = assert!(offset_of!(ClusterSettings, healthy_panic_threshold) == 32);
    const _: () = assert!(offset_of!(ClusterSettings, fail_traffic_on_panic) == 40);
    const _: () = assert!(offset_of!(ClusterSettings, active_health_checks) == 44);
    const _: () = assert!(offset_of!(ClusterSettings, ignore_new_hosts_until_first_hc) == 48);
    const _: () = assert!(offset_of!(ClusterSettings, ignore_health_on_host_removal) == 52);
    const _: () = assert!(offset_of!(ClusterSettings, override_host_status) == 56);
    const _: () = assert!(offset_of!(ClusterSettings, reserved) == 60);
    const _: () = assert!(offset_of!(ClusterSettings, slow_start) == 64);
    const _: () = assert!(offset_of!(ClusterSettings, least_request) == 72);
    const _: () = assert!(offset_of!(ClusterSettings, client_side_weighted_round_robin) == 80);
    const _: () = assert!(offset_of!(ClusterSettings, ring_hash) == 88);
    const _: () = assert!(offset_of!(ClusterSettings, maglev) == 96);
    const _: () = assert!(offset_of!(ClusterSettings, zone_aware) == 104);
    const _: () = assert!(offset_of!(ClusterSettings, load_aware_locality) == 112);
    const _: () = assert!(offset_of!(ClusterSettings, override_host) == 120);

    const _: () = assert!(size_of::<RuntimeNumber>() == 24);
    const _: () = assert!(offset_of!(RuntimeNumber, default_value) == 0);
    const _: () = assert!(offset_of!(RuntimeNumber, runtime_key) == 8);

    const _: () = assert!(size_of::<SlowStartSettings>() == 32);
    const _: () = assert!(offset_of!(SlowStartSettings, size) == 0);
    const _: () = assert!(offset_of!(SlowStartSettings, window_ns) == 8);
    const _: () = assert!(offset_of!(SlowStartSettings, min_weight_percent) == 16);
    const _: () = assert!(offset_of!(SlowStartSettings, aggression) == 24);

    const _: () = assert!(size_of::<LeastRequestSettings>() == 24);
    const _: () = assert!(offset_of!(LeastRequestSettings, size) == 0);
    const _: () = assert!(offset_of!(LeastRequestSettings, choice_count) == 8);
    const _: () = assert!(offset_of!(LeastRequestSettings, selection_method) == 12);
    const _: () = assert!(offset_of!(LeastRequestSettings, active_request_bias) == 16);

    const _: () = assert!(size_of::<WeightedSettings>() == 80);
    const _: () = assert!(offset_of!(WeightedSettings, size) == 0);
    const _: () = assert!(offset_of!(WeightedSettings, blackout_period_ns) == 8);
    const _: () = assert!(offset_of!(WeightedSettings, weight_expiration_period_ns) == 16);
    const _: () = assert!(offset_of!(WeightedSettings, weight_update_period_ns) == 24);
    const _: () = assert!(offset_of!(WeightedSettings, oob_reporting_period_ns) == 32);
    const _: () = assert!(offset_of!(WeightedSettings, enable_oob_load_report) == 40);
    const _: () = assert!(offset_of!(WeightedSettings, has_error_utilization_penalty) == 44);
    const _: () = assert!(offset_of!(WeightedSettings, error_utilization_penalty) == 48);
    const _: () = assert!(offset_of!(WeightedSettings, reserved) == 52);
    const _: () = assert!(offset_of!(WeightedSettings, oob_reporting_config) == 56);
    const _: () =
        assert!(offset_of!(WeightedSettings, metric_names_for_computing_utilization) == 64);
    const _: () = assert!(offset_of!(WeightedSettings, metric_name_count) == 72);

    const _: () = assert!(size_of::<OobReporting>() == 32);
    const _: () = assert!(offset_of!(OobReporting, size) == 0);
    const _: () = assert!(offset_of!(OobReporting, authority) == 8);
    const _: () = assert!(offset_of!(OobReporting, port_value) == 24);
    const _: () = assert!(offset_of!(OobReporting, reserved) == 28);

    const _: () = assert!(size_of::<RingHashSettings>() == 40);
    const _: () = assert!(offset_of!(RingHashSettings, size) == 0);
    const _: () = assert!(offset_of!(RingHashSettings, hash_function) == 8);
    const _: () = assert!(offset_of!(RingHashSettings, minimum_ring_size) == 12);
    const _: () = assert!(offset_of!(RingHashSettings, maximum_ring_size) == 16);
    const _: () = assert!(offset_of!(RingHashSettings, use_hostname_for_hashing) == 20);
    const _: () = assert!(offset_of!(RingHashSettings, hash_balance_factor) == 24);
    const _: () = assert!(offset_of!(RingHashSettings, reserved) == 28);
    const _: () = assert!(offset_of!(RingHashSettings, hash_policies) == 32);

    const _: () = assert!(size_of::<MaglevSettings>() == 32);
    const _: () = assert!(offset_of!(MaglevSettings, size) == 0);
    const _: () = assert!(offset_of!(MaglevSettings, table_size) == 8);
    const _: () = assert!(offset_of!(MaglevSettings, use_hostname_for_hashing) == 12);
    const _: () = assert!(offset_of!(MaglevSettings, hash_balance_factor) == 16);
    const _: () = assert!(offset_of!(MaglevSettings, reserved) == 20);
    const _: () = assert!(offset_of!(MaglevSettings, hash_policies) == 24);

    const _: () = assert!(size_of::<ZoneAwareSettings>() == 40);
    const _: () = assert!(offset_of!(ZoneAwareSettings, size) == 0);
    const _: () = assert!(offset_of!(ZoneAwareSettings, routing_enabled) == 8);
    const _: () = assert!(offset_of!(ZoneAwareSettings, min_cluster_size) == 16);
    const _: () = assert!(offset_of!(ZoneAwareSettings, has_force_local_zone) == 24);
    const _: () = assert!(offset_of!(ZoneAwareSettings, force_local_zone) == 28);
    const _: () = assert!(offset_of!(ZoneAwareSettings, locality_basis) == 32);
    const _: () = assert!(offset_of!(ZoneAwareSettings, reserved) == 36);

    const _: () = assert!(size_of::<LoadAwareSettings>() == 88);
    const _: () = assert!(offset_of!(LoadAwareSettings, size) == 0);
    const _: () = assert!(offset_of!(LoadAwareSettings, weight_update_period_ns) == 8);
    const _: () = assert!(offset_of!(LoadAwareSettings, smoothing_time_constant_ns) == 16);
    const _: () = assert!(offset_of!(LoadAwareSettings, weight_expiration_period_ns) == 24);
    const _: () = assert!(offset_of!(LoadAwareSettings, oob_reporting_period_ns) == 32);
    const _: () = assert!(offset_of!(LoadAwareSettings, utilization_variance_threshold) == 40);
    const _: () = assert!(offset_of!(LoadAwareSettings, remote_probe_fraction) == 48);
    const _: () = assert!(offset_of!(LoadAwareSettings, enable_oob_load_report) == 56);
    const _: () = assert!(offset_of!(LoadAwareSettings, reserved) == 60);
    const _: () = assert!(offset_of!(LoadAwareSettings, oob_reporting_config) == 64);
    const _: () =
        assert!(offset_of!(LoadAwareSettings, metric_names_for_computing_utilization) == 72);
    const _: () = assert!(offset_of!(LoadAwareSettings, metric_name_count) == 80);

    const _: () = assert!(size_of::<OverrideHostSettings>() == 32);
    const _: () = assert!(offset_of!(OverrideHostSettings, size) == 0);
    const _: () = assert!(offset_of!(OverrideHostSettings, sources) == 8);
    const _: () = assert!(offset_of!(OverrideHostSettings, source_count) == 16);
    const _: () = assert!(offset_of!(OverrideHostSettings, selected_host_key) == 24);

    const _: () = assert!(size_of::<HashPolicy>() == 80);
    const _: () = assert!(offset_of!(HashPolicy, size) == 0);
    const _: () = assert!(offset_of!(HashPolicy, kind) == 8);
    const _: () = assert!(offset_of!(HashPolicy, terminal) == 12);
    const _: () = assert!(offset_of!(HashPolicy, name) == 16);
    const _: () = assert!(offset_of!(HashPolicy, path) == 32);
    const _: () = assert!(offset_of!(HashPolicy, ttl_ns) == 48);
    const _: () = assert!(offset_of!(HashPolicy, attributes) == 56);
    const _: () = assert!(offset_of!(HashPolicy, attribute_count) == 64);
    const _: () = assert!(offset_of!(HashPolicy, has_ttl) == 72);
    const _: () = assert!(offset_of!(HashPolicy, reserved) == 76);

    const _: () = assert!(size_of::<Assignment>() == 32);
    const _: () = assert!(offset_of!(Assignment, size) == 0);
    const _: () = assert!(offset_of!(Assignment, localities) == 8);
    const _: () = assert!(offset_of!(Assignment, locality_count) == 16);
    const _: () = assert!(offset_of!(Assignment, overprovisioning_factor) == 24);
    const _: () = assert!(offset_of!(Assignment, weighted_priority_health) == 28);

    const _: () = assert!(size_of::<LocalityHosts>() == 80);
    const _: () = assert!(offset_of!(LocalityHosts, size) == 0);
    const _: () = assert!(offset_of!(LocalityHosts, region) == 8);
    const _: () = assert!(offset_of!(LocalityHosts, zone) == 24);
    const _: () = assert!(offset_of!(LocalityHosts, sub_zone) == 40);
    const _: () = assert!(offset_of!(LocalityHosts, priority) == 56);
    const _: () = assert!(offset_of!(LocalityHosts, weight) == 60);
    const _: () = assert!(offset_of!(LocalityHosts, hosts) == 64);
    const _: () = assert!(offset_of!(LocalityHosts, host_count) == 72);

    const _: () = assert!(size_of::<Endpoint>() == 88);
    const _: () = assert!(offset_of!(Endpoint, size) == 0);
    const _: () = assert!(offset_of!(Endpoint, address) == 8);
    const _: () = assert!(offset_of!(Endpoint, hostname) == 24);
    const _: () = assert!(offset_of!(Endpoint, hash_key) == 40);
    const _: () = assert!(offset_of!(Endpoint, health_check_address) == 56);
    const _: () = assert!(offset_of!(Endpoint, weight) == 72);
    const _: () = assert!(offset_of!(Endpoint, health_status) == 76);
    const _: () = assert!(offset_of!(Endpoint, disable_active_health_check) == 80);
    const _: () = assert!(offset_of!(Endpoint, reserved) == 84);

    const _: () = assert!(size_of::<RuntimeValue>() == 48);
    const _: () = assert!(offset_of!(RuntimeValue, size) == 0);
    const _: () = assert!(offset_of!(RuntimeValue, key) == 8);
    const _: () = assert!(offset_of!(RuntimeValue, kind) == 24);
    const _: () = assert!(offset_of!(RuntimeValue, boolean) == 28);
    const _: () = assert!(offset_of!(RuntimeValue, integer) == 32);
    const _: () = assert!(offset_of!(RuntimeValue, number) == 40);

    const _: () = assert!(size_of::<WorkerOptions>() == 40);
    const _: () = assert!(offset_of!(WorkerOptions, size) == 0);
    const _: () = assert!(offset_of!(WorkerOptions, peek_capacity) == 8);
    const _: () = assert!(offset_of!(WorkerOptions, has_number) == 12);
    const _: () = assert!(offset_of!(WorkerOptions, number) == 16);
    const _: () = assert!(offset_of!(WorkerOptions, draws) == 24);
    const _: () = assert!(offset_of!(WorkerOptions, draw_count) == 32);

    const _: () = assert!(size_of::<DumpOptions>() == 32);
    const _: () = assert!(offset_of!(DumpOptions, size) == 0);
    const _: () = assert!(offset_of!(DumpOptions, part) == 8);
    const _: () = assert!(offset_of!(DumpOptions, flags) == 12);
    const _: () = assert!(offset_of!(DumpOptions, priority) == 16);
    const _: () = assert!(offset_of!(DumpOptions, source) == 24);
    const _: () = assert!(offset_of!(DumpOptions, reserved) == 28);

    const _: () = assert!(size_of::<HostChange>() == 128);
    const _: () = assert!(offset_of!(HostChange, size) == 0);
    const _: () = assert!(offset_of!(HostChange, kind) == 8);
    const _: () = assert!(offset_of!(HostChange, event) == 12);
    const _: () = assert!(offset_of!(HostChange, address) == 16);
    const _: () = assert!(offset_of!(HostChange, hostname) == 32);
    const _: () = assert!(offset_of!(HostChange, region) == 48);
    const _: () = assert!(offset_of!(HostChange, zone) == 64);
    const _: () = assert!(offset_of!(HostChange, sub_zone) == 80);
    const _: () = assert!(offset_of!(HostChange, priority) == 96);
    const _: () = assert!(offset_of!(HostChange, weight) == 100);
    const _: () = assert!(offset_of!(HostChange, health_status) == 104);
    const _: () = assert!(offset_of!(HostChange, reserved) == 108);
    const _: () = assert!(offset_of!(HostChange, hash_key) == 112);

    const _: () = assert!(size_of::<HostLoad>() == 40);
    const _: () = assert!(offset_of!(HostLoad, size) == 0);
    const _: () = assert!(offset_of!(HostLoad, address) == 8);
    const _: () = assert!(offset_of!(HostLoad, active) == 24);
    const _: () = assert!(offset_of!(HostLoad, pending) == 28);
    const _: () = assert!(offset_of!(HostLoad, flags) == 32);
    const _: () = assert!(offset_of!(HostLoad, reserved) == 36);

    const _: () = assert!(size_of::<Host>() == 176);
    const _: () = assert!(offset_of!(Host, size) == 0);
    const _: () = assert!(offset_of!(Host, address) == 8);
    const _: () = assert!(offset_of!(Host, hostname) == 24);
    const _: () = assert!(offset_of!(Host, region) == 40);
    const _: () = assert!(offset_of!(Host, zone) == 56);
    const _: () = assert!(offset_of!(Host, sub_zone) == 72);
    const _: () = assert!(offset_of!(Host, priority) == 88);
    const _: () = assert!(offset_of!(Host, weight) == 92);
    const _: () = assert!(offset_of!(Host, active) == 96);
    const _: () = assert!(offset_of!(Host, health) == 100);
    const _: () = assert!(offset_of!(Host, eds_health) == 104);
    const _: () = assert!(offset_of!(Host, coarse) == 108);
    const _: () = assert!(offset_of!(Host, effective_weight) == 112);
    const _: () = assert!(offset_of!(Host, share) == 120);
    const _: () = assert!(offset_of!(Host, slow_start_factor) == 128);
    const _: () = assert!(offset_of!(Host, slow_start_seconds_left) == 136);
    const _: () = assert!(offset_of!(Host, has_report) == 144);
    const _: () = assert!(offset_of!(Host, reserved) == 148);
    const _: () = assert!(offset_of!(Host, utilization) == 152);
    const _: () = assert!(offset_of!(Host, report_age_ns) == 160);
    const _: () = assert!(offset_of!(Host, reported_weight) == 168);

    const _: () = assert!(size_of::<LocalityShown>() == 104);
    const _: () = assert!(offset_of!(LocalityShown, size) == 0);
    const _: () = assert!(offset_of!(LocalityShown, region) == 8);
    const _: () = assert!(offset_of!(LocalityShown, zone) == 24);
    const _: () = assert!(offset_of!(LocalityShown, sub_zone) == 40);
    const _: () = assert!(offset_of!(LocalityShown, priority) == 56);
    const _: () = assert!(offset_of!(LocalityShown, source) == 60);
    const _: () = assert!(offset_of!(LocalityShown, all_local) == 64);
    const _: () = assert!(offset_of!(LocalityShown, has_utilization) == 68);
    const _: () = assert!(offset_of!(LocalityShown, hosts) == 72);
    const _: () = assert!(offset_of!(LocalityShown, load) == 80);
    const _: () = assert!(offset_of!(LocalityShown, utilization) == 88);
    const _: () = assert!(offset_of!(LocalityShown, weight) == 96);

    const _: () = assert!(size_of::<PickContext>() == 40);
    const _: () = assert!(offset_of!(PickContext, size) == 0);
    const _: () = assert!(offset_of!(PickContext, retries) == 8);
    const _: () = assert!(offset_of!(PickContext, flags) == 12);
    const _: () = assert!(offset_of!(PickContext, now_ns) == 16);
    const _: () = assert!(offset_of!(PickContext, hash) == 24);
    const _: () = assert!(offset_of!(PickContext, attempt) == 32);
    const _: () = assert!(offset_of!(PickContext, reserved) == 36);

    const _: () = assert!(size_of::<Header>() == 32);
    const _: () = assert!(offset_of!(Header, name) == 0);
    const _: () = assert!(offset_of!(Header, value) == 16);

    const _: () = assert!(size_of::<Request>() == 136);
    const _: () = assert!(offset_of!(Request, size) == 0);
    const _: () = assert!(offset_of!(Request, headers) == 8);
    const _: () = assert!(offset_of!(Request, header_count) == 16);
    const _: () = assert!(offset_of!(Request, path) == 24);
    const _: () = assert!(offset_of!(Request, query) == 40);
    const _: () = assert!(offset_of!(Request, source_ip) == 56);
    const _: () = assert!(offset_of!(Request, remote_address) == 72);
    const _: () = assert!(offset_of!(Request, local_address) == 88);
    const _: () = assert!(offset_of!(Request, cookies) == 104);
    const _: () = assert!(offset_of!(Request, cookie_count) == 112);
    const _: () = assert!(offset_of!(Request, filter_states) == 120);
    const _: () = assert!(offset_of!(Request, filter_state_count) == 128);

    const _: () = assert!(size_of::<FilterState>() == 24);
    const _: () = assert!(offset_of!(FilterState, key) == 0);
    const _: () = assert!(offset_of!(FilterState, hash) == 16);

    const _: () = assert!(size_of::<OverrideShown>() == 48);
    const _: () = assert!(offset_of!(OverrideShown, size) == 0);
    const _: () = assert!(offset_of!(OverrideShown, kind) == 8);
    const _: () = assert!(offset_of!(OverrideShown, reserved) == 12);
    const _: () = assert!(offset_of!(OverrideShown, name) == 16);
    const _: () = assert!(offset_of!(OverrideShown, path) == 32);
    const _: () = assert!(offset_of!(OverrideShown, path_count) == 40);

    const _: () = assert!(size_of::<StreamShown>() == 80);
    const _: () = assert!(offset_of!(StreamShown, size) == 0);
    const _: () = assert!(offset_of!(StreamShown, kind) == 8);
    const _: () = assert!(offset_of!(StreamShown, slot) == 12);
    const _: () = assert!(offset_of!(StreamShown, generation) == 16);
    const _: () = assert!(offset_of!(StreamShown, reserved) == 20);
    const _: () = assert!(offset_of!(StreamShown, interval_ns) == 24);
    const _: () = assert!(offset_of!(StreamShown, address) == 32);
    const _: () = assert!(offset_of!(StreamShown, dial) == 48);
    const _: () = assert!(offset_of!(StreamShown, authority) == 64);

    const _: () = assert!(size_of::<PrometheusOptions>() == 16);
    const _: () = assert!(offset_of!(PrometheusOptions, size) == 0);
    const _: () = assert!(offset_of!(PrometheusOptions, max_hosts) == 8);
    const _: () = assert!(offset_of!(PrometheusOptions, max_localities) == 12);

    const _: () = assert!(size_of::<ResponseLoad>() == 80);
    const _: () = assert!(offset_of!(ResponseLoad, size) == 0);
    const _: () = assert!(offset_of!(ResponseLoad, header_binary) == 8);
    const _: () = assert!(offset_of!(ResponseLoad, header_text) == 24);
    const _: () = assert!(offset_of!(ResponseLoad, trailer_binary) == 40);
    const _: () = assert!(offset_of!(ResponseLoad, trailer_text) == 56);
    const _: () = assert!(offset_of!(ResponseLoad, now_ns) == 72);
}
