/// @file
/// What requests are hashed by: the policies of a route, and what is known of a request.

#ifndef PLIMSOLL_CPP_HASH_HPP
#define PLIMSOLL_CPP_HASH_HPP

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../plimsoll.h"
#include "error.hpp"
#include "function_ref.hpp"
#include "result.hpp"
#include "span.hpp"
#include "text.hpp"

namespace plimsoll {

namespace detail {

struct FreeHashPolicies {
    void operator()(plimsoll_hash_policies* policies) const noexcept {
        plimsoll_hash_policies_free(policies);
    }
};

}  // namespace detail

struct HashPolicy;
struct Request;

/// The `hash_policy` of a route: what its requests are hashed from. Read once, for many requests,
/// and never changed after. Can be moved, not copied; one that was moved away stands for no route.
///
/// Thread: any, several at once.
///
/// @code{.cpp}
/// auto route = plimsoll::HashPolicies::parse("- { header: { header_name: x-session } }");
/// if (!route) {
///     std::cerr << route.error().describe() << '\n';
/// }
/// @endcode
class HashPolicies {
public:
    /// Reads a list of Envoy's `RouteAction.HashPolicy`, as JSON or YAML.
    ///
    /// Fails with `Status::parse_error`, `Status::invalid_argument`, `Status::unsupported` (the
    /// error names the field) or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no.
    [[nodiscard]] static Result<HashPolicies> parse(std::string_view text) noexcept {
        plimsoll_hash_policies* policies = nullptr;
        detail::ErrorSlot error;
        const plimsoll_status status =
            plimsoll_hash_policies_parse(detail::to_c(text), &policies, error);
        if (status != PLIMSOLL_STATUS_OK) {
            return error.take(status);
        }
        return HashPolicies(policies);
    }

    /// Makes them of values.
    ///
    /// Fails with `Status::invalid_argument` for a value outside its range (the error names it,
    /// `policies[3].name`) or `Status::panic`.
    ///
    /// Thread: any. Allocates: yes. Blocks: no.
    [[nodiscard]] static Result<HashPolicies> of(Span<const HashPolicy> policies);

    /// The same for values in braces.
    ///
    /// Thread: any. Allocates: yes. Blocks: no.
    [[nodiscard]] static Result<HashPolicies> of(std::initializer_list<HashPolicy> policies);

    /// Takes over a handle of the C interface, and frees it in the end.
    explicit HashPolicies(plimsoll_hash_policies* handle) noexcept : handle_(handle) {}

    /// Hashes a request by these policies alone, whatever a cluster has: for a program that hashes
    /// before it knows the cluster, and to try policies out. `set_cookie` is as with `Worker::hash`.
    ///
    /// Fails with `Status::no_hash` if no policy finds anything in the request. Also with
    /// `Status::null_argument`, `Status::invalid_argument` for the request, or `Status::panic`.
    ///
    /// Thread: any. Allocates: for new cookies, and for a header with more than eight values.
    /// Blocks: no, unless `set_cookie` does.
    [[nodiscard]] Result<std::uint64_t, Status> hash(
        const Request& request,
        FunctionRef<void(std::string_view)> set_cookie = nullptr) const noexcept;

