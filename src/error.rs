//! Why a control call did nothing.

use std::fmt;

use crate::config::{ConfigError, Problem};
use crate::host::Address;
use crate::reports::ReportRejected;

/// Why a control call was refused. It has had no effect then.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A value outside its range.
    Config(ConfigError),
    /// The cluster has no such host.
    UnknownHost {
        /// The address that was given.
        address: Address,
    },
    /// The host already has data attached.
    HasData {
        /// Its address.
        address: Address,
    },
    /// A load report was not taken in.
    ReportRejected {
        /// The host's address.
        address: Address,
        /// Why.
        why: ReportRejected,
    },
    /// An earlier control call panicked: the model may be half changed. Workers go on with their
    /// last snapshot; open the cluster anew.
    Poisoned,
}

impl Error {
    /// A stable name: `invalid_argument`, `unsupported`, `unknown_host`, `has_data`,
    /// `report_rejected`, `report_not_wanted` or `poisoned`.
    ///
    /// ```
    /// use plimsoll::Error;
    ///
    /// let error = Error::UnknownHost { address: "10.0.0.9:80".into() };
    /// assert_eq!(error.code(), "unknown_host");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => match error.problem() {
                Problem::Unsupported { .. } => "unsupported",
                _ => "invalid_argument",
            },
            Self::UnknownHost { .. } => "unknown_host",
            Self::HasData { .. } => "has_data",
            Self::ReportRejected { why: ReportRejected::NotWanted, .. } => "report_not_wanted",
            Self::ReportRejected { .. } => "report_rejected",
            Self::Poisoned => "poisoned",
        }
    }

    /// The path of the value at fault; empty when no single value is.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::Config(error) => error.field(),
            Self::UnknownHost { address }
            | Self::HasData { address }
            | Self::ReportRejected { address, .. } => address.as_str(),
            Self::Poisoned => "",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::UnknownHost { address } => write!(f, "the cluster has no host {address}"),
            Self::HasData { address } => write!(f, "host {address} already has data attached"),
            Self::ReportRejected { why, .. } => why.fmt(f),
            Self::Poisoned => f.write_str("an earlier control call panicked"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Config(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}
