// Writing JSON in the form of results.

#include <charconv>
#include <cmath>
#include <cstdio>

#include "json.hpp"

namespace replay {

namespace {

// The fewest digits that read back as the number, without a point, and the exponent of the first.
struct Decimal {
    explicit Decimal(double number) {
        char text[40];
        const auto end =
            std::to_chars(text, text + sizeof text, number, std::chars_format::scientific).ptr;
        const std::string_view written(text, static_cast<std::size_t>(end - text));
        const std::size_t mark = written.find('e');
        for (const char letter : written.substr(0, mark)) {
            if (letter != '.') {
                digits += letter;
            }
        }
        exponent = std::stoi(std::string(written.substr(mark + 1)));
    }

    std::string digits;
    int exponent = 0;
};

std::string zeros(int count) { return std::string(static_cast<std::size_t>(count), '0'); }

void write_float(std::string& out, double number) {
    if (std::signbit(number)) {
        out += '-';
    }
    number = std::fabs(number);
    const Decimal decimal(number);
    const std::string& digits = decimal.digits;
    const int exponent = decimal.exponent, count = static_cast<int>(digits.size());
    if (number > 0 && (number < 1e-5 || number >= 1e16)) {
        out += digits.substr(0, 1) + (count > 1 ? "." : "") + digits.substr(1) + "e" +
               std::to_string(exponent);
    } else if (exponent < 0) {
        out += "0." + zeros(-exponent - 1) + digits;
    } else if (count <= exponent + 1) {
        out += digits + zeros(exponent + 1 - count) + ".0";
    } else {
        const auto point = static_cast<std::size_t>(exponent + 1);
        out += digits.substr(0, point) + "." + digits.substr(point);
    }
}

}  // namespace

std::string in_quotes(std::string_view text) {
    constexpr std::string_view escaped = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    std::string out = "\"";
    for (const char byte : text) {
        if (const std::size_t known = escaped.find(byte); known != escaped.npos) {
            out += {'\\', letters[known]};
        } else if (static_cast<unsigned char>(byte) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
            out += escape;
        } else {
            out += byte;
        }
    }
    return out += '"';
}

void write(std::string& out, const Json& value) {
    switch (value.type()) {
    case Json::value_t::null:
        out += "null";
        break;
    case Json::value_t::boolean:
        out += value.get<bool>() ? "true" : "false";
        break;
    case Json::value_t::number_unsigned:
        out += std::to_string(value.get<std::uint64_t>());
        break;
    case Json::value_t::number_integer:
        out += std::to_string(value.get<std::int64_t>());
        break;
    case Json::value_t::number_float:
        write_float(out, value.get<double>());
        break;
    case Json::value_t::string:
        out += in_quotes(value.get_ref<const std::string&>());
        break;
    default: {
        const bool has_keys = value.is_object();
        const char* separator = has_keys ? "{" : "[";
        for (const auto& [key, item] : value.items()) {
            out += separator + (has_keys ? in_quotes(key) + ":" : std::string());
            write(out, item);
            separator = ",";
        }
        out += value.empty() ? separator : "";
        out += has_keys ? "}" : "]";
    }
    }
}

std::string text_of(const Json& value) {
    std::string out;
    write(out, value);
    return out;
}

}  // namespace replay
