// From the hash of a request to a host.
#pragma once

#include <cstdint>

#include "hosts.h"

namespace peer {

class Table {
 public:
  virtual ~Table() = default;
  virtual HostPointer choose(uint64_t hash) const = 0;
  // The host of a slot or of a point, in their order.
  virtual HostPointer at(uint64_t place) const = 0;
  virtual uint64_t size() const = 0;
};

}  // namespace peer
