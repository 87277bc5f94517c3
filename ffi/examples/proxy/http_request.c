/* Reading a request head: its line, where it goes, and how long its body is. See http.h. */
#include <string.h>

#include "http.h"

#define METHOD_LIMIT 32
#define ABSOLUTE "http://"

/* Letters, digits and the punctuation of RFC 3986's authority, but no '@': credentials in an
 * address are refused. */
static bool is_authority(const char *data, struct http_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char byte = data[text.start + i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        bool digit = byte >= '0' && byte <= '9';
        if (!letter && !digit && (byte == '\0' || strchr("-._~!$&'()*+,;=:[]%", byte) == NULL)) {
            return false;
        }
    }
    return true;
}

/* Visible ASCII. A fragment is never sent, so a '#' is something else than it seems. */
static bool is_target(const char *data, struct http_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char byte = data[text.start + i];
        if (byte <= ' ' || byte > '~' || byte == '#') {
            return false;
        }
    }
    return text.length > 0;
}

/* "http://host/path" becomes the authority "host" and the target "/path". */
static bool split_absolute(const char *data, struct http_head *out)
{
    size_t prefix = strlen(ABSOLUTE);
    if (out->target.length < prefix) {
        return false;
    }
    struct http_text scheme = {out->target.start, (uint16_t)prefix};
    if (!http_text_is(data, scheme, ABSOLUTE)) {
        return false;
    }
    size_t start = out->target.start + prefix;
    size_t end = (size_t)out->target.start + out->target.length;
    size_t stop = start;
    while (stop < end && data[stop] != '/' && data[stop] != '?') {
        stop++;
    }
    out->authority = (struct http_text){(uint16_t)start, (uint16_t)(stop - start)};
    out->target = (struct http_text){(uint16_t)stop, (uint16_t)(end - stop)};
    return out->authority.length > 0 && is_authority(data, out->authority);
}

bool http_method_is(const char *data, const struct http_head *head, const char *method)
{
    return head->method.length == strlen(method) &&
           memcmp(data + head->method.start, method, head->method.length) == 0;
}

static struct http_refusal judge_method(const char *data, struct http_head *out)
{
    if (http_method_is(data, out, "CONNECT") || http_method_is(data, out, "TRACE")) {
        return HTTP_REFUSED(501, "method not supported");
    }
    out->is_head = http_method_is(data, out, "HEAD");
    out->idempotent = out->is_head || http_method_is(data, out, "GET") ||
                      http_method_is(data, out, "OPTIONS") || http_method_is(data, out, "PUT") ||
                      http_method_is(data, out, "DELETE");
    return HTTP_ACCEPTED;
}

static struct http_refusal judge_target(const char *data, struct http_head *out)
{
    if (!is_target(data, out->target)) {
        return HTTP_REFUSED(400, "malformed request target");
    }
    bool asterisk = out->target.length == 1 && data[out->target.start] == '*';
    bool good = data[out->target.start] == '/' ||
                (asterisk && http_method_is(data, out, "OPTIONS")) || split_absolute(data, out);
    return good ? HTTP_ACCEPTED : HTTP_REFUSED(400, "unsupported form of request target");
}

/* "HTTP/1.1" and "HTTP/1.0"; 505 for another version, 400 for what is none. */
static struct http_refusal judge_version(const char *data, struct http_text version,
                                         struct http_head *out)
{
    const char *text = data + version.start;
    if (version.length != 8 || memcmp(text, "HTTP/", 5) != 0 || text[5] < '0' || text[5] > '9' ||
        text[6] != '.' || text[7] < '0' || text[7] > '9') {
        return HTTP_REFUSED(400, "malformed HTTP version");
    }
    if (text[5] != '1' || text[7] > '1') {
        return HTTP_REFUSED(505, "HTTP/1.0 and HTTP/1.1 only");
    }
    out->minor = (unsigned)(text[7] - '0');
    return HTTP_ACCEPTED;
}

