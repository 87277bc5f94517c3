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

ASSERTED(sizeof(plimsoll_cluster_options) == 104);
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

ASSERTED(sizeof(plimsoll_request) == 120);
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
    plimsoll_response_load response = PLIMSOLL_RESPONSE_LOAD_INIT;
    options.region = PLIMSOLL_STR("expression");
    change.address = fixed;
    return options.region.len + change.address.len + load.size + context.size + request.size +
           response.size;
}

/* A status is a number where one is asked for, without a cast. */
const char *plimsoll_test_name(plimsoll_status status) {
    return plimsoll_status_name(status);
}
