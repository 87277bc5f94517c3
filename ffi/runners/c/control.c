/* The operations that change a cluster. */

#include <inttypes.h>
#include <stdlib.h>

#include "cluster.h"
#include "picks.h"
#include "values.h"

/* More ticks than this are not made by one operation, so that a line cannot run forever. */
#define MAX_TICKS 100000

void run_assign(operation *op) {
    const json *assignment = keys_object(&op->keys, "load_assignment", REQUIRED);
    cluster *cluster = begin_with_cluster(op);
    if (cluster != NULL) {
        plimsoll_error *error = NULL;
        plimsoll_str text = json_text(op->memory, assignment);
        plimsoll_status status = plimsoll_cluster_assign(cluster->handle, text, NULL, &error);
        answer_status(op, status, error);
    }
}

/* Whether a message has a field, in either spelling. */
static bool has_field(const json *message, const char *name, const char *camel) {
    const json *value = json_get(message, text_of(name));
    if (value == NULL) {
        value = json_get(message, text_of(camel));
    }
    return value != NULL && value->kind != JSON_NULL;
}

void run_reconfigure(operation *op) {
    const json *config = keys_object(&op->keys, "config", REQUIRED);
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL) {
        return;
    }
    if (has_field(config, "load_assignment", "loadAssignment")) {
        refuse(op, "load_assignment", "reconfigure changes settings only; assign changes hosts");
        return;
    }
    plimsoll_error *error = NULL;
    plimsoll_str text = json_text(op->memory, config);
    plimsoll_status status = plimsoll_cluster_reload(cluster->handle, text, NULL, &error);
    answer_status(op, status, error);
}

static const char *const EVENTS[] = {"pass", "fail", "degraded", "eject", "uneject"};
static const uint32_t EVENT_NUMBERS[] = {PLIMSOLL_HEALTH_PASS, PLIMSOLL_HEALTH_FAIL,
                                         PLIMSOLL_HEALTH_DEGRADED, PLIMSOLL_HEALTH_EJECT,
                                         PLIMSOLL_HEALTH_UNEJECT};

/* The path of an entry of a map that a key holds. */
static plimsoll_str entry_path(operation *op, const char *name, plimsoll_str entry) {
    return arena_text(op->memory, "%.*s.%.*s", SHOWN(path_of(&op->keys, name)), SHOWN(entry));
}

void run_health(operation *op) {
    const json *hosts = keys_object(&op->keys, "hosts", REQUIRED);
    size_t count = hosts != NULL ? hosts->count : 0;
    plimsoll_host_change *changes = arena_new(op->memory, count, sizeof *changes);
    const json_member **members = count > 0 ? sorted_members(op->memory, hosts) : NULL;
    for (size_t index = 0; index < count; index++) {
        plimsoll_str path = entry_path(op, "hosts", members[index]->key);
        changes[index] = (plimsoll_host_change)PLIMSOLL_HOST_CHANGE_INIT;
        changes[index].kind = PLIMSOLL_CHANGE_HEALTH;
        changes[index].address = members[index]->key;
        changes[index].event =
            EVENT_NUMBERS[word_at(&op->keys, path, &members[index]->value, EVENTS, 5)];
    }
    cluster *cluster = begin_with_cluster(op);
    if (cluster != NULL) {
        plimsoll_error *error = NULL;
        plimsoll_status status =
            plimsoll_cluster_update(cluster->handle, changes, count, NULL, &error);
        answer_status(op, status, error);
    }
}

void run_runtime(operation *op) {
    const json *values = keys_object(&op->keys, "values", REQUIRED);
    cluster *cluster = begin_with_cluster(op);
    const plimsoll_runtime_value *read = NULL;
    size_t count = 0;
    if (cluster != NULL && runtime_values(op, "values", values, &read, &count)) {
        plimsoll_error *error = NULL;
        plimsoll_status status =
            plimsoll_cluster_update_runtime(cluster->handle, read, count, NULL, &error);
        answer_status(op, status, error);
    }
}

