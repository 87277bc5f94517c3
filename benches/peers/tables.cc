// Tables of hash policies for the benchmarks to make and to look into. The loops are on this side.
#include <cstdint>
#include <memory>
#include <string>

#include "hosts.h"
#include "maglev.h"
#include "ring.h"
#include "table.h"

extern "C" {

enum { kPeerPointerMaglev, kPeerCompactMaglev, kPeerRing };

// Hosts with these addresses, one after the other in `addresses`, each with a 0 at its end.
peer::Hosts* peer_hosts_new(const char* addresses, const uint32_t* weights, size_t count) {
  auto hosts = std::make_unique<peer::Hosts>();
  for (size_t i = 0; i < count; ++i) {
    const std::string address(addresses);
    addresses += address.size() + 1;
    hosts->push_back(
        std::make_shared<peer::Host>(address, static_cast<uint32_t>(i), 0, weights[i], true));
  }
  return hosts.release();
}

void peer_hosts_free(peer::Hosts* hosts) { delete hosts; }

// A table of so many slots, or a ring of about as many points.
peer::Table* peer_table_new(const peer::Hosts* hosts, uint32_t kind, uint64_t size) {
  switch (kind) {
    case kPeerPointerMaglev:
      return new peer::PointerMaglev(*hosts, size);
    case kPeerCompactMaglev:
      return new peer::CompactMaglev(*hosts, size);
    default:
      return new peer::Ring(*hosts, size);
  }
}

void peer_table_free(peer::Table* table) { delete table; }

uint64_t peer_table_size(const peer::Table* table) { return table->size(); }

// The index of the host of a slot or a point.
uint32_t peer_table_at(const peer::Table* table, uint64_t place) {
  return table->at(place)->index();
}

// The index of the host of a hash.
uint32_t peer_table_find(const peer::Table* table, uint64_t hash) {
  return table->choose(hash)->index();
}

// The sum of the indexes of the hosts of many hashes, which follow from their numbers as in Rust.
uint64_t peer_table_finds(const peer::Table* table, uint64_t first, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t number = first; number < first + count; ++number) {
    uint64_t hash = number * 0x9E3779B97F4A7C15;
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EB;
    sum += table->choose(hash ^ hash >> 31)->index();
  }
  return sum;
}

}  // extern "C"
