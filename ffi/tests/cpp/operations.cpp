// What operators see: messages and scrapes.

#include "check.hpp"

#include <string>

using plimsoll::LogLevel;
using plimsoll::Status;

namespace {

class Journal final : public plimsoll::Log {
public:
    void write(LogLevel level, std::string_view message) noexcept override {
        text += std::to_string(static_cast<unsigned>(level)) + " " + std::string(message) + "\n";
    }

    std::string text;
};

bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

void a_cluster_says_what_it_was_asked_to() {
    Journal journal;
    plimsoll::ClusterOptions options;
    options.log = &journal;
    {
        auto cluster = plimsoll::Cluster::open(TWO_HOSTS, options);
        CHECK(journal.text == "3 opened with 2 hosts: 2 healthy, 0 degraded, 0 excluded\n");
        CHECK(!cluster->apply(plimsoll::Update().remove("10.0.0.9:80")));
        CHECK(holds(journal.text, "\n2 refused: the cluster has no host 10.0.0.9:80\n"));
        CHECK(!holds(journal.text, "snapshot"));
    }
    journal.text.clear();
    options.log_level = LogLevel::warning;
    CHECK(plimsoll::Cluster::open(TWO_HOSTS, options));
    CHECK(journal.text.empty());
    options.log_level = static_cast<LogLevel>(9);
    CHECK(plimsoll::Cluster::open(TWO_HOSTS, options).error().field() == "options.log_level");
}

void clusters_are_scraped_together() {
    const plimsoll::Cluster first = open(), second = open("name: other\n");
    const plimsoll::Cluster* clusters[] = {&first, &second};
    auto text = plimsoll::prometheus(clusters);
    CHECK(text && holds(*text, "\nplimsoll_membership_healthy{cluster=\"api\"} 2\n"
                               "plimsoll_membership_healthy{cluster=\"other\"} 0\n"));
    CHECK(!holds(*text, "plimsoll_host_share"));
    plimsoll::PrometheusOptions options;
    options.max_hosts = 1;
    options.max_localities = 1;
    text = plimsoll::prometheus(clusters, options);
    CHECK(text && holds(*text, "\nplimsoll_host_share{cluster=\"api\",host=\"10.0.0.1:80\"} 0.5\n"));
    CHECK(holds(*text, "\nplimsoll_hosts_omitted{cluster=\"api\"} 1\n"));
    CHECK(holds(*text, "\nplimsoll_localities_omitted{cluster=\"api\"} 0\n"));
    clusters[1] = nullptr;
    CHECK(plimsoll::prometheus(clusters).status() == Status::null_argument);
    CHECK(plimsoll::prometheus({})->empty());
}

}  // namespace

void test_operations() {
    a_cluster_says_what_it_was_asked_to();
    clusters_are_scraped_together();
}
