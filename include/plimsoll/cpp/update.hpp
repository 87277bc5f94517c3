/// @file
/// What a control plane tells a cluster of its hosts: batches of changes, and loads.

#ifndef PLIMSOLL_CPP_UPDATE_HPP
#define PLIMSOLL_CPP_UPDATE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../plimsoll.h"
#include "health.hpp"
#include "text.hpp"

namespace plimsoll {

/// What a control call did.
struct Applied {
    /// The version of the newest snapshot after the call.
    std::uint64_t version = 0;
    /// Whether the call made a new snapshot. One that changes nothing makes none.
    bool published = false;
};

/// A host to be added, or described anew. `Update::upsert` copies the texts.
///
/// @code{.cpp}
/// plimsoll::HostSpec host;
/// host.address = "10.0.0.3:80";
/// host.zone = "b";
/// host.weight = 2;
/// auto applied = cluster.apply(plimsoll::Update().upsert(host));
/// @endcode
struct HostSpec {
    /// Its address, its identity: `10.0.0.1:80`, `[::1]:80` or any other text. Not empty.
    std::string_view address = {};
    /// Its name, for dumps and for hashing by name. May be empty, as all that follow.
    std::string_view hostname = {};
    /// Its region.
    std::string_view region = {};
    /// Its zone.
    std::string_view zone = {};
    /// Its sub-zone.
    std::string_view sub_zone = {};
    /// What `ring_hash` and `maglev` place it by. Empty: its name or its address, as the policy
    /// says.
    std::string_view hash_key = {};
    /// 0, which is used first, to 128.
    std::uint32_t priority = 0;
    /// Its weight; 0 stands for 1.
    std::uint32_t weight = 0;
    /// What the control plane says of its health.
    EdsHealth health = EdsHealth::unknown;
};

/// Changes to hosts that are applied in one step, all or nothing, by `Cluster::apply`. Wherever they
/// stand in the batch, removals come first, then hosts, then what was learnt of their health.
///
/// Keeps copies of all texts. Can be moved, not copied, and applied several times; one that was
/// moved away is empty.
///
/// Thread: one at a time. Allocates: yes. Blocks: no.
///
/// @code{.cpp}
/// plimsoll::Update update;
/// update.upsert("10.0.0.3:80")
///     .remove("10.0.0.1:80")
///     .health("10.0.0.2:80", plimsoll::HealthEvent::eject);
/// auto applied = cluster.apply(update);
/// @endcode
class Update {
public:
    /// No changes.
    Update() noexcept = default;
    /// Takes the changes of the other over.
    Update(Update&&) noexcept = default;
    /// Takes the changes of the other over.
    Update& operator=(Update&&) noexcept = default;

    /// Adds a host, or describes one anew that is there, which keeps its data and its active
    /// requests.
    Update& upsert(const HostSpec& host) {
        plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
        change.kind = PLIMSOLL_CHANGE_UPSERT;
        change.address = detail::to_c(host.address);
        change.hostname = detail::to_c(host.hostname);
        change.region = detail::to_c(host.region);
        change.zone = detail::to_c(host.zone);
        change.sub_zone = detail::to_c(host.sub_zone);
        change.hash_key = detail::to_c(host.hash_key);
        change.priority = host.priority;
        change.weight = host.weight;
        change.health_status = static_cast<std::uint32_t>(host.health);
        return add(change);
    }

    /// Adds a host of which only the address is known.
    Update& upsert(std::string_view address) {
        HostSpec host;
        host.address = address;
        return upsert(host);
    }

    /// Removes a host.
    Update& remove(std::string_view address) {
        plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
        change.kind = PLIMSOLL_CHANGE_REMOVE;
        change.address = detail::to_c(address);
        return add(change);
    }

    /// Says what was learnt of a host's health.
    Update& health(std::string_view address, HealthEvent event) {
        plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
        change.kind = PLIMSOLL_CHANGE_HEALTH;
        change.address = detail::to_c(address);
        change.event = static_cast<std::uint32_t>(event);
        return add(change);
    }

    /// How many changes there are.
    std::size_t size() const noexcept { return changes_.size(); }

    /// Whether there is no change.
    bool empty() const noexcept { return changes_.empty(); }

    /// Makes room for so many changes.
    void reserve(std::size_t changes) {
        changes_.reserve(changes);
        texts_.reserve(changes);
    }

    /// Forgets all changes, and keeps the room for them.
    void clear() noexcept {
        changes_.clear();
        texts_.clear();
    }

    /// The changes, `size()` of them, as the C interface takes them; valid until this is changed.
    const plimsoll_host_change* data() const noexcept { return changes_.data(); }

private:
    Update& add(plimsoll_host_change change) {
        plimsoll_str* const texts[] = {&change.address, &change.hostname, &change.region,
                                       &change.zone,    &change.sub_zone, &change.hash_key};
        std::size_t length = 0;
        for (const plimsoll_str* text : texts) {
            length += text->len;
        }
        // One block for all texts of a change, which stays where it is when the vectors grow.
        std::unique_ptr<char[]> block(new char[length]);
        char* end = block.get();
        for (plimsoll_str* text : texts) {
            if (text->len != 0) {
                std::memcpy(end, text->data, text->len);
            }
            text->data = end;
            end += text->len;
        }
        texts_.push_back(std::move(block));
        changes_.push_back(change);
        return *this;
    }

    std::vector<plimsoll_host_change> changes_;
    std::vector<std::unique_ptr<char[]>> texts_;
};

/// How busy a host is, for `Cluster::set_loads`. Refers to its address.
///
/// @code{.cpp}
/// auto set = cluster.set_loads({{"10.0.0.1:80", 12}, {"10.0.0.2:80", 3, 1}});
/// @endcode
class HostLoad {
public:
    /// So many active requests, `PLIMSOLL_MAX_LOAD` at most. What was said before of requests that
    /// wait for a connection stays.
    constexpr HostLoad(std::string_view address, std::uint32_t active) noexcept {
        load_.address = detail::to_c(address);
        load_.active = active;
    }

    /// The same, and so many requests that wait for a connection, `PLIMSOLL_MAX_LOAD` at most.
    constexpr HostLoad(std::string_view address, std::uint32_t active,
                       std::uint32_t pending) noexcept
        : HostLoad(address, active) {
        load_.pending = pending;
        load_.flags = PLIMSOLL_LOAD_HAS_PENDING;
    }

private:
    plimsoll_host_load load_ = PLIMSOLL_HOST_LOAD_INIT;
};

// An array of them is read as an array of what is in them.
static_assert(sizeof(HostLoad) == sizeof(plimsoll_host_load) &&
              std::is_standard_layout_v<HostLoad>);

}  // namespace plimsoll

#endif
