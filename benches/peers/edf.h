// Earliest deadline first: a binary heap of weak pointers. What is picked goes back in, one period
// of its weight later.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

namespace peer {

template <class Item>
class Edf {
 public:
  using Weight = std::function<double(const Item&)>;

  void add(double weight, const std::shared_ptr<Item>& item) {
    queue_.push({now_ + 1.0 / weight, order_++, item});
  }

  std::shared_ptr<Item> pick(const Weight& weight) {
    while (!queue_.empty()) {
      const Entry& first = queue_.top();
      std::shared_ptr<Item> item = first.item.lock();
      now_ = item ? first.deadline : now_;
      queue_.pop();
      if (item) {
        add(weight(*item), item);
        return item;
      }
    }
    return nullptr;
  }

 private:
  struct Entry {
    double deadline;
    uint64_t order;
    std::weak_ptr<Item> item;

    // The queue has the greatest on top.
    bool operator<(const Entry& other) const {
      return deadline > other.deadline || (deadline == other.deadline && order > other.order);
    }
  };

  std::priority_queue<Entry> queue_;
  double now_ = 0;
  uint64_t order_ = 0;
};

}  // namespace peer
