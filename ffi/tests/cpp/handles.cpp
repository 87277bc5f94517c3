// Handles that were moved away: every call answers, and none crashes. And handles from C.

#include "check.hpp"

#include <utility>

using plimsoll::Cluster;
using plimsoll::Outcome;
using plimsoll::Pick;
using plimsoll::Status;
using plimsoll::Worker;

namespace {

constexpr Status GONE = Status::null_argument;

void a_cluster_that_was_moved_away_answers() {
    Cluster gone = open();
    const Cluster cluster = std::move(gone);
    CHECK(gone.handle() == nullptr && cluster.handle() != nullptr);
    CHECK(gone.worker().status() == GONE);
    CHECK(gone.reload(TWO_HOSTS).status() == GONE && gone.assign(THIRD_HOST).status() == GONE);
    CHECK(gone.apply(plimsoll::Update()).status() == GONE);
    CHECK(gone.tick(plimsoll::Time(1)).status() == GONE && gone.next_tick().status() == GONE);
    CHECK(gone.set_runtime("key", 1).status() == GONE);
    CHECK(gone.set_runtime("key", 1.5).status() == GONE);
    CHECK(gone.set_runtime("key", true).status() == GONE);
    CHECK(gone.remove_runtime("key").status() == GONE);
    CHECK(gone.set_loads({{"10.0.0.1:80", 1}}).status() == GONE);
    CHECK(gone.report("10.0.0.1:80", "").status() == GONE);
    CHECK(gone.export_reports().status() == GONE && gone.import_reports("").status() == GONE);
    CHECK(gone.set_host_data("10.0.0.1:80", nullptr, nullptr).status() == GONE);
    CHECK(gone.for_each_host([](const plimsoll::Host&) {}).status() == GONE);
    CHECK(gone.for_each_locality([](const plimsoll::Locality&) {}).status() == GONE);
    CHECK(gone.hosts().status() == GONE && gone.stats().status() == GONE);
    CHECK(gone.tick(plimsoll::Time(1)).error().field() == "cluster");

    plimsoll::ClusterOptions options;
    options.local_cluster = &gone;  // not known, then
    CHECK(Cluster::open(TWO_HOSTS, options));
}

void a_worker_that_was_moved_away_answers() {
    const Cluster cluster = open();
    Worker gone = worker_of(cluster);
    Worker worker = std::move(gone);
    CHECK(gone.handle() == nullptr && worker.handle() != nullptr);
    const Pick pick = *worker.pick();
    Pick room[2];
    CHECK(gone.pick().status() == GONE && gone.pick({}).status() == GONE);
    CHECK(gone.peek().status() == GONE && gone.pick_batch(room).status() == GONE);
    CHECK(gone.pick_filtered({}, [](const Pick&) { return true; }).status() == GONE);
    CHECK(gone.pick_override("10.0.0.1:80", plimsoll::Override::strict).status() == GONE);
    CHECK(gone.hash({}).status() == GONE);
    CHECK(gone.done(pick, Outcome::success) == GONE);
    CHECK(gone.report(pick, plimsoll::ResponseLoad()) == GONE);
    CHECK(gone.host_address(pick).status() == GONE && gone.host_data<int>(pick).status() == GONE);
    CHECK(gone.refresh() == GONE && gone.quiesce() == GONE);
    CHECK(plimsoll::ActivePick(gone, pick).finish(Outcome::success) == Status::not_counted);

    // What was moved away can be moved to.
    gone = std::move(worker);
    CHECK(gone.done(pick, Outcome::success) == Status::ok);
    CHECK(gone.quiesce() == Status::ok && gone.refresh() == Status::ok);
}

void an_error_that_was_moved_away_keeps_its_status() {
    auto opened = Cluster::open("name: [");
    plimsoll::Error error = std::move(opened).error();
    const plimsoll::Error moved = std::move(error);
    CHECK(!moved.message().empty() && moved.code() == "parse_error");
    CHECK(error.status() == Status::parse_error && error.code() == "parse_error");
    CHECK(error.field().empty() && error.message() == "parse_error");
}

void handles_come_from_c_and_go_to_it() {
    plimsoll_cluster* raw = nullptr;
    const plimsoll_str text = {TWO_HOSTS.data(), TWO_HOSTS.size()};
    CHECK(plimsoll_cluster_open(text, nullptr, &raw, nullptr) == PLIMSOLL_STATUS_OK);
    const Cluster cluster(raw);
    plimsoll_worker* raw_worker = nullptr;
    CHECK(plimsoll_worker_new(cluster.handle(), &raw_worker, nullptr) == PLIMSOLL_STATUS_OK);
    Worker worker(raw_worker);
    const auto pick = worker.pick();
    CHECK(plimsoll_worker_done(worker.handle(), &pick->raw(), PLIMSOLL_OUTCOME_SUCCESS) ==
          PLIMSOLL_STATUS_OK);
    plimsoll_hash_policies* policies = nullptr;
    CHECK(plimsoll_hash_policies_parse({"[]", 2}, &policies, nullptr) == PLIMSOLL_STATUS_OK);
    CHECK(plimsoll::HashPolicies(policies).handle() == policies);
}

}  // namespace

void test_handles() {
    a_cluster_that_was_moved_away_answers();
    a_worker_that_was_moved_away_answers();
    an_error_that_was_moved_away_keeps_its_status();
    handles_come_from_c_and_go_to_it();
}
