//! What hosts last reported: one record per host and consuming policy, written by any worker and
//! read by the control side.
//!
//! In `behavior: native` a record is [`Packed`]: value and time in one word, so that they cannot
//! be of two reports. Envoy's arithmetic needs all bits of both, so that in `behavior: envoy` a
//! record is [`Exact`]: two words under a sequence number.

mod exact;
mod packed;
mod table;

pub use exact::Exact;
pub use packed::Packed;
pub(crate) use table::Records;

/// One report as a policy keeps it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// What the policy made of the report: a weight, or a utilization.
    pub value: f64,
    /// The utilization that it was made from, for people.
    pub utilization: f64,
    /// When it came.
    pub now_ns: u64,
}

/// A record on its way to the same host of another cluster: times are ages, so that clocks need not
/// agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// As in [`Sample`].
    pub value: f64,
    /// As in [`Sample`].
    pub utilization: f64,
    /// How old the last report is.
    pub age_ns: u64,
    /// How old the first one is.
    pub known_ns: u64,
}

/// Where a report came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A response, or a call.
    Response,
    /// A stream of reports, the next of which should come within this time.
    Stream {
        /// The time.
        fresh_ns: u64,
    },
}

/// How long a host is on probation and how long a report counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periods {
    /// From a host's first report on, so long its reports do not count.
    pub blackout_ns: u64,
    /// A report older than this does not count, and its host is new again; `None` for ever.
    pub expiration_ns: Option<u64>,
    /// Envoy asks for the blackout first, so that a host in blackout never expires.
    pub blackout_first: bool,
}

/// What a record is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// No report, or none that still counts.
    Unknown,
    /// The same, and the host's last request failed.
    Failing,
    /// Too soon after the first report.
    Blackout,
    /// The last report was too old; the host is new from now on.
    Expired,
    /// What the last report said.
    Usable {
        /// Its value.
        value: f64,
        /// How old it is.
        age_ns: u64,
    },
}

impl Verdict {
    /// The value, if it counts.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        if let Self::Usable { value, .. } = self { Some(value) } else { None }
    }
}

/// A host's record.
pub trait Record {
    /// A record of no report.
    fn new() -> Self;

    /// Takes a report in; false if it is left out, because the host has a stream whose last report
    /// is fresh: two sources with windows of their own would make a value swing between them. Any
    /// thread; never waits.
    fn report(&self, sample: Sample, origin: Origin) -> bool;

    /// Takes note of how a request ended; it counts as long as there is no report. Any thread; never
    /// waits.
    fn outcome(&self, succeeded: bool);

    /// Judges the record, and makes the host new again if its report has expired. Control side,
    /// one thread at a time.
    fn judge(&self, now_ns: u64, periods: Periods) -> Verdict;

    /// The last report, if there is one: its value and utilization, and how old it is. For people.
    fn last(&self, now_ns: u64) -> Option<Sample>;

    /// What there is to keep, if there is a report. Control side.
    fn keep(&self, now_ns: u64) -> Option<Kept>;

    /// Takes over what the same host's record had, unless there is a report; says whether it did. A
    /// report that comes meanwhile stays. Control side.
    fn restore(&self, kept: Kept, now_ns: u64) -> bool;

    /// Forgets everything, for a slot that is given to another host. Control side.
    fn forget(&self);
}

/// The order of the two questions that both kinds ask; `age_ns` is since the last report,
/// `known_ns` since the first.
fn verdict(value: f64, age_ns: u64, known_ns: Option<u64>, periods: Periods) -> Verdict {
    let is_expired = periods.expiration_ns.is_some_and(|expiration_ns| age_ns > expiration_ns);
    let is_new = known_ns.is_none_or(|known_ns| known_ns < periods.blackout_ns);
    match (is_new, is_expired) {
        (true, _) if periods.blackout_first => Verdict::Blackout,
        (_, true) => Verdict::Expired,
        (true, false) => Verdict::Blackout,
        (false, false) => Verdict::Usable { value, age_ns },
    }
}
