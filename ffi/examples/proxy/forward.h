/*
 * The two directions of an exchange: the request to the upstream, and the response back. Both go on
 * at the same time, because an upstream may answer before it has read everything.
 */
#ifndef PROXY_FORWARD_H
#define PROXY_FORWARD_H

#include <stdbool.h>

struct client;
struct upstream;

/* Moves what can be moved in either direction, in the phase EXCHANGING. True if anything was. */
bool forward_step(struct client *client);

/* Whether nothing more will come from the upstream than what was received. */
bool forward_is_over(const struct upstream *upstream);

#endif
