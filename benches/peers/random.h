// Where a peer's random numbers come from: an interface, as in a proxy that can be tested.
#pragma once

#include <cstdint>

namespace peer {

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual uint64_t random() = 0;
};

// A small generator (splitmix64), so that the numbers themselves cost next to nothing.
class SmallRandom : public RandomSource {
 public:
  explicit SmallRandom(uint64_t seed) : state_(seed) {}

  uint64_t random() override {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace peer
