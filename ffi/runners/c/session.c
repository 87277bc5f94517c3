#include "session.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    run_operation *run;
} OPERATIONS[] = {
    {"open", run_open},       {"assign", run_assign},   {"reconfigure", run_reconfigure},
    {"health", run_health},   {"runtime", run_runtime}, {"advance", run_advance},
    {"report", run_report},   {"load", run_load},       {"draws", run_draws},
    {"pick", run_pick},       {"peek", run_peek},       {"done", run_done},
    {"tally", run_tally},     {"worker", run_worker},   {"explain", run_explain},
    {"show", run_show},       {"hash", run_hash},
};

#define OPERATION_COUNT (sizeof OPERATIONS / sizeof OPERATIONS[0])

cluster *session_find(const session *session, plimsoll_str name) {
    for (size_t index = 0; index < session->count; index++) {
        if (same_text(session->clusters[index]->name, name)) {
            return session->clusters[index];
        }
    }
    return NULL;
}

void session_add(session *session, cluster *added) {
    session->last = added->name;
    for (size_t index = 0; index < session->count; index++) {
        if (same_text(session->clusters[index]->name, added->name)) {
            cluster_free(session->clusters[index]);
            session->clusters[index] = added;
            return;
        }
    }
    size_t size = (session->count + 1) * sizeof *session->clusters;
    session->clusters = must_grow(session->clusters, size);
    session->clusters[session->count++] = added;
}

void session_free(session *session) {
    for (size_t index = 0; index < session->count; index++) {
        cluster_free(session->clusters[index]);
    }
    free(session->clusters);
}

/* Clusters follow their local clusters at once, as in Envoy. */
static bool follow(operation *op) {
    const session *session = op->session;
    for (size_t index = 0; index < session->count; index++) {
        const cluster *cluster = session->clusters[index];
        plimsoll_error *error = NULL;
        uint64_t now_ns = 0;
        if (!cluster->follows) {
            continue;
        }
        if (!to_nanoseconds(op, "now_ms", cluster->now_ms, &now_ns)) {
            return false;
        }
        if (plimsoll_cluster_tick(cluster->handle, now_ns, &error)) {
            answer_error(op, error);
            return false;
        }
    }
    return true;
}

void refuse_cluster(operation *op, const char *field, plimsoll_str name) {
    json value = {.kind = JSON_STRING, .string = name};
    refuse(op, field, "no cluster %.*s is open", SHOWN(json_text(op->memory, &value)));
}

bool begin(operation *op) {
    keys_end(&op->keys);
    return op->keys.problem->data == NULL && follow(op);
}

cluster *begin_with_cluster(operation *op) {
    if (!begin(op)) {
        return NULL;
    }
    plimsoll_str name = op->cluster.data != NULL ? op->cluster : op->session->last;
    cluster *found = name.data != NULL ? session_find(op->session, name) : NULL;
    if (name.data == NULL) {
        refuse(op, "cluster", "no cluster is open");
    } else if (found == NULL) {
        refuse_cluster(op, "cluster", name);
    }
    return found;
}

/* Blank lines and comments are no operations. */
static bool is_skipped(plimsoll_str line) {
    if (line.len > 0 && line.data[0] == '#') {
        return true;
    }
    for (size_t index = 0; index < line.len; index++) {
        if (line.data[index] == '\0' || strchr(" \t\n\f\r", line.data[index]) == NULL) {
            return false;
        }
    }
    return true;
}

/* Takes a key out that every operation may have. */
static const json *take(const json *line, const char *name) {
    for (size_t index = 0; index < line->count; index++) {
        if (same_text(line->members[index].key, text_of(name))) {
            line->members[index].used = true;
            return &line->members[index].value;
        }
    }
    return NULL;
}

/* The text of such a key. */
static plimsoll_str take_text(arena *memory, const json *line, const char *name,
                              plimsoll_str *problem) {
    const json *value = take(line, name);
    if (value == NULL || value->kind == JSON_STRING) {
        return value != NULL ? value->string : (plimsoll_str){NULL, 0};
    }
    if (problem->data == NULL) {
        *problem = arena_text(memory, "%s: expected a string, got %.*s", name,
                              SHOWN(json_text(memory, value)));
    }
    return (plimsoll_str){NULL, 0};
}

/* No key of an operation means anything when it is null; only maps inside of some do. */
static void refuse_null(arena *memory, const json *line, plimsoll_str op, plimsoll_str *problem) {
    for (size_t index = 0; index < line->count && problem->data == NULL; index++) {
        const json_member *member = &line->members[index];
        if (!member->used && member->value.kind == JSON_NULL) {
            *problem = arena_text(memory, "%.*s.%.*s: null is not a value of this key", SHOWN(op),
                                  SHOWN(member->key));
        }
    }
}

static void run_named(operation *op, plimsoll_str name, plimsoll_str *problem) {
    buffer known = {NULL, 0, 0};
    for (size_t index = 0; index < OPERATION_COUNT; index++) {
        if (same_text(name, text_of(OPERATIONS[index].name))) {
            buffer_free(&known);
            OPERATIONS[index].run(op);
            return;
        }
        buffer_format(&known, "%s`%s`", index > 0 ? ", " : "", OPERATIONS[index].name);
    }
    *problem = arena_text(op->memory, "%.*s: unknown variant `%.*s`, expected one of %s",
                          SHOWN(name), SHOWN(name), known.data);
    buffer_free(&known);
}

line_result session_run(session *session, arena *memory, plimsoll_str line, buffer *payload) {
    line_result result = {.is_operation = !is_skipped(line)};
    if (!result.is_operation) {
        return result;
    }
    const json *value = json_parse(memory, line, &result.problem);
    if (value == NULL) {
        return result;
    }
    if (value->kind != JSON_OBJECT) {
        result.problem = text_of("an operation is a JSON object");
        return result;
    }
    result.id = take(value, "id");
    result.expect = take(value, "expect");
    plimsoll_str cluster = take_text(memory, value, "cluster", &result.problem);
    plimsoll_str name = take_text(memory, value, "op", &result.problem);
    if (name.data == NULL && result.problem.data == NULL) {
        result.problem = text_of("the key `op` is missing");
    }
    refuse_null(memory, value, name, &result.problem);
    if (result.problem.data == NULL) {
        operation op = {session, memory, {NULL, NULL, {NULL, 0}, NULL}, cluster, NULL, payload};
        op.keys = keys_of(memory, value, name, &result.problem);
        run_named(&op, name, &result.problem);
        result.answer = op.answer;
    }
    return result;
}
