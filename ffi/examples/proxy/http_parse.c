/* What request and response heads have in common: lines, fields and Connection. See http.h. */
#include <string.h>
#include <strings.h>

#include "http.h"

/* Each option is compared with each field; nobody sends more than three. */
#define CONNECTION_OPTION_LIMIT 16

enum http_scan_result http_scan(struct http_scan *scan, const char *data, size_t used)
{
    while (scan->next < used) {
        const char *found = memchr(data + scan->next, '\n', used - scan->next);
        if (found == NULL) {
            scan->next = used;
            break;
        }
        size_t end = (size_t)(found - data);
        if (end == scan->line || data[end - 1] != '\r') {
            return HTTP_SCAN_MALFORMED;
        }
        if (scan->line == 0 && end > HTTP_LINE_LIMIT) {
            return HTTP_SCAN_LONG_LINE;
        }
        bool empty = end == scan->line + 1;
        scan->line = end + 1;
        scan->next = end + 1;
        if (empty) {
            return scan->next > HTTP_HEAD_LIMIT ? HTTP_SCAN_LONG : HTTP_SCAN_DONE;
        }
    }
    if (scan->line == 0 && used > HTTP_LINE_LIMIT) {
        return HTTP_SCAN_LONG_LINE;
    }
    return used > HTTP_HEAD_LIMIT ? HTTP_SCAN_LONG : HTTP_SCAN_MORE;
}

bool http_is_token(char byte)
{
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    bool digit = byte >= '0' && byte <= '9';
    return letter || digit || (byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

/* Characters of field values: no control but the tab, so no NUL, CR or LF. */
static bool is_value(char byte)
{
    unsigned char value = (unsigned char)byte;
    return value == '\t' || (value >= ' ' && value != 0x7f);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

bool http_text_is(const char *data, struct http_text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(data + text.start, word, text.length) == 0;
}

bool http_parse_length(const char *data, struct http_text text, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.length; i++) {
        char byte = data[text.start + i];
        if (byte < '0' || byte > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(byte - '0');
    }
    *out = value;
    return text.length >= 1 && text.length <= 18;
}

static struct http_text text_between(size_t start, size_t end)
{
    return (struct http_text){(uint16_t)start, (uint16_t)(end - start)};
}

static struct http_text trimmed(const char *data, size_t start, size_t end)
{
    while (start < end && is_blank(data[start])) {
        start++;
    }
    while (end > start && is_blank(data[end - 1])) {
        end--;
    }
    return text_between(start, end);
}

static enum http_name classify(const char *data, struct http_text name)
{
    static const struct {
        const char *name;
        enum http_name id;
    } known[] = {
        {"connection", HTTP_CONNECTION},
        {"content-length", HTTP_CONTENT_LENGTH},
        {"endpoint-load-metrics", HTTP_ENDPOINT_LOAD_METRICS},
        {"endpoint-load-metrics-bin", HTTP_ENDPOINT_LOAD_METRICS_BIN},
        {"expect", HTTP_EXPECT},
        {"host", HTTP_HOST},
        {"keep-alive", HTTP_KEEP_ALIVE},
        {"max-forwards", HTTP_MAX_FORWARDS},
        {"proxy-authenticate", HTTP_PROXY_AUTHENTICATE},
        {"proxy-authorization", HTTP_PROXY_AUTHORIZATION},
        {"proxy-connection", HTTP_PROXY_CONNECTION},
        {"te", HTTP_TE},
        {"trailer", HTTP_TRAILER},
        {"transfer-encoding", HTTP_TRANSFER_ENCODING},
        {"upgrade", HTTP_UPGRADE},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (http_text_is(data, name, known[i].name)) {
            return known[i].id;
        }
    }
    return HTTP_OTHER;
}

/* Reads the line [at, end) as a field. */
static struct http_refusal parse_field(const char *data, size_t at, size_t end,
                                       struct http_head *head)
{
    if (is_blank(data[at])) {
        return HTTP_REFUSED(400, "a folded header line");
    }
    size_t colon = at;
    while (colon < end && http_is_token(data[colon])) {
        colon++;
    }
    if (colon == at || colon == end || data[colon] != ':') {
        return HTTP_REFUSED(400, "a malformed header name");
    }
    for (size_t i = colon + 1; i < end; i++) {
        if (!is_value(data[i])) {
            return HTTP_REFUSED(400, "a control character in a header");
        }
    }
    if (head->field_count == HTTP_FIELD_LIMIT) {
        return HTTP_REFUSED(431, "too many header lines");
    }
    struct http_field *field = &head->fields[head->field_count++];
    field->name = text_between(at, colon);
    field->value = trimmed(data, colon + 1, end);
    field->id = (uint8_t)classify(data, field->name);
    field->dropped = false;
    return HTTP_ACCEPTED;
}

/* One option of Connection: "close", or the name of a field that ends at this hop. The fields that
 * say where a message goes and where it ends may not be named: dropping one would change it. */
static struct http_refusal take_option(const char *data, struct http_text option,
                                       struct http_head *head)
{
    enum http_name id = classify(data, option);
    if (id == HTTP_HOST || id == HTTP_CONTENT_LENGTH || id == HTTP_TRANSFER_ENCODING) {
        return HTTP_REFUSED(400, "Connection names an end-to-end header");
    }
    head->close |= http_text_is(data, option, "close");
    for (unsigned i = 0; i < head->field_count; i++) {
        struct http_text name = head->fields[i].name;
        if (name.length == option.length &&
            strncasecmp(data + name.start, data + option.start, name.length) == 0) {
            head->fields[i].dropped = true;
        }
    }
    return HTTP_ACCEPTED;
}

/* All options of one Connection field; *budget is what remains of the limit. */
static struct http_refusal take_options(const char *data, struct http_text value, unsigned *budget,
                                        struct http_head *head)
{
    size_t at = value.start;
    size_t end = at + value.length;
    while (at < end) {
        const char *comma = memchr(data + at, ',', end - at);
        size_t stop = comma == NULL ? end : (size_t)(comma - data);
        if ((*budget)-- == 0) {
            return HTTP_REFUSED(400, "too many Connection options");
        }
        struct http_refusal refusal = take_option(data, trimmed(data, at, stop), head);
        if (refusal.status != 0) {
            return refusal;
        }
        at = stop + 1;
    }
    return HTTP_ACCEPTED;
}

struct http_refusal http_parse_fields(const char *data, size_t at, struct http_head *head)
{
    struct http_refusal refusal = HTTP_ACCEPTED;
    /* The scan found CRLF at every line's end, and the last line empty. */
    size_t last = head->length - 2;
    while (refusal.status == 0 && at < last) {
        const char *line_end = memchr(data + at, '\n', last - at);
        size_t end = (size_t)(line_end - data) - 1;
        refusal = parse_field(data, at, end, head);
        at = end + 2;
    }
    unsigned budget = CONNECTION_OPTION_LIMIT;
    for (unsigned i = 0; refusal.status == 0 && i < head->field_count; i++) {
        if (head->fields[i].id == HTTP_CONNECTION) {
            refusal = take_options(data, head->fields[i].value, &budget, head);
        }
    }
    return refusal;
}
