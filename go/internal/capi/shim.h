/*
 * What Go needs besides the C interface itself: arrays of structs that are put together in memory
 * of C, views that are collected in one crossing, and callbacks that Go functions can stand behind.
 *
 * "text" is always one block of texts without anything between them, and "lengths" says how long
 * each of them is, in order.
 */
#ifndef PLIMSOLL_GO_SHIM_H
#define PLIMSOLL_GO_SHIM_H

#include <plimsoll/plimsoll.h>

/* A plimsoll_host_change without its texts. */
typedef struct plimsoll_go_change {
    uint32_t kind;
    uint32_t event;
    uint32_t priority;
    uint32_t weight;
    uint32_t health_status;
    /* address, hostname, region, zone, sub_zone, hash_key */
    uint32_t lengths[6];
} plimsoll_go_change;

/* `scratch` has room for `count` changes. */
enum plimsoll_status plimsoll_go_update(const plimsoll_cluster *cluster, const char *text,
                                        const plimsoll_go_change *changes,
                                        plimsoll_host_change *scratch, size_t count,
                                        plimsoll_applied *out, plimsoll_error **error);

/* A plimsoll_host_load without its text. */
typedef struct plimsoll_go_load {
    uint32_t length;
    uint32_t active;
    uint32_t pending;
    uint32_t flags;
} plimsoll_go_load;

/* `scratch` has room for `count` loads. */
enum plimsoll_status plimsoll_go_set_loads(const plimsoll_cluster *cluster, const char *text,
                                           const plimsoll_go_load *loads,
                                           plimsoll_host_load *scratch, size_t count,
                                           plimsoll_error **error);

/* A plimsoll_runtime_value without its text. */
typedef struct plimsoll_go_runtime {
    uint64_t integer;
    double number;
    uint32_t kind;
    uint32_t boolean;
    uint32_t length;
    uint32_t reserved;
} plimsoll_go_runtime;

/* `scratch` has room for `count` values. */
enum plimsoll_status plimsoll_go_update_runtime(const plimsoll_cluster *cluster, const char *text,
                                                const plimsoll_go_runtime *values,
                                                plimsoll_runtime_value *scratch, size_t count,
                                                plimsoll_applied *out, plimsoll_error **error);

/* What the _INIT macros are, which Go does not have. */
extern const plimsoll_cluster_settings plimsoll_go_cluster_settings;
extern const plimsoll_slow_start plimsoll_go_slow_start;
extern const plimsoll_least_request plimsoll_go_least_request;
extern const plimsoll_client_side_weighted_round_robin plimsoll_go_weighted;
extern const plimsoll_oob_reporting plimsoll_go_oob_reporting;
extern const plimsoll_ring_hash plimsoll_go_ring_hash;
extern const plimsoll_maglev plimsoll_go_maglev;
extern const plimsoll_zone_aware plimsoll_go_zone_aware;
extern const plimsoll_load_aware_locality plimsoll_go_load_aware_locality;
extern const plimsoll_override_host plimsoll_go_override_host;
extern const plimsoll_override_source plimsoll_go_override_source;
extern const plimsoll_assignment plimsoll_go_assignment;
extern const plimsoll_locality_hosts plimsoll_go_locality_hosts;
extern const plimsoll_endpoint plimsoll_go_endpoint;
extern const plimsoll_hash_policy plimsoll_go_hash_policy;

/*
 * Opens a cluster from `settings` and `assignment`, which are memory of C, or if there are no settings
 * from the text `config`; with options whose texts are the node's region, zone and sub-zone, and then
 * the keys of `options->runtime_count` runtime values, for which `scratch` has room. Messages go to
 * Go's plimsollGoLog, with `log_id`, unless it is 0.
 */
