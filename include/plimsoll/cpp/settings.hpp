/// @file
/// The settings of a cluster as a value, for programs that have no text of Envoy's.

#ifndef PLIMSOLL_CPP_SETTINGS_HPP
#define PLIMSOLL_CPP_SETTINGS_HPP

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "../plimsoll.h"
#include "health.hpp"
#include "policy.hpp"
#include "span.hpp"
#include "text.hpp"

namespace plimsoll {

/// What zone-aware routing compares.
enum class LocalityBasis : std::uint32_t {
    /// The numbers of healthy hosts.
    healthy_hosts_num = PLIMSOLL_BASIS_HEALTHY_HOSTS_NUM,
    /// The sums of their weights.
    healthy_hosts_weight = PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT,
};

/// Nearest first, as far as the hosts there suffice for the proxies there. It does nothing without
/// `ClusterOptions::local_cluster`, and does not go with `RingHash` and `Maglev`.
///
/// @code{.cpp}
/// plimsoll::ClusterSettings settings;
/// settings.name = "api";
/// plimsoll::ZoneAware zones;
/// zones.force_local_zone = 3;
/// settings.locality_routing = zones;
/// @endcode
struct ZoneAware {
    /// The percentage of picks that it applies to, 0 to 100.
    double routing_enabled = 100;
    /// With fewer healthy hosts it does not apply.
    std::uint64_t min_cluster_size = 6;
    /// Stay in the local zone whatever the proportions, as long as so many of its hosts are healthy.
    /// Nothing: proportions decide.
    std::optional<std::uint32_t> force_local_zone = std::nullopt;
    /// What is compared between this node's own cluster and the hosts.
    LocalityBasis locality_basis = LocalityBasis::healthy_hosts_num;
};

/// By the weights that the assignment gives to localities, times their health.
struct LocalityWeighted {};

/// By the load that hosts report, nearest first. Refers to its texts.
struct LoadAwareLocality {
    /// How often weights are made of the reports, at least 100 ms.
    Time weight_update_period = std::chrono::seconds(1);
    /// The time constant of smoothing, at least 1 ms.
    Time smoothing_time_constant = std::chrono::seconds(5);
    /// A report older than this does not count; 0 for never too old.
    Time weight_expiration_period = std::chrono::seconds(180);
    /// By how much the local locality may be busier than the others and still get everything, 0 to 1.
    double utilization_variance_threshold = 0.1;
    /// The part of the traffic that other localities get at least, 0 to less than 1.
    double remote_probe_fraction = 0.03;
    /// Which metrics are the utilization, before that of the application and the CPU.
    Span<const Text> metric_names_for_computing_utilization = {};
    /// Ask for reports on streams, besides those with responses; see `Cluster::poll_streams`.
    bool enable_oob_load_report = false;
    /// How often streams are to report; 0 counts as 10 s.
    Time oob_reporting_period = std::chrono::seconds(10);
    /// Where streams go.
    OobReporting oob_reporting_config = {};
};

/// How traffic divides among the localities of a priority, with the settings of that alone; nothing:
/// by their hosts.
using LocalityRouting = std::variant<std::monostate, ZoneAware, LocalityWeighted, LoadAwareLocality>;

/// A place of a request: where an address of a host stands, or is to be written. Refers to its texts.
///
/// @code{.cpp}
/// static const plimsoll::Text path[] = {"destination"};
/// static const plimsoll::OverridePlace sources[] = {
///     plimsoll::OverridePlace::header("x-destination"),
///     plimsoll::OverridePlace::metadata("envoy.lb", path),
/// };
/// plimsoll::OverrideHost override_host;
/// override_host.sources = sources;
/// @endcode
class OverridePlace {
public:
    /// The first value of this header. Not empty.
    static OverridePlace header(std::string_view name) noexcept {
        return OverridePlace(PLIMSOLL_OVERRIDE_HEADER, name, {});
    }

    /// A text in dynamic metadata: a namespace, such as `envoy.lb`, and the fields that lead there,
    /// from the outside in; at least one.
    static OverridePlace metadata(std::string_view name, Span<const Text> path) noexcept {
        return OverridePlace(PLIMSOLL_OVERRIDE_METADATA, name, path);
    }

    /// The same for `OverrideHost::selected_host_key`.
    static OverridePlace selected_host(std::string_view name, Span<const Text> path) noexcept {
        return OverridePlace(PLIMSOLL_OVERRIDE_SELECTED_HOST, name, path);
    }

    /// As the C interface has it.
    const plimsoll_override_source& raw() const noexcept { return place_; }

private:
    OverridePlace(std::uint32_t kind, std::string_view name, Span<const Text> path) noexcept {
        place_.kind = kind;
        place_.name = detail::to_c(name);
        place_.path = detail::to_c(path);
        place_.path_count = path.size();
    }

