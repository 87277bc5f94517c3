//! The settings of a cluster: what Envoy keeps in its `Cluster` message, as far as it concerns
//! balancing.

use super::error::{ConfigError, Problem};
use super::locality::LocalityRouting;
use super::override_host::{HostStatuses, OverrideHost};
use super::policy::Policy;

/// Whose decisions a cluster makes. See the crate's front page for the differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Behavior {
    /// The same configuration and the same weights as Envoy, chosen better. The default.
    #[default]
    Native,
    /// Envoy 1.40.0, number for number, failures included and crashes excluded.
    Envoy,
}

impl Behavior {
    /// The name used in replays, options and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Envoy => "envoy",
        }
    }
}

/// The settings of a cluster.
///
/// ```
/// use plimsoll::config::{Behavior, ClusterConfig, Policy};
///
/// let config = ClusterConfig {
///     policy: Policy::Random,
///     healthy_panic_threshold: 30.0,
///     ..ClusterConfig::new("api")
/// };
/// assert_eq!(config.behavior, Behavior::Native);
/// config.validate()?;
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterConfig {
    /// The cluster's name, for messages and dumps.
    pub name: String,
    /// Whose decisions the cluster makes.
    pub behavior: Behavior,
    /// How a host is chosen.
    pub policy: Policy,
    /// How traffic divides among localities before that. Default: by their hosts.
    pub locality_routing: LocalityRouting,
    /// Hosts that requests name come before the policy. Default `None`.
    pub override_host: Option<OverrideHost>,
    /// Below this percentage of available hosts a priority panics: it sends to all its hosts.
    /// 0 to 100, default 50; 0 switches panic off. Envoy truncates 29, 57 and 58 to one less, and
    /// so does `behavior: envoy`.
    pub healthy_panic_threshold: f64,
    /// In panic, give no host instead of any host. Default false.
    pub fail_traffic_on_panic: bool,
    /// Hosts are checked actively: new ones start failed until their first check passes.
    pub active_health_checks: bool,
    /// New hosts also stay out of all percentages until their first check. Default false; without
    /// active health checks it does nothing.
    pub ignore_new_hosts_until_first_hc: bool,
    /// A host that the assignment drops goes at once, even if its health checks still pass.
    /// Default false; without active health checks hosts always go at once.
    pub ignore_health_on_host_removal: bool,
    /// What the health of a host must be for [`Worker::pick_override`](crate::Worker::pick_override)
    /// to take it; without effect with [`override_host`](Self::override_host). Compared with
    /// [`HealthFlags::fine`](crate::HealthFlags::fine). With [`HostStatuses::NONE`] it never does.
    pub override_host_status: HostStatuses,
}

impl ClusterConfig {
    /// Envoy's defaults for a cluster of this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            behavior: Behavior::default(),
            policy: Policy::default(),
            locality_routing: LocalityRouting::default(),
            override_host: None,
            healthy_panic_threshold: 50.0,
            fail_traffic_on_panic: false,
            active_health_checks: false,
            ignore_new_hosts_until_first_hc: false,
            ignore_health_on_host_removal: false,
            override_host_status: HostStatuses::default(),
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    ///
    /// The first value outside its range, in the order of the fields.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.policy.validate().map_err(|error| error.within(self.policy.name()))?;
        let routing = &self.locality_routing;
        routing.validate().map_err(|error| error.within(routing.name()))?;
        self.check_routing()?;
        let named = self.override_host.as_ref().map_or(Ok(()), OverrideHost::validate);
        named.map_err(|error| error.within("override_host"))?;
        let problem = Problem::of_percent(self.healthy_panic_threshold);
        let field = "common_lb_config.healthy_panic_threshold";
        problem.map_or(Ok(()), |problem| Err(ConfigError::new(field, problem)))
    }

    /// Envoy's hash policies look up hosts of all zones in one table and take no notice of settings
    /// for zones. Nobody who writes them wants that.
    fn check_routing(&self) -> Result<(), ConfigError> {
        let routing = &self.locality_routing;
        if self.policy.consistent_hashing().is_none()
            || !matches!(routing, LocalityRouting::ZoneAware(_))
        {
            return Ok(());
        }
        let message = format!("{} does not route by zone", self.policy.name());
        Err(ConfigError::new(routing.name(), Problem::Invalid { message }))
    }
}
