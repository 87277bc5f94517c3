// The choices of a peer's worker.
#include "balancer.h"

#include <algorithm>

namespace peer {

PriorityBalancer::PriorityBalancer(Cluster& cluster, RandomSource& random)
    : cluster_(cluster), random_(random), healthy_(cluster.priorities().size()) {
  for (uint32_t priority = 0; priority < healthy_.size(); ++priority) {
    PriorityBalancer::refresh(priority);
  }
}

void PriorityBalancer::refresh(uint32_t priority) {
  healthy_[priority] = cluster_.priorities()[priority].healthy();
  loads_ = cluster_.loads();
}

uint32_t PriorityBalancer::choose_priority(uint64_t number) const {
  const uint32_t percent = number % 100;
  uint32_t sum = 0;
  for (uint32_t priority = 0; priority < loads_.size(); ++priority) {
    sum += loads_[priority];
    if (percent < sum) {
      return priority;
    }
  }
  return 0;
}

HostPointer RandomBalancer::choose() {
  const uint64_t number = random_.random();
  const Hosts& hosts = *healthy_[choose_priority(number)].flat;
  return hosts.empty() ? nullptr : hosts[number % hosts.size()];
}

EdfBalancer::EdfBalancer(Cluster& cluster, RandomSource& random, Edf<Host>::Weight weight,
                         bool localities)
    : PriorityBalancer(cluster, random),
      localities_(localities),
      host_weight_(std::move(weight)),
      locality_weight_([](const Locality& locality) { return locality.weight; }),
      locality_schedulers_(healthy_.size()) {
  for (uint32_t priority = 0; priority < healthy_.size(); ++priority) {
    EdfBalancer::refresh(priority);
  }
}

void EdfBalancer::refresh(uint32_t priority) {
  PriorityBalancer::refresh(priority);
  const Lists& lists = healthy_[priority];
  refresh_list({priority, Source::kFlat}, *lists.flat);
  auto scheduler = std::make_unique<LocalityScheduler>();
  for (uint32_t index = 0; index < lists.by_locality->size(); ++index) {
    const Hosts& hosts = (*lists.by_locality)[index];
    refresh_list({priority, index}, hosts);
    if (!hosts.empty()) {
      auto locality = std::make_shared<Locality>(Locality{index, index + 1.0});
      scheduler->edf.add(locality->weight, locality);
      scheduler->localities.push_back(std::move(locality));
    }
  }
  locality_schedulers_[priority] = std::move(scheduler);
}

void EdfBalancer::refresh_list(Source source, const Hosts& hosts) {
  Scheduler& scheduler = schedulers_[source] = Scheduler{};
  const auto differs = [](const HostPointer& a, const HostPointer& b) {
    return a->weight() != b->weight();
  };
  if (std::adjacent_find(hosts.begin(), hosts.end(), differs) == hosts.end()) {
    return;
  }
  scheduler.edf = std::make_unique<Edf<Host>>();
  for (const HostPointer& host : hosts) {
    scheduler.edf->add(host_weight_(*host), host);
  }
}

HostPointer EdfBalancer::choose() {
  Source source{choose_priority(random_.random()), Source::kFlat};
  if (localities_) {
    const auto locality = locality_schedulers_[source.priority]->edf.pick(locality_weight_);
    source.locality = locality ? locality->index : Source::kFlat;
  }
  const auto found = schedulers_.find(source);
  if (found == schedulers_.end()) {
    return nullptr;
  }
  Scheduler& scheduler = found->second;
  if (scheduler.edf) {
    return scheduler.edf->pick(host_weight_);
  }
  const Lists& lists = healthy_[source.priority];
  const Hosts& hosts =
      source.locality == Source::kFlat ? *lists.flat : (*lists.by_locality)[source.locality];
  return hosts.empty() ? nullptr : choose_unweighted(hosts, scheduler.turn);
}

RoundRobinBalancer::RoundRobinBalancer(Cluster& cluster, RandomSource& random, bool localities)
    : EdfBalancer(
          cluster, random,
          [](const Host& host) { return static_cast<double>(host.weight()); }, localities) {}

HostPointer RoundRobinBalancer::choose_unweighted(const Hosts& hosts, size_t& turn) {
  return hosts[turn++ % hosts.size()];
}

}  // namespace peer
