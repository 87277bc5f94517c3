// What the operations that choose hosts share.

#ifndef REPLAY_PICKS_HPP
#define REPLAY_PICKS_HPP

#include "session.hpp"

namespace replay {

// The hosts that a request names, and what happens without them.
struct Names {
    // Reads `override` and `strict`.
    explicit Names(Keys& keys);

    bool is_given;
    std::vector<std::string> addresses;
    plimsoll::Override mode;

    // As the library takes them.
    std::vector<plimsoll::Text> lent() const { return {addresses.begin(), addresses.end()}; }
};

// More than fit are more than the library goes by, too.
std::uint32_t saturated(std::uint64_t count);

// Refuses more picks than so many.
void check_at_most(std::uint64_t n, std::uint64_t maximum);

// The address of the host of a pick; nothing if there is none, or it has left.
std::optional<std::string> address_of(plimsoll::Worker& worker,
                                      const plimsoll::Result<plimsoll::Pick, plimsoll::Status>& pick);

}  // namespace replay

#endif
