// Partitions the members of a priority and shares the traffic out among priorities.
#include "hosts.h"

#include <algorithm>

namespace peer {

namespace {

template <class Predicate>
Lists filter(const Lists& all, Predicate predicate) {
  auto flat = std::make_shared<Hosts>();
  flat->reserve(all.flat->size());
  std::copy_if(all.flat->begin(), all.flat->end(), std::back_inserter(*flat), predicate);
  auto by_locality = std::make_shared<std::vector<Hosts>>();
  for (const Hosts& members : *all.by_locality) {
    Hosts& matching = by_locality->emplace_back();
    matching.reserve(members.size());
    std::copy_if(members.begin(), members.end(), std::back_inserter(matching), predicate);
  }
  return {flat, by_locality};
}

}  // namespace

HostSet::HostSet(const std::vector<Hosts>& localities) {
  auto flat = std::make_shared<Hosts>();
  for (const Hosts& members : localities) {
    flat->insert(flat->end(), members.begin(), members.end());
  }
  all_ = {flat, std::make_shared<const std::vector<Hosts>>(localities)};
  rebuild();
}

void HostSet::rebuild() {
  // Whoever reads the old lists keeps them: an update hands over copies.
  all_ = {std::make_shared<const Hosts>(*all_.flat),
          std::make_shared<const std::vector<Hosts>>(*all_.by_locality)};
  healthy_ = filter(all_, [](const HostPointer& host) { return host->healthy(); });
  unhealthy_ = filter(all_, [](const HostPointer& host) { return !host->healthy(); });
}

std::vector<uint32_t> Cluster::loads() const {
  std::vector<uint32_t> loads;
  uint32_t left = 100;
  for (const HostSet& set : priorities_) {
    const size_t all = std::max<size_t>(set.all().flat->size(), 1);
    const size_t health = overprovisioning_ * set.healthy().flat->size() / all;
    loads.push_back(std::min(left, static_cast<uint32_t>(health)));
    left -= loads.back();
  }
  return loads;
}

}  // namespace peer
