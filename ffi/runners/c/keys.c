#include "keys.h"

#include <inttypes.h>
#include <string.h>

keys keys_of(arena *memory, const json *value, plimsoll_str path, plimsoll_str *problem) {
    static json nothing = {.kind = JSON_OBJECT};
    keys found = {memory, &nothing, path, problem};
    if (value->kind == JSON_OBJECT) {
        found.object = (json *)value;
    } else {
        keys_refuse(&found, path, text_of("expected an object"));
    }
    return found;
}

void keys_refuse(keys *keys, plimsoll_str path, plimsoll_str problem) {
    if (keys->problem->data == NULL) {
        *keys->problem = arena_text(keys->memory, "%.*s: %.*s", SHOWN(path), SHOWN(problem));
    }
}

plimsoll_str path_of(keys *keys, const char *name) {
    return arena_text(keys->memory, "%.*s.%s", SHOWN(keys->path), name);
}

plimsoll_str path_of_item(arena *memory, plimsoll_str list, size_t index) {
    return arena_text(memory, "%.*s[%zu]", SHOWN(list), index);
}

static void refuse_type(keys *keys, plimsoll_str path, const json *value, const char *expected) {
    plimsoll_str got = json_text(keys->memory, value);
    keys_refuse(keys, path,
                arena_text(keys->memory, "expected %s, got %.*s", expected, SHOWN(got)));
}

const json *keys_find(keys *keys, const char *name) {
    for (size_t index = 0; index < keys->object->count; index++) {
        json_member *member = &keys->object->members[index];
        if (same_text(member->key, text_of(name))) {
            member->used = true;
            return &member->value;
        }
    }
    return NULL;
}

static void refuse_missing(keys *keys, const char *name) {
    keys_refuse(keys, keys->path, arena_text(keys->memory, "missing field `%s`", name));
}

/* The value of a key, if it is of this kind. */
static const json *find_kind(keys *keys, const char *name, json_kind kind, const char *words,
                             presence presence) {
    const json *value = keys_find(keys, name);
    if (value == NULL) {
        if (presence == REQUIRED) {
            refuse_missing(keys, name);
        }
        return NULL;
    }
    if (value->kind != kind) {
        refuse_type(keys, path_of(keys, name), value, words);
        return NULL;
    }
    return value;
}

const json *keys_object(keys *keys, const char *name, presence presence) {
    return find_kind(keys, name, JSON_OBJECT, "an object", presence);
}

const json *keys_list(keys *keys, const char *name, presence presence) {
    return find_kind(keys, name, JSON_LIST, "a list", presence);
}

const json *keys_texts(keys *keys, const char *name, presence presence) {
    const json *list = keys_list(keys, name, presence);
    for (size_t index = 0; list != NULL && index < list->count; index++) {
        const json *item = &list->members[index].value;
        if (item->kind != JSON_STRING) {
            plimsoll_str path = path_of_item(keys->memory, path_of(keys, name), index);
            refuse_type(keys, path, item, "a string");
        }
    }
    return list;
}

plimsoll_str keys_text(keys *keys, const char *name, presence presence) {
    const json *value = find_kind(keys, name, JSON_STRING, "a string", presence);
    return value != NULL ? value->string : (plimsoll_str){NULL, 0};
}

bool keys_boolean(keys *keys, const char *name) {
    const json *value = find_kind(keys, name, JSON_BOOLEAN, "true or false", OPTIONAL);
    return value != NULL && value->boolean;
}

/* Digits only: no sign, no spaces, no leading zeros. */
static bool is_decimal(plimsoll_str text, uint64_t *integer) {
    bool is_padded = text.len > 1 && text.data[0] == '0';
    uint64_t sum = 0;
    for (size_t index = 0; index < text.len; index++) {
        uint64_t digit = (uint64_t)(text.data[index] - '0');
        if (digit > 9 || sum > (UINT64_MAX - digit) / 10) {
            return false;
        }
        sum = 10 * sum + digit;
    }
    *integer = sum;
    return text.len > 0 && !is_padded;
}

bool is_integer(const json *value, uint64_t *integer) {
    if (value->kind == JSON_STRING) {
        return is_decimal(value->string, integer);
    }
    *integer = value->kind == JSON_UNSIGNED ? value->unsigned_integer : 0;
    return value->kind == JSON_UNSIGNED;
}

static uint64_t integer_at(keys *keys, plimsoll_str path, const json *value) {
    uint64_t integer = 0;
    if (!is_integer(value, &integer)) {
        refuse_type(keys, path, value, "an integer from 0 to 18446744073709551615");
    }
    return integer;
}

uint64_t keys_integer(keys *keys, const char *name, uint64_t otherwise) {
    const json *value = keys_find(keys, name);
    return value != NULL ? integer_at(keys, path_of(keys, name), value) : otherwise;
}

uint64_t keys_required_integer(keys *keys, const char *name) {
    if (json_get(keys->object, text_of(name)) == NULL) {
        refuse_missing(keys, name);
    }
    return keys_integer(keys, name, 0);
}

const uint64_t *keys_integers(keys *keys, const char *name, size_t *count, presence presence) {
    const json *list = keys_list(keys, name, presence);
    *count = list != NULL ? list->count : 0;
    uint64_t *integers = arena_new(keys->memory, *count, sizeof *integers);
    for (size_t index = 0; index < *count; index++) {
        plimsoll_str path = path_of_item(keys->memory, path_of(keys, name), index);
        integers[index] = integer_at(keys, path, &list->members[index].value);
    }
    return integers;
}

int word_at(keys *keys, plimsoll_str path, const json *value, const char *const *words,
            size_t count) {
    if (value->kind != JSON_STRING) {
        refuse_type(keys, path, value, "a string");
        return 0;
    }
    buffer known = {NULL, 0, 0};
    for (size_t index = 0; index < count; index++) {
        if (same_text(value->string, text_of(words[index]))) {
            buffer_free(&known);
            return (int)index;
        }
        buffer_format(&known, "%s`%s`", index > 0 ? ", " : "", words[index]);
    }
    keys_refuse(keys, path, arena_text(keys->memory, "unknown variant `%.*s`, expected one of %s",
                                       SHOWN(value->string), known.data));
    buffer_free(&known);
    return 0;
}

int keys_word(keys *keys, const char *name, const char *const *words, size_t count, int otherwise) {
    const json *value = keys_find(keys, name);
    if (value != NULL) {
        return word_at(keys, path_of(keys, name), value, words, count);
    }
    if (otherwise < 0) {
        refuse_missing(keys, name);
    }
    return otherwise;
}

void keys_end(keys *keys) {
    for (size_t index = 0; index < keys->object->count; index++) {
        const json_member *member = &keys->object->members[index];
        if (!member->used) {
            plimsoll_str path = arena_text(keys->memory, "%.*s.%.*s", SHOWN(keys->path),
                                           SHOWN(member->key));
            keys_refuse(keys, path, arena_text(keys->memory, "unknown field `%.*s`",
                                               SHOWN(member->key)));
        }
    }
}
