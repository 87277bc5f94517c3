// The caller's objects behind hosts: found with each pick, and given back exactly once.

#include "check.hpp"

#include <memory>
#include <utility>

using plimsoll::Outcome;
using plimsoll::Status;
using plimsoll::Update;

namespace {

// A pool of connections that says when it goes.
struct Pool {
    explicit Pool(int& closed) : closed_(closed) {}
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() { closed_++; }
    int used = 0;

private:
    int& closed_;
};

void an_object_goes_after_the_last_request_and_snapshot() {
    int closed = 0;
    plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    for (const char* address : {"10.0.0.1:80", "10.0.0.2:80"}) {
        CHECK(cluster.set_host_data(address, std::make_unique<Pool>(closed)));
    }
    const auto pick = worker.pick();
    const auto pool = worker.host_data<Pool>(*pick);
    CHECK(pool && *pool != nullptr && (*pool)->used++ == 0);

    CHECK(cluster.apply(Update().remove(*worker.host_address(*pick))));
    CHECK(cluster.tick(plimsoll::Time(1)));
    CHECK(closed == 0);  // the worker's snapshot names the host
    CHECK(worker.refresh() == Status::ok);
    CHECK(cluster.tick(plimsoll::Time(2)));
    CHECK(closed == 0);  // the request goes on
    CHECK(worker.done(*pick, Outcome::success) == Status::ok);
    CHECK(closed == 0);  // no request's thread runs a callback
    CHECK(cluster.tick(plimsoll::Time(3)));
    CHECK(closed == 1);

    cluster = open();  // frees the one that this was
    CHECK(closed == 1);  // the worker goes on
    worker = worker_of(cluster);
    CHECK(closed == 2);
}

void refused_objects_stay_with_the_caller() {
    int closed = 0;
    {
        const plimsoll::Cluster cluster = open();
        auto first = std::make_unique<Pool>(closed), second = std::make_unique<Pool>(closed);
        auto set = cluster.set_host_data("10.0.0.9:80", std::move(first));
        CHECK(set.status() == Status::unknown_host && set.error().field() == "10.0.0.9:80");
        CHECK(first != nullptr);
        CHECK(cluster.set_host_data("10.0.0.1:80", std::move(first)));
        CHECK(first == nullptr);
        set = cluster.set_host_data("10.0.0.1:80", std::move(second));
        CHECK(set.status() == Status::has_data && second != nullptr && closed == 0);
    }
    CHECK(closed == 2);
}

void a_lambda_can_release_anything() {
    static int released = 0;
    {
        const plimsoll::Cluster cluster = open();
        plimsoll::Worker worker = worker_of(cluster);
        CHECK(cluster.set_host_data("10.0.0.1:80", &released, [](void* data) noexcept {
            ++*static_cast<int*>(data);
        }));
        int plain = 5;
        CHECK(cluster.set_host_data("10.0.0.2:80", &plain, nullptr));
        int sum = 0;
        for (int turn = 0; turn < 2; turn++) {
            sum += **worker.host_data<int>(*worker.pick());
        }
        CHECK(sum == 5 && released == 0);
    }
    CHECK(released == 1);
}

void a_filter_can_look_at_the_data() {
    int closed = 0;
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(cluster.set_host_data("10.0.0.2:80", std::make_unique<const Pool>(closed)));
    plimsoll::PickContext context;
    context.retries = 5;
    for (int turn = 0; turn < 4; turn++) {
        const auto pick = worker.pick_filtered(context, [&](const plimsoll::Pick& candidate) {
            return *worker.host_data<const Pool>(candidate) != nullptr;
        });
        CHECK(*worker.host_address(*pick) == "10.0.0.2:80");
    }
}

}  // namespace

void test_host_data() {
    an_object_goes_after_the_last_request_and_snapshot();
    refused_objects_stay_with_the_caller();
    a_lambda_can_release_anything();
    a_filter_can_look_at_the_data();
}
