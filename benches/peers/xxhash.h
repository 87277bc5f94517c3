// xxHash64, whose values Envoy's tables are made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace peer {

class XxHash64 {
 public:
  static uint64_t of(const std::string& text, uint64_t seed) {
    const char* at = text.data();
    const char* const end = at + text.size();
    uint64_t hash = seed + kPrime5;
    if (text.size() >= 32) {
      uint64_t lanes[] = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
      for (; end - at >= 32; at += 32) {
        for (int lane = 0; lane < 4; ++lane) {
          lanes[lane] = round(lanes[lane], read<uint64_t>(at + 8 * lane));
        }
      }
      hash = rotated(lanes[0], 1) + rotated(lanes[1], 7) + rotated(lanes[2], 12) +
             rotated(lanes[3], 18);
      for (const uint64_t lane : lanes) {
        hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
      }
    }
    hash += text.size();
    for (; end - at >= 8; at += 8) {
      hash = rotated(hash ^ round(0, read<uint64_t>(at)), 27) * kPrime1 + kPrime4;
    }
    for (; end - at >= 4; at += 4) {
      hash = rotated(hash ^ read<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    }
    for (; at < end; ++at) {
      hash = rotated(hash ^ read<uint8_t>(at) * kPrime5, 11) * kPrime1;
    }
    hash = (hash ^ hash >> 33) * kPrime2;
    hash = (hash ^ hash >> 29) * kPrime3;
    return hash ^ hash >> 32;
  }

 private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
  static constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
  static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
  static constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

  template <class Word>
  static uint64_t read(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  static uint64_t rotated(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

  static uint64_t round(uint64_t lane, uint64_t word) {
    return rotated(lane + word * kPrime2, 31) * kPrime1;
  }
};

}  // namespace peer
