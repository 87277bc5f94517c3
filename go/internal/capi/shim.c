#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of Go. */
extern int plimsollGoAccept(uintptr_t id, const plimsoll_pick *candidate);
extern void plimsollGoRelease(uintptr_t id);
extern void plimsollGoLog(uintptr_t id, uint32_t level, const char *message, size_t length);

/* Takes the next text off a block. */
static plimsoll_str take(const char **text, uint32_t length) {
    const plimsoll_str taken = {*text, length};
    *text += length;
    return taken;
}

static void take_runtime(const char **text, const plimsoll_go_runtime *values, size_t count,
                         plimsoll_runtime_value *out) {
    for (size_t i = 0; i < count; i++) {
        plimsoll_runtime_value value = PLIMSOLL_RUNTIME_VALUE_INIT;
        value.key = take(text, values[i].length);
        value.kind = values[i].kind;
        value.boolean = values[i].boolean;
        value.integer = values[i].integer;
        value.number = values[i].number;
        out[i] = value;
    }
}

enum plimsoll_status plimsoll_go_update_runtime(const plimsoll_cluster *cluster, const char *text,
                                                const plimsoll_go_runtime *values,
                                                plimsoll_runtime_value *scratch, size_t count,
                                                plimsoll_applied *out, plimsoll_error **error) {
    take_runtime(&text, values, count, scratch);
    return plimsoll_cluster_update_runtime(cluster, scratch, count, out, error);
}

static void log_to_go(void *userdata, uint32_t level, plimsoll_str message) {
    plimsollGoLog((uintptr_t)userdata, level, message.data, message.len);
}

const plimsoll_cluster_settings plimsoll_go_cluster_settings = PLIMSOLL_CLUSTER_SETTINGS_INIT;
const plimsoll_slow_start plimsoll_go_slow_start = PLIMSOLL_SLOW_START_INIT;
const plimsoll_least_request plimsoll_go_least_request = PLIMSOLL_LEAST_REQUEST_INIT;
const plimsoll_client_side_weighted_round_robin plimsoll_go_weighted =
    PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT;
const plimsoll_oob_reporting plimsoll_go_oob_reporting = PLIMSOLL_OOB_REPORTING_INIT;
const plimsoll_ring_hash plimsoll_go_ring_hash = PLIMSOLL_RING_HASH_INIT;
const plimsoll_maglev plimsoll_go_maglev = PLIMSOLL_MAGLEV_INIT;
const plimsoll_zone_aware plimsoll_go_zone_aware = PLIMSOLL_ZONE_AWARE_INIT;
const plimsoll_load_aware_locality plimsoll_go_load_aware_locality =
    PLIMSOLL_LOAD_AWARE_LOCALITY_INIT;
const plimsoll_override_host plimsoll_go_override_host = PLIMSOLL_OVERRIDE_HOST_INIT;
const plimsoll_override_source plimsoll_go_override_source = PLIMSOLL_OVERRIDE_SOURCE_INIT;
const plimsoll_assignment plimsoll_go_assignment = PLIMSOLL_ASSIGNMENT_INIT;
const plimsoll_locality_hosts plimsoll_go_locality_hosts = PLIMSOLL_LOCALITY_HOSTS_INIT;
const plimsoll_endpoint plimsoll_go_endpoint = PLIMSOLL_ENDPOINT_INIT;
const plimsoll_hash_policy plimsoll_go_hash_policy = PLIMSOLL_HASH_POLICY_INIT;

enum plimsoll_status plimsoll_go_open(const char *config, size_t config_length,
                                      const plimsoll_cluster_settings *settings,
                                      const plimsoll_assignment *assignment,
                                      const plimsoll_cluster_options *options, const char *text,
                                      const uint32_t lengths[3], const plimsoll_go_runtime *runtime,
                                      plimsoll_runtime_value *scratch, uintptr_t log_id,
                                      plimsoll_cluster **out, plimsoll_error **error) {
    plimsoll_cluster_options own = *options;
    own.region = take(&text, lengths[0]);
    own.zone = take(&text, lengths[1]);
    own.sub_zone = take(&text, lengths[2]);
    take_runtime(&text, runtime, own.runtime_count, scratch);
    own.runtime = own.runtime_count == 0 ? NULL : scratch;
    if (log_id != 0) {
        own.log = log_to_go;
        own.log_userdata = (void *)log_id;
    }
    if (settings != NULL) {
        return plimsoll_cluster_new(settings, assignment, &own, out, error);
    }
    return plimsoll_cluster_open((plimsoll_str){config, config_length}, &own, out, error);
}

