//! From a report to a utilization: load-aware routing.

use super::{ReportRejected, Utilization, is_sound};
use crate::config::{Behavior, LoadAware};
use crate::orca::{MetricNames, Report};
use crate::records::{Origin, Records, Sample};
use crate::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct Gauge {
    behavior: Behavior,
    utilization: Utilization,
    /// Utilizations.
    pub(crate) records: Arc<Records>,
}

impl Gauge {
    pub(crate) fn new(
        config: &LoadAware,
        behavior: Behavior,
        named_first: bool,
        records: Arc<Records>,
    ) -> Self {
        let names = MetricNames::new(&config.metric_names_for_computing_utilization);
        Self { behavior, utilization: Utilization { names, named_first }, records }
    }

    /// Takes a report of the host in `slot` in.
    pub(super) fn take(
        &self,
        slot: u32,
        report: &Report<'_>,
        now_ns: u64,
        origin: Origin,
    ) -> Result<(), ReportRejected> {
        let utilization = self.utilization.of(report);
        let value = match self.behavior {
            Behavior::Native => self.sound(slot, report, utilization, now_ns)?,
            Behavior::Envoy if utilization > 0.0 && utilization.is_finite() => utilization.min(1.0),
            // It changes nothing, and is no error in Envoy.
            Behavior::Envoy => return Ok(()),
        };
        let sample = Sample { value, utilization, now_ns };
        let taken = self.records.report(slot, sample, origin);
        if taken { Ok(()) } else { Err(ReportRejected::Streamed) }
    }

    /// What native takes in. Zero is idleness if the host is known to report utilization; else it
    /// may be that it never does.
    fn sound(
        &self,
        slot: u32,
        report: &Report<'_>,
        utilization: f64,
        now_ns: u64,
    ) -> Result<f64, ReportRejected> {
        // A negative number is passed over, and must not look like idleness.
        let fields = [report.application_utilization(), report.cpu_utilization(), utilization];
        if !fields.into_iter().all(is_sound) {
            Err(ReportRejected::NotFinite)
        } else if utilization <= 0.0 && self.records.last(slot, now_ns).is_none() {
            Err(ReportRejected::Utilization)
        } else {
            Ok(utilization.min(f64::from(f32::MAX)))
        }
    }
}
