/// @file
/// Clusters: settings, hosts and the snapshot that workers pick from.

#ifndef PLIMSOLL_CPP_CLUSTER_HPP
#define PLIMSOLL_CPP_CLUSTER_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "../plimsoll.h"
#include "assignment.hpp"
#include "error.hpp"
#include "health.hpp"
#include "json.hpp"
#include "log.hpp"
#include "result.hpp"
#include "runtime.hpp"
#include "settings.hpp"
#include "span.hpp"
#include "text.hpp"
#include "update.hpp"
#include "view.hpp"
#include "worker.hpp"

namespace plimsoll {

namespace detail {

struct FreeCluster {
    void operator()(plimsoll_cluster* cluster) const noexcept { plimsoll_cluster_free(cluster); }
};

}  // namespace detail

class Cluster;

/// What a cluster needs to know besides its configuration. Refers to its texts.
///
/// @code{.cpp}
/// plimsoll::ClusterOptions options;
/// options.behavior = plimsoll::Behavior::envoy;
/// options.seed = 1;
/// options.now = std::chrono::steady_clock::now().time_since_epoch();
/// auto opened = plimsoll::Cluster::open("name: api\n", options);
/// @endcode
struct ClusterOptions {
    /// How it balances.
    Behavior behavior = Behavior::native;
    /// The seed of all random numbers, so that picks can be repeated. Nothing: seeded from the
    /// system's entropy, as in production, so that two proxies never pick in lockstep.
    std::optional<std::uint64_t> seed = std::nullopt;
    /// What the clock shows now.
    Time now = Time(0);
    /// The region of this node itself. All three parts empty: the node's place is not known.
    std::string_view region = {};
    /// The zone of this node itself.
    std::string_view zone = {};
    /// The sub-zone of this node itself.
    std::string_view sub_zone = {};
    /// The cluster that this node itself belongs to, Envoy's `local_cluster_name`; null: not known.
    /// It is followed with each control call, `Cluster::tick` at the latest, and may go first: then
    /// what it was last goes on to count.
    const Cluster* local_cluster = nullptr;
    /// Runtime values that hold from the start, also with `Behavior::envoy`, which takes later ones
    /// up with the next change only.
    Span<const RuntimeEntry> runtime = {};
    /// Where the cluster's messages go, if anywhere; has to live as long as the cluster.
    Log* log = nullptr;
    /// Which of them: those of this level and the ones that matter more.
    LogLevel log_level = LogLevel::info;
};

/// What a worker is told at its start: for many peeks, or to repeat what a worker did before, in
/// tests and replays. Refers to its draws.
///
/// @code{.cpp}
/// plimsoll::WorkerOptions options;
/// options.number = 0;
/// auto same_as_the_first = cluster.worker(options);
/// @endcode
struct WorkerOptions {
    /// How many peeks may be outstanding, 65536 at most; each costs 8 bytes. 0 stands for 64.
    std::uint32_t peek_capacity = 0;
    /// Which of the cluster's generators of random numbers the worker gets, and where its picks
    /// begin. Workers that live at the same time need different numbers. Nothing: one more than the
    /// worker that was made last.
    std::optional<std::uint64_t> number = std::nullopt;
    /// Numbers to be used before those of the generator, as with `Worker::push_draws`.
    Span<const std::uint64_t> draws = {};
};

/// A cluster: its settings, its hosts, and the snapshot that its workers pick from. Can be moved,
/// not copied; one that was moved away answers `Status::null_argument`.
///
/// Thread: any, several at once, as `const` says: control calls wait for each other, and never make
/// a worker wait. To move or destroy one is for one thread, while nobody else uses it. Its workers
/// go on with their last snapshot, and the last handle takes the rest with it, so that host data is
/// released. Open clusters after a `fork`: a child process must not use, nor destroy, what it
/// inherits.
///
/// A failed call had no effect, unless it answers `Status::panic`. After `Status::poisoned` open the
/// cluster anew; its workers go on. Callbacks run on the thread of the call that runs them; an
/// exception that leaves one ends the program. The calls themselves throw nothing, but for
/// `std::bad_alloc` in those that are not `noexcept`.
///
/// @code{.cpp}
/// auto opened = plimsoll::Cluster::open("name: api\nlb_policy: ROUND_ROBIN\n");
/// if (!opened) {
///     std::cerr << opened.error().describe() << '\n';
///     return;
/// }
/// plimsoll::Cluster api = *std::move(opened);
/// (void)api.apply(plimsoll::Update().upsert("10.0.0.1:80").upsert("10.0.0.2:80"));
/// auto picker = api.worker();
/// @endcode
class Cluster {
public:
    /// Opens a cluster from Envoy's `Cluster` message, as JSON or YAML; its hosts are those of its
    /// `load_assignment`, none if it has none.
    ///
    /// Fails with `Status::parse_error`, `Status::invalid_argument` for a value outside its range or
    /// an unknown field (the error names it), `Status::unsupported` for what Envoy accepts and this
    /// version does not, or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no.
    [[nodiscard]] static Result<Cluster> open(std::string_view config,
                                              const ClusterOptions& options = {}) noexcept {
        const plimsoll_cluster_options raw = to_c(options);
        plimsoll_cluster* cluster = nullptr;
        detail::ErrorSlot error;
        const plimsoll_status status =
            plimsoll_cluster_open(detail::to_c(config), &raw, &cluster, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return Cluster(cluster);
    }

    /// Opens a cluster from values, without any text of Envoy's; it has no hosts yet.
    ///
    /// Fails with `Status::invalid_argument` for a value outside its range (the error names it as the C
    /// interface has it, `settings.least_request.choice_count`) or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no.
    [[nodiscard]] static Result<Cluster> open(const ClusterSettings& settings,
                                              const ClusterOptions& options = {}) noexcept {
        return open(settings, nullptr, options);
    }

    /// The same with hosts. A mistake there is `assignment.localities[2].hosts[0].weight`, say.
    ///
    /// Thread: any. Allocates: yes. Blocks: no.
    ///
    /// @code{.cpp}
    /// const plimsoll::Endpoint hosts[] = {{"10.0.0.1:80"}, {"10.0.0.2:80", 2}};
    /// const plimsoll::LocalityHosts locality[] = {{hosts}};
    /// plimsoll::ClusterSettings settings;
    /// settings.name = "api";
    /// settings.policy = plimsoll::LeastRequest{3};
    /// auto opened = plimsoll::Cluster::open(settings, plimsoll::Assignment{locality});
    /// @endcode
    [[nodiscard]] static Result<Cluster> open(const ClusterSettings& settings,
                                              const Assignment& assignment,
                                              const ClusterOptions& options = {}) {
        const detail::RawAssignment hosts(assignment);
        return open(settings, hosts.get(), options);
    }

    /// Takes over a handle of the C interface, and frees it in the end.
    explicit Cluster(plimsoll_cluster* handle) noexcept : handle_(handle) {}

    /// Makes a worker. A thread that picks has one of its own.
    ///
    /// Fails with `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on control calls.
    [[nodiscard]] Result<Worker> worker() const noexcept {
        plimsoll_worker* worker = nullptr;
        detail::ErrorSlot error;
        const plimsoll_status status = plimsoll_worker_new(handle(), &worker, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return Worker(worker);
    }

    /// Makes a worker with other than the usual options.
    ///
    /// Fails as above.
    ///
    /// Thread: any. Allocates: yes. Blocks: on control calls.
    [[nodiscard]] Result<Worker> worker(const WorkerOptions& options) const noexcept {
        plimsoll_worker_options raw = PLIMSOLL_WORKER_OPTIONS_INIT;
        raw.peek_capacity = options.peek_capacity;
        raw.has_number = options.number.has_value() ? 1 : 0;
        raw.number = options.number.value_or(0);
        raw.draws = options.draws.data();
        raw.draw_count = options.draws.size();
        plimsoll_worker* worker = nullptr;
        detail::ErrorSlot error;
        const plimsoll_status status = plimsoll_worker_new_with(handle(), &raw, &worker, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return Worker(worker);
    }

    /// Takes in a new version of the `Cluster` message: settings and hosts in one step, all or
    /// nothing. Without a `load_assignment` the hosts stay; hosts that are still there keep their
    /// data and their active requests.
    ///
    /// Fails as `open` does, and with `Status::poisoned`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> reload(std::string_view config) const noexcept {
        plimsoll_applied applied = {0, false};
        detail::ErrorSlot error;
        return applied_or(
            plimsoll_cluster_reload(handle(), detail::to_c(config), &applied, error), applied,
            error);
    }

    /// Replaces the hosts by those of Envoy's `ClusterLoadAssignment`, as JSON or YAML. Hosts that
    /// are still there keep their data and their active requests.
    ///
    /// Fails as `reload` does.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> assign(std::string_view load_assignment) const noexcept {
        plimsoll_applied applied = {0, false};
        detail::ErrorSlot error;
        return applied_or(
            plimsoll_cluster_assign(handle(), detail::to_c(load_assignment), &applied, error),
            applied, error);
    }

    /// Replaces the settings by values, as a whole. Hosts, behavior and options stay.
    ///
    /// Fails as `open` does with settings, and with `Status::null_argument` or `Status::poisoned`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> configure(const ClusterSettings& settings) const noexcept {
        const detail::RawSettings raw(settings);
        return configure(raw.get(), nullptr);
    }

