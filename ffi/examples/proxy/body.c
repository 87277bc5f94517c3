/* Moving message bodies between framings; see body.h. */
#include "body.h"

/* As for trailers: no limit but this one. */
#define SIZE_LINE_LIMIT 256
/* Fifteen hexadecimal digits cannot overflow 64 bits, and no body is an exbibyte long. */
#define SIZE_DIGITS 15

/* What a chunk adds around its payload, and the end of a chunked body. */
#define CHUNK_OVERHEAD 16
#define LAST_CHUNK "0\r\n\r\n"
#define LAST_CHUNK_LENGTH 5

void body_begin(struct body *body, enum framing from, enum framing to, uint64_t length,
                uint64_t allowance)
{
    *body = (struct body){
        .from = from,
        .to = to,
        .remaining = from == FRAMING_LENGTH ? length : 0,
        .allowance = allowance,
        .complete = from == FRAMING_NONE,
    };
}

void body_keep_trailers(struct body *body, struct trailers *trailers)
{
    trailers->length = 0;
    body->trailers = trailers;
}

/* Passes on up to `limit` payload bytes; returns how many. */
static size_t move_payload(struct body *body, struct buffer *in, struct buffer *out, uint64_t limit)
{
    size_t count = buffer_used(in);
    size_t overhead = body->to == FRAMING_CHUNKED ? CHUNK_OVERHEAD : 0;
    size_t room = buffer_room(out) > overhead ? buffer_room(out) - overhead : 0;
    count = count < room ? count : room;
    count = count < limit ? count : (size_t)limit;
    if (count == 0) {
        return 0;
    }
    if (body->to == FRAMING_CHUNKED) {
        buffer_print(out, "%zx\r\n", count);
    }
    buffer_append(out, buffer_data(in), count);
    if (body->to == FRAMING_CHUNKED) {
        buffer_append(out, "\r\n", 2);
    }
    buffer_consume(in, count);
    body->allowance -= count;
    return count;
}

