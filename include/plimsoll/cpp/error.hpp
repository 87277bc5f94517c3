/// @file
/// Why a control call failed.

#ifndef PLIMSOLL_CPP_ERROR_HPP
#define PLIMSOLL_CPP_ERROR_HPP

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../plimsoll.h"
#include "status.hpp"
#include "text.hpp"

namespace plimsoll {

namespace detail {

struct FreeError {
    void operator()(plimsoll_error* error) const noexcept { plimsoll_error_free(error); }
};

}  // namespace detail

/// Why a control call failed: which value was at fault, and what is wrong with it. Belongs to no
/// thread; can be moved, not copied. One that was moved away has its status left.
///
/// @code{.cpp}
/// auto opened = plimsoll::Cluster::open("name: api\nlb_policy: MAGIC\n");
/// if (!opened) {
///     const plimsoll::Error& error = opened.error();
///     std::cerr << error.field() << ": " << error.message() << '\n';
/// }
/// @endcode
class Error {
public:
    /// An error of which nothing but the status is known.
    explicit Error(Status status) noexcept : status_(status) {}

    /// Takes over the error object of a C call, and frees it in the end.
    explicit Error(plimsoll_error* error) noexcept
        : status_(static_cast<Status>(plimsoll_error_status(error))), error_(error) {}

    /// What the call answered. Thread: any. Allocates: no. Blocks: no.
    Status status() const noexcept { return status_; }

    /// The status as a word, such as `invalid_argument`. Thread: any. Allocates: no. Blocks: no.
    std::string_view code() const noexcept {
        return error_ ? detail::from_c(plimsoll_error_code(error_.get())) : name(status_);
    }

    /// Which value is at fault: the path of a field in Envoy's messages
    /// (`endpoints[2].lb_endpoints[0].load_balancing_weight`), an argument or a member of one
    /// (`changes[3].event`), or the address of a host. Empty where no single value is at fault.
    /// Lives as long as this. Thread: any. Allocates: no. Blocks: no.
    std::string_view field() const noexcept {
        return detail::from_c(plimsoll_error_field(error_.get()));
    }

    /// What is wrong, in a sentence for a human; Envoy's text where Envoy has one, and the word for
    /// the status where nothing more is known. Lives as long as this.
    /// Thread: any. Allocates: no. Blocks: no.
    std::string_view message() const noexcept {
        return error_ ? detail::from_c(plimsoll_error_message(error_.get())) : name(status_);
    }

    /// All of it, for a log: `field: message`. Thread: any. Allocates: yes. Blocks: no.
    std::string describe() const {
        std::string text(field());
        if (!text.empty()) {
            text += ": ";
        }
        return text.append(message());
    }

private:
    Status status_;
    std::unique_ptr<plimsoll_error, detail::FreeError> error_;
};

namespace detail {

/// Where a C call puts its error object.
class ErrorSlot {
public:
    operator plimsoll_error**() noexcept { return &error_; }

    Error take(plimsoll_status status) noexcept {
        plimsoll_error* error = std::exchange(error_, nullptr);
        return error == nullptr ? Error(static_cast<Status>(status)) : Error(error);
    }

private:
    plimsoll_error* error_ = nullptr;
};

}  // namespace detail

}  // namespace plimsoll

#endif
