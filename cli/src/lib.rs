//! The `plimsoll` tool as a library, so that tests and fuzzers can drive it without a process.
//!
//! [`replay`] runs files of operations against the engine on virtual time; [`explain`] tells what
//! a cluster's configuration does with traffic; [`simulate`] runs proxies and hosts in a closed
//! loop. The binary parses arguments and does nothing else.
//!
//! Not an interface for other programs: link the `plimsoll` crate instead, which has no text in
//! between.

pub mod explain;
pub mod replay;
pub mod simulate;
mod table;
