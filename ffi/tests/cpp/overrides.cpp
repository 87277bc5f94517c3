// Picks of hosts that the request names.

#include "check.hpp"

#include <string>
#include <vector>

using plimsoll::Override;
using plimsoll::Status;
using plimsoll::Text;

namespace {

void a_request_goes_where_it_asks_to() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    for (int turn = 0; turn < 10; turn++) {
        auto pick = worker.pick_override("10.0.0.9:80, 10.0.0.2:80", Override::strict);
        CHECK(pick && pick->counted() && *worker.host_address(*pick) == "10.0.0.2:80");
        const std::string second = "10.0.0.1:80";
        const Text several[] = {"10.0.0.9:80", second, std::string_view("10.0.0.2:80")};
        CHECK(several[1].view() == second);
        plimsoll::PickContext context;
        context.counted = false;
        pick = worker.pick_override(several, Override::strict, context);
        CHECK(pick && !pick->counted() && *worker.host_address(*pick) == "10.0.0.1:80");
    }
}

void who_cannot_be_had_is_replaced_unless_it_is_strict() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(worker.pick_override("10.0.0.9:80", Override::strict).status() ==
          Status::override_not_found);
    CHECK(worker.pick_override("10.0.0.9:80", Override::preferred));
    CHECK(cluster.apply(
        plimsoll::Update().health("10.0.0.2:80", plimsoll::HealthEvent::eject)));
    CHECK(worker.pick_override("10.0.0.2:80", Override::strict).status() ==
          Status::override_not_allowed);
    CHECK(worker.pick_override("10.0.0.2:80", static_cast<Override>(2)).status() ==
          Status::invalid_argument);
}

void a_filter_is_asked_about_hosts_of_the_policy_only() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    plimsoll::PickContext context;
    context.retries = 10;
    const auto second = [&](const plimsoll::Pick& candidate) {
        return *worker.host_address(candidate) == "10.0.0.2:80";
    };
    const Text named[] = {"10.0.0.1:80"}, unknown[] = {"10.0.0.9:80"};
    auto pick = worker.pick_override_filtered(named, Override::preferred, context, second);
    CHECK(pick && *worker.host_address(*pick) == "10.0.0.1:80");
    pick = worker.pick_override_filtered(unknown, Override::preferred, context, second);
    CHECK(pick && *worker.host_address(*pick) == "10.0.0.2:80");
    CHECK(worker.pick_override_filtered(unknown, Override::strict, context, second).status() ==
          Status::override_not_found);
}

void who_names_nobody_gets_the_policy() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(worker.pick_override("", Override::strict));
    CHECK(worker.pick_override(std::vector<Text>(), Override::strict));
    CHECK(worker.pick_override(std::vector<Text>(3), Override::strict));
}

}  // namespace

void test_overrides() {
    a_request_goes_where_it_asks_to();
    who_cannot_be_had_is_replaced_unless_it_is_strict();
    who_names_nobody_gets_the_policy();
    a_filter_is_asked_about_hosts_of_the_policy_only();
}
