/// @file
/// All hosts of a cluster as a value, for programs that have no text of Envoy's.

#ifndef PLIMSOLL_CPP_ASSIGNMENT_HPP
#define PLIMSOLL_CPP_ASSIGNMENT_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../plimsoll.h"
#include "health.hpp"
#include "span.hpp"
#include "text.hpp"

namespace plimsoll {

/// A host as the control plane describes it. Refers to its texts.
struct Endpoint {
    /// Its address, its identity: `10.0.0.1:80`, `[::1]:80` or any other text. Not empty.
    std::string_view address = {};
    /// Its weight, at least 1.
    std::uint32_t weight = 1;
    /// What the control plane says of its health.
    EdsHealth health = EdsHealth::unknown;
    /// Its name, for dumps and for hashing by name. May be empty.
    std::string_view hostname = {};
    /// What `RingHash` and `Maglev` place it by. Empty: its name or its address, as the policy says.
    std::string_view hash_key = {};
    /// It is not checked actively, whatever the settings say.
    bool disable_active_health_check = false;
    /// Where its active health checks go. Empty: to its address.
    std::string_view health_check_address = {};
};

/// The hosts of one locality at one priority. Refers to its hosts and texts.
struct LocalityHosts {
    /// The hosts.
    Span<const Endpoint> hosts = {};
    /// The region. May be empty, as the next two.
    std::string_view region = {};
    /// The zone.
    std::string_view zone = {};
    /// The sub-zone.
    std::string_view sub_zone = {};
    /// 0, which is used first, to 128.
    std::uint32_t priority = 0;
    /// The locality's weight, for `LocalityWeighted`; 0: it has none.
    std::uint32_t weight = 0;
};

/// All hosts of a cluster: Envoy's `ClusterLoadAssignment`. Refers to its localities, which may be any
/// container whose elements lie in a row.
///
/// @code{.cpp}
/// const plimsoll::Endpoint near_by[] = {{"10.0.0.1:80"}, {"10.0.0.2:80", 3}};
/// const plimsoll::Endpoint far[] = {{"10.0.1.1:80"}};
/// const plimsoll::LocalityHosts zones[] = {{near_by, "eu", "a"}, {far, "eu", "b"}};
/// plimsoll::Assignment assignment;
/// assignment.localities = zones;
/// auto applied = cluster.configure(assignment);
/// @endcode
struct Assignment {
    /// Groups of hosts, of which several may name the same locality.
    Span<const LocalityHosts> localities = {};
    /// A priority counts as fully available while its available share times this percentage reaches
    /// 100. At least 1.
    std::uint32_t overprovisioning_factor = 140;
    /// Availability is measured in weight instead of in hosts.
    bool weighted_priority_health = false;
};

namespace detail {

// The C structs that an assignment takes, and what they point to. Refers to the assignment's texts.
class RawAssignment {
public:
    explicit RawAssignment(const Assignment& from) {
        std::size_t hosts = 0;
        for (const LocalityHosts& group : from.localities) {
            hosts += group.hosts.size();
        }
        // Pointers into it follow, so it must not grow any more.
        hosts_.reserve(hosts);
        localities_.reserve(from.localities.size());
        for (const LocalityHosts& group : from.localities) {
            add(group);
        }
        assignment_.localities = localities_.data();
        assignment_.locality_count = localities_.size();
        assignment_.overprovisioning_factor = from.overprovisioning_factor;
        assignment_.weighted_priority_health = from.weighted_priority_health ? 1 : 0;
    }

    RawAssignment(const RawAssignment&) = delete;
    RawAssignment& operator=(const RawAssignment&) = delete;

    const plimsoll_assignment* get() const noexcept { return &assignment_; }

private:
    void add(const LocalityHosts& from) {
        plimsoll_locality_hosts group = PLIMSOLL_LOCALITY_HOSTS_INIT;
        group.region = to_c(from.region);
        group.zone = to_c(from.zone);
        group.sub_zone = to_c(from.sub_zone);
        group.priority = from.priority;
        group.weight = from.weight;
        group.hosts = hosts_.data() + hosts_.size();
        group.host_count = from.hosts.size();
        for (const Endpoint& host : from.hosts) {
            add(host);
        }
        localities_.push_back(group);
    }

    void add(const Endpoint& from) {
        plimsoll_endpoint host = PLIMSOLL_ENDPOINT_INIT;
        host.address = to_c(from.address);
        host.hostname = to_c(from.hostname);
        host.hash_key = to_c(from.hash_key);
        host.health_check_address = to_c(from.health_check_address);
        host.weight = from.weight;
        host.health_status = static_cast<std::uint32_t>(from.health);
        host.disable_active_health_check = from.disable_active_health_check ? 1 : 0;
        hosts_.push_back(host);
    }

    std::vector<plimsoll_endpoint> hosts_;
    std::vector<plimsoll_locality_hosts> localities_;
    plimsoll_assignment assignment_ = PLIMSOLL_ASSIGNMENT_INIT;
};

}  // namespace detail

}  // namespace plimsoll

#endif
