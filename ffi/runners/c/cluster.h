/* One cluster of a replay: its handle, its clock, its workers, and the requests that are under way. */

#ifndef REPLAY_CLUSTER_H
#define REPLAY_CLUSTER_H

#include "operation.h"

/* More workers than this are refused: each has a place for PEEK_CAPACITY numbers. */
#define MAX_WORKERS 1024

/* So many that only the number of healthy hosts limits peeks, as in Envoy. */
#define PEEK_CAPACITY 65536

/* Requests at one host that were picked with `hold`, oldest first. */
typedef struct {
    plimsoll_str address;
    plimsoll_pick *picks;
    size_t first, end, capacity;
} held_host;

struct cluster {
    plimsoll_str name;
    plimsoll_cluster *handle;
    uint32_t behavior;
    plimsoll_worker **workers; /* NULL while closed */
    uint64_t worker_count;
    held_host *held;
    size_t held_count;
    uint64_t now_ms;
    bool follows; /* a local cluster, which another operation may have changed */
};

/* Frees it and all that it has. */
void cluster_free(cluster *cluster);

/* Opens the worker of this number, which uses these numbers before those of its generator. */
plimsoll_status open_worker(const cluster *cluster, uint64_t number, const uint64_t *draws,
                            size_t draw_count, plimsoll_worker **out, plimsoll_error **error);

/* The place of a worker, open or not; NULL if there is none, which is answered then. */
plimsoll_worker **worker_place(operation *op, cluster *cluster, uint64_t number);

/* A worker that is open; NULL if it is not, which is answered then. */
plimsoll_worker *worker_of(operation *op, cluster *cluster, uint64_t number);

/* The addresses of all hosts in the order of their bytes; `*count` of them. */
const plimsoll_str *addresses_of(operation *op, const cluster *cluster, size_t *count);

/* Whether the cluster has all hosts of a list of texts; answers if it does not. */
bool knows_hosts(operation *op, const cluster *cluster, const json *hosts);

/* The answer about a host that the cluster does not have. */
void refuse_host(operation *op, plimsoll_str address);

/* The requests that are held at a host; NULL if there are none. */
held_host *held_at(cluster *cluster, plimsoll_str address);
void hold(cluster *cluster, plimsoll_str address, plimsoll_pick pick);

/* Milliseconds as the library wants them; answers if that does not fit, and gives false. */
bool to_nanoseconds(operation *op, const char *field, uint64_t ms, uint64_t *ns);

#endif
