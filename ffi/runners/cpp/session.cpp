#include "session.hpp"

#include <algorithm>

namespace replay {

namespace {

struct Kind {
    const char* name;
    Answer (*run)(Operation& op);
};

constexpr Kind KINDS[] = {
    {"open", run_open},       {"assign", run_assign},   {"reconfigure", run_reconfigure},
    {"health", run_health},   {"runtime", run_runtime}, {"advance", run_advance},
    {"report", run_report},   {"load", run_load},       {"draws", run_draws},
    {"pick", run_pick},       {"peek", run_peek},       {"done", run_done},
    {"tally", run_tally},     {"worker", run_worker},   {"explain", run_explain},
    {"show", run_show},       {"hash", run_hash},
};

const Kind& kind_of(const std::string& name) {
    const auto* found = std::find_if(std::begin(KINDS), std::end(KINDS),
                                     [&](const Kind& kind) { return kind.name == name; });
    if (found == std::end(KINDS)) {
        std::string known;
        for (const Kind& kind : KINDS) {
            known += (known.empty() ? "`" : ", `") + std::string(kind.name) + "`";
        }
        throw Malformed(name + ": unknown variant `" + name + "`, expected one of " + known);
    }
    return *found;
}

// Takes a key out that every operation may have.
Json take(Json& line, const char* key) {
    const auto found = line.find(key);
    if (found == line.end()) {
        return Json(Json::value_t::discarded);
    }
    Json value = std::move(*found);
    line.erase(found);
    return value;
}

std::optional<std::string> take_text(Json& line, const char* key) {
    const Json value = take(line, key);
    if (value.is_discarded()) {
        return std::nullopt;
    }
    if (!value.is_string()) {
        refuse_type(key, "a string", value);
    }
    return value.get<std::string>();
}

bool is_skipped(std::string_view line) {
    return line.substr(0, 1) == "#" || line.find_first_not_of(" \t\n\f\r") == line.npos;
}

Answer answer_of(const Refused& refused) {
    return {"error", "{\"code\":" + in_quotes(refused.code) + ",\"field\":" + in_quotes(refused.field) +
                         ",\"message\":" + in_quotes(refused.message) + "}"};
}

}  // namespace

std::optional<LineResult> Session::run(std::string_view line) {
    if (is_skipped(line)) {
        return std::nullopt;
    }
    Json object = parse(line);
    if (!object.is_object()) {
        throw Malformed("an operation is a JSON object");
    }
    LineResult result{take(object, "id"), take(object, "expect"), {}};
    auto cluster = take_text(object, "cluster");
    const auto name = take_text(object, "op");
    if (!name) {
        throw Malformed("the key `op` is missing");
    }
    // No key below means anything when it is null; only maps inside of some do.
    for (const auto& member : object.items()) {
        if (member.value().is_null()) {
            throw Malformed(*name + "." + member.key() + ": null is not a value of this key");
        }
    }
    const Kind& kind = kind_of(*name);
    try {
        Operation op(*this, object, *name, std::move(cluster));
        result.answer = kind.run(op);
    } catch (const Refused& refused) {
        result.answer = answer_of(refused);
    }
    return result;
}

Cluster* Session::find(const std::string& name) {
    const auto found = clusters_.find(name);
    return found == clusters_.end() ? nullptr : found->second.get();
}

void Session::add(const std::string& name, std::unique_ptr<Cluster> cluster) {
    clusters_[name] = std::move(cluster);
    last_ = name;
}

Refused not_open(const char* field, const std::string& name) {
    return Refused::invalid(field, "no cluster " + in_quotes(name) + " is open");
}

void Operation::begin() {
    keys.end();
    for (const auto& [own, cluster] : session.clusters_) {
        cluster->follow();
    }
}

Cluster& Operation::cluster() {
    begin();
    const auto& wanted = name ? name : session.last_;
    if (!wanted) {
        throw Refused::invalid("cluster", "no cluster is open");
    }
    Cluster* found = session.find(*wanted);
    if (found == nullptr) {
        throw not_open("cluster", *wanted);
    }
    return *found;
}

}  // namespace replay
