/* Many picks, counted by host. */

#include <inttypes.h>
#include <stdlib.h>

#include "cluster.h"
#include "picks.h"

/* More picks than this in one tally are refused, so that a line cannot run forever. */
#define MAX_TALLY 10000000

typedef struct {
    uint64_t n;
    bool all_workers;
    uint64_t worker;
    request_names names;
    plimsoll_pick_context context;
} tally;

/* A worker's index, or `"all"`. */
static void read_worker(operation *op, tally *tally) {
    const json *worker = keys_find(&op->keys, "worker");
    if (worker == NULL) {
        return;
    }
    tally->all_workers =
        worker->kind == JSON_STRING && same_text(worker->string, text_of("all"));
    if (!tally->all_workers && !is_integer(worker, &tally->worker)) {
        keys_refuse(&op->keys, path_of(&op->keys, "worker"),
                    text_of("expected a worker's index or \"all\""));
    }
}

static tally read_tally(operation *op) {
    static const char *const random[] = {"random"};
    tally tally = {.context = PLIMSOLL_PICK_CONTEXT_INIT};
    tally.n = keys_integer(&op->keys, "n", 1);
    read_worker(op, &tally);
    keys_word(&op->keys, "hash", random, 1, 0); /* a pick without a hash draws one */
    tally.context.attempt = saturated_count(keys_integer(&op->keys, "attempt", 0));
    tally.names = read_names(op);
    return tally;
}

/* The workers that take turns; closed ones take none. Answers if there is none, and gives NULL. */
static plimsoll_worker **workers_of(operation *op, cluster *cluster, const tally *tally,
                                    size_t *count) {
    plimsoll_worker **workers = arena_new(op->memory, cluster->worker_count, sizeof *workers);
    *count = 0;
    if (!tally->all_workers) {
        workers[0] = worker_of(op, cluster, tally->worker);
        *count = 1;
        return workers[0] != NULL ? workers : NULL;
    }
    for (uint64_t number = 0; number < cluster->worker_count; number++) {
        if (cluster->workers[number] != NULL) {
            workers[(*count)++] = cluster->workers[number];
        }
    }
    if (*count == 0) {
        refuse(op, "worker", "all workers are closed");
        return NULL;
    }
    return workers;
}

static int by_address(const void *left, const void *right) {
    return compare_text(*(const plimsoll_str *)left, *(const plimsoll_str *)right);
}

/* Counts by the place of an address among those of the hosts. */
typedef struct {
    const plimsoll_str *addresses;
    size_t host_count;
    uint64_t *counts;
    uint64_t none;
    buffer address;
} result;

static void pick_and_count(plimsoll_worker *worker, const tally *tally, result *result) {
    plimsoll_pick pick;
    if (plimsoll_worker_pick_override(worker, &tally->context, tally->names.addresses,
                                      tally->names.count, tally->names.strict, &pick)) {
        result->none++;
        return;
    }
    if (address_of(worker, &pick, &result->address) && result->host_count > 0) {
        plimsoll_str address = {result->address.data, result->address.length};
        const plimsoll_str *found = bsearch(&address, result->addresses, result->host_count,
                                            sizeof address, by_address);
        if (found != NULL) {
            result->counts[found - result->addresses]++;
        }
    }
    plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS);
}

static void answer_counts(operation *op, const result *result) {
    answer_text(op, "tally", text_of("{"));
    for (size_t index = 0; index < result->host_count; index++) {
        buffer_text(op->payload, index > 0 ? "," : "");
        json_write_string(op->payload, result->addresses[index]);
        buffer_format(op->payload, ":%" PRIu64, result->counts[index]);
    }
    if (result->none > 0) {
        buffer_format(op->payload, "%s\"none\":%" PRIu64, result->host_count > 0 ? "," : "",
                      result->none);
    }
    buffer_text(op->payload, "}");
}

void run_tally(operation *op) {
    tally tally = read_tally(op);
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL || !is_at_most(op, tally.n, MAX_TALLY)) {
        return;
    }
    size_t worker_count = 0;
    plimsoll_worker **workers = workers_of(op, cluster, &tally, &worker_count);
    if (workers == NULL) {
        return;
    }
    result result = {.none = 0};
    result.addresses = addresses_of(op, cluster, &result.host_count);
    result.counts = arena_new(op->memory, result.host_count, sizeof *result.counts);
    for (uint64_t turn = 0; turn < tally.n; turn++) {
        pick_and_count(workers[turn % worker_count], &tally, &result);
    }
    answer_counts(op, &result);
    buffer_free(&result.address);
}
