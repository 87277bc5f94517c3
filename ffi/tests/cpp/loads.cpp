// How busy hosts are: what the caller says, and what hosts report.

#include "check.hpp"

#include <cmath>
#include <cstring>
#include <vector>

using plimsoll::HostLoad;
using plimsoll::Outcome;
using plimsoll::ResponseLoad;
using plimsoll::Status;
using std::chrono::seconds;

namespace {

void the_idle_host_is_picked_over_the_busy_one() {
    std::string config(TWO_HOSTS);
    config.replace(config.find("ROUND_ROBIN"), 11, "LEAST_REQUEST");
    const plimsoll::Cluster cluster = open(config);
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(cluster.set_loads({{"10.0.0.1:80", 10}, {"10.0.0.2:80", 3, 1}}));
    CHECK(share_of(worker, 10, "10.0.0.2:80") == 10);
    CHECK(cluster.set_runtime(
        "envoy.reloadable_features.least_request_lb_count_pending_requests", true));
    const std::vector<HostLoad> loads = {{"10.0.0.1:80", 2}, {"10.0.0.2:80", 0, 9}};
    CHECK(cluster.set_loads(loads));
    CHECK(share_of(worker, 10, "10.0.0.1:80") == 10);

    auto refused = cluster.set_loads({{"10.0.0.1:80", 0}, {"10.0.0.2:80", 0x50000000}});
    CHECK(refused.status() == Status::invalid_argument);
    CHECK(refused.error().field() == "loads[1].active");
    CHECK(cluster.set_loads({{"10.0.0.9:80", 0}}).status() == Status::unknown_host);
    CHECK(cluster.set_loads(std::vector<HostLoad>()));
}

plimsoll::Cluster open_by_reports() {
    std::string config(TWO_HOSTS);
    config.replace(
        config.find("lb_policy: ROUND_ROBIN"), 22,
        "load_balancing_policy:\n"
        "  policies:\n"
        "  - typed_extension_config:\n"
        "      name: envoy.load_balancing_policies.client_side_weighted_round_robin\n"
        "      typed_config:\n"
        "        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies."
        "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin\n"
        "        blackout_period: 0s\n"
        "        weight_update_period: 1s");
    return open(config);
}

ResponseLoad text(std::string_view value) {
    ResponseLoad load;
    load.header_text = value;
    return load;
}

void weights_follow_reports() {
    const plimsoll::Cluster cluster = open_by_reports();
    plimsoll::Worker worker = worker_of(cluster);
    for (int turn = 0; turn < 2; turn++) {
        const auto pick = worker.pick();
        const bool first = *worker.host_address(*pick) == "10.0.0.1:80";
        CHECK(worker.report(*pick, text(first ? "TEXT rps_fractional=100,cpu_utilization=0.2"
                                              : "TEXT rps_fractional=100,cpu_utilization=0.8")) ==
              Status::ok);
        CHECK(worker.report(*pick, ResponseLoad()) == Status::no_report);
        CHECK(worker.report(*pick, text("")) == Status::report_unreadable);
        CHECK(worker.report(*pick, text("TEXT rps_fractional=1")) == Status::report_rejected);
        ResponseLoad trailers = text("garbage");
        trailers.trailer_text = first ? "TEXT rps_fractional=100,cpu_utilization=0.2"
                                      : "TEXT rps_fractional=100,cpu_utilization=0.8";
        trailers.now = seconds(1);
        CHECK(worker.report(*pick, trailers) == Status::ok);
        CHECK(worker.done(*pick, Outcome::success) == Status::ok);
    }
    CHECK(cluster.tick(seconds(3)));
    const int share = share_of(worker, 1000, "10.0.0.1:80");
    CHECK(share >= 790 && share <= 810);
    CHECK(cluster.for_each_host([](const plimsoll::Host& host) {
        const auto report = host.report();
        CHECK(report && report->weight > 100 && report->utilization > 0.1);
        CHECK(report->age == seconds(2));
    }));
}

void reports_come_on_streams_too() {
    const plimsoll::Cluster cluster = open_by_reports();
    // Field 1, cpu_utilization, and field 6, rps_fractional, lowest byte first.
    std::string message = "\x09";
    for (const auto& [value, tag] : {std::pair(0.5, '\x31'), std::pair(100.0, '\0')}) {
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        for (int shift = 0; shift < 64; shift += 8) {
            message += static_cast<char>((bits >> shift) & 0xff);
        }
        if (tag != 0) {
            message += tag;
        }
    }
    CHECK(cluster.report("10.0.0.1:80", message, seconds(1)));
    CHECK(cluster.report("10.0.0.9:80", message).status() == Status::unknown_host);
    CHECK(cluster.report("10.0.0.1:80", "\xff").status() == Status::report_unreadable);
    const auto rejected = cluster.report("10.0.0.1:80", {});
    CHECK(rejected.status() == Status::report_rejected && !rejected.error().message().empty());
    CHECK(cluster.for_each_host([](const plimsoll::Host& host) {
        CHECK(host.report().has_value() == (host.address() == "10.0.0.1:80"));
    }));
    const auto text = cluster.export_reports();
    CHECK(text && *cluster.import_reports(*text) == 0);
    CHECK(cluster.import_reports("").error().field() == "line 1");
}

}  // namespace

void test_loads() {
    the_idle_host_is_picked_over_the_busy_one();
    weights_follow_reports();
    reports_come_on_streams_too();
}
