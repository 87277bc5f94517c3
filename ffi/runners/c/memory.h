/* Memory: what one line of a replay takes, freed as a whole, and text that grows. A program that runs
 * out of it ends. */

#ifndef REPLAY_MEMORY_H
#define REPLAY_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plimsoll/plimsoll.h"

/* Blocks that live until the arena is emptied. Starts from all zero. */
typedef struct {
    struct arena_block *newest;
} arena;

/* Room for `count` items of `size` bytes each, all zero. */
void *arena_new(arena *memory, size_t count, size_t size);

/* Room for one more item than the `count` that are there: the same place, or a larger one with a copy of
 * them, whose `*capacity` says how many fit. */
void *arena_grow(arena *memory, void *items, size_t count, size_t *capacity, size_t size);

/* A copy of a text, with a NUL after it. */
plimsoll_str arena_copy(arena *memory, const char *data, size_t length);

/* A text that is put together, with a NUL after it. */
plimsoll_str arena_text(arena *memory, const char *format, ...)
    __attribute__((nonnull(2), format(printf, 2, 3)));
plimsoll_str arena_text_of(arena *memory, const char *format, va_list arguments)
    __attribute__((nonnull(2), format(printf, 2, 0)));

/* Frees all of it. */
void arena_clear(arena *memory);

/* Text that grows; there is always a NUL after it. Starts from all zero. */
typedef struct {
    char *data;
    size_t length;
    size_t capacity;
} buffer;

/* Makes room for `length` more bytes and a NUL, without using them. */
void buffer_reserve(buffer *text, size_t length);

void buffer_add(buffer *text, const char *data, size_t length);

void buffer_text(buffer *text, const char *literal);

void buffer_format(buffer *text, const char *format, ...) __attribute__((nonnull(2), format(printf, 2, 3)));

/* Empties it; the room stays. */
void buffer_clear(buffer *text);

void buffer_free(buffer *text);

/* As malloc and realloc, but there is always memory. */
void *must_allocate(size_t size);
void *must_grow(void *old, size_t size);

/* Whether two texts are the same, and which one comes first by their bytes. */
bool same_text(plimsoll_str left, plimsoll_str right);
int compare_text(plimsoll_str left, plimsoll_str right);

/* A text that ends in a NUL. */
plimsoll_str text_of(const char *text);

/* `%.*s` takes these. */
#define SHOWN(text) (int)(text).len, (text).data

#endif
