// Choices by the number of active requests.
#include "least_request.h"

namespace peer {

namespace {

double weight_by_requests(const Host& host) {
  return static_cast<double>(host.weight()) / static_cast<double>(host.active() + 1);
}

}  // namespace

TwoChoicesBalancer::TwoChoicesBalancer(Cluster& cluster, RandomSource& random)
    : EdfBalancer(cluster, random, weight_by_requests, false) {}

HostPointer TwoChoicesBalancer::choose_unweighted(const Hosts& hosts, size_t&) {
  const HostPointer& first = hosts[random_.random() % hosts.size()];
  const HostPointer& second = hosts[random_.random() % hosts.size()];
  return second->active() < first->active() ? second : first;
}

FullScanBalancer::FullScanBalancer(Cluster& cluster, RandomSource& random)
    : EdfBalancer(cluster, random, weight_by_requests, false) {}

HostPointer FullScanBalancer::choose_unweighted(const Hosts& hosts, size_t&) {
  const HostPointer* best = &hosts.front();
  uint64_t least = (*best)->active();
  uint64_t tied = 1;
  for (size_t i = 1; i < hosts.size(); ++i) {
    const uint64_t active = hosts[i]->active();
    if (active < least) {
      best = &hosts[i];
      least = active;
      tied = 1;
    } else if (active == least && random_.random() % ++tied == 0) {
      best = &hosts[i];
    }
  }
  return *best;
}

}  // namespace peer
