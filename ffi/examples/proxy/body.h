/*
 * Message bodies: how long one is, and moving it from one connection to the other.
 *
 * A body is taken out of the framing it arrived in and put into one of ours; no byte of framing
 * that a peer wrote is ever passed on. What one parser reads as the end of a message and the next
 * one does not is request smuggling, and it needs exactly those bytes. The price is that chunk
 * extensions and trailer fields do not get through. Trailers can be kept for the proxy itself.
 */
#ifndef PROXY_BODY_H
#define PROXY_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

/* RFC 9112 sets no limit, so that a peer could send trailers for ever and no body. */
#define TRAILER_LIMIT 4096

enum framing {
    FRAMING_NONE,       /* no body, not even an empty one */
    FRAMING_LENGTH,     /* Content-Length */
    FRAMING_CHUNKED,    /* Transfer-Encoding: chunked */
    FRAMING_UNTIL_CLOSE /* ends with the connection; responses only */
};

enum chunk_state {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_END,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER_START,
    CHUNK_TRAILER,
    CHUNK_TRAILER_LF,
    CHUNK_LAST_LF
};

/* The trailers of a chunked body as they came, up to the empty line that ends them. */
struct trailers {
    size_t length;
    char bytes[TRAILER_LIMIT];
};

struct body {
    enum framing from;
    enum framing to;
    uint64_t remaining; /* payload bytes of the body, or of the current chunk */
    uint64_t allowance; /* payload bytes that may still come */
    enum chunk_state state;
    unsigned framing_bytes; /* of the current chunk-size line, or of all trailers */
    unsigned digits;        /* of the current chunk size */
    struct trailers *trailers; /* where they are kept; NULL: nowhere */
    bool complete;          /* all of it was read, and the end was written */
};

enum body_result { BODY_MORE, BODY_DONE, BODY_MALFORMED, BODY_TOO_LARGE };

/* `length` is the Content-Length, used with FRAMING_LENGTH only. */
void body_begin(struct body *body, enum framing from, enum framing to, uint64_t length,
                uint64_t allowance);

/* Keeps the trailers of a body that has just begun. */
void body_keep_trailers(struct body *body, struct trailers *trailers);

/* Moves as much as `in` holds and `out` has room for. `ended` says that nothing will follow what
 * `in` holds. Sets *moved when anything changed place. */
enum body_result body_move(struct body *body, struct buffer *in, struct buffer *out, bool ended,
                           bool *moved);

#endif