enum plimsoll_status plimsoll_go_worker_new(const plimsoll_cluster *cluster,
                                            const plimsoll_worker_options *options,
                                            const uint64_t *draws, size_t draw_count,
                                            plimsoll_worker **out, plimsoll_error **error) {
    plimsoll_worker_options own = *options;
    own.draws = draws;
    own.draw_count = draw_count;
    return plimsoll_worker_new_with(cluster, &own, out, error);
}

enum plimsoll_status plimsoll_go_update(const plimsoll_cluster *cluster, const char *text,
                                        const plimsoll_go_change *changes,
                                        plimsoll_host_change *scratch, size_t count,
                                        plimsoll_applied *out, plimsoll_error **error) {
    for (size_t i = 0; i < count; i++) {
        const plimsoll_go_change *from = &changes[i];
        plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
        change.kind = from->kind;
        change.event = from->event;
        change.priority = from->priority;
        change.weight = from->weight;
        change.health_status = from->health_status;
        change.address = take(&text, from->lengths[0]);
        change.hostname = take(&text, from->lengths[1]);
        change.region = take(&text, from->lengths[2]);
        change.zone = take(&text, from->lengths[3]);
        change.sub_zone = take(&text, from->lengths[4]);
        change.hash_key = take(&text, from->lengths[5]);
        scratch[i] = change;
    }
    return plimsoll_cluster_update(cluster, scratch, count, out, error);
}

enum plimsoll_status plimsoll_go_set_loads(const plimsoll_cluster *cluster, const char *text,
                                           const plimsoll_go_load *loads,
                                           plimsoll_host_load *scratch, size_t count,
                                           plimsoll_error **error) {
    for (size_t i = 0; i < count; i++) {
        plimsoll_host_load load = PLIMSOLL_HOST_LOAD_INIT;
        load.address = take(&text, loads[i].length);
        load.active = loads[i].active;
        load.pending = loads[i].pending;
        load.flags = loads[i].flags;
        scratch[i] = load;
    }
    return plimsoll_cluster_set_loads(cluster, scratch, count, error);
}

/* Room for at least `wanted`. Go ends a program that has no memory left, and so does this. */
static void *grown(void *old, size_t *capacity, size_t wanted, size_t size) {
    if (wanted <= *capacity) {
        return old;
    }
    size_t larger = *capacity * 2 > wanted ? *capacity * 2 : wanted + 16;
    void *new = larger < SIZE_MAX / size ? realloc(old, larger * size) : NULL;
    if (new == NULL) {
        fputs("plimsoll: out of memory\n", stderr);
        abort();
    }
    *capacity = larger;
    return new;
}

static void *add_item(plimsoll_go_list *list, size_t size) {
    list->items = grown(list->items, &list->capacity, list->count + 1, size);
    return (char *)list->items + size * list->count++;
}

static uint32_t add_text(plimsoll_go_list *list, plimsoll_str text) {
    list->text = grown(list->text, &list->text_capacity, list->text_length + text.len, 1);
    if (text.len > 0) {
        memcpy(list->text + list->text_length, text.data, text.len);
    }
    list->text_length += text.len;
    return (uint32_t)text.len;
}

void plimsoll_go_list_free(plimsoll_go_list *list) {
    free(list->items);
    free(list->text);
}

static int add_host(void *userdata, const plimsoll_host *host) {
    plimsoll_go_list *list = userdata;
    plimsoll_go_host *item = add_item(list, sizeof *item);
    item->effective_weight = host->effective_weight;
    item->share = host->share;
    item->slow_start_factor = host->slow_start_factor;
    item->slow_start_seconds_left = host->slow_start_seconds_left;
    item->utilization = host->utilization;
    item->reported_weight = host->reported_weight;
    item->report_age_ns = host->report_age_ns;
    item->priority = host->priority;
    item->weight = host->weight;
    item->active = host->active;
    item->health = host->health;
    item->eds_health = host->eds_health;
    item->coarse = host->coarse;
    item->has_report = host->has_report;
    item->lengths[0] = add_text(list, host->address);
    item->lengths[1] = add_text(list, host->hostname);
    item->lengths[2] = add_text(list, host->region);
    item->lengths[3] = add_text(list, host->zone);
    item->lengths[4] = add_text(list, host->sub_zone);
    return 0;
}

