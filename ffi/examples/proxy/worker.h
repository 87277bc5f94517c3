/*
 * A worker: one thread with its own epoll, its own listener on the shared port, its own pool of
 * upstream connections and its own plimsoll_worker. Workers share nothing that they write to but
 * what the library shares for them.
 *
 * Closed connections are buried, not freed: the batch of events that is being handled may still
 * point to them. The burial ground is emptied between batches.
 */
#ifndef PROXY_WORKER_H
#define PROXY_WORKER_H

#include <plimsoll/plimsoll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "net.h"
#include "options.h"
#include "upstream.h"

struct client;

struct worker {
    const struct options *options;
    const atomic_bool *stopping; /* set by the control thread */
    struct counters *counters;
    plimsoll_worker *picker;
    const plimsoll_hash_policies *route; /* what requests are hashed from */
    bool picked; /* since the last sweep */
    struct pool pool;
    int epoll;
    struct stream listener;
    bool accepting; /* false while descriptors are short, and when stopping */
    int64_t now_ms; /* read once per batch of events, which is short for all that goes by it */
    int64_t next_sweep_ms;
    bool draining; /* stopping: no new clients, no request after the current one */
    int64_t drain_deadline_ms;
    struct client *clients;
    unsigned client_count;
    struct client *ready; /* clients that had more to do when their turn was over */
    struct stream *buried;
};

/* Takes over `listener_fd` and `picker` whatever the result. False without descriptors. */
bool worker_init(struct worker *worker, const struct options *options, const atomic_bool *stopping,
                 struct counters *counters, plimsoll_worker *picker,
                 const plimsoll_hash_policies *route, int listener_fd);

/* Serves until told to stop, then until the last client is served or two seconds have passed. */
void worker_run(struct worker *worker);

/* Gives everything back. */
void worker_free(struct worker *worker);

/* The time for the library, on the clock that it is ticked with. */
static inline uint64_t worker_now_ns(const struct worker *worker)
{
    return (uint64_t)worker->now_ms * NS_PER_MS;
}

/* Frees a closed connection once the current batch of events is over. */
void worker_bury(struct worker *worker, struct stream *stream);

#endif
