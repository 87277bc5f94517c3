// JSON values: read by nlohmann's library, strictly and without loss, and written in the form that results
// of replays have.

#ifndef REPLAY_JSON_HPP
#define REPLAY_JSON_HPP

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace replay {

// Objects keep the order of their keys.
using Json = nlohmann::ordered_json;

// A line that is no operation.
struct Malformed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Reads a text. Throws `Malformed` if it is not JSON, an object has a key twice, or it is nested too
// deeply.
Json parse(std::string_view text);

// Writes a value without spaces, its floats in the shortest form that reads back equal, always with a
// point or an exponent: an exponent below 1e-5 and from 1e16 on.
void write(std::string& out, const Json& value);

// The same as a text of its own.
std::string text_of(const Json& value);

// A string in its quotes.
std::string in_quotes(std::string_view text);

// An integer of 64 bits, also as a decimal string; nothing if the value is none.
std::optional<std::uint64_t> integer_of(const Json& value);

// Whether a result is as expected. An object says something about the keys that it has, numbers are
// compared by value, and three forms stand for more than one value: `"*"`, `{"approx":X,"within":D}` and
// `{"one_of":[…]}`.
bool is_expected(const Json& expected, const Json& got);

}  // namespace replay

#endif