enum plimsoll_status plimsoll_go_hosts(const plimsoll_cluster *cluster, plimsoll_go_list *list,
                                       plimsoll_error **error) {
    return plimsoll_cluster_for_each_host(cluster, list, add_host, error);
}

static int add_locality(void *userdata, const plimsoll_locality *locality) {
    plimsoll_go_list *list = userdata;
    plimsoll_go_locality *item = add_item(list, sizeof *item);
    item->hosts = locality->hosts;
    item->load = locality->load;
    item->utilization = locality->utilization;
    item->weight = locality->weight;
    item->priority = locality->priority;
    item->source = locality->source;
    item->all_local = locality->all_local;
    item->has_utilization = locality->has_utilization;
    item->lengths[0] = add_text(list, locality->region);
    item->lengths[1] = add_text(list, locality->zone);
    item->lengths[2] = add_text(list, locality->sub_zone);
    item->reserved = 0;
    return 0;
}

enum plimsoll_status plimsoll_go_localities(const plimsoll_cluster *cluster, plimsoll_go_list *list,
                                            plimsoll_error **error) {
    return plimsoll_cluster_for_each_locality(cluster, list, add_locality, error);
}

static int add_override_source(void *userdata, const plimsoll_override_source *source) {
    plimsoll_go_list *list = userdata;
    plimsoll_go_override *item = add_item(list, sizeof *item);
    item->kind = source->kind;
    item->length = add_text(list, source->name);
    for (size_t i = 0; i < source->path_count; i++) {
        plimsoll_go_override *part = add_item(list, sizeof *part);
        part->kind = 0;
        part->length = add_text(list, source->path[i]);
    }
    return 0;
}

enum plimsoll_status plimsoll_go_override_sources(const plimsoll_cluster *cluster,
                                                  plimsoll_go_list *list, plimsoll_error **error) {
    return plimsoll_cluster_for_each_override_source(cluster, list, add_override_source, error);
}

static void add_stream(void *userdata, const plimsoll_stream_action *action) {
    plimsoll_go_list *list = userdata;
    plimsoll_go_stream *item = add_item(list, sizeof *item);
    item->interval_ns = action->interval_ns;
    item->kind = action->kind;
    item->slot = action->slot;
    item->generation = action->generation;
    item->lengths[0] = add_text(list, action->address);
    item->lengths[1] = add_text(list, action->dial);
    item->lengths[2] = add_text(list, action->authority);
}

enum plimsoll_status plimsoll_go_poll_streams(const plimsoll_cluster *cluster, uint64_t now_ns,
                                              plimsoll_go_list *list, uint64_t *next_ns,
                                              plimsoll_error **error) {
    return plimsoll_cluster_poll_streams(cluster, now_ns, list, add_stream, next_ns, error);
}

/* The library's pointer to the data of a host is a number of Go's, never followed. */
static void release(void *data) {
    plimsollGoRelease((uintptr_t)data);
}

enum plimsoll_status plimsoll_go_set_host_data(const plimsoll_cluster *cluster, const char *address,
                                               size_t length, uintptr_t id,
                                               plimsoll_error **error) {
    return plimsoll_cluster_set_host_data(cluster, (plimsoll_str){address, length}, (void *)id,
                                          release, error);
}

uintptr_t plimsoll_go_host_data(const plimsoll_worker *worker, const plimsoll_pick *pick) {
    void *data = NULL;
    /* Without a host there is no data either. */
    const plimsoll_status status = plimsoll_worker_host_data(worker, pick, &data);
    return status == PLIMSOLL_STATUS_OK ? (uintptr_t)data : 0;
}

static int accept_by_go(void *userdata, const plimsoll_pick *candidate) {
    return plimsollGoAccept((uintptr_t)userdata, candidate);
}

