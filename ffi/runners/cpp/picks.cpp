// The operations that choose hosts one by one.

#include "picks.hpp"

#include <algorithm>

namespace replay {

using plimsoll::Outcome;
using plimsoll::Pick;
using plimsoll::Result;
using plimsoll::Status;
using plimsoll::Worker;

std::uint32_t saturated(std::uint64_t count) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
}

void check_at_most(std::uint64_t n, std::uint64_t maximum) {
    if (n > maximum) {
        throw Refused::invalid("n", "value must be at most " + std::to_string(maximum));
    }
}

std::optional<std::string> address_of(Worker& worker, const Result<Pick, Status>& pick) {
    if (!pick) {
        return std::nullopt;
    }
    auto address = worker.host_address(*pick);
    return address ? std::optional(*std::move(address)) : std::nullopt;
}

Names::Names(Keys& keys) {
    constexpr std::string_view blanks = " \t";
    auto given = keys.texts("override");
    is_given = given.has_value();
    addresses = given.value_or(std::vector<std::string>());
    for (std::string& address : addresses) {
        // The library reads addresses as they stand in headers, where commas separate them and an empty
        // text asks for nothing. Here each text is one address; one that headers cannot have names no
        // host.
        if (address.empty() || address.find(',') != address.npos ||
            blanks.find(address.front()) != blanks.npos ||
            blanks.find(address.back()) != blanks.npos) {
            address = "\xff";
        }
    }
    mode = keys.flag("strict") ? plimsoll::Override::strict : plimsoll::Override::preferred;
}

namespace {

// More picks than this in one operation are refused: its result is one line.
constexpr std::uint64_t MAX_PICKS = 1000000;

// What a pick is told; also for `peek` and `explain`.
class Choice {
public:
    Choice(Keys& keys, bool has_draw)
        : n(keys.integer("n").value_or(1)),
          worker(keys.integer("worker").value_or(0)),
          reject(keys.texts("reject").value_or(std::vector<std::string>())),
          names(keys),
          has_metadata(keys.object("metadata") != nullptr),
          hold(keys.flag("hold")),
          draw(keys.integer("draw")) {
        read_hashes(keys);
        context_.attempt = saturated(keys.integer("attempt").value_or(0));
        context_.retries = saturated(keys.integer("retries").value_or(0));
        if (draw && !has_draw) {
            throw Malformed(keys.path_of("draw") + ": only explain has this key");
        }
    }

    std::uint64_t n;
    std::uint64_t worker;
    std::vector<std::string> reject;
    Names names;
    bool has_metadata;
    bool hold;
    std::optional<std::uint64_t> draw;

    // What the library is told of the pick with this index.
    plimsoll::PickContext context(std::size_t index) const {
        plimsoll::PickContext context = context_;
        if (!hashes_.empty()) {
            context.hash = hashes_[index % hashes_.size()];
        }
        return context;
    }

    // Metadata is something that Envoy would act on and the present policies do not.
    void check_supported() const {
        if (has_metadata) {
            throw Refused{"unsupported", "metadata", "matching metadata is not supported"};
        }
    }

    // Neither peeks nor explanations are about requests under way, or hosts that are named.
    void check_plain(const std::string& operation) const {
        check_supported();
        if (hold) {
            throw Refused::invalid("hold", "only picks can be held");
        }
        if (names.is_given) {
            throw Refused::invalid("override", operation + " is about picks by policy");
        }
    }

private:
    // One hash for all picks, or several in turn.
    void read_hashes(Keys& keys) {
        const Json* value = keys.find("hash");
        if (value == nullptr) {
            return;
        }
        if (value->is_array()) {
            hashes_ = *keys.integers("hash");
        } else if (const auto hash = integer_of(*value)) {
            hashes_ = {*hash};
        } else {
            throw Malformed(keys.path_of("hash") + ": expected a 64-bit integer or a list of them");
        }
    }

    std::vector<std::uint64_t> hashes_;
    plimsoll::PickContext context_;
};

// The retry filter: it refuses hosts of a list.
class Filter {
public:
    Filter(Worker& worker, const std::vector<std::string>& rejected)
        : worker_(worker), rejected_(rejected.begin(), rejected.end()) {}

    bool operator()(const Pick& candidate) const {
        if (rejected_.empty()) {
            return true;
        }
        const auto address = worker_.host_address(candidate);
        return !address || rejected_.count(*address) == 0;
    }

private:
    Worker& worker_;
    std::set<std::string> rejected_;
};

// A list of addresses, null where there is none.
class List {
public:
    void add(const std::optional<std::string>& address) {
        text_ += (text_.size() > 1 ? "," : "") + (address ? in_quotes(*address) : "null");
    }

    std::string end() { return text_ += "]"; }

private:
    std::string text_ = "[";
};

}  // namespace

Answer run_pick(Operation& op) {
    const Choice choice(op.keys, false);
    Cluster& cluster = op.cluster();
    choice.check_supported();
    check_at_most(choice.n, MAX_PICKS);
    cluster.check_hosts(choice.reject);
    Worker& worker = cluster.worker(choice.worker);
    const Filter filter(worker, choice.reject);
    const auto named = choice.names.lent();
    List picks;
    for (std::size_t index = 0; index < choice.n; index++) {
        const auto pick = worker.pick_override_filtered(named, choice.names.mode,
                                                        choice.context(index), filter);
        const auto address = address_of(worker, pick);
        picks.add(address);
        if (address && choice.hold) {
            cluster.held[*address].push_back(*pick);
        } else if (pick) {
            worker.done(*pick, Outcome::success);
        }
    }
    return {"picks", picks.end()};
}

Answer run_peek(Operation& op) {
    const Choice choice(op.keys, false);
    Cluster& cluster = op.cluster();
    choice.check_plain("peek");
    check_at_most(choice.n, MAX_PICKS);
    cluster.check_hosts(choice.reject);
    Worker& worker = cluster.worker(choice.worker);
    List peeks;
    for (std::size_t index = 0; index < choice.n; index++) {
        peeks.add(address_of(worker, worker.peek()));
    }
    return {"peeks", peeks.end()};
}

Answer run_explain(Operation& op) {
    const Choice choice(op.keys, true);
    Cluster& cluster = op.cluster();
    choice.check_plain("explain");
    if (choice.n != 1) {
        throw Refused::invalid("n", "one pick is explained at a time");
    }
    cluster.check_hosts(choice.reject);
    Worker& worker = cluster.worker(choice.worker);
    const Filter filter(worker, choice.reject);
    auto explained = worker.explain(choice.context(0), choice.draw, filter);
    return {"explain", *std::move(explained)};
}

}  // namespace replay
