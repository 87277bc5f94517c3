/* The end of requests that were held. */

#include <stdlib.h>

#include "cluster.h"

static const char *const OUTCOMES[] = {"success", "error"};
static const uint32_t OUTCOME_NUMBERS[] = {PLIMSOLL_OUTCOME_SUCCESS, PLIMSOLL_OUTCOME_ERROR};

static int by_text(const void *left, const void *right) {
    return compare_text(*(const plimsoll_str *)left, *(const plimsoll_str *)right);
}

/* The texts of a list in the order of their bytes. */
static plimsoll_str *sorted_texts(arena *memory, const json *list) {
    plimsoll_str *texts = arena_new(memory, list->count, sizeof *texts);
    for (size_t index = 0; index < list->count; index++) {
        texts[index] = list->members[index].value.string;
    }
    if (list->count > 0) {
        qsort(texts, list->count, sizeof *texts, by_text);
    }
    return texts;
}

/* Whether so many requests of this host are held. A host that left may still hold requests. */
static bool are_held(operation *op, cluster *cluster, plimsoll_str address, size_t asked) {
    const held_host *host = held_at(cluster, address);
    size_t held = host != NULL ? host->end - host->first : 0;
    json_member name = {.value = {.kind = JSON_STRING, .string = address}};
    json list = {.kind = JSON_LIST, .members = &name, .count = 1};
    if (held == 0 && !knows_hosts(op, cluster, &list)) {
        return false;
    }
    if (held < asked) {
        refuse(op, "hosts", "requests held on %.*s: %zu, to end: %zu", SHOWN(address), held, asked);
    }
    return held >= asked;
}

/* Checks all hosts before any request ends. */
static bool can_end(operation *op, cluster *cluster, const json *hosts) {
    const plimsoll_str *sorted = sorted_texts(op->memory, hosts);
    for (size_t first = 0, next = 0; first < hosts->count; first = next) {
        while (next < hosts->count && same_text(sorted[first], sorted[next])) {
            next++;
        }
        if (!are_held(op, cluster, sorted[first], next - first)) {
            return false;
        }
    }
    return true;
}

/* Any worker may say that a request is over; requests outlive the workers that picked them. */
static plimsoll_worker *any_worker(operation *op, cluster *cluster, plimsoll_worker **spare) {
    for (uint64_t number = 0; number < cluster->worker_count; number++) {
        if (cluster->workers[number] != NULL) {
            return cluster->workers[number];
        }
    }
    plimsoll_error *error = NULL;
    if (open_worker(cluster, 0, NULL, 0, spare, &error)) {
        answer_error(op, error);
    }
    return *spare;
}

void run_done(operation *op) {
    const json *hosts = keys_texts(&op->keys, "hosts", REQUIRED);
    uint32_t outcome = OUTCOME_NUMBERS[keys_word(&op->keys, "outcome", OUTCOMES, 2, 0)];
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL || !can_end(op, cluster, hosts)) {
        return;
    }
    plimsoll_worker *spare = NULL;
    plimsoll_worker *worker = any_worker(op, cluster, &spare);
    if (worker == NULL) {
        return;
    }
    for (size_t index = 0; index < hosts->count; index++) {
        held_host *host = held_at(cluster, hosts->members[index].value.string);
        /* The library refuses if `load` has meanwhile put the count of the host to 0; the request is
         * over all the same. */
        plimsoll_worker_done(worker, &host->picks[host->first++], outcome);
        if (host->first == host->end) {
            host->first = host->end = 0;
        }
    }
    plimsoll_worker_free(spare);
    answer_ok(op);
}
