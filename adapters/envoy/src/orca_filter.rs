//! The filter `orca`, for the upstream filter chain of a cluster: tells the engine what each attempt
//! at a request says of its host's load, and that it ended.

use plimsoll::orca::{HEADER, HEADER_BIN, Headers};
use plimsoll::{Outcome, ReportFailure};

use crate::host::{Place, Stream};
use crate::threads::{self, Pending, SharedSeat};

/// One attempt at a request.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// The pick that it belongs to; `None` if the policy was not asked.
    pending: Option<Pending>,
    /// Whether a report could be read.
    has_reported: bool,
    outcome: Outcome,
}

impl Attempt {
    /// For the pick that this thread made last.
    pub(crate) fn new() -> Self {
        let pending = threads::take();
        if let Some(Pending { seat, .. }) = &pending {
            seat.borrow().filters();
        }
        Self { pending, has_reported: false, outcome: Outcome::Error }
    }

    /// Looks at headers or trailers of the response.
    pub(crate) fn response(&mut self, stream: &impl Stream, place: Place) {
        self.pending.take_if(|pending| pending.is_off(stream.upstream_address()));
        let Some(seat) = self.seat(stream) else { return };
        let wants = seat.borrow().engine().wants;
        if wants.ends && place == Place::ResponseHeaders {
            self.outcome = outcome(stream);
        }
        if wants.reports && !(wants.first_report && self.has_reported) {
            self.report(&seat, stream, place);
        }
    }

    fn report(&mut self, seat: &SharedSeat, stream: &impl Stream, place: Place) {
        let headers = Headers {
            binary: stream.header(place, HEADER_BIN),
            text: stream.header(place, HEADER),
        };
        if headers.is_empty() {
            return;
        }
        let Some(address) = stream.upstream_address() else { return };
        let pick = self.pending.as_ref().map(|pending| pending.pick);
        let result = seat.borrow_mut().report(pick, address, headers);
        self.has_reported =
            !matches!(result, Err(ReportFailure::NoData | ReportFailure::Unreadable(_)));
    }

    fn seat(&self, stream: &impl Stream) -> Option<SharedSeat> {
        match &self.pending {
            Some(pending) => Some(SharedSeat::clone(&pending.seat)),
            None => threads::seat_of(stream.cluster_name()?),
        }
    }

    /// The attempt is over.
    pub(crate) fn end(self) {
        if let Some(Pending { seat, pick }) = self.pending {
            seat.borrow_mut().end(pick, self.outcome);
            seat.borrow().publish();
        }
    }
}

/// How a request went, by the headers of its response.
pub(crate) fn outcome(stream: &impl Stream) -> Outcome {
    let status = stream.header(Place::ResponseHeaders, ":status");
    let is_failure = status.is_some_and(|status| status.first() == Some(&b'5'));
    if is_failure { Outcome::Error } else { Outcome::Success }
}
