// Several threads with a worker each, and control calls beside them.

#include "check.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using plimsoll::Outcome;
using plimsoll::Pick;
using plimsoll::Status;

namespace {

constexpr int THREADS = 3;
constexpr int ROUNDS = 5000;

// The picks that a thread leaves for others to end.
std::vector<Pick> pick_all_the_time(plimsoll::Worker& worker) {
    for (int round = 0; round < ROUNDS; round++) {
        plimsoll::ActivePick request(worker, *worker.pick());
        CHECK(request.finish(Outcome::success) == Status::ok);
    }
    std::vector<Pick> left(16);
    CHECK(worker.pick_batch(left)->size() == left.size());
    return left;
}

void each_thread_has_a_worker_while_hosts_come_and_go() {
    std::atomic<int> closed{0};
    struct Connections {
        std::atomic<int>& closed;
        ~Connections() { closed++; }
    };
    auto cluster = std::make_unique<plimsoll::Cluster>(open());
    std::vector<plimsoll::Worker> workers;
    std::vector<std::vector<Pick>> left(THREADS);
    for (int index = 0; index < THREADS; index++) {
        workers.push_back(worker_of(*cluster));
    }
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < workers.size(); index++) {
        threads.emplace_back(
            [&workers, &left, index] { left[index] = pick_all_the_time(workers[index]); });
    }
    constexpr int CHANGES = 200;
    for (int round = 0; round < CHANGES; round++) {
        CHECK(cluster->apply(plimsoll::Update().upsert("10.0.0.3:80")));
        CHECK(cluster->set_host_data("10.0.0.3:80",
                                     std::unique_ptr<Connections>(new Connections{closed})));
        CHECK(cluster->apply(plimsoll::Update().remove("10.0.0.3:80")));
        CHECK(cluster->tick(std::chrono::milliseconds(round)));
        CHECK(cluster->stats());
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    // Each worker ends what another one picked.
    for (std::size_t index = 0; index < workers.size(); index++) {
        for (const Pick& pick : left[(index + 1) % workers.size()]) {
            CHECK(workers[index].done(pick, Outcome::success) == Status::ok);
        }
    }
    cluster.reset();
    CHECK(next(workers[0]) != "10.0.0.3:80" || closed < CHANGES);
    workers.clear();
    CHECK(closed == CHANGES);
}

void control_calls_may_come_from_several_threads() {
    const plimsoll::Cluster cluster = open();
    std::vector<std::thread> threads;
    for (int index = 0; index < THREADS; index++) {
        threads.emplace_back([&cluster] {
            for (int round = 0; round < 50; round++) {
                CHECK(cluster.assign(THIRD_HOST) && cluster.reload(TWO_HOSTS));
                int hosts = 0;
                CHECK(cluster.for_each_host([&](const plimsoll::Host&) { hosts++; }));
                CHECK(hosts == 1 || hosts == 2);  // of one snapshot or the other, not of both
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace

void test_threads() {
    each_thread_has_a_worker_while_hosts_come_and_go();
    control_calls_may_come_from_several_threads();
}
