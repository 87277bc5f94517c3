//! The filter `overflow`, for the downstream filter chain before the router: sends a request to a
//! host that is not healthy, if that is what the policy comes to.
//!
//! A policy inside Envoy may answer with healthy hosts only. Where degraded hosts have a part of the
//! traffic, or all hosts do because their priority panics, this filter picks in its place, and names
//! the host to the router if Envoy would not take it from the policy. For a request that it leaves
//! alone the policy answers with what was picked here.

use crate::host::Stream;
use crate::threads;

/// Looks at a request before it is routed.
pub(crate) fn request(stream: &impl Stream) {
    let Some(seat) = stream.cluster_name().and_then(threads::seat_of) else { return };
    let mut seat = seat.borrow_mut();
    if let Some(address) = seat.overflow() {
        stream.prefer_host(address);
    }
}
