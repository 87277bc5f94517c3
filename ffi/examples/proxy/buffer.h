/*
 * A fixed run of bytes between a socket and whatever reads them.
 *
 * Every byte that passes through the proxy lies in one of these, and none of them ever grows: a
 * peer that sends faster than the other side reads fills its buffer, the proxy stops reading from
 * its socket, and TCP slows the peer down. That is the whole of the proxy's back-pressure.
 *
 * Invariant: start <= end <= BUFFER_CAPACITY; an empty buffer has start == end == 0.
 */
#ifndef PROXY_BUFFER_H
#define PROXY_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* A message head of the largest accepted size, and the few lines that forwarding adds to it. */
#define BUFFER_CAPACITY (20 * 1024)

struct buffer {
    size_t start;
    size_t end;
    char bytes[BUFFER_CAPACITY];
};

static inline size_t buffer_used(const struct buffer *buffer)
{
    return buffer->end - buffer->start;
}

static inline size_t buffer_room(const struct buffer *buffer)
{
    return BUFFER_CAPACITY - buffer_used(buffer);
}

/* The unread bytes. Valid until the buffer is next written to, which may move them. */
static inline const char *buffer_data(const struct buffer *buffer)
{
    return buffer->bytes + buffer->start;
}

/* Takes `count` unread bytes off the front; at most buffer_used(). */
void buffer_consume(struct buffer *buffer, size_t count);

/* Where the next bytes go, and how many fit there in one piece: 0 only when the buffer is full. */
char *buffer_reserve(struct buffer *buffer, size_t *room);

/* Makes `count` bytes written to buffer_reserve()'s place part of the content. */
void buffer_commit(struct buffer *buffer, size_t count);

/* Appends all of it, or nothing and returns false when it does not fit. */
bool buffer_append(struct buffer *buffer, const char *data, size_t count);

/* As buffer_append, for formatted text. */
__attribute__((format(printf, 2, 3))) bool buffer_print(struct buffer *buffer, const char *format,
                                                        ...);

#endif
