/* A worker's loop; see worker.h. */
#define _GNU_SOURCE 1
#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

#define EVENTS 128
#define ACCEPT_BATCH 64
/* The clock of all timeouts: none of them is exact to less. */
#define SWEEP_MS 100
#define DRAIN_MS 2000

static const char over_limit[] = "HTTP/1.1 503 Service Unavailable\r\n"
                                 "Content-Type: text/plain\r\nContent-Length: 21\r\n"
                                 "Connection: close\r\n\r\n"
                                 "too many connections\n";

void worker_bury(struct worker *worker, struct stream *stream)
{
    stream->next_buried = worker->buried;
    worker->buried = stream;
}

/* The stream is the first member of what was allocated. */
static void free_buried(struct worker *worker)
{
    while (worker->buried != NULL) {
        struct stream *stream = worker->buried;
        worker->buried = stream->next_buried;
        free(stream);
    }
}

static bool watch_listener(struct worker *worker)
{
    /* Level-triggered: connections beyond a batch are reported again. */
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &worker->listener};
    worker->accepting =
        epoll_ctl(worker->epoll, EPOLL_CTL_ADD, worker->listener.fd, &event) == 0;
    return worker->accepting;
}

bool worker_init(struct worker *worker, const struct options *options, const atomic_bool *stopping,
                 struct counters *counters, plimsoll_worker *picker,
                 const plimsoll_hash_policies *route, int listener_fd)
{
    *worker = (struct worker){
        .options = options,
        .stopping = stopping,
        .counters = counters,
        .picker = picker,
        .route = route,
        .epoll = epoll_create1(EPOLL_CLOEXEC),
        .listener = {.fd = listener_fd, .kind = STREAM_LISTENER},
        .now_ms = clock_ms(),
    };
    return worker->epoll >= 0 && watch_listener(worker);
}

/* One client too many is told so. What it has sent is read first, as far as it is here already:
 * closing with input unread would take the answer back. */
static void turn_away(struct worker *worker, int fd)
{
    char ignored[4096];
    ssize_t result = recv(fd, ignored, sizeof ignored, MSG_DONTWAIT);
    result = send(fd, over_limit, sizeof over_limit - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)result; /* there is nothing else to tell it */
    close(fd);
    count(&worker->counters->client_over_limit);
}

/* Out of descriptors: a connection that cannot be accepted would be reported without end. The next
 * sweep tries again. */
static void pause_accepting(struct worker *worker)
{
    epoll_ctl(worker->epoll, EPOLL_CTL_DEL, worker->listener.fd, NULL);
    worker->accepting = false;
}

static void accept_clients(struct worker *worker)
{
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        int fd = accept4(worker->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0 && worker->client_count < worker->options->connections) {
            client_accept(worker, fd);
        } else if (fd >= 0) {
            turn_away(worker, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            pause_accepting(worker);
            return;
        }
    }
}

static void handle_upstream(struct worker *worker, struct upstream *upstream, uint32_t events)
{
    if (upstream->client != NULL) {
        client_run(upstream->client);
    } else if ((events & ~(uint32_t)EPOLLOUT) != 0) {
        /* An idle connection has nothing to say: the host closes it, or is out of step. */
        upstream_close(worker, upstream);
    }
}

static void handle(struct worker *worker, const struct epoll_event *event)
{
    struct stream *stream = event->data.ptr;
    if (stream->fd < 0) {
        return; /* closed earlier in this batch */
    }
    stream_note(stream, event->events);
    switch (stream->kind) {
    case STREAM_LISTENER:
        accept_clients(worker);
        break;
    case STREAM_CLIENT:
        client_run((struct client *)stream);
        break;
    case STREAM_UPSTREAM:
        handle_upstream(worker, (struct upstream *)stream, event->events);
        break;
    }
}

static void for_each_client(struct worker *worker, void (*visit)(struct client *client))
{
    struct client *next;
    for (struct client *client = worker->clients; client != NULL; client = next) {
        next = client->next; /* the visit may close this client, and no other */
        visit(client);
    }
}

static void expire_if_due(struct client *client)
{
    if (client->worker->now_ms >= client->deadline_ms) {
        client_expire(client);
    }
}

static void start_draining(struct worker *worker)
{
    accept_clients(worker); /* who was let in by the kernel is served, as far as one batch goes */
    worker->accepting = false;
    stream_close(&worker->listener, false);
    worker->draining = true;
    worker->drain_deadline_ms = worker->now_ms + DRAIN_MS;
    for_each_client(worker, client_drain);
    pool_close_idle(worker);
}

/* Lets the library go on: a worker that picks takes up the newest snapshot by itself, an idle one
 * would hold on to an old one, and with it to the hosts that only the old one names. */
static void rest(struct worker *worker)
{
    if (!worker->picked) {
        plimsoll_worker_quiesce(worker->picker);
    }
    worker->picked = false;
}

static void sweep(struct worker *worker)
{
    worker->next_sweep_ms = worker->now_ms + SWEEP_MS;
    if (atomic_load_explicit(worker->stopping, memory_order_relaxed) && !worker->draining) {
        start_draining(worker);
    }
    if (!worker->accepting && !worker->draining) {
        watch_listener(worker);
    }
    for_each_client(worker, expire_if_due);
    pool_sweep(worker);
    rest(worker);
}

/* Clients that had not finished when their turn was over go on. Runs before the buried are freed,
 * because a client may have been closed since it was put here. */
static void run_ready(struct worker *worker)
{
    struct client *client = worker->ready;
    worker->ready = NULL;
    while (client != NULL) {
        struct client *next = client->next_ready;
        client->is_ready = false;
        client_run(client);
        client = next;
    }
}

static bool is_finished(const struct worker *worker)
{
    return worker->draining &&
           (worker->client_count == 0 || worker->now_ms >= worker->drain_deadline_ms);
}

static int wait_ms(const struct worker *worker)
{
    int64_t left = worker->next_sweep_ms - clock_ms();
    return worker->ready != NULL || left < 0 ? 0 : (int)left;
}

void worker_run(struct worker *worker)
{
    struct epoll_event events[EVENTS];
    while (!is_finished(worker)) {
        int event_count = epoll_wait(worker->epoll, events, EVENTS, wait_ms(worker));
        worker->now_ms = clock_ms();
        for (int i = 0; i < event_count; i++) {
            handle(worker, &events[i]);
        }
        if (worker->now_ms >= worker->next_sweep_ms) {
            sweep(worker);
        }
        run_ready(worker);
        free_buried(worker);
    }
}

static void cut_off(struct client *client)
{
    client_close(client, true);
}

void worker_free(struct worker *worker)
{
    for_each_client(worker, cut_off);
    pool_free(worker);
    free_buried(worker);
    plimsoll_worker_free(worker->picker);
    stream_close(&worker->listener, false);
    if (worker->epoll >= 0) {
        close(worker->epoll);
    }
}
