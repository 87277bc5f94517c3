/*
 * Which host a request should have: what the library is told of it before the pick.
 *
 * A request is hashed by the cluster's own hash_policy, or else by what the command line says. A
 * client that has no cookie for that gets one with its response.
 */
#ifndef PROXY_ROUTE_H
#define PROXY_ROUTE_H

#include <plimsoll/plimsoll.h>
#include <stdbool.h>
#include <stdint.h>

#include "net.h"

#define NEW_COOKIES_LIMIT 1024

struct client;

/* Of a connection: the two addresses as the library wants them. */
struct route_addresses {
    char source_ip[ADDRESS_LIMIT];
    char remote[ADDRESS_LIMIT];
    char local[ADDRESS_LIMIT];
};

/* Of a request. */
struct route {
    bool hashed;
    uint64_t hash;
    char new_cookies[NEW_COOKIES_LIMIT]; /* lines for the response's head, each with its end */
    size_t new_cookies_length;
};

/* Asks the kernel who is on either end of an accepted connection. */
void route_connected(struct client *client);

/* The request's head is there: hashes it. */
void route_begin(struct client *client);

/* What the library is told with a pick; attempts count from 0. */
plimsoll_pick_context route_context(const struct client *client, uint32_t attempt);

/* The first pick of the request: the host that it names, or one by policy. */
plimsoll_status route_pick(struct client *client, plimsoll_pick *out);

#endif
