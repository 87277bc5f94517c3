/**
 * @file
 * Plimsoll: a load-balancing engine that proxies link. Hosts, health and load reports go in; the
 * host for the next request comes out, in nanoseconds, without a lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources of plimsoll-ffi; edit those.
 *
 * The library is passive. It starts no thread, reads no clock, writes no log of its own and has no
 * global state: the caller says what time it is and calls `plimsoll_cluster_tick`, and gets messages
 * through `plimsoll_cluster_options.log`.
 *
 * Threads
 *
 * @verbatim
 *   handle             which thread                      functions
 *   -----------------  --------------------------------  -----------------------------------------
 *   (none)             any                               plimsoll_version, plimsoll_abi_version,
 *                                                        plimsoll_status_name,
 *                                                        plimsoll_response_load_json
 *   plimsoll_cluster   any, several at once: control     open, new, reload, configure, assign,
 *                      calls wait for each other and     update, set_loads, report,
 *                      never make a worker wait          report_response, set_runtime,
 *                                                        set_runtime_double, set_runtime_bool,
 *                                                        update_runtime, set_host_data, tick,
 *                                                        next_tick, hosts, stats, dump,
 *                                                        for_each_host, for_each_locality,
 *                                                        for_each_override_source,
 *                                                        export_reports, import_reports,
 *                                                        poll_streams, stream_message,
 *                                                        stream_ended; plimsoll_prometheus,
 *                                                        plimsoll_worker_new, _new_with
 *   plimsoll_worker    one at a time; it may move        hash, pick, pick_filtered, pick_override,
 *                      between threads, between calls    pick_override_filtered, pick_batch, peek,
 *                                                        explain, report, done, host_address,
 *                                                        host_data, push_draws, refresh, quiesce
 *   plimsoll_hash_     any, several at once: it is       parse, new, hash; plimsoll_worker_hash
 *   policies           never changed
 *   plimsoll_error     any, several at once              status, code, field, message
 *   each of them       any, while nobody else uses it    free
 * @endverbatim
 *
 * A `const` worker is still one thread's: const means that the call changes no later pick.
 * A pick is a value; any worker of the same cluster may be told that it is done.
 *
 * Forks: create clusters after a fork. A handle that a child process inherits must not be used in
 * it, not even to be freed: its memory is lost to the child, and nothing else is. What the parent has
 * goes on as before, and the child may open clusters of its own. No handler is registered with
 * `pthread_atfork`.
 *
 * A debug build of the library (`make lib-debug`) knows which handles are alive, and answers
 * PLIMSOLL_STATUS_MISUSE to one that is not, that came through a fork, or that two threads use at
 * once where one may; freeing one that is not alive ends the program with a message.
 *
 * Callbacks run on the thread of the call that runs them: `accept` inside of
 * `plimsoll_worker_pick_filtered`, `plimsoll_worker_pick_override_filtered` and
 * `plimsoll_worker_explain`, `set_cookie` inside of `plimsoll_worker_hash` and
 * `plimsoll_hash_policies_hash`, `visit` inside of the `plimsoll_cluster_for_each_...`, `act` inside of
 * `plimsoll_cluster_poll_streams`, `log` at the end of control calls, `release` inside of whichever
 * control call or `_free` lets the last reference go. They must not throw C++ exceptions, unwind or
 * `longjmp`.
 *
 * Answers
 *
 * Every call that can fail returns a `plimsoll_status`; one that failed had no effect (unless it
 * panicked), and its out-parameters hold NULL or zero. NULL where it is not allowed is an answer,
 * not a crash. Calls with a `plimsoll_error **error` also say which value was at fault, and why, if
 * the pointer is not NULL. A panic of the library never leaves it: it is `PLIMSOLL_STATUS_PANIC`.
 *
 * Structs whose first member is `size` may grow in later versions. Start from their _INIT macro
 * and older and newer headers work with this library, as far as they mean the same. In a
 * `plimsoll_host` and a `plimsoll_locality`, which the library fills in, `size` says how much of it
 * is there.
 */


#ifndef PLIMSOLL_H
#define PLIMSOLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
/** The status of such a call decides what to do next. */
#define PLIMSOLL_MUST_USE __attribute__((warn_unused_result))
#else
#define PLIMSOLL_MUST_USE
#endif

/** A string literal as a plimsoll_str, where an expression stands. */
#ifdef __cplusplus
#define PLIMSOLL_STR(literal) (plimsoll_str{"" literal, sizeof(literal) - 1})
#else
#define PLIMSOLL_STR(literal) ((plimsoll_str){"" literal, sizeof(literal) - 1})
#endif

/** The same as an initializer, for an object of static storage for instance. */
#define PLIMSOLL_STR_INIT(literal) {"" literal, sizeof(literal) - 1}

/** What a plimsoll_cluster_options starts from: everything not set. */
#define PLIMSOLL_CLUSTER_OPTIONS_INIT \
    {sizeof(plimsoll_cluster_options), 0, 0, 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL, NULL, 0, \
     NULL, NULL, 0, 0}
/** What a plimsoll_cluster_settings starts from: Envoy's defaults. */
#define PLIMSOLL_CLUSTER_SETTINGS_INIT \
    {sizeof(plimsoll_cluster_settings), {NULL, 0}, 0, 0, 50.0, 0, 0, 0, 0, 0x23, 0, \
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}
/** What a plimsoll_slow_start starts from: Envoy's defaults. */
#define PLIMSOLL_SLOW_START_INIT {sizeof(plimsoll_slow_start), 0, 10.0, NULL}
/** What a plimsoll_least_request starts from: Envoy's defaults. */
#define PLIMSOLL_LEAST_REQUEST_INIT {sizeof(plimsoll_least_request), 2, 0, NULL}
/** What a plimsoll_client_side_weighted_round_robin starts from: Envoy's defaults. */
#define PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT \
    {sizeof(plimsoll_client_side_weighted_round_robin), 10000000000, 180000000000, 1000000000, \
     10000000000, 0, 0, 0.0f, 0, NULL, NULL, 0}
/** What a plimsoll_oob_reporting starts from: Envoy's defaults. */
#define PLIMSOLL_OOB_REPORTING_INIT {sizeof(plimsoll_oob_reporting), {NULL, 0}, 0, 0}
/** What a plimsoll_ring_hash starts from: Envoy's defaults. */
#define PLIMSOLL_RING_HASH_INIT {sizeof(plimsoll_ring_hash), 0, 1024, 0, 0, 0, 0, NULL}
/** What a plimsoll_maglev starts from: Envoy's defaults. */
#define PLIMSOLL_MAGLEV_INIT {sizeof(plimsoll_maglev), 65537, 0, 0, 0, NULL}
/** What a plimsoll_hash_policy starts from: everything not set. */
#define PLIMSOLL_HASH_POLICY_INIT \
    {sizeof(plimsoll_hash_policy), 0, 0, {NULL, 0}, {NULL, 0}, 0, NULL, 0, 0, 0}
/** What a plimsoll_zone_aware starts from: Envoy's defaults. */
#define PLIMSOLL_ZONE_AWARE_INIT {sizeof(plimsoll_zone_aware), 100.0, 6, 0, 0, 0, 0}
/** What a plimsoll_load_aware_locality starts from: Envoy's defaults. */
#define PLIMSOLL_LOAD_AWARE_LOCALITY_INIT \
    {sizeof(plimsoll_load_aware_locality), 1000000000, 5000000000, 180000000000, 10000000000, 0.1, \
     0.03, 0, 0, NULL, NULL, 0}
