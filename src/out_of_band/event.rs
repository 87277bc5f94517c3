//! What goes into the streams of reports and what comes out: plain values.

use std::time::Duration;

/// Which host a stream belongs to: its slot, and which of the hosts that have had the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamHost {
    /// The slot of the host.
    pub slot: u32,
    /// Differs between the hosts that have the same slot one after the other.
    pub generation: u32,
}

/// What the owner of the sockets is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamAction {
    /// Open a connection and call `xds.service.orca.v3.OpenRcaService/StreamCoreMetrics` on it. If
    /// there still is a stream of this host, this one replaces it.
    Open {
        /// The host.
        host: StreamHost,
        /// The `report_interval` to ask for.
        interval: Duration,
    },
    /// Close the connection without waiting for anything; its end need not be told.
    Close {
        /// The host.
        host: StreamHost,
    },
}

/// One message of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFrame {
    /// A message of no bytes, which is how a report looks in which everything is 0.
    Empty,
    /// A report that every policy has taken.
    Accepted,
    /// A report that a policy refused, or that no policy was there to take.
    Refused,
    /// Bytes that are no report. The stream is given up.
    Malformed,
}

/// Why a stream is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// The server does not have the method (status 12, or HTTP 404 without a status).
    Unimplemented,
    /// Any other status of gRPC, 0 (OK) included: a stream of reports is not meant to end. It may
    /// be the client's own, say for a message that is too large.
    Status(u32),
    /// There is no status: no connection, a reset, a GOAWAY.
    Broken,
}

impl StreamEnd {
    /// The end that a status of gRPC stands for.
    ///
    /// ```
    /// use plimsoll::StreamEnd;
    ///
    /// assert_eq!(StreamEnd::from_status(12), StreamEnd::Unimplemented);
    /// assert_eq!(StreamEnd::from_status(14), StreamEnd::Status(14));
    /// ```
    #[must_use]
    pub fn from_status(code: u32) -> Self {
        match code {
            UNIMPLEMENTED => Self::Unimplemented,
            _ => Self::Status(code),
        }
    }

    /// Whether another attempt would end in the same way.
    pub(super) fn is_unimplemented(self) -> bool {
        matches!(self, Self::Unimplemented | Self::Status(UNIMPLEMENTED))
    }
}

/// The number of the status.
const UNIMPLEMENTED: u32 = 12;

/// What the streams of a cluster have counted. The names are Envoy's, after `lb_orca_oob.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamStats {
    /// Reports with at least one byte.
    pub reports_received: u64,
    /// Those of them that a policy refused, or that no policy was there to take.
    pub report_errors: u64,
    /// Streams that ended or were given up, but for those whose host was removed and those that
    /// `stream_terminated` counts.
    pub stream_failures: u64,
    /// Streams that ended because the server does not have the method.
    pub stream_terminated: u64,
    /// A gauge: hosts that have a stream or wait for one. A host whose server does not have the
    /// method is none of them (in native until its next attempt).
    pub active_sessions: u64,
}
