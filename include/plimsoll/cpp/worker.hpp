/// @file
/// Workers, which pick hosts, and requests that are done when they leave their scope.

#ifndef PLIMSOLL_CPP_WORKER_HPP
#define PLIMSOLL_CPP_WORKER_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../plimsoll.h"
#include "hash.hpp"
#include "json.hpp"
#include "pick.hpp"
#include "result.hpp"
#include "span.hpp"
#include "text.hpp"

namespace plimsoll {

namespace detail {

struct FreeWorker {
    void operator()(plimsoll_worker* worker) const noexcept { plimsoll_worker_free(worker); }
};

}  // namespace detail

/// Picks hosts of one cluster, which it outlives. `Cluster::worker` makes one. Can be moved, not
/// copied; one that was moved away answers `Status::null_argument`.
///
/// Thread: one at a time, which is why no call is `const`; it may move between threads, between
/// calls. A thread that picks has one of its own; a pool of them works as well. To destroy one is
/// for one thread, too: picks that are not done stay counted until another worker of the cluster is
/// told, and `release` of host data may run.
///
/// Its calls neither allocate, lock nor make a system call, but where they say so. "But for
/// schedules" means that with `Behavior::envoy`, hosts of different weight or in slow start need a
/// schedule, which the first pick after an update allocates.
///
/// Callbacks run on this thread, during the call, and never after it. An exception that leaves one
/// ends the program.
///
/// @code{.cpp}
/// if (auto pick = worker.pick()) {
///     char buffer[64];
///     if (auto address = worker.host_address(*pick, buffer)) {
///         std::cout << "send the request to " << *address << '\n';
///     }
///     worker.done(*pick, plimsoll::Outcome::success);
/// }
/// @endcode
class Worker {
public:
    /// Takes over a handle of the C interface, and frees it in the end.
    explicit Worker(plimsoll_worker* handle) noexcept : handle_(handle) {}

    /// Picks a host for one request. It counts as an active request until `done`.
    ///
    /// Fails with `Status::no_host`, `Status::no_host_panic`, `Status::null_argument` or
    /// `Status::panic`.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no.
    [[nodiscard]] Result<Pick, Status> pick() noexcept { return pick_by(nullptr); }

    /// Picks a host for one request of which something is known. Otherwise as above.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no.
    [[nodiscard]] Result<Pick, Status> pick(const PickContext& context) noexcept {
        const plimsoll_pick_context raw = detail::to_c(context);
        return pick_by(&raw);
    }

    /// Looks ahead: the host of the next pick that was not peeked yet, to open a connection in
    /// advance for instance. A peek is never counted, and takes nothing from the context. The picks
    /// that follow give the peeked hosts first and in order, unless an update comes between.
    ///
    /// Fails as `pick` does, and with `Status::peek_limit` if as many are outstanding as there are
    /// healthy hosts, or 64, or where nothing can be peeked: with `ring_hash` and `maglev`, and in
    /// most cases with Envoy's `LEAST_REQUEST`.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no.
    [[nodiscard]] Result<Pick, Status> peek(const PickContext& context = {}) noexcept {
        const plimsoll_pick_context raw = detail::to_c(context);
        plimsoll_pick pick;
        return picked(plimsoll_worker_peek(handle_.get(), &raw, &pick), pick);
    }

    /// Picks a host that `accept` agrees to. While it refuses, up to `context.retries` more
    /// candidates are tried. The last one is taken unasked, as in Envoy: with `retries` of 0, the
    /// default, `accept` is not called at all.
    ///
    /// `accept` may ask for the candidate's address and data with this worker; every other call
    /// with it is refused. The candidate is valid until `accept` returns, and is not counted.
    ///
    /// Fails as `pick` does.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no, unless `accept` does.
    ///
    /// @code{.cpp}
    /// plimsoll::PickContext context;
    /// context.retries = 3;
    /// const plimsoll::Pick tried = worker.pick().value_or(plimsoll::Pick());
    /// auto other = worker.pick_filtered(context, [&](const plimsoll::Pick& candidate) {
    ///     return !candidate.same_host(tried);
    /// });
    /// @endcode
    [[nodiscard]] Result<Pick, Status> pick_filtered(const PickContext& context,
                                                     Accept accept) noexcept {
        const plimsoll_pick_context raw = detail::to_c(context);
        plimsoll_pick pick;
        return picked(plimsoll_worker_pick_filtered(handle_.get(), &raw, &accept,
                                                    accept ? &detail::accept : nullptr, &pick),
                      pick);
    }

