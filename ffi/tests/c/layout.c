/* How the structs lie in memory, as code that is compiled already relies on; the Rust side asserts
 * the same. Also compiled as C++, and under every dialect that the header promises. */

#include <stddef.h>

#include "plimsoll/plimsoll.h"

/* A static assertion that C99 has as well: an array of -1 elements does not compile. */
#define JOINED(left, right) left##right
#define NAMED(line) JOINED(asserted_in_line_, line)
#define ASSERTED(condition) typedef char NAMED(__LINE__)[(condition) ? 1 : -1]
#define AT(type, member, offset) ASSERTED(offsetof(type, member) == (offset))

ASSERTED(sizeof(plimsoll_status) == 4);

ASSERTED(sizeof(plimsoll_pick) == 16);
AT(plimsoll_pick, slot, 0);
AT(plimsoll_pick, generation, 4);
AT(plimsoll_pick, priority, 8);
AT(plimsoll_pick, flags, 12);

#if UINTPTR_MAX == UINT64_MAX
ASSERTED(sizeof(plimsoll_str) == 16);
AT(plimsoll_str, data, 0);
AT(plimsoll_str, len, 8);

ASSERTED(sizeof(plimsoll_applied) == 16);
AT(plimsoll_applied, version, 0);
AT(plimsoll_applied, published, 8);

ASSERTED(sizeof(plimsoll_cluster_options) == 128);
AT(plimsoll_cluster_options, size, 0);
AT(plimsoll_cluster_options, behavior, 8);
AT(plimsoll_cluster_options, has_seed, 12);
AT(plimsoll_cluster_options, seed, 16);
AT(plimsoll_cluster_options, now_ns, 24);
AT(plimsoll_cluster_options, region, 32);
AT(plimsoll_cluster_options, zone, 48);
AT(plimsoll_cluster_options, sub_zone, 64);
AT(plimsoll_cluster_options, local_cluster, 80);
AT(plimsoll_cluster_options, runtime, 88);
AT(plimsoll_cluster_options, runtime_count, 96);
AT(plimsoll_cluster_options, log, 104);
AT(plimsoll_cluster_options, log_userdata, 112);
AT(plimsoll_cluster_options, log_level, 120);
AT(plimsoll_cluster_options, reserved, 124);

ASSERTED(sizeof(plimsoll_cluster_settings) == 128);
AT(plimsoll_cluster_settings, size, 0);
AT(plimsoll_cluster_settings, name, 8);
AT(plimsoll_cluster_settings, policy, 24);
AT(plimsoll_cluster_settings, locality_routing, 28);
AT(plimsoll_cluster_settings, healthy_panic_threshold, 32);
AT(plimsoll_cluster_settings, fail_traffic_on_panic, 40);
AT(plimsoll_cluster_settings, active_health_checks, 44);
AT(plimsoll_cluster_settings, ignore_new_hosts_until_first_hc, 48);
AT(plimsoll_cluster_settings, ignore_health_on_host_removal, 52);
AT(plimsoll_cluster_settings, override_host_status, 56);
AT(plimsoll_cluster_settings, reserved, 60);
AT(plimsoll_cluster_settings, slow_start, 64);
AT(plimsoll_cluster_settings, least_request, 72);
AT(plimsoll_cluster_settings, client_side_weighted_round_robin, 80);
AT(plimsoll_cluster_settings, ring_hash, 88);
AT(plimsoll_cluster_settings, maglev, 96);
AT(plimsoll_cluster_settings, zone_aware, 104);
AT(plimsoll_cluster_settings, load_aware_locality, 112);
AT(plimsoll_cluster_settings, override_host, 120);

ASSERTED(sizeof(plimsoll_runtime_double) == 24);
AT(plimsoll_runtime_double, default_value, 0);
AT(plimsoll_runtime_double, runtime_key, 8);

ASSERTED(sizeof(plimsoll_slow_start) == 32);
AT(plimsoll_slow_start, size, 0);
AT(plimsoll_slow_start, window_ns, 8);
AT(plimsoll_slow_start, min_weight_percent, 16);
AT(plimsoll_slow_start, aggression, 24);