enum plimsoll_status plimsoll_go_pick_filtered(plimsoll_worker *worker,
                                               const plimsoll_pick_context *context, uintptr_t id,
                                               plimsoll_pick *out) {
    return plimsoll_worker_pick_filtered(worker, context, (void *)id, accept_by_go, out);
}

typedef struct {
    const plimsoll_pick *picks;
    size_t count;
} tried_hosts;

static int accept_untried(void *userdata, const plimsoll_pick *candidate) {
    const tried_hosts *tried = userdata;
    for (size_t i = 0; i < tried->count; i++) {
        if (tried->picks[i].slot == candidate->slot &&
            tried->picks[i].generation == candidate->generation) {
            return 0;
        }
    }
    return 1;
}

enum plimsoll_status plimsoll_go_pick_avoiding(plimsoll_worker *worker,
                                               const plimsoll_pick_context *context,
                                               const plimsoll_pick *tried, size_t count,
                                               plimsoll_pick *out) {
    tried_hosts hosts = {tried, count};
    return plimsoll_worker_pick_filtered(worker, context, &hosts, accept_untried, out);
}

/* A text for each of the lengths, in `few` or in `scratch`. */
static const plimsoll_str *take_all(const char *text, const uint32_t *lengths, size_t count,
                                    plimsoll_str few[PLIMSOLL_GO_FEW], plimsoll_str *scratch) {
    plimsoll_str *texts = count <= PLIMSOLL_GO_FEW ? few : scratch;
    for (size_t i = 0; i < count; i++) {
        texts[i] = take(&text, lengths[i]);
    }
    return texts;
}

enum plimsoll_status plimsoll_go_pick_override(plimsoll_worker *worker,
                                               const plimsoll_pick_context *context,
                                               const char *text, const uint32_t *lengths,
                                               plimsoll_str *scratch, size_t count, uint32_t strict,
                                               plimsoll_pick *out) {
    plimsoll_str few[PLIMSOLL_GO_FEW];
    const plimsoll_str *addresses = take_all(text, lengths, count, few, scratch);
    return plimsoll_worker_pick_override(worker, context, addresses, count, strict, out);
}

enum plimsoll_status plimsoll_go_pick_override_filtered(plimsoll_worker *worker,
                                                        const plimsoll_pick_context *context,
                                                        const char *text, const uint32_t *lengths,
                                                        plimsoll_str *scratch, size_t count,
                                                        uint32_t strict, uintptr_t id,
                                                        plimsoll_pick *out) {
    plimsoll_str few[PLIMSOLL_GO_FEW];
    const plimsoll_str *addresses = take_all(text, lengths, count, few, scratch);
    return plimsoll_worker_pick_override_filtered(worker, context, addresses, count, strict,
                                                  (void *)id, accept_by_go, out);
}

enum plimsoll_status plimsoll_go_explain(plimsoll_worker *worker,
                                         const plimsoll_pick_context *context, const uint64_t *draw,
                                         uintptr_t id, char *buffer, size_t capacity,
                                         size_t *needed) {
    return plimsoll_worker_explain(worker, context, draw, (void *)id, id == 0 ? NULL : accept_by_go,
                                   buffer, capacity, needed);
}

typedef struct {
    char *data;
    size_t capacity;
    size_t needed;
} cookie_buffer;

static void add_cookie(void *userdata, plimsoll_str value) {
    cookie_buffer *buffer = userdata;
    const uint32_t length = (uint32_t)value.len;
    const size_t from = buffer->needed;
    buffer->needed += sizeof length + value.len;
    if (buffer->needed <= buffer->capacity) {
        memcpy(buffer->data + from, &length, sizeof length);
        memcpy(buffer->data + from + sizeof length, value.data, value.len);
    }
}