    /// Picks a host for each of as many requests as `out` has room for, all by the same snapshot
    /// and with the same context. Gives the part of `out` that was filled: less than all only if
    /// there is no host for the next one. The rest of it is as `Pick()`.
    ///
    /// Fails as `pick` does if there is no host for the first.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no.
    ///
    /// @code{.cpp}
    /// std::array<plimsoll::Pick, 16> room;
    /// if (auto picks = worker.pick_batch(room)) {
    ///     for (const plimsoll::Pick& pick : *picks) {
    ///         worker.done(pick, plimsoll::Outcome::success);
    ///     }
    /// }
    /// @endcode
    [[nodiscard]] Result<Span<Pick>, Status> pick_batch(Span<Pick> out,
                                                        const PickContext& context = {}) noexcept {
        const plimsoll_pick_context raw = detail::to_c(context);
        std::size_t count = 0;
        // Each `Pick` is a `plimsoll_pick` and nothing else.
        const plimsoll_status status =
            plimsoll_worker_pick_batch(handle_.get(), &raw,
                                       reinterpret_cast<plimsoll_pick*>(out.data()), out.size(),
                                       &count);
        if (status != PLIMSOLL_STATUS_OK) {
            return static_cast<Status>(status);
        }
        return out.first(count);
    }

    /// Picks the host that the request names, in any priority and instead of a pick by policy.
    ///
    /// Each text holds one address, or several between commas, in the order in which they are
    /// wanted. What is no address names no host. No address at all asks for nothing, and the pick
    /// is one by policy. Only the caller knows whether a client is to be trusted with this.
    ///
    /// Fails as `pick` does, and with `Override::strict` also with `Status::override_not_found` or
    /// `Status::override_not_allowed`.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no.
    [[nodiscard]] Result<Pick, Status> pick_override(Span<const Text> addresses, Override mode,
                                                     const PickContext& context = {}) noexcept {
        const plimsoll_pick_context raw = detail::to_c(context);
        plimsoll_pick pick;
        return picked(plimsoll_worker_pick_override(handle_.get(), &raw, detail::to_c(addresses),
                                                    addresses.size(),
                                                    static_cast<std::uint32_t>(mode), &pick),
                      pick);
    }

    /// The same for one text, such as the value of a header.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no.
    [[nodiscard]] Result<Pick, Status> pick_override(std::string_view addresses, Override mode,
                                                     const PickContext& context = {}) noexcept {
        const Text text(addresses);
        return pick_override(Span<const Text>(&text, 1), mode, context);
    }

    /// As `pick_override`, with a filter for the hosts that the policy picks if it comes to that, as
    /// with `pick_filtered`. Hosts that the request names do not go through it, as in Envoy.
    ///
    /// Fails as `pick_override` does.
    ///
    /// Thread: the worker's. Allocates: no, but for schedules. Blocks: no, unless `accept` does.
    [[nodiscard]] Result<Pick, Status> pick_override_filtered(Span<const Text> addresses,
                                                              Override mode,
                                                              const PickContext& context,
                                                              Accept accept) noexcept {
        const plimsoll_pick_context raw = detail::to_c(context);
        plimsoll_pick pick;
        return picked(plimsoll_worker_pick_override_filtered(
                          handle_.get(), &raw, detail::to_c(addresses), addresses.size(),
                          static_cast<std::uint32_t>(mode), &accept,
                          accept ? &detail::accept : nullptr, &pick),
                      pick);
    }

