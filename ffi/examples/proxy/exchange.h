/*
 * One request: choosing a host, forwarding both ways, and telling the library how it went.
 *
 * Invariant: each counted pick is done exactly once. finish_pick() in exchange.c is the only caller
 * of plimsoll_worker_done, and every way out of an exchange goes through it.
 */
#ifndef PROXY_EXCHANGE_H
#define PROXY_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct client;

/* The request's head was read: chooses a host and starts towards it. */
void exchange_begin(struct client *client);

/* Moves what can be moved, in the phases CONNECTING and EXCHANGING. True if anything was. */
bool exchange_step(struct client *client);

/* The deadline of the phase has passed. */
void exchange_expire(struct client *client);

/* The host failed before any byte of its response: tries another one, or gives up with `status`. */
void exchange_host_failed(struct client *client, unsigned status, const char *why);

/* The exchange cannot go on; `outcome` says whether that is the host's fault. */
void exchange_fail(struct client *client, uint32_t outcome, unsigned status, const char *why);

/* The whole response is in the client's buffer or beyond. */
void exchange_finish(struct client *client);

/* The client is gone. Does nothing if there is no exchange. */
void exchange_abandon(struct client *client);

#endif
