/// @file
/// How a cluster chooses hosts: the policies and their settings, as values.

#ifndef PLIMSOLL_CPP_POLICY_HPP
#define PLIMSOLL_CPP_POLICY_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "../plimsoll.h"
#include "hash.hpp"
#include "span.hpp"
#include "text.hpp"

namespace plimsoll {

/// A number that a runtime value replaces. Refers to its key.
///
/// @code{.cpp}
/// plimsoll::LeastRequest least_request;
/// least_request.active_request_bias = plimsoll::RuntimeDouble{0.5, "api.bias"};
/// @endcode
struct RuntimeDouble {
    /// The number while there is no value for the key.
    double default_value = 0;
    /// The key, see `Cluster::set_runtime`. Not empty.
    std::string_view runtime_key = {};
};

/// How the share of a new host grows to what its weight gives it.
///
/// @code{.cpp}
/// plimsoll::RoundRobin round_robin;
/// round_robin.slow_start = plimsoll::SlowStart{std::chrono::seconds(30)};
/// @endcode
struct SlowStart {
    /// How long it takes, at least a millisecond; 0 switches it off.
    Time window = Time(0);
    /// The least share of its weight that a new host has, 0 to 100.
    double min_weight_percent = 10;
    /// 1 grows linearly, more than 1 faster at first; more than 0. Nothing: 1.
    std::optional<RuntimeDouble> aggression = std::nullopt;
};

/// Each host in its turn, in proportion to the weights.
struct RoundRobin {
    /// How new hosts are warmed up; nothing: they get their full share at once.
    std::optional<SlowStart> slow_start = std::nullopt;
};

/// Which hosts `LeastRequest` looks at.
enum class SelectionMethod : std::uint32_t {
    /// So many that are drawn at random.
    n_choices = PLIMSOLL_SELECTION_N_CHOICES,
    /// All of them, at a cost in proportion to their number.
    full_scan = PLIMSOLL_SELECTION_FULL_SCAN,
};

/// The least busy of a few hosts that are drawn at random.
struct LeastRequest {
    /// How many hosts are drawn, 2 to 65536. Without effect with `SelectionMethod::full_scan`.
    std::uint32_t choice_count = 2;
    /// Whether a few hosts are looked at, or all.
    SelectionMethod selection_method = SelectionMethod::n_choices;
    /// How much active requests count, at least 0; nothing: 1.
    std::optional<RuntimeDouble> active_request_bias = std::nullopt;
    /// How new hosts are warmed up; nothing: they get their full share at once.
    std::optional<SlowStart> slow_start = std::nullopt;
};

/// Where streams of load reports go. Refers to its text.
struct OobReporting {
    /// The port, at most 65535; 0 for the host's own.
    std::uint32_t port_value = 0;
    /// What to call the host in requests. Empty: its name or its address.
    std::string_view authority = {};
};

/// Each host in its turn, in proportion to the weights that follow from what hosts report of their
/// load. Refers to its texts.
///
/// @code{.cpp}
/// static const plimsoll::Text metrics[] = {"named_metrics.queue"};
/// plimsoll::ClientSideWeightedRoundRobin weighted;
/// weighted.blackout_period = std::chrono::seconds(1);
/// weighted.metric_names_for_computing_utilization = metrics;
/// @endcode
struct ClientSideWeightedRoundRobin {
    /// From a host's first report on, so long its reports do not count.
    Time blackout_period = std::chrono::seconds(10);
    /// A report older than this does not count. 0: never too old with `Behavior::native`, always with
    /// `Behavior::envoy`.
    Time weight_expiration_period = std::chrono::seconds(180);
    /// How often weights are taken over; less than 100 ms counts as that.
    Time weight_update_period = std::chrono::seconds(1);
    /// How much errors add to the utilization, at least 0. Nothing: 1 with `Behavior::native`, 0 with
    /// `Behavior::envoy`.
    std::optional<float> error_utilization_penalty = std::nullopt;
    /// Which metrics are the utilization, before that of the application and the CPU.
    Span<const Text> metric_names_for_computing_utilization = {};
    /// Ask for reports on streams, besides those with responses; see `Cluster::poll_streams`.
    bool enable_oob_load_report = false;
    /// How often streams are to report; 0 counts as 10 s.
    Time oob_reporting_period = std::chrono::seconds(10);
    /// Where streams go.
    OobReporting oob_reporting_config = {};
    /// How new hosts are warmed up; nothing: they get their full share at once.
    std::optional<SlowStart> slow_start = std::nullopt;
};

/// Any host, natively in proportion to the weights.
struct Random {};

/// How `RingHash` hashes keys of hosts.
enum class HashFunction : std::uint32_t {
    /// xxHash64.
    xx_hash = PLIMSOLL_HASH_FUNCTION_XX_HASH,
    /// MurmurHash2 in 64 bits.
    murmur_hash_2 = PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2,
};

/// The host whose point on a ring follows the request's hash. Refers to its hash policies, which are
/// copied by the call that takes it.
struct RingHash {
    /// How keys of hosts are hashed.
    HashFunction hash_function = HashFunction::xx_hash;
    /// 1 to 8388608. With `Behavior::envoy` a ring has at least as many points; natively an eighth of
    /// it are the points of a host for each unit of its weight.
    std::uint32_t minimum_ring_size = 1024;
    /// A ring has at most as many points. 0: 8388608 with `Behavior::envoy`, natively the larger of
    /// 1048576 and `minimum_ring_size`.
    std::uint32_t maximum_ring_size = 0;
    /// A host's key is its name instead of its address, unless it has a `hash_key`.
    bool use_hostname_for_hashing = false;
    /// No host gets more than this percentage of its fair share of the active requests, at least 100;
    /// 0: as much as comes.
    std::uint32_t hash_balance_factor = 0;
    /// What requests are hashed from, in place of what their route says; null: the route says it, or
    /// the caller hashes.
    const HashPolicies* hash_policies = nullptr;
};

/// The host that a table has for the request's hash. Refers to its hash policies, which are copied by
/// the call that takes it.
struct Maglev {
    /// A prime, at most 5000011; a hundred times the number of hosts keeps their shares within a
    /// hundredth.
    std::uint32_t table_size = 65537;
    /// A host's key is its name instead of its address, unless it has a `hash_key`.
    bool use_hostname_for_hashing = false;
    /// No host gets more than this percentage of its fair share of the active requests, at least 100;
    /// 0: as much as comes.
    std::uint32_t hash_balance_factor = 0;
    /// What requests are hashed from, in place of what their route says; null: the route says it, or
    /// the caller hashes.
    const HashPolicies* hash_policies = nullptr;
};

/// How a host is chosen, with the settings of that alone.
using Policy = std::variant<RoundRobin, LeastRequest, ClientSideWeightedRoundRobin, Random, RingHash,
                            Maglev>;

namespace detail {

// What policies that follow load reports say of them. `streams` is what `to` points to.
template <class From, class To>
void take_reporting(const From& from, To& to, plimsoll_oob_reporting& streams) noexcept {
    to.oob_reporting_period_ns = length_to_ns(from.oob_reporting_period);
    to.enable_oob_load_report = from.enable_oob_load_report ? 1 : 0;
    streams.port_value = from.oob_reporting_config.port_value;
    streams.authority = to_c(from.oob_reporting_config.authority);
    to.oob_reporting_config = &streams;
    to.metric_names_for_computing_utilization = to_c(from.metric_names_for_computing_utilization);
    to.metric_name_count = from.metric_names_for_computing_utilization.size();
}

// The C structs that a policy takes, and what they point to. Refers to the policy's texts.
class RawPolicy {
public:
    explicit RawPolicy(const Policy& policy) noexcept {
        std::visit([this](const auto& own) { take(own); }, policy);
    }