    /// Why the next pick will go where it goes, as JSON: decided by the pick's own code, so that it
    /// cannot disagree with it. Changes no pick. `draw` is a number to be taken instead of the next
    /// random one; `accept` is as for `pick_filtered` and may be null. Later versions may add keys.
    /// That there is no host is no failure.
    ///
    /// Fails with `Status::null_argument`, `Status::invalid_argument` inside `accept`, or
    /// `Status::panic`.
    ///
    /// Thread: the worker's. Allocates: yes. Blocks: no, unless `accept` does.
    ///
    /// @code{.cpp}
    /// if (auto json = worker.explain()) {
    ///     std::cout << *json << '\n';
    /// }
    /// @endcode
    [[nodiscard]] Result<std::string, Status> explain(
        const PickContext& context = {}, std::optional<std::uint64_t> draw = std::nullopt,
        Accept accept = nullptr) {
        const plimsoll_pick_context raw = detail::to_c(context);
        return detail::text_of([&](char* buffer, std::size_t capacity, std::size_t* needed) {
            return plimsoll_worker_explain(handle_.get(), &raw, draw ? &*draw : nullptr, &accept,
                                           accept ? &detail::accept : nullptr, buffer, capacity,
                                           needed);
        });
    }

    /// Queues numbers, which are used before those of the worker's generator: for tests that want a
    /// certain decision, and to repeat what happened elsewhere. Which pick draws how many numbers is
    /// for the policy to say. Gives what `refresh` does.
    ///
    /// Thread: the worker's. Allocates: yes. Blocks: no.
    Status push_draws(Span<const std::uint64_t> draws) noexcept {
        return static_cast<Status>(
            plimsoll_worker_push_draws(handle_.get(), draws.data(), draws.size()));
    }

    /// Hashes a request by the cluster's own `hash_policy`, or, if that has no entries, by `route`,
    /// which may be null. Put it into `PickContext::hash`, for each attempt at the request.
    ///
    /// Where a policy wants the client to have a cookie that it did not send, `set_cookie` is called
    /// with the value of the header `set-cookie` that the response is to carry; the text is valid
    /// until it returns, and no call with this worker may be made in it. Without a `set_cookie`
    /// nobody gets a cookie.
    ///
    /// Fails with `Status::no_hash` if no policy finds anything in the request or the cluster's
    /// policy does not go by hashes: pick without one. Also with `Status::null_argument`,
    /// `Status::invalid_argument` for the request, or `Status::panic`.
    ///
    /// Thread: the worker's. Allocates: for new cookies, and for a header with more than eight
    /// values. Blocks: no, unless `set_cookie` does.
    ///
    /// @code{.cpp}
    /// std::string cookie;
    /// plimsoll::Request request;
    /// request.remote_address = "10.0.0.7:4711";
    /// request.local_address = "10.0.0.1:80";
    /// auto hash = worker.hash(request, nullptr, [&](std::string_view value) { cookie = value; });
    /// plimsoll::PickContext context;
    /// if (hash) {
    ///     context.hash = *hash;
    /// }
    /// @endcode
    [[nodiscard]] Result<std::uint64_t, Status> hash(const Request& request,
                                                     const HashPolicies* route = nullptr,
                                                     SetCookie set_cookie = nullptr) noexcept {
        const plimsoll_request raw = detail::to_c(request);
        std::uint64_t hash = 0;
        const plimsoll_status status = plimsoll_worker_hash(
            handle_.get(), route == nullptr ? nullptr : route->handle(), &raw, &set_cookie,
            set_cookie ? &detail::set_cookie : nullptr, &hash);
        if (status != PLIMSOLL_STATUS_OK) {
            return static_cast<Status>(status);
        }
        return hash;
    }

