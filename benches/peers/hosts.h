// The hosts of a peer and the lists that they are kept in: vectors of shared pointers, by health
// and by locality, made anew when the health of a host changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peer {

class Host {
 public:
  Host(std::string address, uint32_t index, uint32_t locality, uint32_t weight, bool healthy)
      : address_(std::move(address)), index_(index), locality_(locality), weight_(weight),
        healthy_(healthy) {}
  virtual ~Host() = default;

  virtual uint32_t weight() const { return weight_.load(std::memory_order_relaxed); }
  virtual bool healthy() const { return healthy_.load(std::memory_order_relaxed); }
  virtual uint32_t locality() const { return locality_; }
  uint32_t index() const { return index_; }
  const std::string& address() const { return address_; }

  uint64_t active() const { return active_.load(std::memory_order_relaxed); }

  void flip() { healthy_ = !healthy_; }
  void begin() { active_.fetch_add(1, std::memory_order_relaxed); }
  void end() { active_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  const std::string address_;
  const uint32_t index_;
  const uint32_t locality_;
  std::atomic<uint32_t> weight_;
  std::atomic<bool> healthy_;
  std::atomic<uint64_t> active_{0};
};

using HostPointer = std::shared_ptr<Host>;
using Hosts = std::vector<HostPointer>;
using SharedHosts = std::shared_ptr<const Hosts>;
using SharedLocalities = std::shared_ptr<const std::vector<Hosts>>;

// One list of a priority: flat, and by locality.
struct Lists {
  SharedHosts flat = std::make_shared<const Hosts>();
  SharedLocalities by_locality = std::make_shared<const std::vector<Hosts>>();
};

// The lists of one priority.
class HostSet {
 public:
  // Takes members over, grouped by locality.
  explicit HostSet(const std::vector<Hosts>& localities);

  // Makes every list anew, as after a change of health.
  void rebuild();

  const Lists& all() const { return all_; }
  const Lists& healthy() const { return healthy_; }
  const Lists& unhealthy() const { return unhealthy_; }

 private:
  Lists all_;
  Lists healthy_;
  Lists unhealthy_;
};

// All priorities, shared by the workers.
class Cluster {
 public:
  Cluster(std::vector<HostSet> priorities, Hosts hosts, uint32_t overprovisioning)
      : priorities_(std::move(priorities)), hosts_(std::move(hosts)),
        overprovisioning_(overprovisioning) {}

  std::vector<HostSet>& priorities() { return priorities_; }
  const Hosts& hosts() const { return hosts_; }
  // The percentage of traffic of each priority.
  std::vector<uint32_t> loads() const;

 private:
  std::vector<HostSet> priorities_;
  Hosts hosts_;
  const uint32_t overprovisioning_;
};

}  // namespace peer
