// The clusters of one replay, by name, and its operations.

#ifndef REPLAY_SESSION_HPP
#define REPLAY_SESSION_HPP

#include <memory>
#include <unordered_map>
#include <utility>

#include "cluster.hpp"
#include "keys.hpp"

namespace replay {

// The key of a result, and its value as JSON.
using Answer = std::pair<const char*, std::string>;

// A line that is an operation, and what came of it.
struct LineResult {
    Json id;      // discarded if it has none
    Json expect;  // the same
    Answer answer;
};

class Session {
public:
    // Runs a line; nothing comes of one that is blank or a comment. Throws `Malformed` for a line that
    // is no operation.
    std::optional<LineResult> run(std::string_view line);

    // The cluster of this name; null if none is open.
    Cluster* find(const std::string& name);

    // Takes a cluster over, in the place of another of its name.
    void add(const std::string& name, std::unique_ptr<Cluster> cluster);

private:
    friend class Operation;

    std::unordered_map<std::string, std::unique_ptr<Cluster>> clusters_;
    std::optional<std::string> last_;  // the name of the cluster opened last
};

// One operation: it asks for its keys, then calls `begin` or `cluster`, and answers.
class Operation {
public:
    Operation(Session& all, const Json& object, const std::string& kind,
              std::optional<std::string> of_cluster)
        : session(all), keys(object, kind), name(std::move(of_cluster)) {}

    Session& session;
    Keys keys;
    std::optional<std::string> name;  // of the cluster, as the operation has it

    // All keys have been asked for. Throws `Malformed`, or `Refused`.
    void begin();

    // The same, and the cluster that the operation is about.
    Cluster& cluster();
};

// The answer about a cluster that is not open.
Refused not_open(const char* field, const std::string& name);

// The answer of an operation that changes something.
inline Answer ok() { return {"ok", "true"}; }

Answer run_open(Operation& op);
Answer run_assign(Operation& op);
Answer run_reconfigure(Operation& op);
Answer run_health(Operation& op);
Answer run_runtime(Operation& op);
Answer run_advance(Operation& op);
Answer run_report(Operation& op);
Answer run_load(Operation& op);
Answer run_draws(Operation& op);
Answer run_pick(Operation& op);
Answer run_peek(Operation& op);
Answer run_done(Operation& op);
Answer run_tally(Operation& op);
Answer run_worker(Operation& op);
Answer run_explain(Operation& op);
Answer run_show(Operation& op);
Answer run_hash(Operation& op);

}  // namespace replay

#endif
