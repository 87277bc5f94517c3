/* Values that come from outside of the operation's own form: runtime keys, and headers. */

#ifndef REPLAY_VALUES_H
#define REPLAY_VALUES_H

#include "operation.h"

/* Runtime values: numbers, true or false, and null, which removes one. Answers if one is something
 * else, and gives false. `values` may be NULL. */
bool runtime_values(operation *op, const char *field, const json *values,
                    const plimsoll_runtime_value **out, size_t *count);

/* Checks a map of headers: a text or `{"base64":S}` for each name, or a list of them. `headers` may be
 * NULL. */
void check_headers(keys *keys, plimsoll_str path, const json *headers);

/* All headers with their bytes, by name. Answers if some base64 is none, and gives false. */
bool header_values(operation *op, const char *field, const json *headers,
                   const plimsoll_header **out, size_t *count);

/* The members of a map by the bytes of their keys. */
const json_member **sorted_members(arena *memory, const json *map);

#endif
