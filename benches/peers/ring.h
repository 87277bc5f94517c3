// A ring as described of Envoy: points with shared pointers, sorted, and ketama's bisection, which
// looks at two neighbours in each step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "hosts.h"
#include "table.h"
#include "xxhash.h"

namespace peer {

class Ring final : public Table {
 public:
  // Weights of hosts are taken to be equal.
  Ring(const Hosts& hosts, uint64_t minimum) {
    const double weight = 1.0 / static_cast<double>(hosts.size());
    const double scale = std::ceil(weight * static_cast<double>(minimum)) / weight;
    points_.reserve(static_cast<size_t>(std::ceil(scale)));
    double current = 0;
    double target = 0;
    for (const HostPointer& host : hosts) {
      const std::string prefix = host->address() + "_";
      target += scale * weight;
      for (uint64_t i = 0; current < target; ++i) {
        points_.push_back({XxHash64::of(prefix + std::to_string(i), 0), host});
        current += 1.0;
      }
    }
    std::sort(points_.begin(), points_.end(),
              [](const Point& one, const Point& other) { return one.hash < other.hash; });
  }

  HostPointer choose(uint64_t hash) const override {
    int64_t low = 0;
    int64_t high = static_cast<int64_t>(points_.size());
    while (true) {
      const int64_t middle = (low + high) / 2;
      if (middle == static_cast<int64_t>(points_.size())) {
        return points_[0].host;
      }
      const uint64_t own = points_[middle].hash;
      const uint64_t before = middle == 0 ? 0 : points_[middle - 1].hash;
      if (hash <= own && hash > before) {
        return points_[middle].host;
      }
      if (own < hash) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
      if (low > high) {
        return points_[0].host;
      }
    }
  }

  HostPointer at(uint64_t point) const override { return points_[point].host; }
  uint64_t size() const override { return points_.size(); }

 private:
  struct Point {
    uint64_t hash;
    HostPointer host;
  };

  std::vector<Point> points_;
};

}  // namespace peer
