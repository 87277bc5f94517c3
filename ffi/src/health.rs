//! The numbers that health goes by in C.
//!
//! Reports and the control plane's words come in, and what became of them goes out with
//! `plimsoll_cluster_for_each_host`. The numbers are part of the interface and Envoy's where Envoy
//! has any; the engine's enums may be ordered as they like.

use plimsoll::{CoarseHealth, EdsHealth, HealthEvent};

/// `plimsoll_host_change.event`: an active health check passed.
pub const PLIMSOLL_HEALTH_PASS: u32 = 1;
/// `plimsoll_host_change.event`: an active health check failed.
pub const PLIMSOLL_HEALTH_FAIL: u32 = 2;
/// `plimsoll_host_change.event`: an active health check passed with the degraded mark.
pub const PLIMSOLL_HEALTH_DEGRADED: u32 = 3;
/// `plimsoll_host_change.event`: an active health check timed out.
pub const PLIMSOLL_HEALTH_TIMED_OUT: u32 = 4;
/// `plimsoll_host_change.event`: a response asked to fail the host at once.
pub const PLIMSOLL_HEALTH_FAIL_NOW: u32 = 5;
/// `plimsoll_host_change.event`: outlier detection ejected the host.
pub const PLIMSOLL_HEALTH_EJECT: u32 = 6;
/// `plimsoll_host_change.event`: outlier detection took the host back.
pub const PLIMSOLL_HEALTH_UNEJECT: u32 = 7;
/// `plimsoll_host_change.event`: outlier detection found the host degraded.
pub const PLIMSOLL_HEALTH_OUTLIER_DEGRADED: u32 = 8;
/// `plimsoll_host_change.event`: outlier detection no longer finds the host degraded.
pub const PLIMSOLL_HEALTH_OUTLIER_RECOVERED: u32 = 9;

/// What the control plane says of a host: nothing; counts as healthy.
pub const PLIMSOLL_EDS_UNKNOWN: u32 = 0;
/// What the control plane says of a host: healthy.
pub const PLIMSOLL_EDS_HEALTHY: u32 = 1;
/// What the control plane says of a host: unhealthy.
pub const PLIMSOLL_EDS_UNHEALTHY: u32 = 2;
/// What the control plane says of a host: being drained: no new requests, left out of every
/// percentage.
pub const PLIMSOLL_EDS_DRAINING: u32 = 3;
/// What the control plane says of a host: its health check timed out; counts as unhealthy.
pub const PLIMSOLL_EDS_TIMEOUT: u32 = 4;
/// What the control plane says of a host: usable, after the healthy ones.
pub const PLIMSOLL_EDS_DEGRADED: u32 = 5;

/// `plimsoll_host.health`: the host fails its active health check.
pub const PLIMSOLL_FLAG_FAILED_ACTIVE_HC: u32 = 0x001;
/// `plimsoll_host.health`: outlier detection ejected the host.
pub const PLIMSOLL_FLAG_FAILED_OUTLIER_CHECK: u32 = 0x002;
/// `plimsoll_host.health`: the control plane says UNHEALTHY or TIMEOUT.
pub const PLIMSOLL_FLAG_FAILED_EDS_HEALTH: u32 = 0x004;
/// `plimsoll_host.health`: the host passes its active health check as degraded.
pub const PLIMSOLL_FLAG_DEGRADED_ACTIVE_HC: u32 = 0x008;
/// `plimsoll_host.health`: the control plane says DEGRADED.
pub const PLIMSOLL_FLAG_DEGRADED_EDS_HEALTH: u32 = 0x010;
/// `plimsoll_host.health`: gone from the assignment, and kept because its health checks pass.
pub const PLIMSOLL_FLAG_PENDING_DYNAMIC_REMOVAL: u32 = 0x020;
/// `plimsoll_host.health`: the host is new, and not checked yet.
pub const PLIMSOLL_FLAG_PENDING_ACTIVE_HC: u32 = 0x040;
/// `plimsoll_host.health`: the host failed at once by its own response.
pub const PLIMSOLL_FLAG_EXCLUDED_VIA_IMMEDIATE_HC_FAIL: u32 = 0x080;
/// `plimsoll_host.health`: the host's active health check times out.
pub const PLIMSOLL_FLAG_ACTIVE_HC_TIMEOUT: u32 = 0x100;
/// `plimsoll_host.health`: the control plane says DRAINING.
pub const PLIMSOLL_FLAG_EDS_STATUS_DRAINING: u32 = 0x200;
/// `plimsoll_host.health`: outlier detection finds the host degraded.
pub const PLIMSOLL_FLAG_DEGRADED_OUTLIER_DETECTION: u32 = 0x400;

/// `plimsoll_host.coarse`: the host gets traffic first.
pub const PLIMSOLL_COARSE_HEALTHY: u32 = 0;
/// `plimsoll_host.coarse`: the host gets what the healthy ones cannot take.
pub const PLIMSOLL_COARSE_DEGRADED: u32 = 1;
/// `plimsoll_host.coarse`: the host gets traffic in panic only.
pub const PLIMSOLL_COARSE_UNHEALTHY: u32 = 2;

