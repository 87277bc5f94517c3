//! The filter `overflow`, for the downstream filter chain before the router: sends requests to hosts
//! that need not be healthy, if that is what the policy comes to.
//!
//! A policy inside Envoy may answer with healthy hosts only. While degraded hosts have a part of the
//! traffic, or all hosts do because their priority panics, this filter picks in its place, healthy
//! hosts as well, so that each request takes one pick and the parts are right. It names the host to
//! the router, which then does not ask the policy, unless Envoy does not let that host through.

use plimsoll::Outcome;

use crate::host::Stream;
use crate::orca_filter::outcome;
use crate::threads::{self, Pending};

/// One request.
#[derive(Debug)]
pub(crate) struct Detour {
    /// The pick that was made for it.
    pending: Option<Pending>,
    outcome: Outcome,
}

impl Detour {
    pub(crate) fn new() -> Self {
        Self { pending: None, outcome: Outcome::Error }
    }

    /// Looks at the request before it is routed.
    pub(crate) fn request(&mut self, stream: &impl Stream) {
        threads::settle();
        let Some(seat) = stream.cluster_name().and_then(threads::seat_of) else { return };
        let named = seat.borrow_mut().overflow(|address| stream.prefer_host(address));
        self.pending = named.map(|pick| Pending { seat, pick });
    }

    /// Looks at the headers of the response.
    pub(crate) fn response(&mut self, stream: &impl Stream) {
        // Envoy may have passed the named host over, or tried again.
        self.pending.take_if(|pending| pending.is_off(stream.upstream_address()));
        if self.pending.as_ref().is_some_and(|pending| pending.pick.counted) {
            self.outcome = outcome(stream);
        }
    }

    /// The request is over.
    pub(crate) fn end(self) {
        if let Some(Pending { seat, pick }) = self.pending {
            seat.borrow_mut().end(pick, self.outcome);
            // It may be that the policy is never asked.
            seat.borrow().publish();
        }
    }
}