/* The size so far and one more digit of it; false for a byte that is none. */
static bool add_digit(struct body *body, char byte)
{
    unsigned value;
    if (byte >= '0' && byte <= '9') {
        value = (unsigned)(byte - '0');
    } else if ((byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F')) {
        value = (unsigned)((byte | 0x20) - 'a') + 10;
    } else {
        return false;
    }
    body->remaining = body->remaining << 4 | value;
    body->digits++;
    return body->digits <= SIZE_DIGITS;
}

static bool is_text(char byte)
{
    unsigned char value = (unsigned char)byte;
    return value == '\t' || (value >= ' ' && value != 0x7f);
}

/* Goes to `next` when the byte is the expected one. */
static bool expect(struct body *body, char byte, char expected, enum chunk_state next)
{
    body->state = next;
    return byte == expected;
}

static bool size_byte(struct body *body, char byte)
{
    if (add_digit(body, byte)) {
        return true;
    }
    if (body->digits == 0 || body->digits > SIZE_DIGITS) {
        return false;
    }
    body->state = byte == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_END;
    return byte == ';' || byte == '\r';
}

static bool size_end_byte(struct body *body, char byte)
{
    body->framing_bytes = 0;
    body->digits = 0;
    return expect(body, byte, '\n', body->remaining > 0 ? CHUNK_DATA : CHUNK_TRAILER_START);
}

/* A CR must end its line: anywhere else one parser takes it for a line end and the next one not. */
static bool line_byte(struct body *body, char byte, enum chunk_state at_cr)
{
    if (byte == '\r') {
        body->state = at_cr;
        return true;
    }
    return is_text(byte);
}

/* Reads one byte of framing. False if it cannot stand there. */
static bool framing_byte(struct body *body, char byte)
{
    switch (body->state) {
    case CHUNK_SIZE:
        return size_byte(body, byte);
    case CHUNK_EXTENSION:
        return line_byte(body, byte, CHUNK_SIZE_END);
    case CHUNK_SIZE_END:
        return size_end_byte(body, byte);
    case CHUNK_DATA_CR:
        return expect(body, byte, '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        return expect(body, byte, '\n', CHUNK_SIZE);
    case CHUNK_TRAILER_START:
        body->state = CHUNK_TRAILER;
        return line_byte(body, byte, CHUNK_LAST_LF);
    case CHUNK_TRAILER:
        return line_byte(body, byte, CHUNK_TRAILER_LF);
    case CHUNK_TRAILER_LF:
        return expect(body, byte, '\n', CHUNK_TRAILER_START);
    case CHUNK_LAST_LF:
        body->complete = byte == '\n';
        return body->complete;
    case CHUNK_DATA:
        break;
    }
    return false;
}

/* Reads framing up to the next payload, or to the end of the body. */
static bool read_framing(struct body *body, struct buffer *in)
{
    const char *data = buffer_data(in);
    size_t used = buffer_used(in);
    size_t read = 0;
    bool good = true;
    while (good && read < used && body->state != CHUNK_DATA && !body->complete) {
        bool trailing = body->state >= CHUNK_TRAILER_START;
        good = framing_byte(body, data[read]) &&
               body->framing_bytes < (trailing ? TRAILER_LIMIT : SIZE_LINE_LIMIT);
        if (good && trailing && body->trailers != NULL) {
            body->trailers->bytes[body->trailers->length++] = data[read];
        }
        body->framing_bytes++;
        read++;
    }
    buffer_consume(in, read);
    return good;
}

static enum body_result move_chunked(struct body *body, struct buffer *in, struct buffer *out)
{
    for (;;) {
        /* The end is read only when its counterpart can be written: `complete` means both. */
        if (body->to == FRAMING_CHUNKED && buffer_room(out) < LAST_CHUNK_LENGTH) {
            return BODY_MORE;
        }
        if (!read_framing(body, in)) {
            return BODY_MALFORMED;
        }
        if (body->complete) {
            return BODY_DONE;
        }
        if (body->state != CHUNK_DATA) {
            return BODY_MORE;
        }
        if (body->remaining > body->allowance) {
            return BODY_TOO_LARGE;
        }
        body->remaining -= move_payload(body, in, out, body->remaining);
        if (body->remaining > 0) {
            return BODY_MORE;
        }
        body->state = CHUNK_DATA_CR;
    }
}

static enum body_result move_length(struct body *body, struct buffer *in, struct buffer *out)
{
    if (body->remaining > body->allowance) {
        return BODY_TOO_LARGE;
    }
    body->remaining -= move_payload(body, in, out, body->remaining);
    body->complete = body->remaining == 0;
    return body->complete ? BODY_DONE : BODY_MORE;
}

static enum body_result move_until_close(struct body *body, struct buffer *in, struct buffer *out,
                                         bool ended)
{
    if (body->allowance == 0 && buffer_used(in) > 0) {
        return BODY_TOO_LARGE;
    }
    move_payload(body, in, out, body->allowance);
    bool room = body->to != FRAMING_CHUNKED || buffer_room(out) >= LAST_CHUNK_LENGTH;
    body->complete = ended && buffer_used(in) == 0 && room;
    return body->complete ? BODY_DONE : BODY_MORE;
}

static enum body_result move_any(struct body *body, struct buffer *in, struct buffer *out,
                                 bool ended)
{
    switch (body->from) {
    case FRAMING_LENGTH:
        return move_length(body, in, out);
    case FRAMING_CHUNKED:
        return move_chunked(body, in, out);
    case FRAMING_UNTIL_CLOSE:
        return move_until_close(body, in, out, ended);
    case FRAMING_NONE:
        break;
    }
    return BODY_DONE;
}

enum body_result body_move(struct body *body, struct buffer *in, struct buffer *out, bool ended,
                           bool *moved)
{
    if (body->complete) {
        return BODY_DONE;
    }
    size_t before = buffer_used(in);
    enum body_result result = move_any(body, in, out, ended);
    if (result == BODY_DONE && body->to == FRAMING_CHUNKED) {
        buffer_append(out, LAST_CHUNK, LAST_CHUNK_LENGTH);
    }
    *moved |= buffer_used(in) != before || result != BODY_MORE;
    return result;
}