ASSERTED(sizeof(plimsoll_least_request) == 24);
AT(plimsoll_least_request, size, 0);
AT(plimsoll_least_request, choice_count, 8);
AT(plimsoll_least_request, selection_method, 12);
AT(plimsoll_least_request, active_request_bias, 16);

ASSERTED(sizeof(plimsoll_client_side_weighted_round_robin) == 80);
AT(plimsoll_client_side_weighted_round_robin, size, 0);
AT(plimsoll_client_side_weighted_round_robin, blackout_period_ns, 8);
AT(plimsoll_client_side_weighted_round_robin, weight_expiration_period_ns, 16);
AT(plimsoll_client_side_weighted_round_robin, weight_update_period_ns, 24);
AT(plimsoll_client_side_weighted_round_robin, oob_reporting_period_ns, 32);
AT(plimsoll_client_side_weighted_round_robin, enable_oob_load_report, 40);
AT(plimsoll_client_side_weighted_round_robin, has_error_utilization_penalty, 44);
AT(plimsoll_client_side_weighted_round_robin, error_utilization_penalty, 48);
AT(plimsoll_client_side_weighted_round_robin, reserved, 52);
AT(plimsoll_client_side_weighted_round_robin, oob_reporting_config, 56);
AT(plimsoll_client_side_weighted_round_robin, metric_names_for_computing_utilization, 64);
AT(plimsoll_client_side_weighted_round_robin, metric_name_count, 72);

ASSERTED(sizeof(plimsoll_oob_reporting) == 32);
AT(plimsoll_oob_reporting, size, 0);
AT(plimsoll_oob_reporting, authority, 8);
AT(plimsoll_oob_reporting, port_value, 24);
AT(plimsoll_oob_reporting, reserved, 28);

ASSERTED(sizeof(plimsoll_ring_hash) == 40);
AT(plimsoll_ring_hash, size, 0);
AT(plimsoll_ring_hash, hash_function, 8);
AT(plimsoll_ring_hash, minimum_ring_size, 12);
AT(plimsoll_ring_hash, maximum_ring_size, 16);
AT(plimsoll_ring_hash, use_hostname_for_hashing, 20);
AT(plimsoll_ring_hash, hash_balance_factor, 24);
AT(plimsoll_ring_hash, reserved, 28);
AT(plimsoll_ring_hash, hash_policies, 32);

ASSERTED(sizeof(plimsoll_maglev) == 32);
AT(plimsoll_maglev, size, 0);
AT(plimsoll_maglev, table_size, 8);
AT(plimsoll_maglev, use_hostname_for_hashing, 12);
AT(plimsoll_maglev, hash_balance_factor, 16);
AT(plimsoll_maglev, reserved, 20);
AT(plimsoll_maglev, hash_policies, 24);

ASSERTED(sizeof(plimsoll_zone_aware) == 40);
AT(plimsoll_zone_aware, size, 0);
AT(plimsoll_zone_aware, routing_enabled, 8);
AT(plimsoll_zone_aware, min_cluster_size, 16);
AT(plimsoll_zone_aware, has_force_local_zone, 24);
AT(plimsoll_zone_aware, force_local_zone, 28);
AT(plimsoll_zone_aware, locality_basis, 32);
AT(plimsoll_zone_aware, reserved, 36);

ASSERTED(sizeof(plimsoll_load_aware_locality) == 88);
AT(plimsoll_load_aware_locality, size, 0);
AT(plimsoll_load_aware_locality, weight_update_period_ns, 8);
AT(plimsoll_load_aware_locality, smoothing_time_constant_ns, 16);
AT(plimsoll_load_aware_locality, weight_expiration_period_ns, 24);
AT(plimsoll_load_aware_locality, oob_reporting_period_ns, 32);
AT(plimsoll_load_aware_locality, utilization_variance_threshold, 40);
AT(plimsoll_load_aware_locality, remote_probe_fraction, 48);
AT(plimsoll_load_aware_locality, enable_oob_load_report, 56);
AT(plimsoll_load_aware_locality, reserved, 60);
AT(plimsoll_load_aware_locality, oob_reporting_config, 64);
AT(plimsoll_load_aware_locality, metric_names_for_computing_utilization, 72);
AT(plimsoll_load_aware_locality, metric_name_count, 80);

