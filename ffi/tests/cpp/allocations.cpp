// The layer allocates nothing on the way of a request. What the library itself allocates is counted
// in allocations.rs.

#include "check.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> calls_of_new{0};

void* counted(std::size_t size) {
    calls_of_new++;
    void* block = std::malloc(size == 0 ? 1 : size);
    CHECK(block != nullptr);
    return block;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }

std::uint64_t allocations() { return calls_of_new; }

void test_allocations() {
    const plimsoll::Cluster cluster = open();
    plimsoll::Worker worker = worker_of(cluster);
    auto route = plimsoll::HashPolicies::parse("- { header: { header_name: x-session } }");
    CHECK(allocations() > 0);
    const std::uint64_t before = allocations();
    const plimsoll::Header headers[] = {{"x-session", "a session of some length, to be hashed"}};
    const plimsoll::Text wanted[] = {"10.0.0.2:80"};
    for (std::uint32_t turn = 0; turn < 100; turn++) {
        plimsoll::Request request;
        request.headers = headers;
        plimsoll::PickContext context;
        context.hash = worker.hash(request, &*route).value_or(turn);
        context.retries = 2;
        const auto picks = {
            worker.pick(),
            worker.pick(context),
            worker.pick_filtered(
                context, [&](const plimsoll::Pick& pick) { return pick.slot() == turn; }),
            worker.pick_override(wanted, plimsoll::Override::preferred),
            worker.pick_override("10.0.0.1:80, 10.0.0.2:80", plimsoll::Override::strict),
        };
        for (const auto& pick : picks) {
            char buffer[64];
            plimsoll::ResponseLoad load;
            load.header_text = "TEXT rps_fractional=100,cpu_utilization=0.2";
            plimsoll::ActivePick active(worker, *pick);
            CHECK(worker.host_address(*pick, buffer) && worker.host_data<int>(*pick));
            CHECK(worker.report(*pick, load) == plimsoll::Status::report_not_wanted);
        }
        std::array<plimsoll::Pick, 8> room;
        const auto batch = worker.pick_batch(room);
        CHECK(batch && batch->size() == 8);
        for (const plimsoll::Pick& pick : *batch) {
            CHECK(worker.done(pick, plimsoll::Outcome::success) == plimsoll::Status::ok);
        }
        CHECK(cluster.tick(plimsoll::Time(turn)));
    }
    CHECK(allocations() == before);
}
