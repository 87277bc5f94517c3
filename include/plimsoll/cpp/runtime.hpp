/// @file
/// Values of runtime keys.

#ifndef PLIMSOLL_CPP_RUNTIME_HPP
#define PLIMSOLL_CPP_RUNTIME_HPP

#include <cstdint>
#include <type_traits>
#include <variant>

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

}  // namespace plimsoll

#endif
