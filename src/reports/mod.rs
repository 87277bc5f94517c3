//! What becomes of load reports: one of a response is read, weighed by each policy that goes by it,
//! and left in that policy's record of the host.

mod exported;
mod gauge;
mod weigher;

use std::fmt;

pub use exported::ExportedReports;
pub(crate) use exported::{Consumer, Exported};
pub(crate) use gauge::Gauge;
pub(crate) use weigher::{Weighable, Weigher};

use crate::config::Behavior;
use crate::orca::{Headers, MetricNames, Parser, ReadJson, Reason, Report, ReportError};
use crate::policy::Counter;
use crate::records::{Kept, Origin, Records, Sample};
use crate::sync::Arc;

/// Where reports go. Shared by the control side and all snapshots.
#[derive(Debug)]
pub(crate) struct Reports {
    behavior: Behavior,
    /// Of client-side weighted round robin.
    weigher: Option<Arc<Weigher>>,
    /// Of load-aware routing.
    gauge: Option<Arc<Gauge>>,
}

/// What a response says of its host's load, in its headers and in its trailers.
///
/// ```
/// use plimsoll::ResponseLoad;
/// use plimsoll::orca::Headers;
///
/// let headers = [("endpoint-load-metrics", "TEXT rps_fractional=100,cpu_utilization=0.5")];
/// let load = ResponseLoad { headers: Headers::find(headers), ..ResponseLoad::default() };
/// assert!(load.headers.text.is_some());
/// ```
#[derive(Clone, Copy, Default)]
pub struct ResponseLoad<'a> {
    /// Of the headers.
    pub headers: Headers<'a>,
    /// Of the trailers; empty if there are none.
    pub trailers: Headers<'a>,
    /// Reads reports in JSON, which are refused without it.
    pub json: Option<&'a ReadJson>,
}

impl fmt::Debug for ResponseLoad<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { headers, trailers, json } = self;
        f.debug_struct("ResponseLoad")
            .field("headers", headers)
            .field("trailers", trailers)
            .field("json", &json.is_some())
            .finish()
    }
}

impl ResponseLoad<'_> {
    /// Whether the response says nothing of load.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.trailers.is_empty()
    }

    /// Hands over the report that counts: in `behavior: envoy` the first that can be read, in
    /// `behavior: native` the last, since trailers are newer than headers. If none can be read it is
    /// what is wrong with the one that was asked for first.
    pub fn read<T>(
        &self,
        parser: &mut Parser,
        behavior: Behavior,
        then: impl FnOnce(Result<Report<'_>, ReportError<'_>>) -> T,
    ) -> T {
        let (first, second) = match behavior {
            Behavior::Envoy => (self.headers, self.trailers),
            Behavior::Native => (self.trailers, self.headers),
        };
        let is_silent = match parser.read(first, self.json) {
            Ok(report) => return then(Ok(report)),
            Err(error) => error == ReportError::NoData,
        };
        if let Ok(report) = parser.read(second, self.json) {
            return then(Ok(report));
        }
        then(parser.read(if is_silent { second } else { first }, self.json))
    }
}

/// Why a response changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportFailure {
    /// It says nothing of load, which is no mistake.
    NoData,
    /// What it says cannot be read.
    Unreadable(Reason),
    /// What it says was not taken in.
    Rejected(ReportRejected),
}

impl fmt::Display for ReportFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoData => f.write_str("no ORCA data sent from the backend"),
            Self::Unreadable(reason) => write!(f, "the load report cannot be read: {reason:?}"),
            Self::Rejected(rejected) => rejected.fmt(f),
        }
    }
}

impl std::error::Error for ReportFailure {}

/// Why a load report was not taken in. It has changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportRejected {
    /// The policy does not go by reports.
    NotWanted,
    /// The host is gone.
    UnknownHost,
    /// `rps_fractional` is not more than 0, so that there is nothing to weigh.
    Qps,
    /// The utilization is not more than 0.
    Utilization,
    /// A number that is none, or infinite, or negative; `behavior: native` only.
    NotFinite,
    /// The host reports on a stream of its own, which is preferred; `behavior: native` only.
    Streamed,
}

impl fmt::Display for ReportRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWanted => "the policy does not go by load reports",
            Self::UnknownHost => "the host is gone",
            Self::Qps => "QPS must be positive",
            Self::Utilization => "Utilization must be positive",
            Self::NotFinite => "load metrics must be finite and not negative",
            Self::Streamed => "the host's reports on a stream are preferred",
        })
    }
}

impl std::error::Error for ReportRejected {}

/// What an attempt to take a report in counts as; `None` if there was none.
pub(crate) fn counter(outcome: Result<(), ReportFailure>) -> Option<Counter> {
    match outcome {
        Ok(()) => Some(Counter::ReportsAccepted),
        Err(ReportFailure::NoData) => None,
        Err(ReportFailure::Unreadable(_)) => Some(Counter::ReportsUnreadable),
        Err(ReportFailure::Rejected(rejected)) => Some(match rejected {
            ReportRejected::NotWanted | ReportRejected::UnknownHost | ReportRejected::Streamed => {
                Counter::ReportsIgnored
            }
            ReportRejected::Qps => Counter::ReportsWithoutQps,
            ReportRejected::Utilization => Counter::ReportsWithoutUtilization,
            ReportRejected::NotFinite => Counter::ReportsNotFinite,
        }),
    }
}

