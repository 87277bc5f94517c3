// A balancer as small as one gets: this thread owns time and health, and two others send requests,
// each with a worker of its own. The hosts are made up, and one of them is broken.
//
//   c++ -std=c++17 balancer.cpp -I include build/lib/libplimsoll.a -lpthread -ldl -lm

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "plimsoll/plimsoll.hpp"

namespace {

constexpr std::string_view ADDRESSES[] = {"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"};
constexpr std::string_view BROKEN = ADDRESSES[2];

// What stands behind a host: in a real balancer, its connections.
struct Backend {
    bool works;
    std::atomic<int> requests{0};
};

plimsoll::Time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

bool send(Backend& backend) {
    backend.requests++;
    return backend.works;
}

// Sends one request, and once more, to another host, if it fails.
bool serve(plimsoll::Worker& worker) {
    plimsoll::PickContext context;
    context.retries = 8;
    plimsoll::Pick tried;
    for (; context.attempt < 2; context.attempt++) {
        const auto pick = worker.pick_filtered(context, [&](const plimsoll::Pick& candidate) {
            return context.attempt == 0 || !candidate.same_host(tried);
        });
        if (!pick) {
            return false;  // 503
        }
        tried = *pick;
        plimsoll::ActivePick request(worker, *pick);  // has failed unless it is finished
        const auto backend = worker.host_data<Backend>(*pick);
        if (backend && *backend != nullptr && send(**backend)) {
            request.finish(plimsoll::Outcome::success);
            return true;
        }
    }
    return false;  // 502
}

plimsoll::Result<plimsoll::Cluster> open_cluster() {
    plimsoll::ClusterOptions options;
    options.now = now();
    auto cluster = plimsoll::Cluster::open("name: api\nlb_policy: ROUND_ROBIN\n", options);
    for (const std::string_view address : ADDRESSES) {
        if (!cluster) {
            break;
        }
        auto applied = cluster->apply(plimsoll::Update().upsert(address));
        if (!applied) {
            return std::move(applied).error();
        }
        auto backend = std::unique_ptr<Backend>(new Backend{address != BROKEN});
        auto set = cluster->set_host_data(address, std::move(backend));
        if (!set) {
            return std::move(set).error();
        }
    }
    return cluster;
}

int fail(const plimsoll::Error& error) {
    std::cerr << error.describe() << '\n';
    return 1;
}

}  // namespace

int main() {
    const auto cluster = open_cluster();
    if (!cluster) {
        return fail(cluster.error());
    }
    std::vector<plimsoll::Worker> workers;
    while (workers.size() < 2) {
        auto worker = cluster->worker();
        if (!worker) {
            return fail(worker.error());
        }
        workers.push_back(*std::move(worker));
    }
    std::atomic<int> served{0};
    std::vector<std::thread> threads;
    for (plimsoll::Worker& worker : workers) {
        threads.emplace_back([&worker, &served] {
            for (int request = 0; request < 3000; request++) {
                served += serve(worker) ? 1 : 0;
            }
        });
    }
    // A health check fails while they serve.
    const auto failed =
        cluster->apply(plimsoll::Update().health(BROKEN, plimsoll::HealthEvent::fail));
    const auto ticked = cluster->tick(now());
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (!failed || !ticked) {
        return fail(!failed ? failed.error() : ticked.error());
    }
    std::cout << served << " requests served\n";
    const auto shown = cluster->for_each_host([](const plimsoll::Host& host) {
        std::cout << host.address() << " gets " << 100 * host.share() << " %\n";
    });
    return shown ? 0 : fail(shown.error());
}
