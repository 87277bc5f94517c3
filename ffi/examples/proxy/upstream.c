/* Connections to hosts and their pool; see upstream.h. */
#define _GNU_SOURCE 1
#include "upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

#define IDLE_PER_HOST 64
#define IDLE_MS 15000
/* Slots are dense, so that a number beyond this is no cluster's; such hosts are not pooled. */
#define SLOT_LIMIT (1u << 20)

static void unlink_idle(struct pool *pool, struct upstream *upstream)
{
    struct pool_slot *slot = &pool->slots[upstream->slot];
    if (upstream->previous != NULL) {
        upstream->previous->next = upstream->next;
    } else {
        slot->idle = upstream->next;
    }
    if (upstream->next != NULL) {
        upstream->next->previous = upstream->previous;
    }
    upstream->next = NULL;
    upstream->previous = NULL;
    slot->idle_count--;
}

void upstream_close(struct worker *worker, struct upstream *upstream)
{
    if (upstream->client == NULL) {
        unlink_idle(&worker->pool, upstream);
    }
    upstream->client = NULL;
    stream_close(&upstream->stream, false);
    backend_drop(upstream->backend);
    count(&worker->counters->upstream_closed);
    worker_bury(worker, &upstream->stream);
}

static void close_idle(struct worker *worker, struct pool_slot *slot)
{
    while (slot->idle != NULL) {
        upstream_close(worker, slot->idle);
    }
}

/* Makes room for a slot; false if there cannot be any. */
static bool reserve_slot(struct pool *pool, uint32_t slot)
{
    if (slot < pool->slot_count) {
        return true;
    }
    uint32_t slot_count = slot + slot / 2 + 16;
    struct pool_slot *slots =
        slot < SLOT_LIMIT ? realloc(pool->slots, slot_count * sizeof *slots) : NULL;
    if (slots == NULL) {
        return false;
    }
    memset(slots + pool->slot_count, 0, (slot_count - pool->slot_count) * sizeof *slots);
    pool->slots = slots;
    pool->slot_count = slot_count;
    return true;
}

/* The entry of the picked host, with the connections of the slot's former host closed. */
static struct pool_slot *enter_slot(struct worker *worker, const plimsoll_pick *pick)
{
    if (!reserve_slot(&worker->pool, pick->slot)) {
        return NULL;
    }
    struct pool_slot *slot = &worker->pool.slots[pick->slot];
    if (slot->generation != pick->generation) {
        close_idle(worker, slot);
        slot->generation = pick->generation;
    }
    return slot;
}

/* Whether nothing came on an idle connection. Epoll will say so too, but perhaps after the request
 * that is about to take the connection: bytes that came before it would pass for its response. */
