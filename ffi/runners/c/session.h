/* The clusters of one replay, by name, and its lines. */

#ifndef REPLAY_SESSION_H
#define REPLAY_SESSION_H

#include "cluster.h"

struct session {
    cluster **clusters;
    size_t count;
    plimsoll_str last; /* the name of the cluster opened last, the default of all operations */
};

/* The cluster of this name; NULL if none is open. */
cluster *session_find(const session *session, plimsoll_str name);

/* The answer about a cluster that is not open. */
void refuse_cluster(operation *op, const char *field, plimsoll_str name);

/* Takes a cluster over, in the place of another of its name. */
void session_add(session *session, cluster *cluster);

void session_free(session *session);

/* What came of a line. */
typedef struct {
    bool is_operation;    /* not blank, and no comment */
    plimsoll_str problem; /* what makes it malformed; no data if nothing does */
    const json *id;       /* NULL if it has none */
    const json *expect;   /* the same */
    const char *answer;
} line_result;

/* Runs a line; the value of its result goes into `payload`. All else lives in the arena. */
line_result session_run(session *session, arena *memory, plimsoll_str line, buffer *payload);

#endif
