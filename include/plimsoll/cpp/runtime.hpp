/// @file
/// Values of runtime keys.

#ifndef PLIMSOLL_CPP_RUNTIME_HPP
#define PLIMSOLL_CPP_RUNTIME_HPP

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "../plimsoll.h"
#include "span.hpp"
#include "text.hpp"

namespace plimsoll {

/// The value of a runtime key: a whole number, a double, or true or false, as its type says. As in
/// Envoy, a negative whole number is a double, a whole number also stands for a double, and any
/// number but 0 for true.
///
/// @code{.cpp}
/// assert(*plimsoll::RuntimeValue(30).as_whole() == 30);
/// assert(*plimsoll::RuntimeValue(-30).as_double() == -30);
/// assert(*plimsoll::RuntimeValue(true).as_bool());
/// @endcode
class RuntimeValue {
    template <class T>
    static std::variant<std::uint64_t, double, bool> value_of(T value) noexcept {
        if constexpr (std::is_same_v<T, bool>) {
            return value;
        } else if constexpr (std::is_floating_point_v<T>) {
            return static_cast<double>(value);
        } else {
            if constexpr (std::is_signed_v<T>) {
                if (value < 0) {
                    return static_cast<double>(value);
                }
            }
            return static_cast<std::uint64_t>(value);
        }
    }

public:
    /// A number, or true or false.
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    RuntimeValue(T value) noexcept : value_(value_of(value)) {}

    /// The whole number; null if it is none.
    const std::uint64_t* as_whole() const noexcept { return std::get_if<std::uint64_t>(&value_); }

    /// The double; null if it is none.
    const double* as_double() const noexcept { return std::get_if<double>(&value_); }

    /// True or false; null if it is neither.
    const bool* as_bool() const noexcept { return std::get_if<bool>(&value_); }

private:
    std::variant<std::uint64_t, double, bool> value_;
};

/// A runtime key and its value, or that the key is to be removed. Refers to the key.
///
/// @code{.cpp}
/// auto applied = cluster.update_runtime({{"upstream.healthy_panic_threshold", 30},
///                                        plimsoll::RuntimeEntry::removed("api.aggression")});
/// @endcode
class RuntimeEntry {
public:
    /// A key that gets a value.
    RuntimeEntry(std::string_view key, RuntimeValue value) noexcept : RuntimeEntry(key) {
        if (const bool* truth = value.as_bool()) {
            entry_.kind = PLIMSOLL_RUNTIME_BOOLEAN;
            entry_.boolean = *truth ? 1 : 0;
        } else if (const double* number = value.as_double()) {
            entry_.kind = PLIMSOLL_RUNTIME_NUMBER;
            entry_.number = *number;
        } else {
            entry_.kind = PLIMSOLL_RUNTIME_INTEGER;
            entry_.integer = *value.as_whole();
        }
    }

    /// A key that is removed, whatever form its value has.
    static RuntimeEntry removed(std::string_view key) noexcept { return RuntimeEntry(key); }

private:
    explicit RuntimeEntry(std::string_view key) noexcept {
        entry_.kind = PLIMSOLL_RUNTIME_REMOVED;
        entry_.key = detail::to_c(key);
    }

    plimsoll_runtime_value entry_ = PLIMSOLL_RUNTIME_VALUE_INIT;
};

// An array of them is read as an array of what is in them.
static_assert(sizeof(RuntimeEntry) == sizeof(plimsoll_runtime_value) &&
              std::is_standard_layout_v<RuntimeEntry>);

namespace detail {

inline const plimsoll_runtime_value* to_c(Span<const RuntimeEntry> values) noexcept {
    return reinterpret_cast<const plimsoll_runtime_value*>(values.data());
}

}  // namespace detail

}  // namespace plimsoll

#endif
