// Runs all tests of the C++ layer. The headers are included a second time, which changes nothing.

#include "check.hpp"

#include <cstdio>
#include <cstdlib>

#include "plimsoll/plimsoll.hpp"

void check(bool holds, const char* condition, const char* file, int line) {
    if (!holds) {
        std::fprintf(stderr, "%s:%d: %s\n", file, line, condition);
        std::exit(1);
    }
}

plimsoll::Cluster open(std::string_view config, plimsoll::Behavior behavior) {
    plimsoll::ClusterOptions options;
    options.behavior = behavior;
    options.seed = 1;
    auto opened = plimsoll::Cluster::open(config, options);
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().describe().c_str());
    }
    CHECK(opened.has_value());
    return std::move(opened).value();
}

plimsoll::Worker worker_of(const plimsoll::Cluster& cluster) {
    auto worker = cluster.worker();
    CHECK(worker.has_value());
    return std::move(worker).value();
}

std::string next(plimsoll::Worker& worker) {
    auto pick = worker.pick();
    CHECK(pick.has_value());
    auto address = worker.host_address(*pick);
    CHECK(address.has_value());
    CHECK(worker.done(*pick, plimsoll::Outcome::success) == plimsoll::Status::ok);
    return std::move(address).value();
}

int share_of(plimsoll::Worker& worker, int count, std::string_view address) {
    int share = 0;
    for (int turn = 0; turn < count; turn++) {
        share += next(worker) == address ? 1 : 0;
    }
    return share;
}

bool gets(plimsoll::Worker& worker, std::string_view address, int percent) {
    const int share = share_of(worker, 100, address);
    return share >= percent - 5 && share <= percent + 5;
}

int main() {
    test_values();
    test_open();
    test_settings();
    test_updates();
    test_picks();
    test_hashes();
    test_overrides();
    test_host_data();
    test_views();
    test_json();
    test_loads();
    test_time();
    test_operations();
    test_handles();
    test_allocations();
    test_threads();
    std::puts("all passed");
}
