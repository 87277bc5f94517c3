//! What a call answers.
//!
//! The numbers are part of the interface: a released one is never given to another meaning, and
//! the gaps are room for more of the same kind.

use std::ffi::{CStr, c_char};

use plimsoll::{DoneError, NoHost, ReportFailure, ReportRejected};

/// How a call ended. `PLIMSOLL_STATUS_OK` is 0; everything else but `PLIMSOLL_STATUS_PANIC` means
/// that the call had no effect.
///
/// 1 to 15 are mistakes in the call, 16 to 31 answers about hosts and picks, 32 and up faults of
/// the library. New numbers may be added, so that a `switch` needs a default.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer that must not be NULL is NULL.
    NullArgument = 1,
    /// A value outside its range, or text that is not UTF-8.
    InvalidArgument = 2,
    /// Text that is neither JSON nor YAML; the message names line and column.
    ParseError = 3,
    /// Envoy accepts it, this version does not: without it traffic would go elsewhere.
    Unsupported = 4,
    /// The cluster has no host with this address.
    UnknownHost = 5,
    /// The host has data already.
    HasData = 6,
    /// The text does not fit; `*needed` says how many bytes it takes.
    BufferTooSmall = 7,
    /// A struct from a newer header sets a field that this library does not know.
    UnsupportedField = 8,

    /// No host is eligible where this pick was led.
    NoHost = 16,
    /// The priority is in panic and the cluster is told to fail then.
    NoHostPanic = 17,
    /// As many picks are peeked as may be; pick one of them first. Envoy's least request allows
    /// none, nor do `ring_hash` and `maglev`.
    PeekLimit = 18,
    /// The pick names no host any more: it was done before, or is not valid any longer.
    StalePick = 19,
    /// The pick was not counted, so that there is nothing to be done.
    NotCounted = 20,
    /// The response says nothing of its host's load.
    NoReport = 21,
    /// What a host says of its load cannot be read.
    ReportUnreadable = 22,
    /// What a host says of its load was not taken in: it has no requests per second or no
    /// utilization, or a number in it is none.
    ReportRejected = 23,
    /// There is nothing to hash the request by: pick without a hash.
    NoHash = 24,
    /// The cluster has none of the hosts that the request names.
    OverrideNotFound = 25,
    /// It has some of them, and their health is not allowed.
    OverrideNotAllowed = 26,
    /// What a host says of its load was not taken in, because the policy does not go by that.
    ReportNotWanted = 27,

    /// A control call panicked earlier: control calls refuse, workers keep serving.
    Poisoned = 32,
    /// The call panicked, maybe after it had its effect: a fault in the library, please report it.
    Panic = 33,
}

impl Status {
    const ALL: [Self; 23] = [
        Self::Ok,
        Self::NullArgument,
        Self::InvalidArgument,
        Self::ParseError,
        Self::Unsupported,
        Self::UnknownHost,
        Self::HasData,
        Self::BufferTooSmall,
        Self::UnsupportedField,
        Self::NoHost,
        Self::NoHostPanic,
        Self::PeekLimit,
        Self::StalePick,
        Self::NotCounted,
        Self::NoReport,
        Self::ReportUnreadable,
        Self::ReportRejected,
        Self::NoHash,
        Self::OverrideNotFound,
        Self::OverrideNotAllowed,
        Self::ReportNotWanted,
        Self::Poisoned,
        Self::Panic,
    ];

    /// The name in error objects, as replays and the command line print it.
    pub(crate) fn code(self) -> &'static CStr {
        match self {
            Self::Ok => c"ok",
            Self::NullArgument => c"null_argument",
            Self::InvalidArgument => c"invalid_argument",
            Self::ParseError => c"parse_error",
            Self::Unsupported => c"unsupported",
            Self::UnknownHost => c"unknown_host",
            Self::HasData => c"has_data",
            Self::BufferTooSmall => c"buffer_too_small",
            Self::UnsupportedField => c"unsupported_field",
            Self::NoHost => c"no_host",
            Self::NoHostPanic => c"no_host_panic",
            Self::PeekLimit => c"peek_limit",
            Self::StalePick => c"stale_pick",
            Self::NotCounted => c"not_counted",
            Self::NoReport => c"no_report",
            Self::ReportUnreadable => c"report_unreadable",
            Self::ReportRejected => c"report_rejected",
            Self::NoHash => c"no_hash",
            Self::OverrideNotFound => c"override_not_found",
            Self::OverrideNotAllowed => c"override_not_allowed",
            Self::ReportNotWanted => c"report_not_wanted",
            Self::Poisoned => c"poisoned",
            Self::Panic => c"panic",
        }
    }

    /// The status of an error that the engine or the reader of Envoy's messages calls `code`.
    pub(crate) fn of_code(code: &str) -> Self {
        match code {
            "parse_error" => Self::ParseError,
            "unsupported" => Self::Unsupported,
            "unknown_host" => Self::UnknownHost,
            "has_data" => Self::HasData,
            "report_rejected" => Self::ReportRejected,
            "report_not_wanted" => Self::ReportNotWanted,
            "poisoned" => Self::Poisoned,
            _ => Self::InvalidArgument,
        }
    }
}

/// The name of a status, such as `no_host`: the same word as `plimsoll_error_code`. `unknown` for a
/// number that is none.
///
/// `status` is a `plimsoll_status`, or any number that may be one. The text ends in a NUL, is never
/// NULL, and must not be freed.
///
/// Thread: any. Allocates: no. Blocks: no.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_status_name(status: u32) -> *const c_char {
    let known = Status::ALL.iter().find(|known| **known as u32 == status);
    known.map_or(c"unknown", |known| known.code()).as_ptr()
}

impl From<NoHost> for Status {
    fn from(reason: NoHost) -> Self {
        match reason {
            NoHost::Panic => Self::NoHostPanic,
            NoHost::PeekLimit => Self::PeekLimit,
            NoHost::OverrideNotFound => Self::OverrideNotFound,
            NoHost::OverrideNotAllowed => Self::OverrideNotAllowed,
            _ => Self::NoHost,
        }
    }
}

impl From<DoneError> for Status {
    fn from(error: DoneError) -> Self {
        match error {
            DoneError::NotCounted => Self::NotCounted,
            _ => Self::StalePick,
        }
    }
}

impl From<ReportFailure> for Status {
    fn from(failure: ReportFailure) -> Self {
        match failure {
            ReportFailure::NoData => Self::NoReport,
            ReportFailure::Unreadable(_) => Self::ReportUnreadable,
            ReportFailure::Rejected(ReportRejected::UnknownHost) => Self::StalePick,
            ReportFailure::Rejected(ReportRejected::NotWanted) => Self::ReportNotWanted,
            _ => Self::ReportRejected,
        }
    }
}
