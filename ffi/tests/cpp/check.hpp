// What the C++ tests share: checks that say what failed, and clusters to try things on.

#ifndef PLIMSOLL_TESTS_CHECK_HPP
#define PLIMSOLL_TESTS_CHECK_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include "plimsoll/plimsoll.hpp"

// Ends the program with a message unless the condition holds.
#define CHECK(condition) check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)

void check(bool holds, const char* condition, const char* file, int line);

// A cluster of two hosts, 10.0.0.1:80 and 10.0.0.2:80, in YAML.
inline constexpr std::string_view TWO_HOSTS =
    "name: api\nlb_policy: ROUND_ROBIN\nload_assignment:\n  cluster_name: api\n  endpoints:\n"
    "  - lb_endpoints:\n"
    "    - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}\n"
    "    - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}\n";

// The assignment of that cluster with one host, 10.0.0.3:80, instead.
inline constexpr std::string_view THIRD_HOST =
    "cluster_name: api\nendpoints:\n- lb_endpoints:\n"
    "  - endpoint: {address: {socket_address: {address: 10.0.0.3, port_value: 80}}}\n";

// Opens a cluster with seed 1.
plimsoll::Cluster open(std::string_view config = TWO_HOSTS,
                       plimsoll::Behavior behavior = plimsoll::Behavior::native);

// A worker of the cluster.
plimsoll::Worker worker_of(const plimsoll::Cluster& cluster);

// Picks a host, which must work, and is done with it; gives its address.
std::string next(plimsoll::Worker& worker);

// How many of `count` requests go to this host.
int share_of(plimsoll::Worker& worker, int count, std::string_view address);

// Whether this host gets so many percent of 100 requests. Native schedules are even to a few picks.
bool gets(plimsoll::Worker& worker, std::string_view address, int percent);

// How many calls of `new` there were so far.
std::uint64_t allocations();

// The tests, in the order in which they run.
void test_values();
void test_open();
void test_settings();
void test_updates();
void test_picks();
void test_hashes();
void test_overrides();
void test_host_data();
void test_views();
void test_json();
void test_loads();
void test_time();
void test_operations();
void test_handles();
void test_allocations();
void test_threads();

#endif
