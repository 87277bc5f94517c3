/// @file
/// What a cluster looks like: its hosts and localities, as they are shown to a visitor.

#ifndef PLIMSOLL_CPP_VIEW_HPP
#define PLIMSOLL_CPP_VIEW_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "../plimsoll.h"
#include "function_ref.hpp"
#include "health.hpp"
#include "span.hpp"
#include "text.hpp"

namespace plimsoll {

/// Whether a visitor wants to see more. A visitor that returns nothing sees all.
enum class Visit {
    /// The next one, please.
    more = 0,
    /// This was the last one.
    stop = 1,
};

/// What a host has said of its load.
struct HostReport {
    /// The utilization that the policy goes by; more than 1 is possible.
    double utilization;
    /// How long ago the report came, by the last tick.
    std::chrono::nanoseconds age;
    /// The weight that follows. It becomes the effective one when weights are taken over, and only
    /// while the report counts.
    double weight;
};

/// A host as `Cluster::for_each_host` shows it. It is there during the visit only, and so are its
/// texts: copy what you need.
///
/// @code{.cpp}
/// (void)cluster.for_each_host([](const plimsoll::Host& host) {
///     std::cout << host.address() << ": " << 100 * host.share() << " %\n";
/// });
/// @endcode
class Host {
public:
    /// Shows what a C visitor was given; `host` outlives this.
    explicit Host(const plimsoll_host& host) noexcept : host_(host) {}

    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Its address, its identity.
    std::string_view address() const noexcept { return detail::from_c(host_.address); }
    /// Its name; may be empty.
    std::string_view hostname() const noexcept { return detail::from_c(host_.hostname); }
    /// Its region; may be empty.
    std::string_view region() const noexcept { return detail::from_c(host_.region); }
    /// Its zone; may be empty.
    std::string_view zone() const noexcept { return detail::from_c(host_.zone); }
    /// Its sub-zone; may be empty.
    std::string_view sub_zone() const noexcept { return detail::from_c(host_.sub_zone); }
    /// Its priority; 0 is used first.
    std::uint32_t priority() const noexcept { return host_.priority; }
    /// Its configured weight.
    std::uint32_t weight() const noexcept { return host_.weight; }
    /// How many requests are active on it; changes while one looks.
    std::uint32_t active() const noexcept { return host_.active; }
    /// All that is known of its health.
    HealthFlags health() const noexcept { return HealthFlags(host_.health); }
    /// What the control plane says of it.
    EdsHealth eds_health() const noexcept { return static_cast<EdsHealth>(host_.eds_health); }
    /// What balancing makes of its health.
    CoarseHealth coarse() const noexcept { return static_cast<CoarseHealth>(host_.coarse); }
    /// The weight that the policy uses now, slow start included and its requests not.
    double effective_weight() const noexcept { return host_.effective_weight; }
    /// The part of the traffic that it gets, 0 to 1; with `LEAST_REQUEST`, while no host has
    /// requests.
    double share() const noexcept { return host_.share; }
    /// What its slow start multiplies its weight with now, 0 to 1; 1 if it is not in slow start.
    double slow_start_factor() const noexcept { return host_.slow_start_factor; }
    /// How long its slow start still takes; 0 if, and only if, it is not in slow start.
    std::chrono::duration<double> slow_start_left() const noexcept {
        return std::chrono::duration<double>(host_.slow_start_seconds_left);
    }
    /// Its last report; nothing if there is none, or if the policy does not go by reports.
    std::optional<HostReport> report() const noexcept {
        if (host_.has_report == 0) {
            return std::nullopt;
        }
        return HostReport{host_.utilization, detail::from_ns(host_.report_age_ns),
                          host_.reported_weight};
    }

