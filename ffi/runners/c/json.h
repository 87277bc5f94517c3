/* JSON values: read by yajl, without loss (numbers of 64 bits stay such), and written in the form that
 * results of replays have. */

#ifndef REPLAY_JSON_H
#define REPLAY_JSON_H

#include "memory.h"

typedef enum {
    JSON_NULL,
    JSON_BOOLEAN,
    JSON_UNSIGNED, /* an integer from 0 on */
    JSON_NEGATIVE, /* an integer below 0 */
    JSON_FLOAT,
    JSON_STRING,
    JSON_LIST,
    JSON_OBJECT,
} json_kind;

typedef struct json_member json_member;

typedef struct {
    json_kind kind;
    union {
        bool boolean;
        uint64_t unsigned_integer;
        int64_t negative;
        double number;
        plimsoll_str string;
        struct {
            json_member *members; /* in order; those of a list have no key */
            size_t count;
        };
    };
} json;

struct json_member {
    plimsoll_str key;
    json value;
    bool used; /* by whoever asked for it */
};

/* Reads a text. NULL if it is not JSON, an object has a key twice, or it is nested too deeply; then
 * `*problem` says what is wrong. Everything lives in the arena. */
const json *json_parse(arena *memory, plimsoll_str text, plimsoll_str *problem);

/* The value of a key; NULL if the object has none. */
const json *json_get(const json *object, plimsoll_str key);

/* Writes a value without spaces, its floats in the shortest form that reads back equal, always with a
 * point or an exponent: an exponent below 1e-5 and from 1e16 on. */
void json_write(buffer *out, const json *value);
void json_write_string(buffer *out, plimsoll_str text);

/* The same as a text of its own. */
plimsoll_str json_text(arena *memory, const json *value);

#endif
