/* Writing JSON in the form of results. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

void json_write_string(buffer *out, plimsoll_str text) {
    static const char escaped[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    buffer_text(out, "\"");
    for (size_t index = 0; index < text.len; index++) {
        char byte = text.data[index];
        const char *known = byte != '\0' ? strchr(escaped, byte) : NULL;
        if (known != NULL) {
            buffer_format(out, "\\%c", letters[known - escaped]);
        } else if ((unsigned char)byte < 0x20) {
            buffer_format(out, "\\u%04x", (unsigned)byte);
        } else {
            buffer_add(out, &byte, 1);
        }
    }
    buffer_text(out, "\"");
}

/* The fewest digits that read back as the number, without a point, and the exponent of the first. */
static int shortest(double number, char digits[32]) {
    char text[40];
    int precision = 0;
    do {
        snprintf(text, sizeof text, "%.*e", precision++, number);
    } while (strtod(text, NULL) != number && precision < 17);
    char *exponent = strchr(text, 'e');
    *exponent = '\0';
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '.') {
            digits[count++] = *at;
        }
    }
    digits[count] = '\0';
    return atoi(exponent + 1);
}

static void write_zeros(buffer *out, int count) {
    for (int zero = 0; zero < count; zero++) {
        buffer_text(out, "0");
    }
}

static void write_float(buffer *out, double number) {
    char digits[32];
    if (signbit(number)) {
        buffer_text(out, "-");
    }
    number = fabs(number);
    int exponent = number > 0 ? shortest(number, digits) : (strcpy(digits, "0"), 0);
    int count = (int)strlen(digits);
    if (number > 0 && (number < 1e-5 || number >= 1e16)) {
        buffer_format(out, count > 1 ? "%c.%se%d" : "%c%se%d", digits[0], digits + 1, exponent);
    } else if (exponent < 0) {
        buffer_text(out, "0.");
        write_zeros(out, -exponent - 1);
        buffer_text(out, digits);
    } else if (count <= exponent + 1) {
        buffer_text(out, digits);
        write_zeros(out, exponent + 1 - count);
        buffer_text(out, ".0");
    } else {
        buffer_format(out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

static void write_members(buffer *out, const json *value) {
    bool has_keys = value->kind == JSON_OBJECT;
    buffer_text(out, has_keys ? "{" : "[");
    for (size_t index = 0; index < value->count; index++) {
        if (index > 0) {
            buffer_text(out, ",");
        }
        if (has_keys) {
            json_write_string(out, value->members[index].key);
            buffer_text(out, ":");
        }
        json_write(out, &value->members[index].value);
    }
    buffer_text(out, has_keys ? "}" : "]");
}

void json_write(buffer *out, const json *value) {
    switch (value->kind) {
    case JSON_NULL:
        buffer_text(out, "null");
        break;
    case JSON_BOOLEAN:
        buffer_text(out, value->boolean ? "true" : "false");
        break;
    case JSON_UNSIGNED:
        buffer_format(out, "%" PRIu64, value->unsigned_integer);
        break;
    case JSON_NEGATIVE:
        buffer_format(out, "%" PRId64, value->negative);
        break;
    case JSON_FLOAT:
        write_float(out, value->number);
        break;
    case JSON_STRING:
        json_write_string(out, value->string);
        break;
    case JSON_LIST:
    case JSON_OBJECT:
        write_members(out, value);
        break;
    }
}

plimsoll_str json_text(arena *memory, const json *value) {
    buffer text = {NULL, 0, 0};
    json_write(&text, value);
    plimsoll_str copy = arena_copy(memory, text.data, text.length);
    buffer_free(&text);
    return copy;
}
