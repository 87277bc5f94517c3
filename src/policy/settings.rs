//! What a policy's configuration comes to under the runtime values of a moment.

use super::envoy::Weighing;
use crate::schedule::Ramp;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    pub(crate) method: Method,
    /// How hosts that have just come up are warmed up, if they are.
    pub(crate) ramp: Option<Ramp>,
}

/// A policy with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Method {
    RoundRobin,
    LeastRequest(Selection),
    Random,
    /// By the hash of the request, as the configuration says.
    Hash,
}

/// Which hosts least request looks at, and how their requests count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Selection {
    /// How many candidates are drawn; `None` to look at all hosts.
    pub(crate) choices: Option<u32>,
    /// A host counts as busy as its active requests plus one, to this power.
    pub(crate) active_request_bias: f64,
    /// Requests that wait for a connection count too.
    pub(crate) counts_pending: bool,
}

impl Settings {
    /// Slow start, if it is on, with the host that came up last.
    pub(crate) fn slow_start(&self, latest_host_added_ns: u64) -> Option<SlowStart> {
        self.ramp.map(|ramp| SlowStart { ramp, latest_host_added_ns })
    }

    /// How Envoy's lists weigh their hosts.
    pub(crate) fn weighing(&self, latest_host_added_ns: u64) -> Weighing {
        let selection = match self.method {
            Method::LeastRequest(selection) => Some(selection),
            Method::RoundRobin | Method::Random | Method::Hash => None,
        };
        Weighing { selection, slow_start: self.slow_start(latest_host_added_ns) }
    }
}

/// Slow start as a snapshot has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowStart {
    pub(crate) ramp: Ramp,
    /// When the host came up that came up last.
    pub(crate) latest_host_added_ns: u64,
}

impl SlowStart {
    /// Whether some host may be in slow start, the last millisecond of the window included.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#noHostsAreInSlowStart
    #[inline]
    pub(crate) fn is_on(&self, now_ns: u64) -> bool {
        age_ms(self.latest_host_added_ns, now_ns) <= self.ramp.window_ms
    }

    /// The factor of a healthy host that came up at `since_ns`.
    pub(crate) fn factor(&self, since_ns: Option<u64>, now_ns: u64) -> f64 {
        since_ns.map_or(1.0, |since_ns| self.ramp.factor(age_ms(since_ns, now_ns)))
    }
}

/// Whole milliseconds from one moment to another.
pub(crate) fn age_ms(since_ns: u64, now_ns: u64) -> u64 {
    now_ns.saturating_sub(since_ns) / NS_PER_MS
}

pub(crate) const NS_PER_MS: u64 = 1_000_000;
