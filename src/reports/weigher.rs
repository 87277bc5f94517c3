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

/// What a report says of how much its host can take, and how a record keeps it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Weighable {
    /// A weight.
    Weight(f64),
    /// No more than how busy the host is: more than 0, and negative in the record.
    Utilization(f64),
}

impl Weighable {
    /// What a record's value stands for.
    pub(crate) fn of(value: f64) -> Self {
        if value.is_sign_negative() { Self::Utilization(-value) } else { Self::Weight(value) }
    }

    /// The weight, if there is one.
    pub(crate) fn weight(self) -> Option<f64> {
        if let Self::Weight(weight) = self { Some(weight) } else { None }
    }

    /// As a record keeps it: in the range of its numbers, whose ends are of no use to anybody.
    fn kept(self) -> f64 {
        let in_range = |it: f64| it.clamp(f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        match self {
            Self::Weight(weight) => in_range(weight),
            Self::Utilization(utilization) => -in_range(utilization),
        }
    }
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

    /// A weight as Envoy has it; `None` for a utilization alone, which means nothing to it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as in Envoy; saturates
    pub(super) fn whole(weight: f64) -> Option<f64> {
        (!weight.is_sign_negative()).then(|| f64::from(weight as u32))
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
            Behavior::Native => self.weigh(slot, report, now_ns)?,
            Behavior::Envoy => self.weigh_as_envoy(report)?,
        };
        let sample = Sample { value, utilization, now_ns };
        let taken = self.records.report(slot, sample, origin);
        if taken { Ok(()) } else { Err(ReportRejected::Streamed) }
    }

    /// What follows from a report, and its utilization. All numbers that enter are finite and not
    /// negative. A host that says what it serves is idle when it says nothing of it, and keeps its
    /// weight; of another one at least it is known how busy it is.
    fn weigh(
        &self,
        slot: u32,
        report: &Report<'_>,
        now_ns: u64,
    ) -> Result<(f64, f64), ReportRejected> {
        let (qps, eps) = (report.rps_fractional(), report.eps());
        let utilization = self.utilization.of(report);
        if !(is_sound(qps) && is_sound(eps) && is_sound(utilization)) {
            return Err(ReportRejected::NotFinite);
        }
        if qps <= 0.0 && (utilization <= 0.0 || self.has_weight(slot, now_ns)) {
            return Err(ReportRejected::Qps);
        }
        if utilization <= 0.0 {
            return Err(ReportRejected::Utilization);
        }
        let weighable = if qps > 0.0 {
            Weighable::Weight(qps / (utilization + self.error_utilization_penalty * eps / qps))
        } else {
            Weighable::Utilization(utilization)
        };
        Ok((weighable.kept(), utilization))
    }

    /// Whether what the host in `slot` last reported came to a weight.
    fn has_weight(&self, slot: u32, now_ns: u64) -> bool {
        let last = self.records.last(slot, now_ns);
        last.is_some_and(|last| Weighable::of(last.value).weight().is_some())
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