static bool is_silent(const struct upstream *upstream)
{
    char byte;
    ssize_t count = recv(upstream->stream.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && errno == EAGAIN;
}

struct upstream *upstream_take(struct worker *worker, const plimsoll_pick *pick)
{
    struct pool_slot *slot = enter_slot(worker, pick);
    while (slot != NULL && slot->idle != NULL && !is_silent(slot->idle)) {
        upstream_close(worker, slot->idle);
    }
    if (slot == NULL || slot->idle == NULL) {
        return NULL;
    }
    struct upstream *upstream = slot->idle;
    unlink_idle(&worker->pool, upstream);
    count(&worker->counters->upstream_reused);
    return upstream;
}

/* The picked host's backend, held for the caller. A host that was published a moment ago may not
 * have its data yet; then its address is parsed here, for this connection alone. */
static struct backend *backend_of(struct worker *worker, const plimsoll_pick *pick)
{
    void *data = NULL;
    if (plimsoll_worker_host_data(worker->picker, pick, &data) == PLIMSOLL_STATUS_OK &&
        data != NULL) {
        return backend_hold(data);
    }
    char address[ADDRESS_LIMIT];
    size_t needed;
    plimsoll_status status =
        plimsoll_worker_host_address(worker->picker, pick, address, sizeof address, &needed);
    return status == PLIMSOLL_STATUS_OK ? backend_new(address) : NULL;
}

/* A non-blocking connect; -1 if it failed at once. */
static int connect_to(const struct endpoint *endpoint)
{
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(endpoint->address.ss_family, type, 0);
    if (fd < 0) {
        return -1;
    }
    const struct sockaddr *address = (const struct sockaddr *)&endpoint->address;
    struct stream stream = {.fd = fd};
    if (connect(fd, address, endpoint->length) != 0 && errno != EINPROGRESS) {
        stream_close(&stream, false);
    }
    return stream.fd;
}

/* Allocates a connection and starts it; NULL if either fails. Takes over nothing of `backend`. */
static struct upstream *start(struct worker *worker, const struct backend *backend)
{
    struct upstream *upstream = calloc(1, sizeof *upstream);
    if (upstream == NULL) {
        return NULL;
    }
    upstream->stream = (struct stream){.fd = connect_to(&backend->endpoint),
                                       .kind = STREAM_UPSTREAM};
    if (upstream->stream.fd < 0 || !stream_watch(&upstream->stream, worker->epoll)) {
        stream_close(&upstream->stream, false);
        free(upstream);
        return NULL;
    }
    return upstream;
}

struct upstream *upstream_open(struct worker *worker, const plimsoll_pick *pick)
{
    enter_slot(worker, pick);
    struct backend *backend = backend_of(worker, pick);
    struct upstream *upstream = backend == NULL ? NULL : start(worker, backend);
    if (upstream != NULL) {
        upstream->backend = backend;
        upstream->slot = pick->slot;
        upstream->generation = pick->generation;
        count(&worker->counters->upstream_opened);
    } else if (backend != NULL) {
        backend_drop(backend);
    }
    return upstream;
}

bool upstream_check_connected(struct upstream *upstream)
{
    int error = 0;
    socklen_t length = sizeof error;
    int result = getsockopt(upstream->stream.fd, SOL_SOCKET, SO_ERROR, &error, &length);
    upstream->connected = result == 0 && error == 0;
    return upstream->connected;
}

/* The list that the connection belongs to; NULL if its slot is another host's by now. */
static struct pool_slot *home_of(struct pool *pool, const struct upstream *upstream)
{
    bool known = upstream->slot < pool->slot_count &&
                 pool->slots[upstream->slot].generation == upstream->generation;
    return known ? &pool->slots[upstream->slot] : NULL;
}

void upstream_release(struct worker *worker, struct upstream *upstream)
{
    struct pool_slot *slot = home_of(&worker->pool, upstream);
    bool keep = slot != NULL && slot->idle_count < IDLE_PER_HOST && !worker->draining &&
                !backend_is_gone(upstream->backend);
    if (!keep) {
        upstream_close(worker, upstream);
        return;
    }
    upstream->client = NULL;
    upstream->idle_since_ms = worker->now_ms;
    upstream->previous = NULL;
    upstream->next = slot->idle;
    if (slot->idle != NULL) {
        slot->idle->previous = upstream;
    }
    slot->idle = upstream;
    slot->idle_count++;
}

void pool_sweep(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->pool.slot_count; i++) {
        struct upstream *next;
        for (struct upstream *at = worker->pool.slots[i].idle; at != NULL; at = next) {
            next = at->next;
            if (worker->now_ms - at->idle_since_ms >= IDLE_MS || backend_is_gone(at->backend)) {
                upstream_close(worker, at);
            }
        }
    }
}

void pool_close_idle(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->pool.slot_count; i++) {
        close_idle(worker, &worker->pool.slots[i]);
    }
}

void pool_free(struct worker *worker)
{
    pool_close_idle(worker);
    free(worker->pool.slots);
    worker->pool = (struct pool){NULL, 0};
}
