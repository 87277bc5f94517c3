#include "values.hpp"

#include "cluster.hpp"

namespace replay {

std::vector<plimsoll::RuntimeEntry> runtime_values(const std::string& field, const Json* values) {
    std::vector<plimsoll::RuntimeEntry> read;
    if (values == nullptr) {
        return read;
    }
    for (auto member = values->begin(); member != values->end(); ++member) {
        const std::string& key = member.key();
        const Json& value = member.value();
        if (value.is_null()) {
            read.push_back(plimsoll::RuntimeEntry::removed(key));
        } else if (value.is_boolean()) {
            read.emplace_back(key, value.get<bool>());
        } else if (const auto integer = integer_of(value)) {
            read.emplace_back(key, *integer);
        } else if (value.is_number()) {
            read.emplace_back(key, value.get<double>());
        } else {
            throw Refused::invalid(field + "." + key,
                                   "expected an integer from 0 to 18446744073709551615, got " +
                                       text_of(value));
        }
    }
    return read;
}

namespace {

std::optional<HeaderValue> header_value(const Json& value) {
    if (value.is_string()) {
        return HeaderValue{value.get<std::string>(), false};
    }
    if (value.is_object() && value.size() == 1 && value.contains("base64") &&
        value["base64"].is_string()) {
        return HeaderValue{value["base64"].get<std::string>(), true};
    }
    return std::nullopt;
}

int sextet_of(char letter) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t found = alphabet.find(letter);
    return found == alphabet.npos ? -1 : static_cast<int>(found);
}

// The bytes of base64 with its padding, and without bits that stand for nothing.
std::optional<std::string> decode(std::string_view text) {
    const std::size_t mark = text.find('=');
    const std::string_view digits = text.substr(0, mark);
    const std::size_t padding = text.size() - digits.size();
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char letter : digits) {
        const int sextet = sextet_of(letter);
        if (sextet < 0) {
            return std::nullopt;
        }
        bits = bits << 6 | static_cast<std::uint32_t>(sextet);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 0xff);
        }
    }
    const bool is_padded = text.size() % 4 == 0 && padding <= 2 &&
                           text.find_first_not_of('=', digits.size()) == text.npos;
    const bool has_rest = (bits & ((1U << count) - 1)) != 0;
    return is_padded && !has_rest ? std::optional(bytes) : std::nullopt;
}

}  // namespace

HeaderValues read_headers(const std::string& path, const Json* headers) {
    HeaderValues read;
    if (headers == nullptr) {
        return read;
    }
    for (const auto& member : headers->items()) {
        auto& values = read[member.key()];
        const Json& given = member.value();
        for (const Json& value : given.is_array() ? given : Json::array({given})) {
            const auto known = header_value(value);
            if (!known) {
                throw Malformed(path + "." + member.key() +
                                ": expected a header's value or a list of them");
            }
            values.push_back(*known);
        }
    }
    return read;
}

Headers decode(const std::string& field, const HeaderValues& headers) {
    Headers decoded;
    for (const auto& [name, values] : headers) {
        for (const HeaderValue& value : values) {
            const auto bytes = value.is_base64 ? decode(value.text) : std::optional(value.text);
            if (!bytes) {
                throw Refused::invalid(field + "." + name, "this is not base64");
            }
            decoded.emplace_back(name, *bytes);
        }
    }
    return decoded;
}

std::vector<plimsoll::Header> lent(const Headers& headers) {
    std::vector<plimsoll::Header> lent;
    for (const auto& [name, value] : headers) {
        lent.emplace_back(name, value);
    }
    return lent;
}

}  // namespace replay
