/* The operations that choose hosts one by one. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "picks.h"

/* More picks than this in one operation are refused: its result is one line. */
#define MAX_PICKS 1000000

/* What a pick is told; also for `peek` and `explain`. */
typedef struct {
    uint64_t n;
    uint64_t worker;
    const uint64_t *hashes; /* in turn */
    size_t hash_count;
    const json *reject;
    request_names names;
    const json *metadata;
    bool hold;
    const json *draw; /* `explain` only */
    uint64_t draw_number;
    plimsoll_pick_context context;
} choice;

/* One hash for all picks, or several in turn. */
static void read_hashes(operation *op, choice *choice) {
    const json *value = json_get(op->keys.object, text_of("hash"));
    uint64_t *one = arena_new(op->memory, 1, sizeof *one);
    if (value != NULL && value->kind == JSON_LIST) {
        choice->hashes = keys_integers(&op->keys, "hash", &choice->hash_count, OPTIONAL);
    } else if (value != NULL) {
        keys_find(&op->keys, "hash");
        if (!is_integer(value, one)) {
            keys_refuse(&op->keys, path_of(&op->keys, "hash"),
                        text_of("expected a 64-bit integer or a list of them"));
        }
        choice->hashes = one;
        choice->hash_count = 1;
    }
}

uint32_t saturated_count(uint64_t count) {
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

/* The library reads addresses as they stand in headers, where commas separate them and an empty text
 * asks for nothing. Here each text is one address; one that headers cannot have names no host. */
static plimsoll_str one_address(plimsoll_str text) {
    static const plimsoll_str nobody = PLIMSOLL_STR_INIT("\xff");
    const char *blanks = " \t";
    bool is_whole = text.len > 0 && memchr(text.data, ',', text.len) == NULL &&
                    strchr(blanks, text.data[0]) == NULL &&
                    strchr(blanks, text.data[text.len - 1]) == NULL;
    return is_whole ? text : nobody;
}

request_names read_names(operation *op) {
    request_names names = {.is_given = json_get(op->keys.object, text_of("override")) != NULL};
    const json *list = keys_texts(&op->keys, "override", OPTIONAL);
    names.count = list != NULL ? list->count : 0;
    plimsoll_str *addresses = arena_new(op->memory, names.count, sizeof *addresses);
    for (size_t index = 0; index < names.count; index++) {
        const json *item = &list->members[index].value;
        addresses[index] = one_address(item->kind == JSON_STRING ? item->string : text_of(""));
    }
    names.addresses = addresses;
    names.strict = keys_boolean(&op->keys, "strict");
    return names;
}

static choice read_choice(operation *op, bool has_draw) {
    choice choice = {.context = PLIMSOLL_PICK_CONTEXT_INIT};
    choice.n = keys_integer(&op->keys, "n", 1);
    choice.worker = keys_integer(&op->keys, "worker", 0);
    read_hashes(op, &choice);
    choice.context.attempt = saturated_count(keys_integer(&op->keys, "attempt", 0));
    choice.reject = keys_texts(&op->keys, "reject", OPTIONAL);
    choice.context.retries = saturated_count(keys_integer(&op->keys, "retries", 0));
    choice.names = read_names(op);
    choice.metadata = keys_object(&op->keys, "metadata", OPTIONAL);
    choice.hold = keys_boolean(&op->keys, "hold");
    choice.draw = json_get(op->keys.object, text_of("draw"));
    choice.draw_number = keys_integer(&op->keys, "draw", 0);
    if (choice.draw != NULL && !has_draw) {
        keys_refuse(&op->keys, path_of(&op->keys, "draw"), text_of("only explain has this key"));
    }
    return choice;
}

/* What the library is told of the pick with this index. */
static plimsoll_pick_context context_of(const choice *choice, size_t index) {
    plimsoll_pick_context context = choice->context;
    if (choice->hash_count > 0) {
        context.flags = PLIMSOLL_PICK_HASHED;
        context.hash = choice->hashes[index % choice->hash_count];
    }
    return context;
}

/* Metadata is something that Envoy would act on and the present policies do not. */
static bool is_supported(operation *op, const choice *choice) {
    if (choice->metadata != NULL) {
        answer_failure(op, "unsupported", text_of("metadata"),
                       text_of("matching metadata is not supported"));
    }
    return choice->metadata == NULL;
}

/* Neither peeks nor explanations are about requests under way, or hosts that are named. */
static bool is_plain(operation *op, const choice *choice, const char *name) {
    if (choice->hold) {
        refuse(op, "hold", "only picks can be held");
    } else if (choice->names.is_given) {
        refuse(op, "override", "%s is about picks by policy", name);
    }
    return !choice->hold && !choice->names.is_given;
}

bool is_at_most(operation *op, uint64_t n, uint64_t maximum) {
    if (n > maximum) {
        refuse(op, "n", "value must be at most %" PRIu64, maximum);
    }
    return n <= maximum;
}

/* The address of the host of a pick. */
typedef struct {
    const plimsoll_worker *worker;
    const plimsoll_pick *pick;
} address_call;

static plimsoll_status write_address(void *call, char *text, size_t capacity, size_t *needed) {
    const address_call *of = call;
    return plimsoll_worker_host_address(of->worker, of->pick, text, capacity, needed);
}

bool address_of(const plimsoll_worker *worker, const plimsoll_pick *pick, buffer *address) {
    address_call call = {worker, pick};
    return text_from(address, write_address, &call) == PLIMSOLL_STATUS_OK;
}

/* The retry filter: it refuses hosts of a list. */
typedef struct {
    plimsoll_worker *worker;
    const json *rejected;
    buffer address;
} filter;

static int accept(void *userdata, const plimsoll_pick *candidate) {
    filter *filter = userdata;
    if (filter->rejected == NULL || !address_of(filter->worker, candidate, &filter->address)) {
        return 1;
    }
    plimsoll_str address = {filter->address.data, filter->address.length};
    for (size_t index = 0; index < filter->rejected->count; index++) {
        if (same_text(filter->rejected->members[index].value.string, address)) {
            return 0;
        }
    }
    return 1;
}

/* Adds an address to a list of them, null if there is none. */
static void list_address(buffer *list, bool found, const buffer *address) {
    buffer_text(list, list->length > 1 ? "," : "");
    if (found) {
        json_write_string(list, (plimsoll_str){address->data, address->length});
    } else {
        buffer_text(list, "null");
    }
}

/* Picks a host, ends its request unless it is held, and adds its address to the list. */
static void pick_one(cluster *cluster, const choice *choice, size_t index, filter *filter,
                     buffer *list) {
    plimsoll_pick_context context = context_of(choice, index);
    plimsoll_pick pick;
    plimsoll_status status = plimsoll_worker_pick_override_filtered(
        filter->worker, &context, choice->names.addresses, choice->names.count,
        choice->names.strict, filter, accept, &pick);
    bool found = status == PLIMSOLL_STATUS_OK && address_of(filter->worker, &pick, &filter->address);
    list_address(list, found, &filter->address);
    if (found && choice->hold) {
        hold(cluster, (plimsoll_str){filter->address.data, filter->address.length}, pick);
    } else if (status == PLIMSOLL_STATUS_OK) {
        plimsoll_worker_done(filter->worker, &pick, PLIMSOLL_OUTCOME_SUCCESS);
    }
}

void run_pick(operation *op) {
    choice choice = read_choice(op, false);
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL || !is_supported(op, &choice) || !is_at_most(op, choice.n, MAX_PICKS) ||
        !knows_hosts(op, cluster, choice.reject)) {
        return;
    }
    filter filter = {worker_of(op, cluster, choice.worker), choice.reject, {NULL, 0, 0}};
    if (filter.worker == NULL) {
        return;
    }
    answer_text(op, "picks", text_of("["));
    for (size_t index = 0; index < choice.n; index++) {
        pick_one(cluster, &choice, index, &filter, op->payload);
    }
    buffer_text(op->payload, "]");
    buffer_free(&filter.address);
}

