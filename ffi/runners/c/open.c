/* Opening a cluster. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "values.h"

static const char *const BEHAVIORS[] = {"native", "envoy"};

/* Where this proxy is: three parts, each of which may be empty. */
static void read_node(operation *op, plimsoll_cluster_options *options) {
    const json *node = keys_object(&op->keys, "node", OPTIONAL);
    if (node == NULL) {
        return;
    }
    keys of_node = keys_of(op->memory, node, path_of(&op->keys, "node"), op->keys.problem);
    const json *locality = keys_find(&of_node, "locality");
    keys_end(&of_node);
    if (locality == NULL || locality->kind == JSON_NULL) {
        return;
    }
    keys place = keys_of(op->memory, locality, path_of(&of_node, "locality"), op->keys.problem);
    options->region = keys_text(&place, "region", OPTIONAL);
    options->zone = keys_text(&place, "zone", OPTIONAL);
    options->sub_zone = keys_text(&place, "sub_zone", OPTIONAL);
    keys_end(&place);
}

/* What an operation `open` says. */
typedef struct {
    const json *config;
    plimsoll_str local_cluster;
    const json *runtime;
    uint64_t workers;
    uint64_t now_ms;
    const uint64_t *draws;
    size_t draw_count;
    plimsoll_cluster_options options;
} opening;

static opening read_opening(operation *op) {
    opening opening = {.options = PLIMSOLL_CLUSTER_OPTIONS_INIT};
    opening.config = keys_object(&op->keys, "config", REQUIRED);
    read_node(op, &opening.options);
    opening.local_cluster = keys_text(&op->keys, "local_cluster", OPTIONAL);
    opening.options.behavior = (uint32_t)keys_word(&op->keys, "behavior", BEHAVIORS, 2, 0);
    opening.workers = keys_integer(&op->keys, "workers", 1);
    opening.options.has_seed = 1;
    opening.options.seed = keys_integer(&op->keys, "seed", 0);
    opening.draws = keys_integers(&op->keys, "draws", &opening.draw_count, OPTIONAL);
    opening.now_ms = keys_integer(&op->keys, "now_ms", 0);
    opening.runtime = keys_object(&op->keys, "runtime", OPTIONAL);
    return opening;
}

/* Finds the local cluster, if the operation names one. */
static bool find_local(operation *op, opening *opening) {
    if (opening->local_cluster.data == NULL) {
        return true;
    }
    const cluster *local = session_find(op->session, opening->local_cluster);
    if (local == NULL) {
        refuse_cluster(op, "local_cluster", opening->local_cluster);
        return false;
    }
    opening->options.local_cluster = local->handle;
    return true;
}

static bool open_workers(operation *op, cluster *cluster, const opening *opening) {
    cluster->workers = must_allocate(opening->workers * sizeof *cluster->workers);
    for (uint64_t number = 0; number < opening->workers; number++) {
        plimsoll_error *error = NULL;
        /* The given numbers are the first worker's. */
        size_t draw_count = number == 0 ? opening->draw_count : 0;
        if (open_worker(cluster, number, opening->draws, draw_count, &cluster->workers[number],
                        &error)) {
            answer_error(op, error);
            return false;
        }
        cluster->worker_count++;
    }
    return true;
}

/* The name in the configuration, unless the operation bears one. */
static plimsoll_str name_of(const operation *op, const opening *opening) {
    const json *own = json_get(opening->config, text_of("name"));
    plimsoll_str name = own != NULL && own->kind == JSON_STRING ? own->string : text_of("");
    if (op->cluster.data != NULL) {
        name = op->cluster;
    }
    char *copy = must_allocate(name.len + 1);
    memcpy(copy, name.data, name.len);
    return (plimsoll_str){copy, name.len};
}

void run_open(operation *op) {
    opening opening = read_opening(op);
    if (!begin(op) || !find_local(op, &opening)) {
        return;
    }
    if (opening.workers < 1 || opening.workers > MAX_WORKERS) {
        refuse(op, "workers", "value must be from 1 to %d", MAX_WORKERS);
        return;
    }
    size_t runtime_count = 0;
    const plimsoll_runtime_value *runtime = NULL;
    if (!runtime_values(op, "runtime", opening.runtime, &runtime, &runtime_count) ||
        !to_nanoseconds(op, "now_ms", opening.now_ms, &opening.options.now_ns)) {
        return;
    }
    opening.options.runtime = runtime;
    opening.options.runtime_count = runtime_count;
    plimsoll_cluster *handle = NULL;
    plimsoll_error *error = NULL;
    if (plimsoll_cluster_open(json_text(op->memory, opening.config), &opening.options, &handle,
                              &error)) {
        answer_error(op, error);
        return;
    }
    cluster *opened = must_allocate(sizeof *opened);
    *opened = (cluster){.name = name_of(op, &opening),
                        .handle = handle,
                        .behavior = opening.options.behavior,
                        .now_ms = opening.now_ms,
                        .follows = opening.options.local_cluster != NULL};
    if (!open_workers(op, opened, &opening)) {
        cluster_free(opened);
        return;
    }
    session_add(op->session, opened);
    answer_ok(op);
}
