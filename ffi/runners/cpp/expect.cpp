// Whether a result is as expected.

#include <algorithm>
#include <cmath>

#include "json.hpp"

namespace replay {

namespace {

// An integer with more than 64 bits, so that the difference of two fits.
__extension__ typedef __int128 Wide;

// A number that is an integer below 2^64 without its sign, also one that is written as a float.
std::optional<Wide> whole_of(const Json& number) {
    if (number.is_number_unsigned()) {
        return static_cast<Wide>(number.get<std::uint64_t>());
    }
    if (number.is_number_integer()) {
        return static_cast<Wide>(number.get<std::int64_t>());
    }
    const double value = number.get<double>();
    if (std::trunc(value) != value || std::fabs(value) >= 0x1p64) {
        return std::nullopt;
    }
    return static_cast<Wide>(value);
}

bool is_same_number(const Json& left, const Json& right) {
    const auto a = whole_of(left), b = whole_of(right);
    if (a || b) {
        return a == b;
    }
    return left.get<double>() == right.get<double>();
}

// Bounds belong to the interval. Integers are compared as such, because a float does not tell the large
// ones apart.
bool is_near(const Json& center, const Json& within, const Json& got) {
    if (!got.is_number()) {
        return false;
    }
    const auto a = whole_of(center), b = whole_of(got), distance = whole_of(within);
    if (a && b && distance) {
        return (*a < *b ? *b - *a : *a - *b) <= *distance;
    }
    return std::fabs(got.get<double>() - center.get<double>()) <= within.get<double>();
}

bool is_object_expected(const Json& expected, const Json& got) {
    const auto has = [&](const char* key, auto is) {
        return expected.contains(key) && is(expected[key]);
    };
    const auto is_list = [](const Json& value) { return value.is_array(); };
    const auto is_number = [](const Json& value) { return value.is_number(); };
    if (expected.size() == 1 && has("one_of", is_list)) {
        const Json& choices = expected["one_of"];
        return std::any_of(choices.begin(), choices.end(),
                           [&](const Json& choice) { return is_expected(choice, got); });
    }
    if (expected.size() == 2 && has("approx", is_number) && has("within", is_number)) {
        return is_near(expected["approx"], expected["within"], got);
    }
    const auto matches = [&](const auto& member) {
        return got.contains(member.key()) && is_expected(member.value(), got[member.key()]);
    };
    const auto members = expected.items();
    return got.is_object() && std::all_of(members.begin(), members.end(), matches);
}

}  // namespace

bool is_expected(const Json& expected, const Json& got) {
    if (expected.is_string() && expected == "*") {
        return true;
    }
    if (expected.is_object()) {
        return is_object_expected(expected, got);
    }
    if (expected.is_array()) {
        return got.is_array() && std::equal(expected.begin(), expected.end(), got.begin(),
                                            got.end(), is_expected);
    }
    if (expected.is_number()) {
        return got.is_number() && is_same_number(expected, got);
    }
    return expected.type() == got.type() && expected == got;
}

}  // namespace replay
