/// @file
/// What is known of hosts' health, and how a cluster behaves: Envoy's words, as enumerations.

#ifndef PLIMSOLL_CPP_HEALTH_HPP
#define PLIMSOLL_CPP_HEALTH_HPP

#include <cstdint>
#include <initializer_list>

#include "../plimsoll.h"

namespace plimsoll {

/// How a cluster balances.
enum class Behavior : std::uint32_t {
    /// The same configuration and weights as Envoy, chosen better. The default.
    native = PLIMSOLL_BEHAVIOR_NATIVE,
    /// Envoy 1.40.0, number for number.
    envoy = PLIMSOLL_BEHAVIOR_ENVOY,
};

/// Something was learnt of a host's health.
enum class HealthEvent : std::uint32_t {
    /// An active health check passed.
    pass = PLIMSOLL_HEALTH_PASS,
    /// An active health check failed.
    fail = PLIMSOLL_HEALTH_FAIL,
    /// An active health check passed with the degraded mark.
    degraded = PLIMSOLL_HEALTH_DEGRADED,
    /// An active health check timed out.
    timed_out = PLIMSOLL_HEALTH_TIMED_OUT,
    /// A response asked to fail the host at once.
    fail_now = PLIMSOLL_HEALTH_FAIL_NOW,
    /// Outlier detection ejected the host.
    eject = PLIMSOLL_HEALTH_EJECT,
    /// Outlier detection took the host back.
    uneject = PLIMSOLL_HEALTH_UNEJECT,
    /// Outlier detection found the host degraded.
    outlier_degraded = PLIMSOLL_HEALTH_OUTLIER_DEGRADED,
    /// Outlier detection no longer finds the host degraded.
    outlier_recovered = PLIMSOLL_HEALTH_OUTLIER_RECOVERED,
};

/// What the control plane says of a host: Envoy's `HealthStatus`.
enum class EdsHealth : std::uint32_t {
    /// Nothing; counts as healthy.
    unknown = PLIMSOLL_EDS_UNKNOWN,
    /// Healthy.
    healthy = PLIMSOLL_EDS_HEALTHY,
    /// Unhealthy.
    unhealthy = PLIMSOLL_EDS_UNHEALTHY,
    /// Being drained: no new requests, left out of every percentage.
    draining = PLIMSOLL_EDS_DRAINING,
    /// Its health check timed out; counts as unhealthy.
    timeout = PLIMSOLL_EDS_TIMEOUT,
    /// Usable, after the healthy ones.
    degraded = PLIMSOLL_EDS_DEGRADED,
};

/// What balancing makes of a host's health.
enum class CoarseHealth : std::uint32_t {
    /// The host gets traffic first.
    healthy = PLIMSOLL_COARSE_HEALTHY,
    /// The host gets what the healthy ones cannot take.
    degraded = PLIMSOLL_COARSE_DEGRADED,
    /// The host gets traffic in panic only.
    unhealthy = PLIMSOLL_COARSE_UNHEALTHY,
};

/// One thing that is known of a host's health: Envoy's bits.
enum class HealthFlag : std::uint32_t {
    /// The host fails its active health check.
    failed_active_hc = PLIMSOLL_FLAG_FAILED_ACTIVE_HC,
    /// Outlier detection ejected the host.
    failed_outlier_check = PLIMSOLL_FLAG_FAILED_OUTLIER_CHECK,
    /// The control plane says UNHEALTHY or TIMEOUT.
    failed_eds_health = PLIMSOLL_FLAG_FAILED_EDS_HEALTH,
    /// The host passes its active health check as degraded.
    degraded_active_hc = PLIMSOLL_FLAG_DEGRADED_ACTIVE_HC,
    /// The control plane says DEGRADED.
    degraded_eds_health = PLIMSOLL_FLAG_DEGRADED_EDS_HEALTH,
    /// Gone from the assignment, and kept because its health checks pass.
    pending_dynamic_removal = PLIMSOLL_FLAG_PENDING_DYNAMIC_REMOVAL,
    /// The host is new, and not checked yet.
    pending_active_hc = PLIMSOLL_FLAG_PENDING_ACTIVE_HC,
    /// The host failed at once by its own response.
    excluded_via_immediate_hc_fail = PLIMSOLL_FLAG_EXCLUDED_VIA_IMMEDIATE_HC_FAIL,
    /// The host's active health check times out.
    active_hc_timeout = PLIMSOLL_FLAG_ACTIVE_HC_TIMEOUT,
    /// The control plane says DRAINING.
    eds_status_draining = PLIMSOLL_FLAG_EDS_STATUS_DRAINING,
    /// Outlier detection finds the host degraded.
    degraded_outlier_detection = PLIMSOLL_FLAG_DEGRADED_OUTLIER_DETECTION,
};

/// All that is known of a host's health.
///
/// @code{.cpp}
/// plimsoll::HealthFlags flags(PLIMSOLL_FLAG_FAILED_OUTLIER_CHECK);
/// assert(flags.has(plimsoll::HealthFlag::failed_outlier_check));
/// assert(!flags.has(plimsoll::HealthFlag::failed_active_hc));
/// @endcode
class HealthFlags {
public:
    /// Envoy's bits, `PLIMSOLL_FLAG_...`.
    constexpr explicit HealthFlags(std::uint32_t bits) noexcept : bits_(bits) {}

    /// Whether this is known of the host.
    constexpr bool has(HealthFlag flag) const noexcept {
        return (bits_ & static_cast<std::uint32_t>(flag)) != 0;
    }

    /// Envoy's bits; a newer library may set some that have no name here.
    constexpr std::uint32_t bits() const noexcept { return bits_; }

private:
    std::uint32_t bits_;
};

/// A set of words of the control plane.
///
/// @code{.cpp}
/// plimsoll::EdsHealthSet allowed = {plimsoll::EdsHealth::healthy, plimsoll::EdsHealth::draining};
/// assert(allowed.has(plimsoll::EdsHealth::draining));
/// assert(!allowed.has(plimsoll::EdsHealth::unknown));
/// @endcode
class EdsHealthSet {
public:
    /// These and no others; none at all if there are none.
    constexpr EdsHealthSet(std::initializer_list<EdsHealth> all) noexcept {
        for (const EdsHealth health : all) {
            bits_ |= bit_of(health);
        }
    }

    /// Whether it is one of them.
    constexpr bool has(EdsHealth health) const noexcept { return (bits_ & bit_of(health)) != 0; }

    /// The sum of `1 << PLIMSOLL_EDS_...`.
    constexpr std::uint32_t bits() const noexcept { return bits_; }

private:
    static constexpr std::uint32_t bit_of(EdsHealth health) noexcept {
        return std::uint32_t{1} << static_cast<std::uint32_t>(health);
    }

    std::uint32_t bits_ = 0;
};

/// Which of the hosts of a locality traffic goes to.
enum class Source : std::uint32_t {
    /// The healthy ones.
    healthy = PLIMSOLL_SOURCE_HEALTHY,
    /// The degraded ones.
    degraded = PLIMSOLL_SOURCE_DEGRADED,
    /// All, whatever their health. In panic a priority sends there.
    all = PLIMSOLL_SOURCE_ALL,
};

}  // namespace plimsoll

#endif