void run_peek(operation *op) {
    choice choice = read_choice(op, false);
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL || !is_supported(op, &choice) || !is_plain(op, &choice, "peek") ||
        !is_at_most(op, choice.n, MAX_PICKS) || !knows_hosts(op, cluster, choice.reject)) {
        return;
    }
    plimsoll_worker *worker = worker_of(op, cluster, choice.worker);
    if (worker == NULL) {
        return;
    }
    buffer address = {NULL, 0, 0};
    answer_text(op, "peeks", text_of("["));
    for (size_t index = 0; index < choice.n; index++) {
        plimsoll_pick pick;
        bool found = plimsoll_worker_peek(worker, NULL, &pick) == PLIMSOLL_STATUS_OK &&
                     address_of(worker, &pick, &address);
        list_address(op->payload, found, &address);
    }
    buffer_text(op->payload, "]");
    buffer_free(&address);
}

/* An explanation that is to be written. */
typedef struct {
    filter filter;
    plimsoll_pick_context context;
    const uint64_t *draw;
} explanation;

static plimsoll_status write_explanation(void *call, char *text, size_t capacity, size_t *needed) {
    explanation *of = call;
    return plimsoll_worker_explain(of->filter.worker, &of->context, of->draw, &of->filter, accept,
                                   text, capacity, needed);
}

void run_explain(operation *op) {
    choice choice = read_choice(op, true);
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL || !is_supported(op, &choice) || !is_plain(op, &choice, "explain")) {
        return;
    }
    if (choice.n != 1) {
        refuse(op, "n", "one pick is explained at a time");
        return;
    }
    plimsoll_worker *worker = NULL;
    if (knows_hosts(op, cluster, choice.reject)) {
        worker = worker_of(op, cluster, choice.worker);
    }
    if (worker != NULL) {
        explanation call = {{worker, choice.reject, {NULL, 0, 0}},
                            context_of(&choice, 0),
                            choice.draw != NULL ? &choice.draw_number : NULL};
        answer_text(op, "explain", text_of(""));
        text_from(op->payload, write_explanation, &call);
        buffer_free(&call.filter.address);
    }
}
