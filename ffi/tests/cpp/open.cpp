// Opening a cluster: from text, from structs, with options, and what is refused.

#include "check.hpp"

#include <vector>

using plimsoll::Status;

namespace {

void text_and_structs_make_the_same_cluster() {
    const plimsoll::Cluster read = open();
    const plimsoll::Cluster built = open("{\"name\": \"api\", \"lb_policy\": \"ROUND_ROBIN\"}");
    plimsoll::Update hosts;
    hosts.upsert("10.0.0.1:80").upsert("10.0.0.2:80");
    CHECK(built.apply(hosts).has_value());
    const auto tables = {read.hosts(), built.hosts()};
    CHECK(tables.begin()->value() == (tables.begin() + 1)->value());
    CHECK(tables.begin()->value().find("10.0.0.2:80") != std::string::npos);
}

void a_refusal_names_the_field_and_says_why() {
    auto opened = plimsoll::Cluster::open(
        "name: api\ncommon_lb_config: {healthy_panic_threshold: {value: 101}}\n");
    CHECK(!opened && opened.status() == Status::invalid_argument);
    const plimsoll::Error& error = opened.error();
    CHECK(error.status() == Status::invalid_argument && error.code() == "invalid_argument");
    CHECK(error.field() == "common_lb_config.healthy_panic_threshold");
    CHECK(error.message() ==
          "PercentValidationError.Value: value must be inside range [0, 100]");
    CHECK(error.describe() == std::string(error.field()) + ": " + std::string(error.message()));

    CHECK(plimsoll::Cluster::open("name: [").status() == Status::parse_error);
    CHECK(plimsoll::Cluster::open("name: api\nlb_policy: CLUSTER_PROVIDED\n").status() ==
          Status::unsupported);
    CHECK(plimsoll::Cluster::open("\xff").error().field() == "cluster");
    CHECK(plimsoll::Cluster::open(std::string_view()).status() != Status::ok);
}

// The same seed gives the same random picks.
void a_seed_makes_picks_repeatable() {
    std::vector<std::string> runs[2];
    for (auto& run : runs) {
        plimsoll::ClusterOptions options;
        options.seed = 99;
        options.behavior = plimsoll::Behavior::envoy;
        options.region = "eu";
        std::string config(TWO_HOSTS);
        config.replace(config.find("ROUND_ROBIN"), 11, "RANDOM");
        auto cluster = plimsoll::Cluster::open(config, options);
        CHECK(cluster.has_value());
        plimsoll::Worker worker = worker_of(*cluster);
        for (int turn = 0; turn < 32; turn++) {
            run.push_back(next(worker));
        }
    }
    CHECK(runs[0] == runs[1]);
}

void a_reload_and_an_assignment_keep_the_workers() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    const auto assigned = cluster.assign(THIRD_HOST);
    CHECK(assigned && assigned->published);
    CHECK(next(worker) == "10.0.0.3:80");
    const auto reloaded = cluster.reload(TWO_HOSTS);
    CHECK(reloaded && reloaded->published && reloaded->version > assigned->version);
    CHECK(gets(worker, "10.0.0.1:80", 50));
    const auto again = cluster.reload(TWO_HOSTS);
    CHECK(again && !again->published && again->version == reloaded->version);
    CHECK(cluster.reload("name: [").status() == Status::parse_error);
    CHECK(cluster.assign("endpoints: 3").status() != Status::ok);
    CHECK(next(worker) != "10.0.0.3:80");
}

void workers_outlive_their_cluster() {
    plimsoll::Worker worker = worker_of(open());
    CHECK(gets(worker, "10.0.0.1:80", 50));
}

}  // namespace

void test_open() {
    text_and_structs_make_the_same_cluster();
    a_refusal_names_the_field_and_says_why();
    a_seed_makes_picks_repeatable();
    a_reload_and_an_assignment_keep_the_workers();
    workers_outlive_their_cluster();
}
