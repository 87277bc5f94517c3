// Maglev tables as described of Envoy: in turns each host that is due claims the next free slot in
// an order of its own. One keeps a shared pointer for each slot, the other the bits of an index.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hosts.h"
#include "table.h"
#include "xxhash.h"

namespace peer {

// Hands the slots out: calls `claim(slot, host)` for each.
template <class IsFree, class Claim>
void fill_maglev(const Hosts& hosts, uint64_t size, const IsFree& is_free, const Claim& claim) {
  struct Entry {
    uint64_t slot;
    uint64_t skip;
    double weight;
    double target;
  };
  std::vector<Entry> entries;
  entries.reserve(hosts.size());
  double sum = 0;
  double heaviest = 0;
  for (const HostPointer& host : hosts) {
    sum += host->weight();
  }
  for (const HostPointer& host : hosts) {
    const double weight = host->weight() / sum;
    heaviest = std::max(heaviest, weight);
    entries.push_back({XxHash64::of(host->address(), 0) % size,
                       XxHash64::of(host->address(), 1) % (size - 1) + 1, weight, 0.0});
  }
  const auto advance = [size](Entry& entry) {
    entry.slot += entry.skip;
    if (entry.slot >= size) {
      entry.slot -= size;
    }
  };
  uint64_t filled = 0;
  for (uint32_t turn = 1; filled < size; ++turn) {
    for (size_t i = 0; i < entries.size() && filled < size; ++i) {
      Entry& entry = entries[i];
      if (turn * entry.weight < entry.target) {
        continue;
      }
      entry.target += heaviest;
      while (!is_free(entry.slot)) {
        advance(entry);
      }
      claim(entry.slot, i);
      advance(entry);
      ++filled;
    }
  }
}

class PointerMaglev final : public Table {
 public:
  PointerMaglev(const Hosts& hosts, uint64_t size) : slots_(size) {
    fill_maglev(
        hosts, size, [this](uint64_t slot) { return slots_[slot] == nullptr; },
        [&](uint64_t slot, size_t host) { slots_[slot] = hosts[host]; });
  }

  HostPointer choose(uint64_t hash) const override { return slots_[hash % slots_.size()]; }
  HostPointer at(uint64_t slot) const override { return slots_[slot]; }
  uint64_t size() const override { return slots_.size(); }

 private:
  Hosts slots_;
};

class CompactMaglev final : public Table {
 public:
  CompactMaglev(const Hosts& hosts, uint64_t size)
      : hosts_(hosts), size_(size), width_(width(hosts.size())),
        bits_(size * width_ / 8 + sizeof(uint64_t) + 1) {
    std::vector<bool> taken(size);
    fill_maglev(
        hosts, size, [&](uint64_t slot) { return !taken[slot]; },
        [&](uint64_t slot, size_t host) {
          taken[slot] = true;
          set(slot, host);
        });
  }

  HostPointer choose(uint64_t hash) const override { return at(hash % size_); }
  HostPointer at(uint64_t slot) const override { return hosts_[index(slot)]; }
  uint64_t size() const override { return size_; }

 private:
  static uint64_t width(size_t hosts) {
    uint64_t bits = 1;
    while (hosts >> bits != 0) {
      ++bits;
    }
    return bits;
  }

  uint64_t index(uint64_t slot) const {
    const uint64_t bit = slot * width_;
    uint64_t word;
    std::memcpy(&word, &bits_[bit / 8], sizeof word);
    return word >> bit % 8 & ((uint64_t{1} << width_) - 1);
  }

  void set(uint64_t slot, uint64_t index) {
    const uint64_t bit = slot * width_;
    uint64_t word;
    std::memcpy(&word, &bits_[bit / 8], sizeof word);
    word |= index << bit % 8;
    std::memcpy(&bits_[bit / 8], &word, sizeof word);
  }

  const Hosts hosts_;
  const uint64_t size_;
  const uint64_t width_;
  std::vector<uint8_t> bits_;
};

}  // namespace peer
