/// @file
/// A value, or why there is none: what calls return instead of throwing.

#ifndef PLIMSOLL_CPP_RESULT_HPP
#define PLIMSOLL_CPP_RESULT_HPP

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "error.hpp"
#include "status.hpp"

namespace plimsoll {

namespace detail {

constexpr Status status_of(Status status) noexcept { return status; }
inline Status status_of(const Error& error) noexcept { return error.status(); }

[[noreturn]] inline void misused(const char* what, std::string_view field,
                                 std::string_view message) noexcept {
    std::fprintf(stderr, "plimsoll::Result: %s: %.*s%s%.*s\n", what, static_cast<int>(field.size()),
                 field.data(), field.empty() ? "" : ": ", static_cast<int>(message.size()),
                 message.data());
    std::abort();
}

/// A failed result was asked for its value.
[[noreturn]] inline void no_value(Status status) noexcept {
    misused("no value", "", name(status));
}
[[noreturn]] inline void no_value(const Error& error) noexcept {
    misused("no value", error.field(), error.message());
}

/// One that succeeded was asked for its error.
[[noreturn]] inline void no_error() noexcept { misused("no error", "", "the call succeeded"); }

}  // namespace detail

/// A value, or why there is none. A control call gives a `Result<T>` with an `Error`; a worker's
/// call gives a `Result<T, Status>`, which is as cheap to return as the value.
///
/// To ask a failed one for its value, or one that succeeded for its error, is a mistake in the
/// program and ends it with `std::abort`, after a line to the standard error that names the error.
///
/// @code{.cpp}
/// plimsoll::Result<plimsoll::Applied> applied = cluster.reload("name: api\n");
/// if (applied) {
///     std::cout << "version " << applied->version << '\n';
/// } else {
///     std::cerr << applied.error().describe() << '\n';
/// }
/// @endcode
template <class T, class E = Error>
class Result {
public:
    /// A success.
    Result(T value) noexcept : either_(std::in_place_index<0>, std::move(value)) {}

    /// A failure.
    Result(E error) noexcept : either_(std::in_place_index<1>, std::move(error)) {}

    /// Whether there is a value.
    bool has_value() const noexcept { return either_.index() == 0; }

    /// Whether there is a value.
    explicit operator bool() const noexcept { return has_value(); }

    /// `Status::ok`, or why there is no value.
    Status status() const noexcept {
        const E* error = std::get_if<1>(&either_);
        return error == nullptr ? Status::ok : detail::status_of(*error);
    }

    /// The value.
    T& value() & noexcept { return get_value(either_); }
    /// The value.
    const T& value() const& noexcept { return get_value(either_); }
    /// The value, to be moved out: `Cluster cluster = std::move(opened).value();`
    T&& value() && noexcept { return std::move(get_value(either_)); }

    /// The value.
    T& operator*() & noexcept { return value(); }
    /// The value.
    const T& operator*() const& noexcept { return value(); }
    /// The value, to be moved out.
    T&& operator*() && noexcept { return std::move(value()); }

    /// A member of the value.
    T* operator->() noexcept { return &value(); }
    /// A member of the value.
    const T* operator->() const noexcept { return &value(); }

    /// The value, or `other` if there is none.
    T value_or(T other) && { return has_value() ? std::move(value()) : std::move(other); }

    /// Why there is no value.
    E& error() & noexcept { return get_error(either_); }
    /// Why there is no value.
    const E& error() const& noexcept { return get_error(either_); }
    /// Why there is no value, to be moved out.
    E&& error() && noexcept { return std::move(get_error(either_)); }

private:
    template <class Either>
    static auto& get_value(Either& either) noexcept {
        auto* found = std::get_if<0>(&either);
        if (found == nullptr) {
            detail::no_value(*std::get_if<1>(&either));
        }
        return *found;
    }

    template <class Either>
    static auto& get_error(Either& either) noexcept {
        auto* found = std::get_if<1>(&either);
        if (found == nullptr) {
            detail::no_error();
        }
        return *found;
    }

    std::variant<T, E> either_;
};

/// The result of a call that gives nothing: success, or why not.
///
/// @code{.cpp}
/// plimsoll::Result<void> ticked = cluster.tick(std::chrono::seconds(3));
/// if (!ticked) {
///     std::cerr << ticked.error().message() << '\n';
/// }
/// @endcode
template <class E>
class Result<void, E> {
public:
    /// A success.
    Result() noexcept = default;

    /// A failure.
    Result(E error) noexcept : error_(std::move(error)) {}

    /// Whether the call succeeded.
    bool has_value() const noexcept { return !error_.has_value(); }

    /// Whether the call succeeded.
    explicit operator bool() const noexcept { return has_value(); }

    /// `Status::ok`, or why the call failed.
    Status status() const noexcept {
        return error_ ? detail::status_of(*error_) : Status::ok;
    }

    /// Why the call failed.
    const E& error() const& noexcept { return get(error_); }
    /// Why the call failed, to be moved out.
    E&& error() && noexcept { return std::move(get(error_)); }

private:
    template <class Optional>
    static auto& get(Optional& error) noexcept {
        if (!error) {
            detail::no_error();
        }
        return *error;
    }

    std::optional<E> error_;
};

}  // namespace plimsoll

#endif
