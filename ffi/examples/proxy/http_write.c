/* Writing heads as they go on to the next hop. See http.h. */
#include <inttypes.h>

#include "http.h"

static bool write_text(const char *data, struct http_text text, struct buffer *out)
{
    return buffer_append(out, data + text.start, text.length);
}

/* Whether a field goes on. Framing and Host are written anew, the rest concerns this hop only. */
static bool is_forwarded(const struct http_field *field)
{
    switch (field->id) {
    case HTTP_OTHER:
    case HTTP_ENDPOINT_LOAD_METRICS:
    case HTTP_ENDPOINT_LOAD_METRICS_BIN:
    case HTTP_EXPECT:
    case HTTP_MAX_FORWARDS:
        return !field->dropped;
    default:
        return false;
    }
}

static bool write_fields(const char *data, const struct http_head *head, struct buffer *out)
{
    bool fits = true;
    for (unsigned i = 0; fits && i < head->field_count; i++) {
        const struct http_field *field = &head->fields[i];
        /* An HTTP/1.0 client cannot read the interim response that it would be asking for. */
        if (!is_forwarded(field) || (field->id == HTTP_EXPECT && head->minor == 0)) {
            continue;
        }
        fits = write_text(data, field->name, out) && buffer_append(out, ": ", 2) &&
               write_text(data, field->value, out) && buffer_append(out, "\r\n", 2);
    }
    return fits;
}

/* Host goes first, as RFC 9110 asks. An absolute target overrides the field; a request of HTTP/1.0
 * may have neither, and then HTTP/1.1 wants it empty. */
static bool write_host(const char *data, const struct http_head *head, struct buffer *out)
{
    struct http_text host = head->authority;
    for (unsigned i = 0; host.length == 0 && i < head->field_count; i++) {
        if (head->fields[i].id == HTTP_HOST) {
            host = head->fields[i].value;
        }
    }
    return buffer_append(out, "Host: ", 6) && write_text(data, host, out) &&
           buffer_append(out, "\r\n", 2);
}

static bool write_framing(const struct http_head *head, enum framing framing, struct buffer *out)
{
    if (framing == FRAMING_CHUNKED) {
        return buffer_print(out, "Transfer-Encoding: chunked\r\n");
    }
    return !head->has_length ||
           buffer_print(out, "Content-Length: %" PRIu64 "\r\n", head->content_length);
}

/* The target in origin form: what is left of "http://host?query" lacks its path. RFC 9112, 3.2.4:
 * "OPTIONS http://host" asks about the host itself. */
static bool write_target(const char *data, const struct http_head *head, struct buffer *out)
{
    if (head->target.length == 0) {
        return buffer_append(out, http_method_is(data, head, "OPTIONS") ? "*" : "/", 1);
    }
    bool rooted = data[head->target.start] == '/' || data[head->target.start] == '*';
    return (rooted || buffer_append(out, "/", 1)) && write_text(data, head->target, out);
}

bool http_write_request(const char *data, const struct http_head *head, struct buffer *out)
{
    return write_text(data, head->method, out) && buffer_append(out, " ", 1) &&
           write_target(data, head, out) && buffer_print(out, " HTTP/1.1\r\n") &&
           write_host(data, head, out) && write_fields(data, head, out) &&
           write_framing(head, head->framing, out) &&
           buffer_print(out, "Via: 1.%u plimsoll\r\n\r\n", head->minor);
}

bool http_write_response(const char *data, const struct http_head *head, enum framing framing,
                         bool close, const char *added, struct buffer *out)
{
    return buffer_print(out, "HTTP/1.1 %u ", head->status) && write_text(data, head->reason, out) &&
           buffer_append(out, "\r\n", 2) && write_fields(data, head, out) &&
           write_framing(head, framing, out) &&
           buffer_print(out, "%s%s\r\n", added, close ? "Connection: close\r\n" : "");
}

const char *http_reason(unsigned status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 411:
        return "Length Required";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 417:
        return "Expectation Failed";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Error";
    }
}