    /// Says that the request of a counted pick is over. Any worker of the same cluster may say it.
    ///
    /// Gives `Status::ok`, `Status::not_counted`, `Status::stale_pick` for a pick that names no
    /// request any more, `Status::null_argument`, `Status::invalid_argument` inside `accept`, or
    /// `Status::panic`.
    ///
    /// Thread: the worker's. Allocates: no. Blocks: no.
    Status done(const Pick& pick, Outcome outcome) noexcept {
        return static_cast<Status>(plimsoll_worker_done(handle_.get(), &pick.raw(),
                                                        static_cast<std::uint32_t>(outcome)));
    }

    /// Takes in what a response said of its host's load, before `done`, or before the next pick if
    /// the pick is not counted. `Cluster::tick` makes weights of it, if the policy goes by reports.
    ///
    /// Gives `Status::ok`, or one of the answers that say what was wrong with the report, which are
    /// counted and seldom worth more: `Status::no_report`, `Status::report_unreadable`,
    /// `Status::report_rejected`, `Status::report_not_wanted`, `Status::stale_pick`. Also `Status::null_argument`,
    /// `Status::invalid_argument` or `Status::panic`.
    ///
    /// Thread: the worker's. Allocates: no, but for JSON, and for a report that is larger than any
    /// before. Blocks: no.
    Status report(const Pick& pick, const ResponseLoad& load) noexcept {
        const plimsoll_response_load raw = detail::to_c(load);
        return static_cast<Status>(plimsoll_worker_report(handle_.get(), &pick.raw(), &raw));
    }

    /// Writes the address of the host of a pick into `buffer`, with a NUL after it, and gives it
    /// without. Ask right after the pick: a host that has left since is not found after the next
    /// one. Inside `accept` the candidate may be asked about.
    ///
    /// Fails with `Status::buffer_too_small`, `Status::stale_pick`, `Status::null_argument`,
    /// `Status::invalid_argument` inside `accept` for another pick, or `Status::panic`. `needed`,
    /// unless it is null, is told how many bytes it takes, the NUL included.
    ///
    /// Thread: the worker's. Allocates: no. Blocks: no.
    [[nodiscard]] Result<std::string_view, Status> host_address(
        const Pick& pick, Span<char> buffer, std::size_t* needed = nullptr) noexcept {
        std::size_t size = 0;
        const plimsoll_status status = plimsoll_worker_host_address(
            handle_.get(), &pick.raw(), buffer.data(), buffer.size(), &size);
        if (needed != nullptr) {
            *needed = size;
        }
        if (status != PLIMSOLL_STATUS_OK) {
            return static_cast<Status>(status);
        }
        return std::string_view(buffer.data(), size - 1);
    }

    /// The address of the host of a pick, as a string of its own. Otherwise as above.
    ///
    /// Thread: the worker's. Allocates: for what a string does not hold in itself. Blocks: no.
    [[nodiscard]] Result<std::string, Status> host_address(const Pick& pick) {
        char buffer[64];
        std::size_t needed = 0;
        Result<std::string_view, Status> address = host_address(pick, buffer, &needed);
        if (address) {
            return std::string(*address);
        }
        if (address.status() != Status::buffer_too_small) {
            return address.status();
        }
        // With the same snapshot it takes as many bytes the second time.
        std::string text(needed, '\0');
        address = host_address(pick, text);
        if (!address) {
            return address.status();
        }
        text.resize(address->size());
        return text;
    }

    /// The data behind the host of a pick, null if it has none. `T` is what
    /// `Cluster::set_host_data` was given; nothing checks that.
    ///
    /// It is there until the pick is done, or, for one that is not counted, until the next pick. Ask
    /// right after the pick: a host that has left since is not found after the next one, though its
    /// data stays valid. Inside `accept` the candidate may be asked about.
    ///
    /// Fails with `Status::stale_pick`, `Status::null_argument`, `Status::invalid_argument` inside
    /// `accept` for another pick, or `Status::panic`.
    ///
    /// Thread: the worker's. Allocates: no. Blocks: no.
    template <class T>
    [[nodiscard]] Result<T*, Status> host_data(const Pick& pick) noexcept {
        void* data = nullptr;
        const plimsoll_status status =
            plimsoll_worker_host_data(handle_.get(), &pick.raw(), &data);
        if (status != PLIMSOLL_STATUS_OK) {
            return static_cast<Status>(status);
        }
        return static_cast<T*>(data);
    }

