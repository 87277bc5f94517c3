//! From a report to one number that says how busy a host is.

use super::name::{Name, Scalar};
use super::{MetricMap, Report};

/// The metrics that count as utilization, prepared from
/// `metric_names_for_computing_utilization`.
///
/// | name | stands for |
/// |---|---|
/// | `cpu_utilization`, `mem_utilization`, `application_utilization`, `eps`, `rps_fractional` | that field |
/// | `named_metrics.K`, `utilization.K`, `request_cost.K` | the entry `K`; `K` may be empty and may have dots |
/// | `named_metrics.*`, `utilization.*`, `request_cost.*` | every entry |
///
/// Other names stand for nothing, as in Envoy, which says nothing about them either: a caller can,
/// with [`skipped`](Self::skipped).
///
/// ```
/// use plimsoll::orca::{MetricNames, Parser};
///
/// let names = MetricNames::new(["named_metrics.*", "mem_utilisation"]);
/// assert_eq!(names.skipped(), 1);
///
/// let mut parser = Parser::new();
/// let report = parser.text(b"cpu_utilization=0.2,named_metrics.a=0.3,named_metrics.b=0.4").unwrap();
/// assert_eq!(report.utilization(&names, true), 0.4);
/// assert_eq!(report.utilization(&MetricNames::default(), true), 0.2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetricNames {
    scalars: Vec<Scalar>,
    entries: Vec<(MetricMap, Box<[u8]>)>,
    maps: Vec<MetricMap>,
    skipped: usize,
}

impl MetricNames {
    /// Prepares names; their order does not matter.
    #[must_use]
    pub fn new<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
        let mut prepared = Self::default();
        for name in names {
            match Name::of(name.as_ref().as_bytes()) {
                Name::Scalar(scalar) => prepared.scalars.push(scalar),
                Name::Entry(map, b"*") => prepared.maps.push(map),
                Name::Entry(map, key) => prepared.entries.push((map, key.into())),
                Name::Unknown => prepared.skipped += 1,
            }
        }
        prepared
    }

    /// How many of the names stand for nothing.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

impl Report<'_> {
    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_weight_manager.cc#getUtilizationFromOrcaReport
    /// How busy the host is: the largest of the metrics in `names` if any is more than 0, else
    /// `application_utilization` if that is more than 0, else `cpu_utilization` whatever it is.
    ///
    /// Without `named_first` (Envoy's `orca_weight_manager_use_named_metrics_first`, on by
    /// default) `application_utilization` comes first. What is not a number is never more than 0;
    /// infinity is. The result may be negative or not a number: that of a CPU utilization which
    /// is.
    ///
    /// ```
    /// use plimsoll::orca::{MetricNames, Parser};
    ///
    /// let names = MetricNames::new(["named_metrics.foo"]);
    /// let mut parser = Parser::new();
    /// let report = parser.text(b"named_metrics.foo=0.3,application_utilization=0.5").unwrap();
    /// assert_eq!(report.utilization(&names, true), 0.3);
    /// assert_eq!(report.utilization(&names, false), 0.5);
    /// ```
    #[must_use]
    pub fn utilization(&self, names: &MetricNames, named_first: bool) -> f64 {
        let application = self.application_utilization();
        if !named_first && application > 0.0 {
            return application;
        }
        let named = self.largest(names);
        if named > 0.0 {
            named
        } else if application > 0.0 {
            application
        } else {
            self.cpu_utilization()
        }
    }

    /// The largest of the metrics, 0 if none is larger. What is not a number is not: it compares
    /// as false.
    fn largest(&self, names: &MetricNames) -> f64 {
        let mut largest = 0.0;
        let mut take = |value| {
            if largest < value {
                largest = value;
            }
        };
        names.scalars.iter().for_each(|&scalar| take(self.scalar(scalar)));
        let entry = |(map, key): &(MetricMap, Box<[u8]>)| self.metric(*map, key);
        names.entries.iter().filter_map(entry).for_each(&mut take);
        let values = |&map: &MetricMap| self.metrics(map).map(|(_, value)| value);
        names.maps.iter().flat_map(values).for_each(take);
        largest
    }
}
