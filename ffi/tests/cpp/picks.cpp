// Picks: single, filtered, in batches and ahead; what is counted, and how it ends.

#include "check.hpp"

#include <array>
#include <utility>
#include <vector>

using plimsoll::Outcome;
using plimsoll::Pick;
using plimsoll::PickContext;
using plimsoll::Status;

namespace {

std::uint32_t active_of(const plimsoll::Cluster& cluster) {
    std::uint32_t active = 0;
    CHECK(cluster.for_each_host([&](const plimsoll::Host& host) { active += host.active(); }));
    return active;
}

void a_pick_counts_until_it_is_done() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster), other = worker_of(cluster);
    const auto pick = worker.pick();
    CHECK(pick && pick->counted() && !pick->in_total() && pick->priority() == 0);
    CHECK(active_of(cluster) == 1);
    CHECK(other.done(*pick, Outcome::error) == Status::ok);
    CHECK(active_of(cluster) == 0);
    CHECK(worker.done(*pick, Outcome::success) == Status::stale_pick);
    CHECK(worker.done(*pick, static_cast<Outcome>(7)) == Status::invalid_argument);

    PickContext context;
    context.counted = false;
    const auto uncounted = worker.pick(context);
    CHECK(uncounted && !uncounted->counted() && active_of(cluster) == 0);
    CHECK(worker.done(*uncounted, Outcome::success) == Status::not_counted);
    CHECK(worker.pick()->same_host(*pick) || worker.pick()->same_host(*pick));
}

void an_active_pick_is_done_at_the_end_of_its_scope() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    {
        plimsoll::ActivePick first(worker, *worker.pick());
        plimsoll::ActivePick second(worker, *worker.pick());
        plimsoll::Worker moved = std::move(worker);
        CHECK(active_of(cluster) == 2 && first.pick().counted());
        first = std::move(second);
        CHECK(active_of(cluster) == 1);
        const plimsoll::ActivePick third = std::move(first);
        CHECK(first.finish(Outcome::success) == Status::not_counted);
        CHECK(active_of(cluster) == 1);
        worker = std::move(moved);
    }
    CHECK(active_of(cluster) == 0);
    plimsoll::ActivePick last(worker, *worker.pick());
    CHECK(last.finish(Outcome::success) == Status::ok);
    CHECK(last.finish(Outcome::success) == Status::not_counted);
}

void an_address_goes_into_a_buffer_or_a_string() {
    const std::string longest(200, 'a');
    const plimsoll::Cluster cluster = open("name: api");
    CHECK(cluster.apply(plimsoll::Update().upsert(longest)).has_value());
    plimsoll::Worker worker = worker_of(cluster);
    const auto pick = worker.pick();
    CHECK(pick.has_value());
    std::array<char, 201> buffer;
    std::size_t needed = 0;
    CHECK(*worker.host_address(*pick, buffer) == longest && buffer[200] == '\0');
    const auto small = worker.host_address(*pick, plimsoll::Span<char>(buffer).first(200), &needed);
    CHECK(small.status() == Status::buffer_too_small && needed == 201);
    CHECK(worker.host_address(*pick, {}).status() == Status::buffer_too_small);
    CHECK(*worker.host_address(*pick) == longest);
    CHECK(worker.host_address(Pick(plimsoll_pick{9, 9, 0, 0})).status() == Status::stale_pick);
}

bool never(const Pick&) { return false; }

void a_filter_sees_candidates_and_may_ask_about_them() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    PickContext context;
    context.retries = 5;
    int asked = 0;
    for (int turn = 0; turn < 10; turn++) {
        const auto pick = worker.pick_filtered(context, [&](const Pick& candidate) {
            asked++;
            char buffer[64];
            CHECK(worker.pick().status() == Status::invalid_argument);
            return *worker.host_address(candidate, buffer) == "10.0.0.2:80";
        });
        CHECK(pick && *worker.host_address(*pick) == "10.0.0.2:80");
        CHECK(worker.done(*pick, Outcome::success) == Status::ok);
    }
    CHECK(asked > 10);
    // The last one is taken unasked.
    CHECK(worker.pick_filtered(context, never).has_value());
    asked = 0;
    CHECK(worker.pick_filtered({}, [&](const Pick&) { return asked++ > 0; }));
    CHECK(asked == 0);
    CHECK(worker.pick_filtered(context, nullptr).status() == Status::null_argument);
}

void a_batch_fills_what_there_is_room_for() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    std::vector<Pick> room(10);
    const auto picks = worker.pick_batch(room);
    CHECK(picks && picks->size() == 10 && picks->data() == room.data());
    int first = 0;
    for (const Pick& pick : *picks) {
        first += pick.same_host(room[0]) ? 1 : 0;
        CHECK(worker.done(pick, Outcome::success) == Status::ok);
    }
    CHECK(first >= 4 && first <= 6);
    PickContext context;
    context.counted = false;
    CHECK(!worker.pick_batch(room, context)->begin()->counted());
    CHECK(worker.pick_batch({})->empty());
    CHECK(cluster.assign("cluster_name: api").has_value());
    CHECK(worker.pick_batch(room).status() == Status::no_host);
    CHECK(room[0].slot() == 0 && room[0].generation() == 0 && !room[0].counted());
}

void a_peek_comes_first_later() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    const auto first = worker.peek(), second = worker.peek();
    CHECK(first && second && !first->counted());
    CHECK(worker.peek().status() == Status::peek_limit);
    CHECK(worker.pick()->same_host(*first));
    CHECK(worker.pick()->same_host(*second));
}

void panic_can_fail_traffic() {
    const plimsoll::Cluster cluster =
        open(std::string(TWO_HOSTS) +
             "common_lb_config: {zone_aware_lb_config: {fail_traffic_on_panic: true}}\n");
    CHECK(cluster.apply(plimsoll::Update()
                            .health("10.0.0.1:80", plimsoll::HealthEvent::fail)
                            .health("10.0.0.2:80", plimsoll::HealthEvent::timed_out)));
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(worker.pick().status() == Status::no_host_panic);
}

}  // namespace

void test_picks() {
    a_pick_counts_until_it_is_done();
    an_active_pick_is_done_at_the_end_of_its_scope();
    an_address_goes_into_a_buffer_or_a_string();
    a_filter_sees_candidates_and_may_ask_about_them();
    a_batch_fills_what_there_is_room_for();
    a_peek_comes_first_later();
    panic_can_fail_traffic();
}
