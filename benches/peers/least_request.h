// Least request: the host with the fewest active requests, of two that are drawn or of all. Where
// weights differ, earliest deadline first by the weight over the requests.
#pragma once

#include "balancer.h"

namespace peer {

// Two draws, which may come to the same host; of equals the first.
class TwoChoicesBalancer : public EdfBalancer {
 public:
  TwoChoicesBalancer(Cluster& cluster, RandomSource& random);

 protected:
  HostPointer choose_unweighted(const Hosts& hosts, size_t& turn) override;
};

// All hosts; of equals any, by a random number for each.
class FullScanBalancer : public EdfBalancer {
 public:
  FullScanBalancer(Cluster& cluster, RandomSource& random);

 protected:
  HostPointer choose_unweighted(const Hosts& hosts, size_t& turn) override;
};

}  // namespace peer
