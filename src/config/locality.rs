//! How traffic divides among the localities of a priority.

use std::time::Duration;

use super::error::{ConfigError, Problem};
use super::weighted::{MIN_WEIGHT_UPDATE_PERIOD, OutOfBandReporting};

/// How traffic divides among the localities of a priority, before a host is chosen.
///
/// ```
/// use plimsoll::config::{ClusterConfig, LoadAware, LocalityRouting};
///
/// let config = ClusterConfig {
///     locality_routing: LocalityRouting::LoadAware(LoadAware::default()),
///     ..ClusterConfig::new("api")
/// };
/// config.validate()?;
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum LocalityRouting {
    /// By their hosts. In `behavior: envoy` it means [`ZoneAware`] with its defaults as soon as
    /// there is a local cluster, as in Envoy, except with a policy that goes by a hash.
    #[default]
    Unset,
    /// Nearest first, as far as the hosts there suffice for the proxies there. Without a local
    /// cluster it does nothing. [`Policy::RingHash`](super::Policy::RingHash) and
    /// [`Policy::Maglev`](super::Policy::Maglev) do not go with it.
    ZoneAware(ZoneAware),
    /// By the weights that the assignment gives to localities, times their health: Envoy's
    /// `locality_weighted_lb_config` and `wrr_locality`. Without any weight it does nothing.
    Weighted,
    /// By the load that hosts report, nearest first: Envoy's `load_aware_locality`.
    LoadAware(LoadAware),
}

/// The settings of zone-aware routing: Envoy's `ZoneAwareLbConfig`.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneAware {
    /// The percentage of picks that it applies to, 0 to 100. Default 100.
    pub routing_enabled: f64,
    /// With fewer healthy hosts it does not apply. Default 6.
    pub min_cluster_size: u64,
    /// Stay in the local zone whatever the proportions, as long as so many of its hosts are
    /// healthy. Default `None`: proportions decide.
    pub force_local_zone: Option<u32>,
    /// What is compared between this proxy's own cluster and the hosts.
    pub locality_basis: LocalityBasis,
}

/// What zone-aware routing compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LocalityBasis {
    /// The numbers of healthy hosts.
    #[default]
    HealthyHostsNum,
    /// The sums of their weights.
    HealthyHostsWeight,
}

impl Default for ZoneAware {
    fn default() -> Self {
        Self {
            routing_enabled: 100.0,
            min_cluster_size: 6,
            force_local_zone: None,
            locality_basis: LocalityBasis::default(),
        }
    }
}

/// The settings of [`LocalityRouting::LoadAware`].
///
/// Hosts report their utilization with each response (ORCA), or on streams of their own. The local
/// locality gets the traffic until it is busier than the others by
/// [`utilization_variance_threshold`](Self::utilization_variance_threshold), then shares it with
/// them. See docs/load-aware-locality.md for how much, and what it guarantees.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadAware {
    /// How often weights are made of the reports. Default 1 s, at least
    /// [`MIN_WEIGHT_UPDATE_PERIOD`].
    pub weight_update_period: Duration,
    /// Which metrics are the utilization, as in
    /// [`ClientSideWeightedRoundRobin`](super::ClientSideWeightedRoundRobin).
    pub metric_names_for_computing_utilization: Vec<String>,
    /// By how much the local locality may be busier than the others and still get everything, 0 to
    /// 1. Default 0.1.
    pub utilization_variance_threshold: f64,
    /// The time constant of smoothing, at least 1 ms: what is older than this counts for 37 %.
    /// Default 5 s.
    pub smoothing_time_constant: Duration,
    /// The part of the traffic that other localities get at least, so that there is something to
    /// compare with; 0 to less than 1. Default 0.03.
    pub remote_probe_fraction: f64,
    /// A report older than this does not count. Default 180 s; 0 for never too old.
    pub weight_expiration_period: Duration,
    /// Ask hosts for reports on streams of their own, besides those with responses. Default false.
    pub enable_oob_load_report: bool,
    /// How often such a stream is to report. Default 10 s; 0 counts as that.
    pub oob_reporting_period: Duration,
    /// Where such streams go.
    pub oob_reporting_config: OutOfBandReporting,
}

impl Default for LoadAware {
    fn default() -> Self {
        Self {
            weight_update_period: Duration::from_secs(1),
            metric_names_for_computing_utilization: Vec::new(),
            utilization_variance_threshold: 0.1,
            smoothing_time_constant: Duration::from_secs(5),
            remote_probe_fraction: 0.03,
            weight_expiration_period: Duration::from_secs(180),
            enable_oob_load_report: false,
            oob_reporting_period: Duration::from_secs(10),
            oob_reporting_config: OutOfBandReporting::default(),
        }
    }
}

impl LocalityRouting {
    /// The name that goes before the field in an error.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Unset => "",
            Self::ZoneAware(_) => "zone_aware_lb_config",
            Self::Weighted => "locality_weighted_lb_config",
            Self::LoadAware(_) => "load_aware_locality",
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    ///
    /// The first value outside its range, in the order in which Envoy looks at them.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Unset | Self::Weighted => Ok(()),
            Self::ZoneAware(zone_aware) => {
                let problem = Problem::of_percent(zone_aware.routing_enabled);
                problem.map_or(Ok(()), |problem| Err(ConfigError::new("routing_enabled", problem)))
            }
            Self::LoadAware(load_aware) => load_aware.validate(),
        }
    }
}

impl LoadAware {
    //= envoy v1.40 source/extensions/load_balancing_policies/load_aware_locality/config.cc#loadConfig
    /// Checks every range.
    ///
    /// # Errors
    ///
    /// The first value outside its range, in the order in which Envoy looks at them.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let check = |is_good: bool, field: &str, message: &str| match is_good {
            true => Ok(()),
            false => Err(ConfigError::new(field, Problem::Invalid { message: message.to_owned() })),
        };
        let Self { utilization_variance_threshold, remote_probe_fraction, .. } = *self;
        check(
            self.weight_update_period >= MIN_WEIGHT_UPDATE_PERIOD,
            "weight_update_period",
            "weight_update_period must be at least 100ms",
        )?;
        check(
            self.smoothing_time_constant >= Duration::from_millis(1),
            "smoothing_time_constant",
            "smoothing_time_constant must be positive",
        )?;
        check(
            (0.0..=1.0).contains(&utilization_variance_threshold),
            "utilization_variance_threshold",
            "utilization_variance_threshold must be in [0, 1]",
        )?;
        check(
            (0.0..1.0).contains(&remote_probe_fraction),
            "remote_probe_fraction",
            "remote_probe_fraction must be in [0, 1)",
        )?;
        self.oob_reporting_config.validate()?;
        let periods = [
            ("weight_update_period", self.weight_update_period),
            ("smoothing_time_constant", self.smoothing_time_constant),
            ("weight_expiration_period", self.weight_expiration_period),
            ("oob_reporting_period", self.oob_reporting_period),
        ];
        super::weighted::check_periods(&periods)
    }
}
