#include "expect.h"

#include <math.h>

static bool is_number(const json *value) {
    return value != NULL && (value->kind == JSON_UNSIGNED || value->kind == JSON_NEGATIVE ||
                             value->kind == JSON_FLOAT);
}

static double float_of(const json *number) {
    switch (number->kind) {
    case JSON_UNSIGNED:
        return (double)number->unsigned_integer;
    case JSON_NEGATIVE:
        return (double)number->negative;
    default:
        return number->number;
    }
}

/* An integer with more than 64 bits, so that the difference of two fits. */
__extension__ typedef __int128 wide;

/* Whether a number is an integer below 2^64 without its sign, also one that is written as a float. */
static bool is_whole(const json *number, wide *whole) {
    switch (number->kind) {
    case JSON_UNSIGNED:
        *whole = (wide)number->unsigned_integer;
        return true;
    case JSON_NEGATIVE:
        *whole = (wide)number->negative;
        return true;
    default:
        if (number->number != trunc(number->number) || fabs(number->number) >= 0x1p64) {
            return false;
        }
        *whole = (wide)number->number;
        return true;
    }
}

static bool is_same_number(const json *left, const json *right) {
    wide a = 0, b = 0;
    bool left_is_whole = is_whole(left, &a), right_is_whole = is_whole(right, &b);
    if (left_is_whole != right_is_whole) {
        return false;
    }
    return left_is_whole ? a == b : float_of(left) == float_of(right);
}

/* Bounds belong to the interval. Integers are compared as such, because a float does not tell the
 * large ones apart. */
static bool is_near(const json *center, const json *within, const json *got) {
    wide a = 0, b = 0, distance = 0;
    if (!is_number(got)) {
        return false;
    }
    if (is_whole(center, &a) && is_whole(got, &b) && is_whole(within, &distance)) {
        return (a < b ? b - a : a - b) <= distance;
    }
    return fabs(float_of(got) - float_of(center)) <= float_of(within);
}

static bool is_one_of(const json *choices, const json *got) {
    for (size_t index = 0; index < choices->count; index++) {
        if (is_expected(&choices->members[index].value, got)) {
            return true;
        }
    }
    return false;
}

static bool has_all(const json *expected, const json *got) {
    for (size_t index = 0; index < expected->count; index++) {
        const json *value = json_get(got, expected->members[index].key);
        if (value == NULL || !is_expected(&expected->members[index].value, value)) {
            return false;
        }
    }
    return true;
}

static bool is_object_expected(const json *expected, const json *got) {
    const json *choices = json_get(expected, text_of("one_of"));
    if (expected->count == 1 && choices != NULL && choices->kind == JSON_LIST) {
        return is_one_of(choices, got);
    }
    const json *center = json_get(expected, text_of("approx")), *within = json_get(expected, text_of("within"));
    if (expected->count == 2 && is_number(center) && is_number(within)) {
        return is_near(center, within, got);
    }
    return got->kind == JSON_OBJECT && has_all(expected, got);
}

static bool is_list_expected(const json *expected, const json *got) {
    if (got->kind != JSON_LIST || got->count != expected->count) {
        return false;
    }
    for (size_t index = 0; index < expected->count; index++) {
        if (!is_expected(&expected->members[index].value, &got->members[index].value)) {
            return false;
        }
    }
    return true;
}

bool is_expected(const json *expected, const json *got) {
    switch (expected->kind) {
    case JSON_OBJECT:
        return is_object_expected(expected, got);
    case JSON_LIST:
        return is_list_expected(expected, got);
    case JSON_STRING:
        return same_text(expected->string, text_of("*")) ||
               (got->kind == JSON_STRING && same_text(expected->string, got->string));
    case JSON_NULL:
        return got->kind == JSON_NULL;
    case JSON_BOOLEAN:
        return got->kind == JSON_BOOLEAN && got->boolean == expected->boolean;
    default:
        return is_number(got) && is_same_number(expected, got);
    }
}