    RawPolicy(const RawPolicy&) = delete;
    RawPolicy& operator=(const RawPolicy&) = delete;

    // Names what there is; it points into this.
    void put_into(plimsoll_cluster_settings& settings) const noexcept {
        settings.policy = number_;
        settings.slow_start = has_slow_start_ ? &slow_start_ : nullptr;
        switch (number_) {
        case PLIMSOLL_POLICY_LEAST_REQUEST:
            settings.least_request = &least_request_;
            break;
        case PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN:
            settings.client_side_weighted_round_robin = &weighted_;
            break;
        case PLIMSOLL_POLICY_RING_HASH:
            settings.ring_hash = &ring_hash_;
            break;
        case PLIMSOLL_POLICY_MAGLEV:
            settings.maglev = &maglev_;
            break;
        default:
            break;
        }
    }

private:
    void take(const RoundRobin& from) noexcept {
        number_ = PLIMSOLL_POLICY_ROUND_ROBIN;
        take(from.slow_start);
    }

    void take(const LeastRequest& from) noexcept {
        number_ = PLIMSOLL_POLICY_LEAST_REQUEST;
        least_request_.choice_count = from.choice_count;
        least_request_.selection_method = static_cast<std::uint32_t>(from.selection_method);
        least_request_.active_request_bias = to_c(from.active_request_bias, bias_);
        take(from.slow_start);
    }