    /// Replaces the hosts by values. Settings stay, and hosts that are still there keep their data and
    /// their active requests. Otherwise as above.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> configure(const Assignment& assignment) const {
        const detail::RawAssignment hosts(assignment);
        return configure(nullptr, hosts.get());
    }

    /// Both in one step, all or nothing.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> configure(const ClusterSettings& settings,
                                            const Assignment& assignment) const {
        const detail::RawSettings raw(settings);
        const detail::RawAssignment hosts(assignment);
        return configure(raw.get(), hosts.get());
    }

    /// Applies changes to hosts in one step, all or nothing; any number of them makes one snapshot
    /// at most.
    ///
    /// Fails with `Status::unknown_host` if a host to be removed or reported on is not there,
    /// `Status::invalid_argument` for a value outside its range (the error names it,
    /// `changes[3].priority`), `Status::unsupported`, `Status::null_argument`, `Status::poisoned` or
    /// `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> apply(const Update& update) const noexcept {
        plimsoll_applied applied = {0, false};
        detail::ErrorSlot error;
        return applied_or(
            plimsoll_cluster_update(handle(), update.data(), update.size(), &applied, error),
            applied, error);
    }

    /// Moves the cluster's time on: slow start, weights that hosts reported, and what no worker uses
    /// any more, which is freed. Call it from a timer of yours, every 100 ms or so; late or bunched
    /// calls do no harm, and an earlier time changes nothing.
    ///
    /// Fails with `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    Result<void> tick(Time now) const noexcept {
        detail::ErrorSlot error;
        return ok_or(plimsoll_cluster_tick(handle(), detail::to_ns(now), error), error);
    }

    /// When `tick` has something to do next, for a caller that would rather not call it in vain;
    /// nothing while nothing is periodic. What ticks free is not due at any time: call one every now
    /// and then all the same, and one after an update.
    ///
    /// Fails as `tick` does.
    ///
    /// Thread: any. Allocates: no. Blocks: on other control calls.
    [[nodiscard]] Result<std::optional<Time>> next_tick() const noexcept {
        std::uint64_t next_ns = 0;
        detail::ErrorSlot error;
        const plimsoll_status status = plimsoll_cluster_next_tick(handle(), &next_ns, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return next_ns == 0 ? std::nullopt : std::optional<Time>(detail::from_ns(next_ns));
    }

    /// Sets a runtime key, such as `upstream.healthy_panic_threshold`, which overrides the setting
    /// of the same meaning: natively at once, with `Behavior::envoy` from the next change on. A key
    /// that this version does not read does nothing; a setting whose key has a value of another form
    /// keeps its configured one.
    ///
    /// Fails with `Status::invalid_argument` for a key that is not UTF-8 or a value that is infinite
    /// or not a number, `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    ///
    /// @code{.cpp}
    /// (void)cluster.set_runtime("upstream.healthy_panic_threshold", 30);
    /// (void)cluster.set_runtime("api.aggression", 1.5);
    /// (void)cluster.remove_runtime("api.aggression");
    /// @endcode
    [[nodiscard]] Result<Applied> set_runtime(std::string_view key,
                                              RuntimeValue value) const noexcept {
        const plimsoll_str name = detail::to_c(key);
        plimsoll_applied applied = {0, false};
        detail::ErrorSlot error;
        plimsoll_status status;
        if (const bool* truth = value.as_bool()) {
            status = plimsoll_cluster_set_runtime_bool(handle(), name, truth, &applied, error);
        } else if (const double* number = value.as_double()) {
            status = plimsoll_cluster_set_runtime_double(handle(), name, number, &applied, error);
        } else {
            status = plimsoll_cluster_set_runtime(handle(), name, value.as_whole(), &applied, error);
        }
        return applied_or(status, applied, error);
    }

    /// Sets and removes several runtime keys in one step, all or nothing; any number of them makes
    /// one snapshot at most. If a key stands there twice, the later value holds.
    ///
    /// Fails as `set_runtime` does; the error names the value, `values[3].key`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> update_runtime(Span<const RuntimeEntry> values) const noexcept {
        plimsoll_applied applied = {0, false};
        detail::ErrorSlot error;
        return applied_or(plimsoll_cluster_update_runtime(handle(), detail::to_c(values),
                                                          values.size(), &applied, error),
                          applied, error);
    }

    /// The same for values in braces.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> update_runtime(
        std::initializer_list<RuntimeEntry> values) const noexcept {
        return update_runtime(Span<const RuntimeEntry>(values.begin(), values.size()));
    }

    /// Removes a runtime key, whatever form its value has. Otherwise as `set_runtime`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<Applied> remove_runtime(std::string_view key) const noexcept {
        plimsoll_applied applied = {0, false};
        detail::ErrorSlot error;
        return applied_or(plimsoll_cluster_set_runtime(handle(), detail::to_c(key), nullptr,
                                                       &applied, error),
                          applied, error);
    }

    /// Sets how busy hosts are, all or nothing, for requests that the library does not count itself.
    /// Counted picks and `Worker::done` count on from there. The next pick of every worker sees it.
    /// If a host stands in the array twice, the later load holds.
    ///
    /// Fails with `Status::unknown_host`, `Status::invalid_argument` for a number outside its range
    /// (the error names it, `loads[3].active`), `Status::null_argument`, `Status::poisoned` or
    /// `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<void> set_loads(Span<const HostLoad> loads) const noexcept {
        detail::ErrorSlot error;
        // Each `HostLoad` is a `plimsoll_host_load` and nothing else.
        return ok_or(plimsoll_cluster_set_loads(
                         handle(), reinterpret_cast<const plimsoll_host_load*>(loads.data()),
                         loads.size(), error),
                     error);
    }

    /// The same for loads in braces.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    [[nodiscard]] Result<void> set_loads(std::initializer_list<HostLoad> loads) const noexcept {
        return set_loads(Span<const HostLoad>(loads.begin(), loads.size()));
    }

    /// Takes in a load report that did not come with a response: one
    /// `xds.data.orca.v3.OrcaLoadReport` in protobuf. `now` of 0 stands for what the last tick was
    /// told.
    ///
    /// Fails with `Status::unknown_host`, `Status::report_unreadable`, `Status::report_rejected` if
    /// nothing can be made of it, `Status::report_not_wanted` if the policy does not go by reports,
    /// `Status::invalid_argument`, `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    Result<void> report(std::string_view address, std::string_view message,
                        Time now = Time(0)) const noexcept {
        detail::ErrorSlot error;
        return ok_or(plimsoll_cluster_report(handle(), detail::to_c(address), message.data(),
                                             message.size(), detail::to_ns(now), error),
                     error);
    }

    /// Shows which streams of load reports are to be opened or closed by now, and gives when to ask
    /// again; nothing if nothing is due by itself. There are none unless the policy asks for them. Ask
    /// at that time, and after every change of hosts or settings.
    ///
    /// No lock is held: `act` may make any call, but must not destroy the cluster.
    ///
    /// Fails with `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls, and if `act` does.
    Result<std::optional<Time>> poll_streams(Time now, StreamActor act) const noexcept {
        std::uint64_t next_ns = 0;
        detail::ErrorSlot error;
        const plimsoll_status status = plimsoll_cluster_poll_streams(
            handle(), detail::to_ns(now), &act, act ? &detail::act_on_stream : nullptr, &next_ns,
            error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return next_ns == 0 ? std::nullopt : std::optional<Time>(detail::from_ns(next_ns));
    }

    /// Takes in a message of a stream: an `OrcaLoadReport` in protobuf. A stream whose message is none
    /// is closed by the next `poll_streams`.
    ///
    /// Fails with `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    Result<void> stream_message(StreamHost host, std::string_view message, Time now) const noexcept {
        detail::ErrorSlot error;
        return ok_or(plimsoll_cluster_stream_message(handle(), host.slot, host.generation,
                                                     message.data(), message.size(),
                                                     detail::to_ns(now), error),
                     error);
    }

    /// Takes note that a stream ended which was not closed on request, with this status of gRPC, or
    /// `PLIMSOLL_STREAM_BROKEN`.
    ///
    /// Fails as `stream_message` does, and with `Status::invalid_argument` for another negative status.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    Result<void> stream_ended(StreamHost host, std::int32_t grpc_status, Time now) const noexcept {
        detail::ErrorSlot error;
        return ok_or(plimsoll_cluster_stream_ended(handle(), host.slot, host.generation, grpc_status,
                                                   detail::to_ns(now), error),
                     error);
    }

    /// Takes in what a response said of the load of the host with this address, for a program that has
    /// no pick at hand any more; `Worker::report` is the call for the path of a request.
    ///
    /// Fails as `report` does, and with `Status::no_report` if the response says nothing of load.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    Result<void> report_response(std::string_view address, const ResponseLoad& load) const noexcept {
        const plimsoll_response_load raw = detail::to_c(load);
        detail::ErrorSlot error;
        return ok_or(
            plimsoll_cluster_report_response(handle(), detail::to_c(address), &raw, error), error);
    }

    /// Puts an object behind a host, once for each host; `Worker::host_data<T>` finds it with each
    /// pick.
    ///
    /// It is deleted exactly once, when the host has left the cluster, its last request is done, and
    /// no worker holds a snapshot that names it: in the first control call that finds it so, on the
    /// thread of that call, and at the latest with the last handle of the cluster. Its destructor
    /// must not destroy a cluster or worker, and must not throw. What is to happen then belongs
    /// there.
    ///
    /// On failure `data` keeps the object. Fails with `Status::unknown_host`, `Status::has_data`,
    /// `Status::invalid_argument` for an address that is not UTF-8, `Status::null_argument`,
    /// `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    ///
    /// @code{.cpp}
    /// struct Pool {
    ///     int connections = 0;
    /// };
    /// auto set = cluster.set_host_data("10.0.0.1:80", std::make_unique<Pool>());
    /// if (auto pick = worker.pick()) {
    ///     if (auto pool = worker.host_data<Pool>(*pick); pool && *pool != nullptr) {
    ///         (*pool)->connections++;
    ///     }
    ///     worker.done(*pick, plimsoll::Outcome::success);
    /// }
    /// @endcode
    template <class T>
    [[nodiscard]] Result<void> set_host_data(std::string_view address,
                                             std::unique_ptr<T>&& data) const noexcept {
        static_assert(std::is_nothrow_destructible_v<T> && !std::is_array_v<T>);
        using Object = std::remove_const_t<T>;
        auto* object = const_cast<Object*>(data.get());
        Result<void> set = set_host_data(address, object, [](void* released) noexcept {
            delete static_cast<Object*>(released);
        });
        if (set) {
            (void)data.release();
        }
        return set;
    }

    /// Puts a pointer behind a host, and says what is called with it in the end: a function, or a
    /// lambda that captures nothing, and is `noexcept`. It may be null: then nothing is called.
    /// Otherwise as above.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    ///
    /// @code{.cpp}
    /// static int released = 0;
    /// auto set = cluster.set_host_data("10.0.0.1:80", &released, [](void* data) noexcept {
    ///     ++*static_cast<int*>(data);
    /// });
    /// @endcode
    [[nodiscard]] Result<void> set_host_data(std::string_view address, void* data,
                                             void (*release)(void* data) noexcept) const noexcept {
        detail::ErrorSlot error;
        return ok_or(plimsoll_cluster_set_host_data(handle(), detail::to_c(address), data, release,
                                                    error),
                     error);
    }

    /// Shows every host of the newest snapshot, by priority, then in the assignment's order, until
    /// `visit` returns `Visit::stop`, which is no failure. All of them are of the same snapshot,
    /// whatever happens meanwhile.
    ///
    /// No lock is held: `visit` may make any call, but must not destroy the cluster. It should be
    /// quick: until the call returns, newer snapshots stay in memory, and hosts that left keep their
    /// data.
    ///
    /// Fails with `Status::null_argument` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
    Result<void> for_each_host(HostVisitor visit) const noexcept {
        detail::ErrorSlot error;
        return ok_or(plimsoll_cluster_for_each_host(handle(), &visit,
                                                    visit ? &detail::visit_host : nullptr, error),
                     error);
    }

    /// Shows every locality of the newest snapshot that has hosts, and there its healthy, its
    /// degraded and all its hosts, until `visit` returns `Visit::stop`. The order is by priority, by
    /// `Source`, then the node's own locality first and the others by name. Otherwise as
    /// `for_each_host`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
    Result<void> for_each_locality(LocalityVisitor visit) const noexcept {
        detail::ErrorSlot error;
        return ok_or(
            plimsoll_cluster_for_each_locality(handle(), &visit,
                                               visit ? &detail::visit_locality : nullptr, error),
            error);
    }

    /// Shows every place of a request where the cluster's policy `override_host` looks for addresses,
    /// in order, and last the place where the address of the picked host is to be written, if there
    /// is one; until `visit` returns `Visit::stop`. There is none without such a policy. Otherwise as
    /// `for_each_host`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
    Result<void> for_each_override_source(OverrideSourceVisitor visit) const noexcept {
        detail::ErrorSlot error;
        return ok_or(plimsoll_cluster_for_each_override_source(
                         handle(), &visit, visit ? &detail::visit_override_source : nullptr, error),
                     error);
    }

    /// A table of all hosts of the newest snapshot, for humans: its form may change.
    ///
    /// Fails with `Status::null_argument` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no.
    [[nodiscard]] Result<std::string, Status> hosts() const {
        return text_of(&plimsoll_cluster_hosts);
    }

    /// What the cluster's hosts have reported and how far their weights have followed that, for
    /// `import_reports` of the cluster that takes its place, in this process or in the next one.
    ///
    /// Fails with `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on control calls.
    [[nodiscard]] Result<std::string, Status> export_reports() const {
        return text_of(&plimsoll_cluster_export_reports);
    }

    /// Takes over what `export_reports` wrote, by address, as if the hosts had reported it to this
    /// cluster at that time. A host that has reported to this cluster keeps that, and hosts and
    /// policies that it does not have are passed over. Reports are as much older than the cluster's
    /// clock shows now. Returns how many records it took.
    ///
    /// Fails with `Status::invalid_argument`, `Status::null_argument`, `Status::poisoned` or
    /// `Status::panic`; nothing was taken over then.
    ///
    /// Thread: any. Allocates: yes. Blocks: on other control calls.
    ///
    /// @code{.cpp}
    /// if (auto text = cluster.export_reports()) {  // of the process before
    ///     auto taken = cluster.import_reports(*text);
    /// }
    /// @endcode
    Result<std::size_t> import_reports(std::string_view reports) const noexcept {
        detail::ErrorSlot error;
        std::size_t taken = 0;
        const plimsoll_status status =
            plimsoll_cluster_import_reports(handle(), detail::to_c(reports), &taken, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return taken;
    }

    /// The cluster's counters: a line `name: value` for each that is not zero, sorted by name. Names
    /// are Envoy's where Envoy has the counter; ours start with `plimsoll.`.
    ///
    /// Fails with `Status::null_argument`, `Status::poisoned` or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on control calls.
    [[nodiscard]] Result<std::string, Status> stats() const {
        return text_of(&plimsoll_cluster_stats);
    }

    /// A part of what there is to see of the newest snapshot, as JSON without spaces, for programs.
    /// Later versions may add keys.
    ///
    /// Fails with `Status::invalid_argument` for a table of a priority that there is not or a filter
    /// that the part does not have (the error names it), `Status::null_argument`, `Status::poisoned`
    /// (counters only) or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: on control calls, for counters only.
    [[nodiscard]] Result<std::string> dump(const Dump& what) const {
        const plimsoll_dump_options raw = detail::to_c(what);
        return detail::text_or_error_of([&](char* buffer, std::size_t capacity,
                                            std::size_t* needed, plimsoll_error** error) {
            return plimsoll_cluster_dump(handle(), &raw, buffer, capacity, needed, error);
        });
    }

    /// The handle, for calls of the C interface; null if it was moved away.
    const plimsoll_cluster* handle() const noexcept { return handle_.get(); }

private:
    static plimsoll_cluster_options to_c(const ClusterOptions& options) noexcept {
        plimsoll_cluster_options raw = PLIMSOLL_CLUSTER_OPTIONS_INIT;
        raw.behavior = static_cast<std::uint32_t>(options.behavior);
        raw.has_seed = options.seed.has_value() ? 1 : 0;
        raw.seed = options.seed.value_or(0);
        raw.now_ns = detail::to_ns(options.now);
        raw.region = detail::to_c(options.region);
        raw.zone = detail::to_c(options.zone);
        raw.sub_zone = detail::to_c(options.sub_zone);
        raw.local_cluster = options.local_cluster == nullptr ? nullptr
                                                             : options.local_cluster->handle();
        raw.runtime = detail::to_c(options.runtime);
        raw.runtime_count = options.runtime.size();
        raw.log = options.log == nullptr ? nullptr : &detail::log;
        raw.log_userdata = options.log;
        raw.log_level = static_cast<std::uint32_t>(options.log_level);
        return raw;
    }

    static Result<Cluster> open(const ClusterSettings& settings, const plimsoll_assignment* hosts,
                                const ClusterOptions& options) noexcept {
        const detail::RawSettings own(settings);
        const plimsoll_cluster_options raw = to_c(options);
        plimsoll_cluster* cluster = nullptr;
        detail::ErrorSlot error;
        const plimsoll_status status =
            plimsoll_cluster_new(own.get(), hosts, &raw, &cluster, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return Cluster(cluster);
    }

    Result<Applied> configure(const plimsoll_cluster_settings* settings,
                              const plimsoll_assignment* hosts) const noexcept {
        plimsoll_applied applied = {0, false};
        detail::ErrorSlot error;
        return applied_or(plimsoll_cluster_configure(handle(), settings, hosts, &applied, error),
                          applied, error);
    }

    static Result<Applied> applied_or(plimsoll_status status, const plimsoll_applied& applied,
                                      detail::ErrorSlot& error) noexcept {
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return Applied{applied.version, applied.published};
    }

    static Result<void> ok_or(plimsoll_status status, detail::ErrorSlot& error) noexcept {
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return {};
    }

    template <class Write>
    Result<std::string, Status> text_of(Write write) const {
        return detail::text_of([&](char* buffer, std::size_t capacity, std::size_t* needed) {
            return write(handle(), buffer, capacity, needed);
        });
    }

    std::unique_ptr<plimsoll_cluster, detail::FreeCluster> handle_;
};

}  // namespace plimsoll

#endif
