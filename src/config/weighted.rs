//! The settings of client-side weighted round robin.

use std::time::Duration;

use super::error::{ConfigError, Problem};
use super::policy::SlowStart;

/// A shorter [`weight_update_period`](ClientSideWeightedRoundRobin::weight_update_period) counts
/// as this one.
pub const MIN_WEIGHT_UPDATE_PERIOD: Duration = Duration::from_millis(100);

/// The settings of [`Policy::ClientSideWeightedRoundRobin`](super::Policy).
///
/// Hosts report their load with each response (ORCA). A report weighs its host
/// `rps_fractional / (utilization + error_utilization_penalty * eps / rps_fractional)`, where
/// utilization is the largest of the named metrics, else the application's, else the CPU's. Weights
/// are taken over every [`weight_update_period`](Self::weight_update_period), and at once when
/// hosts change.
///
/// Native: weights are real numbers, none less than a hundredth of the average; a host without
/// reports that count weighs its configured weight times the median of what the others report for
/// theirs, and if nobody reports, configured weights hold. Envoy: weights are whole; a host without
/// one weighs the median, or 1.
///
/// ```
/// use plimsoll::config::{ClientSideWeightedRoundRobin, Policy};
///
/// let policy = Policy::ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin {
///     metric_names_for_computing_utilization: vec!["named_metrics.queue".to_owned()],
///     ..ClientSideWeightedRoundRobin::default()
/// });
/// policy.validate()?;
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClientSideWeightedRoundRobin {
    /// Ask hosts for reports on streams of their own, besides those with responses. Default false.
    pub enable_oob_load_report: bool,
    /// How often such a stream is to report. Default 10 s; 0 counts as that.
    pub oob_reporting_period: Duration,
    /// Where such streams go.
    pub oob_reporting_config: OutOfBandReporting,
    /// From a host's first report on, so long its reports do not count. Default 10 s; 0 for none.
    pub blackout_period: Duration,
    /// A report older than this does not count, and its host is new again. Default 180 s. 0 means
    /// never old in native, and always too old in Envoy.
    pub weight_expiration_period: Duration,
    /// How often weights are taken over. Default 1 s, at least [`MIN_WEIGHT_UPDATE_PERIOD`].
    pub weight_update_period: Duration,
    /// How much errors add to the utilization, at least 0. `None` is 1 in native, as the field is
    /// documented, and 0 in Envoy, as it behaves.
    pub error_utilization_penalty: Option<f32>,
    /// Which metrics are the utilization, before that of the application and the CPU: the names of
    /// scalar fields, `named_metrics.KEY`, `utilization.KEY` or `request_cost.KEY`, where `*` is
    /// any key. Other names are skipped, as in Envoy.
    pub metric_names_for_computing_utilization: Vec<String>,
    /// How new hosts are warmed up. Default `None`: they get their full share at once.
    pub slow_start: Option<SlowStart>,
}

/// Where streams of out-of-band reports go: Envoy's `OrcaOobReportingConfig`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutOfBandReporting {
    /// The port, at most 65 535; 0 for the host's own.
    pub port_value: u32,
    /// What to call the host in requests; empty for its name or address.
    pub authority: String,
}

impl Default for ClientSideWeightedRoundRobin {
    fn default() -> Self {
        Self {
            enable_oob_load_report: false,
            oob_reporting_period: Duration::from_secs(10),
            oob_reporting_config: OutOfBandReporting::default(),
            blackout_period: Duration::from_secs(10),
            weight_expiration_period: Duration::from_secs(180),
            weight_update_period: Duration::from_secs(1),
            error_utilization_penalty: None,
            metric_names_for_computing_utilization: Vec::new(),
            slow_start: None,
        }
    }
}

impl ClientSideWeightedRoundRobin {
    pub(super) fn validate_own(&self) -> Result<(), ConfigError> {
        if self
            .error_utilization_penalty
            .is_some_and(|penalty| !(0.0..=f32::MAX).contains(&penalty))
        {
            let message = "ClientSideWeightedRoundRobinValidationError.ErrorUtilizationPenalty: \
                           value must be finite and greater than or equal to 0";
            return invalid("error_utilization_penalty", message);
        }
        self.oob_reporting_config.validate()?;
        let periods = [
            ("oob_reporting_period", self.oob_reporting_period),
            ("blackout_period", self.blackout_period),
            ("weight_expiration_period", self.weight_expiration_period),
            ("weight_update_period", self.weight_update_period),
        ];
        check_periods(&periods)
    }
}

impl OutOfBandReporting {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.port_value > 65_535 {
            let rule = "OrcaOobReportingConfigValidationError.PortValue";
            let problem = Problem::AboveMaximum { rule, maximum: 65_535 };
            return Err(ConfigError::new("oob_reporting_config.port_value", problem));
        }
        if self.authority.contains(|c: char| c.is_control()) {
            return invalid("oob_reporting_config.authority", "a name has no control characters");
        }
        Ok(())
    }
}

/// Checks that periods have a number of nanoseconds that fits.
pub(super) fn check_periods(periods: &[(&str, Duration)]) -> Result<(), ConfigError> {
    match periods.iter().find(|(_, period)| i64::try_from(period.as_nanos()).is_err()) {
        Some((field, _)) => invalid(field, "a period is less than 2^63 nanoseconds"),
        None => Ok(()),
    }
}

fn invalid(field: &str, message: &str) -> Result<(), ConfigError> {
    Err(ConfigError::new(field, Problem::Invalid { message: message.to_owned() }))
}