ASSERTED(sizeof(plimsoll_override_host) == 32);
AT(plimsoll_override_host, size, 0);
AT(plimsoll_override_host, sources, 8);
AT(plimsoll_override_host, source_count, 16);
AT(plimsoll_override_host, selected_host_key, 24);

ASSERTED(sizeof(plimsoll_hash_policy) == 80);
AT(plimsoll_hash_policy, size, 0);
AT(plimsoll_hash_policy, kind, 8);
AT(plimsoll_hash_policy, terminal, 12);
AT(plimsoll_hash_policy, name, 16);
AT(plimsoll_hash_policy, path, 32);
AT(plimsoll_hash_policy, ttl_ns, 48);
AT(plimsoll_hash_policy, attributes, 56);
AT(plimsoll_hash_policy, attribute_count, 64);
AT(plimsoll_hash_policy, has_ttl, 72);
AT(plimsoll_hash_policy, reserved, 76);

ASSERTED(sizeof(plimsoll_assignment) == 32);
AT(plimsoll_assignment, size, 0);
AT(plimsoll_assignment, localities, 8);
AT(plimsoll_assignment, locality_count, 16);
AT(plimsoll_assignment, overprovisioning_factor, 24);
AT(plimsoll_assignment, weighted_priority_health, 28);

ASSERTED(sizeof(plimsoll_locality_hosts) == 80);
AT(plimsoll_locality_hosts, size, 0);
AT(plimsoll_locality_hosts, region, 8);
AT(plimsoll_locality_hosts, zone, 24);
AT(plimsoll_locality_hosts, sub_zone, 40);
AT(plimsoll_locality_hosts, priority, 56);
AT(plimsoll_locality_hosts, weight, 60);
AT(plimsoll_locality_hosts, hosts, 64);
AT(plimsoll_locality_hosts, host_count, 72);

ASSERTED(sizeof(plimsoll_endpoint) == 88);
AT(plimsoll_endpoint, size, 0);
AT(plimsoll_endpoint, address, 8);
AT(plimsoll_endpoint, hostname, 24);
AT(plimsoll_endpoint, hash_key, 40);
AT(plimsoll_endpoint, health_check_address, 56);
AT(plimsoll_endpoint, weight, 72);
AT(plimsoll_endpoint, health_status, 76);
AT(plimsoll_endpoint, disable_active_health_check, 80);
AT(plimsoll_endpoint, reserved, 84);

ASSERTED(sizeof(plimsoll_runtime_value) == 48);
AT(plimsoll_runtime_value, size, 0);
AT(plimsoll_runtime_value, key, 8);
AT(plimsoll_runtime_value, kind, 24);
AT(plimsoll_runtime_value, boolean, 28);
AT(plimsoll_runtime_value, integer, 32);
AT(plimsoll_runtime_value, number, 40);

ASSERTED(sizeof(plimsoll_worker_options) == 40);
AT(plimsoll_worker_options, size, 0);
AT(plimsoll_worker_options, peek_capacity, 8);
AT(plimsoll_worker_options, has_number, 12);
AT(plimsoll_worker_options, number, 16);
AT(plimsoll_worker_options, draws, 24);
AT(plimsoll_worker_options, draw_count, 32);

ASSERTED(sizeof(plimsoll_dump_options) == 32);
AT(plimsoll_dump_options, size, 0);
AT(plimsoll_dump_options, part, 8);
AT(plimsoll_dump_options, flags, 12);
AT(plimsoll_dump_options, priority, 16);
AT(plimsoll_dump_options, source, 24);
AT(plimsoll_dump_options, reserved, 28);

ASSERTED(sizeof(plimsoll_host_change) == 128);
AT(plimsoll_host_change, size, 0);
AT(plimsoll_host_change, kind, 8);
AT(plimsoll_host_change, event, 12);
AT(plimsoll_host_change, address, 16);
AT(plimsoll_host_change, hostname, 32);
AT(plimsoll_host_change, region, 48);
AT(plimsoll_host_change, zone, 64);
AT(plimsoll_host_change, sub_zone, 80);
AT(plimsoll_host_change, priority, 96);
AT(plimsoll_host_change, weight, 100);
AT(plimsoll_host_change, health_status, 104);
AT(plimsoll_host_change, reserved, 108);
AT(plimsoll_host_change, hash_key, 112);