    /// The handle, for calls of the C interface; null if it was moved away.
    const plimsoll_hash_policies* handle() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<plimsoll_hash_policies, detail::FreeHashPolicies> handle_;
};

/// A header of a request. Refers to its texts.
///
/// @code{.cpp}
/// const plimsoll::Header headers[] = {{"x-session", "3f2a"}, {"cookie", "a=1; b=2"}};
/// @endcode
class Header {
public:
    /// A name, in any case, and a value, which need not be UTF-8. Pseudo-headers such as
    /// `:authority` are headers like others.
    constexpr Header(std::string_view name, std::string_view value) noexcept
        : header_{detail::to_c(name), detail::to_c(value)} {}

private:
    plimsoll_header header_;
};

// An array of them is read as an array of what is in them.
static_assert(sizeof(Header) == sizeof(plimsoll_header) && std::is_standard_layout_v<Header>);

/// Where a `HashPolicy` finds its value.
enum class HashKind : std::uint32_t {
    /// All values of a header.
    header = PLIMSOLL_HASH_HEADER,
    /// The value of a cookie, or of one that is made for a client that has none.
    cookie = PLIMSOLL_HASH_COOKIE,
    /// The address that the request comes from, without its port.
    source_ip = PLIMSOLL_HASH_SOURCE_IP,
    /// The first value of a parameter in the query.
    query_parameter = PLIMSOLL_HASH_QUERY_PARAMETER,
    /// The hash of an object that the proxy keeps for the request.
    filter_state = PLIMSOLL_HASH_FILTER_STATE,
};

/// One part of what requests are hashed from, for `HashPolicies::of`. Policies are asked in order; each
/// value that one finds is combined with those before it. Refers to its texts and attributes.
///
/// @code{.cpp}
/// plimsoll::HashPolicy session{plimsoll::HashKind::cookie, "session"};
/// session.ttl = std::chrono::hours(1);
/// session.terminal = true;
/// auto route = plimsoll::HashPolicies::of({session, {plimsoll::HashKind::source_ip}});
/// @endcode
struct HashPolicy {
    /// Where the value comes from.
    HashKind kind = HashKind::header;
    /// Which header, cookie, parameter or object. Not empty, unless it is `HashKind::source_ip`.
    std::string_view name = {};
    /// Ask no further policies once there is a value.
    bool terminal = false;
    /// Of a cookie: for how long a client without it is given one; less than a second is a cookie for
    /// the session. Nothing: the client is given none.
    std::optional<Time> ttl = std::nullopt;
    /// Of a cookie: the path that a new one gets. May be empty.
    std::string_view path = {};
    /// Of a cookie: further attributes of a new one.
    Span<const Header> attributes = {};
};

/// An object that the proxy keeps for a request under a key, Envoy's filter state, as a `hash_policy`
/// asks for it. Refers to its key.
///
/// @code{.cpp}
/// const plimsoll::FilterState objects[] = {{"tenant", 4711}};
/// plimsoll::Request request;
/// request.filter_states = objects;
/// @endcode
class FilterState {
public:
    /// Its key, and the hash of the object, which is what the object makes it.
    constexpr FilterState(std::string_view key, std::uint64_t hash) noexcept
        : object_{detail::to_c(key), hash} {}

private:
    plimsoll_filter_state object_;
};

static_assert(sizeof(FilterState) == sizeof(plimsoll_filter_state) &&
              std::is_standard_layout_v<FilterState>);

/// What is known of a request that is to be hashed. Only what the policies in use ask for has to be
/// there; an empty text is not known. Refers to its texts and headers.
///
/// @code{.cpp}
/// const plimsoll::Header headers[] = {{"x-session", "3f2a"}};
/// plimsoll::Request request;
/// request.headers = headers;
/// request.path = "/cart?user=7";
/// auto hash = worker.hash(request);
/// @endcode
struct Request {
    /// Its headers, in any order; one that comes several times stands here several times.
    Span<const Header> headers = {};
    /// Its cookies by name, where they have been parsed already; the values are without the quotes
    /// around them. One that is not here is looked for in the header `cookie`.
    Span<const Header> cookies = {};
    /// The path with its query.
    std::string_view path = {};
    /// The query without its question mark; nothing: it is found in `path`.
    std::optional<std::string_view> query = std::nullopt;
    /// The IP address that the request comes from, without a port: `10.0.0.1` or `::1`.
    std::string_view source_ip = {};
    /// The address that the request comes from, with a port: `10.0.0.1:4711`, `[::1]:4711` or a
    /// path. New cookies are made from it and the next one, and none is made without them.
    std::string_view remote_address = {};
    /// The address that the request came to, as above.
    std::string_view local_address = {};
    /// The objects that the proxy keeps for the request, as far as policies ask for them.
    Span<const FilterState> filter_states = {};
};

/// Called with the value of a header `set-cookie` that the response is to carry.
using SetCookie = FunctionRef<void(std::string_view)>;

namespace detail {

/// Text that may be missing: null then, and not null otherwise, even if it is empty.
constexpr plimsoll_str to_c(const std::optional<std::string_view>& text) noexcept {
    if (!text) {
        return {nullptr, 0};
    }
    return text->empty() ? plimsoll_str{"", 0} : to_c(*text);
}

inline plimsoll_request to_c(const Request& request) noexcept {
    plimsoll_request raw = PLIMSOLL_REQUEST_INIT;
    // Each `Header` is a `plimsoll_header` and nothing else.
    raw.headers = reinterpret_cast<const plimsoll_header*>(request.headers.data());
    raw.header_count = request.headers.size();
    raw.cookies = reinterpret_cast<const plimsoll_header*>(request.cookies.data());
    raw.cookie_count = request.cookies.size();
    raw.path = to_c(request.path);
    raw.query = to_c(request.query);
    raw.source_ip = to_c(request.source_ip);
    raw.remote_address = to_c(request.remote_address);
    raw.local_address = to_c(request.local_address);
    // Each `FilterState` is a `plimsoll_filter_state` and nothing else.
    raw.filter_states =
        reinterpret_cast<const plimsoll_filter_state*>(request.filter_states.data());
    raw.filter_state_count = request.filter_states.size();
    return raw;
}

// C calls this. An exception must not leave it: it ends the program.
inline void set_cookie(void* callback, plimsoll_str value) noexcept {
    (*static_cast<const SetCookie*>(callback))(from_c(value));
}

}  // namespace detail

inline Result<HashPolicies> HashPolicies::of(Span<const HashPolicy> policies) {
    std::vector<plimsoll_hash_policy> all;
    all.reserve(policies.size());
    for (const HashPolicy& from : policies) {
        plimsoll_hash_policy policy = PLIMSOLL_HASH_POLICY_INIT;
        policy.kind = static_cast<std::uint32_t>(from.kind);
        policy.terminal = from.terminal ? 1 : 0;
        policy.name = detail::to_c(from.name);
        policy.path = detail::to_c(from.path);
        policy.has_ttl = from.ttl ? 1 : 0;
        policy.ttl_ns = detail::length_to_ns(from.ttl.value_or(Time(0)));
        // Each `Header` is a `plimsoll_header` and nothing else.
        policy.attributes = reinterpret_cast<const plimsoll_header*>(from.attributes.data());
        policy.attribute_count = from.attributes.size();
        all.push_back(policy);
    }
    plimsoll_hash_policies* made = nullptr;
    detail::ErrorSlot error;
    const plimsoll_status status =
        plimsoll_hash_policies_new(all.data(), all.size(), &made, error);
    if (status != PLIMSOLL_STATUS_OK) {
        return error.take(status);
    }
    return HashPolicies(made);
}

inline Result<HashPolicies> HashPolicies::of(std::initializer_list<HashPolicy> policies) {
    return of(Span<const HashPolicy>(policies.begin(), policies.size()));
}

inline Result<std::uint64_t, Status> HashPolicies::hash(const Request& request,
                                                        SetCookie set_cookie) const noexcept {
    const plimsoll_request raw = detail::to_c(request);
    std::uint64_t hash = 0;
    const plimsoll_status status =
        plimsoll_hash_policies_hash(handle(), &raw, &set_cookie,
                                    set_cookie ? &detail::set_cookie : nullptr, &hash);
    if (status != PLIMSOLL_STATUS_OK) {
        return static_cast<Status>(status);
    }
    return hash;
}

}  // namespace plimsoll

#endif
