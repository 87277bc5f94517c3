//! From a report to a weight: client-side weighted round robin.

use super::{ReportRejected, Utilization, is_sound};
use crate::config::{Behavior, ClientSideWeightedRoundRobin};
use crate::orca::{MetricNames, Report};
use crate::records::{Origin, Records, Sample};
use crate::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct Weigher {
    behavior: Behavior,
    utilization: Utilization,
    error_utilization_penalty: f64,
    /// Weights.
    pub(crate) records: Arc<Records>,
}

impl Weigher {
    pub(crate) fn new(
        config: &ClientSideWeightedRoundRobin,
        behavior: Behavior,
        named_first: bool,
        records: Arc<Records>,
    ) -> Self {
        let unset = if behavior == Behavior::Native { 1.0 } else { 0.0 };
        let names = MetricNames::new(&config.metric_names_for_computing_utilization);
        Self {
            behavior,
            utilization: Utilization { names, named_first },
            // A float of 32 bits, widened, as in Envoy.
            error_utilization_penalty: config.error_utilization_penalty.unwrap_or(unset).into(),
            records,
        }
    }

    /// Takes a report of the host in `slot` in.
    pub(super) fn take(
        &self,
        slot: u32,
        report: &Report<'_>,
        now_ns: u64,
        origin: Origin,
    ) -> Result<(), ReportRejected> {
        let (value, utilization) = match self.behavior {
            Behavior::Native => self.weigh(report)?,
            Behavior::Envoy => self.weigh_as_envoy(report)?,
        };
        let sample = Sample { value, utilization, now_ns };
        let taken = self.records.report(slot, sample, origin);
        if taken { Ok(()) } else { Err(ReportRejected::Streamed) }
    }

    /// The weight that follows from a report, and its utilization. All numbers that enter are
    /// finite and not negative.
    fn weigh(&self, report: &Report<'_>) -> Result<(f64, f64), ReportRejected> {
        let (qps, eps) = (report.rps_fractional(), report.eps());
        let utilization = self.utilization.of(report);
        if !(is_sound(qps) && is_sound(eps) && is_sound(utilization)) {
            return Err(ReportRejected::NotFinite);
        }
        if qps <= 0.0 {
            return Err(ReportRejected::Qps);
        }
        if utilization <= 0.0 {
            return Err(ReportRejected::Utilization);
        }
        let weight = qps / (utilization + self.error_utilization_penalty * eps / qps);
        // What a record holds; neither end is of any use.
        Ok((weight.clamp(f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)), utilization))
    }

    /// The same as Envoy does it, what is no number included.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_weight_manager.cc#calculateWeightFromOrcaReport
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as in Envoy; saturates
    fn weigh_as_envoy(&self, report: &Report<'_>) -> Result<(f64, f64), ReportRejected> {
        let qps = report.rps_fractional();
        if qps <= 0.0 {
            return Err(ReportRejected::Qps);
        }
        let named = self.utilization.of(report);
        let utilization = named + self.error_utilization_penalty * report.eps() / qps;
        if utilization <= 0.0 {
            return Err(ReportRejected::Utilization);
        }
        let weight = qps / utilization;
        let most = f64::from(u32::MAX);
        let weight = if weight > most { most } else { weight };
        Ok((f64::from(weight as u32), named))
    }
}
