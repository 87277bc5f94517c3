// What needs no cluster: spans, references to functions, results, statuses and runtime values.

#include "check.hpp"

#include <array>
#include <type_traits>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace {

int sum(plimsoll::Span<const int> numbers) {
    int all = 0;
    for (const int number : numbers) {
        all += number;
    }
    return all;
}

void everything_in_a_row_is_a_span() {
    int plain[] = {1, 2, 3};
    const std::array<int, 2> array = {4, 5};
    const std::vector<int> vector = {6};
    CHECK(sum(plain) == 6 && sum(array) == 9 && sum(vector) == 6);
    CHECK(sum({}) == 0 && sum(plimsoll::Span<int>(plain)) == 6);
    const plimsoll::Span<int> writable = plain;
    writable.first(2)[1] = 20;
    CHECK(plain[1] == 20 && writable.size() == 3 && !writable.empty());
    CHECK(plimsoll::Span<int>().empty() && plimsoll::Span<int>().data() == nullptr);
    static_assert(!std::is_constructible_v<plimsoll::Span<int>, const std::vector<int>&>);
    static_assert(!std::is_constructible_v<plimsoll::Span<const long>, std::vector<int>&>);
#if __cplusplus >= 202002L
    CHECK(sum(std::span<int>(plain)) == 24);
    CHECK(std::span<int>(writable).size() == 3);
#endif
}

int twice(int number) { return 2 * number; }

int apply_to_three(plimsoll::FunctionRef<int(int)> callable) { return callable ? callable(3) : -1; }

void everything_that_can_be_called_is_a_function_ref() {
    int calls = 0;
    const auto add = [&calls](int number) { return number + ++calls; };
    CHECK(apply_to_three(add) == 4 && apply_to_three(add) == 5 && calls == 2);
    CHECK(apply_to_three([calls](int number) mutable { return calls += number; }) == 5);
    CHECK(apply_to_three(twice) == 6 && apply_to_three(&twice) == 6);
    CHECK(apply_to_three(nullptr) == -1 && apply_to_three({}) == -1);
    // One that returns nothing returns zero.
    CHECK(apply_to_three([&calls](int number) { calls = number; }) == 0 && calls == 3);
    plimsoll::FunctionRef<void(int)> forgets = add;
    forgets(0);
    CHECK(calls == 4);
    static_assert(!std::is_constructible_v<plimsoll::FunctionRef<int(int)>, int (*)(void*)>);
    static_assert(std::is_trivially_copyable_v<plimsoll::FunctionRef<int(int)>>);
}

void a_result_has_a_value_or_an_error() {
    plimsoll::Result<int, plimsoll::Status> good = 7;
    CHECK(good && *good == 7 && good.value() == 7 && good.status() == plimsoll::Status::ok);
    *good = 8;
    CHECK(std::move(good).value_or(9) == 8);
    plimsoll::Result<int, plimsoll::Status> bad = plimsoll::Status::no_host;
    CHECK(!bad && bad.error() == plimsoll::Status::no_host && bad.status() == bad.error());
    CHECK(std::move(bad).value_or(9) == 9);
    static_assert(std::is_trivially_copyable_v<plimsoll::Result<plimsoll::Pick, plimsoll::Status>>);

    plimsoll::Result<std::string> failed = plimsoll::Error(plimsoll::Status::panic);
    CHECK(!failed && failed.status() == plimsoll::Status::panic);
    const plimsoll::Error error = std::move(failed).error();
    CHECK(error.code() == "panic" && error.field().empty() && error.message() == "panic");
    CHECK(error.describe() == "panic");
    plimsoll::Result<std::string> text = std::string("abc");
    CHECK(text->size() == 3);
    const std::string moved = *std::move(text);
    CHECK(moved == "abc");

    const plimsoll::Result<void> done, undone = plimsoll::Error(plimsoll::Status::poisoned);
    CHECK(done && done.status() == plimsoll::Status::ok && !undone);
    CHECK(undone.error().status() == plimsoll::Status::poisoned);
}

void statuses_and_versions_have_their_words() {
    CHECK(plimsoll::name(plimsoll::Status::no_host) == "no_host");
    CHECK(plimsoll::name(plimsoll::Status::override_not_found) == "override_not_found");
    CHECK(plimsoll::name(static_cast<plimsoll::Status>(999)) == "unknown");
    CHECK(!plimsoll::version().empty());
    CHECK(plimsoll::abi_matches());
}

void a_runtime_value_is_what_its_type_says() {
    CHECK(*plimsoll::RuntimeValue(30).as_whole() == 30);
    CHECK(*plimsoll::RuntimeValue(UINT64_MAX).as_whole() == UINT64_MAX);
    CHECK(plimsoll::RuntimeValue(30).as_double() == nullptr);
    CHECK(plimsoll::RuntimeValue(-1).as_whole() == nullptr);
    CHECK(*plimsoll::RuntimeValue(-1).as_double() < 0);
    CHECK(*plimsoll::RuntimeValue(1.5F).as_double() > 1);
    CHECK(*plimsoll::RuntimeValue(true).as_bool());
    CHECK(plimsoll::RuntimeValue(true).as_whole() == nullptr);
    static_assert(!std::is_constructible_v<plimsoll::RuntimeValue, const char*>);
}

#if __cplusplus >= 202002L
// Compilers warn of what is left out unless its member has a default.
void what_is_named_is_enough() {
    const plimsoll::ClusterOptions options = {.behavior = plimsoll::Behavior::envoy};
    const plimsoll::WorkerOptions worker = {.peek_capacity = 3};
    const plimsoll::HostSpec host = {.address = "10.0.0.1:80"};
    const plimsoll::Request request = {.path = "/cart"};
    const plimsoll::ResponseLoad load = {.header_text = "TEXT cpu_utilization=0.2"};
    const plimsoll::PickContext context = {.hash = 42};
    const plimsoll::Dump dump = {.part = plimsoll::DumpPart::hosts};
    CHECK(options.region.empty() && !options.seed && options.runtime.empty());
    CHECK(!worker.number && worker.draws.empty() && host.zone.empty());
    CHECK(request.headers.empty() && !request.query && !load.trailer_text);
    CHECK(context.attempt == 0 && !dump.priority);
}
#endif

template <class T>
constexpr bool moves_only = std::is_nothrow_move_constructible_v<T> &&
                            std::is_nothrow_move_assignable_v<T> &&
                            !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;

static_assert(moves_only<plimsoll::Cluster> && moves_only<plimsoll::Worker>);
static_assert(moves_only<plimsoll::HashPolicies> && moves_only<plimsoll::Error>);
static_assert(moves_only<plimsoll::Update> && moves_only<plimsoll::ActivePick>);
static_assert(moves_only<plimsoll::Result<plimsoll::Cluster>>);
static_assert(!std::is_copy_constructible_v<plimsoll::Host>);
static_assert(!std::is_copy_constructible_v<plimsoll::Locality>);

}  // namespace

void test_values() {
    everything_in_a_row_is_a_span();
    everything_that_can_be_called_is_a_function_ref();
    a_result_has_a_value_or_an_error();
    statuses_and_versions_have_their_words();
    a_runtime_value_is_what_its_type_says();
#if __cplusplus >= 202002L
    what_is_named_is_enough();
#endif
}
