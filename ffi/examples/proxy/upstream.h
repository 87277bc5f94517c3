/*
 * Connections to hosts, and each thread's pool of idle ones.
 *
 * The pool is an array by slot, the small dense number that a pick carries. A slot is reused for
 * another host once its host is gone; the pick's generation tells the two apart, and connections of
 * an older generation are closed when a newer one shows up.
 *
 * Invariant: every connection of a slot's list has the slot's generation and no client.
 */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include <plimsoll/plimsoll.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend.h"
#include "buffer.h"
#include "net.h"

struct client;
struct worker;

struct upstream {
    struct stream stream; /* first, because epoll hands out a pointer to it */
    struct client *client; /* whose request it carries; NULL while idle */
    struct backend *backend;
    uint32_t slot;
    uint32_t generation;
    bool connected;
    int64_t idle_since_ms;
    struct upstream *next; /* in the slot's list */
    struct upstream *previous;
    struct buffer in;
    struct buffer out;
};

struct pool_slot {
    uint32_t generation;
    unsigned idle_count;
    struct upstream *idle; /* last used first: those at the end may grow old and be closed */
};

struct pool {
    struct pool_slot *slots;
    uint32_t slot_count;
};

/* An idle connection to the picked host, or NULL. */
struct upstream *upstream_take(struct worker *worker, const plimsoll_pick *pick);

/* Starts a new connection to the picked host; NULL if it failed at once. */
struct upstream *upstream_open(struct worker *worker, const plimsoll_pick *pick);

/* Whether the connection is established; meaningful once it is writable. */
bool upstream_check_connected(struct upstream *upstream);

/* Keeps a connection without a request for the next one, or closes it if it may not be kept. */
void upstream_release(struct worker *worker, struct upstream *upstream);

/* Closes a connection, idle or not. */
void upstream_close(struct worker *worker, struct upstream *upstream);

/* Closes what is idle for too long or leads to a host that is gone. */
void pool_sweep(struct worker *worker);

/* Closes all idle connections. */
void pool_close_idle(struct worker *worker);

/* The same, and frees the array. */
void pool_free(struct worker *worker);

#endif
