//! How busy a host is, as the caller says it.

use crate::config::{ConfigError, Problem};
use crate::host::MAX_LOAD;

/// Requests of one host that are counted elsewhere than in the engine, or all of them.
///
/// ```
/// use plimsoll::HostLoad;
///
/// let load = HostLoad::active(3);
/// assert_eq!(load.pending, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostLoad {
    /// Active requests, at most [`MAX_LOAD`](crate::MAX_LOAD).
    pub active: u32,
    /// Requests that wait for a connection, at most [`MAX_LOAD`](crate::MAX_LOAD); `None` leaves what was said
    /// before. They count in `least_request` only, and only where the runtime value
    /// `envoy.reloadable_features.least_request_lb_count_pending_requests` is true.
    pub pending: Option<u32>,
}

impl HostLoad {
    /// So many active requests.
    #[must_use]
    pub fn active(active: u32) -> Self {
        Self { active, pending: None }
    }

    pub(crate) fn validate(self) -> Result<(), ConfigError> {
        let too_many = if self.active > MAX_LOAD {
            "active"
        } else if self.pending.is_some_and(|pending| pending > MAX_LOAD) {
            "pending"
        } else {
            return Ok(());
        };
        let problem = Problem::AboveMaximum { rule: "HostLoad", maximum: MAX_LOAD.into() };
        Err(ConfigError::new(too_many, problem))
    }
}
