// Weighted choices on their own, without priorities, localities and counters, for the benchmarks
// to call. The loops are on this side.
#include <malloc.h>

#include <cstdint>
#include <memory>

#include "edf.h"
#include "hosts.h"
#include "smooth.h"

namespace {

class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual uint32_t pick() = 0;
  virtual uint64_t picks(uint64_t count) = 0;
};

// The loop around one kind of choice.
template <class Choice>
class Loop : public Chooser {
 public:
  explicit Loop(const peer::Hosts& hosts) : choice_(hosts) {}

  uint32_t pick() override { return choice_.pick(); }

  uint64_t picks(uint64_t count) override {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
      sum += choice_.pick();
    }
    return sum;
  }

 private:
  Choice choice_;
};

class EdfChoice {
 public:
  explicit EdfChoice(const peer::Hosts& hosts)
      : weight_([](const peer::Host& host) { return static_cast<double>(host.weight()); }) {
    for (const peer::HostPointer& host : hosts) {
      edf_.add(weight_(*host), host);
    }
  }

  uint32_t pick() { return edf_.pick(weight_)->index(); }

 private:
  const peer::Edf<peer::Host>::Weight weight_;
  peer::Edf<peer::Host> edf_;
};

class SmoothChoice {
 public:
  explicit SmoothChoice(const peer::Hosts& hosts) {
    for (const peer::HostPointer& host : hosts) {
      smooth_.add(host->weight());
    }
  }

  uint32_t pick() { return static_cast<uint32_t>(smooth_.pick()); }

 private:
  peer::Smooth smooth_;
};

}  // namespace

extern "C" {

enum { kPeerEdf = 0, kPeerSmooth = 1 };

Chooser* peer_chooser_new(const peer::Cluster* cluster, uint32_t kind) {
  if (kind == kPeerSmooth) {
    return new Loop<SmoothChoice>(cluster->hosts());
  }
  return new Loop<EdfChoice>(cluster->hosts());
}

void peer_chooser_free(Chooser* chooser) { delete chooser; }

// The index of one host.
uint32_t peer_chooser_pick(Chooser* chooser) { return chooser->pick(); }

// The sum of many.
uint64_t peer_chooser_picks(Chooser* chooser, uint64_t count) { return chooser->picks(count); }

// What the process has on its heap, whichever language asked for it.
size_t peer_heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // extern "C"