/* Makes the ticks that fall due before `end_ns`, unless they are late, and one then. */
static plimsoll_status make_ticks(const cluster *cluster, uint64_t end_ns, bool late,
                                  plimsoll_error **error) {
    for (int count = 0; count < MAX_TICKS && !late; count++) {
        uint64_t due_ns = 0;
        plimsoll_status status = plimsoll_cluster_next_tick(cluster->handle, &due_ns, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return status;
        }
        if (due_ns == 0 || due_ns >= end_ns) {
            break;
        }
        status = plimsoll_cluster_tick(cluster->handle, due_ns, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return status;
        }
    }
    return plimsoll_cluster_tick(cluster->handle, end_ns, error);
}

void run_advance(operation *op) {
    uint64_t ms = keys_required_integer(&op->keys, "ms");
    bool late = keys_boolean(&op->keys, "late");
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL) {
        return;
    }
    /* Saturated, a sum is too many nanoseconds anyway. */
    uint64_t now_ms = ms > UINT64_MAX - cluster->now_ms ? UINT64_MAX : cluster->now_ms + ms;
    uint64_t end_ns = 0;
    plimsoll_error *error = NULL;
    if (!to_nanoseconds(op, "ms", now_ms, &end_ns)) {
        return;
    }
    if (make_ticks(cluster, end_ns, late, &error)) {
        answer_error(op, error);
        return;
    }
    cluster->now_ms = now_ms;
    answer_text(op, "now_ms", arena_text(op->memory, "%" PRIu64, now_ms));
}

/* A count, or `{"active":N,"pending":N}`; false if it is neither. */
static bool read_load(const json *value, plimsoll_host_load *load) {
    uint64_t active = 0, pending = 0;
    if (value->kind != JSON_OBJECT) {
        bool is_count = is_integer(value, &active);
        load->active = saturated_count(active);
        return is_count;
    }
    const json *first = json_get(value, text_of("active"));
    const json *second = json_get(value, text_of("pending"));
    if (first == NULL || value->count != (second != NULL ? 2 : 1) || !is_integer(first, &active)) {
        return false;
    }
    load->active = saturated_count(active);
    if (second == NULL || second->kind == JSON_NULL) {
        return true;
    }
    load->flags = PLIMSOLL_LOAD_HAS_PENDING;
    bool is_count = is_integer(second, &pending);
    load->pending = saturated_count(pending);
    return is_count;
}

/* Whether the library will take all loads. It names them by their number, and a replay by the host. */
static bool can_take(operation *op, const cluster *cluster, const plimsoll_host_load *loads,
                     size_t count) {
    size_t known_count = 0;
    const plimsoll_str *known = addresses_of(op, cluster, &known_count);
    size_t next = 0;
    for (size_t index = 0; index < count; index++) {
        bool too_active = loads[index].active > PLIMSOLL_MAX_LOAD;
        if (too_active || loads[index].pending > PLIMSOLL_MAX_LOAD) {
            plimsoll_str field = arena_text(op->memory, "%.*s.%s", SHOWN(loads[index].address),
                                            too_active ? "active" : "pending");
            refuse(op, field.data, "HostLoad: value must be less than or equal to %d",
                   PLIMSOLL_MAX_LOAD);
            return false;
        }
        /* Both are in the order of their bytes. */
        while (next < known_count && compare_text(known[next], loads[index].address) < 0) {
            next++;
        }
        if (next == known_count || !same_text(known[next], loads[index].address)) {
            refuse_host(op, loads[index].address);
            return false;
        }
    }
    return true;
}

void run_load(operation *op) {
    const json *hosts = keys_object(&op->keys, "hosts", REQUIRED);
    size_t count = hosts != NULL ? hosts->count : 0;
    plimsoll_host_load *loads = arena_new(op->memory, count, sizeof *loads);
    const json_member **members = count > 0 ? sorted_members(op->memory, hosts) : NULL;
    for (size_t index = 0; index < count; index++) {
        loads[index] = (plimsoll_host_load)PLIMSOLL_HOST_LOAD_INIT;
        loads[index].address = members[index]->key;
        if (!read_load(&members[index]->value, &loads[index])) {
            keys_refuse(&op->keys, entry_path(op, "hosts", members[index]->key),
                        text_of("expected a count or {\"active\":N,\"pending\":N}"));
        }
    }
    cluster *cluster = begin_with_cluster(op);
    if (cluster != NULL && can_take(op, cluster, loads, count)) {
        plimsoll_error *error = NULL;
        plimsoll_status status =
            plimsoll_cluster_set_loads(cluster->handle, loads, count, &error);
        answer_status(op, status, error);
    }
}
