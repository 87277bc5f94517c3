/* What the proxy knows about a host; see backend.h. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts.h"

struct backend *backend_new(const char *address)
{
    struct endpoint endpoint;
    struct backend *backend = endpoint_parse(address, &endpoint) ? malloc(sizeof *backend) : NULL;
    if (backend != NULL) {
        atomic_init(&backend->holders, 1);
        atomic_init(&backend->gone, false);
        backend->endpoint = endpoint;
    }
    return backend;
}

struct backend *backend_hold(struct backend *backend)
{
    /* Relaxed: whoever adds a holder is one, so the object cannot go away meanwhile. */
    atomic_fetch_add_explicit(&backend->holders, 1, memory_order_relaxed);
    return backend;
}

void backend_drop(struct backend *backend)
{
    /* Release, so that this holder's last use comes before the free; acquire, so that the one who
     * frees sees everybody's. */
    if (atomic_fetch_sub_explicit(&backend->holders, 1, memory_order_acq_rel) == 1) {
        free(backend);
    }
}

bool backend_is_gone(const struct backend *backend)
{
    /* Relaxed: a sweep that misses it is followed by one that does not. */
    return atomic_load_explicit(&backend->gone, memory_order_relaxed);
}

/* The library's release callback. It runs on whichever thread let go of the host last, outside the
 * library's locks, so it must do nothing that a thread could mind. */
static void release(void *data)
{
    struct backend *backend = data;
    atomic_store_explicit(&backend->gone, true, memory_order_relaxed);
    backend_drop(backend);
}

static void attach(const plimsoll_cluster *cluster, const char *address)
{
    struct backend *backend = backend_new(address);
    if (backend == NULL) {
        fprintf(stderr, "host %s: not a numeric address, requests for it will fail\n", address);
        return;
    }
    plimsoll_str name = {address, strlen(address)};
    if (plimsoll_cluster_set_host_data(cluster, name, backend, release, NULL) !=
        PLIMSOLL_STATUS_OK) {
        /* It has one already, or left just now: the library did not take ours. */
        backend_drop(backend);
    }
}

void backends_attach(const plimsoll_cluster *cluster)
{
    struct host_list list;
    if (!host_list_read(cluster, &list)) {
        fprintf(stderr, "no memory: new hosts' addresses are parsed for each connection\n");
    }
    for (size_t i = 0; i < list.count; i++) {
        attach(cluster, list.addresses[i]);
    }
    host_list_free(&list);
}
