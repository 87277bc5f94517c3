// Many picks counted by host, and the end of requests that were held.

#include <algorithm>
#include <map>

#include "picks.hpp"

namespace replay {

using plimsoll::Outcome;
using plimsoll::Worker;

namespace {

// More picks than this in one tally are refused, so that a line cannot run forever.
constexpr std::uint64_t MAX_TALLY = 10000000;

// A worker's index; nothing for `"all"`.
std::optional<std::uint64_t> read_worker(Keys& keys) {
    const Json* worker = keys.find("worker");
    if (worker == nullptr) {
        return 0;
    }
    if (worker->is_string() && *worker == "all") {
        return std::nullopt;
    }
    const auto number = integer_of(*worker);
    if (!number) {
        throw Malformed(keys.path_of("worker") + ": expected a worker's index or \"all\"");
    }
    return number;
}

// The workers that take turns; closed ones take none.
std::vector<Worker*> workers_of(Cluster& cluster, std::optional<std::uint64_t> number) {
    if (number) {
        return {&cluster.worker(*number)};
    }
    auto workers = cluster.workers();
    if (workers.empty()) {
        throw Refused::invalid("worker", "all workers are closed");
    }
    return workers;
}

}  // namespace

Answer run_tally(Operation& op) {
    const std::uint64_t n = op.keys.integer("n").value_or(1);
    const auto number = read_worker(op.keys);
    op.keys.word("hash", {"random"});  // a pick without a hash draws one
    plimsoll::PickContext context;
    context.attempt = saturated(op.keys.integer("attempt").value_or(0));
    const Names names(op.keys);
    Cluster& cluster = op.cluster();
    check_at_most(n, MAX_TALLY);
    const auto workers = workers_of(cluster, number);
    const auto named = names.lent();
    std::map<std::string, std::uint64_t> counts;
    for (const std::string& address : cluster.addresses()) {
        counts[address] = 0;
    }
    std::uint64_t none = 0;
    for (std::uint64_t turn = 0; turn < n; turn++) {
        Worker& worker = *workers[turn % workers.size()];
        const auto pick = worker.pick_override(named, names.mode, context);
        if (!pick) {
            none++;
            continue;
        }
        if (const auto address = address_of(worker, pick); address && counts.count(*address) > 0) {
            counts[*address]++;
        }
        worker.done(*pick, Outcome::success);
    }
    std::string text = "{";
    const auto add = [&](const std::string& name, std::uint64_t count) {
        text += (text.size() > 1 ? "," : "") + in_quotes(name) + ":" + std::to_string(count);
    };
    for (const auto& [address, count] : counts) {
        add(address, count);
    }
    if (none > 0) {
        add("none", none);
    }
    return {"tally", text + "}"};
}

namespace {

// Checks all hosts before any request ends. A host that left may still hold requests.
void check_held(const Cluster& cluster, const std::vector<std::string>& hosts) {
    std::map<std::string, std::size_t> asked;
    for (const std::string& host : hosts) {
        asked[host]++;
    }
    for (const auto& [host, count] : asked) {
        const auto found = cluster.held.find(host);
        const std::size_t held = found == cluster.held.end() ? 0 : found->second.size();
        if (held == 0) {
            cluster.check_hosts({host});
        }
        if (held < count) {
            throw Refused::invalid("hosts", "requests held on " + host + ": " +
                                                std::to_string(held) +
                                                ", to end: " + std::to_string(count));
        }
    }
}

}  // namespace

Answer run_done(Operation& op) {
    const auto hosts = *op.keys.required(op.keys.texts("hosts"), "hosts");
    const bool failed = op.keys.word("outcome", {"success", "error"}).value_or(0) == 1;
    Cluster& cluster = op.cluster();
    check_held(cluster, hosts);
    // Any worker may say that a request is over; requests outlive the workers that picked them.
    const auto workers = cluster.workers();
    std::optional<Worker> spare;
    Worker& worker = workers.empty() ? spare.emplace(cluster.make_worker(0)) : *workers.front();
    for (const std::string& host : hosts) {
        auto& picks = cluster.held[host];
        // The library refuses if `load` has meanwhile put the count of the host to 0; the request is over
        // all the same.
        worker.done(picks.front(), failed ? Outcome::error : Outcome::success);
        picks.pop_front();
    }
    return ok();
}

}  // namespace replay
