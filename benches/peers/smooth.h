// Smooth weighted round robin, as nginx does it: every pick visits every peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peer {

class Smooth {
 public:
  void add(int64_t weight) { peers_.push_back({weight, weight, 0}); }

  // The peer that has waited for the most; it pays what all others were given.
  size_t pick() {
    int64_t total = 0;
    size_t best = 0;
    for (size_t i = 0; i < peers_.size(); ++i) {
      Peer& peer = peers_[i];
      peer.current += peer.effective;
      total += peer.effective;
      // A peer that failed gets back what it lost, step by step.
      if (peer.effective < peer.weight) {
        ++peer.effective;
      }
      if (peer.current > peers_[best].current) {
        best = i;
      }
    }
    peers_[best].current -= total;
    return best;
  }

 private:
  struct Peer {
    int64_t weight;
    int64_t effective;
    int64_t current;
  };

  std::vector<Peer> peers_;
};

}  // namespace peer
