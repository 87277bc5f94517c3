/*
 * Active health checks: a thread that asks each host for a path and tells the library.
 *
 * The library decides what health means for balancing; this decides only whether a host is
 * healthy: a 2xx in time, and it takes two failures in a row to lose that. Each round reports the
 * state of every host that it could check in one batch. The library publishes only what differs,
 * and a report that went astray (the host left the cluster, the batch was refused) is made up for
 * by the next round.
 */
#ifndef PROXY_HEALTH_H
#define PROXY_HEALTH_H

#include <plimsoll/plimsoll.h>
#include <stdatomic.h>

#include "counters.h"
#include "options.h"

struct checked_host;

struct health {
    const plimsoll_cluster *cluster;
    const struct options *options;
    const atomic_bool *stopping;
    struct counters *counters;
    int wake; /* an eventfd */
    struct checked_host *hosts;
    size_t host_count;
};

/* The thread's function; its argument is a struct health with the first five members set. */
void *health_run(void *health);

/* Starts the next round at once: there are new hosts, or it is time to stop. */
void health_wake(const struct health *health);

#endif
