#include "keys.hpp"

#include <algorithm>

namespace replay {

void refuse_type(const std::string& path, const char* expected, const Json& got) {
    throw Malformed(path + ": expected " + expected + ", got " + text_of(got));
}

std::size_t word_at(const std::string& path, const Json& value,
                    std::initializer_list<const char*> words) {
    if (!value.is_string()) {
        refuse_type(path, "a string", value);
    }
    const auto& text = value.get_ref<const std::string&>();
    const auto* found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) {
        std::string known;
        for (const char* word : words) {
            known += (known.empty() ? "`" : ", `") + std::string(word) + "`";
        }
        throw Malformed(path + ": unknown variant `" + text + "`, expected one of " + known);
    }
    return static_cast<std::size_t>(found - words.begin());
}

Keys::Keys(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) {
        refuse_type(path_, "an object", object);
    }
}

const Json* Keys::find(const char* name) {
    const auto found = object_.find(name);
    used_.insert(name);
    return found == object_.end() ? nullptr : &*found;
}

const Json* Keys::object(const char* name) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_object()) {
        refuse_type(path_of(name), "an object", *value);
    }
    return value;
}

const Json* Keys::list(const char* name) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_array()) {
        refuse_type(path_of(name), "a list", *value);
    }
    return value;
}

std::optional<std::string> Keys::text(const char* name) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_string()) {
        refuse_type(path_of(name), "a string", *value);
    }
    return value != nullptr ? std::optional(value->get<std::string>()) : std::nullopt;
}

std::optional<std::vector<std::string>> Keys::texts(const char* name) {
    const Json* values = list(name);
    if (values == nullptr) {
        return std::nullopt;
    }
    std::vector<std::string> texts;
    for (const Json& value : *values) {
        if (!value.is_string()) {
            refuse_type(path_of(name) + "[" + std::to_string(texts.size()) + "]", "a string", value);
        }
        texts.push_back(value.get<std::string>());
    }
    return texts;
}

namespace {

std::uint64_t integer_at(const std::string& path, const Json& value) {
    const auto integer = integer_of(value);
    if (!integer) {
        refuse_type(path, "an integer from 0 to 18446744073709551615", value);
    }
    return *integer;
}

}  // namespace

std::optional<std::uint64_t> Keys::integer(const char* name) {
    const Json* value = find(name);
    return value != nullptr ? std::optional(integer_at(path_of(name), *value)) : std::nullopt;
}

std::optional<std::vector<std::uint64_t>> Keys::integers(const char* name) {
    const Json* values = list(name);
    if (values == nullptr) {
        return std::nullopt;
    }
    std::vector<std::uint64_t> integers;
    for (const Json& value : *values) {
        const std::string path = path_of(name) + "[" + std::to_string(integers.size()) + "]";
        integers.push_back(integer_at(path, value));
    }
    return integers;
}

bool Keys::flag(const char* name) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_boolean()) {
        refuse_type(path_of(name), "true or false", *value);
    }
    return value != nullptr && value->get<bool>();
}

std::optional<std::size_t> Keys::word(const char* name, std::initializer_list<const char*> words) {
    const Json* value = find(name);
    return value != nullptr ? std::optional(word_at(path_of(name), *value, words)) : std::nullopt;
}

void Keys::end() const {
    for (const auto& member : object_.items()) {
        if (used_.count(member.key()) == 0) {
            throw Malformed(path_of(member.key()) + ": unknown field `" + member.key() + "`");
        }
    }
}

}  // namespace replay
