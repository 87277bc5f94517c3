// What a cluster shows: hosts, localities, a table and counters.

#include "check.hpp"

#include <cmath>
#include <vector>

using plimsoll::Host;
using plimsoll::Locality;
using plimsoll::Source;
using plimsoll::Visit;

namespace {

constexpr std::string_view PLACES =
    "name: api\n"
    "lb_policy: ROUND_ROBIN\n"
    "load_assignment:\n"
    "  cluster_name: api\n"
    "  endpoints:\n"
    "  - locality: {region: eu, zone: a, sub_zone: \"1\"}\n"
    "    lb_endpoints:\n"
    "    - endpoint:\n"
    "        address: {socket_address: {address: 10.0.0.1, port_value: 80}}\n"
    "        hostname: one\n"
    "      load_balancing_weight: 3\n"
    "    - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}\n"
    "      health_status: DEGRADED\n"
    "  - priority: 1\n"
    "    lb_endpoints:\n"
    "    - endpoint: {address: {socket_address: {address: 10.0.1.1, port_value: 80}}}\n";

bool near(double number, double expected) { return std::fabs(number - expected) < 1e-9; }

void each_host_is_shown() {
    const plimsoll::Cluster cluster = open(PLACES);
    std::vector<std::string> seen;
    CHECK(cluster.for_each_host([&](const Host& host) {
        seen.emplace_back(host.address());
        CHECK(host.raw().size == sizeof(plimsoll_host));
        CHECK(host.active() == 0 && !host.report() && near(host.slow_start_factor(), 1));
        CHECK(near(host.slow_start_left().count(), 0));
        if (seen.size() == 1) {
            CHECK(host.hostname() == "one" && host.region() == "eu" && host.zone() == "a");
            CHECK(host.sub_zone() == "1" && host.priority() == 0 && host.weight() == 3);
            CHECK(host.eds_health() == plimsoll::EdsHealth::unknown);
            CHECK(host.coarse() == plimsoll::CoarseHealth::healthy && host.health().bits() == 0);
            CHECK(near(host.effective_weight(), 3) && host.share() > 0.5);
        } else if (seen.size() == 2) {
            CHECK(host.hostname().empty() && host.eds_health() == plimsoll::EdsHealth::degraded);
            CHECK(host.coarse() == plimsoll::CoarseHealth::degraded);
            CHECK(host.health().has(plimsoll::HealthFlag::degraded_eds_health));
            CHECK(!host.health().has(plimsoll::HealthFlag::failed_active_hc));
        } else {
            CHECK(host.priority() == 1 && host.region().empty());
        }
    }));
    CHECK((seen == std::vector<std::string>{"10.0.0.1:80", "10.0.0.2:80", "10.0.1.1:80"}));
}

void a_visit_can_be_the_last_and_may_make_any_call() {
    const plimsoll::Cluster cluster = open(PLACES);
    int visits = 0;
    CHECK(cluster.for_each_host([&](const Host& host) {
        CHECK(cluster.apply(plimsoll::Update().remove(host.address())));
        return ++visits == 2 ? Visit::stop : Visit::more;
    }));
    CHECK(visits == 2);
    CHECK(cluster.for_each_host([&](const Host&) { visits++; }));
    CHECK(visits == 3);
    CHECK(cluster.for_each_host(nullptr).status() == plimsoll::Status::null_argument);
}

void each_locality_is_shown() {
    const plimsoll::Cluster cluster = open(PLACES);
    int visits = 0;
    double load = 0;
    CHECK(cluster.for_each_locality([&](const Locality& locality) {
        CHECK(locality.raw().size == sizeof(plimsoll_locality));
        CHECK(static_cast<int>(locality.source()) == visits % 3);
        CHECK(!locality.all_local() && !locality.utilization());
        load += locality.load();
        if (++visits == 1) {
            CHECK(locality.region() == "eu" && locality.zone() == "a" && locality.sub_zone() == "1");
            CHECK(locality.priority() == 0 && locality.source() == Source::healthy);
            CHECK(locality.hosts() == 1 && near(locality.weight(), 1));
        }
    }));
    CHECK(visits == 6 && near(load, 1));
    CHECK(cluster.for_each_locality([&](const Locality&) { return visits++, Visit::stop; }));
    CHECK(visits == 7);
    CHECK(cluster.for_each_locality({}).status() == plimsoll::Status::null_argument);
}

void a_local_cluster_may_be_given() {
    const plimsoll::Cluster proxies = open(PLACES);
    plimsoll::ClusterOptions options;
    options.local_cluster = &proxies;
    options.region = "eu";
    options.zone = "a";
    options.sub_zone = "1";
    CHECK(plimsoll::Cluster::open(PLACES, options));
}

void texts_of_any_size_fit() {
    const plimsoll::Cluster cluster = open("name: api");
    plimsoll::Update update;
    for (int host = 0; host < 500; host++) {
        update.upsert("10.0.0." + std::to_string(host) + ":80");
    }
    CHECK(cluster.apply(update));
    const auto table = cluster.hosts();
    CHECK(table && table->size() > 5000 && table->find("10.0.0.499:80") != std::string::npos);
    CHECK(table->find('\0') == std::string::npos && table->back() == '\n');
    const auto stats = cluster.stats();
    CHECK(stats && stats->find(": ") != std::string::npos && stats->back() == '\n');
}

}  // namespace

void test_views() {
    each_host_is_shown();
    a_visit_can_be_the_last_and_may_make_any_call();
    each_locality_is_shown();
    a_local_cluster_may_be_given();
    texts_of_any_size_fit();
}
