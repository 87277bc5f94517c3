/* The buffer between two sockets; see buffer.h. */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Below this much room at the end, moving the content to the front is cheaper than the short reads
 * that would follow. */
#define COMPACT_BELOW 4096

void buffer_consume(struct buffer *buffer, size_t count)
{
    buffer->start += count;
    if (buffer->start == buffer->end) {
        buffer->start = 0;
        buffer->end = 0;
    }
}

static void compact(struct buffer *buffer)
{
    size_t used = buffer_used(buffer);
    memmove(buffer->bytes, buffer->bytes + buffer->start, used);
    buffer->start = 0;
    buffer->end = used;
}

char *buffer_reserve(struct buffer *buffer, size_t *room)
{
    if (buffer->start > 0 && BUFFER_CAPACITY - buffer->end < COMPACT_BELOW) {
        compact(buffer);
    }
    *room = BUFFER_CAPACITY - buffer->end;
    return buffer->bytes + buffer->end;
}

void buffer_commit(struct buffer *buffer, size_t count)
{
    buffer->end += count;
}

bool buffer_append(struct buffer *buffer, const char *data, size_t count)
{
    if (count > buffer_room(buffer)) {
        return false;
    }
    if (count > BUFFER_CAPACITY - buffer->end) {
        compact(buffer);
    }
    memcpy(buffer->bytes + buffer->end, data, count);
    buffer->end += count;
    return true;
}

bool buffer_print(struct buffer *buffer, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return length >= 0 && (size_t)length < sizeof text &&
           buffer_append(buffer, text, (size_t)length);
}
