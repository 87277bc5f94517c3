//! What metrics are called, in TEXT reports and in configurations alike.

/// A map of a report, from names that the backend chose to numbers.
///
/// ```
/// use plimsoll::orca::MetricMap;
///
/// assert_eq!(MetricMap::NamedMetrics.name(), "named_metrics");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetricMap {
    /// What a request cost, by resource.
    RequestCost,
    /// Utilization by resource, documented as 0 to 1.
    Utilization,
    /// Anything else.
    NamedMetrics,
}

impl MetricMap {
    /// All of them, in the order of the message.
    pub const ALL: [Self; 3] = [Self::RequestCost, Self::Utilization, Self::NamedMetrics];

    /// The field's name, `named_metrics` and so on.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestCost => "request_cost",
            Self::Utilization => "utilization",
            Self::NamedMetrics => "named_metrics",
        }
    }
}

/// A number of a report that can be configured as a utilization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    CpuUtilization,
    MemUtilization,
    ApplicationUtilization,
    Eps,
    RpsFractional,
}

impl Scalar {
    pub(super) const COUNT: usize = 5;
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name<'a> {
    Scalar(Scalar),
    /// A map, and everything after the first dot.
    Entry(MetricMap, &'a [u8]),
    Unknown,
}

impl<'a> Name<'a> {
    #[inline]
    pub(super) fn of(name: &'a [u8]) -> Self {
        match name {
            b"cpu_utilization" => Self::Scalar(Scalar::CpuUtilization),
            b"mem_utilization" => Self::Scalar(Scalar::MemUtilization),
            b"application_utilization" => Self::Scalar(Scalar::ApplicationUtilization),
            b"eps" => Self::Scalar(Scalar::Eps),
            b"rps_fractional" => Self::Scalar(Scalar::RpsFractional),
            _ => Self::entry(name),
        }
    }

    fn entry(name: &'a [u8]) -> Self {
        let key = |map: MetricMap| name.strip_prefix(map.name().as_bytes())?.strip_prefix(b".");
        let entry = |map| key(map).map(|key| Self::Entry(map, key));
        MetricMap::ALL.into_iter().find_map(entry).unwrap_or(Self::Unknown)
    }
}