    plimsoll_override_source place_ = PLIMSOLL_OVERRIDE_SOURCE_INIT;
};

// An array of them is read as an array of what is in them.
static_assert(sizeof(OverridePlace) == sizeof(plimsoll_override_source) &&
              std::is_standard_layout_v<OverridePlace>);

/// Hosts that requests name come before the policy: Envoy's policy `override_host`.
struct OverrideHost {
    /// Where addresses are looked for, in order; at least one.
    Span<const OverridePlace> sources = {};
    /// Where the address of the picked host is to be written, an `OverridePlace::selected_host`.
    std::optional<OverridePlace> selected_host_key = std::nullopt;
};

/// The settings of a cluster, which are those of Envoy's `Cluster` message and have its defaults.
/// Refers to its texts.
///
/// @code{.cpp}
/// plimsoll::ClusterSettings settings;
/// settings.name = "api";
/// settings.policy = plimsoll::Maglev{251};
/// settings.locality_routing = plimsoll::LocalityWeighted{};
/// auto opened = plimsoll::Cluster::open(settings);
/// @endcode
struct ClusterSettings {
    /// The cluster's name, for messages, figures and runtime keys. Not empty.
    std::string_view name = {};
    /// How a host is chosen.
    Policy policy = {};
    /// How traffic divides among localities before that.
    LocalityRouting locality_routing = {};
    /// Below this percentage of available hosts a priority panics: it sends to all its hosts. 0 to
    /// 100; 0 switches panic off.
    double healthy_panic_threshold = 50;
    /// In panic, give no host instead of any host.
    bool fail_traffic_on_panic = false;
    /// Hosts are checked actively, so that new ones are unhealthy until their first check passes.
    bool active_health_checks = false;
    /// With active health checks new hosts also stay out of all percentages until their first one.
    bool ignore_new_hosts_until_first_hc = false;
    /// With active health checks a host that the assignment drops goes at once, even if its checks
    /// still pass.
    bool ignore_health_on_host_removal = false;
    /// Which health hosts of `Worker::pick_override` may have. Without effect with `override_host`.
    EdsHealthSet override_host_status = {EdsHealth::unknown, EdsHealth::healthy, EdsHealth::degraded};
    /// Where requests name their hosts; nothing: they do not.
    std::optional<OverrideHost> override_host = std::nullopt;
};

namespace detail {

// The C structs that settings take, and what they point to. Refers to the settings' texts.
class RawSettings {
public:
    explicit RawSettings(const ClusterSettings& from) noexcept : policy_(from.policy) {
        settings_.name = to_c(from.name);
        policy_.put_into(settings_);
        std::visit([this](const auto& own) { take(own); }, from.locality_routing);
        settings_.healthy_panic_threshold = from.healthy_panic_threshold;
        settings_.fail_traffic_on_panic = from.fail_traffic_on_panic ? 1 : 0;
        settings_.active_health_checks = from.active_health_checks ? 1 : 0;
        settings_.ignore_new_hosts_until_first_hc = from.ignore_new_hosts_until_first_hc ? 1 : 0;
        settings_.ignore_health_on_host_removal = from.ignore_health_on_host_removal ? 1 : 0;
        settings_.override_host_status = from.override_host_status.bits();
        if (from.override_host) {
            take(*from.override_host);
        }
    }

    RawSettings(const RawSettings&) = delete;
    RawSettings& operator=(const RawSettings&) = delete;

    const plimsoll_cluster_settings* get() const noexcept { return &settings_; }

private:
    void take(std::monostate) noexcept { settings_.locality_routing = PLIMSOLL_ROUTING_UNSET; }

    void take(const ZoneAware& from) noexcept {
        settings_.locality_routing = PLIMSOLL_ROUTING_ZONE_AWARE;
        zone_aware_.routing_enabled = from.routing_enabled;
        zone_aware_.min_cluster_size = from.min_cluster_size;
        zone_aware_.has_force_local_zone = from.force_local_zone ? 1 : 0;
        zone_aware_.force_local_zone = from.force_local_zone.value_or(0);
        zone_aware_.locality_basis = static_cast<std::uint32_t>(from.locality_basis);
        settings_.zone_aware = &zone_aware_;
    }

    void take(const LocalityWeighted&) noexcept {
        settings_.locality_routing = PLIMSOLL_ROUTING_WEIGHTED;
    }

    void take(const LoadAwareLocality& from) noexcept {
        settings_.locality_routing = PLIMSOLL_ROUTING_LOAD_AWARE;
        load_aware_.weight_update_period_ns = length_to_ns(from.weight_update_period);
        load_aware_.smoothing_time_constant_ns = length_to_ns(from.smoothing_time_constant);
        load_aware_.weight_expiration_period_ns = length_to_ns(from.weight_expiration_period);
        load_aware_.utilization_variance_threshold = from.utilization_variance_threshold;
        load_aware_.remote_probe_fraction = from.remote_probe_fraction;
        take_reporting(from, load_aware_, reporting_);
        settings_.load_aware_locality = &load_aware_;
    }

    void take(const OverrideHost& from) noexcept {
        // Each `OverridePlace` is a `plimsoll_override_source` and nothing else.
        override_host_.sources =
            reinterpret_cast<const plimsoll_override_source*>(from.sources.data());
        override_host_.source_count = from.sources.size();
        override_host_.selected_host_key =
            from.selected_host_key ? &from.selected_host_key->raw() : nullptr;
        settings_.override_host = &override_host_;
    }

    RawPolicy policy_;
    plimsoll_cluster_settings settings_ = PLIMSOLL_CLUSTER_SETTINGS_INIT;
    plimsoll_zone_aware zone_aware_ = PLIMSOLL_ZONE_AWARE_INIT;
    plimsoll_load_aware_locality load_aware_ = PLIMSOLL_LOAD_AWARE_LOCALITY_INIT;
    plimsoll_oob_reporting reporting_ = PLIMSOLL_OOB_REPORTING_INIT;
    plimsoll_override_host override_host_ = PLIMSOLL_OVERRIDE_HOST_INIT;
};

}  // namespace detail

}  // namespace plimsoll

#endif
