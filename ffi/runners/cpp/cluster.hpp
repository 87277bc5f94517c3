// One cluster of a replay: its handle, its clock, its workers, and the requests that are under way.

#ifndef REPLAY_CLUSTER_HPP
#define REPLAY_CLUSTER_HPP

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "json.hpp"
#include "plimsoll/plimsoll.hpp"

namespace replay {

// Why an operation failed. It has had no effect then.
struct Refused {
    std::string code;
    std::string field;
    std::string message;

    // A value that is well-formed and cannot be used.
    static Refused invalid(std::string field, std::string message) {
        return {"invalid_argument", std::move(field), std::move(message)};
    }

    // What a call of the library says.
    static Refused by(const plimsoll::Error& error) {
        return {std::string(error.code()), std::string(error.field()),
                std::string(error.message())};
    }
};

// The value of a result; throws `Refused` if there is none.
template <class T>
T value_of(plimsoll::Result<T> result) {
    if (!result) {
        throw Refused::by(result.error());
    }
    if constexpr (!std::is_void_v<T>) {
        return *std::move(result);
    }
}

class Cluster {
public:
    // So many that only the number of healthy hosts limits peeks, as in Envoy.
    static constexpr std::uint32_t PEEK_CAPACITY = 65536;

    // Opens workers; the numbers are the first one's.
    Cluster(plimsoll::Cluster handle, plimsoll::Behavior behavior, std::uint64_t workers,
            const std::vector<std::uint64_t>& draws, std::uint64_t now_ms, bool follows);

    const plimsoll::Cluster& handle() const { return handle_; }
    plimsoll::Behavior behavior() const { return behavior_; }

    // Follows its local cluster at once, as Envoy does.
    void follow() const;

    // Lets time pass, and gives the new time. Ticks come when there is something to do, and at the end;
    // if they are late, at the end only.
    std::uint64_t advance(std::uint64_t ms, bool late);

    // The place of a worker, open or not.
    std::optional<plimsoll::Worker>& place(std::uint64_t number);

    // A worker that is open.
    plimsoll::Worker& worker(std::uint64_t number);

    // All workers that are open.
    std::vector<plimsoll::Worker*> workers();

    // A worker of this number, which uses these numbers first.
    plimsoll::Worker make_worker(std::uint64_t number,
                                 plimsoll::Span<const std::uint64_t> draws = {}) const;

    // The addresses of all hosts.
    std::set<std::string> addresses() const;

    // Refuses hosts that the cluster does not have.
    void check_hosts(const std::vector<std::string>& hosts) const;

    // Requests that were picked with `hold`, oldest first, by address. A host that left keeps its own.
    std::map<std::string, std::deque<plimsoll::Pick>> held;

private:
    plimsoll::Cluster handle_;
    plimsoll::Behavior behavior_;
    std::vector<std::optional<plimsoll::Worker>> workers_;
    std::uint64_t now_ms_;
    bool follows_;
};

// Milliseconds as the library wants them.
plimsoll::Time to_time(const char* field, std::uint64_t ms);

}  // namespace replay

#endif
