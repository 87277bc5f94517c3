/// @file
/// What there is to see, as JSON for programs: parts of a cluster, and load reports.

#ifndef PLIMSOLL_CPP_JSON_HPP
#define PLIMSOLL_CPP_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "../plimsoll.h"
#include "error.hpp"
#include "health.hpp"
#include "pick.hpp"
#include "result.hpp"
#include "update.hpp"

namespace plimsoll {

/// A part of what there is to see of a cluster.
enum class DumpPart : std::uint32_t {
    /// How traffic divides among priorities, in percent, and which of them panic.
    loads = PLIMSOLL_DUMP_LOADS,
    /// All hosts, by priority, then in the assignment's order.
    hosts = PLIMSOLL_DUMP_HOSTS,
    /// How the traffic of each priority divides among localities, for healthy, degraded and all
    /// hosts.
    localities = PLIMSOLL_DUMP_LOCALITIES,
    /// The table of `ring_hash` or `maglev`, one address for each place.
    table = PLIMSOLL_DUMP_TABLE,
    /// All counters and gauges that are not zero, by name.
    stats = PLIMSOLL_DUMP_STATS,
    /// The newest snapshot's version, and what was built so far.
    snapshot = PLIMSOLL_DUMP_SNAPSHOT,
};

/// What to dump of a cluster.
///
/// @code{.cpp}
/// plimsoll::Dump dump;
/// dump.part = plimsoll::DumpPart::localities;
/// dump.priority = 0;
/// if (auto json = cluster.dump(dump)) {
///     std::cout << *json << '\n';
/// }
/// @endcode
struct Dump {
    /// Which part.
    DumpPart part = DumpPart::hosts;
    /// Of localities and tables: this priority only. Nothing: all of them, and 0 for a table. Other
    /// parts have none.
    std::optional<std::uint64_t> priority = std::nullopt;
    /// Of localities and tables: these hosts only. Nothing: all of them, and the healthy for a table.
    /// Other parts have none.
    std::optional<Source> source = std::nullopt;
};

namespace detail {

inline plimsoll_dump_options to_c(const Dump& dump) noexcept {
    plimsoll_dump_options raw = PLIMSOLL_DUMP_OPTIONS_INIT;
    raw.part = static_cast<std::uint32_t>(dump.part);
    raw.flags = (dump.priority ? PLIMSOLL_DUMP_HAS_PRIORITY : 0U) |
                (dump.source ? PLIMSOLL_DUMP_HAS_SOURCE : 0U);
    raw.priority = dump.priority.value_or(0);
    raw.source = static_cast<std::uint32_t>(dump.source.value_or(Source::healthy));
    return raw;
}

/// What `write(buffer, capacity, &needed)` writes, in a buffer that grows until it fits.
template <class Write>
Result<std::string, Status> text_of(Write write) {
    std::string text(1023, '\0');
    for (;;) {
        // The NUL of the C interface goes where the string has its own.
        std::size_t needed = 0;
        const plimsoll_status status = write(text.data(), text.size() + 1, &needed);
        if (status == PLIMSOLL_STATUS_OK) {
            text.resize(needed - 1);
            return text;
        }
        if (status != PLIMSOLL_STATUS_BUFFER_TOO_SMALL) {
            return static_cast<Status>(status);
        }
        // Room for what comes until the next call.
        text.resize(needed + needed / 4);
    }
}

/// The same for a call that says why it failed: `write(buffer, capacity, &needed, error)`.
template <class Write>
Result<std::string> text_or_error_of(Write write) {
    Error last(Status::ok);
    auto text = text_of([&](char* buffer, std::size_t capacity, std::size_t* needed) {
        ErrorSlot error;
        const plimsoll_status status = write(buffer, capacity, needed, error);
        last = error.take(status);
        return status;
    });
    if (!text) {
        return last;
    }
    return *std::move(text);
}

}  // namespace detail

/// What a response says of load, as the library understands it: all fields of `OrcaLoadReport`,
/// those that were not sent too. To find out what becomes of a header; nothing is taken in.
/// `behavior` decides between headers and trailers.
///
/// Fails with `Status::no_report`, `Status::report_unreadable` (the error says why) or
/// `Status::panic`.
///
/// Thread: any. Allocates: yes. Blocks: no.
///
/// @code{.cpp}
/// plimsoll::ResponseLoad load;
/// load.header_text = "TEXT cpu_utilization=0.3,rps_fractional=10";
/// if (auto json = plimsoll::to_json(load)) {
///     std::cout << *json << '\n';
/// }
/// @endcode
[[nodiscard]] inline Result<std::string> to_json(const ResponseLoad& load,
                                                 Behavior behavior = Behavior::native) {
    const plimsoll_response_load raw = detail::to_c(load);
    return detail::text_or_error_of([&](char* buffer, std::size_t capacity, std::size_t* needed,
                                        plimsoll_error** error) {
        return plimsoll_response_load_json(&raw, static_cast<std::uint32_t>(behavior), buffer,
                                           capacity, needed, error);
    });
}

}  // namespace plimsoll

#endif
