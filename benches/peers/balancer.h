// What one worker of a peer picks with: a virtual call, a loop over priorities, a scheduler out of
// a hash map, and a shared pointer to the host.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "edf.h"
#include "hosts.h"
#include "random.h"

namespace peer {

class Balancer {
 public:
  virtual ~Balancer() = default;
  // Null if there is no host.
  virtual HostPointer choose() = 0;
  // Takes over new lists of one priority.
  virtual void refresh(uint32_t priority) = 0;
};

// Chooses the priority.
class PriorityBalancer : public Balancer {
 public:
  PriorityBalancer(Cluster& cluster, RandomSource& random);
  void refresh(uint32_t priority) override;

 protected:
  uint32_t choose_priority(uint64_t number) const;

  Cluster& cluster_;
  RandomSource& random_;
  std::vector<Lists> healthy_;

 private:
  std::vector<uint32_t> loads_;
};

// Uniform choice with the number that chose the priority.
class RandomBalancer : public PriorityBalancer {
 public:
  using PriorityBalancer::PriorityBalancer;
  HostPointer choose() override;
};

// Which list a scheduler is for. Locality `kFlat` is the list of the whole priority.
struct Source {
  static constexpr uint32_t kFlat = UINT32_MAX;
  uint32_t priority;
  uint32_t locality;

  bool operator==(const Source& other) const {
    return priority == other.priority && locality == other.locality;
  }
};

struct SourceHash {
  size_t operator()(const Source& source) const {
    return std::hash<uint64_t>()(uint64_t{source.priority} << 32 | source.locality);
  }
};

// Earliest deadline first; a rule of its own over lists whose weights are equal.
class EdfBalancer : public PriorityBalancer {
 public:
  // With `localities` a scheduler of its own chooses among them, by their weights.
  EdfBalancer(Cluster& cluster, RandomSource& random, Edf<Host>::Weight weight, bool localities);
  HostPointer choose() override;
  void refresh(uint32_t priority) override;

 protected:
  // A host of a list that has some, and whose weights are equal. `turn` is kept for the list.
  virtual HostPointer choose_unweighted(const Hosts& hosts, size_t& turn) = 0;

 private:
  struct Locality {
    uint32_t index;
    double weight;
  };

  struct Scheduler {
    std::unique_ptr<Edf<Host>> edf;
    size_t turn = 0;
  };

  struct LocalityScheduler {
    std::vector<std::shared_ptr<Locality>> localities;
    Edf<Locality> edf;
  };

  void refresh_list(Source source, const Hosts& hosts);

  const bool localities_;
  const Edf<Host>::Weight host_weight_;
  const Edf<Locality>::Weight locality_weight_;
  std::unordered_map<Source, Scheduler, SourceHash> schedulers_;
  std::vector<std::unique_ptr<LocalityScheduler>> locality_schedulers_;
};

// By weight, or one after the other.
class RoundRobinBalancer : public EdfBalancer {
 public:
  RoundRobinBalancer(Cluster& cluster, RandomSource& random, bool localities);

 protected:
  HostPointer choose_unweighted(const Hosts& hosts, size_t& turn) override;
};

}  // namespace peer