enum plimsoll_status plimsoll_go_open(const char *config, size_t config_length,
                                      const plimsoll_cluster_settings *settings,
                                      const plimsoll_assignment *assignment,
                                      const plimsoll_cluster_options *options, const char *text,
                                      const uint32_t lengths[3], const plimsoll_go_runtime *runtime,
                                      plimsoll_runtime_value *scratch, uintptr_t log_id,
                                      plimsoll_cluster **out, plimsoll_error **error);

/* Makes a worker with options whose draws stand apart. */
enum plimsoll_status plimsoll_go_worker_new(const plimsoll_cluster *cluster,
                                            const plimsoll_worker_options *options,
                                            const uint64_t *draws, size_t draw_count,
                                            plimsoll_worker **out, plimsoll_error **error);

/* Items of one size, and the texts of all of them. Starts as zeros; free it after the call. */
typedef struct plimsoll_go_list {
    void *items;
    size_t count;
    size_t capacity;
    char *text;
    size_t text_length;
    size_t text_capacity;
} plimsoll_go_list;

void plimsoll_go_list_free(plimsoll_go_list *list);

/* A plimsoll_host without its texts. */
typedef struct plimsoll_go_host {
    double effective_weight;
    double share;
    double slow_start_factor;
    double slow_start_seconds_left;
    double utilization;
    double reported_weight;
    uint64_t report_age_ns;
    uint32_t priority;
    uint32_t weight;
    uint32_t active;
    uint32_t health;
    uint32_t eds_health;
    uint32_t coarse;
    uint32_t has_report;
    /* address, hostname, region, zone, sub_zone */
    uint32_t lengths[5];
} plimsoll_go_host;

enum plimsoll_status plimsoll_go_hosts(const plimsoll_cluster *cluster, plimsoll_go_list *list,
                                       plimsoll_error **error);

/* A plimsoll_locality without its texts. */
typedef struct plimsoll_go_locality {
    uint64_t hosts;
    double load;
    double utilization;
    double weight;
    uint32_t priority;
    uint32_t source;
    uint32_t all_local;
    uint32_t has_utilization;
    /* region, zone, sub_zone */
    uint32_t lengths[3];
    uint32_t reserved;
} plimsoll_go_locality;

enum plimsoll_status plimsoll_go_localities(const plimsoll_cluster *cluster, plimsoll_go_list *list,
                                            plimsoll_error **error);

/* A plimsoll_override_source without its texts; after it come the parts of its path, of kind 0. */
typedef struct plimsoll_go_override {
    uint32_t kind;
    uint32_t length;
} plimsoll_go_override;

enum plimsoll_status plimsoll_go_override_sources(const plimsoll_cluster *cluster,
                                                  plimsoll_go_list *list, plimsoll_error **error);

/* A plimsoll_stream_action without its texts. */
typedef struct plimsoll_go_stream {
    uint64_t interval_ns;
    uint32_t kind;
    uint32_t slot;
    uint32_t generation;
    /* address, dial, authority */
    uint32_t lengths[3];
} plimsoll_go_stream;

enum plimsoll_status plimsoll_go_poll_streams(const plimsoll_cluster *cluster, uint64_t now_ns,
                                              plimsoll_go_list *list, uint64_t *next_ns,
                                              plimsoll_error **error);

/* `id` is what Go's plimsollGoRelease is called with. */
enum plimsoll_status plimsoll_go_set_host_data(const plimsoll_cluster *cluster, const char *address,
                                               size_t length, uintptr_t id, plimsoll_error **error);

/* The id of the data behind a host; 0 if there is none. */
uintptr_t plimsoll_go_host_data(const plimsoll_worker *worker, const plimsoll_pick *pick);

/* Asks Go's plimsollGoAccept, with `id`. */
enum plimsoll_status plimsoll_go_pick_filtered(plimsoll_worker *worker,
                                               const plimsoll_pick_context *context, uintptr_t id,
                                               plimsoll_pick *out);