/// What was learnt of a host; `None` for a number that stands for nothing.
pub(crate) fn event(number: u32) -> Option<HealthEvent> {
    Some(match number {
        PLIMSOLL_HEALTH_PASS => HealthEvent::Pass,
        PLIMSOLL_HEALTH_FAIL => HealthEvent::Fail,
        PLIMSOLL_HEALTH_DEGRADED => HealthEvent::Degraded,
        PLIMSOLL_HEALTH_TIMED_OUT => HealthEvent::TimedOut,
        PLIMSOLL_HEALTH_FAIL_NOW => HealthEvent::FailNow,
        PLIMSOLL_HEALTH_EJECT => HealthEvent::Eject,
        PLIMSOLL_HEALTH_UNEJECT => HealthEvent::Uneject,
        PLIMSOLL_HEALTH_OUTLIER_DEGRADED => HealthEvent::OutlierDegraded,
        PLIMSOLL_HEALTH_OUTLIER_RECOVERED => HealthEvent::OutlierRecovered,
        _ => return None,
    })
}

/// What the control plane says of a host; `None` for a number that stands for nothing.
pub(crate) fn eds_health(number: u32) -> Option<EdsHealth> {
    Some(match number {
        PLIMSOLL_EDS_UNKNOWN => EdsHealth::Unknown,
        PLIMSOLL_EDS_HEALTHY => EdsHealth::Healthy,
        PLIMSOLL_EDS_UNHEALTHY => EdsHealth::Unhealthy,
        PLIMSOLL_EDS_DRAINING => EdsHealth::Draining,
        PLIMSOLL_EDS_TIMEOUT => EdsHealth::Timeout,
        PLIMSOLL_EDS_DEGRADED => EdsHealth::Degraded,
        _ => return None,
    })
}

/// The number of what the control plane says of a host.
pub(crate) fn eds_number(health: EdsHealth) -> u32 {
    match health {
        EdsHealth::Unknown => PLIMSOLL_EDS_UNKNOWN,
        EdsHealth::Healthy => PLIMSOLL_EDS_HEALTHY,
        EdsHealth::Unhealthy => PLIMSOLL_EDS_UNHEALTHY,
        EdsHealth::Draining => PLIMSOLL_EDS_DRAINING,
        EdsHealth::Timeout => PLIMSOLL_EDS_TIMEOUT,
        EdsHealth::Degraded => PLIMSOLL_EDS_DEGRADED,
    }
}

/// The number of what balancing makes of a host's health.
pub(crate) fn coarse_number(health: CoarseHealth) -> u32 {
    match health {
        CoarseHealth::Healthy => PLIMSOLL_COARSE_HEALTHY,
        CoarseHealth::Degraded => PLIMSOLL_COARSE_DEGRADED,
        CoarseHealth::Unhealthy => PLIMSOLL_COARSE_UNHEALTHY,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll::HealthFlags;

    use super::*;

    #[test]
    fn what_the_control_plane_says_comes_out_as_it_went_in() {
        let known = (0..100).filter_map(|number| Some((number, eds_health(number)?)));
        let known: Vec<(u32, EdsHealth)> = known.collect();
        assert_eq!(known.len(), 6);
        for (number, health) in known {
            assert_eq!(eds_number(health), number);
        }
    }

    #[test]
    fn the_flags_are_the_engines_bits() {
        let flags = [
            (HealthFlags::FAILED_ACTIVE_HC, PLIMSOLL_FLAG_FAILED_ACTIVE_HC),
            (HealthFlags::FAILED_OUTLIER_CHECK, PLIMSOLL_FLAG_FAILED_OUTLIER_CHECK),
            (HealthFlags::FAILED_EDS_HEALTH, PLIMSOLL_FLAG_FAILED_EDS_HEALTH),
            (HealthFlags::DEGRADED_ACTIVE_HC, PLIMSOLL_FLAG_DEGRADED_ACTIVE_HC),
            (HealthFlags::DEGRADED_EDS_HEALTH, PLIMSOLL_FLAG_DEGRADED_EDS_HEALTH),
            (HealthFlags::PENDING_DYNAMIC_REMOVAL, PLIMSOLL_FLAG_PENDING_DYNAMIC_REMOVAL),
            (HealthFlags::PENDING_ACTIVE_HC, PLIMSOLL_FLAG_PENDING_ACTIVE_HC),
            (
                HealthFlags::EXCLUDED_VIA_IMMEDIATE_HC_FAIL,
                PLIMSOLL_FLAG_EXCLUDED_VIA_IMMEDIATE_HC_FAIL,
            ),
            (HealthFlags::ACTIVE_HC_TIMEOUT, PLIMSOLL_FLAG_ACTIVE_HC_TIMEOUT),
            (HealthFlags::EDS_STATUS_DRAINING, PLIMSOLL_FLAG_EDS_STATUS_DRAINING),
            (HealthFlags::DEGRADED_OUTLIER_DETECTION, PLIMSOLL_FLAG_DEGRADED_OUTLIER_DETECTION),
        ];
        for (flag, number) in flags {
            assert_eq!(u32::from(flag.bits()), number);
        }
    }
}
