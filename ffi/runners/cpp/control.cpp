// The operations that change a cluster or one of its workers.

#include <algorithm>
#include <map>

#include "session.hpp"
#include "values.hpp"

namespace replay {

Answer run_assign(Operation& op) {
    const Json& assignment = *op.keys.required(op.keys.object("load_assignment"), "load_assignment");
    value_of(op.cluster().handle().assign(text_of(assignment)));
    return ok();
}

Answer run_reconfigure(Operation& op) {
    const Json& config = *op.keys.required(op.keys.object("config"), "config");
    const Cluster& cluster = op.cluster();
    for (const char* name : {"load_assignment", "loadAssignment"}) {
        if (config.contains(name) && !config[name].is_null()) {
            throw Refused::invalid("load_assignment",
                                   "reconfigure changes settings only; assign changes hosts");
        }
    }
    value_of(cluster.handle().reload(text_of(config)));
    return ok();
}

Answer run_health(Operation& op) {
    using plimsoll::HealthEvent;
    constexpr HealthEvent events[] = {HealthEvent::pass, HealthEvent::fail, HealthEvent::degraded,
                                      HealthEvent::eject, HealthEvent::uneject};
    const Json& hosts = *op.keys.required(op.keys.object("hosts"), "hosts");
    std::map<std::string, HealthEvent> sorted;
    for (const auto& host : hosts.items()) {
        const std::string path = op.keys.path_of("hosts") + "." + host.key();
        sorted[host.key()] = events[word_at(path, host.value(),
                                            {"pass", "fail", "degraded", "eject", "uneject"})];
    }
    plimsoll::Update update;
    for (const auto& [host, event] : sorted) {
        update.health(host, event);
    }
    value_of(op.cluster().handle().apply(update));
    return ok();
}

Answer run_runtime(Operation& op) {
    const Json* values = op.keys.required(op.keys.object("values"), "values");
    const Cluster& cluster = op.cluster();
    value_of(cluster.handle().update_runtime(runtime_values("values", values)));
    return ok();
}

Answer run_advance(Operation& op) {
    const std::uint64_t ms = *op.keys.required(op.keys.integer("ms"), "ms");
    const bool late = op.keys.flag("late");
    return {"now_ms", std::to_string(op.cluster().advance(ms, late))};
}

namespace {

// How busy a host is.
struct Load {
    std::uint64_t active = 0;
    std::optional<std::uint64_t> pending;
};

// A count, or `{"active":N,"pending":N}`; nothing if it is neither.
std::optional<Load> load_of(const Json& value) {
    if (!value.is_object()) {
        const auto active = integer_of(value);
        return active ? std::optional(Load{*active, std::nullopt}) : std::nullopt;
    }
    const bool has_pending = value.contains("pending");
    if (!value.contains("active") || value.size() != (has_pending ? 2 : 1)) {
        return std::nullopt;
    }
    const auto active = integer_of(value["active"]);
    const bool waits = has_pending && !value["pending"].is_null();
    const auto pending = waits ? integer_of(value["pending"]) : std::nullopt;
    return active && pending.has_value() == waits ? std::optional(Load{*active, pending})
                                                  : std::nullopt;
}

// The library names loads by their number, and a replay by the host.
void check_load(const std::string& host, const Load& load, const std::set<std::string>& known) {
    const auto check = [&](const char* member, std::uint64_t count) {
        if (count > PLIMSOLL_MAX_LOAD) {
            throw Refused::invalid(host + "." + member,
                                   "HostLoad: value must be less than or equal to " +
                                       std::to_string(PLIMSOLL_MAX_LOAD));
        }
    };
    check("active", load.active);
    check("pending", load.pending.value_or(0));
    if (known.count(host) == 0) {
        throw Refused{"unknown_host", host, "the cluster has no host " + host};
    }
}

}  // namespace

Answer run_load(Operation& op) {
    const Json& hosts = *op.keys.required(op.keys.object("hosts"), "hosts");
    std::map<std::string, Load> sorted;
    for (const auto& host : hosts.items()) {
        const auto load = load_of(host.value());
        if (!load) {
            throw Malformed(op.keys.path_of("hosts") + "." + host.key() +
                            ": expected a count or {\"active\":N,\"pending\":N}");
        }
        sorted[host.key()] = *load;
    }
    const Cluster& cluster = op.cluster();
    const auto known = cluster.addresses();
    std::vector<plimsoll::HostLoad> loads;
    for (const auto& [host, load] : sorted) {
        check_load(host, load, known);
        const auto active = static_cast<std::uint32_t>(load.active);
        loads.push_back(load.pending ? plimsoll::HostLoad(host, active,
                                                          static_cast<std::uint32_t>(*load.pending))
                                     : plimsoll::HostLoad(host, active));
    }
    value_of(cluster.handle().set_loads(loads));
    return ok();
}

Answer run_draws(Operation& op) {
    const auto values = *op.keys.required(op.keys.integers("values"), "values");
    const std::uint64_t number = op.keys.integer("worker").value_or(0);
    op.cluster().worker(number).push_draws(values);
    return ok();
}

Answer run_worker(Operation& op) {
    enum { CLOSE, OPEN, REFRESH, QUIESCE };
    const std::uint64_t number = *op.keys.required(op.keys.integer("worker"), "worker");
    const auto action = op.keys.word("action", {"close", "open", "refresh", "quiesce"});
    const std::size_t wanted = *op.keys.required(action, "action");
    Cluster& cluster = op.cluster();
    if (wanted == OPEN) {
        auto& place = cluster.place(number);
        if (place) {
            throw Refused::invalid("worker", "worker " + std::to_string(number) + " is open");
        }
        place.emplace(cluster.make_worker(number));
        return ok();
    }
    plimsoll::Worker& worker = cluster.worker(number);
    if (wanted == REFRESH) {
        worker.refresh();
    } else if (wanted == QUIESCE) {
        worker.quiesce();
    } else {
        cluster.place(number).reset();
    }
    return ok();
}

}  // namespace replay
