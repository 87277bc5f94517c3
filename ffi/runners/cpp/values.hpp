// Values that come from outside of the operation's own form: runtime keys, and headers.

#ifndef REPLAY_VALUES_HPP
#define REPLAY_VALUES_HPP

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"
#include "plimsoll/plimsoll.hpp"

namespace replay {

// Runtime values: numbers, true or false, and null, which removes one. They refer to the keys of
// `values`, which may be null. Throws `Refused`.
std::vector<plimsoll::RuntimeEntry> runtime_values(const std::string& field, const Json* values);

// A header's value, and whether it is base64.
struct HeaderValue {
    std::string text;
    bool is_base64;
};

// Headers by name, as an operation has them.
using HeaderValues = std::map<std::string, std::vector<HeaderValue>>;

// Reads a map of headers: a text or `{"base64":S}` for each name, or a list of them. `headers` may be
// null. Throws `Malformed`.
HeaderValues read_headers(const std::string& path, const Json* headers);

// All headers with their bytes, by name.
using Headers = std::vector<std::pair<std::string, std::string>>;

// Decodes base64. Throws `Refused`.
Headers decode(const std::string& field, const HeaderValues& headers);

// The same as the library takes them.
std::vector<plimsoll::Header> lent(const Headers& headers);

}  // namespace replay

#endif
