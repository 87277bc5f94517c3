//! A report in place: numbers, and maps that borrow their keys.

use std::collections::btree_map;
use std::fmt;

use super::entries::Entries;
use super::name::Scalar;
use super::{LoadReport, MetricMap};

/// A load report that borrows from what it was parsed from. Copying it is cheap.
///
/// A field that the backend did not set is 0, as everywhere in proto3. Nothing says that a number
/// is positive, finite or a number at all, unless it came in TEXT, where that is required.
///
/// ```
/// use plimsoll::orca::{MetricMap, Parser, Report};
///
/// let mut parser = Parser::new();
/// let report = parser.text(b"named_metrics.b=2,rps_fractional=100,named_metrics.a=1").unwrap();
/// assert_eq!((report.rps_fractional(), report.cpu_utilization()), (100.0, 0.0));
/// assert_eq!(report.metric(MetricMap::NamedMetrics, "b"), Some(2.0));
/// let keys: Vec<_> = report.metrics(MetricMap::NamedMetrics).map(|(key, _)| key).collect();
/// assert_eq!(keys, [b"a", b"b"]);
/// assert_eq!(Report::default().metrics(MetricMap::NamedMetrics).count(), 0);
/// ```
#[derive(Clone, Copy, Default)]
pub struct Report<'a> {
    scalars: [f64; Scalar::COUNT],
    rps: u64,
    maps: Maps<'a>,
}

/// Where the maps are.
#[derive(Clone, Copy)]
enum Maps<'a> {
    Parsed(Entries<'a>),
    Owned(&'a LoadReport),
}

impl Default for Maps<'_> {
    fn default() -> Self {
        Self::Parsed(Entries::default())
    }
}

impl<'a> Report<'a> {
    /// A report of maps only.
    pub(super) fn of(report: &'a LoadReport) -> Self {
        Self { maps: Maps::Owned(report), ..Self::default() }
    }

    /// The same numbers with the maps of a table.
    pub(super) fn with<'b>(self, entries: Entries<'b>) -> Report<'b> {
        Report { maps: Maps::Parsed(entries), scalars: self.scalars, rps: self.rps }
    }

    #[inline]
    pub(super) fn set(&mut self, scalar: Scalar, value: f64) {
        self.scalars[scalar as usize] = value;
    }

    pub(super) fn set_rps(&mut self, rps: u64) {
        self.rps = rps;
    }

    #[inline]
    pub(super) fn scalar(&self, scalar: Scalar) -> f64 {
        self.scalars[scalar as usize]
    }

    /// The share of its processors that the host uses; may be more than 1.
    #[must_use]
    pub fn cpu_utilization(&self) -> f64 {
        self.scalar(Scalar::CpuUtilization)
    }

    /// The share of its memory that the host uses, 0 to 1.
    #[must_use]
    pub fn mem_utilization(&self) -> f64 {
        self.scalar(Scalar::MemUtilization)
    }

    /// The share of its capacity that the application says it uses; may be more than 1.
    #[must_use]
    pub fn application_utilization(&self) -> f64 {
        self.scalar(Scalar::ApplicationUtilization)
    }

    /// Requests per second.
    #[must_use]
    pub fn rps_fractional(&self) -> f64 {
        self.scalar(Scalar::RpsFractional)
    }

    /// Errors per second.
    #[must_use]
    pub fn eps(&self) -> f64 {
        self.scalar(Scalar::Eps)
    }

    /// Requests per second as a whole number; deprecated, and nothing depends on it.
    #[must_use]
    pub fn rps(&self) -> u64 {
        self.rps
    }

    /// The number under a key; of several the last one.
    #[must_use]
    pub fn metric(&self, map: MetricMap, key: impl AsRef<[u8]>) -> Option<f64> {
        let key = key.as_ref();
        match self.maps {
            Maps::Parsed(entries) => entries.get(map, key),
            Maps::Owned(report) => report.map(map).get(str::from_utf8(key).ok()?).copied(),
        }
    }

    /// What is in a map, each key once and in order.
    #[must_use]
    pub fn metrics(&self, map: MetricMap) -> Metrics<'a> {
        Metrics(match self.maps {
            Maps::Parsed(entries) => Rest::Parsed(entries.of(map)),
            Maps::Owned(report) => Rest::Owned(report.map(map).iter()),
        })
    }
}

impl fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_owned_report().fmt(f)
    }
}

/// The keys and numbers of a map, see [`Report::metrics`].
#[derive(Debug, Clone)]
pub struct Metrics<'a>(Rest<'a>);

/// What is still to come.
#[derive(Debug, Clone)]
enum Rest<'a> {
    Parsed(Entries<'a>),
    Owned(btree_map::Iter<'a, String, f64>),
}

impl<'a> Iterator for Metrics<'a> {
    type Item = (&'a [u8], f64);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Rest::Parsed(entries) => entries.take_first(),
            Rest::Owned(entries) => entries.next().map(|(key, &value)| (key.as_bytes(), value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = match &self.0 {
            Rest::Parsed(entries) => entries.len(),
            Rest::Owned(entries) => entries.len(),
        };
        (length, Some(length))
    }
}

impl ExactSizeIterator for Metrics<'_> {}
