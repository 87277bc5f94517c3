// An exception that leaves a callback ends the program where it left, before it meets a frame of the
// library. The argument says which callback throws.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "plimsoll/plimsoll.hpp"

int main(int count, char** arguments) {
    std::set_terminate([] {
        std::puts("terminated");
        std::fflush(stdout);
        std::_Exit(0);
    });
    const auto cluster = plimsoll::Cluster::open(
        "name: api\nload_balancing_policy:\n  policies:\n  - typed_extension_config:\n"
        "      name: envoy.load_balancing_policies.maglev\n      typed_config:\n"
        "        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies.maglev.v3."
        "Maglev\n");
    if (!cluster || !cluster->apply(plimsoll::Update().upsert("10.0.0.1:80"))) {
        return 1;
    }
    auto worker = cluster->worker();
    const auto route = plimsoll::HashPolicies::parse("- cookie: { name: session, ttl: 60s }");
    plimsoll::Request request;
    request.remote_address = "10.0.0.7:4711";
    request.local_address = "10.0.0.1:80";
    const char* callback = count > 1 ? arguments[1] : "";
    try {
        if (std::strcmp(callback, "accept") == 0) {
            plimsoll::PickContext context;
            context.retries = 1;
            (void)worker->pick_filtered(context, [](const plimsoll::Pick&) -> bool { throw 1; });
        } else if (std::strcmp(callback, "set_cookie") == 0) {
            (void)worker->hash(request, &*route, [](std::string_view) { throw 1; });
        } else if (std::strcmp(callback, "host") == 0) {
            (void)cluster->for_each_host([](const plimsoll::Host&) { throw 1; });
        } else if (std::strcmp(callback, "locality") == 0) {
            (void)cluster->for_each_locality([](const plimsoll::Locality&) { throw 1; });
        }
        std::puts("not called");
    } catch (int) {
        std::puts("caught");
    }
}
