// Time and the runtime: slow start, when a tick is due, and keys of every form.

#include "check.hpp"

#include <cmath>
#include <limits>

using plimsoll::Status;
using plimsoll::Time;
using std::chrono::seconds;

namespace {

plimsoll::Cluster open_with_a_new_host() {
    plimsoll::ClusterOptions options;
    options.now = seconds(1000);
    auto cluster = plimsoll::Cluster::open(
        std::string(TWO_HOSTS) +
            "round_robin_lb_config:\n  slow_start_config:\n    slow_start_window: 60s\n"
            "    aggression: {default_value: 1, runtime_key: api.aggression}\n",
        options);
    CHECK(cluster);
    CHECK(cluster->tick(seconds(1100)));
    CHECK(cluster->apply(plimsoll::Update().upsert("10.0.0.3:80")));
    return *std::move(cluster);
}

// How far the new host is, 0 to 1, and how many seconds are left.
std::pair<double, double> slow_start(const plimsoll::Cluster& cluster) {
    std::pair<double, double> found;
    CHECK(cluster.for_each_host([&](const plimsoll::Host& host) {
        found = {host.slow_start_factor(), host.slow_start_left().count()};
    }));
    return found;
}

void a_new_host_warms_up_with_ticks() {
    const plimsoll::Cluster cluster = open_with_a_new_host();
    CHECK(std::fabs(slow_start(cluster).second - 60) < 1e-6);
    const auto due = cluster.next_tick();
    CHECK(due && *due && **due > seconds(1100) && **due <= seconds(1160));
    CHECK(cluster.tick(seconds(1130)));
    CHECK(std::fabs(slow_start(cluster).first - 0.5) < 1e-6);
    CHECK(cluster.tick(seconds(1)));  // the clock never goes back
    CHECK(cluster.tick(Time(-5)));
    CHECK(std::fabs(slow_start(cluster).second - 30) < 1e-6);
    CHECK(cluster.tick(seconds(1160)));
    CHECK(slow_start(cluster).second <= 0);
    CHECK(!*open().next_tick());
}

void runtime_values_have_their_forms() {
    const plimsoll::Cluster cluster = open_with_a_new_host();
    CHECK(cluster.tick(seconds(1115)));
    const double before = slow_start(cluster).first;
    CHECK(cluster.set_runtime("api.aggression", 2.0)->published);
    CHECK(slow_start(cluster).first > before + 0.2);
    CHECK(cluster.remove_runtime("api.aggression")->published);
    CHECK(std::fabs(slow_start(cluster).first - before) < 1e-6);
    CHECK(cluster.set_runtime("api.aggression", 2)->published);  // a whole number will do
    CHECK(slow_start(cluster).first > before + 0.2);
    CHECK(!cluster.set_runtime("unknown", 1.5F)->published);

    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(cluster.set_runtime("api.aggression", infinite).status() == Status::invalid_argument);
    const auto refused = cluster.set_runtime("\xff", true);
    CHECK(refused.status() == Status::invalid_argument && refused.error().field() == "key");
}

void several_runtime_values_are_one_step() {
    const plimsoll::Cluster cluster = open_with_a_new_host();
    CHECK(cluster.tick(seconds(1115)));
    const double before = slow_start(cluster).first;
    const auto applied =
        cluster.update_runtime({{"api.aggression", 2.0}, {"unknown", true}, {"another", -1}});
    CHECK(applied && applied->published && slow_start(cluster).first > before + 0.2);
    CHECK(cluster.update_runtime({plimsoll::RuntimeEntry::removed("api.aggression")})->published);
    CHECK(std::fabs(slow_start(cluster).first - before) < 1e-6);
    const auto refused = cluster.update_runtime({{"a", 1}, {"\xff", 1}});
    CHECK(!refused && refused.error().field() == "values[1].key");
}

void runtime_values_may_hold_from_the_start() {
    const plimsoll::RuntimeEntry threshold[] = {{"upstream.healthy_panic_threshold", 60}};
    plimsoll::ClusterOptions options;
    options.behavior = plimsoll::Behavior::envoy;
    options.runtime = threshold;
    const plimsoll::Cluster cluster = *plimsoll::Cluster::open(TWO_HOSTS, options);
    CHECK(cluster.apply(plimsoll::Update().health("10.0.0.1:80", plimsoll::HealthEvent::fail)));
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(share_of(worker, 10, "10.0.0.1:80") == 5);
}

void a_whole_number_sets_the_panic_threshold() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(cluster.apply(plimsoll::Update().health("10.0.0.1:80", plimsoll::HealthEvent::fail)));
    CHECK(share_of(worker, 10, "10.0.0.1:80") == 0);
    CHECK(cluster.set_runtime("upstream.healthy_panic_threshold", 60)->published);
    CHECK(gets(worker, "10.0.0.1:80", 50));
}

}  // namespace

void test_time() {
    a_new_host_warms_up_with_ticks();
    runtime_values_have_their_forms();
    several_runtime_values_are_one_step();
    runtime_values_may_hold_from_the_start();
    a_whole_number_sets_the_panic_threshold();
}
