/*
 * HTTP/1.1 message heads: reading, judging and forwarding them.
 *
 * The parser accepts what RFC 9112 lets a sender produce and refuses what it merely lets a
 * recipient repair (bare LF, folded lines, a space before the colon, two lengths): a repair that
 * the next recipient makes differently is how requests are smuggled.
 *
 * A parsed head holds offsets into the bytes it was read from, which move when their buffer is
 * compacted; every function takes the two together.
 */
#ifndef PROXY_HTTP_H
#define PROXY_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "body.h"
#include "buffer.h"

#define HTTP_HEAD_LIMIT (16 * 1024) /* 431 beyond; offsets in a head fit 16 bits */
#define HTTP_LINE_LIMIT (8 * 1024)  /* 414 beyond */
#define HTTP_FIELD_LIMIT 100        /* 431 beyond */

/* A part of a head: where it starts, counted from the head's first byte. */
struct http_text {
    uint16_t start;
    uint16_t length;
};

/* The fields that mean something to a proxy. */
enum http_name {
    HTTP_OTHER,
    HTTP_CONNECTION,
    HTTP_CONTENT_LENGTH,
    HTTP_ENDPOINT_LOAD_METRICS,
    HTTP_ENDPOINT_LOAD_METRICS_BIN,
    HTTP_EXPECT,
    HTTP_HOST,
    HTTP_KEEP_ALIVE,
    HTTP_MAX_FORWARDS,
    HTTP_PROXY_AUTHENTICATE,
    HTTP_PROXY_AUTHORIZATION,
    HTTP_PROXY_CONNECTION,
    HTTP_TE,
    HTTP_TRAILER,
    HTTP_TRANSFER_ENCODING,
    HTTP_UPGRADE
};

struct http_field {
    struct http_text name;
    struct http_text value;
    uint8_t id;   /* enum http_name */
    bool dropped; /* for this hop only, because Connection names it or the proxy is told so */
};

struct http_head {
    struct http_text method;
    struct http_text target;    /* without scheme and authority */
    struct http_text authority; /* of an absolute target; empty otherwise */
    struct http_text reason;    /* after a response's status; may be empty */
    unsigned status;            /* of a response */
    unsigned minor;             /* HTTP/1.minor */
    bool is_head;               /* the method is HEAD */
    bool idempotent;            /* sending the request twice does what sending it once does */
    bool close;                 /* the sender will not reuse the connection */
    bool has_length;
    enum framing framing; /* FRAMING_NONE also for Content-Length: 0 */
    uint64_t content_length;
    size_t length; /* of the whole head, with its empty line */
    unsigned field_count;
    struct http_field fields[HTTP_FIELD_LIMIT];
};

/* How far a head was searched for its end, so that each byte is searched once. */
struct http_scan {
    size_t line;
    size_t next;
};

enum http_scan_result {
    HTTP_SCAN_MORE,
    HTTP_SCAN_DONE, /* scan->next is the head's length */
    HTTP_SCAN_MALFORMED,
    HTTP_SCAN_LONG_LINE, /* the first line alone is over its limit */
    HTTP_SCAN_LONG
};

/* Why a message is not forwarded: a status for the client and a line for a human; 0 if it is. */
struct http_refusal {
    unsigned status;
    const char *why;
};

#define HTTP_ACCEPTED ((struct http_refusal){0, ""})
#define HTTP_REFUSED(status, why) ((struct http_refusal){(status), (why)})

enum http_scan_result http_scan(struct http_scan *scan, const char *data, size_t used);

/* Reads a request head of `length` bytes, as http_scan() found it. */
struct http_refusal http_parse_request(const char *data, size_t length, struct http_head *out);

/* Reads a response head. A refusal's status is 502. `to_head`: the request's method was HEAD. */
struct http_refusal http_parse_response(const char *data, size_t length, bool to_head,
                                        struct http_head *out);

/* Used by both: the fields from offset `at` on, and what Connection says of them. */
struct http_refusal http_parse_fields(const char *data, size_t at, struct http_head *head);

/* Used by both: a decimal Content-Length; false if it is not one or has more than 18 digits. */
bool http_parse_length(const char *data, struct http_text text, uint64_t *out);

/* Characters of methods and field names. */
bool http_is_token(char byte);

/* Whether the text is `word`, which is in lower case; ASCII case does not matter. */
bool http_text_is(const char *data, struct http_text text, const char *word);

/* Whether the request's method is this one; case matters. */
bool http_method_is(const char *data, const struct http_head *head, const char *method);

/* Writes the head as the other side gets it: its own framing, no field of the incoming hop. False
 * if it does not fit, which cannot happen when `out` is empty. */
bool http_write_request(const char *data, const struct http_head *head, struct buffer *out);

/* As above. `framing` is the one that the body will be sent in; `close` announces the end; `added`
 * are more lines, each with its end. */
bool http_write_response(const char *data, const struct http_head *head, enum framing framing,
                         bool close, const char *added, struct buffer *out);

/* The standard reason of the statuses that the proxy itself answers with. */
const char *http_reason(unsigned status);

#endif