/** What a plimsoll_override_host starts from: everything not set. */
#define PLIMSOLL_OVERRIDE_HOST_INIT {sizeof(plimsoll_override_host), NULL, 0, NULL}
/** What a plimsoll_override_source starts from: everything not set. */
#define PLIMSOLL_OVERRIDE_SOURCE_INIT {sizeof(plimsoll_override_source), 0, 0, {NULL, 0}, NULL, 0}
/** What a plimsoll_assignment starts from: Envoy's defaults. */
#define PLIMSOLL_ASSIGNMENT_INIT {sizeof(plimsoll_assignment), NULL, 0, 140, 0}
/** What a plimsoll_locality_hosts starts from: everything not set. */
#define PLIMSOLL_LOCALITY_HOSTS_INIT \
    {sizeof(plimsoll_locality_hosts), {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 0, NULL, 0}
/** What a plimsoll_endpoint starts from: a weight of 1, everything else not set. */
#define PLIMSOLL_ENDPOINT_INIT \
    {sizeof(plimsoll_endpoint), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, 1, 0, 0, 0}
/** What a plimsoll_runtime_value starts from: everything not set. */
#define PLIMSOLL_RUNTIME_VALUE_INIT {sizeof(plimsoll_runtime_value), {NULL, 0}, 0, 0, 0, 0}
/** What a plimsoll_worker_options starts from: everything not set. */
#define PLIMSOLL_WORKER_OPTIONS_INIT {sizeof(plimsoll_worker_options), 0, 0, 0, NULL, 0}
/** What a plimsoll_dump_options starts from: everything not set. */
#define PLIMSOLL_DUMP_OPTIONS_INIT {sizeof(plimsoll_dump_options), 0, 0, 0, 0, 0}
/** What a plimsoll_host_change starts from: everything not set. */
#define PLIMSOLL_HOST_CHANGE_INIT \
    {sizeof(plimsoll_host_change), 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, \
     0, 0, 0, 0, {NULL, 0}}
/** What a plimsoll_host_load starts from: everything not set. */
#define PLIMSOLL_HOST_LOAD_INIT {sizeof(plimsoll_host_load), {NULL, 0}, 0, 0, 0, 0}
/** What a plimsoll_pick_context starts from: everything not set. */
#define PLIMSOLL_PICK_CONTEXT_INIT {sizeof(plimsoll_pick_context), 0, 0, 0, 0, 0, 0}
/** What a plimsoll_prometheus_options starts from: everything not set. */
#define PLIMSOLL_PROMETHEUS_OPTIONS_INIT {sizeof(plimsoll_prometheus_options), 0, 0}
/** What a plimsoll_request starts from: everything not set. */
#define PLIMSOLL_REQUEST_INIT \
    {sizeof(plimsoll_request), NULL, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, \
     NULL, 0, NULL, 0}
/** What a plimsoll_response_load starts from: everything not set. */
#define PLIMSOLL_RESPONSE_LOAD_INIT \
    {sizeof(plimsoll_response_load), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, 0}


/**
 * The major version of the header. Within one of them, what there is stays as it is.
 */
#define PLIMSOLL_VERSION_MAJOR 1

/**
 * The minor version of the header. A new one may add to the interface.
 */
#define PLIMSOLL_VERSION_MINOR 0

/**
 * The patch version of the header. It never changes the interface.
 */
#define PLIMSOLL_VERSION_PATCH 0

/**
 * The version of the header as one number that can be compared: 1002003 is 1.2.3.
 */
#define PLIMSOLL_VERSION_NUMBER 1000000

/**
 * The interface that the header describes. It rises whenever a program built with an older
 * header could misbehave with a newer library, and only then.
 */
#define PLIMSOLL_ABI_VERSION 1

/**
 * `plimsoll_cluster_options.behavior`: the same configuration and weights as Envoy, chosen
 * better. The default.
 */
#define PLIMSOLL_BEHAVIOR_NATIVE 0

/**
 * `plimsoll_cluster_options.behavior`: Envoy 1.40.0, number for number.
 */
#define PLIMSOLL_BEHAVIOR_ENVOY 1

/**
 * `plimsoll_cluster_options.log_level`: the library failed. A control call panicked.
 */
#define PLIMSOLL_LOG_ERROR 1

/**
 * `plimsoll_cluster_options.log_level`: traffic may not go where it should. Panic, picks without a
 * host, load reports that are of no use, control calls that were refused, requests that were ended
 * twice.
 */
#define PLIMSOLL_LOG_WARNING 2

/**
 * `plimsoll_cluster_options.log_level`: what an operator did, and ends of trouble. The cluster was
 * opened, its settings were replaced, a priority is out of panic.
 */
#define PLIMSOLL_LOG_INFO 3

/**
 * `plimsoll_cluster_options.log_level`: every new snapshot.
 */
#define PLIMSOLL_LOG_DEBUG 4

/**
 * `plimsoll_hash_policy.kind`: all values of the header `name`.
 */
#define PLIMSOLL_HASH_HEADER 1

/**
 * `plimsoll_hash_policy.kind`: the value of the cookie `name`, or of one that is made for a client
 * that has none.
 */
#define PLIMSOLL_HASH_COOKIE 2

/**
 * `plimsoll_hash_policy.kind`: the address that the request comes from, without its port.
 */
#define PLIMSOLL_HASH_SOURCE_IP 3

/**
 * `plimsoll_hash_policy.kind`: the first value of the parameter `name` in the query.
 */
#define PLIMSOLL_HASH_QUERY_PARAMETER 4

/**
 * `plimsoll_hash_policy.kind`: the hash of the object that the proxy keeps under the key `name`.
 */
#define PLIMSOLL_HASH_FILTER_STATE 5

/**
 * `plimsoll_override_source.kind`: the first value of the request header `name`.
 */
#define PLIMSOLL_OVERRIDE_HEADER 1

/**
 * `plimsoll_override_source.kind`: a text in the request's dynamic metadata.
 */
#define PLIMSOLL_OVERRIDE_METADATA 2

/**
 * `plimsoll_override_source.kind`: no source, but where the address of the host that was picked is
 * to be written, in the request's dynamic metadata.
 */
#define PLIMSOLL_OVERRIDE_SELECTED_HOST 3

/**
 * `plimsoll_least_request.selection_method`: the least busy of `choice_count` hosts that are drawn
 * at random. The default.
 */
#define PLIMSOLL_SELECTION_N_CHOICES 0

/**
 * `plimsoll_least_request.selection_method`: the least busy of all hosts, at a cost in proportion to
 * their number.
 */
#define PLIMSOLL_SELECTION_FULL_SCAN 1

/**
 * `plimsoll_ring_hash.hash_function`: xxHash64. The default.
 */
#define PLIMSOLL_HASH_FUNCTION_XX_HASH 0

/**
 * `plimsoll_ring_hash.hash_function`: MurmurHash2 in 64 bits.
 */
#define PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2 1

/**
 * `plimsoll_zone_aware.locality_basis`: the numbers of healthy hosts. The default.
 */
#define PLIMSOLL_BASIS_HEALTHY_HOSTS_NUM 0

/**
 * `plimsoll_zone_aware.locality_basis`: the sums of their weights.
 */
#define PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT 1

/**
 * `plimsoll_cluster_settings.policy`: each host in its turn, in proportion to the weights. The
 * default. The numbers are those of Envoy's `lb_policy`, where it has one.
 */
#define PLIMSOLL_POLICY_ROUND_ROBIN 0

/**
 * `plimsoll_cluster_settings.policy`: the least busy of a few hosts that are drawn at random.
 */
#define PLIMSOLL_POLICY_LEAST_REQUEST 1

/**
 * `plimsoll_cluster_settings.policy`: the host whose point on a ring follows the request's hash.
 */
#define PLIMSOLL_POLICY_RING_HASH 2

/**
 * `plimsoll_cluster_settings.policy`: any host, with `PLIMSOLL_BEHAVIOR_NATIVE` in proportion to the
 * weights.
 */
#define PLIMSOLL_POLICY_RANDOM 3

/**
 * `plimsoll_cluster_settings.policy`: the host that a table has for the request's hash.
 */
#define PLIMSOLL_POLICY_MAGLEV 5

/**
 * `plimsoll_cluster_settings.policy`: each host in its turn, in proportion to the weights that follow
 * from what hosts report of their load.
 */
#define PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN 16

/**
 * `plimsoll_cluster_settings.locality_routing`: by the hosts of each locality. The default. With
 * `PLIMSOLL_BEHAVIOR_ENVOY` and a local cluster it is zone-aware, as in Envoy.
 */
#define PLIMSOLL_ROUTING_UNSET 0

/**
 * `plimsoll_cluster_settings.locality_routing`: nearest first, as far as the hosts there suffice for
 * the proxies there. Not with a policy that goes by hashes.
 */
#define PLIMSOLL_ROUTING_ZONE_AWARE 1

/**
 * `plimsoll_cluster_settings.locality_routing`: by the weights that the assignment gives to
 * localities, times their health.
 */
#define PLIMSOLL_ROUTING_WEIGHTED 2

/**
 * `plimsoll_cluster_settings.locality_routing`: by the load that hosts report, nearest first.
 */
#define PLIMSOLL_ROUTING_LOAD_AWARE 3

/**
 * `plimsoll_runtime_value.kind`: the key is removed.
 */
#define PLIMSOLL_RUNTIME_REMOVED 0

/**
 * `plimsoll_runtime_value.kind`: the value is `integer`.
 */
#define PLIMSOLL_RUNTIME_INTEGER 1

/**
 * `plimsoll_runtime_value.kind`: the value is `number`.
 */
#define PLIMSOLL_RUNTIME_NUMBER 2

/**
 * `plimsoll_runtime_value.kind`: the value is `boolean`.
 */
#define PLIMSOLL_RUNTIME_BOOLEAN 3

/**
 * `plimsoll_host_change.event`: an active health check passed.
 */
#define PLIMSOLL_HEALTH_PASS 1

/**
 * `plimsoll_host_change.event`: an active health check failed.
 */
#define PLIMSOLL_HEALTH_FAIL 2

/**
 * `plimsoll_host_change.event`: an active health check passed with the degraded mark.
 */
#define PLIMSOLL_HEALTH_DEGRADED 3

/**
 * `plimsoll_host_change.event`: an active health check timed out.
 */
#define PLIMSOLL_HEALTH_TIMED_OUT 4

/**
 * `plimsoll_host_change.event`: a response asked to fail the host at once.
 */
#define PLIMSOLL_HEALTH_FAIL_NOW 5

/**
 * `plimsoll_host_change.event`: outlier detection ejected the host.
 */
#define PLIMSOLL_HEALTH_EJECT 6

/**
 * `plimsoll_host_change.event`: outlier detection took the host back.
 */
#define PLIMSOLL_HEALTH_UNEJECT 7

/**
 * `plimsoll_host_change.event`: outlier detection found the host degraded.
 */
#define PLIMSOLL_HEALTH_OUTLIER_DEGRADED 8

/**
 * `plimsoll_host_change.event`: outlier detection no longer finds the host degraded.
 */
#define PLIMSOLL_HEALTH_OUTLIER_RECOVERED 9

/**
 * What the control plane says of a host: nothing; counts as healthy.
 */
#define PLIMSOLL_EDS_UNKNOWN 0

/**
 * What the control plane says of a host: healthy.
 */
#define PLIMSOLL_EDS_HEALTHY 1

/**
 * What the control plane says of a host: unhealthy.
 */
#define PLIMSOLL_EDS_UNHEALTHY 2

/**
 * What the control plane says of a host: being drained: no new requests, left out of every
 * percentage.
 */
#define PLIMSOLL_EDS_DRAINING 3

/**
 * What the control plane says of a host: its health check timed out; counts as unhealthy.
 */
#define PLIMSOLL_EDS_TIMEOUT 4

/**
 * What the control plane says of a host: usable, after the healthy ones.
 */
#define PLIMSOLL_EDS_DEGRADED 5

/**
 * `plimsoll_host.health`: the host fails its active health check.
 */
#define PLIMSOLL_FLAG_FAILED_ACTIVE_HC 1

/**
 * `plimsoll_host.health`: outlier detection ejected the host.
 */
#define PLIMSOLL_FLAG_FAILED_OUTLIER_CHECK 2

/**
 * `plimsoll_host.health`: the control plane says UNHEALTHY or TIMEOUT.
 */
#define PLIMSOLL_FLAG_FAILED_EDS_HEALTH 4

/**
 * `plimsoll_host.health`: the host passes its active health check as degraded.
 */
#define PLIMSOLL_FLAG_DEGRADED_ACTIVE_HC 8

/**
 * `plimsoll_host.health`: the control plane says DEGRADED.
 */
#define PLIMSOLL_FLAG_DEGRADED_EDS_HEALTH 16

/**
 * `plimsoll_host.health`: gone from the assignment, and kept because its health checks pass.
 */
#define PLIMSOLL_FLAG_PENDING_DYNAMIC_REMOVAL 32

/**
 * `plimsoll_host.health`: the host is new, and not checked yet.
 */
#define PLIMSOLL_FLAG_PENDING_ACTIVE_HC 64

/**
 * `plimsoll_host.health`: the host failed at once by its own response.
 */
#define PLIMSOLL_FLAG_EXCLUDED_VIA_IMMEDIATE_HC_FAIL 128

/**
 * `plimsoll_host.health`: the host's active health check times out.
 */
#define PLIMSOLL_FLAG_ACTIVE_HC_TIMEOUT 256

/**
 * `plimsoll_host.health`: the control plane says DRAINING.
 */
#define PLIMSOLL_FLAG_EDS_STATUS_DRAINING 512

/**
 * `plimsoll_host.health`: outlier detection finds the host degraded.
 */
#define PLIMSOLL_FLAG_DEGRADED_OUTLIER_DETECTION 1024

/**
 * `plimsoll_host.coarse`: the host gets traffic first.
 */
#define PLIMSOLL_COARSE_HEALTHY 0

/**
 * `plimsoll_host.coarse`: the host gets what the healthy ones cannot take.
 */
#define PLIMSOLL_COARSE_DEGRADED 1

/**
 * `plimsoll_host.coarse`: the host gets traffic in panic only.
 */
#define PLIMSOLL_COARSE_UNHEALTHY 2

/**
 * `plimsoll_host_change.kind`: the host is added, or its description replaced if it is there.
 */
#define PLIMSOLL_CHANGE_UPSERT 1

/**
 * `plimsoll_host_change.kind`: the host is removed.
 */
#define PLIMSOLL_CHANGE_REMOVE 2

/**
 * `plimsoll_host_change.kind`: something was learnt about the host's health.
 */
#define PLIMSOLL_CHANGE_HEALTH 3

/**
 * The largest number of requests that `plimsoll_cluster_set_loads` takes.
 */
#define PLIMSOLL_MAX_LOAD 1073741824

/**
 * `plimsoll_host_load.flags`: `pending` is to be set, too. Without it, what was set before stays.
 */
#define PLIMSOLL_LOAD_HAS_PENDING 1

/**
 * `plimsoll_locality.source`: the healthy hosts.
 */
#define PLIMSOLL_SOURCE_HEALTHY 0

/**
 * `plimsoll_locality.source`: the degraded hosts.
 */
#define PLIMSOLL_SOURCE_DEGRADED 1

/**
 * `plimsoll_locality.source`: all hosts, whatever their health. In panic a priority sends there.
 */
#define PLIMSOLL_SOURCE_ALL 2

/**
 * `plimsoll_pick.flags`: the pick counts as an active request until `plimsoll_worker_done`.
 */
#define PLIMSOLL_PICK_COUNTED 1

/**
 * `plimsoll_pick.flags`, with `PLIMSOLL_PICK_COUNTED` only: it counts in the total that a policy
 * with a `hash_balance_factor` goes by.
 */
#define PLIMSOLL_PICK_IN_TOTAL 2

/**
 * `plimsoll_pick_context.flags`: the pick is not to be counted. It is valid until the same
 * worker's next pick, and is not to be done.
 */
#define PLIMSOLL_PICK_UNCOUNTED 1

/**
 * `plimsoll_pick_context.flags`: `hash` is the hash of the request.
 */
#define PLIMSOLL_PICK_HASHED 2

/**
 * `plimsoll_worker_done`: the request was answered.
 */
#define PLIMSOLL_OUTCOME_SUCCESS 0

/**
 * `plimsoll_worker_done`: the request failed.
 */
#define PLIMSOLL_OUTCOME_ERROR 1

/**
 * `plimsoll_stream_action.kind`: connect to `dial` and call
 * `xds.service.orca.v3.OpenRcaService/StreamCoreMetrics`. If there still is a stream of this host,
 * this one replaces it.
 */
#define PLIMSOLL_STREAM_OPEN 1

/**
 * `plimsoll_stream_action.kind`: close the connection without waiting for anything; its end need not
 * be told. There may be none.
 */
#define PLIMSOLL_STREAM_CLOSE 2

/**
 * `plimsoll_cluster_stream_ended`: there is no status of gRPC. No connection, a reset, a GOAWAY.
 */
#define PLIMSOLL_STREAM_BROKEN -1

/**
 * `plimsoll_dump_options.part`: how traffic divides among priorities, in percent, and which of them
 * panic.
 */
#define PLIMSOLL_DUMP_LOADS 1

/**
 * `plimsoll_dump_options.part`: all hosts, by priority, then in the assignment's order.
 */
#define PLIMSOLL_DUMP_HOSTS 2

/**
 * `plimsoll_dump_options.part`: how the traffic of each priority divides among localities, for
 * healthy, degraded and all hosts.
 */
#define PLIMSOLL_DUMP_LOCALITIES 3

/**
 * `plimsoll_dump_options.part`: the table of `ring_hash` or `maglev`, one address for each place.
 */
#define PLIMSOLL_DUMP_TABLE 4

/**
 * `plimsoll_dump_options.part`: all counters and gauges that are not zero, by name.
 */
#define PLIMSOLL_DUMP_STATS 5

/**
 * `plimsoll_dump_options.part`: the newest snapshot's version, how many were published and are
 * alive, and what was built for them.
 */
#define PLIMSOLL_DUMP_SNAPSHOT 6

/**
 * `plimsoll_dump_options.flags`: localities and tables of `priority` only.
 */
#define PLIMSOLL_DUMP_HAS_PRIORITY 1

/**
 * `plimsoll_dump_options.flags`: localities and tables of `source` only.
 */
#define PLIMSOLL_DUMP_HAS_SOURCE 2

/**
 * How a call ended. `PLIMSOLL_STATUS_OK` is 0; everything else but `PLIMSOLL_STATUS_PANIC` means
 * that the call had no effect.
 *
 * 1 to 15 are mistakes in the call, 16 to 31 answers about hosts and picks, 32 and up faults of
 * the library. New numbers may be added, so that a `switch` needs a default.
 */
typedef enum plimsoll_status {
    /**
     * Done.
     */
    PLIMSOLL_STATUS_OK = 0,
    /**
     * A pointer that must not be NULL is NULL.
     */
    PLIMSOLL_STATUS_NULL_ARGUMENT = 1,
    /**
     * A value outside its range, or text that is not UTF-8.
     */
    PLIMSOLL_STATUS_INVALID_ARGUMENT = 2,
    /**
     * Text that is neither JSON nor YAML; the message names line and column.
     */
    PLIMSOLL_STATUS_PARSE_ERROR = 3,
    /**
     * Envoy accepts it, this version does not: without it traffic would go elsewhere.
     */
    PLIMSOLL_STATUS_UNSUPPORTED = 4,
    /**
     * The cluster has no host with this address.
     */
    PLIMSOLL_STATUS_UNKNOWN_HOST = 5,
    /**
     * The host has data already.
     */
    PLIMSOLL_STATUS_HAS_DATA = 6,
    /**
     * The text does not fit; `*needed` says how many bytes it takes.
     */
    PLIMSOLL_STATUS_BUFFER_TOO_SMALL = 7,
    /**
     * A struct from a newer header sets a field that this library does not know.
     */
    PLIMSOLL_STATUS_UNSUPPORTED_FIELD = 8,
    /**
     * Only a debug build of the library says so: the handle was freed, is no such handle, or was
     * made before a `fork`; or another thread is using the worker at this moment.
     */
    PLIMSOLL_STATUS_MISUSE = 9,
    /**
     * No host is eligible where this pick was led.
     */
    PLIMSOLL_STATUS_NO_HOST = 16,
    /**
     * The priority is in panic and the cluster is told to fail then.
     */
    PLIMSOLL_STATUS_NO_HOST_PANIC = 17,
    /**
     * As many picks are peeked as may be; pick one of them first. Envoy's least request allows
     * none, nor do `ring_hash` and `maglev`.
     */
    PLIMSOLL_STATUS_PEEK_LIMIT = 18,
    /**
     * The pick names no host any more: it was done before, or is not valid any longer.
     */
    PLIMSOLL_STATUS_STALE_PICK = 19,
    /**
     * The pick was not counted, so that there is nothing to be done.
     */
    PLIMSOLL_STATUS_NOT_COUNTED = 20,
    /**
     * The response says nothing of its host's load.
     */
    PLIMSOLL_STATUS_NO_REPORT = 21,
    /**
     * What a host says of its load cannot be read.
     */
    PLIMSOLL_STATUS_REPORT_UNREADABLE = 22,
    /**
     * What a host says of its load was not taken in: it has no requests per second or no
     * utilization, or a number in it is none.
     */
    PLIMSOLL_STATUS_REPORT_REJECTED = 23,
    /**
     * There is nothing to hash the request by: pick without a hash.
     */
    PLIMSOLL_STATUS_NO_HASH = 24,
    /**
     * The cluster has none of the hosts that the request names.
     */
    PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND = 25,
    /**
     * It has some of them, and their health is not allowed.
     */
    PLIMSOLL_STATUS_OVERRIDE_NOT_ALLOWED = 26,
    /**
     * What a host says of its load was not taken in, because the policy does not go by that.
     */
    PLIMSOLL_STATUS_REPORT_NOT_WANTED = 27,
    /**
     * A control call panicked earlier: control calls refuse, workers keep serving.
     */
    PLIMSOLL_STATUS_POISONED = 32,
    /**
     * The call panicked, maybe after it had its effect: a fault in the library, please report it.
     */
    PLIMSOLL_STATUS_PANIC = 33,
} plimsoll_status;

/**
 * A cluster: its settings, its hosts, and the snapshot that its workers pick from. Any thread may
 * use it; control calls wait for each other and never make a worker wait.
 */
typedef struct plimsoll_cluster plimsoll_cluster;

/**
 * Why a control call failed. Any thread may read and free it.
 *
 * A call that takes `plimsoll_error **error` stores one there when it fails and NULL when it
 * succeeds; give NULL if the status is enough. It must be freed with `plimsoll_error_free`.
 */
typedef struct plimsoll_error plimsoll_error;

/**
 * The `hash_policy` of a route: what its requests are hashed from. Any thread may use it, several
 * at once.
 */
typedef struct plimsoll_hash_policies plimsoll_hash_policies;

/**
 * Picks hosts of one cluster. Used by one thread at a time, and outlives the cluster.
 */
typedef struct plimsoll_worker plimsoll_worker;

/**
 * Text as a pointer and a length.
 *
 * As an argument it is UTF-8 unless something else is said, need not end in a NUL, and is read
 * during the call only. A length of 0 is the empty text, whatever the pointer.
 */
typedef struct plimsoll_str {
    /**
     * The first byte. May be NULL if `len` is 0.
     */
    const char *data;
    /**
     * How many bytes.
     */
    size_t len;
} plimsoll_str;

/**
 * A header of a request.
 */
typedef struct plimsoll_header {
    /**
     * Its name, in any case. Pseudo-headers such as `:authority` are headers like others.
     */
    struct plimsoll_str name;
    /**
     * Its value, which need not be UTF-8.
     */
    struct plimsoll_str value;
} plimsoll_header;

/**
 * An object that the proxy keeps for a request under a key, Envoy's filter state: the entries
 * `filter_state` of a `hash_policy` ask for it.
 */
typedef struct plimsoll_filter_state {
    /**
     * Its key.
     */
    struct plimsoll_str key;
    /**
     * The hash of the object, which is what the object makes it.
     */
    uint64_t hash;
} plimsoll_filter_state;

/**
 * What is known of a request that is to be hashed. Growable: start from `PLIMSOLL_REQUEST_INIT`.
 *
 * Only what the policies in use ask for has to be there. A text of length 0 is not known.
 */
typedef struct plimsoll_request {
    /**
     * `sizeof(plimsoll_request)`.
     */
    size_t size;
    /**
     * Its headers, in any order; one that comes several times stands here several times. Cookies
     * are found in the header `cookie`, unless they are in `cookies`.
     */
    const struct plimsoll_header *headers;
    /**
     * How many.
     */
    size_t header_count;
    /**
     * The path with its query, as in `/cart?user=7`.
     */
    struct plimsoll_str path;
    /**
     * The query without its question mark; where `data` is NULL it is found in `path`.
     */
    struct plimsoll_str query;
    /**
     * The IP address that the request comes from, without a port: `10.0.0.1` or `::1`. Not known if
     * it comes from elsewhere, such as a pipe.
     */
    struct plimsoll_str source_ip;
    /**
     * The address that the request comes from, with a port: `10.0.0.1:4711`, `[::1]:4711` or a
     * path. New cookies are made from it and the next one, and none is made without them.
     */
    struct plimsoll_str remote_address;
    /**
     * The address that the request came to, as above.
     */
    struct plimsoll_str local_address;
    /**
     * Its cookies by name, where they have been parsed already; the values are without the quotes
     * around them. One that is not here is looked for in the header `cookie`.
     */
    const struct plimsoll_header *cookies;
    /**
     * How many.
     */
    size_t cookie_count;
    /**
     * The objects that the proxy keeps for the request, as far as policies ask for them.
     */
    const struct plimsoll_filter_state *filter_states;
    /**
     * How many.
     */
    size_t filter_state_count;
} plimsoll_request;

/**
 * One part of what requests are hashed from, Envoy's `RouteAction.HashPolicy`. Growable: start from
 * `PLIMSOLL_HASH_POLICY_INIT`.
 *
 * Policies are asked in order; each value that one finds is combined with those before it. All
 * policies of one call have the same `size`. A member that a kind does not use is not read.
 */
typedef struct plimsoll_hash_policy {
    /**
     * `sizeof(plimsoll_hash_policy)`.
     */
    size_t size;
    /**
     * One of `PLIMSOLL_HASH_...`.
     */
    uint32_t kind;
    /**
     * 1: ask no further policies once there is a value.
     */
    uint32_t terminal;
    /**
     * For all kinds but `PLIMSOLL_HASH_SOURCE_IP`: which header, cookie, parameter or object. Not
     * empty. The case of a header's name does not count.
     */
    struct plimsoll_str name;
    /**
     * For `PLIMSOLL_HASH_COOKIE`: the path that a new cookie gets. May be empty.
     */
    struct plimsoll_str path;
    /**
     * For `PLIMSOLL_HASH_COOKIE`: for how long a client without the cookie is given one, if `has_ttl`
     * is 1; less than a second is a cookie for the session. 0 unless `has_ttl` is 1.
     */
    uint64_t ttl_ns;
    /**
     * For `PLIMSOLL_HASH_COOKIE`: further attributes of a new cookie, in order. Only values may be
     * empty. May be NULL if there are none.
     */
    const struct plimsoll_header *attributes;
    /**
     * How many.
     */
    size_t attribute_count;
    /**
     * For `PLIMSOLL_HASH_COOKIE`: 1: a client without the cookie is given one. 0: it is not.
     */
    uint32_t has_ttl;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
} plimsoll_hash_policy;

/**
 * A place of a request: as `plimsoll_override_host` tells it, growable, from
 * `PLIMSOLL_OVERRIDE_SOURCE_INIT` on; or as `plimsoll_cluster_for_each_override_source` shows it.
 *
 * A later library may show more of it: `size` says how large its struct is. The texts are UTF-8, do
 * not end in a NUL, and are valid during the call of `visit` only.
 */
typedef struct plimsoll_override_source {
    /**
     * `sizeof(plimsoll_override_source)`, or how many bytes the library has filled in.
     */
    size_t size;
    /**
     * One of `PLIMSOLL_OVERRIDE_...`.
     */
    uint32_t kind;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
    /**
     * The name of the header; or the namespace in metadata, such as `envoy.lb`.
     */
    struct plimsoll_str name;
    /**
     * In metadata: the fields that lead to the text, from the outside in, at least one.
     */
    const struct plimsoll_str *path;
    /**
     * How many.
     */
    size_t path_count;
} plimsoll_override_source;

/**
 * One runtime key and its value. Growable: start from `PLIMSOLL_RUNTIME_VALUE_INIT`.
 *
 * All values of one call have the same `size`. A member that a kind does not use is not read.
 */
typedef struct plimsoll_runtime_value {
    /**
     * `sizeof(plimsoll_runtime_value)`.
     */
    size_t size;
    /**
     * The key, such as `upstream.healthy_panic_threshold`.
     */
    struct plimsoll_str key;
    /**
     * One of `PLIMSOLL_RUNTIME_...`.
     */
    uint32_t kind;
    /**
     * For `PLIMSOLL_RUNTIME_BOOLEAN`: 1 for true, 0 for false.
     */
    uint32_t boolean;
    /**
     * For `PLIMSOLL_RUNTIME_INTEGER`: a whole number, which also stands for a double, and for true
     * unless it is 0.
     */
    uint64_t integer;
    /**
     * For `PLIMSOLL_RUNTIME_NUMBER`: a double. It must be finite.
     */
    double number;
} plimsoll_runtime_value;

/**
 * What a cluster needs to know besides its configuration. Growable: start from
 * `PLIMSOLL_CLUSTER_OPTIONS_INIT`.
 */
typedef struct plimsoll_cluster_options {
    /**
     * `sizeof(plimsoll_cluster_options)`.
     */
    size_t size;
    /**
     * `PLIMSOLL_BEHAVIOR_NATIVE` or `PLIMSOLL_BEHAVIOR_ENVOY`.
     */
    uint32_t behavior;
    /**
     * 1: `seed` is to be used, and picks can be repeated. 0: seeded from the system's entropy,
     * as in production, so that two proxies never pick in lockstep.
     */
    uint32_t has_seed;
    /**
     * The seed of all random numbers, if `has_seed` is 1.
     */
    uint64_t seed;
    /**
     * What the clock shows now, in nanoseconds since any fixed moment.
     */
    uint64_t now_ns;
    /**
     * The region of this node itself. All three parts empty: the node's place is not known.
     */
    struct plimsoll_str region;
    /**
     * The zone of this node itself.
     */
    struct plimsoll_str zone;
    /**
     * The sub-zone of this node itself.
     */
    struct plimsoll_str sub_zone;
    /**
     * The cluster that this node itself belongs to, Envoy's `local_cluster_name`; zone-aware
     * routing goes by where its healthy hosts are. NULL: not known. This cluster follows its
     * changes with its own next control call, `plimsoll_cluster_tick` at the latest. Either cluster
     * may be freed first: once the local one is freed, what it was last goes on to count.
     */
    const struct plimsoll_cluster *local_cluster;
    /**
     * Runtime values that hold from the start, also with `PLIMSOLL_BEHAVIOR_ENVOY`, which takes
     * later ones up with the next change only. May be NULL if `runtime_count` is 0.
     */
    const struct plimsoll_runtime_value *runtime;
    /**
     * How many.
     */
    size_t runtime_count;
    /**
     * Where the cluster's messages go; NULL: nowhere. It is called at the end of control calls of
     * this cluster, `plimsoll_cluster_open` included, on the thread of the call and with no lock of
     * the library held, so that several threads may be in it at once; never by the calls of a worker,
     * and not after `plimsoll_cluster_free` has returned. `level` is one of `PLIMSOLL_LOG_...`; `message`
     * is a line without its end, UTF-8, does not end in a NUL, and is valid until `log` returns. It may
     * make any call of this library but must not free the cluster, unwind or `longjmp`.
     */
    void (*log)(void *userdata, uint32_t level, struct plimsoll_str message);
    /**
     * What `log` is called with.
     */
    void *log_userdata;
    /**
     * Which messages: one of `PLIMSOLL_LOG_...`, for those of this level and the ones that matter
     * more; 0 for `PLIMSOLL_LOG_INFO`. A kind of message comes at most ten times at once, then once a
     * second of the cluster's clock; what is left out is counted in the next one.
     */
    uint32_t log_level;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
} plimsoll_cluster_options;

/**
 * A number that a runtime value replaces.
 */
typedef struct plimsoll_runtime_double {
    /**
     * The number while there is no value for the key.
     */
    double default_value;
    /**
     * The key, see `plimsoll_cluster_set_runtime_double`. Not empty.
     */
    struct plimsoll_str runtime_key;
} plimsoll_runtime_double;

/**
 * How the share of a new host grows to what its weight gives it. Growable: start from
 * `PLIMSOLL_SLOW_START_INIT`.
 */
typedef struct plimsoll_slow_start {
    /**
     * `sizeof(plimsoll_slow_start)`.
     */
    size_t size;
    /**
     * How long it takes, at least a millisecond; 0, the default, switches it off.
     */
    uint64_t window_ns;
    /**
     * The least share of its weight that a new host has, 0 to 100. Default 10.
     */
    double min_weight_percent;
    /**
     * 1 grows linearly, more than 1 faster at first; more than 0. NULL: 1.
     */
    const struct plimsoll_runtime_double *aggression;
} plimsoll_slow_start;

/**
 * The settings of `PLIMSOLL_POLICY_LEAST_REQUEST`. Growable: start from
 * `PLIMSOLL_LEAST_REQUEST_INIT`.
 */
typedef struct plimsoll_least_request {
    /**
     * `sizeof(plimsoll_least_request)`.
     */
    size_t size;
    /**
     * How many hosts are drawn, 2 to 65536. Default 2. Without effect with
     * `PLIMSOLL_SELECTION_FULL_SCAN`.
     */
    uint32_t choice_count;
    /**
     * One of `PLIMSOLL_SELECTION_...`.
     */
    uint32_t selection_method;
    /**
     * How much active requests count, at least 0. NULL: 1.
     */
    const struct plimsoll_runtime_double *active_request_bias;
} plimsoll_least_request;

/**
 * Where streams of load reports go. Growable: start from `PLIMSOLL_OOB_REPORTING_INIT`.
 */
typedef struct plimsoll_oob_reporting {
    /**
     * `sizeof(plimsoll_oob_reporting)`.
     */
    size_t size;
    /**
     * What to call the host in requests. Empty: its name or its address.
     */
    struct plimsoll_str authority;
    /**
     * The port, at most 65535; 0 for the host's own.
     */
    uint32_t port_value;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
} plimsoll_oob_reporting;

/**
 * The settings of `PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN`. Growable: start from
 * `PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT`.
 */
typedef struct plimsoll_client_side_weighted_round_robin {
    /**
     * `sizeof(plimsoll_client_side_weighted_round_robin)`.
     */
    size_t size;
    /**
     * From a host's first report on, so long its reports do not count. Default 10 s.
     */
    uint64_t blackout_period_ns;
    /**
     * A report older than this does not count. Default 180 s. 0: never too old with
     * `PLIMSOLL_BEHAVIOR_NATIVE`, always with `PLIMSOLL_BEHAVIOR_ENVOY`.
     */
    uint64_t weight_expiration_period_ns;
    /**
     * How often weights are taken over. Default 1 s; less than 100 ms counts as that.
     */
    uint64_t weight_update_period_ns;
    /**
     * How often streams are to report. Default 10 s; 0 counts as that.
     */
    uint64_t oob_reporting_period_ns;
    /**
     * 1: ask for reports on streams, besides those with responses, see
     * `plimsoll_cluster_poll_streams`.
     */
    uint32_t enable_oob_load_report;
    /**
     * 1: `error_utilization_penalty` is to be used. 0: it is 1 with `PLIMSOLL_BEHAVIOR_NATIVE`, and 0
     * with `PLIMSOLL_BEHAVIOR_ENVOY`.
     */
    uint32_t has_error_utilization_penalty;
    /**
     * How much errors add to the utilization, at least 0. 0 unless
     * `has_error_utilization_penalty` is 1.
     */
    float error_utilization_penalty;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
    /**
     * Where streams go; NULL: to the hosts' own ports.
     */
    const struct plimsoll_oob_reporting *oob_reporting_config;
    /**
     * Which metrics are the utilization, before that of the application and the CPU:
     * `named_metrics.KEY`, say. May be NULL if there are none.
     */
    const struct plimsoll_str *metric_names_for_computing_utilization;
    /**
     * How many.
     */
    size_t metric_name_count;
} plimsoll_client_side_weighted_round_robin;

/**
 * The settings of `PLIMSOLL_POLICY_RING_HASH`. Growable: start from `PLIMSOLL_RING_HASH_INIT`.
 */
typedef struct plimsoll_ring_hash {
    /**
     * `sizeof(plimsoll_ring_hash)`.
     */
    size_t size;
    /**
     * How keys of hosts are hashed: one of `PLIMSOLL_HASH_FUNCTION_...`.
     */
    uint32_t hash_function;
    /**
     * 1 to 8388608, default 1024. With `PLIMSOLL_BEHAVIOR_ENVOY` a ring has at least as many points;
     * natively an eighth of it are the points of a host for each unit of its weight.
     */
    uint32_t minimum_ring_size;
    /**
     * A ring has at most as many points, `minimum_ring_size` to 8388608. 0, the default: 8388608 with
     * `PLIMSOLL_BEHAVIOR_ENVOY`, natively the larger of 1048576 and `minimum_ring_size`.
     */
    uint32_t maximum_ring_size;
    /**
     * 1: a host's key is its name instead of its address, unless it has a `hash_key`.
     */
    uint32_t use_hostname_for_hashing;
    /**
     * No host gets more than this percentage of its fair share of the active requests, at least 100;
     * 0, the default: as much as comes.
     */
    uint32_t hash_balance_factor;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
    /**
     * What requests are hashed from, in place of what their route says; copied. NULL, or without an
     * entry: the route says it, or the caller hashes.
     */
    const struct plimsoll_hash_policies *hash_policies;
} plimsoll_ring_hash;

/**
 * The settings of `PLIMSOLL_POLICY_MAGLEV`. Growable: start from `PLIMSOLL_MAGLEV_INIT`.
 */
typedef struct plimsoll_maglev {
    /**
     * `sizeof(plimsoll_maglev)`.
     */
    size_t size;
    /**
     * A prime, at most 5000011; a hundred times the number of hosts keeps their shares within a
     * hundredth. Default 65537.
     */
    uint32_t table_size;
    /**
     * 1: a host's key is its name instead of its address, unless it has a `hash_key`.
     */
    uint32_t use_hostname_for_hashing;
    /**
     * No host gets more than this percentage of its fair share of the active requests, at least 100;
     * 0, the default: as much as comes.
     */
    uint32_t hash_balance_factor;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
    /**
     * What requests are hashed from, in place of what their route says; copied. NULL, or without an
     * entry: the route says it, or the caller hashes.
     */
    const struct plimsoll_hash_policies *hash_policies;
} plimsoll_maglev;

/**
 * The settings of `PLIMSOLL_ROUTING_ZONE_AWARE`, which does nothing without
 * `plimsoll_cluster_options.local_cluster`. Growable: start from `PLIMSOLL_ZONE_AWARE_INIT`.
 */
typedef struct plimsoll_zone_aware {
    /**
     * `sizeof(plimsoll_zone_aware)`.
     */
    size_t size;
    /**
     * The percentage of picks that it applies to, 0 to 100. Default 100.
     */
    double routing_enabled;
    /**
     * With fewer healthy hosts it does not apply. Default 6.
     */
    uint64_t min_cluster_size;
    /**
     * 1: `force_local_zone` is to be used. 0: proportions decide.
     */
    uint32_t has_force_local_zone;
    /**
     * Stay in the local zone whatever the proportions, as long as so many of its hosts are healthy.
     * 0 unless `has_force_local_zone` is 1.
     */
    uint32_t force_local_zone;
    /**
     * What is compared between this node's own cluster and the hosts: one of `PLIMSOLL_BASIS_...`.
     */
    uint32_t locality_basis;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
} plimsoll_zone_aware;

/**
 * The settings of `PLIMSOLL_ROUTING_LOAD_AWARE`. Growable: start from
 * `PLIMSOLL_LOAD_AWARE_LOCALITY_INIT`.
 */
typedef struct plimsoll_load_aware_locality {
    /**
     * `sizeof(plimsoll_load_aware_locality)`.
     */
    size_t size;
    /**
     * How often weights are made of the reports, at least 100 ms. Default 1 s.
     */
    uint64_t weight_update_period_ns;
    /**
     * The time constant of smoothing, at least 1 ms. Default 5 s.
     */
    uint64_t smoothing_time_constant_ns;
    /**
     * A report older than this does not count. Default 180 s; 0 for never too old.
     */
    uint64_t weight_expiration_period_ns;
    /**
     * How often streams are to report. Default 10 s; 0 counts as that.
     */
    uint64_t oob_reporting_period_ns;
    /**
     * By how much the local locality may be busier than the others and still get everything, 0 to 1.
     * Default 0.1.
     */
    double utilization_variance_threshold;
    /**
     * The part of the traffic that other localities get at least, 0 to less than 1. Default 0.03.
     */
    double remote_probe_fraction;
    /**
     * 1: ask for reports on streams, besides those with responses, see
     * `plimsoll_cluster_poll_streams`.
     */
    uint32_t enable_oob_load_report;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
    /**
     * Where streams go; NULL: to the hosts' own ports.
     */
    const struct plimsoll_oob_reporting *oob_reporting_config;
    /**
     * Which metrics are the utilization, before that of the application and the CPU:
     * `named_metrics.KEY`, say. May be NULL if there are none.
     */
    const struct plimsoll_str *metric_names_for_computing_utilization;
    /**
     * How many.
     */
    size_t metric_name_count;
} plimsoll_load_aware_locality;

/**
 * Where requests name their hosts. Growable: start from `PLIMSOLL_OVERRIDE_HOST_INIT`.
 */
typedef struct plimsoll_override_host {
    /**
     * `sizeof(plimsoll_override_host)`.
     */
    size_t size;
    /**
     * Where addresses are looked for, in order: at least one, each a `PLIMSOLL_OVERRIDE_HEADER` or a
     * `PLIMSOLL_OVERRIDE_METADATA`. All have the same `size`.
     */
    const struct plimsoll_override_source *sources;
    /**
     * How many.
     */
    size_t source_count;
    /**
     * A `PLIMSOLL_OVERRIDE_SELECTED_HOST`: where the address of the picked host is to be written.
     * NULL: nowhere.
     */
    const struct plimsoll_override_source *selected_host_key;
} plimsoll_override_host;

/**
 * The settings of a cluster, which are those of Envoy's `Cluster` message. Growable: start from
 * `PLIMSOLL_CLUSTER_SETTINGS_INIT`, which has Envoy's defaults.
 *
 * What is read during the call is copied. Settings for another policy or another routing than the
 * chosen one are refused.
 */
typedef struct plimsoll_cluster_settings {
    /**
     * `sizeof(plimsoll_cluster_settings)`.
     */
    size_t size;
    /**
     * The cluster's name, for messages, figures and runtime keys. Not empty.
     */
    struct plimsoll_str name;
    /**
     * How a host is chosen: one of `PLIMSOLL_POLICY_...`.
     */
    uint32_t policy;
    /**
     * How traffic divides among the localities of a priority before that: one of
     * `PLIMSOLL_ROUTING_...`.
     */
    uint32_t locality_routing;
    /**
     * Below this percentage of available hosts a priority panics: it sends to all its hosts. 0 to
     * 100; 0 switches panic off. Default 50.
     */
    double healthy_panic_threshold;
    /**
     * 1: in panic, no host instead of any host.
     */
    uint32_t fail_traffic_on_panic;
    /**
     * 1: hosts are checked actively, so that new ones are unhealthy until their first check passes.
     */
    uint32_t active_health_checks;
    /**
     * 1: with active health checks new hosts also stay out of all percentages until their first one.
     */
    uint32_t ignore_new_hosts_until_first_hc;
    /**
     * 1: with active health checks a host that the assignment drops goes at once, even if its checks
     * still pass.
     */
    uint32_t ignore_health_on_host_removal;
    /**
     * Which health hosts of `plimsoll_worker_pick_override` may have: the sum of
     * `1 << PLIMSOLL_EDS_...`; 0 for none. Default unknown, healthy and degraded. Without effect with
     * `override_host`.
     */
    uint32_t override_host_status;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
    /**
     * How new hosts are warmed up; NULL: they get their full share at once. For
     * `PLIMSOLL_POLICY_ROUND_ROBIN`, `_LEAST_REQUEST` and `_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN`.
     */
    const struct plimsoll_slow_start *slow_start;
    /**
     * For `PLIMSOLL_POLICY_LEAST_REQUEST`; NULL: the defaults. So with the next ones.
     */
    const struct plimsoll_least_request *least_request;
    /**
     * For `PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN`.
     */
    const struct plimsoll_client_side_weighted_round_robin *client_side_weighted_round_robin;
    /**
     * For `PLIMSOLL_POLICY_RING_HASH`.
     */
    const struct plimsoll_ring_hash *ring_hash;
    /**
     * For `PLIMSOLL_POLICY_MAGLEV`.
     */
    const struct plimsoll_maglev *maglev;
    /**
     * For `PLIMSOLL_ROUTING_ZONE_AWARE`.
     */
    const struct plimsoll_zone_aware *zone_aware;
    /**
     * For `PLIMSOLL_ROUTING_LOAD_AWARE`.
     */
    const struct plimsoll_load_aware_locality *load_aware_locality;
    /**
     * Hosts that requests name come before the policy, Envoy's policy `override_host`; NULL: they do
     * not.
     */
    const struct plimsoll_override_host *override_host;
} plimsoll_cluster_settings;

/**
 * A host as the control plane describes it. Growable: start from `PLIMSOLL_ENDPOINT_INIT`.
 */
typedef struct plimsoll_endpoint {
    /**
     * `sizeof(plimsoll_endpoint)`.
     */
    size_t size;
    /**
     * The host's address, its identity: `10.0.0.1:80`, `[::1]:80` or any other text. Not empty.
     */
    struct plimsoll_str address;
    /**
     * Its name, for dumps and for hashing by name. May be empty.
     */
    struct plimsoll_str hostname;
    /**
     * What `PLIMSOLL_POLICY_RING_HASH` and `_MAGLEV` place it by. Empty: its name or its address, as
     * the policy says.
     */
    struct plimsoll_str hash_key;
    /**
     * Where its active health checks go. Empty: to its address.
     */
    struct plimsoll_str health_check_address;
    /**
     * Its weight, at least 1. Default 1. 0 is refused, while `plimsoll_host_change.weight` takes it
     * for 1.
     */
    uint32_t weight;
    /**
     * What the control plane says of its health: one of `PLIMSOLL_EDS_...`.
     */
    uint32_t health_status;
    /**
     * 1: it is not checked actively, whatever the settings say.
     */
    uint32_t disable_active_health_check;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
} plimsoll_endpoint;

/**
 * The hosts of one locality at one priority. Growable: start from `PLIMSOLL_LOCALITY_HOSTS_INIT`.
 */
typedef struct plimsoll_locality_hosts {
    /**
     * `sizeof(plimsoll_locality_hosts)`.
     */
    size_t size;
    /**
     * The region. May be empty, as the next two.
     */
    struct plimsoll_str region;
    /**
     * The zone.
     */
    struct plimsoll_str zone;
    /**
     * The sub-zone.
     */
    struct plimsoll_str sub_zone;
    /**
     * 0, which is used first, to 128.
     */
    uint32_t priority;
    /**
     * The locality's weight, for `PLIMSOLL_ROUTING_WEIGHTED`; 0, the default: it has none.
     */
    uint32_t weight;
    /**
     * The hosts. All have the same `size`. May be NULL if there are none.
     */
    const struct plimsoll_endpoint *hosts;
    /**
     * How many.
     */
    size_t host_count;
} plimsoll_locality_hosts;

/**
 * All hosts of a cluster, Envoy's `ClusterLoadAssignment`. Growable: start from
 * `PLIMSOLL_ASSIGNMENT_INIT`.
 */
typedef struct plimsoll_assignment {
    /**
     * `sizeof(plimsoll_assignment)`.
     */
    size_t size;
    /**
     * Groups of hosts, of which several may name the same locality. All have the same `size`. May be
     * NULL if there are none.
     */
    const struct plimsoll_locality_hosts *localities;
    /**
     * How many.
     */
    size_t locality_count;
    /**
     * A priority counts as fully available while its available share times this percentage reaches
     * 100. At least 1, default 140.
     */
    uint32_t overprovisioning_factor;
    /**
     * 1: availability is measured in weight instead of in hosts.
     */
    uint32_t weighted_priority_health;
} plimsoll_assignment;

/**
 * What a control call did.
 */
typedef struct plimsoll_applied {
    /**
     * The version of the newest snapshot after the call.
     */
    uint64_t version;
    /**
     * Whether the call made a new snapshot. One that changes nothing makes none.
     */
    bool published;
} plimsoll_applied;

/**
 * One change to one host. Growable: start from `PLIMSOLL_HOST_CHANGE_INIT`.
 *
 * All changes of one call have the same `size`. A member that a kind does not use is not read.
 */
typedef struct plimsoll_host_change {
    /**
     * `sizeof(plimsoll_host_change)`.
     */
    size_t size;
    /**
     * One of `PLIMSOLL_CHANGE_...`.
     */
    uint32_t kind;
    /**
     * For `PLIMSOLL_CHANGE_HEALTH`: one of `PLIMSOLL_HEALTH_...`.
     */
    uint32_t event;
    /**
     * The host's address, its identity: `10.0.0.1:80`, `[::1]:80` or any other text. Not empty.
     */
    struct plimsoll_str address;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: its name, for dumps and for hashing by name. May be empty.
     */
    struct plimsoll_str hostname;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: its region. May be empty, as the next two.
     */
    struct plimsoll_str region;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: its zone.
     */
    struct plimsoll_str zone;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: its sub-zone.
     */
    struct plimsoll_str sub_zone;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: 0, which is used first, to 128.
     */
    uint32_t priority;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: its weight; 0 stands for 1.
     */
    uint32_t weight;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: one of `PLIMSOLL_EDS_...`, which are Envoy's numbers.
     */
    uint32_t health_status;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
    /**
     * For `PLIMSOLL_CHANGE_UPSERT`: what `ring_hash` and `maglev` place it by, `hash_key` in Envoy's
     * metadata `envoy.lb`. Empty: its name or its address, as the policy says.
     */
    struct plimsoll_str hash_key;
} plimsoll_host_change;

/**
 * How busy one host is. Growable: start from `PLIMSOLL_HOST_LOAD_INIT`.
 *
 * All loads of one call have the same `size`.
 */
typedef struct plimsoll_host_load {
    /**
     * `sizeof(plimsoll_host_load)`.
     */
    size_t size;
    /**
     * The host's address, its identity.
     */
    struct plimsoll_str address;
    /**
     * How many requests are active on it, `PLIMSOLL_MAX_LOAD` at most.
     */
    uint32_t active;
    /**
     * With `PLIMSOLL_LOAD_HAS_PENDING`: how many requests wait for a connection to it,
     * `PLIMSOLL_MAX_LOAD` at most. They count with `LEAST_REQUEST` only, and only while the
     * runtime key `envoy.reloadable_features.least_request_lb_count_pending_requests` is true.
     */
    uint32_t pending;
    /**
     * `PLIMSOLL_LOAD_HAS_PENDING`, or 0.
     */
    uint32_t flags;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
} plimsoll_host_load;

/**
 * A host as `plimsoll_cluster_for_each_host` shows it.
 *
 * A later library may know more of a host: `size` says how large its struct is, so that a program
 * with a newer header than its library can tell which members are there. The texts are UTF-8, may
 * be empty, do not end in a NUL, and are valid during the call of `visit` only.
 */
typedef struct plimsoll_host {
    /**
     * How many bytes of the struct the library has filled in.
     */
    size_t size;
    /**
     * The host's address, its identity.
     */
    struct plimsoll_str address;
    /**
     * Its name.
     */
    struct plimsoll_str hostname;
    /**
     * Its region.
     */
    struct plimsoll_str region;
    /**
     * Its zone.
     */
    struct plimsoll_str zone;
    /**
     * Its sub-zone.
     */
    struct plimsoll_str sub_zone;
    /**
     * Its priority; 0 is used first.
     */
    uint32_t priority;
    /**
     * Its configured weight.
     */
    uint32_t weight;
    /**
     * How many requests are active on it; changes while one looks.
     */
    uint32_t active;
    /**
     * What is known of its health: any of `PLIMSOLL_FLAG_...`, which are Envoy's bits.
     */
    uint32_t health;
    /**
     * What the control plane says of it: one of `PLIMSOLL_EDS_...`.
     */
    uint32_t eds_health;
    /**
     * What balancing makes of its health: one of `PLIMSOLL_COARSE_...`.
     */
    uint32_t coarse;
    /**
     * The weight that the policy uses now, slow start included and its requests not.
     */
    double effective_weight;
    /**
     * The part of the traffic that it gets, 0 to 1: the probability that a pick at a random moment
     * lands on it; with `LEAST_REQUEST`, while no host has requests.
     */
    double share;
    /**
     * What its slow start multiplies its weight with now, 0 to 1; 1 if it is not in slow start.
     */
    double slow_start_factor;
    /**
     * How many seconds its slow start still takes; 0 if, and only if, it is not in slow start.
     */
    double slow_start_seconds_left;
    /**
     * 1 if it has reported its load and the policy goes by that; 0 otherwise, and then the members
     * below are 0.
     */
    uint32_t has_report;
    /**
     * 0. Fills the place that would be padding.
     */
    uint32_t reserved;
    /**
     * The utilization of its last report that the policy goes by; more than 1 is possible.
     */
    double utilization;
    /**
     * How long ago its last report came, by the last tick.
     */
    uint64_t report_age_ns;
    /**
     * The weight that follows from its last report. It becomes its `effective_weight` when
     * weights are taken over, and only while the report counts.
     */
    double reported_weight;
} plimsoll_host;

/**
 * One kind of hosts in one locality, as `plimsoll_cluster_for_each_locality` shows it.
 *
 * A later library may know more of it: `size` says how large its struct is, so that a program with
 * a newer header than its library can tell which members are there. The texts are UTF-8, may be
 * empty, do not end in a NUL, and are valid during the call of `visit` only.
 */
typedef struct plimsoll_locality {
    /**
     * How many bytes of the struct the library has filled in.
     */
    size_t size;
    /**
     * The locality's region.
     */
    struct plimsoll_str region;
    /**
     * Its zone.
     */
    struct plimsoll_str zone;
    /**
     * Its sub-zone.
     */
    struct plimsoll_str sub_zone;
    /**
     * The priority of the hosts; 0 is used first.
     */
    uint32_t priority;
    /**
     * Which of its hosts: one of `PLIMSOLL_SOURCE_...`.
     */
    uint32_t source;
    /**
     * 1 if the node's own locality gets everything that goes to such hosts of this priority; the
     * same for all localities of one priority and source.
     */
    uint32_t all_local;
    /**
     * 1 if routing goes by utilizations; 0 otherwise, and then `utilization` is 0.
     */
    uint32_t has_utilization;
    /**
     * How many such hosts there are.
     */
    uint64_t hosts;
    /**
     * The part of all requests that goes to such hosts of this priority, 0 to 1; the same for all
     * localities of one priority and source.
     */
    double load;
    /**
     * How busy they are, as far as it is known, and smoothed. More than 1 is possible.
     */
    double utilization;
    /**
     * What the locality gets of `load`: with `PLIMSOLL_BEHAVIOR_NATIVE` its part, 0 to 1; with
     * `PLIMSOLL_BEHAVIOR_ENVOY` in proportion to this, which is the weight that Envoy's own routing
     * has. It means nothing if the priority has no such hosts.
     */
    double weight;
} plimsoll_locality;

/**
 * How much a scrape may hold of each cluster. Growable: start from
 * `PLIMSOLL_PROMETHEUS_OPTIONS_INIT`.
 */
typedef struct plimsoll_prometheus_options {
    /**
     * `sizeof(plimsoll_prometheus_options)`.
     */
    size_t size;
    /**
     * How many hosts at most get samples of their own, nine families of them: the first ones by
     * priority, then in the assignment's order. The rest is counted. 0: none, and no count.
     */
    uint32_t max_hosts;
    /**
     * How many localities of each priority at most. 0: none, and no count.
     */
    uint32_t max_localities;
} plimsoll_prometheus_options;

/**
 * What a worker is told at its start. Growable: start from `PLIMSOLL_WORKER_OPTIONS_INIT`.
 */
typedef struct plimsoll_worker_options {
    /**
     * `sizeof(plimsoll_worker_options)`.
     */
    size_t size;
    /**
     * How many peeks may be outstanding, 65536 at most; each costs 8 bytes. 0 stands for 64.
     */
    uint32_t peek_capacity;
    /**
     * 1: `number` is to be used. 0: the worker is numbered after the one that was made last.
     */
    uint32_t has_number;
    /**
     * Which of the cluster's generators of random numbers the worker gets, and where its picks
     * begin, if `has_number` is 1: a worker with the number of one that was freed goes the same way
     * again. Workers that live at the same time need different numbers, or they pick in lockstep.
     */
    uint64_t number;
    /**
     * Numbers to be used before those of the generator, as with `plimsoll_worker_push_draws`, and
     * from the first one that is drawn. May be NULL if `draw_count` is 0.
     */
    const uint64_t *draws;
    /**
     * How many.
     */
    size_t draw_count;
} plimsoll_worker_options;

/**
 * What is known of a request before its host is picked. Growable: start from
 * `PLIMSOLL_PICK_CONTEXT_INIT`.
 */
typedef struct plimsoll_pick_context {
    /**
     * `sizeof(plimsoll_pick_context)`.
     */
    size_t size;
    /**
     * How many more hosts `plimsoll_worker_pick_filtered` tries while they are refused; more than
     * 128 count as 128.
     */
    uint32_t retries;
    /**
     * `PLIMSOLL_PICK_UNCOUNTED` and `PLIMSOLL_PICK_HASHED`, or 0.
     */
    uint32_t flags;
    /**
     * What the clock shows now, on the scale of `plimsoll_cluster_tick`; 0 for what the last tick
     * was told. With `PLIMSOLL_BEHAVIOR_ENVOY` hosts in slow start are weighed by it; nothing else
     * reads it.
     */
    uint64_t now_ns;
    /**
     * The hash of the request, with `PLIMSOLL_PICK_HASHED`; read by `ring_hash` and `maglev`, which
     * draw a number without it.
     */
    uint64_t hash;
    /**
     * Which attempt at the same request this is, 0 first; more than 128 count as 128. Read by
     * `ring_hash` and `maglev`, which give another host each time.
     */
    uint32_t attempt;
    /**
     * 0.
     */
    uint32_t reserved;
} plimsoll_pick_context;

/**
 * A host that was picked: a value to copy, not to be changed.
 *
 * `slot` is a small number that is the host's for as long as a snapshot or a pick names it, so
 * that it can index an array of yours; `generation` changes when the slot is given to another
 * host.
 */
typedef struct plimsoll_pick {
    /**
     * The host's slot.
     */
    uint32_t slot;
    /**
     * Which host had the slot.
     */
    uint32_t generation;
    /**
     * The priority that the host was picked at.
     */
    uint32_t priority;
    /**
     * `PLIMSOLL_PICK_COUNTED`, perhaps with `PLIMSOLL_PICK_IN_TOTAL`, or 0.
     */
    uint32_t flags;
} plimsoll_pick;

/**
 * What a response says of its host's load. Growable: start from `PLIMSOLL_RESPONSE_LOAD_INIT`.
 *
 * The texts are the values of headers as they came: they need not be UTF-8, and may have blanks
 * around them. A `data` of NULL stands for a header that is absent, which is not the same as one
 * without a value. Of several headers with one name give the first.
 */
typedef struct plimsoll_response_load {
    /**
     * `sizeof(plimsoll_response_load)`.
     */
    size_t size;
    /**
     * Of the headers: `endpoint-load-metrics-bin`. Where there is one, `header_text` is not read.
     */
    struct plimsoll_str header_binary;
    /**
     * Of the headers: `endpoint-load-metrics`.
     */
    struct plimsoll_str header_text;
    /**
     * Of the trailers: `endpoint-load-metrics-bin`. Where there is one, `trailer_text` is not read.
     */
    struct plimsoll_str trailer_binary;
    /**
     * Of the trailers: `endpoint-load-metrics`.
     */
    struct plimsoll_str trailer_text;
    /**
     * What the clock shows now, on the scale of `plimsoll_cluster_tick`; 0 for what the last tick
     * was told.
     */
    uint64_t now_ns;
} plimsoll_response_load;

/**
 * What is to be done about one stream.
 *
 * A later library may know more of it: `size` says how large its struct is. The texts are UTF-8, do
 * not end in a NUL, and are valid during the call of `act` only.
 */
typedef struct plimsoll_stream_action {
    /**
     * How many bytes of the struct the library has filled in.
     */
    size_t size;
    /**
     * `PLIMSOLL_STREAM_OPEN` or `PLIMSOLL_STREAM_CLOSE`.
     */
    uint32_t kind;
    /**
     * The slot of the host, as in a `plimsoll_pick`.
     */
    uint32_t slot;
    /**
     * Which host has the slot, as in a `plimsoll_pick`.
     */
    uint32_t generation;
    /**
     * 0. Fills the place that would be padding.
     */
    uint32_t reserved;
    /**
     * To open: the `report_interval` to ask for, in nanoseconds.
     */
    uint64_t interval_ns;
    /**
     * To open: the host's address.
     */
    struct plimsoll_str address;
    /**
     * To open: what to connect to, the address with the port of `oob_reporting_config` if there is
     * one.
     */
    struct plimsoll_str dial;
    /**
     * To open: what to call the host in the request.
     */
    struct plimsoll_str authority;
} plimsoll_stream_action;

/**
 * What to dump of a cluster. Growable: start from `PLIMSOLL_DUMP_OPTIONS_INIT`, and set `part`.
 */
typedef struct plimsoll_dump_options {
    /**
     * `sizeof(plimsoll_dump_options)`.
     */
    size_t size;
    /**
     * One of `PLIMSOLL_DUMP_...`.
     */
    uint32_t part;
    /**
     * `PLIMSOLL_DUMP_HAS_PRIORITY` and `PLIMSOLL_DUMP_HAS_SOURCE`, or 0; other parts than localities
     * and tables have neither.
     */
    uint32_t flags;
    /**
     * With `PLIMSOLL_DUMP_HAS_PRIORITY`: which. Without, localities are of all priorities and a
     * table is of priority 0.
     */
    uint64_t priority;
    /**
     * With `PLIMSOLL_DUMP_HAS_SOURCE`: one of `PLIMSOLL_SOURCE_...`. Without, localities are of each
     * and a table is of the healthy hosts.
     */
    uint32_t source;
    /**
     * 0. Fills the place that would be padding, so that a later member can use it.
     */
    uint32_t reserved;
} plimsoll_dump_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The `PLIMSOLL_ABI_VERSION` of the library, to be compared with the header's at the start.
 *
 * Thread: any. Allocates: no. Blocks: no.
 */
uint32_t plimsoll_abi_version(void);

/**
 * The version of the library as text, `"1.0.0"`. Ends in a NUL, is never NULL, and must not be
 * freed.
 *
 * Thread: any. Allocates: no. Blocks: no.
 */
const char *plimsoll_version(void);

/**
 * The name of a status, such as `no_host`: the same word as `plimsoll_error_code`. `unknown` for a
 * number that is none.
 *
 * `status` is a `plimsoll_status`, or any number that may be one. The text ends in a NUL, is never
 * NULL, and must not be freed.
 *
 * Thread: any. Allocates: no. Blocks: no.
 */
const char *plimsoll_status_name(uint32_t status);

/**
 * Frees an error object and the texts that were read from it. NULL is fine.
 *
 * Thread: any. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `error` is NULL or came from a call of this library and was not freed before.
 */
void plimsoll_error_free(struct plimsoll_error *error);

/**
 * The status that the failed call returned; `PLIMSOLL_STATUS_NULL_ARGUMENT` for NULL.
 *
 * Thread: any. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `error` is NULL or came from a call of this library and was not freed.
 */
enum plimsoll_status plimsoll_error_status(const struct plimsoll_error *error);

/**
 * The status as a word, such as `invalid_argument`: the same that replays and the command line
 * print. A text of length 0 for NULL.
 *
 * The text is never NULL and ends in a NUL that `len` does not count; it stays as it is for as
 * long as the program runs.
 *
 * Thread: any. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `error` is NULL or came from a call of this library and was not freed.
 */
struct plimsoll_str plimsoll_error_code(const struct plimsoll_error *error);

/**
 * Which value is at fault: the path of a field in Envoy's messages
 * (`endpoints[2].lb_endpoints[0].load_balancing_weight`), the name of an argument or of a member
 * of one (`changes[3].kind`), or the address of the host that is not there, has data already or
 * reported what is of no use. A text of length 0 where no single value is at fault, and for NULL.
 *
 * The text is never NULL and ends in a NUL that `len` does not count; it is valid until
 * `plimsoll_error_free`.
 *
 * Thread: any. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `error` is NULL or came from a call of this library and was not freed.
 */
struct plimsoll_str plimsoll_error_field(const struct plimsoll_error *error);

/**
 * What is wrong, in a sentence for a human; Envoy's text where Envoy has one. A text of length 0
 * for NULL.
 *
 * The text is never NULL and ends in a NUL that `len` does not count; it is valid until
 * `plimsoll_error_free`.
 *
 * Thread: any. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `error` is NULL or came from a call of this library and was not freed.
 */
struct plimsoll_str plimsoll_error_message(const struct plimsoll_error *error);

/**
 * Reads a route's `hash_policy`: a list of Envoy's `RouteAction.HashPolicy`, as JSON or YAML.
 *
 * Once for many requests. `*out` is NULL on failure. Free it with `plimsoll_hash_policies_free`.
 *
 * Fails with `PLIMSOLL_STATUS_PARSE_ERROR` for text that is neither JSON nor YAML,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range or an unknown field (the error
 * object names it), `PLIMSOLL_STATUS_UNSUPPORTED` for what Envoy accepts and this version does
 * not, `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: no.
 *
 * # Safety
 *
 * `text` is readable, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_hash_policies_parse(struct plimsoll_str text,
                                                  struct plimsoll_hash_policies **out,
                                                  struct plimsoll_error **error);

/**
 * Frees a list of policies. NULL is fine.
 *
 * Thread: any, while nobody else uses `policies`. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `policies` is NULL or came from `plimsoll_hash_policies_parse` or `_new`, was not freed before, and
 * nobody uses it.
 */
void plimsoll_hash_policies_free(struct plimsoll_hash_policies *policies);

/**
 * Hashes a request by the cluster's own `hash_policy`, or, if that has no entries, by `route`, as
 * Envoy does. Put `*out` into `plimsoll_pick_context.hash`, for each attempt at the request, and
 * set `PLIMSOLL_PICK_HASHED`.
 *
 * `route` may be NULL: then the cluster's own policies are all there are.
 *
 * Where a policy wants the client to have a cookie that it did not send, `set_cookie` is called
 * with the value of the header `set-cookie` that the response is to carry, so that the client's next
 * request has the same hash; at most once for each policy. The text does not end in a NUL and is
 * valid until `set_cookie` returns. With a NULL `set_cookie` nobody gets a cookie, and such a policy
 * finds nothing. `set_cookie` runs on this thread, during the call; every call with this worker is
 * refused inside it, and the worker must not be freed. It must not unwind or `longjmp`.
 *
 * Fails with `PLIMSOLL_STATUS_NO_HASH` if no policy finds anything in the request or the cluster's
 * policy does not go by hashes: pick without one. Also with `PLIMSOLL_STATUS_NULL_ARGUMENT`,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` or `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the request,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside `accept`, or `PLIMSOLL_STATUS_PANIC`. `*out` is 0 on
 * failure.
 *
 * Thread: the one that uses `worker`. Allocates: for new cookies, and for a header with more than
 * eight values. Blocks: no, unless `set_cookie` does.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `route` is NULL or alive, `request` is NULL
 * or as large as its `size` says, and its headers, cookies and texts are readable, `set_cookie` is
 * NULL or may be called with `userdata`, `out` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_hash(struct plimsoll_worker *worker,
                                          const struct plimsoll_hash_policies *route,
                                          const struct plimsoll_request *request,
                                          void *userdata,
                                          void (*set_cookie)(void *userdata,
                                                             struct plimsoll_str value),
                                          uint64_t *out);

/**
 * Hashes a request by a list of policies alone, whatever a cluster has: for a proxy that hashes
 * before it knows the cluster, and to try policies out. Otherwise as `plimsoll_worker_hash`.
 *
 * Fails with `PLIMSOLL_STATUS_NO_HASH` if no policy finds anything in the request. Also with
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
 * `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the request, or `PLIMSOLL_STATUS_PANIC`. `*out` is 0 on
 * failure.
 *
 * Thread: any. Allocates: for new cookies, and for a header with more than eight values.
 * Blocks: no, unless `set_cookie` does.
 *
 * # Safety
 *
 * `policies` is NULL or alive, `request` is NULL or as large as its `size` says, and its headers,
 * cookies and texts are readable, `set_cookie` is NULL or may be called with `userdata`, `out` is
 * NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_hash_policies_hash(const struct plimsoll_hash_policies *policies,
                                                 const struct plimsoll_request *request,
                                                 void *userdata,
                                                 void (*set_cookie)(void *userdata,
                                                                    struct plimsoll_str value),
                                                 uint64_t *out);

/**
 * Makes of `count` policies what `plimsoll_worker_hash`, `plimsoll_ring_hash` and `plimsoll_maglev`
 * take; once for many requests. `policies` may be NULL if `count` is 0.
 *
 * `*out` is NULL on failure. Free it with `plimsoll_hash_policies_free`; a cluster that was told of it
 * has a copy.
 *
 * Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range or a number that stands
 * for nothing (the error object names it, `policies[3].kind`), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for
 * policies of a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: no.
 *
 * # Safety
 *
 * `policies` is NULL or an array of `count` structs, each as large as the first one's `size` says,
 * whose texts and attributes are readable, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_hash_policies_new(const struct plimsoll_hash_policy *policies,
                                                size_t count,
                                                struct plimsoll_hash_policies **out,
                                                struct plimsoll_error **error);

/**
 * Calls `visit` for every place of a request where the cluster's policy `override_host` looks for
 * addresses, in order, and last for the place where the address of the picked host is to be
 * written, if there is one; until it returns something else than 0. There is no call if the cluster
 * has no such policy. Give what stands in these places to `plimsoll_worker_pick_override`; ask again
 * after `plimsoll_cluster_reload` and `plimsoll_cluster_configure`.
 *
 * `visit` runs on this thread, during the call. No lock is held: any call of this library may be
 * made in it, but the cluster must not be freed. It must not unwind or `longjmp`.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`; a panic may have come
 * after some of the visits.
 *
 * Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, and stays so during the call; `visit` is NULL or may be called with
 * `userdata`; `error` is NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_for_each_override_source(const struct plimsoll_cluster *cluster,
                                                               void *userdata,
                                                               int (*visit)(void *userdata,
                                                                            const struct plimsoll_override_source *source),
                                                               struct plimsoll_error **error);

/**
 * Opens a cluster from Envoy's `Cluster` message, as JSON or YAML; its hosts are those of its
 * `load_assignment`, none if it has none.
 *
 * `options` may be NULL. `*out` is NULL on failure. Free it with `plimsoll_cluster_free`. Open it
 * after a `fork`: handles do not survive one.
 *
 * Fails with `PLIMSOLL_STATUS_PARSE_ERROR` for text that is neither JSON nor YAML,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range or an unknown field (the error
 * object names it), `PLIMSOLL_STATUS_UNSUPPORTED` for what Envoy accepts and this version does
 * not, `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for options of a newer header,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: no.
 *
 * # Safety
 *
 * `cluster` is readable, `options` is NULL or as large as its `size` says, its `local_cluster` is
 * NULL or alive, its `runtime` NULL or an array of `runtime_count` values whose keys are readable,
 * `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_open(struct plimsoll_str cluster,
                                           const struct plimsoll_cluster_options *options,
                                           struct plimsoll_cluster **out,
                                           struct plimsoll_error **error);

/**
 * Opens a cluster from structs, without any text of Envoy's. `assignment` are its hosts; NULL: it has
 * none yet.
 *
 * `options` may be NULL. `*out` is NULL on failure. Free it with `plimsoll_cluster_free`. Open it
 * after a `fork`: handles do not survive one.
 *
 * Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a value outside its range, a number that stands
 * for nothing, text that is not UTF-8, or settings of what was not chosen; the error object names the
 * member (`settings.least_request.choice_count`, `assignment.localities[2].hosts[0].weight`). Also with
 * `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for structs of a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT`
 * or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: no.
 *
 * # Safety
 *
 * `settings` is NULL or as large as its `size` says, and so is what it points to, whose texts and
 * arrays are readable and whose handles are alive. So with `assignment`. `options` is as with
 * `plimsoll_cluster_open`, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_new(const struct plimsoll_cluster_settings *settings,
                                          const struct plimsoll_assignment *assignment,
                                          const struct plimsoll_cluster_options *options,
                                          struct plimsoll_cluster **out,
                                          struct plimsoll_error **error);

/**
 * Frees a cluster. NULL is fine. Its workers keep serving their last snapshot; the last handle to
 * be freed takes the rest with it, so that `release` callbacks may run.
 *
 * Thread: any, while nobody else uses `cluster`. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `cluster` is NULL or came from `plimsoll_cluster_open` or `_new`, was not freed before, and nobody
 * uses it.
 */
void plimsoll_cluster_free(struct plimsoll_cluster *cluster);

/**
 * Takes in a new version of the `Cluster` message: settings and hosts in one step, all or nothing.
 * Without a `load_assignment` the hosts stay. Behavior and options stay, workers stay, and so do
 * hosts that are still there, with their data and their active requests.
 *
 * `out` may be NULL; it is zero on failure.
 *
 * Fails as `plimsoll_cluster_open` does, and with `PLIMSOLL_STATUS_POISONED`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `text` is readable, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_reload(const struct plimsoll_cluster *cluster,
                                             struct plimsoll_str text,
                                             struct plimsoll_applied *out,
                                             struct plimsoll_error **error);

/**
 * Replaces the hosts by those of Envoy's `ClusterLoadAssignment`, as JSON or YAML. Hosts that are
 * still there keep their data and their active requests.
 *
 * `out` may be NULL; it is zero on failure.
 *
 * Fails with `PLIMSOLL_STATUS_PARSE_ERROR`, `PLIMSOLL_STATUS_INVALID_ARGUMENT`,
 * `PLIMSOLL_STATUS_UNSUPPORTED` (the error object names the field),
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `load_assignment` is readable, `out` and `error` are NULL or
 * writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_assign(const struct plimsoll_cluster *cluster,
                                             struct plimsoll_str load_assignment,
                                             struct plimsoll_applied *out,
                                             struct plimsoll_error **error);

/**
 * Takes in new settings and new hosts from structs in one step, all or nothing. What is NULL stays as
 * it is. Behavior and options stay, workers stay, and so do hosts that are still there, with their
 * data and their active requests.
 *
 * `out` may be NULL; it is zero on failure.
 *
 * Fails as `plimsoll_cluster_new` does, and with `PLIMSOLL_STATUS_POISONED`. Weights of hosts that do
 * not go with a policy that hashes are named as `assignment.localities`, also where the hosts stay.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `settings` and `assignment` are NULL or as with `plimsoll_cluster_new`,
 * `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_configure(const struct plimsoll_cluster *cluster,
                                                const struct plimsoll_cluster_settings *settings,
                                                const struct plimsoll_assignment *assignment,
                                                struct plimsoll_applied *out,
                                                struct plimsoll_error **error);

/**
 * Applies `count` changes to hosts in one step, all or nothing; any number of them makes one
 * snapshot at most. Wherever they stand in the array, removals come first, then the hosts that are
 * added or described anew, then what was learnt of their health. `changes` may be NULL if `count`
 * is 0.
 *
 * `out` may be NULL; it is zero on failure.
 *
 * Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if a host to be removed or reported on is not there,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number or a value outside its range (the error object
 * names it, `changes[3].kind`), `PLIMSOLL_STATUS_UNSUPPORTED`, `PLIMSOLL_STATUS_UNSUPPORTED_FIELD`
 * for changes of a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
 * `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `changes` is NULL or an array of `count` structs, each as large as
 * the first one's `size` says, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_update(const struct plimsoll_cluster *cluster,
                                             const struct plimsoll_host_change *changes,
                                             size_t count,
                                             struct plimsoll_applied *out,
                                             struct plimsoll_error **error);

/**
 * Moves the cluster's time on: hosts in slow start get what their weights give them by now,
 * weights that hosts reported are taken over when their period has passed, and what no worker uses
 * any more is freed, old snapshots and the data of hosts that have left. Call it from your own
 * timer, every 100 ms or so; late or bunched calls do no harm.
 *
 * `now_ns` is the time, in nanoseconds since the moment that `plimsoll_cluster_options.now_ns`
 * counts from. The cluster's clock never goes back: an earlier time changes nothing.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
 * `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `error` is NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_tick(const struct plimsoll_cluster *cluster,
                                           uint64_t now_ns,
                                           struct plimsoll_error **error);

/**
 * When `plimsoll_cluster_tick` has something to do next, in nanoseconds on its scale, for a caller
 * that would rather not call it in vain. `*next_ns` is 0 while nothing is periodic, and on failure.
 *
 * A later tick only delays what is due. What is freed by ticks is not due at any time: call one
 * every now and then all the same, and one after an update.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
 * `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: no. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `next_ns` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_next_tick(const struct plimsoll_cluster *cluster,
                                                uint64_t *next_ns,
                                                struct plimsoll_error **error);

/**
 * Sets and removes `count` runtime keys in one step, all or nothing; any number of them makes one
 * snapshot at most. What a key does is as with `plimsoll_cluster_set_runtime`. If a key stands in
 * the array twice, the later value holds. `values` may be NULL if `count` is 0.
 *
 * `out` may be NULL; it is zero on failure.
 *
 * Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a key that is not UTF-8, a number that is
 * infinite or none, or a kind that stands for nothing (the error object names it,
 * `values[3].kind`), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for values of a newer header,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `values` is NULL or an array of `count` structs, each as large as
 * the first one's `size` says, whose keys are readable, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_update_runtime(const struct plimsoll_cluster *cluster,
                                                     const struct plimsoll_runtime_value *values,
                                                     size_t count,
                                                     struct plimsoll_applied *out,
                                                     struct plimsoll_error **error);

/**
 * Sets a runtime key, such as `upstream.healthy_panic_threshold`, which overrides the setting of
 * the same meaning; `value` NULL removes the key, whatever form its value has. With
 * `PLIMSOLL_BEHAVIOR_NATIVE` it holds at once, with `PLIMSOLL_BEHAVIOR_ENVOY` from the next change
 * on, as in Envoy; but the aggression of slow start holds at once there, too. A key that this
 * version does not read does nothing.
 *
 * As in Envoy, a whole number also stands for a double, and any number but 0 for true. A setting
 * whose key has a value of another form keeps its configured value.
 *
 * `out` may be NULL; it is zero on failure.
 *
 * Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a key that is not UTF-8,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `key` is readable, `value` is NULL or readable, `out` and `error`
 * are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_set_runtime(const struct plimsoll_cluster *cluster,
                                                  struct plimsoll_str key,
                                                  const uint64_t *value,
                                                  struct plimsoll_applied *out,
                                                  struct plimsoll_error **error);

/**
 * Sets a runtime key to a double, for a setting that is one: the `runtime_key` of a
 * `RuntimeDouble`, such as the aggression of slow start. A value that the setting cannot have
 * counts as 1, as in Envoy. Otherwise as `plimsoll_cluster_set_runtime`.
 *
 * Fails as `plimsoll_cluster_set_runtime` does, and with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a
 * value that is infinite or not a number.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * As for `plimsoll_cluster_set_runtime`.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_set_runtime_double(const struct plimsoll_cluster *cluster,
                                                         struct plimsoll_str key,
                                                         const double *value,
                                                         struct plimsoll_applied *out,
                                                         struct plimsoll_error **error);

/**
 * Sets a runtime key to true or false, for a feature that is on or off, such as
 * `envoy.reloadable_features.least_request_lb_count_pending_requests`. Otherwise as
 * `plimsoll_cluster_set_runtime`.
 *
 * Fails as `plimsoll_cluster_set_runtime` does.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * As for `plimsoll_cluster_set_runtime`.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_set_runtime_bool(const struct plimsoll_cluster *cluster,
                                                       struct plimsoll_str key,
                                                       const bool *value,
                                                       struct plimsoll_applied *out,
                                                       struct plimsoll_error **error);

/**
 * Sets how busy hosts are, all or nothing. For requests that the library does not count itself:
 * those of other processes, or of picks with `PLIMSOLL_PICK_UNCOUNTED`. Counted picks and
 * `plimsoll_worker_done` count on from there.
 *
 * The next pick of every worker sees it, without a new snapshot. What is set here never keeps a
 * host that leaves. If a host stands in the array twice, the later load holds. `loads` may be NULL
 * if `count` is 0.
 *
 * Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if a host is not there,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number outside its range (the error object names it,
 * `loads[3].active`), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for loads of a newer header,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `loads` is NULL or an array of `count` structs, each as large as the
 * first one's `size` says, `error` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_set_loads(const struct plimsoll_cluster *cluster,
                                                const struct plimsoll_host_load *loads,
                                                size_t count,
                                                struct plimsoll_error **error);

/**
 * Puts the caller's data behind a host, once for each host.
 *
 * From then on the data belongs to the library. `release(data)` is called exactly once, when the
 * host has left the cluster, its last request is done, and no worker holds a snapshot that names
 * it: in the first control call that finds it so (`plimsoll_cluster_tick` will do), and at the
 * latest when the last handle of the cluster is freed. It runs on the thread of that call, without
 * any lock of the library held; it must not free a handle, unwind or `longjmp`. `release` may be
 * NULL: then nothing is called. A host that is described anew keeps its data; one that leaves and
 * returns later has none.
 *
 * On failure the data stays yours, and `release` is not called.
 *
 * Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if the cluster has no host with this address, with
 * `PLIMSOLL_STATUS_HAS_DATA` if it has data already, with `PLIMSOLL_STATUS_NULL_ARGUMENT`,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an address that is not UTF-8,
 * `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `address` is readable, `error` is NULL or writable. `release` may be
 * called with `data` on any thread.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_set_host_data(const struct plimsoll_cluster *cluster,
                                                    struct plimsoll_str address,
                                                    void *data,
                                                    void (*release)(void *data),
                                                    struct plimsoll_error **error);

/**
 * Calls `visit` for every host of the newest snapshot, by priority, then in the assignment's order,
 * until it returns something else than 0. All of them are of the same snapshot, whatever happens
 * meanwhile. That `visit` ends it is no failure.
 *
 * `visit` runs on this thread, during the call. No lock is held: any call of this library may be
 * made in it, but the cluster must not be freed. It must not unwind or `longjmp`. It should be
 * quick: until the call returns, newer snapshots stay in memory, and hosts that left keep their
 * data.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`; a panic may have come
 * after some of the visits.
 *
 * Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, and stays so during the call; `visit` is NULL or may be called with
 * `userdata`; `error` is NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_for_each_host(const struct plimsoll_cluster *cluster,
                                                    void *userdata,
                                                    int (*visit)(void *userdata,
                                                                 const struct plimsoll_host *host),
                                                    struct plimsoll_error **error);

/**
 * Calls `visit` for every locality of the newest snapshot that has hosts, and there for its
 * healthy, its degraded and all its hosts, until it returns something else than 0. The order is by
 * priority, by `PLIMSOLL_SOURCE_...`, then the node's own locality first and the others by name. All
 * of it is of the same snapshot, whatever happens meanwhile. That `visit` ends it is no failure.
 *
 * `visit` runs on this thread, during the call. No lock is held: any call of this library may be
 * made in it, but the cluster must not be freed. It must not unwind or `longjmp`. It should be
 * quick: until the call returns, newer snapshots stay in memory, and hosts that left keep their
 * data.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`; a panic may have come
 * after some of the visits.
 *
 * Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, and stays so during the call; `visit` is NULL or may be called with
 * `userdata`; `error` is NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_for_each_locality(const struct plimsoll_cluster *cluster,
                                                        void *userdata,
                                                        int (*visit)(void *userdata,
                                                                     const struct plimsoll_locality *locality),
                                                        struct plimsoll_error **error);

/**
 * Writes a table of all hosts of the newest snapshot and a NUL into `buffer`: for humans, its form
 * may change.
 *
 * `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
 * call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
 *
 * Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: no.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL
 * or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_hosts(const struct plimsoll_cluster *cluster,
                                            char *buffer,
                                            size_t capacity,
                                            size_t *needed);

/**
 * Writes the cluster's counters and a NUL into `buffer`: a line `name: value` for each that is not
 * zero, sorted by name. Names are Envoy's where Envoy has the counter; ours start with
 * `plimsoll.`.
 *
 * `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
 * call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
 *
 * Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL
 * or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_stats(const struct plimsoll_cluster *cluster,
                                            char *buffer,
                                            size_t capacity,
                                            size_t *needed);

/**
 * Writes what `count` clusters count and how they stand, in Prometheus' text format, and a NUL into
 * `buffer`. All clusters of a scrape go into one call, because each family of metrics may stand in a
 * scrape once only. Their names are the label `cluster`, and ought to differ.
 *
 * The figures are those of `plimsoll_cluster_stats`, zeroes included, after `plimsoll_`, with `_` for
 * dots and `_total` where, and only where, one only rises. With `options` also hosts and localities have samples.
 * `options` may be NULL, and `clusters` if `count` is 0.
 *
 * `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
 * call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
 *
 * Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, also for a NULL among the clusters,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` or `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the options,
 * `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on control calls.
 *
 * # Safety
 *
 * `clusters` is NULL or an array of `count` pointers, each NULL or alive, `options` is NULL or as
 * large as its `size` says, `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL or
 * writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_prometheus(const struct plimsoll_cluster *const *clusters,
                                         size_t count,
                                         const struct plimsoll_prometheus_options *options,
                                         char *buffer,
                                         size_t capacity,
                                         size_t *needed);

/**
 * Makes a worker. A thread that picks has one of its own; a pool of them works as well.
 *
 * `*out` is NULL on failure. Free it with `plimsoll_worker_free`.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
 * `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_new(const struct plimsoll_cluster *cluster,
                                         struct plimsoll_worker **out,
                                         struct plimsoll_error **error);

/**
 * Frees a worker. NULL is fine. Its picks that are not done stay counted until another worker of
 * the cluster is told.
 *
 * The last handle of a cluster takes the rest with it, so that `release` callbacks may run.
 *
 * Thread: any, while nobody else uses `worker`. Allocates: no. Blocks: on control calls that free
 * snapshots.
 *
 * # Safety
 *
 * `worker` is NULL or came from `plimsoll_worker_new` or `plimsoll_worker_new_with`, was not freed
 * before, and nobody uses it.
 */
void plimsoll_worker_free(struct plimsoll_worker *worker);

/**
 * Adopts the newest snapshot without a pick, so that an idle worker does not hold up an old one.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside
 * `accept`, or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it.
 */
enum plimsoll_status plimsoll_worker_refresh(struct plimsoll_worker *worker);

/**
 * Lets go of the snapshot, so that an idle worker holds neither memory nor host data. The next
 * pick adopts the newest one; picks that are not counted are no longer valid.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside
 * `accept`, or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it.
 */
enum plimsoll_status plimsoll_worker_quiesce(struct plimsoll_worker *worker);

/**
 * Makes a worker with other than the usual options: for many peeks, or to repeat what a worker did
 * before, in tests and replays.
 *
 * `options` may be NULL: then it is `plimsoll_worker_new`. `*out` is NULL on failure. Free it with
 * `plimsoll_worker_free`.
 *
 * Fails as `plimsoll_worker_new` does, and with `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number
 * that stands for nothing (the error object names it) or `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for
 * options of a newer header.
 *
 * Thread: any. Allocates: yes. Blocks: on control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `options` is NULL or as large as its `size` says, its `draws` are
 * NULL or `draw_count` readable numbers, `out` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_new_with(const struct plimsoll_cluster *cluster,
                                              const struct plimsoll_worker_options *options,
                                              struct plimsoll_worker **out,
                                              struct plimsoll_error **error);

/**
 * Queues `count` numbers, which the worker uses before those of its generator: for tests that want
 * a certain decision, and to repeat what happened elsewhere. Which pick draws how many numbers is
 * for the policy to say. `draws` may be NULL if `count` is 0.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside `accept`,
 * or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: yes. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `draws` is NULL or points to `count`
 * readable numbers.
 */
enum plimsoll_status plimsoll_worker_push_draws(struct plimsoll_worker *worker,
                                                const uint64_t *draws,
                                                size_t count);

/**
 * Picks a host for one request.
 *
 * `context` may be NULL: then the pick is counted, and must be given to `plimsoll_worker_done`
 * when the request is over. On failure `*out` is zero and nothing is counted.
 *
 * With `PLIMSOLL_BEHAVIOR_ENVOY`, hosts of different weight or in slow start need a schedule,
 * which the first pick after an update allocates.
 *
 * Fails with `PLIMSOLL_STATUS_NO_HOST` if no host is eligible where the pick was led,
 * `PLIMSOLL_STATUS_NO_HOST_PANIC` if the cluster fails traffic on panic and is in panic,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
 * `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the context, or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: no, but for such a schedule. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
 * `size` says, `out` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_pick(struct plimsoll_worker *worker,
                                          const struct plimsoll_pick_context *context,
                                          struct plimsoll_pick *out);

/**
 * Looks ahead: the host of the next pick that was not peeked yet, to open a connection in advance
 * for instance. The picks that follow give the peeked hosts first and in order, unless an update
 * comes between. A peek is never counted, and takes nothing from the context. `*out` is zero on
 * failure.
 *
 * With `LEAST_REQUEST` the picks come to the peeked hosts only as long as loads are what they
 * were; with `PLIMSOLL_BEHAVIOR_ENVOY` as well it cannot be peeked, unless weights differ or hosts
 * are in slow start. Nor can `ring_hash` and `maglev`, which go by the request.
 *
 * Fails as `plimsoll_worker_pick` does, and with `PLIMSOLL_STATUS_PEEK_LIMIT` if as many are
 * outstanding as there are healthy hosts, or 64, or where nothing can be peeked.
 *
 * Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
 * `size` says, `out` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_peek(struct plimsoll_worker *worker,
                                          const struct plimsoll_pick_context *context,
                                          struct plimsoll_pick *out);

/**
 * Picks a host that `accept` agrees to; it returns 0 to refuse a candidate and anything else to
 * take it. While it refuses, up to `context->retries` more candidates are tried (128 at most), each
 * chosen from the priority on; if all are refused, the last one is taken all the same, as in Envoy.
 *
 * `accept` runs on this thread, during the call. It may ask for the candidate's address and data
 * with this worker; every other call with this worker is refused inside it, and the worker must
 * not be freed. It must not unwind or `longjmp`. The candidate is valid until `accept` returns and
 * is not counted.
 *
 * Fails as `plimsoll_worker_pick` does.
 *
 * Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no, unless
 * `accept` does.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
 * `size` says, `out` is NULL or writable, `accept` is NULL or may be called with `userdata`.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_pick_filtered(struct plimsoll_worker *worker,
                                                   const struct plimsoll_pick_context *context,
                                                   void *userdata,
                                                   int (*accept)(void *userdata,
                                                                 const struct plimsoll_pick *candidate),
                                                   struct plimsoll_pick *out);

/**
 * Says that the request of a counted pick is over. Any worker of the same cluster may say it.
 *
 * Fails with `PLIMSOLL_STATUS_NOT_COUNTED` for a pick that is not counted,
 * `PLIMSOLL_STATUS_STALE_PICK` for one that names no request any more (done twice, as far as that
 * can be seen: another active request of the same host hides it), `PLIMSOLL_STATUS_NULL_ARGUMENT`,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an outcome that is none or inside `accept`, or
 * `PLIMSOLL_STATUS_PANIC`.
 *
 * `outcome` is `PLIMSOLL_OUTCOME_SUCCESS` or `PLIMSOLL_OUTCOME_ERROR`.
 *
 * Thread: the one that uses `worker`. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable.
 */
enum plimsoll_status plimsoll_worker_done(const struct plimsoll_worker *worker,
                                          const struct plimsoll_pick *pick,
                                          uint32_t outcome);

/**
 * Picks a host for each of up to `capacity` requests, all by the same snapshot.
 *
 * `*count` picks stand at the start of `out` afterwards, the rest of it is zero; each pick is as
 * one of `plimsoll_worker_pick`. With `PLIMSOLL_PICK_HASHED` all of them have the same hash. `*count`
 * is less than `capacity` only if there is no host for the next one, and 0 on failure. With a
 * `capacity` of 0 `out` may be NULL, and nothing is picked.
 *
 * Fails as `plimsoll_worker_pick` does if there is no host for the first.
 *
 * Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
 * `size` says, `out` is NULL or has room for `capacity` picks, `count` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_pick_batch(struct plimsoll_worker *worker,
                                                const struct plimsoll_pick_context *context,
                                                struct plimsoll_pick *out,
                                                size_t capacity,
                                                size_t *count);

/**
 * Picks the host that the request names, in any priority and instead of a pick by policy.
 *
 * `addresses` are `count` texts as they come in headers: each holds one address of a host, or
 * several between commas, in the order in which they are wanted; blanks around them do not count.
 * What is no address, or not UTF-8, names no host. No address at all asks for nothing, and the pick
 * is one by policy.
 *
 * Without the policy `override_host` it is the first address whose host is there and has a health
 * that `override_host_status` allows. With it health does not matter, and attempt
 * `context->attempt`, counted from 0, takes that one of the addresses whose hosts are there.
 *
 * `strict` is 0 or 1. With 0 a pick by policy follows if none of the addresses can be had; with 1
 * the call fails then.
 *
 * Everything else is as with `plimsoll_worker_pick`; `context->retries` means nothing here, see
 * `plimsoll_worker_pick_override_filtered`. Where the addresses come from is for the cluster to say,
 * see `plimsoll_cluster_for_each_override_source`.
 *
 * Fails with `PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND` if the cluster has none of the hosts, or none is
 * left for this attempt, and `PLIMSOLL_STATUS_OVERRIDE_NOT_ALLOWED` if it has some but their health
 * is not allowed; both with `strict` only. Also as `plimsoll_worker_pick` does, and with
 * `PLIMSOLL_STATUS_NULL_ARGUMENT` for a text without a place or
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for `strict`.
 *
 * Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
 * `size` says, `addresses` is NULL or points to `count` readable texts, `out` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_pick_override(struct plimsoll_worker *worker,
                                                   const struct plimsoll_pick_context *context,
                                                   const struct plimsoll_str *addresses,
                                                   size_t count,
                                                   uint32_t strict,
                                                   struct plimsoll_pick *out);

/**
 * The same with a filter for the hosts that the policy picks, if it comes to that: as with
 * `plimsoll_worker_pick_filtered`, `context->retries` more hosts are tried while `accept` returns
 * 0. Hosts that the request names do not go through it, as in Envoy.
 *
 * Fails as `plimsoll_worker_pick_override` and `plimsoll_worker_pick_filtered` do.
 *
 * Thread: the one that uses `worker`. Allocates: as `plimsoll_worker_pick`. Blocks: no, unless
 * `accept` does.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
 * `size` says, `addresses` is NULL or points to `count` readable texts, `accept` is NULL or may be
 * called with `userdata`, `out` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_pick_override_filtered(struct plimsoll_worker *worker,
                                                            const struct plimsoll_pick_context *context,
                                                            const struct plimsoll_str *addresses,
                                                            size_t count,
                                                            uint32_t strict,
                                                            void *userdata,
                                                            int (*accept)(void *userdata,
                                                                          const struct plimsoll_pick *candidate),
                                                            struct plimsoll_pick *out);

/**
 * Writes the address of the host of a pick and a NUL into `buffer`.
 *
 * `*needed` is the number of bytes that takes, the NUL included. `buffer` may be NULL if
 * `capacity` is 0. On failure the buffer holds an empty text. Inside `accept` the candidate may
 * be asked about.
 *
 * The worker looks in the snapshot that it has: a host that has left since is not found after the
 * worker's next pick, though its request goes on.
 *
 * Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_STALE_PICK` if the snapshot has no such host,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for flags that no pick has
 * or for another pick inside `accept`, or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable, `buffer` is
 * NULL or has `capacity` writable bytes, `needed` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_host_address(const struct plimsoll_worker *worker,
                                                  const struct plimsoll_pick *pick,
                                                  char *buffer,
                                                  size_t capacity,
                                                  size_t *needed);

/**
 * The data behind the host of a pick; NULL in `*out` if it has none, and on failure.
 *
 * The pointer is valid until `release` is called for it, which does not happen before the pick is
 * done, or, for a pick that is not counted, before the worker's next pick. Inside `accept` the
 * candidate may be asked about.
 *
 * The worker looks in the snapshot that it has: a host that has left since is not found after the
 * worker's next pick, though its data stays valid. So ask right after the pick.
 *
 * Fails with `PLIMSOLL_STATUS_STALE_PICK` if the snapshot has no such host,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for flags that no pick has
 * or for another pick inside `accept`, or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: no. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable, `out` is NULL
 * or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_host_data(const struct plimsoll_worker *worker,
                                               const struct plimsoll_pick *pick,
                                               void **out);

/**
 * Takes in what a response said of its host's load. `plimsoll_cluster_tick` takes the weights from
 * it, if the policy goes by reports.
 *
 * Call it before `plimsoll_worker_done`, or before the worker's next pick if the pick is not
 * counted. A worker that let go of its snapshot (`plimsoll_worker_quiesce`) still has none after.
 *
 * With `PLIMSOLL_BEHAVIOR_NATIVE` trailers come before headers, since they are newer. Call it for
 * each attempt of a request; and if the trailers come much later than the headers, once for
 * either. With `PLIMSOLL_BEHAVIOR_ENVOY` headers come before trailers, and the first report of a
 * request that can be read is the only one: call it again only after `PLIMSOLL_STATUS_NO_REPORT`
 * or `PLIMSOLL_STATUS_REPORT_UNREADABLE`.
 *
 * What a host sends is no mistake of the caller, and all but the first of these answers are
 * counted, see `plimsoll_cluster_stats`: `PLIMSOLL_STATUS_NO_REPORT` if the response says nothing
 * of load, `PLIMSOLL_STATUS_REPORT_UNREADABLE` if what it says cannot be read,
 * `PLIMSOLL_STATUS_REPORT_REJECTED` if nothing can be made of it,
 * `PLIMSOLL_STATUS_REPORT_NOT_WANTED` if the policy does not go by reports, and
 * `PLIMSOLL_STATUS_STALE_PICK` if the host is gone.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
 * `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for `load`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for flags
 * that no pick has or inside `accept`, or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: no, but for JSON, and for a report that is larger
 * than any before. Blocks: no.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `pick` is NULL or readable, `load` is NULL
 * or as large as its `size` says, and its texts are readable.
 */
enum plimsoll_status plimsoll_worker_report(struct plimsoll_worker *worker,
                                            const struct plimsoll_pick *pick,
                                            const struct plimsoll_response_load *load);

/**
 * Takes in a load report that did not come with a response: of a stream of its own, or of another
 * proxy. `message` is one `xds.data.orca.v3.OrcaLoadReport` in protobuf, `length` bytes of it; it
 * may be NULL if `length` is 0. `now_ns` is as in `plimsoll_response_load`.
 *
 * Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if the cluster has no host with this address,
 * `PLIMSOLL_STATUS_REPORT_UNREADABLE` if the message is not such a report,
 * `PLIMSOLL_STATUS_REPORT_REJECTED` if nothing can be made of it,
 * `PLIMSOLL_STATUS_REPORT_NOT_WANTED` if the policy does not go by reports,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an address that is not UTF-8,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `address` is readable, `message` is NULL or has `length` readable
 * bytes, `error` is NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_report(const struct plimsoll_cluster *cluster,
                                             struct plimsoll_str address,
                                             const void *message,
                                             size_t length,
                                             uint64_t now_ns,
                                             struct plimsoll_error **error);

/**
 * Takes in what a response said of the load of the host with this address: for a proxy that has no
 * pick at hand any more. Which of headers and trailers counts is as with `plimsoll_worker_report`,
 * which is the call for the path of a request.
 *
 * Fails with `PLIMSOLL_STATUS_UNKNOWN_HOST` if the cluster has no host with this address,
 * `PLIMSOLL_STATUS_NO_REPORT` if the response says nothing of load,
 * `PLIMSOLL_STATUS_REPORT_UNREADABLE` if what it says cannot be read (the error object says why),
 * `PLIMSOLL_STATUS_REPORT_REJECTED` if nothing can be made of it,
 * `PLIMSOLL_STATUS_REPORT_NOT_WANTED` if the policy does not go by reports,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for an address that is not UTF-8 or for `load`,
 * `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for a load of a newer header,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `address` is readable, `load` is NULL or as large as its `size` says,
 * and its texts are readable, `error` is NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_report_response(const struct plimsoll_cluster *cluster,
                                                      struct plimsoll_str address,
                                                      const struct plimsoll_response_load *load,
                                                      struct plimsoll_error **error);

/**
 * Writes what a response says of load, as the library understands it, as JSON and a NUL into
 * `buffer`: all fields of `OrcaLoadReport`, those that were not sent too. To find out what becomes
 * of a header; nothing is taken in.
 *
 * `behavior` is `PLIMSOLL_BEHAVIOR_NATIVE` or `PLIMSOLL_BEHAVIOR_ENVOY`, which decides between
 * headers and trailers as with `plimsoll_worker_report`.
 *
 * `*needed` is the number of bytes that takes, the NUL included. `buffer` may be NULL if
 * `capacity` is 0. On failure the buffer holds an empty text.
 *
 * Fails with `PLIMSOLL_STATUS_NO_REPORT` if the response says nothing of load,
 * `PLIMSOLL_STATUS_REPORT_UNREADABLE` if what it says cannot be read (the error object says why),
 * `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT`, `PLIMSOLL_STATUS_UNSUPPORTED_FIELD`,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: no.
 *
 * # Safety
 *
 * `load` is NULL or as large as its `size` says, and its texts are readable, `buffer` is NULL or
 * has `capacity` writable bytes, `needed` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_response_load_json(const struct plimsoll_response_load *load,
                                                 uint32_t behavior,
                                                 char *buffer,
                                                 size_t capacity,
                                                 size_t *needed,
                                                 struct plimsoll_error **error);

/**
 * Calls `act` for each stream of load reports that is to be opened or closed by now, and says when to
 * ask again: `*next_ns`, on the scale of `plimsoll_cluster_tick`, and 0 if nothing is due by itself.
 * There are none unless the policy asks for such streams (`enable_oob_load_report`). Ask at that time
 * and after every change of hosts or settings; what streams bring and how they end goes to
 * `plimsoll_cluster_stream_message` and `plimsoll_cluster_stream_ended`.
 *
 * `act` runs on this thread, during the call. No lock is held: any call of this library may be made
 * in it, but the cluster must not be freed. It must not unwind or `longjmp`. Each action is shown
 * once.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls, and if `act` does.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, and stays so during the call; `act` is NULL or may be called with
 * `userdata`; `next_ns` and `error` are NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_poll_streams(const struct plimsoll_cluster *cluster,
                                                   uint64_t now_ns,
                                                   void *userdata,
                                                   void (*act)(void *userdata,
                                                               const struct plimsoll_stream_action *action),
                                                   uint64_t *next_ns,
                                                   struct plimsoll_error **error);

/**
 * Takes in a message of a stream that was opened for the host with this slot and generation:
 * `length` bytes of an `xds.data.orca.v3.OrcaLoadReport` in protobuf. `message` may be NULL if `length`
 * is 0, which is how a report looks in which everything is 0. A stream whose message is no report is
 * closed by the next `plimsoll_cluster_poll_streams`. A message of a stream that is no longer wanted does
 * nothing. What becomes of messages is counted, see `lb_orca_oob` in `plimsoll_cluster_stats`. A `now_ns`
 * of 0 stands for what the last tick was told.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a length that no
 * object can have, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `message` is NULL or has `length` readable bytes, `error` is NULL or
 * writable.
 */
enum plimsoll_status plimsoll_cluster_stream_message(const struct plimsoll_cluster *cluster,
                                                     uint32_t slot,
                                                     uint32_t generation,
                                                     const void *message,
                                                     size_t length,
                                                     uint64_t now_ns,
                                                     struct plimsoll_error **error);

/**
 * Takes note that a stream ended which was not closed on request. `grpc_status` is the status of gRPC,
 * 0 included, or `PLIMSOLL_STREAM_BROKEN` if there is none. With 12, UNIMPLEMENTED, the host is not
 * asked again, or not for long; otherwise the stream is opened again after a while, which doubles. A
 * `now_ns` of 0 stands for what the last tick was told.
 *
 * Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` for another negative
 * status, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `error` is NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_stream_ended(const struct plimsoll_cluster *cluster,
                                                   uint32_t slot,
                                                   uint32_t generation,
                                                   int32_t grpc_status,
                                                   uint64_t now_ns,
                                                   struct plimsoll_error **error);

/**
 * Writes what the cluster's hosts have reported, and how far their weights have followed that, and
 * a NUL into `buffer`: for `plimsoll_cluster_import_reports`, in this process or in the next one.
 * Nobody else should read more of it than its first line.
 *
 * `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
 * call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
 *
 * Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL
 * or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_export_reports(const struct plimsoll_cluster *cluster,
                                                     char *buffer,
                                                     size_t capacity,
                                                     size_t *needed);

/**
 * Takes over what `plimsoll_cluster_export_reports` wrote, by address, as if the hosts had reported
 * it to this cluster at that time; weights follow at once. A host that has reported to this cluster
 * keeps that, and hosts and policies that it does not have are passed over. Reports are as much
 * older than the cluster's clock shows now: tell it the time first, with
 * `plimsoll_cluster_options.now_ns` or `plimsoll_cluster_tick`.
 *
 * `*taken` is how many records it took, one for each host and policy; it may be NULL.
 *
 * Fails with `PLIMSOLL_STATUS_INVALID_ARGUMENT` if `reports` is not such a text (the error object
 * names the line), or not UTF-8, `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` or
 * `PLIMSOLL_STATUS_PANIC`; nothing was taken over then.
 *
 * Thread: any. Allocates: yes. Blocks: on other control calls.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `reports` is readable, `taken` and `error` are NULL or writable.
 */
enum plimsoll_status plimsoll_cluster_import_reports(const struct plimsoll_cluster *cluster,
                                                     struct plimsoll_str reports,
                                                     size_t *taken,
                                                     struct plimsoll_error **error);

/**
 * Writes a part of what there is to see of the newest snapshot, as JSON and a NUL into `buffer`:
 * one line without spaces, for programs; its form is that of the same word's result in a replay,
 * `docs/replay.md`, and later versions may add keys.
 *
 * `*needed` is the number of bytes that takes, the NUL included; it may have changed at the next
 * call. `buffer` may be NULL if `capacity` is 0. On failure the buffer holds an empty text.
 *
 * Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_INVALID_ARGUMENT` for a number that stands for nothing or a table of a priority
 * that there is not (the error object names it), `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for options of
 * a newer header, `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_POISONED` (counters only) or
 * `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: any. Allocates: yes. Blocks: on control calls, for counters only.
 *
 * # Safety
 *
 * `cluster` is NULL or alive, `options` is NULL or as large as its `size` says, `buffer` is NULL or
 * has `capacity` writable bytes, `needed` and `error` are NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_cluster_dump(const struct plimsoll_cluster *cluster,
                                           const struct plimsoll_dump_options *options,
                                           char *buffer,
                                           size_t capacity,
                                           size_t *needed,
                                           struct plimsoll_error **error);

/**
 * Writes why the worker's next pick will go where it goes, as JSON and a NUL into `buffer`: decided
 * by the pick's own code, so that it cannot disagree with it. Changes no pick. The form is that of
 * `explain` in a replay, `docs/replay.md`; later versions may add keys.
 *
 * `context` and `accept` are as for `plimsoll_worker_pick_filtered`; both may be NULL. `draw` is
 * NULL, or a number to be taken instead of the next random one.
 *
 * `*needed` is the number of bytes that takes, the NUL included. `buffer` may be NULL if
 * `capacity` is 0. On failure the buffer holds an empty text. That there is no host is no failure.
 *
 * Fails with `PLIMSOLL_STATUS_BUFFER_TOO_SMALL` if `capacity` is less than `*needed`,
 * `PLIMSOLL_STATUS_NULL_ARGUMENT`, `PLIMSOLL_STATUS_INVALID_ARGUMENT` or
 * `PLIMSOLL_STATUS_UNSUPPORTED_FIELD` for the context, `PLIMSOLL_STATUS_INVALID_ARGUMENT` inside
 * `accept`, or `PLIMSOLL_STATUS_PANIC`.
 *
 * Thread: the one that uses `worker`. Allocates: yes. Blocks: no, unless `accept` does.
 *
 * # Safety
 *
 * `worker` is NULL or alive and no other thread uses it, `context` is NULL or as large as its
 * `size` says, `draw` is NULL or readable, `accept` is NULL or may be called with `userdata`,
 * `buffer` is NULL or has `capacity` writable bytes, `needed` is NULL or writable.
 */
PLIMSOLL_MUST_USE
enum plimsoll_status plimsoll_worker_explain(struct plimsoll_worker *worker,
                                             const struct plimsoll_pick_context *context,
                                             const uint64_t *draw,
                                             void *userdata,
                                             int (*accept)(void *userdata,
                                                           const struct plimsoll_pick *candidate),
                                             char *buffer,
                                             size_t capacity,
                                             size_t *needed);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PLIMSOLL_H */
