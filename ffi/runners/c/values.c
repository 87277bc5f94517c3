#include "values.h"

#include <stdlib.h>
#include <string.h>

/* A runtime value; false if it is none. */
static bool read_runtime(const json *value, plimsoll_runtime_value *out) {
    if (is_integer(value, &out->integer)) {
        out->kind = PLIMSOLL_RUNTIME_INTEGER;
        return true;
    }
    switch (value->kind) {
    case JSON_NULL:
        out->kind = PLIMSOLL_RUNTIME_REMOVED;
        return true;
    case JSON_BOOLEAN:
        out->kind = PLIMSOLL_RUNTIME_BOOLEAN;
        out->boolean = value->boolean;
        return true;
    case JSON_NEGATIVE:
        out->kind = PLIMSOLL_RUNTIME_NUMBER;
        out->number = (double)value->negative;
        return true;
    case JSON_FLOAT:
        out->kind = PLIMSOLL_RUNTIME_NUMBER;
        out->number = value->number;
        return true;
    default:
        return false;
    }
}

bool runtime_values(operation *op, const char *field, const json *values,
                    const plimsoll_runtime_value **out, size_t *count) {
    *count = values != NULL ? values->count : 0;
    plimsoll_runtime_value *read = arena_new(op->memory, *count, sizeof *read);
    *out = read;
    for (size_t index = 0; index < *count; index++) {
        const json_member *member = &values->members[index];
        read[index] = (plimsoll_runtime_value)PLIMSOLL_RUNTIME_VALUE_INIT;
        read[index].key = member->key;
        if (!read_runtime(&member->value, &read[index])) {
            plimsoll_str path =
                arena_text(op->memory, "%s.%.*s", field, SHOWN(member->key));
            refuse(op, path.data, "expected an integer from 0 to 18446744073709551615, got %.*s",
                   SHOWN(json_text(op->memory, &member->value)));
            return false;
        }
    }
    return true;
}

/* The base64 in `{"base64":S}`; NULL if the value is something else. */
static const json *base64_of(const json *value) {
    const json *text = value->kind == JSON_OBJECT && value->count == 1
                           ? json_get(value, text_of("base64"))
                           : NULL;
    return text != NULL && text->kind == JSON_STRING ? text : NULL;
}

static bool is_header_value(const json *value) {
    return value->kind == JSON_STRING || base64_of(value) != NULL;
}

static bool are_header_values(const json *value) {
    if (value->kind != JSON_LIST) {
        return is_header_value(value);
    }
    for (size_t index = 0; index < value->count; index++) {
        if (!is_header_value(&value->members[index].value)) {
            return false;
        }
    }
    return true;
}

void check_headers(keys *keys, plimsoll_str path, const json *headers) {
    for (size_t index = 0; headers != NULL && index < headers->count; index++) {
        const json_member *member = &headers->members[index];
        if (!are_header_values(&member->value)) {
            plimsoll_str own =
                arena_text(keys->memory, "%.*s.%.*s", SHOWN(path), SHOWN(member->key));
            keys_refuse(keys, own, text_of("expected a header's value or a list of them"));
        }
    }
}

static int sextet_of(char letter) {
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = letter != '\0' ? strchr(alphabet, letter) : NULL;
    return found != NULL ? (int)(found - alphabet) : -1;
}

/* Base64 with its padding, and without bits that stand for nothing; false if it is none. */
static bool decode(arena *memory, plimsoll_str text, plimsoll_str *bytes) {
    size_t padding = 0;
    while (padding < 2 && padding < text.len && text.data[text.len - 1 - padding] == '=') {
        padding++;
    }
    char *out = arena_new(memory, text.len / 4 * 3 + 1, 1);
    size_t length = 0;
    uint32_t bits = 0;
    for (size_t index = 0; index < text.len - padding; index++) {
        int sextet = sextet_of(text.data[index]);
        if (sextet < 0) {
            return false;
        }
        bits = (bits << 6 | (uint32_t)sextet) & 0xffffff;
        if (index % 4 != 0) {
            out[length++] = (char)(bits >> (6 - 2 * (index % 4)));
        }
    }
    *bytes = (plimsoll_str){out, length};
    uint32_t rest = padding == 1 ? bits & 0x3 : padding == 2 ? bits & 0xf : 0;
    return text.len % 4 == 0 && rest == 0;
}

/* The bytes of one value; false if they are base64 that is none. */
static bool bytes_of(arena *memory, const json *value, plimsoll_str *bytes) {
    const json *base64 = base64_of(value);
    if (base64 != NULL) {
        return decode(memory, base64->string, bytes);
    }
    *bytes = value->string;
    return true;
}

static int by_key(const void *left, const void *right) {
    return compare_text((*(const json_member *const *)left)->key,
                        (*(const json_member *const *)right)->key);
}

const json_member **sorted_members(arena *memory, const json *map) {
    const json_member **members = arena_new(memory, map->count, sizeof *members);
    for (size_t index = 0; index < map->count; index++) {
        members[index] = &map->members[index];
    }
    if (map->count > 0) {
        qsort(members, map->count, sizeof *members, by_key);
    }
    return members;
}

static size_t values_in(const json *value) {
    return value->kind == JSON_LIST ? value->count : 1;
}

static const json *value_at(const json *value, size_t index) {
    return value->kind == JSON_LIST ? &value->members[index].value : value;
}

bool header_values(operation *op, const char *field, const json *headers,
                   const plimsoll_header **out, size_t *count) {
    *count = 0;
    *out = NULL;
    if (headers == NULL) {
        return true;
    }
    for (size_t index = 0; index < headers->count; index++) {
        *count += values_in(&headers->members[index].value);
    }
    plimsoll_header *next = arena_new(op->memory, *count, sizeof *next);
    *out = next;
    const json_member **members = sorted_members(op->memory, headers);
    for (size_t index = 0; index < headers->count; index++) {
        const json *values = &members[index]->value;
        for (size_t number = 0; number < values_in(values); number++, next++) {
            next->name = members[index]->key;
            if (!bytes_of(op->memory, value_at(values, number), &next->value)) {
                plimsoll_str path =
                    arena_text(op->memory, "%s.%.*s", field, SHOWN(next->name));
                refuse(op, path.data, "this is not base64");
                return false;
            }
        }
    }
    return true;
}
