//! One call: from the connection to its end.

use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use plimsoll::StreamEnd;
use tonic::client::Grpc;
use tonic::{Request, Status};

use crate::codec::RawReports;
use crate::connection::Connection;
use crate::message::OrcaLoadReportRequest;

/// The method that is called.
pub const STREAM_CORE_METRICS: &str = "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics";

/// A larger report ends its stream.
pub const MAX_FRAME_BYTES: usize = 64 * 1024;

/// Where a stream goes.
///
/// ```
/// use plimsoll_orca_oob::Target;
///
/// let target = Target { authority: "a.example".into(), ..Target::new("10.0.0.1:9001") };
/// assert_eq!(target.address, "10.0.0.1:9001");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What to connect to, as `host:port`; the port is the one of the reports.
    pub address: String,
    /// The `:authority` of the call.
    pub authority: String,
}

impl Target {
    /// An address that is its own authority.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        let address = address.into();
        Self { authority: address.clone(), address }
    }
}

/// Takes what a stream brings. A receiver that is slow holds its stream up.
pub trait Receiver: Send {
    /// A report: the bytes of an [`OrcaLoadReport`](crate::OrcaLoadReport), at least one.
    fn on_report(&mut self, report: Bytes) -> impl Future<Output = ()> + Send;

    /// A message of no bytes: a report in which everything is 0.
    fn on_empty(&mut self) -> impl Future<Output = ()> + Send;

    /// The end, always, once and last.
    fn on_end(&mut self, end: StreamEnd) -> impl Future<Output = ()> + Send;
}

/// Connects, calls [`STREAM_CORE_METRICS`] and receives until the end. To end it earlier, drop the
/// future: that closes the connection. There is no other limit of time.
///
/// It must run in a runtime of tokio that has time and I/O enabled.
pub async fn stream_core_metrics(
    target: &Target,
    interval: Duration,
    receiver: &mut impl Receiver,
) {
    let end = receive(target, interval, receiver).await.unwrap_or_else(|end| end);
    receiver.on_end(end).await;
}

/// Either side of the result is how it ended.
async fn receive(
    target: &Target,
    interval: Duration,
    receiver: &mut impl Receiver,
) -> Result<StreamEnd, StreamEnd> {
    let origin = origin(&target.authority).ok_or(StreamEnd::Broken)?;
    let connected = Connection::open(&target.address).await;
    let (connection, work) = connected.map_err(|_| StreamEnd::Broken)?;
    let client = Grpc::with_origin(connection, origin).max_decoding_message_size(MAX_FRAME_BYTES);
    tokio::select! {
        end = call(client, interval, receiver) => end,
        never = work => match never {},
    }
}

async fn call(
    mut client: Grpc<Connection>,
    interval: Duration,
    receiver: &mut impl Receiver,
) -> Result<StreamEnd, StreamEnd> {
    client.ready().await.map_err(|status| end_of(&status))?;
    let path = PathAndQuery::from_static(STREAM_CORE_METRICS);
    let response = client.server_streaming(Request::new(ask(interval)), path, RawReports).await;
    let mut reports = response.map_err(|status| end_of(&status))?.into_inner();
    while let Some(report) = reports.message().await.map_err(|status| end_of(&status))? {
        if report.is_empty() {
            receiver.on_empty().await;
        } else {
            receiver.on_report(report).await;
        }
    }
    Ok(StreamEnd::Status(0))
}

fn origin(authority: &str) -> Option<Uri> {
    let authority = Authority::try_from(authority).ok()?;
    Uri::builder().scheme(Scheme::HTTP).authority(authority).path_and_query("/").build().ok()
}

fn ask(interval: Duration) -> OrcaLoadReportRequest {
    let report_interval = prost_types::Duration::try_from(interval).ok();
    OrcaLoadReportRequest { report_interval, request_cost_names: Vec::new() }
}

/// A status with a cause was made here, of a connection that broke.
fn end_of(status: &Status) -> StreamEnd {
    match u32::try_from(i32::from(status.code())) {
        Ok(code) if status.source().is_none() => StreamEnd::from_status(code),
        _ => StreamEnd::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_authority_is_no_origin() {
        assert_eq!(origin("my_cluster").unwrap(), "http://my_cluster/");
        assert_eq!(origin("[::1]:80").unwrap(), "http://[::1]:80/");
        assert_eq!((origin("a b"), origin("")), (None, None));
    }
}
