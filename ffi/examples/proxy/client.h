/*
 * A client's connection and its requests, one after the other.
 *
 *            head read              connected              response read
 *   READING ----------> CONNECTING ----------> EXCHANGING --------------> FLUSHING
 *      ^  \                  \                      \                      |   |
 *      |   `------------------`----------------------`--- own reply -----> |   | to be closed
 *      `------------------------- reply written --------------------------'    v
 *                                                                          LINGERING
 *
 * client_run() takes steps until none of them moves anything: until the sockets are empty or full
 * and epoll will say when they are not. A step only ever moves bytes between the two sockets and
 * four fixed buffers, so that a slow side stops the other.
 *
 * Each state has a deadline that nothing but progress extends, and a request's head not even that:
 * no peer holds a connection by doing nothing.
 */
#ifndef PROXY_CLIENT_H
#define PROXY_CLIENT_H

#include <plimsoll/plimsoll.h>
#include <stdbool.h>
#include <stdint.h>

#include "body.h"
#include "buffer.h"
#include "http.h"
#include "net.h"
#include "route.h"
#include "upstream.h"

struct worker;

enum client_phase {
    CLIENT_READING,
    CLIENT_CONNECTING,
    CLIENT_EXCHANGING,
    CLIENT_FLUSHING,
    CLIENT_LINGERING,
    CLIENT_CLOSED
};

/* One request on its way, from the pick to the end of the response. */
struct exchange {
    struct upstream *upstream; /* NULL while there is none */
    plimsoll_pick pick;
    bool picked; /* `pick` is counted and not done yet */
    bool retried;
    plimsoll_pick failed; /* of the first attempt, once retried */
    bool head_sent;
    bool response_begun; /* its head is on the way to the client: no other reply is possible */
    unsigned interim;    /* 1xx responses so far */
    unsigned status;
    bool upstream_close; /* the upstream will not reuse its connection */
    bool load_is_known;  /* the response has said what the library needs to know of its load */
    struct http_scan scan;
    struct body response_body;
};

struct client {
    struct stream stream; /* first, because epoll hands out a pointer to it */
    struct worker *worker;
    struct client *next; /* in the worker's list of all clients */
    struct client *previous;
    struct client *next_ready;
    bool is_ready;
    enum client_phase phase;
    int64_t deadline_ms;
    struct http_scan scan;
    bool line_skipped; /* one empty line before a request is forgiven */
    bool head_started;
    bool head_held; /* the request's head is still at the front of `in`: it can be sent again */
    bool closing;   /* after this response */
    struct http_head request;
    struct body request_body;
    struct route_addresses addresses;
    struct route route; /* of the request */
    struct exchange exchange;
    struct trailers trailers; /* of the response */
    struct buffer in;
    struct buffer out;
};

/* Starts serving an accepted connection; closes it if there is no memory. */
void client_accept(struct worker *worker, int fd);

/* Does all that can be done now. */
void client_run(struct client *client);

/* Its deadline has passed. */
void client_expire(struct client *client);

/* Stops: closes an idle connection, and lets a busy one end after its response. */
void client_drain(struct client *client);

/* Ends at once. With `reset`, so that the peer sees that its response is not whole. */
void client_close(struct client *client, bool reset);

/* Answers with a reply of the proxy's own, in place of a response. */
void client_reply(struct client *client, unsigned status, const char *why);

/* Takes the request's head off the input: from now on it cannot be sent again. */
void client_drop_head(struct client *client);

/* A new state begins, and its deadline. */
void client_enter(struct client *client, enum client_phase phase);

#endif
