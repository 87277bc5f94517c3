//! A report with a life of its own.

use std::collections::BTreeMap;

use super::name::Scalar;
use super::report::Report;
use super::{MetricMap, Metrics};

/// A load report that owns what is in it: `xds.data.orca.v3.OrcaLoadReport`, field by field.
///
/// It is what a reader of JSON makes, and what to keep of a [`Report`] after its headers are gone.
/// On the path of a request a report is better read in place: this one allocates.
///
/// The keys of the message are text, but TEXT headers may hold any bytes. Those that are not UTF-8
/// are written as `\xe9` here, and are looked up in that form.
///
/// ```
/// use plimsoll::orca::{LoadReport, MetricMap, Parser};
///
/// let own = LoadReport { cpu_utilization: 0.5, ..LoadReport::default() };
/// assert_eq!(own.as_report().cpu_utilization(), 0.5);
///
/// let mut parser = Parser::new();
/// let report = parser.text(b"named_metrics.\xE9t\xC3\xA9=1").unwrap();
/// assert_eq!(report.metric(MetricMap::NamedMetrics, b"\xE9t\xC3\xA9"), Some(1.0));
/// assert_eq!(report.to_owned_report().named_metrics["\\xe9té"], 1.0);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadReport {
    /// The share of its processors that the host uses; may be more than 1.
    pub cpu_utilization: f64,
    /// The share of its memory that the host uses, 0 to 1.
    pub mem_utilization: f64,
    /// Requests per second as a whole number; deprecated, and nothing depends on it.
    pub rps: u64,
    /// What the request cost, by resource.
    pub request_cost: BTreeMap<String, f64>,
    /// Utilization by resource, 0 to 1.
    pub utilization: BTreeMap<String, f64>,
    /// Requests per second.
    pub rps_fractional: f64,
    /// Errors per second.
    pub eps: f64,
    /// Anything else that the backend measures.
    pub named_metrics: BTreeMap<String, f64>,
    /// The share of its capacity that the application says it uses; may be more than 1.
    pub application_utilization: f64,
}

impl LoadReport {
    /// A view that answers as the report of a header does.
    #[must_use]
    pub fn as_report(&self) -> Report<'_> {
        let mut report = Report::of(self);
        report.set(Scalar::CpuUtilization, self.cpu_utilization);
        report.set(Scalar::MemUtilization, self.mem_utilization);
        report.set(Scalar::ApplicationUtilization, self.application_utilization);
        report.set(Scalar::Eps, self.eps);
        report.set(Scalar::RpsFractional, self.rps_fractional);
        report.set_rps(self.rps);
        report
    }

    /// One of the three maps.
    ///
    /// ```
    /// use plimsoll::orca::{LoadReport, MetricMap};
    ///
    /// let mut report = LoadReport::default();
    /// report.utilization.insert("disk".to_owned(), 0.5);
    /// assert_eq!(report.map(MetricMap::Utilization).len(), 1);
    /// ```
    #[must_use]
    pub fn map(&self, map: MetricMap) -> &BTreeMap<String, f64> {
        match map {
            MetricMap::RequestCost => &self.request_cost,
            MetricMap::Utilization => &self.utilization,
            MetricMap::NamedMetrics => &self.named_metrics,
        }
    }
}

impl Report<'_> {
    /// A copy that owns what is in it. Keys that are not UTF-8 change, see [`LoadReport`].
    ///
    /// ```
    /// let mut parser = plimsoll::orca::Parser::new();
    /// let report = parser.text(b"eps=2,utilization.disk=0.5").unwrap().to_owned_report();
    /// assert_eq!((report.eps, report.utilization["disk"]), (2.0, 0.5));
    /// ```
    #[must_use]
    pub fn to_owned_report(&self) -> LoadReport {
        LoadReport {
            cpu_utilization: self.cpu_utilization(),
            mem_utilization: self.mem_utilization(),
            rps: self.rps(),
            request_cost: owned(self.metrics(MetricMap::RequestCost)),
            utilization: owned(self.metrics(MetricMap::Utilization)),
            rps_fractional: self.rps_fractional(),
            eps: self.eps(),
            named_metrics: owned(self.metrics(MetricMap::NamedMetrics)),
            application_utilization: self.application_utilization(),
        }
    }
}

fn owned(metrics: Metrics<'_>) -> BTreeMap<String, f64> {
    metrics.map(|(key, value)| (super::error::Lossy(key).to_string(), value)).collect()
}
