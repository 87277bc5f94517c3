// What the benchmarks call. The loops are on this side, so that no crossing between languages is
// measured with them.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "balancer.h"
#include "hosts.h"
#include "least_request.h"
#include "random.h"

namespace {

enum { kPeerRandom, kPeerRoundRobin, kPeerLocalities, kPeerTwoChoices, kPeerFullScan };

// A worker and what it owns.
struct Worker {
  peer::SmallRandom random;
  std::unique_ptr<peer::Balancer> balancer;
  // Requests that have not ended, the place of the oldest, and so of the next one.
  std::array<peer::HostPointer, 64> requests;
  size_t oldest;
};

std::unique_ptr<peer::Balancer> balancer(peer::Cluster& cluster, peer::RandomSource& random,
                                         uint32_t kind) {
  switch (kind) {
    case kPeerRandom:
      return std::make_unique<peer::RandomBalancer>(cluster, random);
    case kPeerTwoChoices:
      return std::make_unique<peer::TwoChoicesBalancer>(cluster, random);
    case kPeerFullScan:
      return std::make_unique<peer::FullScanBalancer>(cluster, random);
    default:
      return std::make_unique<peer::RoundRobinBalancer>(cluster, random, kind == kPeerLocalities);
  }
}

}  // namespace

extern "C" {

struct peer_host {
  uint32_t index;
  uint32_t priority;
  uint32_t locality;
  uint32_t weight;
  uint32_t healthy;
};

peer::Cluster* peer_cluster_new(const peer_host* given, size_t count, uint32_t overprovisioning) {
  std::vector<std::vector<peer::Hosts>> members;
  peer::Hosts hosts(count);
  for (size_t i = 0; i < count; ++i) {
    const peer_host& host = given[i];
    members.resize(std::max<size_t>(members.size(), host.priority + 1));
    auto& localities = members[host.priority];
    localities.resize(std::max<size_t>(localities.size(), host.locality + 1));
    hosts[host.index] =
        std::make_shared<peer::Host>("10.0.0.0:" + std::to_string(host.index), host.index,
                                     host.locality, host.weight, host.healthy != 0);
    localities[host.locality].push_back(hosts[host.index]);
  }
  std::vector<peer::HostSet> priorities(members.begin(), members.end());
  return new peer::Cluster(std::move(priorities), std::move(hosts), overprovisioning);
}

void peer_cluster_free(peer::Cluster* cluster) { delete cluster; }

// Turns the health of one host around, without telling anybody.
void peer_cluster_flip(peer::Cluster* cluster, uint32_t index) { cluster->hosts()[index]->flip(); }

// Makes the lists of one priority anew.
void peer_cluster_rebuild(peer::Cluster* cluster, uint32_t priority) {
  cluster->priorities()[priority].rebuild();
}

Worker* peer_worker_new(peer::Cluster* cluster, uint32_t kind, uint64_t seed) {
  auto worker = std::make_unique<Worker>(Worker{peer::SmallRandom(seed), nullptr, {}, 0});
  worker->balancer = balancer(*cluster, worker->random, kind);
  return worker.release();
}

void peer_worker_free(Worker* worker) { delete worker; }

// Takes the lists of one priority over and makes their schedulers anew.
void peer_worker_refresh(Worker* worker, uint32_t priority) {
  worker->balancer->refresh(priority);
}

// One pick, counted; returns the host's index.
uint32_t peer_worker_pick(Worker* worker) {
  const peer::HostPointer host = worker->balancer->choose();
  host->begin();
  return host->index();
}

// Picks that are counted and not ended.
uint64_t peer_worker_picks(Worker* worker, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const peer::HostPointer host = worker->balancer->choose();
    host->begin();
    sum += host->index();
  }
  return sum;
}

// Picks that are counted and ended at once.
uint64_t peer_worker_pairs(Worker* worker, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const peer::HostPointer host = worker->balancer->choose();
    host->begin();
    sum += host->index();
    host->end();
  }
  return sum;
}

// Picks that are counted, each of which ends the request of 64 picks ago.
uint64_t peer_worker_overlapping(Worker* worker, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    peer::HostPointer host = worker->balancer->choose();
    host->begin();
    sum += host->index();
    peer::HostPointer& request = worker->requests[worker->oldest++ % worker->requests.size()];
    if (request) {
      request->end();
    }
    request = std::move(host);
  }
  return sum;
}

}  // extern "C"
