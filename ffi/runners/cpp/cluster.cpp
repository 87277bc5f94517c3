#include "cluster.hpp"

#include <algorithm>

namespace replay {

namespace {

// More ticks than this are not made by one operation, so that a line cannot run forever.
constexpr int MAX_TICKS = 100000;

}  // namespace

plimsoll::Time to_time(const char* field, std::uint64_t ms) {
    constexpr std::uint64_t ns_per_ms = 1000000;
    if (ms > UINT64_MAX / ns_per_ms) {
        throw Refused::invalid(field, "the time does not fit into 64 bits of nanoseconds");
    }
    return plimsoll::Time(static_cast<plimsoll::Time::rep>(ms * ns_per_ms));
}

Cluster::Cluster(plimsoll::Cluster handle, plimsoll::Behavior behavior, std::uint64_t workers,
                 const std::vector<std::uint64_t>& draws, std::uint64_t now_ms, bool follows)
    : handle_(std::move(handle)), behavior_(behavior), now_ms_(now_ms), follows_(follows) {
    for (std::uint64_t number = 0; number < workers; number++) {
        const plimsoll::Span<const std::uint64_t> own(draws);
        workers_.emplace_back(make_worker(number, own.first(number == 0 ? draws.size() : 0)));
    }
}

void Cluster::follow() const {
    if (follows_) {
        value_of(handle_.tick(to_time("now_ms", now_ms_)));
    }
}

std::uint64_t Cluster::advance(std::uint64_t ms, bool late) {
    // Saturated, a sum is too many nanoseconds anyway.
    const std::uint64_t now_ms = ms > UINT64_MAX - now_ms_ ? UINT64_MAX : now_ms_ + ms;
    const plimsoll::Time end = to_time("ms", now_ms);
    for (int count = 0; count < MAX_TICKS && !late; count++) {
        const auto due = value_of(handle_.next_tick());
        if (!due || *due >= end) {
            break;
        }
        value_of(handle_.tick(*due));
    }
    value_of(handle_.tick(end));
    now_ms_ = now_ms;
    return now_ms;
}

std::optional<plimsoll::Worker>& Cluster::place(std::uint64_t number) {
    if (number >= workers_.size()) {
        throw Refused::invalid("worker", "there is no worker " + std::to_string(number) + " of " +
                                             std::to_string(workers_.size()));
    }
    return workers_[number];
}

plimsoll::Worker& Cluster::worker(std::uint64_t number) {
    auto& worker = place(number);
    if (!worker) {
        throw Refused::invalid("worker", "worker " + std::to_string(number) + " is closed");
    }
    return *worker;
}

std::vector<plimsoll::Worker*> Cluster::workers() {
    std::vector<plimsoll::Worker*> open;
    for (auto& worker : workers_) {
        if (worker) {
            open.push_back(&*worker);
        }
    }
    return open;
}

plimsoll::Worker Cluster::make_worker(std::uint64_t number,
                                      plimsoll::Span<const std::uint64_t> draws) const {
    plimsoll::WorkerOptions options;
    options.peek_capacity = PEEK_CAPACITY;
    options.number = number;
    options.draws = draws;
    return value_of(handle_.worker(options));
}

std::set<std::string> Cluster::addresses() const {
    std::set<std::string> addresses;
    value_of(handle_.for_each_host(
        [&](const plimsoll::Host& host) { addresses.emplace(host.address()); }));
    return addresses;
}

void Cluster::check_hosts(const std::vector<std::string>& hosts) const {
    if (hosts.empty()) {
        return;
    }
    const auto known = addresses();
    for (const std::string& host : hosts) {
        if (known.count(host) == 0) {
            throw Refused{"unknown_host", host, "the cluster has no host " + host};
        }
    }
}

}  // namespace replay
