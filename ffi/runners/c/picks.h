/* What the operations that choose hosts share. */

#ifndef REPLAY_PICKS_H
#define REPLAY_PICKS_H

#include "operation.h"

/* The hosts that a request names, and what happens without them. */
typedef struct {
    bool is_given;
    const plimsoll_str *addresses;
    size_t count;
    bool strict;
} request_names;

request_names read_names(operation *op);

/* More than fit are more than the library goes by, too. */
uint32_t saturated_count(uint64_t count);

/* Whether so many picks are allowed; answers if not. */
bool is_at_most(operation *op, uint64_t n, uint64_t maximum);

/* The address of the host of a pick; false if it has left. */
bool address_of(const plimsoll_worker *worker, const plimsoll_pick *pick, buffer *address);

#endif
