/// @file
/// Text and time as they cross the C interface.

#ifndef PLIMSOLL_CPP_TEXT_HPP
#define PLIMSOLL_CPP_TEXT_HPP

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "../plimsoll.h"
#include "span.hpp"

namespace plimsoll {

/// A moment: nanoseconds since one that the caller chose once for the cluster, as those of
/// `std::chrono::steady_clock::now().time_since_epoch()`. A negative one counts as 0.
using Time = std::chrono::nanoseconds;

/// Text that belongs to somebody else, where a call takes an array of them. Everywhere else a
/// `std::string_view` does.
///
/// @code{.cpp}
/// const plimsoll::Text wanted[] = {"10.0.0.2:80", "10.0.0.3:80"};
/// auto pick = worker.pick_override(wanted, plimsoll::Override::preferred);
/// @endcode
class Text {
public:
    /// The empty text.
    constexpr Text() noexcept = default;

    /// Refers to the text; it has to live for as long as this is used.
    constexpr Text(std::string_view text) noexcept : text_{text.data(), text.size()} {}

    /// Refers to a text that ends in a NUL.
    constexpr Text(const char* text) noexcept : Text(std::string_view(text)) {}

    /// Refers to the text of a string, which must not change meanwhile.
    Text(const std::string& text) noexcept : Text(std::string_view(text)) {}

    /// The text.
    constexpr std::string_view view() const noexcept { return {text_.data, text_.len}; }

private:
    plimsoll_str text_ = {nullptr, 0};
};

// An array of them is read as an array of what is in them.
static_assert(sizeof(Text) == sizeof(plimsoll_str) && std::is_standard_layout_v<Text>);

namespace detail {

constexpr plimsoll_str to_c(std::string_view text) noexcept { return {text.data(), text.size()}; }

// Each `Text` is a `plimsoll_str` and nothing else.
inline const plimsoll_str* to_c(Span<const Text> texts) noexcept {
    return reinterpret_cast<const plimsoll_str*>(texts.data());
}

constexpr std::string_view from_c(plimsoll_str text) noexcept {
    // A length of 0 is the empty text, whatever the pointer.
    return text.len == 0 ? std::string_view() : std::string_view(text.data, text.len);
}

constexpr std::uint64_t to_ns(Time time) noexcept {
    return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
}

// A length of time. A negative one becomes one that is too long, and is refused by its name.
constexpr std::uint64_t length_to_ns(Time length) noexcept {
    return static_cast<std::uint64_t>(length.count());
}

constexpr Time from_ns(std::uint64_t ns) noexcept {
    constexpr auto latest = static_cast<std::uint64_t>(Time::max().count());
    return Time(static_cast<Time::rep>(ns < latest ? ns : latest));
}

}  // namespace detail

}  // namespace plimsoll

#endif