    void take(const ClientSideWeightedRoundRobin& from) noexcept {
        number_ = PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN;
        weighted_.blackout_period_ns = length_to_ns(from.blackout_period);
        weighted_.weight_expiration_period_ns = length_to_ns(from.weight_expiration_period);
        weighted_.weight_update_period_ns = length_to_ns(from.weight_update_period);
        weighted_.has_error_utilization_penalty = from.error_utilization_penalty ? 1 : 0;
        weighted_.error_utilization_penalty = from.error_utilization_penalty.value_or(0.0F);
        take_reporting(from, weighted_, reporting_);
        take(from.slow_start);
    }

    void take(const Random&) noexcept { number_ = PLIMSOLL_POLICY_RANDOM; }

    void take(const RingHash& from) noexcept {
        number_ = PLIMSOLL_POLICY_RING_HASH;
        ring_hash_.hash_function = static_cast<std::uint32_t>(from.hash_function);
        ring_hash_.minimum_ring_size = from.minimum_ring_size;
        ring_hash_.maximum_ring_size = from.maximum_ring_size;
        take_hashing(from, ring_hash_);
    }

    void take(const Maglev& from) noexcept {
        number_ = PLIMSOLL_POLICY_MAGLEV;
        maglev_.table_size = from.table_size;
        take_hashing(from, maglev_);
    }

    template <class From, class To>
    static void take_hashing(const From& from, To& to) noexcept {
        to.use_hostname_for_hashing = from.use_hostname_for_hashing ? 1 : 0;
        to.hash_balance_factor = from.hash_balance_factor;
        to.hash_policies = from.hash_policies == nullptr ? nullptr : from.hash_policies->handle();
    }

    void take(const std::optional<SlowStart>& from) noexcept {
        has_slow_start_ = from.has_value();
        if (from) {
            slow_start_.window_ns = length_to_ns(from->window);
            slow_start_.min_weight_percent = from->min_weight_percent;
            slow_start_.aggression = to_c(from->aggression, aggression_);
        }
    }

    static const plimsoll_runtime_double* to_c(const std::optional<RuntimeDouble>& from,
                                               plimsoll_runtime_double& to) noexcept {
        if (!from) {
            return nullptr;
        }
        to.default_value = from->default_value;
        to.runtime_key = detail::to_c(from->runtime_key);
        return &to;
    }

    std::uint32_t number_ = PLIMSOLL_POLICY_ROUND_ROBIN;
    bool has_slow_start_ = false;
    plimsoll_slow_start slow_start_ = PLIMSOLL_SLOW_START_INIT;
    plimsoll_runtime_double aggression_ = {0, {nullptr, 0}};
    plimsoll_runtime_double bias_ = {0, {nullptr, 0}};
    plimsoll_least_request least_request_ = PLIMSOLL_LEAST_REQUEST_INIT;
    plimsoll_client_side_weighted_round_robin weighted_ =
        PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT;
    plimsoll_oob_reporting reporting_ = PLIMSOLL_OOB_REPORTING_INIT;
    plimsoll_ring_hash ring_hash_ = PLIMSOLL_RING_HASH_INIT;
    plimsoll_maglev maglev_ = PLIMSOLL_MAGLEV_INIT;
};

}  // namespace detail

}  // namespace plimsoll

#endif