ASSERTED(sizeof(plimsoll_host_load) == 40);
AT(plimsoll_host_load, size, 0);
AT(plimsoll_host_load, address, 8);
AT(plimsoll_host_load, active, 24);
AT(plimsoll_host_load, pending, 28);
AT(plimsoll_host_load, flags, 32);
AT(plimsoll_host_load, reserved, 36);

ASSERTED(sizeof(plimsoll_host) == 176);
AT(plimsoll_host, size, 0);
AT(plimsoll_host, address, 8);
AT(plimsoll_host, hostname, 24);
AT(plimsoll_host, region, 40);
AT(plimsoll_host, zone, 56);
AT(plimsoll_host, sub_zone, 72);
AT(plimsoll_host, priority, 88);
AT(plimsoll_host, weight, 92);
AT(plimsoll_host, active, 96);
AT(plimsoll_host, health, 100);
AT(plimsoll_host, eds_health, 104);
AT(plimsoll_host, coarse, 108);
AT(plimsoll_host, effective_weight, 112);
AT(plimsoll_host, share, 120);
AT(plimsoll_host, slow_start_factor, 128);
AT(plimsoll_host, slow_start_seconds_left, 136);
AT(plimsoll_host, has_report, 144);
AT(plimsoll_host, reserved, 148);
AT(plimsoll_host, utilization, 152);
AT(plimsoll_host, report_age_ns, 160);
AT(plimsoll_host, reported_weight, 168);

ASSERTED(sizeof(plimsoll_locality) == 104);
AT(plimsoll_locality, size, 0);
AT(plimsoll_locality, region, 8);
AT(plimsoll_locality, zone, 24);
AT(plimsoll_locality, sub_zone, 40);
AT(plimsoll_locality, priority, 56);
AT(plimsoll_locality, source, 60);
AT(plimsoll_locality, all_local, 64);
AT(plimsoll_locality, has_utilization, 68);
AT(plimsoll_locality, hosts, 72);
AT(plimsoll_locality, load, 80);
AT(plimsoll_locality, utilization, 88);
AT(plimsoll_locality, weight, 96);

ASSERTED(sizeof(plimsoll_pick_context) == 40);
AT(plimsoll_pick_context, size, 0);
AT(plimsoll_pick_context, retries, 8);
AT(plimsoll_pick_context, flags, 12);
AT(plimsoll_pick_context, now_ns, 16);
AT(plimsoll_pick_context, hash, 24);
AT(plimsoll_pick_context, attempt, 32);
AT(plimsoll_pick_context, reserved, 36);

ASSERTED(sizeof(plimsoll_header) == 32);
AT(plimsoll_header, name, 0);
AT(plimsoll_header, value, 16);

ASSERTED(sizeof(plimsoll_request) == 136);
AT(plimsoll_request, size, 0);
AT(plimsoll_request, headers, 8);
AT(plimsoll_request, header_count, 16);
AT(plimsoll_request, path, 24);
AT(plimsoll_request, query, 40);
AT(plimsoll_request, source_ip, 56);
AT(plimsoll_request, remote_address, 72);
AT(plimsoll_request, local_address, 88);
AT(plimsoll_request, cookies, 104);
AT(plimsoll_request, cookie_count, 112);
AT(plimsoll_request, filter_states, 120);
AT(plimsoll_request, filter_state_count, 128);

ASSERTED(sizeof(plimsoll_filter_state) == 24);
AT(plimsoll_filter_state, key, 0);
AT(plimsoll_filter_state, hash, 16);

ASSERTED(sizeof(plimsoll_override_source) == 48);
AT(plimsoll_override_source, size, 0);
AT(plimsoll_override_source, kind, 8);
AT(plimsoll_override_source, reserved, 12);
AT(plimsoll_override_source, name, 16);
AT(plimsoll_override_source, path, 32);
AT(plimsoll_override_source, path_count, 40);