    /// Adopts the newest snapshot without a pick, so that an idle worker does not hold up an old
    /// one. Gives `Status::ok`, `Status::null_argument`, `Status::invalid_argument` in a callback,
    /// or `Status::panic`.
    ///
    /// Thread: the worker's. Allocates: no. Blocks: no.
    Status refresh() noexcept {
        return static_cast<Status>(plimsoll_worker_refresh(handle_.get()));
    }

    /// Lets go of the snapshot, so that an idle worker holds neither memory nor host data. The next
    /// pick adopts the newest one; picks that are not counted are no longer valid. Gives what
    /// `refresh` does.
    ///
    /// Thread: the worker's. Allocates: no. Blocks: no.
    Status quiesce() noexcept {
        return static_cast<Status>(plimsoll_worker_quiesce(handle_.get()));
    }

    /// The handle, for calls of the C interface; null if it was moved away.
    plimsoll_worker* handle() noexcept { return handle_.get(); }

private:
    static Result<Pick, Status> picked(plimsoll_status status, const plimsoll_pick& pick) noexcept {
        if (status != PLIMSOLL_STATUS_OK) {
            return static_cast<Status>(status);
        }
        return Pick(pick);
    }

    Result<Pick, Status> pick_by(const plimsoll_pick_context* context) noexcept {
        plimsoll_pick pick;
        return picked(plimsoll_worker_pick(handle_.get(), context, &pick), pick);
    }

    std::unique_ptr<plimsoll_worker, detail::FreeWorker> handle_;
};

/// A request that is under way: its pick is done when this leaves its scope, as a failure unless
/// `finish` said otherwise. Can be moved, not copied; one that was moved away or finished does
/// nothing.
///
/// For requests that end on the thread, and before the end, of the worker that picked: it goes on
/// using the worker's handle, though the `Worker` itself may be moved.
///
/// Thread: the worker's. Allocates: no. Blocks: no.
///
/// @code{.cpp}
/// if (auto pick = worker.pick()) {
///     plimsoll::ActivePick request(worker, *pick);
///     // Returning early or throwing here counts as a failure.
///     request.finish(plimsoll::Outcome::success);
/// }
/// @endcode
class ActivePick {
public:
    /// Takes over a counted pick of this worker's cluster.
    ActivePick(Worker& worker, const Pick& pick) noexcept : worker_(worker.handle()), pick_(pick) {}

    /// Takes the request over.
    ActivePick(ActivePick&& other) noexcept
        : worker_(std::exchange(other.worker_, nullptr)), pick_(other.pick_) {}

    /// Fails the request that this has, if any, and takes over the other.
    ActivePick& operator=(ActivePick&& other) noexcept {
        if (this != &other) {
            finish(Outcome::error);
            worker_ = std::exchange(other.worker_, nullptr);
            pick_ = other.pick_;
        }
        return *this;
    }

    ~ActivePick() { finish(Outcome::error); }

    /// The pick.
    const Pick& pick() const noexcept { return pick_; }

    /// Says that the request is over; the first time counts. Gives what `Worker::done` does, and
    /// `Status::not_counted` if there is nothing to be done any more.
    Status finish(Outcome outcome) noexcept {
        plimsoll_worker* worker = std::exchange(worker_, nullptr);
        if (worker == nullptr) {
            return Status::not_counted;
        }
        return static_cast<Status>(
            plimsoll_worker_done(worker, &pick_.raw(), static_cast<std::uint32_t>(outcome)));
    }

private:
    plimsoll_worker* worker_;
    Pick pick_;
};

}  // namespace plimsoll

#endif
