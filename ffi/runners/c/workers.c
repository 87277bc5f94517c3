/* The operations on a worker itself. */

#include <inttypes.h>

#include "cluster.h"

void run_draws(operation *op) {
    size_t count = 0;
    const uint64_t *draws = keys_integers(&op->keys, "values", &count, REQUIRED);
    uint64_t number = keys_integer(&op->keys, "worker", 0);
    cluster *cluster = begin_with_cluster(op);
    plimsoll_worker *worker = cluster != NULL ? worker_of(op, cluster, number) : NULL;
    if (worker != NULL) {
        plimsoll_worker_push_draws(worker, draws, count);
        answer_ok(op);
    }
}

enum { CLOSE, OPEN, REFRESH, QUIESCE };
static const char *const ACTIONS[] = {"close", "open", "refresh", "quiesce"};

static void open_again(operation *op, cluster *cluster, uint64_t number) {
    plimsoll_worker **place = worker_place(op, cluster, number);
    plimsoll_error *error = NULL;
    if (place == NULL) {
        return;
    }
    if (*place != NULL) {
        refuse(op, "worker", "worker %" PRIu64 " is open", number);
        return;
    }
    plimsoll_status status = open_worker(cluster, number, NULL, 0, place, &error);
    answer_status(op, status, error);
}

void run_worker(operation *op) {
    uint64_t number = keys_required_integer(&op->keys, "worker");
    int action = keys_word(&op->keys, "action", ACTIONS, 4, -1);
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL) {
        return;
    }
    if (action == OPEN) {
        open_again(op, cluster, number);
        return;
    }
    plimsoll_worker *worker = worker_of(op, cluster, number);
    if (worker == NULL) {
        return;
    }
    switch (action) {
    case REFRESH:
        plimsoll_worker_refresh(worker);
        break;
    case QUIESCE:
        plimsoll_worker_quiesce(worker);
        break;
    default:
        plimsoll_worker_free(worker);
        cluster->workers[number] = NULL;
        break;
    }
    answer_ok(op);
}
