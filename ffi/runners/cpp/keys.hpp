// The keys of an object as an operation wants them. What is missing, of the wrong type or not known makes
// the line malformed.

#ifndef REPLAY_KEYS_HPP
#define REPLAY_KEYS_HPP

#include <initializer_list>
#include <set>
#include <vector>

#include "json.hpp"

namespace replay {

// Goes through the keys of one object. Each call throws `Malformed` for a value of the wrong type.
class Keys {
public:
    // The keys of a value, which must be an object and live longer than this; `path` is its own.
    Keys(const Json& object, std::string path);

    // The value of a key; null if it is not there.
    const Json* find(const char* name);

    // Values of one kind; null, or nothing, if the key is not there.
    const Json* object(const char* name);
    const Json* list(const char* name);
    std::optional<std::string> text(const char* name);
    std::optional<std::vector<std::string>> texts(const char* name);
    std::optional<std::uint64_t> integer(const char* name);
    std::optional<std::vector<std::uint64_t>> integers(const char* name);
    bool flag(const char* name);

    // Which of the words the text is.
    std::optional<std::size_t> word(const char* name, std::initializer_list<const char*> words);

    // The same for a key that has to be there.
    template <class T>
    T required(T value, const char* name) const {
        if (!value) {
            throw Malformed(path_ + ": missing field `" + name + "`");
        }
        return value;
    }

    // The path of a key.
    std::string path_of(const std::string& name) const { return path_ + "." + name; }

    // All keys have been asked for: the others are not known.
    void end() const;

private:
    const Json& object_;
    std::string path_;
    std::set<std::string> used_;
};

// A line is malformed because of the value at this path.
[[noreturn]] void refuse_type(const std::string& path, const char* expected, const Json& got);

// Which of the words a value is.
std::size_t word_at(const std::string& path, const Json& value,
                    std::initializer_list<const char*> words);

}  // namespace replay

#endif
