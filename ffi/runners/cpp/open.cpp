// Opening a cluster.

#include "session.hpp"
#include "values.hpp"

namespace replay {

namespace {

// More workers than this are refused: each has a place for `Cluster::PEEK_CAPACITY` numbers.
constexpr std::uint64_t MAX_WORKERS = 1024;

// Where this proxy is: three parts, each of which may be empty.
struct Place {
    std::string region, zone, sub_zone;
};

Place read_place(Operation& op) {
    Place place;
    const Json* node = op.keys.object("node");
    if (node == nullptr) {
        return place;
    }
    Keys of_node(*node, op.keys.path_of("node"));
    const Json* locality = of_node.find("locality");
    of_node.end();
    if (locality != nullptr && !locality->is_null()) {
        Keys parts(*locality, of_node.path_of("locality"));
        place.region = parts.text("region").value_or("");
        place.zone = parts.text("zone").value_or("");
        place.sub_zone = parts.text("sub_zone").value_or("");
        parts.end();
    }
    return place;
}

// The name in the configuration, unless the operation bears one.
std::string name_of(const Operation& op, const Json& config) {
    const auto own = config.find("name");
    const bool has_own = own != config.end() && own->is_string();
    return op.name.value_or(has_own ? own->get<std::string>() : "");
}

}  // namespace

Answer run_open(Operation& op) {
    const Json& config = *op.keys.required(op.keys.object("config"), "config");
    const Place place = read_place(op);
    const auto local_name = op.keys.text("local_cluster");
    const bool as_envoy = op.keys.word("behavior", {"native", "envoy"}).value_or(0) == 1;
    const std::uint64_t workers = op.keys.integer("workers").value_or(1);
    const std::uint64_t seed = op.keys.integer("seed").value_or(0);
    const auto draws = op.keys.integers("draws").value_or(std::vector<std::uint64_t>());
    const std::uint64_t now_ms = op.keys.integer("now_ms").value_or(0);
    const Json* runtime = op.keys.object("runtime");
    op.begin();

    Cluster* local = local_name ? op.session.find(*local_name) : nullptr;
    if (local_name && local == nullptr) {
        throw not_open("local_cluster", *local_name);
    }
    if (workers < 1 || workers > MAX_WORKERS) {
        throw Refused::invalid("workers",
                               "value must be from 1 to " + std::to_string(MAX_WORKERS));
    }
    const auto values = runtime_values("runtime", runtime);
    plimsoll::ClusterOptions options;
    options.behavior = as_envoy ? plimsoll::Behavior::envoy : plimsoll::Behavior::native;
    options.seed = seed;
    options.now = to_time("now_ms", now_ms);
    options.region = place.region;
    options.zone = place.zone;
    options.sub_zone = place.sub_zone;
    options.local_cluster = local != nullptr ? &local->handle() : nullptr;
    options.runtime = values;
    auto handle = value_of(plimsoll::Cluster::open(text_of(config), options));
    auto cluster = std::make_unique<Cluster>(std::move(handle), options.behavior, workers, draws,
                                             now_ms, local != nullptr);
    op.session.add(name_of(op, config), std::move(cluster));
    return ok();
}

}  // namespace replay
