//! The sockets of Plimsoll's out-of-band load reports.
//!
//! The engine decides which hosts are to stream their reports, when to try again and when a stream
//! is silent; it opens no sockets. This crate does, with tokio and tonic: [`Driver`] carries out
//! what a [`Source`] asks for, which a [`Cluster`](plimsoll::Cluster) is, and passes on what
//! arrives. Whoever wants the call alone takes [`stream_core_metrics`].
//!
//! # Trade-offs
//!
//! * **A connection for each host**, without TLS, apart from the connections of the requests.
//! * **No clock and no policy**: a host that does not answer is waited for until the source closes
//!   its stream.
//! * **Reports are bytes.** The engine reads them; [`OrcaLoadReport`] is for servers and tests.

mod cluster;
mod codec;
mod connection;
mod driver;
mod message;
mod stream;

pub use driver::{Action, Driver, Source};
pub use message::{OrcaLoadReport, OrcaLoadReportRequest};
pub use stream::{MAX_FRAME_BYTES, Receiver, STREAM_CORE_METRICS, Target, stream_core_metrics};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
