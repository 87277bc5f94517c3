/// @file
/// What a cluster has to say, line by line.

#ifndef PLIMSOLL_CPP_LOG_HPP
#define PLIMSOLL_CPP_LOG_HPP

#include <cstdint>
#include <string_view>

#include "../plimsoll.h"
#include "text.hpp"

namespace plimsoll {

/// How much a message matters; a lower one matters more.
enum class LogLevel : std::uint32_t {
    /// The library failed: a control call panicked.
    error = PLIMSOLL_LOG_ERROR,
    /// Traffic may not go where it should: panic, picks without a host, load reports that are of no
    /// use, control calls that were refused, requests that were ended twice.
    warning = PLIMSOLL_LOG_WARNING,
    /// What an operator did, and ends of trouble.
    info = PLIMSOLL_LOG_INFO,
    /// Every new snapshot.
    debug = PLIMSOLL_LOG_DEBUG,
};

/// Where the messages of a cluster go. It has to live as long as the `Cluster`; workers do not use
/// it.
///
/// @code{.cpp}
/// struct ToStandardError final : plimsoll::Log {
///     void write(plimsoll::LogLevel, std::string_view message) noexcept override {
///         std::cerr << "plimsoll: " << message << '\n';
///     }
/// };
/// static ToStandardError log;
/// plimsoll::ClusterOptions options;
/// options.log = &log;
/// auto opened = plimsoll::Cluster::open("name: api\n", options);
/// @endcode
class Log {
public:
    /// Takes a line without its end. It is called at the end of control calls, on the thread of the
    /// call and with no lock of the library held, so that several threads may be in it at once. It
    /// may make any call but must not destroy the cluster. A kind of message comes at most ten times
    /// at once, then once a second of the cluster's clock; what is left out is counted in the next.
    virtual void write(LogLevel level, std::string_view message) noexcept = 0;

protected:
    ~Log() = default;
};

namespace detail {

// C calls this. An exception must not leave it: it ends the program.
inline void log(void* log, std::uint32_t level, plimsoll_str message) noexcept {
    static_cast<Log*>(log)->write(static_cast<LogLevel>(level), from_c(message));
}

}  // namespace detail

}  // namespace plimsoll

#endif
