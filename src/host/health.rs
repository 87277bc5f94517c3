//! What is known of a host's health, and what follows for balancing.
//!
//! Three sources speak about one host: active health checks, outlier detection, and the control
//! plane (EDS). Each has flags of its own, so that none overwrites another.
//!
//! //= envoy v1.40 source/common/upstream/upstream_impl.h#HostImplBase::coarseHealth

use std::fmt;

/// The status that the control plane gives a host (Envoy's `HealthStatus`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EdsHealth {
    /// Nothing said; counts as healthy.
    #[default]
    Unknown,
    /// Healthy.
    Healthy,
    /// Unhealthy.
    Unhealthy,
    /// Being drained: unhealthy, and left out of every percentage.
    Draining,
    /// Its health check timed out; counts as unhealthy.
    Timeout,
    /// Usable, after the healthy ones.
    Degraded,
}

impl EdsHealth {
    /// The name in Envoy's API, `HEALTHY` and so on.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::Healthy => "HEALTHY",
            Self::Unhealthy => "UNHEALTHY",
            Self::Draining => "DRAINING",
            Self::Timeout => "TIMEOUT",
            Self::Degraded => "DEGRADED",
        }
    }

    /// Whether the control plane took the host out on purpose, so that `behavior: native` does
    /// not send to it in panic either. A timeout is a symptom, not a decision.
    #[must_use]
    pub fn takes_out(self) -> bool {
        matches!(self, Self::Unhealthy | Self::Draining)
    }
}

/// What balancing makes of a host's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CoarseHealth {
    /// Gets traffic first.
    Healthy,
    /// Gets what the healthy hosts cannot take.
    Degraded,
    /// Gets traffic in panic only.
    Unhealthy,
}

/// A report about one host's health, as [`Update::health`](crate::Update::health) takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HealthEvent {
    /// An active check passed.
    Pass,
    /// An active check passed with the degraded mark.
    Degraded,
    /// An active check failed.
    Fail,
    /// An active check timed out.
    TimedOut,
    /// A response asked to fail the host at once (`x-envoy-immediate-health-check-fail`): it
    /// fails and leaves every percentage until a check passes.
    FailNow,
    /// Outlier detection ejected the host.
    Eject,
    /// Outlier detection took the host back.
    Uneject,
    /// Outlier detection found the host degraded.
    OutlierDegraded,
    /// Outlier detection no longer finds the host degraded.
    OutlierRecovered,
}

impl HealthEvent {
    /// Whether an active check passed.
    pub(crate) fn is_pass(self) -> bool {
        matches!(self, Self::Pass | Self::Degraded)
    }
}

/// The health flags of a host, Envoy's bits.
///
/// ```
/// use plimsoll::{CoarseHealth, HealthFlags};
///
/// let mut flags = HealthFlags::DEGRADED_ACTIVE_HC;
/// assert_eq!(flags.coarse(), CoarseHealth::Degraded);
/// flags.insert(HealthFlags::FAILED_OUTLIER_CHECK);
/// assert_eq!(flags.coarse(), CoarseHealth::Unhealthy);
/// assert_eq!(flags.to_string(), "/failed_outlier_check/degraded_active_hc");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct HealthFlags(u16);

impl HealthFlags {
    /// No flag: healthy.
    pub const NONE: Self = Self(0);
    /// Fails its active health check.
    pub const FAILED_ACTIVE_HC: Self = Self(0x001);
    /// Ejected by outlier detection.
    pub const FAILED_OUTLIER_CHECK: Self = Self(0x002);
    /// The control plane says UNHEALTHY or TIMEOUT.
    pub const FAILED_EDS_HEALTH: Self = Self(0x004);
    /// Passes its active health check as degraded.
    pub const DEGRADED_ACTIVE_HC: Self = Self(0x008);
    /// The control plane says DEGRADED.
    pub const DEGRADED_EDS_HEALTH: Self = Self(0x010);
    /// Gone from the assignment, kept because its health checks pass.
    pub const PENDING_DYNAMIC_REMOVAL: Self = Self(0x020);
    /// New, and not checked yet.
    pub const PENDING_ACTIVE_HC: Self = Self(0x040);
    /// Failed at once by its own response.
    pub const EXCLUDED_VIA_IMMEDIATE_HC_FAIL: Self = Self(0x080);
    /// Its active health check times out.
    pub const ACTIVE_HC_TIMEOUT: Self = Self(0x100);
    /// The control plane says DRAINING.
    pub const EDS_STATUS_DRAINING: Self = Self(0x200);
    /// Outlier detection finds it degraded.
    pub const DEGRADED_OUTLIER_DETECTION: Self = Self(0x400);

