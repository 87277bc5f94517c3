/// @file
/// How calls end, and which versions meet.

#ifndef PLIMSOLL_CPP_STATUS_HPP
#define PLIMSOLL_CPP_STATUS_HPP

#include <cstdint>
#include <string_view>

#include "../plimsoll.h"

namespace plimsoll {

/// How a call ended. Everything but `ok` and `panic` means that it had no effect.
///
/// New ones may be added, and a newer library may answer with one of those, so that a `switch`
/// needs a default.
///
/// @code{.cpp}
/// auto pick = worker.pick();
/// switch (pick.status()) {
/// case plimsoll::Status::ok: break;
/// case plimsoll::Status::no_host: break;  // answer 503
/// default: std::cerr << plimsoll::name(pick.status()) << '\n';
/// }
/// @endcode
enum class Status : std::uint32_t {
    /// Done.
    ok = PLIMSOLL_STATUS_OK,
    /// Something that must be there is not: a handle that was moved away, for instance.
    null_argument = PLIMSOLL_STATUS_NULL_ARGUMENT,
    /// A value outside its range, text that is not UTF-8, or a call that is refused in a callback.
    invalid_argument = PLIMSOLL_STATUS_INVALID_ARGUMENT,
    /// Text that is neither JSON nor YAML; the message names line and column.
    parse_error = PLIMSOLL_STATUS_PARSE_ERROR,
    /// Envoy accepts it, this version does not.
    unsupported = PLIMSOLL_STATUS_UNSUPPORTED,
    /// The cluster has no host with this address.
    unknown_host = PLIMSOLL_STATUS_UNKNOWN_HOST,
    /// The host has data already.
    has_data = PLIMSOLL_STATUS_HAS_DATA,
    /// The text does not fit.
    buffer_too_small = PLIMSOLL_STATUS_BUFFER_TOO_SMALL,
    /// The header is newer than the library, and something was set that this does not know.
    unsupported_field = PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
    /// No host is eligible where this pick was led.
    no_host = PLIMSOLL_STATUS_NO_HOST,
    /// The priority is in panic and the cluster is told to fail then.
    no_host_panic = PLIMSOLL_STATUS_NO_HOST_PANIC,
    /// As many picks are peeked as may be; pick one of them first.
    peek_limit = PLIMSOLL_STATUS_PEEK_LIMIT,
    /// The pick names no host any more.
    stale_pick = PLIMSOLL_STATUS_STALE_PICK,
    /// The pick was not counted, so that there is nothing to be done.
    not_counted = PLIMSOLL_STATUS_NOT_COUNTED,
    /// The response says nothing of its host's load.
    no_report = PLIMSOLL_STATUS_NO_REPORT,
    /// What a host says of its load cannot be read.
    report_unreadable = PLIMSOLL_STATUS_REPORT_UNREADABLE,
    /// What a host says of its load was not taken in.
    report_rejected = PLIMSOLL_STATUS_REPORT_REJECTED,
    /// There is nothing to hash the request by: pick without a hash.
    no_hash = PLIMSOLL_STATUS_NO_HASH,
    /// The cluster has none of the hosts that the request names.
    override_not_found = PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND,
    /// It has some of them, and their health is not allowed.
    override_not_allowed = PLIMSOLL_STATUS_OVERRIDE_NOT_ALLOWED,
    /// What a host says of its load was not taken in, because the policy does not go by that.
    report_not_wanted = PLIMSOLL_STATUS_REPORT_NOT_WANTED,
    /// A control call panicked earlier: control calls refuse, workers keep serving.
    poisoned = PLIMSOLL_STATUS_POISONED,
    /// The call panicked, maybe after it had its effect: a fault in the library.
    panic = PLIMSOLL_STATUS_PANIC,
};

/// The word for a status, such as `no_host`; `unknown` for one that this library does not know.
/// The text ends in a NUL and is there for as long as the program runs.
///
/// Thread: any. Allocates: no. Blocks: no.
inline std::string_view name(Status status) noexcept {
    return plimsoll_status_name(static_cast<std::uint32_t>(status));
}

/// The version of the library, `"0.1.0"`. That of the header is in `PLIMSOLL_VERSION_NUMBER`.
///
/// Thread: any. Allocates: no. Blocks: no.
inline std::string_view version() noexcept { return plimsoll_version(); }

/// Whether the library that runs is one that this header describes. For a program that loads it
/// from elsewhere, at its start.
///
/// Thread: any. Allocates: no. Blocks: no.
inline bool abi_matches() noexcept { return plimsoll_abi_version() == PLIMSOLL_ABI_VERSION; }

}  // namespace plimsoll

#endif
