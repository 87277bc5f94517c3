/* Reading a response head: its status and how long its body is. See http.h. */
#include <string.h>

#include "http.h"

/* "HTTP/1.1 200 OK"; the reason, and the space before it, may be missing. */
static bool parse_line(const char *data, size_t end, struct http_head *out)
{
    if (end < 12 || memcmp(data, "HTTP/1.", 7) != 0 || data[8] != ' ' ||
        (end > 12 && data[12] != ' ')) {
        return false;
    }
    if (data[7] != '0' && data[7] != '1') {
        return false;
    }
    out->minor = (unsigned)(data[7] - '0');
    for (size_t i = 9; i < 12; i++) {
        if (data[i] < '0' || data[i] > '9') {
            return false;
        }
        out->status = out->status * 10 + (unsigned)(data[i] - '0');
    }
    for (size_t i = 13; i < end; i++) {
        unsigned char byte = (unsigned char)data[i];
        if (byte != '\t' && (byte < ' ' || byte == 0x7f)) {
            return false;
        }
    }
    size_t reason = end > 13 ? 13 : end;
    out->reason = (struct http_text){(uint16_t)reason, (uint16_t)(end - reason)};
    return out->status >= 100 && out->status <= 599;
}

/* An upstream is held to the same rules as a client: two lengths, or a length beside a coding, let
 * the client's parser and ours disagree on whose response the next bytes are. */
static bool take_field(const char *data, const struct http_field *field, struct http_head *out)
{
    switch (field->id) {
    case HTTP_CONTENT_LENGTH:
        if (out->has_length || !http_parse_length(data, field->value, &out->content_length)) {
            return false;
        }
        out->has_length = true;
        return true;
    case HTTP_TRANSFER_ENCODING:
        if (out->framing == FRAMING_CHUNKED || out->minor == 0 ||
            !http_text_is(data, field->value, "chunked")) {
            return false;
        }
        out->framing = FRAMING_CHUNKED;
        return true;
    default:
        return true;
    }
}

/* RFC 9112, 6.3: what the request and the status say comes before what the fields say. */
static void decide_framing(bool to_head, struct http_head *out)
{
    if (to_head || out->status < 200 || out->status == 204 || out->status == 304) {
        out->framing = FRAMING_NONE;
    } else if (out->has_length) {
        out->framing = out->content_length > 0 ? FRAMING_LENGTH : FRAMING_NONE;
    } else if (out->framing != FRAMING_CHUNKED) {
        out->framing = FRAMING_UNTIL_CLOSE;
    }
    /* 1xx and 204 have no length to announce; HEAD and 304 announce the one of the absent body. */
    out->has_length &= out->status >= 200 && out->status != 204;
}

struct http_refusal http_parse_response(const char *data, size_t length, bool to_head,
                                        struct http_head *out)
{
    const char *line_end = memchr(data, '\n', length);
    size_t end = (size_t)(line_end - data) - 1;
    *out = (struct http_head){.length = length};
    if (!parse_line(data, end, out)) {
        return HTTP_REFUSED(502, "malformed status line from upstream");
    }
    if (http_parse_fields(data, end + 2, out).status != 0) {
        return HTTP_REFUSED(502, "malformed header from upstream");
    }
    for (unsigned i = 0; i < out->field_count; i++) {
        if (!take_field(data, &out->fields[i], out)) {
            return HTTP_REFUSED(502, "malformed framing from upstream");
        }
    }
    if (out->has_length && out->framing == FRAMING_CHUNKED) {
        return HTTP_REFUSED(502, "both Content-Length and Transfer-Encoding from upstream");
    }
    if (out->status == 101) {
        return HTTP_REFUSED(502, "upstream switched protocols unasked");
    }
    decide_framing(to_head, out);
    out->close |= out->minor == 0;
    return HTTP_ACCEPTED;
}