    /// What the C interface shows. A library that is older than the header has filled in `size`
    /// bytes of it.
    const plimsoll_host& raw() const noexcept { return host_; }

private:
    const plimsoll_host& host_;
};

/// One kind of hosts in one locality, as `Cluster::for_each_locality` shows it. It is there during
/// the visit only, and so are its texts.
///
/// @code{.cpp}
/// (void)cluster.for_each_locality([](const plimsoll::Locality& locality) {
///     if (locality.load() > 0) {
///         std::cout << locality.zone() << ": " << locality.weight() << '\n';
///     }
/// });
/// @endcode
class Locality {
public:
    /// Shows what a C visitor was given; `locality` outlives this.
    explicit Locality(const plimsoll_locality& locality) noexcept : locality_(locality) {}

    Locality(const Locality&) = delete;
    Locality& operator=(const Locality&) = delete;

    /// Its region; may be empty.
    std::string_view region() const noexcept { return detail::from_c(locality_.region); }
    /// Its zone; may be empty.
    std::string_view zone() const noexcept { return detail::from_c(locality_.zone); }
    /// Its sub-zone; may be empty.
    std::string_view sub_zone() const noexcept { return detail::from_c(locality_.sub_zone); }
    /// The priority of the hosts; 0 is used first.
    std::uint32_t priority() const noexcept { return locality_.priority; }
    /// Which of its hosts.
    Source source() const noexcept { return static_cast<Source>(locality_.source); }
    /// Whether the node's own locality gets everything that goes to such hosts of this priority.
    bool all_local() const noexcept { return locality_.all_local != 0; }
    /// How many such hosts there are.
    std::uint64_t hosts() const noexcept { return locality_.hosts; }
    /// The part of all requests that goes to such hosts of this priority, 0 to 1; the same for all
    /// localities of one priority and source.
    double load() const noexcept { return locality_.load; }
    /// What the locality gets of `load()`: natively its part, 0 to 1; with `Behavior::envoy` in
    /// proportion to this. It means nothing if the priority has no such hosts.
    double weight() const noexcept { return locality_.weight; }
    /// How busy the hosts are, smoothed; more than 1 is possible. Nothing unless routing goes by it.
    std::optional<double> utilization() const noexcept {
        return locality_.has_utilization == 0 ? std::nullopt
                                              : std::optional<double>(locality_.utilization);
    }

    /// What the C interface shows. A library that is older than the header has filled in `size`
    /// bytes of it.
    const plimsoll_locality& raw() const noexcept { return locality_; }

private:
    const plimsoll_locality& locality_;
};

/// What a place of a request is to an override.
enum class OverrideKind : std::uint32_t {
    /// The first value of the request header `name()` has addresses.
    header = PLIMSOLL_OVERRIDE_HEADER,
    /// A text in the request's dynamic metadata has addresses.
    metadata = PLIMSOLL_OVERRIDE_METADATA,
    /// No source: the address of the host that was picked is to be written there, in the request's
    /// dynamic metadata.
    selected_host = PLIMSOLL_OVERRIDE_SELECTED_HOST,
};

/// A place of a request, as `Cluster::for_each_override_source` shows it. It is there during the
/// visit only, and so are its texts.
///
/// @code{.cpp}
/// (void)cluster.for_each_override_source([](const plimsoll::OverrideSource& source) {
///     if (source.kind() == plimsoll::OverrideKind::header) {
///         std::cout << "addresses stand in the header " << source.name() << '\n';
///     }
/// });
/// @endcode
class OverrideSource {
public:
    /// Shows what a C visitor was given; `source` outlives this.
    explicit OverrideSource(const plimsoll_override_source& source) noexcept : source_(source) {}

    OverrideSource(const OverrideSource&) = delete;
    OverrideSource& operator=(const OverrideSource&) = delete;

    /// What it is.
    OverrideKind kind() const noexcept { return static_cast<OverrideKind>(source_.kind); }
    /// The name of the header; or the namespace in metadata, such as `envoy.lb`.
    std::string_view name() const noexcept { return detail::from_c(source_.name); }
    /// In metadata: the fields that lead to the text, from the outside in.
    Span<const Text> path() const noexcept {
        // Each `Text` is a `plimsoll_str` and nothing else.
        return {reinterpret_cast<const Text*>(source_.path), source_.path_count};
    }

