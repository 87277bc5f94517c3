/*
 * The admin port: what the proxy and the library have to say, for humans and scrapers.
 *
 * One thread serves one connection after the other, each for a second at most. Nothing here
 * touches a worker: the library's texts are read from a snapshot, and counters are only loaded.
 */
#ifndef PROXY_ADMIN_H
#define PROXY_ADMIN_H

#include <plimsoll/plimsoll.h>
#include <stdatomic.h>

#include "counters.h"

struct admin {
    const plimsoll_cluster *cluster;
    const atomic_bool *stopping;
    struct counters *counters;
    size_t counter_sets;
    int listener; /* non-blocking */
};

/* The thread's function; its argument is a struct admin. */
void *admin_run(void *admin);

#endif
