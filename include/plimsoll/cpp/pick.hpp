/// @file
/// What goes into a pick and what comes out of it: values, without an allocation.

#ifndef PLIMSOLL_CPP_PICK_HPP
#define PLIMSOLL_CPP_PICK_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "../plimsoll.h"
#include "function_ref.hpp"
#include "hash.hpp"
#include "text.hpp"

namespace plimsoll {

/// What is known of a request before its host is picked. By default nothing is, and the pick is
/// counted.
///
/// @code{.cpp}
/// plimsoll::PickContext context;
/// context.hash = 0x9e3779b97f4a7c15;
/// context.attempt = 1;  // the first retry
/// auto pick = worker.pick(context);
/// @endcode
struct PickContext {
    /// Whether the pick counts as an active request until `Worker::done`. One that is not counted
    /// is valid until the same worker's next pick, and is not to be done.
    bool counted = true;
    /// The hash of the request; read by `ring_hash` and `maglev`, which draw a number without it.
    std::optional<std::uint64_t> hash = std::nullopt;
    /// Which attempt at the same request this is, 0 first; more than 128 count as 128. Natively
    /// `ring_hash` and `maglev` give another host each time.
    std::uint32_t attempt = 0;
    /// How many more hosts `Worker::pick_filtered` tries while they are refused; more than 128
    /// count as 128.
    std::uint32_t retries = 0;
    /// What the clock shows now; 0 for what the last tick was told. With `Behavior::envoy` hosts in
    /// slow start are weighed by it; nothing else reads it.
    Time now = Time(0);
};

/// A host that was picked: a value to copy.
///
/// `slot()` is a small number that is the host's for as long as a snapshot or a pick names it, so
/// that it can index an array of yours; `generation()` changes when the slot is given to another
/// host.
///
/// @code{.cpp}
/// plimsoll::Pick pick = worker.pick().value_or(plimsoll::Pick());
/// std::cout << pick.slot() << '\n';
/// @endcode
class Pick {
public:
    /// No pick: not counted, and of no host.
    constexpr Pick() noexcept = default;

    /// What the C interface picked.
    constexpr explicit Pick(const plimsoll_pick& pick) noexcept : pick_(pick) {}

    /// The host's slot.
    constexpr std::uint32_t slot() const noexcept { return pick_.slot; }
    /// Which host had the slot.
    constexpr std::uint32_t generation() const noexcept { return pick_.generation; }
    /// The priority that the host was picked at.
    constexpr std::uint32_t priority() const noexcept { return pick_.priority; }
    /// Whether it counts as an active request until `Worker::done`.
    constexpr bool counted() const noexcept { return (pick_.flags & PLIMSOLL_PICK_COUNTED) != 0; }
    /// Whether it counts in the total that a policy with a `hash_balance_factor` goes by.
    constexpr bool in_total() const noexcept { return (pick_.flags & PLIMSOLL_PICK_IN_TOTAL) != 0; }
    /// For calls of the C interface.
    constexpr const plimsoll_pick& raw() const noexcept { return pick_; }

    /// Whether both name the same host, whatever else they say.
    constexpr bool same_host(const Pick& other) const noexcept {
        return slot() == other.slot() && generation() == other.generation();
    }

private:
    plimsoll_pick pick_ = {0, 0, 0, 0};
};

// A batch is written into an array of them as into an array of what is in them.
static_assert(sizeof(Pick) == sizeof(plimsoll_pick) && std::is_standard_layout_v<Pick> &&
              std::is_trivially_copyable_v<Pick>);

/// How a request ended.
enum class Outcome : std::uint32_t {
    /// It was answered.
    success = PLIMSOLL_OUTCOME_SUCCESS,
    /// It failed.
    error = PLIMSOLL_OUTCOME_ERROR,
};

/// What becomes of a request whose hosts cannot be had.
enum class Override : std::uint32_t {
    /// A pick by policy follows.
    preferred = 0,
    /// The call fails.
    strict = 1,
};

/// What a response says of its host's load: values of headers as they came, which need not be UTF-8.
/// Nothing stands for a header that is absent, which is not the same as an empty one. Of several
/// headers with one name give the first.
///
/// @code{.cpp}
/// plimsoll::ResponseLoad load;
/// load.header_text = "TEXT rps_fractional=100,cpu_utilization=0.2";
/// if (auto pick = worker.pick()) {
///     worker.report(*pick, load);
///     worker.done(*pick, plimsoll::Outcome::success);
/// }
/// @endcode
struct ResponseLoad {
    /// Of the headers: `endpoint-load-metrics-bin`. Where there is one, `header_text` is not read.
    std::optional<std::string_view> header_binary = std::nullopt;
    /// Of the headers: `endpoint-load-metrics`.
    std::optional<std::string_view> header_text = std::nullopt;
    /// Of the trailers: `endpoint-load-metrics-bin`. Where there is one, `trailer_text` is not read.
    std::optional<std::string_view> trailer_binary = std::nullopt;
    /// Of the trailers: `endpoint-load-metrics`.
    std::optional<std::string_view> trailer_text = std::nullopt;
    /// What the clock shows now; 0 for what the last tick was told.
    Time now = Time(0);
};

/// Whether a candidate may be picked.
using Accept = FunctionRef<bool(const Pick&)>;

namespace detail {

inline plimsoll_pick_context to_c(const PickContext& context) noexcept {
    plimsoll_pick_context raw = PLIMSOLL_PICK_CONTEXT_INIT;
    raw.retries = context.retries;
    raw.flags = (context.counted ? 0U : PLIMSOLL_PICK_UNCOUNTED) |
                (context.hash ? PLIMSOLL_PICK_HASHED : 0U);
    raw.now_ns = to_ns(context.now);
    raw.hash = context.hash.value_or(0);
    raw.attempt = context.attempt;
    return raw;
}

inline plimsoll_response_load to_c(const ResponseLoad& load) noexcept {
    plimsoll_response_load raw = PLIMSOLL_RESPONSE_LOAD_INIT;
    raw.header_binary = to_c(load.header_binary);
    raw.header_text = to_c(load.header_text);
    raw.trailer_binary = to_c(load.trailer_binary);
    raw.trailer_text = to_c(load.trailer_text);
    raw.now_ns = to_ns(load.now);
    return raw;
}

// C calls this. An exception must not leave it: it ends the program.
inline int accept(void* callback, const plimsoll_pick* candidate) noexcept {
    return (*static_cast<const Accept*>(callback))(Pick(*candidate)) ? 1 : 0;
}

}  // namespace detail

}  // namespace plimsoll

#endif
