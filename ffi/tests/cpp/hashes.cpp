// Requests by their hash: what it is made from, where it leads, and cookies for new clients.

#include "check.hpp"

#include <utility>

using plimsoll::HashPolicies;
using plimsoll::Header;
using plimsoll::PickContext;
using plimsoll::Request;
using plimsoll::Status;

namespace {

// xxHash64 of "foo", as Envoy's tests have it.
constexpr std::uint64_t HASH_OF_FOO = 3728699739546630719;

plimsoll::Cluster open_maglev(const std::string& own_policies) {
    plimsoll::Cluster cluster =
        open("name: api\n"
             "load_balancing_policy:\n"
             "  policies:\n"
             "  - typed_extension_config:\n"
             "      name: envoy.load_balancing_policies.maglev\n"
             "      typed_config:\n"
             "        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies."
             "maglev.v3.Maglev\n"
             "        consistent_hashing_lb_config: { hash_policy: " +
             own_policies + " }\n");
    plimsoll::Update hosts;
    for (const char* key : {"1", "2", "3", "4", "5"}) {
        const std::string address = std::string("10.0.0.") + key + ":80";
        plimsoll::HostSpec host;
        host.address = address;
        host.hash_key = key;
        hosts.upsert(host);
    }
    CHECK(cluster.apply(hosts));
    return cluster;
}

void a_hash_leads_to_one_host_and_an_attempt_to_another() {
    const plimsoll::Cluster cluster = open_maglev("[]");
    plimsoll::Worker worker = worker_of(cluster), other = worker_of(cluster);
    PickContext context;
    context.counted = false;
    for (std::uint64_t number = 1; number < 100; number++) {
        context.hash = number * 0x9e3779b97f4a7c15;
        context.attempt = 0;
        const auto pick = worker.pick(context);
        CHECK(pick && other.pick(context)->same_host(*pick));
        context.attempt = 1;
        CHECK(!worker.pick(context)->same_host(*pick));
    }
}

HashPolicies parse(std::string_view text) {
    auto policies = HashPolicies::parse(text);
    CHECK(policies);
    return std::move(policies).value();
}

void a_request_is_hashed_by_what_policies_ask_for() {
    const plimsoll::Cluster cluster = open_maglev("[]");
    plimsoll::Worker worker = worker_of(cluster);
    const Header headers[] = {{"accept", "*/*"}, {"X-Session", "foo"}};
    Request request;
    request.headers = headers;
    HashPolicies route = parse("- { header: { header_name: x-session } }");
    const auto hash = worker.hash(request, &route);
    CHECK(hash && *hash == HASH_OF_FOO);
    CHECK(worker.hash(request).status() == Status::no_hash);

    const HashPolicies by_query = parse("- { query_parameter: { name: user } }");
    request.path = "/?user=foo";
    CHECK(*worker.hash(request, &by_query) == HASH_OF_FOO);
    request.query = "";  // known, and empty: the path is not read
    CHECK(worker.hash(request, &by_query).status() == Status::no_hash);
    request.query = "user=foo";
    CHECK(*worker.hash(request, &by_query) == HASH_OF_FOO);
    request.source_ip = "\xff";
    CHECK(worker.hash(request, &by_query).status() == Status::invalid_argument);

    // Moved away, there is no route.
    const HashPolicies moved = std::move(route);
    CHECK(moved.handle() != nullptr && route.handle() == nullptr);
    request.source_ip = {};
    CHECK(worker.hash(request, &route).status() == Status::no_hash);
    CHECK(*worker.hash(request, &moved) == HASH_OF_FOO);
}

void policies_of_the_cluster_come_first() {
    const plimsoll::Cluster cluster = open_maglev("[{ header: { header_name: x-session } }]");
    plimsoll::Worker worker = worker_of(cluster);
    const Header headers[] = {{"x-session", "foo"}};
    Request request;
    request.headers = headers;
    CHECK(*worker.hash(request) == HASH_OF_FOO);
}

void a_new_client_gets_a_cookie_that_sticks() {
    const plimsoll::Cluster cluster = open_maglev("[]");
    plimsoll::Worker worker = worker_of(cluster);
    const HashPolicies route = parse("- { cookie: { name: session, ttl: 60s, path: / } }");
    Request request;
    request.remote_address = "10.9.0.1:4711";
    request.local_address = "10.9.0.2:80";
    std::string cookie;
    const auto first = worker.hash(request, &route, [&](std::string_view value) {
        cookie = value;
        CHECK(worker.pick().status() == Status::invalid_argument);
    });
    CHECK(first && cookie.rfind("session=\"", 0) == 0);
    CHECK(cookie.find("; Max-Age=60; Path=/; HttpOnly") != std::string::npos);

    const std::string sent = "session=" + cookie.substr(9, 16);
    const Header headers[] = {{"cookie", sent}};
    request.headers = headers;
    int second = 0;
    CHECK(*worker.hash(request, &route, [&](std::string_view) { second++; }) == *first);
    CHECK(second == 0);
    // Nobody can set a cookie.
    request.headers = {};
    CHECK(worker.hash(request, &route).status() == Status::no_hash);
}

void policies_that_cannot_be_read_are_named() {
    CHECK(HashPolicies::parse("[").status() == Status::parse_error);
    const auto refused = HashPolicies::parse("[{}]");
    CHECK(refused.status() == Status::invalid_argument);
    CHECK(refused.error().field() == "hash_policy[0]");
    CHECK(refused.error().message() == "hash policy not set");
}

void policies_hash_without_a_cluster() {
    const auto policies = *plimsoll::HashPolicies::parse("- cookie: {name: session, ttl: 60s}\n");
    plimsoll::Request request;
    CHECK(policies.hash(request).status() == Status::no_hash);
    const plimsoll::Header cookies[] = {{"session", "foo"}};
    request.cookies = cookies;
    CHECK(*policies.hash(request) == 3728699739546630719U);  // as in Envoy's own tests
    request.cookies = {};
    request.remote_address = "10.0.0.7:4711";
    request.local_address = "10.0.0.1:80";
    std::string cookie;
    CHECK(policies.hash(request, [&](std::string_view value) { cookie = value; }));
    CHECK(cookie.substr(0, 9) == "session=\"");
}

}  // namespace

void test_hashes() {
    a_hash_leads_to_one_host_and_an_attempt_to_another();
    a_request_is_hashed_by_what_policies_ask_for();
    policies_of_the_cluster_come_first();
    a_new_client_gets_a_cookie_that_sticks();
    policies_that_cannot_be_read_are_named();
    policies_hash_without_a_cluster();
}
