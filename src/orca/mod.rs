//! ORCA load reports: what a backend says about its own load, read as Envoy 1.40 reads it.
//!
//! ```
//! use plimsoll::orca::{Headers, MetricNames, Parser};
//!
//! let response = [("content-type", "text/html"), ("endpoint-load-metrics", "TEXT eps=2,cpu_utilization=0.7")];
//! let mut parser = Parser::new(); // one for each worker
//! let report = parser.read(Headers::find(response), None).expect("a good report");
//! assert_eq!((report.cpu_utilization(), report.eps()), (0.7, 2.0));
//! assert_eq!(report.utilization(&MetricNames::default(), true), 0.7);
//! ```
//!
//! # Where a report comes from
//!
//! | source | form | call |
//! |---|---|---|
//! | header or trailer `endpoint-load-metrics-bin` | protobuf in base64 | [`Parser::read`] |
//! | header or trailer `endpoint-load-metrics` | `TEXT `, `JSON ` or `BIN ` and the report | [`Parser::read`] |
//! | gRPC metadata that is decoded already, out-of-band streams | protobuf | [`Parser::grpc`] |
//!
//! # What this costs
//!
//! * **Bounded.** A value of more than [`MAX_LENGTH`] bytes or with more than [`MAX_METRICS`]
//!   metrics in its maps is refused. No input panics, or takes more than `n log n` steps.
//! * **No allocation** for TEXT and protobuf once a parser's buffers are as large as its reports
//!   need; an error borrows from the input. JSON allocates.
//! * **One number per name.** In protobuf the last one counts, as everywhere; TEXT refuses a
//!   second one.
//! * **JSON is read elsewhere**, because the engine has no reader of it: see [`ReadJson`].
//!
//! What is in a report is not judged here: but for TEXT, which has rules of its own, numbers may
//! be negative, infinite or none at all, as in Envoy.
//!
//! envoy-differs: the limits, which Envoy leaves to its HTTP codec.

mod base64;
mod entries;
mod error;
mod header;
mod name;
mod number;
mod owned;
mod report;
mod text;
mod utilization;
mod wire;

pub use error::{InvalidJson, Reason, ReportError, TextError};
pub use header::{HEADER, HEADER_BIN, Headers, Parser, ReadJson};
pub use name::MetricMap;
pub use owned::LoadReport;
pub use report::{Metrics, Report};
pub use utilization::MetricNames;

/// The largest value or message that is read, in bytes: 64 KiB, Envoy's limit for out-of-band
/// reports.
pub const MAX_LENGTH: usize = 65_536;

/// The largest number of metrics in a report's three maps together.
pub const MAX_METRICS: usize = 1_024;