enum plimsoll_status plimsoll_go_hash(plimsoll_worker *worker, const plimsoll_hash_policies *route,
                                      const char *text, const uint32_t *lengths,
                                      const plimsoll_go_request *request, const uint64_t *hashes,
                                      plimsoll_header *scratch, plimsoll_filter_state *states,
                                      char *cookies, size_t capacity, size_t *needed,
                                      uint64_t *out) {
    const size_t count = (size_t)request->header_count + request->cookie_count;
    plimsoll_header few[PLIMSOLL_GO_FEW];
    plimsoll_header *headers = count <= PLIMSOLL_GO_FEW ? few : scratch;
    for (size_t i = 0; i < count; i++) {
        headers[i].name = take(&text, lengths[2 * i]);
        headers[i].value = take(&text, lengths[2 * i + 1]);
    }
    plimsoll_request own = PLIMSOLL_REQUEST_INIT;
    own.headers = headers;
    own.header_count = request->header_count;
    own.cookies = request->cookie_count == 0 ? NULL : headers + request->header_count;
    own.cookie_count = request->cookie_count;
    own.path = take(&text, request->lengths[0]);
    own.query = take(&text, request->lengths[1]);
    if (!request->has_query) {
        own.query.data = NULL;
    }
    own.source_ip = take(&text, request->lengths[2]);
    own.remote_address = take(&text, request->lengths[3]);
    own.local_address = take(&text, request->lengths[4]);
    for (size_t i = 0; i < request->filter_state_count; i++) {
        states[i].key = take(&text, lengths[2 * count + i]);
        states[i].hash = hashes[i];
    }
    own.filter_states = request->filter_state_count == 0 ? NULL : states;
    own.filter_state_count = request->filter_state_count;
    cookie_buffer buffer = {cookies, capacity, 0};
    void (*const set_cookie)(void *, plimsoll_str) = cookies == NULL ? NULL : add_cookie;
    const enum plimsoll_status status =
        worker == NULL ? plimsoll_hash_policies_hash(route, &own, &buffer, set_cookie, out)
                       : plimsoll_worker_hash(worker, route, &own, &buffer, set_cookie, out);
    *needed = buffer.needed;
    return status;
}

static plimsoll_str take_header(const char **text, uint32_t length) {
    if (length == PLIMSOLL_GO_ABSENT) {
        return (plimsoll_str){NULL, 0};
    }
    /* A block of nothing may have no place; an empty text has one. */
    return length == 0 ? PLIMSOLL_STR("") : take(text, length);
}

static plimsoll_response_load take_load(const char *text, const uint32_t lengths[4],
                                        uint64_t now_ns) {
    plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
    load.header_binary = take_header(&text, lengths[0]);
    load.header_text = take_header(&text, lengths[1]);
    load.trailer_binary = take_header(&text, lengths[2]);
    load.trailer_text = take_header(&text, lengths[3]);
    load.now_ns = now_ns;
    return load;
}

enum plimsoll_status plimsoll_go_report(plimsoll_worker *worker, const plimsoll_pick *pick,
                                        const char *text, const uint32_t lengths[4],
                                        uint64_t now_ns) {
    const plimsoll_response_load load = take_load(text, lengths, now_ns);
    return plimsoll_worker_report(worker, pick, &load);
}

enum plimsoll_status plimsoll_go_report_response(const plimsoll_cluster *cluster,
                                                 const char *address, size_t address_length,
                                                 const char *text, const uint32_t lengths[4],
                                                 uint64_t now_ns, plimsoll_error **error) {
    const plimsoll_response_load load = take_load(text, lengths, now_ns);
    return plimsoll_cluster_report_response(cluster, (plimsoll_str){address, address_length}, &load,
                                            error);
}

enum plimsoll_status plimsoll_go_load_json(const char *text, const uint32_t lengths[4],
                                           uint32_t behavior, char *buffer, size_t capacity,
                                           size_t *needed, plimsoll_error **error) {
    const plimsoll_response_load load = take_load(text, lengths, 0);
    return plimsoll_response_load_json(&load, behavior, buffer, capacity, needed, error);
}

enum plimsoll_status plimsoll_go_done(plimsoll_worker *worker, const plimsoll_pick *picks,
                                      size_t count, uint32_t outcome) {
    plimsoll_status answer = plimsoll_worker_refresh(worker);
    for (size_t i = 0; i < count; i++) {
        const plimsoll_status status = plimsoll_worker_done(worker, &picks[i], outcome);
        if (answer == PLIMSOLL_STATUS_OK) {
            answer = status;
        }
    }
    return answer;
}
