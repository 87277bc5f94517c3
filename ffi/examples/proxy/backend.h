/*
 * What the proxy itself knows about a host, kept by the library as the host's data.
 *
 * A worker that picked a host gets this back in a few nanoseconds, with the address in the form
 * that connect() takes. The library calls the release function once no pick and no snapshot names
 * the host any more; from then on `gone` tells every thread's connection pool to let go.
 *
 * Holders are the library (one, until the release) and each connection to the host.
 */
#ifndef PROXY_BACKEND_H
#define PROXY_BACKEND_H

#include <plimsoll/plimsoll.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "net.h"

struct backend {
    atomic_uint holders;
    atomic_bool gone;
    struct endpoint endpoint;
};

/* With one holder, the caller. NULL if the address is not numeric, or without memory. */
struct backend *backend_new(const char *address);

struct backend *backend_hold(struct backend *backend);

/* Frees it with the last holder. */
void backend_drop(struct backend *backend);

bool backend_is_gone(const struct backend *backend);

/* Gives each host of the cluster its backend, unless it has one. Control side: once after the
 * cluster was opened and after each reload. */
void backends_attach(const plimsoll_cluster *cluster);

#endif