/* Refuses the hosts of `count` earlier picks, without a way back to Go. */
enum plimsoll_status plimsoll_go_pick_avoiding(plimsoll_worker *worker,
                                               const plimsoll_pick_context *context,
                                               const plimsoll_pick *tried, size_t count,
                                               plimsoll_pick *out);

/* So many texts or headers need no `scratch`. */
#define PLIMSOLL_GO_FEW 32

/* `scratch` has room for `count` texts, if they are not few. */
enum plimsoll_status plimsoll_go_pick_override(plimsoll_worker *worker,
                                               const plimsoll_pick_context *context,
                                               const char *text, const uint32_t *lengths,
                                               plimsoll_str *scratch, size_t count, uint32_t strict,
                                               plimsoll_pick *out);

/* The same with a filter: Go's plimsollGoAccept, with `id`. */
enum plimsoll_status plimsoll_go_pick_override_filtered(plimsoll_worker *worker,
                                                        const plimsoll_pick_context *context,
                                                        const char *text, const uint32_t *lengths,
                                                        plimsoll_str *scratch, size_t count,
                                                        uint32_t strict, uintptr_t id,
                                                        plimsoll_pick *out);

/* With an `id` of 0 there is no filter. */
enum plimsoll_status plimsoll_go_explain(plimsoll_worker *worker,
                                         const plimsoll_pick_context *context, const uint64_t *draw,
                                         uintptr_t id, char *buffer, size_t capacity,
                                         size_t *needed);

/* What has no length is not known; the query is a part of the path if `has_query` is 0. */
typedef struct plimsoll_go_request {
    uint32_t header_count;
    uint32_t cookie_count;
    uint32_t filter_state_count;
    uint32_t has_query;
    /* path, query, source_ip, remote_address, local_address */
    uint32_t lengths[5];
} plimsoll_go_request;

/*
 * With a `worker` of NULL by the policies of `route` alone.
 *
 * `text` and `lengths` hold the name and the value of each header, then of each cookie, then the
 * texts of `request`, and then the keys of its filter states, whose hashes are `hashes`. New cookies are written into `cookies`, each with its length in four bytes
 * before it; `*needed` is what they take in all, and none that does not fit is written. With NULL
 * nobody gets a cookie. `scratch` has room for headers and cookies, if they are not few, and `states`
 * for filter states.
 */
enum plimsoll_status plimsoll_go_hash(plimsoll_worker *worker, const plimsoll_hash_policies *route,
                                      const char *text, const uint32_t *lengths,
                                      const plimsoll_go_request *request, const uint64_t *hashes,
                                      plimsoll_header *scratch, plimsoll_filter_state *states,
                                      char *cookies, size_t capacity, size_t *needed,
                                      uint64_t *out);

/* The length of a header that is absent. */
#define PLIMSOLL_GO_ABSENT UINT32_MAX

/* The texts of a plimsoll_response_load in `text`: header_binary, header_text, trailer_binary,
 * trailer_text. */
enum plimsoll_status plimsoll_go_report(plimsoll_worker *worker, const plimsoll_pick *pick,
                                        const char *text, const uint32_t lengths[4],
                                        uint64_t now_ns);

/* The same for the host of an address. */
enum plimsoll_status plimsoll_go_report_response(const plimsoll_cluster *cluster,
                                                 const char *address, size_t address_length,
                                                 const char *text, const uint32_t lengths[4],
                                                 uint64_t now_ns, plimsoll_error **error);

/* The same as JSON. */
enum plimsoll_status plimsoll_go_load_json(const char *text, const uint32_t lengths[4],
                                           uint32_t behavior, char *buffer, size_t capacity,
                                           size_t *needed, plimsoll_error **error);

/*
 * The ends of `count` requests. The worker takes the newest snapshot first: one that has none learns
 * nothing of outcomes. The first failure is the answer, and the others are done all the same.
 */
enum plimsoll_status plimsoll_go_done(plimsoll_worker *worker, const plimsoll_pick *picks,
                                      size_t count, uint32_t outcome);

#endif