    /// What the C interface shows. A library that is older than the header has filled in `size`
    /// bytes of it.
    const plimsoll_override_source& raw() const noexcept { return source_; }

private:
    const plimsoll_override_source& source_;
};

/// Which host a stream of load reports belongs to, as in a `Pick`.
struct StreamHost {
    /// The host's slot.
    std::uint32_t slot;
    /// Which host has the slot.
    std::uint32_t generation;
};

/// What is to be done about a stream of load reports, as `Cluster::poll_streams` shows it. It is there
/// during the call only, and so are its texts.
///
/// @code{.cpp}
/// auto next = cluster.poll_streams(plimsoll::Time(0), [](const plimsoll::StreamAction& action) {
///     if (action.opens()) {
///         std::cout << "connect to " << action.dial() << '\n';
///     }
/// });
/// @endcode
class StreamAction {
public:
    /// Shows what a C callback was given; `action` outlives this.
    explicit StreamAction(const plimsoll_stream_action& action) noexcept : action_(action) {}

    StreamAction(const StreamAction&) = delete;
    StreamAction& operator=(const StreamAction&) = delete;

    /// Whether to connect to `dial()` and call `StreamCoreMetrics`; if there still is a stream of this
    /// host, the new one replaces it. Otherwise the connection is to be closed, if there is one.
    bool opens() const noexcept { return action_.kind == PLIMSOLL_STREAM_OPEN; }
    /// Whether the connection is to be closed, without waiting for anything.
    bool closes() const noexcept { return action_.kind == PLIMSOLL_STREAM_CLOSE; }
    /// Whose stream it is.
    StreamHost host() const noexcept { return {action_.slot, action_.generation}; }
    /// The `report_interval` to ask for.
    std::chrono::nanoseconds interval() const noexcept {
        return detail::from_ns(action_.interval_ns);
    }
    /// The host's address.
    std::string_view address() const noexcept { return detail::from_c(action_.address); }
    /// What to connect to.
    std::string_view dial() const noexcept { return detail::from_c(action_.dial); }
    /// What to call the host in the request.
    std::string_view authority() const noexcept { return detail::from_c(action_.authority); }

    /// What the C interface shows. A library that is older than the header has filled in `size`
    /// bytes of it.
    const plimsoll_stream_action& raw() const noexcept { return action_; }

private:
    const plimsoll_stream_action& action_;
};

/// Sees what is to be done about streams, one by one.
using StreamActor = FunctionRef<void(const StreamAction&)>;

/// Sees hosts one by one.
using HostVisitor = FunctionRef<Visit(const Host&)>;

/// Sees localities one by one.
using LocalityVisitor = FunctionRef<Visit(const Locality&)>;

/// Sees places of a request one by one.
using OverrideSourceVisitor = FunctionRef<Visit(const OverrideSource&)>;

namespace detail {

// C calls these. An exception must not leave them: it ends the program.

inline int visit_host(void* visitor, const plimsoll_host* host) noexcept {
    return static_cast<int>((*static_cast<const HostVisitor*>(visitor))(Host(*host)));
}

inline int visit_locality(void* visitor, const plimsoll_locality* locality) noexcept {
    return static_cast<int>((*static_cast<const LocalityVisitor*>(visitor))(Locality(*locality)));
}

inline void act_on_stream(void* actor, const plimsoll_stream_action* action) noexcept {
    (*static_cast<const StreamActor*>(actor))(StreamAction(*action));
}

inline int visit_override_source(void* visitor, const plimsoll_override_source* source) noexcept {
    return static_cast<int>(
        (*static_cast<const OverrideSourceVisitor*>(visitor))(OverrideSource(*source)));
}

}  // namespace detail

}  // namespace plimsoll

#endif
