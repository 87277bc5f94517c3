/* The keys of an object as an operation wants them. What is missing, of the wrong type or not known
 * makes the line malformed; only the first such problem counts. */

#ifndef REPLAY_KEYS_H
#define REPLAY_KEYS_H

#include "json.h"

/* Goes through the keys of one object. */
typedef struct {
    arena *memory;
    json *object;          /* its members are marked as they are used */
    plimsoll_str path;     /* of the object, `pick` for instance */
    plimsoll_str *problem; /* of the whole line; no data while there is none */
} keys;

/* The keys of a value that must be an object. */
keys keys_of(arena *memory, const json *value, plimsoll_str path, plimsoll_str *problem);

/* Says what is wrong with a value below this path, unless something was wrong before. */
void keys_refuse(keys *keys, plimsoll_str path, plimsoll_str problem);

/* The value of a key, which is used now; NULL if it is not there. */
const json *keys_find(keys *keys, const char *name);

/* The value of a key of this kind, or NULL. Without it the line is malformed if it is `required`. */
typedef enum { OPTIONAL, REQUIRED } presence;
const json *keys_object(keys *keys, const char *name, presence presence);
const json *keys_list(keys *keys, const char *name, presence presence);

/* A list of texts. */
const json *keys_texts(keys *keys, const char *name, presence presence);

/* A text; one without data if it is not there. */
plimsoll_str keys_text(keys *keys, const char *name, presence presence);

bool keys_boolean(keys *keys, const char *name);

/* An integer of 64 bits, also as a decimal string. */
uint64_t keys_integer(keys *keys, const char *name, uint64_t otherwise);
uint64_t keys_required_integer(keys *keys, const char *name);

/* A list of such integers; `*count` of them. */
const uint64_t *keys_integers(keys *keys, const char *name, size_t *count, presence presence);

/* Whether a value is such an integer. */
bool is_integer(const json *value, uint64_t *integer);

/* Which of `count` words the text is; `otherwise` if the key is not there. Without it (below 0) the key
 * is required. */
int keys_word(keys *keys, const char *name, const char *const *words, size_t count, int otherwise);

/* The same for a text that is found already. */
int word_at(keys *keys, plimsoll_str path, const json *value, const char *const *words, size_t count);

/* The path of a key or of an item of a list below an object. */
plimsoll_str path_of(keys *keys, const char *name);
plimsoll_str path_of_item(arena *memory, plimsoll_str list, size_t index);

/* All keys have been asked for: the others are not known. */
void keys_end(keys *keys);

#endif
