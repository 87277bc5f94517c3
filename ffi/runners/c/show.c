/* What a cluster looks like, and the hash of a request. */

#include "cluster.h"
#include "values.h"

static const char *const PARTS[] = {"loads", "hosts", "localities", "table", "stats", "snapshot"};
static const uint32_t PART_NUMBERS[] = {PLIMSOLL_DUMP_LOADS, PLIMSOLL_DUMP_HOSTS,
                                        PLIMSOLL_DUMP_LOCALITIES, PLIMSOLL_DUMP_TABLE,
                                        PLIMSOLL_DUMP_STATS, PLIMSOLL_DUMP_SNAPSHOT};

static const char *const SOURCES[] = {"healthy", "degraded", "all"};
static const uint32_t SOURCE_NUMBERS[] = {PLIMSOLL_SOURCE_HEALTHY, PLIMSOLL_SOURCE_DEGRADED,
                                          PLIMSOLL_SOURCE_ALL};

/* A filter that only some parts have. */
static bool has_filter(operation *op, const char *name, uint32_t part) {
    if (json_get(op->keys.object, text_of(name)) == NULL) {
        return false;
    }
    if (part != PLIMSOLL_DUMP_LOCALITIES && part != PLIMSOLL_DUMP_TABLE) {
        keys_refuse(&op->keys, path_of(&op->keys, name),
                    text_of("only localities and table have this key"));
    }
    return true;
}

typedef struct {
    const cluster *cluster;
    plimsoll_dump_options options;
    plimsoll_error *error;
} dump_call;

static plimsoll_status write_dump(void *call, char *text, size_t capacity, size_t *needed) {
    dump_call *of = call;
    plimsoll_error_free(of->error);
    return plimsoll_cluster_dump(of->cluster->handle, &of->options, text, capacity, needed,
                                 &of->error);
}

void run_show(operation *op) {
    int what = keys_word(&op->keys, "what", PARTS, 6, -1);
    dump_call call = {NULL, PLIMSOLL_DUMP_OPTIONS_INIT, NULL};
    call.options.part = what >= 0 ? PART_NUMBERS[what] : 0;
    call.options.priority = keys_integer(&op->keys, "priority", 0);
    call.options.source = SOURCE_NUMBERS[keys_word(&op->keys, "source", SOURCES, 3, 0)];
    bool has_priority = has_filter(op, "priority", call.options.part);
    bool has_source = has_filter(op, "source", call.options.part);
    call.options.flags = (has_priority ? PLIMSOLL_DUMP_HAS_PRIORITY : 0) |
                         (has_source ? PLIMSOLL_DUMP_HAS_SOURCE : 0);
    call.cluster = begin_with_cluster(op);
    if (call.cluster == NULL) {
        return;
    }
    answer_text(op, PARTS[what], text_of(""));
    if (text_from(op->payload, write_dump, &call)) {
        answer_error(op, call.error);
    }
}

/* What an operation `hash` says of the request. */
typedef struct {
    const json *headers, *cookies;
    plimsoll_request request;
} hashed;

static hashed read_hashed(operation *op) {
    hashed hashed = {.request = PLIMSOLL_REQUEST_INIT};
    const json *object = keys_object(&op->keys, "request", REQUIRED);
    if (object == NULL) {
        return hashed;
    }
    keys keys = keys_of(op->memory, object, path_of(&op->keys, "request"), op->keys.problem);
    hashed.headers = keys_object(&keys, "headers", OPTIONAL);
    check_headers(&keys, path_of(&keys, "headers"), hashed.headers);
    hashed.request.query = keys_text(&keys, "query", OPTIONAL);
    hashed.cookies = keys_object(&keys, "cookies", OPTIONAL);
    for (size_t index = 0; hashed.cookies != NULL && index < hashed.cookies->count; index++) {
        if (hashed.cookies->members[index].value.kind != JSON_STRING) {
            keys_refuse(&keys, path_of(&keys, "cookies"), text_of("expected strings"));
        }
    }
    hashed.request.source_ip = keys_text(&keys, "source_ip", OPTIONAL);
    keys_end(&keys);
    return hashed;
}

/* Policies are objects that the library reads. */
static const json *read_policies(operation *op) {
    const json *list = keys_list(&op->keys, "policies", REQUIRED);
    for (size_t index = 0; list != NULL && index < list->count; index++) {
        if (list->members[index].value.kind != JSON_OBJECT) {
            keys_refuse(&op->keys,
                        path_of_item(op->memory, path_of(&op->keys, "policies"), index),
                        text_of("expected an object"));
        }
    }
    return list;
}

void run_hash(operation *op) {
    const json *list = read_policies(op);
    hashed hashed = read_hashed(op);
    plimsoll_hash_policies *policies = NULL;
    plimsoll_error *error = NULL;
    if (!begin(op)) {
        return;
    }
    if (plimsoll_hash_policies_parse(json_text(op->memory, list), &policies, &error)) {
        answer_error(op, error);
        return;
    }
    plimsoll_request *request = &hashed.request;
    if (header_values(op, "request.headers", hashed.headers, &request->headers,
                      &request->header_count) &&
        header_values(op, "request.cookies", hashed.cookies, &request->cookies,
                      &request->cookie_count)) {
        uint64_t hash = 0;
        plimsoll_status status =
            plimsoll_hash_policies_hash(policies, request, NULL, NULL, &hash);
        json value = {.kind = status == PLIMSOLL_STATUS_OK ? JSON_UNSIGNED : JSON_NULL,
                      .unsigned_integer = hash};
        answer_text(op, "hash", json_text(op->memory, &value));
    }
    plimsoll_hash_policies_free(policies);
}
