// What there is to see, as JSON, and picks that can be repeated.

#include "check.hpp"

#include <vector>

using plimsoll::Dump;
using plimsoll::DumpPart;
using plimsoll::Status;

namespace {

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

Dump part(DumpPart which) {
    Dump dump;
    dump.part = which;
    return dump;
}

void each_part_is_dumped() {
    const plimsoll::Cluster cluster = open();
    CHECK(*cluster.dump(part(DumpPart::loads)) ==
          R"({"healthy":[100.0],"degraded":[0.0],"panic":[false]})");
    CHECK(has(*cluster.dump(Dump()), R"("address":"10.0.0.2:80")"));
    CHECK(has(*cluster.dump(part(DumpPart::stats)), "plimsoll.snapshots_published"));
    CHECK(has(*cluster.dump(part(DumpPart::snapshot)), R"("version":1)"));
    CHECK(*cluster.dump(part(DumpPart::table)) == "[]");
    Dump dump = part(DumpPart::localities);
    dump.source = plimsoll::Source::all;
    CHECK(!has(*cluster.dump(dump), "healthy"));
    dump.priority = 3;
    CHECK(*cluster.dump(dump) == "[]");
}

void a_dump_of_many_hosts_is_whole() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Update update;
    for (int host = 0; host < 200; host++) {
        update.upsert("10.1.0." + std::to_string(host) + ":80");
    }
    CHECK(cluster.apply(update));
    auto dumped = cluster.dump(Dump());
    CHECK(dumped && dumped->size() > 10000 && dumped->back() == ']');
    CHECK(has(*dumped, "10.1.0.199:80"));
}

void a_dump_that_cannot_be_says_why() {
    const plimsoll::Cluster cluster = open();
    Dump dump = part(DumpPart::table);
    dump.priority = 5;
    auto dumped = cluster.dump(dump);
    CHECK(dumped.status() == Status::invalid_argument && dumped.error().field() == "priority");
    dump.part = DumpPart::hosts;
    CHECK(cluster.dump(dump).error().field() == "options.flags");
}

void a_pick_is_explained_before_it_happens() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    for (int turn = 0; turn < 10; turn++) {
        auto explained = worker.explain();
        CHECK(explained && has(*explained, "\"host\":\"" + next(worker) + "\""));
    }
    plimsoll::PickContext context;
    context.retries = 10;
    auto second = worker.explain(context, std::nullopt, [&](const plimsoll::Pick& candidate) {
        return *worker.host_address(candidate) == "10.0.0.2:80";
    });
    CHECK(second && has(*second, R"("host":"10.0.0.2:80")"));
    plimsoll::Worker moved = std::move(worker);
    CHECK(worker.explain().status() == Status::null_argument);
}

void picks_are_repeated() {
    const plimsoll::Cluster cluster =
        open("name: api\nlb_policy: RANDOM\n" +
             std::string(TWO_HOSTS.substr(TWO_HOSTS.find("load_assignment"))));
    const std::vector<std::uint64_t> draws = {~std::uint64_t(0), 0};
    plimsoll::WorkerOptions options;
    options.number = 3;
    options.peek_capacity = 1;
    options.draws = draws;
    plimsoll::Worker worker = *cluster.worker(options);
    CHECK(has(*worker.explain(), R"("draw":18446744073709551615)"));
    const std::string first = next(worker);
    CHECK(next(worker) != first);
    CHECK(worker.push_draws(draws) == Status::ok);
    CHECK(next(worker) == first);
    CHECK(has(*worker.explain({}, 5), R"("draw":5)"));
    CHECK(cluster.worker(plimsoll::WorkerOptions()));
}

void a_report_is_shown_as_it_is_understood() {
    plimsoll::ResponseLoad load;
    load.header_text = "TEXT cpu_utilization=0.5";
    load.trailer_text = "TEXT cpu_utilization=0.25";
    CHECK(has(*plimsoll::to_json(load), R"("cpu_utilization":0.25)"));
    CHECK(has(*plimsoll::to_json(load, plimsoll::Behavior::envoy), R"("cpu_utilization":0.5)"));
    load.header_text = load.trailer_text = "TEXT foo=1";
    auto shown = plimsoll::to_json(load);
    CHECK(shown.status() == Status::report_unreadable);
    CHECK(shown.error().message() == "unsupported metric name: foo");

    const plimsoll::Cluster cluster = open();
    CHECK(cluster.report_response("10.0.0.1:80", plimsoll::ResponseLoad()).status() ==
          Status::no_report);
    load.trailer_text = "TEXT cpu_utilization=0.25";
    CHECK(cluster.report_response("10.0.0.1:80", load).status() == Status::report_not_wanted);
    CHECK(cluster.report_response("10.0.0.9:80", load).status() == Status::unknown_host);
}

}  // namespace

void test_json() {
    each_part_is_dumped();
    a_dump_of_many_hosts_is_whole();
    a_dump_that_cannot_be_says_why();
    a_pick_is_explained_before_it_happens();
    picks_are_repeated();
    a_report_is_shown_as_it_is_understood();
}
