// Batches of changes: hosts that come and go, their health, and refusals that name the change.

#include "check.hpp"

#include <utility>

using plimsoll::HealthEvent;
using plimsoll::Status;
using plimsoll::Update;

namespace {

void a_batch_is_one_snapshot() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    Update update;
    CHECK(update.empty());
    {
        // The batch keeps its own texts.
        const std::string added = std::string("10.0.0.") + "3:80";
        plimsoll::HostSpec host;
        host.address = added;
        host.hostname = "three";
        host.weight = 3;
        update.upsert(host).remove("10.0.0.1:80").health("10.0.0.2:80", HealthEvent::eject);
    }
    CHECK(update.size() == 3);
    const auto before = cluster.apply(Update());
    CHECK(before && !before->published);
    const auto applied = cluster.apply(update);
    CHECK(applied && applied->published && applied->version == before->version + 1);
    CHECK(share_of(worker, 10, "10.0.0.3:80") == 10);

    update.clear();
    CHECK(update.empty());
    update.health("10.0.0.2:80", HealthEvent::uneject);
    CHECK(cluster.apply(update)->published);
    CHECK(gets(worker, "10.0.0.3:80", 75));
}

void a_refused_change_takes_its_batch_with_it() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    Update update;
    update.reserve(2);
    update.remove("10.0.0.1:80").remove("10.0.0.9:80");
    auto applied = cluster.apply(update);
    CHECK(applied.status() == Status::unknown_host && applied.error().field() == "10.0.0.9:80");
    CHECK(gets(worker, "10.0.0.1:80", 50));

    plimsoll::HostSpec host;
    host.address = "10.0.0.3:80";
    host.priority = 129;
    applied = cluster.apply(Update().upsert("10.0.0.4:80").upsert(host));
    CHECK(applied.status() == Status::invalid_argument);
    CHECK(applied.error().field() == "changes[1].priority");
    applied = cluster.apply(Update().upsert(""));
    CHECK(applied.error().field() == "changes[0].address");
    applied = cluster.apply(Update().health("10.0.0.1:80", static_cast<HealthEvent>(99)));
    CHECK(applied.error().field() == "changes[0].event");
}

void health_moves_traffic() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    plimsoll::HostSpec host;
    host.address = "10.0.0.1:80";
    host.health = plimsoll::EdsHealth::draining;
    CHECK(cluster.apply(Update().upsert(host)).has_value());
    CHECK(share_of(worker, 10, "10.0.0.1:80") == 0);
    CHECK(cluster.apply(Update().health("10.0.0.2:80", HealthEvent::fail)).has_value());
    // Panic: native sends to all but those that the control plane took out.
    CHECK(share_of(worker, 10, "10.0.0.2:80") == 10);
}

void a_batch_can_be_moved() {
    Update first;
    first.upsert("10.0.0.3:80");
    Update second = std::move(first);
    CHECK(second.size() == 1);
    const plimsoll::Cluster cluster = open("name: api");
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(worker.pick().status() == Status::no_host);
    CHECK(cluster.apply(second)->published);
    CHECK(!cluster.apply(second)->published);
    CHECK(next(worker) == "10.0.0.3:80");
}

}  // namespace

void test_updates() {
    a_batch_is_one_snapshot();
    a_refused_change_takes_its_batch_with_it();
    health_moves_traffic();
    a_batch_can_be_moved();
}
