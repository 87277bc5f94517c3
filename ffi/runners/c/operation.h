/* One operation of a replay: what it is told, and what it answers. */

#ifndef REPLAY_OPERATION_H
#define REPLAY_OPERATION_H

#include "keys.h"

typedef struct session session;
typedef struct cluster cluster;

typedef struct {
    session *session;
    arena *memory;        /* for as long as the operation lasts */
    keys keys;            /* its own keys */
    plimsoll_str cluster; /* the name that it bears; no data if it bears none */
    const char *answer;   /* the key of its result */
    buffer *payload;      /* and the value, as JSON */
} operation;

/* What each kind of operation is: it asks for its keys, calls `begin`, and answers. */
typedef void run_operation(operation *op);

run_operation run_open, run_assign, run_reconfigure, run_health, run_runtime, run_advance, run_report,
    run_load, run_draws, run_pick, run_peek, run_done, run_tally, run_worker, run_explain, run_show,
    run_hash;

/* All keys have been asked for. False if the line is malformed, or the operation has failed already. */
bool begin(operation *op);

/* The same, and the cluster that the operation is about; NULL if it cannot go on. */
cluster *begin_with_cluster(operation *op);

/* The answers. An operation that failed has no effect. */
void answer_ok(operation *op);
void answer_text(operation *op, const char *key, plimsoll_str json);
void answer_failure(operation *op, const char *code, plimsoll_str field, plimsoll_str message);

/* The failure of a value that is well-formed and cannot be used. */
void refuse(operation *op, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a call of the library says; frees the error object. */
void answer_error(operation *op, plimsoll_error *error);

/* Either of them, by the status of a call. */
void answer_status(operation *op, plimsoll_status status, plimsoll_error *error);

/* The value of a call that writes a text: `write(call, buffer, capacity, &needed)`. The buffer grows
 * until the text fits. */
typedef plimsoll_status write_text(void *call, char *buffer, size_t capacity, size_t *needed);
plimsoll_status text_from(buffer *text, write_text *write, void *call);

#endif
