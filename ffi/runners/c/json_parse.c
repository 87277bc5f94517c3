/* Reading JSON: yajl finds the pieces, and this puts them together. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "json.h"

/* As deep as the other runners read. */
#define MAX_DEPTH 127

/* A list or an object that has not ended. */
typedef struct {
    json *container;
    size_t capacity;
    plimsoll_str key; /* of the value that comes next */
} level;

typedef struct {
    arena *memory;
    json root;
    level levels[MAX_DEPTH];
    size_t depth;
    plimsoll_str problem;
} builder;

static int refuse(builder *state, plimsoll_str problem) {
    state->problem = problem;
    return 0;
}

/* The place of a new value. */
static json *place(builder *state) {
    if (state->depth == 0) {
        return &state->root;
    }
    level *open = &state->levels[state->depth - 1];
    json *container = open->container;
    container->members = arena_grow(state->memory, container->members, container->count,
                                    &open->capacity, sizeof *container->members);
    json_member *member = &container->members[container->count++];
    member->key = open->key;
    return &member->value;
}

static int on_null(void *context) {
    place(context)->kind = JSON_NULL;
    return 1;
}

static int on_boolean(void *context, int truth) {
    json *value = place(context);
    value->kind = JSON_BOOLEAN;
    value->boolean = truth != 0;
    return 1;
}

/* An integer stays one if 64 bits hold it, with or without a sign; minus zero is a float. */
static bool read_integer(const char *text, json *value) {
    if (text[strcspn(text, ".eE")] != '\0' || strcmp(text, "-0") == 0) {
        return false;
    }
    errno = 0;
    if (text[0] == '-') {
        value->kind = JSON_NEGATIVE;
        value->negative = strtoll(text, NULL, 10);
    } else {
        value->kind = JSON_UNSIGNED;
        value->unsigned_integer = strtoull(text, NULL, 10);
    }
    return errno == 0;
}

static int on_number(void *context, const char *digits, size_t length) {
    builder *state = context;
    const char *text = arena_copy(state->memory, digits, length).data;
    json value = {.kind = JSON_NULL};
    if (!read_integer(text, &value)) {
        value.kind = JSON_FLOAT;
        value.number = strtod(text, NULL);
        if (!isfinite(value.number)) {
            return refuse(state, text_of("number out of range"));
        }
    }
    *place(state) = value;
    return 1;
}

static int on_string(void *context, const unsigned char *text, size_t length) {
    builder *state = context;
    json *value = place(state);
    value->kind = JSON_STRING;
    value->string = arena_copy(state->memory, (const char *)text, length);
    return 1;
}

static int on_start(builder *state, json_kind kind) {
    if (state->depth == MAX_DEPTH) {
        return refuse(state, text_of("recursion limit exceeded"));
    }
    json *value = place(state);
    value->kind = kind;
    state->levels[state->depth++] = (level){.container = value};
    return 1;
}

static int on_start_object(void *context) {
    return on_start(context, JSON_OBJECT);
}

static int on_start_list(void *context) {
    return on_start(context, JSON_LIST);
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    builder *state = context;
    level *open = &state->levels[state->depth - 1];
    open->key = arena_copy(state->memory, (const char *)text, length);
    for (size_t index = 0; index < open->container->count; index++) {
        if (same_text(open->container->members[index].key, open->key)) {
            return refuse(state, arena_text(state->memory, "the key \"%s\" appears twice",
                                            open->key.data));
        }
    }
    return 1;
}

static int on_end(void *context) {
    ((builder *)context)->depth--;
    return 1;
}

static const yajl_callbacks CALLBACKS = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_list,
    .yajl_end_array = on_end,
};

/* The number of an escape `\uXXXX` that begins here; 0 if none does. */
static unsigned long escape_at(const char *text, const char *end) {
    char digits[5] = {0};
    if (end - text < 6 || text[0] != '\\' || text[1] != 'u') {
        return 0;
    }
    memcpy(digits, text + 2, 4);
    return strtoul(digits, NULL, 16);
}

/* Half of a surrogate pair stands for nothing. yajl would take it for a question mark. */
static bool has_half_a_pair(plimsoll_str text) {
    const char *end = text.data + text.len;
    for (const char *at = text.data; at < end; at++) {
        unsigned long first = escape_at(at, end);
        if (first >= 0xdc00 && first <= 0xdfff) {
            return true;
        }
        if (first >= 0xd800 && first <= 0xdbff) {
            unsigned long second = escape_at(at + 6, end);
            if (second < 0xdc00 || second > 0xdfff) {
                return true;
            }
            at += 10;
        }
        if (*at == '\\') {
            at++;
        }
    }
    return false;
}

/* What yajl says is wrong, without the end of its line. */
static plimsoll_str described(builder *state, yajl_handle parser) {
    if (state->problem.data != NULL) {
        return state->problem;
    }
    unsigned char *words = yajl_get_error(parser, 0, NULL, 0);
    size_t length = strcspn((const char *)words, "\n");
    plimsoll_str problem = arena_copy(state->memory, (const char *)words, length);
    yajl_free_error(parser, words);
    return problem;
}

const json *json_parse(arena *memory, plimsoll_str text, plimsoll_str *problem) {
    if (has_half_a_pair(text)) {
        *problem = text_of("lone surrogate in a hex escape");
        return NULL;
    }
    builder *state = arena_new(memory, 1, sizeof *state);
    state->memory = memory;
    yajl_handle parser = yajl_alloc(&CALLBACKS, NULL, state);
    if (parser == NULL) {
        *problem = text_of("out of memory");
        return NULL;
    }
    yajl_status status = yajl_parse(parser, (const unsigned char *)text.data, text.len);
    if (status == yajl_status_ok) {
        status = yajl_complete_parse(parser);
    }
    bool is_whole = status == yajl_status_ok;
    if (!is_whole) {
        *problem = described(state, parser);
    }
    yajl_free(parser);
    return is_whole ? &state->root : NULL;
}

const json *json_get(const json *object, plimsoll_str key) {
    for (size_t index = 0; index < object->count; index++) {
        if (same_text(object->members[index].key, key)) {
            return &object->members[index].value;
        }
    }
    return NULL;
}
