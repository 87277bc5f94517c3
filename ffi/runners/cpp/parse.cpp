// Reading JSON.

#include <cmath>
#include <vector>

#include "json.hpp"

namespace replay {

namespace {

// As deep as the other runners read.
constexpr std::size_t MAX_DEPTH = 127;

// Puts the pieces together that the parser finds. What it is given and does not like ends the parsing.
class Builder final : public nlohmann::json_sax<Json> {
public:
    Json root;
    std::string problem;

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    // Only negative numbers come this way, and minus zero, which is a float.
    bool number_integer(std::int64_t value) override {
        return value == 0 ? put(-0.0) : put(value);
    }
    bool number_unsigned(std::uint64_t value) override { return put(value); }
    bool number_float(double value, const std::string&) override { return put(value); }
    bool string(std::string& value) override { return put(std::move(value)); }
    bool binary(Json::binary_t&) override { return false; }

    bool start_object(std::size_t) override { return start(Json::object()); }
    bool start_array(std::size_t) override { return start(Json::array()); }
    bool end_object() override { return end(); }
    bool end_array() override { return end(); }

    bool key(std::string& name) override {
        if (open_.back()->contains(name)) {
            return refuse("the key " + in_quotes(name) + " appears twice");
        }
        key_ = std::move(name);
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
        return refuse(error.what());
    }

private:
    bool refuse(std::string why) {
        problem = std::move(why);
        return false;
    }

    // Puts a value where it belongs, and gives its place.
    Json& place(Json value) {
        if (open_.empty()) {
            return root = std::move(value);
        }
        if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
            return open_.back()->back();
        }
        return (*open_.back())[key_] = std::move(value);
    }

    bool put(Json value) {
        place(std::move(value));
        return true;
    }

    bool start(Json container) {
        if (open_.size() == MAX_DEPTH) {
            return refuse("recursion limit exceeded");
        }
        open_.push_back(&place(std::move(container)));
        return true;
    }

    bool end() {
        open_.pop_back();
        return true;
    }

    std::vector<Json*> open_;
    std::string key_;
};

// Digits only: no sign, no spaces, no leading zeros.
std::optional<std::uint64_t> decimal(const std::string& text) {
    const bool is_padded = text.size() > 1 && text.front() == '0';
    std::uint64_t sum = 0;
    for (const char letter : text) {
        const auto digit = static_cast<std::uint64_t>(letter - '0');
        if (digit > 9 || sum > (UINT64_MAX - digit) / 10) {
            return std::nullopt;
        }
        sum = 10 * sum + digit;
    }
    return text.empty() || is_padded ? std::nullopt : std::optional(sum);
}

}  // namespace

Json parse(std::string_view text) {
    Builder builder;
    if (!Json::sax_parse(text, &builder)) {
        throw Malformed(builder.problem);
    }
    return std::move(builder.root);
}

std::optional<std::uint64_t> integer_of(const Json& value) {
    if (value.is_string()) {
        return decimal(value.get_ref<const std::string&>());
    }
    return value.is_number_unsigned() ? std::optional(value.get<std::uint64_t>()) : std::nullopt;
}

}  // namespace replay