impl Reports {
    /// `None` if nobody goes by reports.
    pub(crate) fn new(
        behavior: Behavior,
        weigher: Option<&Arc<Weigher>>,
        gauge: Option<&Arc<Gauge>>,
    ) -> Option<Self> {
        let is_wanted = weigher.is_some() || gauge.is_some();
        is_wanted.then(|| Self { behavior, weigher: weigher.cloned(), gauge: gauge.cloned() })
    }

    /// Takes the report of a response of the host in `slot` in.
    pub(crate) fn take_response(
        &self,
        slot: u32,
        response: &ResponseLoad<'_>,
        parser: &mut Parser,
        now_ns: u64,
    ) -> Result<(), ReportFailure> {
        response.read(parser, self.behavior, |report| match report {
            Ok(report) => {
                self.take(slot, &report, now_ns, Origin::Response).map_err(ReportFailure::Rejected)
            }
            Err(ReportError::NoData) => Err(ReportFailure::NoData),
            Err(error) => Err(ReportFailure::Unreadable(error.reason())),
        })
    }

    /// Takes a report of the host in `slot` in. If one policy refuses it the other takes it all the
    /// same.
    pub(crate) fn take(
        &self,
        slot: u32,
        report: &Report<'_>,
        now_ns: u64,
        origin: Origin,
    ) -> Result<(), ReportRejected> {
        let gauge = self.gauge.as_ref();
        let gauged = gauge.map_or(Ok(()), |it| it.take(slot, report, now_ns, origin));
        let weigher = self.weigher.as_ref();
        weigher.map_or(Ok(()), |it| it.take(slot, report, now_ns, origin)).and(gauged)
    }

    /// Takes note of how a request to the host in `slot` ended.
    #[inline]
    pub(crate) fn outcome(&self, slot: u32, succeeded: bool) {
        if let Some(weigher) = &self.weigher {
            weigher.records.outcome(slot, succeeded);
        }
    }

    /// What each policy has to keep of the host in `slot`.
    pub(crate) fn keep(&self, slot: u32, now_ns: u64) -> impl Iterator<Item = (Consumer, Kept)> {
        Consumer::ALL.into_iter().filter_map(move |consumer| {
            let kept = self.records(consumer)?.keep(slot, now_ns)?;
            // For people, and what Envoy makes of numbers that are none.
            let utilization = Some(kept.utilization).filter(|&it| is_sound(it)).unwrap_or(0.0);
            Some((consumer, Kept { utilization, ..kept }))
        })
    }

    /// Takes over what a policy has kept of the host in `slot`, unless it has reported; says whether
    /// it did. Without such a policy, or if it makes nothing of it, nothing happens.
    pub(crate) fn restore(&self, slot: u32, consumer: Consumer, kept: Kept, now_ns: u64) -> bool {
        let value = match (self.behavior, consumer) {
            // In native no host weighs nothing.
            (Behavior::Native, Consumer::Weights) => {
                Some(kept.value).filter(|value| value.abs() >= f64::from(f32::MIN_POSITIVE))
            }
            (Behavior::Envoy, Consumer::Weights) => Weigher::whole(kept.value),
            (_, Consumer::Localities) => Some(kept.value),
        };
        let restore = |value| {
            self.records(consumer)?.restore(slot, Kept { value, ..kept }, now_ns).then_some(())
        };
        value.and_then(restore).is_some()
    }

    fn records(&self, consumer: Consumer) -> Option<&Records> {
        match consumer {
            Consumer::Weights => self.weigher.as_ref().map(|it| &*it.records),
            Consumer::Localities => self.gauge.as_ref().map(|it| &*it.records),
        }
    }

    /// The last report of the host in `slot`, for people: as it was weighed, if it was.
    pub(crate) fn last(&self, slot: u32, now_ns: u64) -> Option<Sample> {
        match (&self.weigher, &self.gauge) {
            (Some(weigher), _) => {
                let last = weigher.records.last(slot, now_ns)?;
                let weight = Weighable::of(last.value).weight().unwrap_or(0.0);
                Some(Sample { value: weight, ..last })
            }
            (None, Some(gauge)) => Some(Sample { value: 0.0, ..gauge.records.last(slot, now_ns)? }),
            (None, None) => None,
        }
    }
}

/// The metrics that are a utilization, in the order in which they are asked.
#[derive(Debug)]
struct Utilization {
    names: MetricNames,
    /// Named metrics come before the application's own utilization.
    named_first: bool,
}

impl Utilization {
    fn of(&self, report: &Report<'_>) -> f64 {
        report.utilization(&self.names, self.named_first)
    }
}

/// A number that native takes in.
fn is_sound(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
