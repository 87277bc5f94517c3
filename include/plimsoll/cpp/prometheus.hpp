/// @file
/// What clusters count and how they stand, for a scrape.

#ifndef PLIMSOLL_CPP_PROMETHEUS_HPP
#define PLIMSOLL_CPP_PROMETHEUS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../plimsoll.h"
#include "cluster.hpp"
#include "result.hpp"
#include "span.hpp"
#include "status.hpp"

namespace plimsoll {

/// How much a scrape may hold of each cluster; by default its totals and its priorities only.
struct PrometheusOptions {
    /// How many hosts at most get samples of their own: the first ones by priority, then in the
    /// assignment's order. The rest is counted.
    std::uint32_t max_hosts = 0;
    /// How many localities of each priority at most. The rest is counted.
    std::uint32_t max_localities = 0;
};

/// What these clusters count and how they stand, in Prometheus' text format. All clusters of a
/// scrape go into one call, because each family of metrics may stand in a scrape once only. Their
/// names are the label `cluster`, and ought to differ.
///
/// Fails with `Status::null_argument` for a null among them or a cluster that was moved away,
/// `Status::poisoned` or `Status::panic`.
///
/// Thread: any. Allocates: yes. Blocks: on control calls.
///
/// @code{.cpp}
/// const plimsoll::Cluster* clusters[] = {&cluster};
/// plimsoll::PrometheusOptions options;
/// options.max_hosts = 100;
/// if (auto text = plimsoll::prometheus(clusters, options)) {
///     std::cout << *text;
/// }
/// @endcode
[[nodiscard]] inline Result<std::string, Status> prometheus(Span<const Cluster* const> clusters,
                                                            PrometheusOptions options = {}) {
    std::vector<const plimsoll_cluster*> handles;
    handles.reserve(clusters.size());
    for (const Cluster* cluster : clusters) {
        handles.push_back(cluster == nullptr ? nullptr : cluster->handle());
    }
    plimsoll_prometheus_options raw = PLIMSOLL_PROMETHEUS_OPTIONS_INIT;
    raw.max_hosts = options.max_hosts;
    raw.max_localities = options.max_localities;
    return detail::text_of([&](char* buffer, std::size_t capacity, std::size_t* needed) {
        return plimsoll_prometheus(handles.data(), handles.size(), &raw, buffer, capacity, needed);
    });
}

}  // namespace plimsoll

#endif