ASSERTED(sizeof(plimsoll_stream_action) == 80);
AT(plimsoll_stream_action, size, 0);
AT(plimsoll_stream_action, kind, 8);
AT(plimsoll_stream_action, slot, 12);
AT(plimsoll_stream_action, generation, 16);
AT(plimsoll_stream_action, reserved, 20);
AT(plimsoll_stream_action, interval_ns, 24);
AT(plimsoll_stream_action, address, 32);
AT(plimsoll_stream_action, dial, 48);
AT(plimsoll_stream_action, authority, 64);

ASSERTED(sizeof(plimsoll_prometheus_options) == 16);
AT(plimsoll_prometheus_options, size, 0);
AT(plimsoll_prometheus_options, max_hosts, 8);
AT(plimsoll_prometheus_options, max_localities, 12);

ASSERTED(sizeof(plimsoll_response_load) == 80);
AT(plimsoll_response_load, size, 0);
AT(plimsoll_response_load, header_binary, 8);
AT(plimsoll_response_load, header_text, 24);
AT(plimsoll_response_load, trailer_binary, 40);
AT(plimsoll_response_load, trailer_text, 56);
AT(plimsoll_response_load, now_ns, 72);
#endif

#ifdef __cplusplus
extern "C" {
#endif
size_t plimsoll_test_initializers(void);
const char *plimsoll_test_name(plimsoll_status status);
#ifdef __cplusplus
}
#endif

/* The initializers name every member: a missing one is a warning, and warnings are errors. */
size_t plimsoll_test_initializers(void) {
    static const plimsoll_str fixed = PLIMSOLL_STR_INIT("fixed");
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
    plimsoll_host_load load = PLIMSOLL_HOST_LOAD_INIT;
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    plimsoll_prometheus_options scrape = PLIMSOLL_PROMETHEUS_OPTIONS_INIT;
    plimsoll_response_load response = PLIMSOLL_RESPONSE_LOAD_INIT;
    plimsoll_cluster_settings settings = PLIMSOLL_CLUSTER_SETTINGS_INIT;
    plimsoll_slow_start slow_start = PLIMSOLL_SLOW_START_INIT;
    plimsoll_least_request least_request = PLIMSOLL_LEAST_REQUEST_INIT;
    plimsoll_client_side_weighted_round_robin weighted =
        PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT;
    plimsoll_oob_reporting reporting = PLIMSOLL_OOB_REPORTING_INIT;
    plimsoll_ring_hash ring_hash = PLIMSOLL_RING_HASH_INIT;
    plimsoll_maglev maglev = PLIMSOLL_MAGLEV_INIT;
    plimsoll_hash_policy hash_policy = PLIMSOLL_HASH_POLICY_INIT;
    plimsoll_zone_aware zone_aware = PLIMSOLL_ZONE_AWARE_INIT;
    plimsoll_load_aware_locality load_aware = PLIMSOLL_LOAD_AWARE_LOCALITY_INIT;
    plimsoll_override_host override_host = PLIMSOLL_OVERRIDE_HOST_INIT;
    plimsoll_override_source source = PLIMSOLL_OVERRIDE_SOURCE_INIT;
    plimsoll_assignment assignment = PLIMSOLL_ASSIGNMENT_INIT;
    plimsoll_locality_hosts locality = PLIMSOLL_LOCALITY_HOSTS_INIT;
    plimsoll_endpoint endpoint = PLIMSOLL_ENDPOINT_INIT;
    options.region = PLIMSOLL_STR("expression");
    change.address = fixed;
    return options.region.len + change.address.len + load.size + context.size + request.size +
           scrape.size + response.size + settings.size + slow_start.size + least_request.size +
           weighted.size + reporting.size + ring_hash.size + maglev.size + hash_policy.size +
           zone_aware.size + load_aware.size + override_host.size + source.size +
           assignment.size + locality.size + endpoint.size;
}

/* A status is a number where one is asked for, without a cast. */
const char *plimsoll_test_name(plimsoll_status status) {
    return plimsoll_status_name(status);
}