/* METHOD SP TARGET SP VERSION, with one space each; `end` is the offset of the line's CR. */
static struct http_refusal parse_line(const char *data, size_t end, struct http_head *out)
{
    size_t method_end = 0;
    while (method_end < end && http_is_token(data[method_end])) {
        method_end++;
    }
    if (method_end == 0 || method_end > METHOD_LIMIT || data[method_end] != ' ') {
        return HTTP_REFUSED(400, "malformed request line");
    }
    size_t target = method_end + 1;
    const char *space = memchr(data + target, ' ', end - target);
    if (space == NULL) {
        return HTTP_REFUSED(400, "malformed request line");
    }
    size_t target_end = (size_t)(space - data);
    out->method = (struct http_text){0, (uint16_t)method_end};
    out->target = (struct http_text){(uint16_t)target, (uint16_t)(target_end - target)};
    struct http_text version = {(uint16_t)(target_end + 1), (uint16_t)(end - target_end - 1)};
    struct http_refusal refusal = judge_version(data, version, out);
    if (refusal.status == 0) {
        refusal = judge_method(data, out);
    }
    return refusal.status != 0 ? refusal : judge_target(data, out);
}

/* The only coding that is understood is one "chunked". A message whose last coding is another one
 * has no known end, so anything else is refused and the connection with it. */
static struct http_refusal take_coding(const char *data, struct http_text value,
                                       struct http_head *out)
{
    if (out->framing == FRAMING_CHUNKED) {
        return HTTP_REFUSED(400, "Transfer-Encoding twice");
    }
    if (out->minor == 0) {
        return HTTP_REFUSED(400, "Transfer-Encoding in HTTP/1.0");
    }
    if (!http_text_is(data, value, "chunked")) {
        return value.length == 0 ? HTTP_REFUSED(400, "empty Transfer-Encoding")
                                 : HTTP_REFUSED(501, "transfer coding not supported");
    }
    out->framing = FRAMING_CHUNKED;
    return HTTP_ACCEPTED;
}

static struct http_refusal take_field(const char *data, const struct http_field *field,
                                      unsigned *hosts, struct http_head *out)
{
    switch (field->id) {
    case HTTP_HOST:
        if ((*hosts)++ > 0 || !is_authority(data, field->value)) {
            return HTTP_REFUSED(400, "malformed Host");
        }
        return HTTP_ACCEPTED;
    case HTTP_CONTENT_LENGTH:
        if (out->has_length || !http_parse_length(data, field->value, &out->content_length)) {
            return HTTP_REFUSED(400, "malformed Content-Length");
        }
        out->has_length = true;
        return HTTP_ACCEPTED;
    case HTTP_TRANSFER_ENCODING:
        return take_coding(data, field->value, out);
    case HTTP_EXPECT:
        return http_text_is(data, field->value, "100-continue")
                   ? HTTP_ACCEPTED
                   : HTTP_REFUSED(417, "expectation not supported");
    case HTTP_UPGRADE:
        return HTTP_REFUSED(501, "upgrade not supported");
    case HTTP_MAX_FORWARDS:
        return http_method_is(data, out, "OPTIONS")
                   ? HTTP_REFUSED(501, "Max-Forwards not supported")
                   : HTTP_ACCEPTED;
    default:
        return HTTP_ACCEPTED;
    }
}

/* What only all fields together show. */
static struct http_refusal judge_whole(const char *data, unsigned hosts, struct http_head *out)
{
    if (out->has_length && out->framing == FRAMING_CHUNKED) {
        return HTTP_REFUSED(400, "both Content-Length and Transfer-Encoding");
    }
    if (out->minor == 1 && hosts == 0) {
        return HTTP_REFUSED(400, "no Host");
    }
    /* HTTP/1.1 without a length is without a body; for HTTP/1.0 it was undefined. */
    bool body_expected = http_method_is(data, out, "POST") || http_method_is(data, out, "PUT");
    if (out->minor == 0 && body_expected && !out->has_length) {
        return HTTP_REFUSED(411, "no Content-Length");
    }
    if (out->content_length > 0) {
        out->framing = FRAMING_LENGTH;
    }
    out->close |= out->minor == 0;
    return HTTP_ACCEPTED;
}

struct http_refusal http_parse_request(const char *data, size_t length, struct http_head *out)
{
    const char *line_end = memchr(data, '\n', length);
    size_t end = (size_t)(line_end - data) - 1;
    *out = (struct http_head){.length = length};
    struct http_refusal refusal = parse_line(data, end, out);
    if (refusal.status == 0) {
        refusal = http_parse_fields(data, end + 2, out);
    }
    unsigned hosts = 0;
    for (unsigned i = 0; refusal.status == 0 && i < out->field_count; i++) {
        refusal = take_field(data, &out->fields[i], &hosts, out);
    }
    return refusal.status != 0 ? refusal : judge_whole(data, hosts, out);
}