    const UNHEALTHY: Self = Self(0x001 | 0x002 | 0x004 | 0x200);
    const DEGRADED: Self = Self(0x008 | 0x010 | 0x400);
    const EXCLUDED: Self = Self(0x040 | 0x080 | 0x200);
    const EDS: Self = Self(0x004 | 0x010 | 0x200);
    /// What active health checks say; a check that passes clears all of it.
    pub(crate) const ACTIVE_HC: Self = Self(0x001 | 0x008 | 0x040 | 0x080 | 0x100);
    /// What a new host object inherits from the one it replaces under the same health checker.
    const INHERITED: Self = Self(0x001 | 0x008 | 0x040 | 0x100);

    const NAMES: [&'static str; 11] = [
        "/failed_active_hc",
        "/failed_outlier_check",
        "/failed_eds_health",
        "/degraded_active_hc",
        "/degraded_eds_health",
        "/pending_dynamic_removal",
        "/pending_active_hc",
        "/excluded_via_immediate_hc_fail",
        "/active_hc_timeout",
        "/eds_status_draining",
        "/degraded_outlier_detection",
    ];

    /// Envoy's bits.
    #[must_use]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Whether any of `others` is set.
    #[must_use]
    pub fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Sets `others`.
    pub fn insert(&mut self, others: Self) {
        self.0 |= others.0;
    }

    /// Clears `others`.
    pub fn remove(&mut self, others: Self) {
        self.0 &= !others.0;
    }

    /// What balancing makes of the flags: any failure wins over any degradation.
    #[must_use]
    pub fn coarse(self) -> CoarseHealth {
        if self.intersects(Self::UNHEALTHY) {
            CoarseHealth::Unhealthy
        } else if self.intersects(Self::DEGRADED) {
            CoarseHealth::Degraded
        } else {
            CoarseHealth::Healthy
        }
    }

    /// Whether the host is left out of every percentage.
    #[must_use]
    pub fn excluded(self) -> bool {
        self.intersects(Self::EXCLUDED)
    }

    /// The status that overrides and admin pages show; `eds` is what the control plane said.
    #[must_use]
    pub fn fine(self, eds: EdsHealth) -> EdsHealth {
        let failed = Self(Self::FAILED_ACTIVE_HC.0 | Self::FAILED_OUTLIER_CHECK.0);
        match eds {
            _ if self.intersects(failed) => EdsHealth::Unhealthy,
            EdsHealth::Unhealthy | EdsHealth::Draining | EdsHealth::Timeout => eds,
            _ if self.intersects(Self::DEGRADED_ACTIVE_HC) => EdsHealth::Degraded,
            _ => eds,
        }
    }

    /// Replaces what the control plane said.
    pub fn set_eds(&mut self, status: EdsHealth) {
        self.remove(Self::EDS);
        self.insert(match status {
            EdsHealth::Unknown | EdsHealth::Healthy => Self::NONE,
            EdsHealth::Unhealthy | EdsHealth::Timeout => Self::FAILED_EDS_HEALTH,
            EdsHealth::Draining => Self::EDS_STATUS_DRAINING,
            EdsHealth::Degraded => Self::DEGRADED_EDS_HEALTH,
        });
    }

    /// The flags that pass from a host object to the one that replaces it.
    pub(crate) fn inherited(self) -> Self {
        Self(self.0 & Self::INHERITED.0)
    }

    /// Takes a report in. The first result of a new host, either way, ends its waiting.
    pub(crate) fn apply(&mut self, event: HealthEvent) {
        match event {
            HealthEvent::Pass => self.remove(Self::ACTIVE_HC),
            HealthEvent::Degraded => {
                self.remove(Self::ACTIVE_HC);
                self.insert(Self::DEGRADED_ACTIVE_HC);
            }
            HealthEvent::Fail => self.fail(Self::NONE),
            HealthEvent::TimedOut => self.fail(Self::ACTIVE_HC_TIMEOUT),
            HealthEvent::FailNow => self.fail(Self::EXCLUDED_VIA_IMMEDIATE_HC_FAIL),
            HealthEvent::Eject => self.insert(Self::FAILED_OUTLIER_CHECK),
            HealthEvent::Uneject => self.remove(Self::FAILED_OUTLIER_CHECK),
            HealthEvent::OutlierDegraded => self.insert(Self::DEGRADED_OUTLIER_DETECTION),
            HealthEvent::OutlierRecovered => self.remove(Self::DEGRADED_OUTLIER_DETECTION),
        }
    }

    fn fail(&mut self, why: Self) {
        self.remove(Self::PENDING_ACTIVE_HC);
        self.insert(Self::FAILED_ACTIVE_HC);
        self.insert(why);
    }
}

impl fmt::Display for HealthFlags {
    /// Envoy's form: `healthy`, or the set flags in Envoy's order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            return f.write_str("healthy");
        }
        for (bit, name) in Self::NAMES.iter().enumerate() {
            if self.0 >> bit & 1 == 1 {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}
