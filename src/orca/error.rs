//! Why a report was refused, in Envoy's words.

use std::fmt;

use super::{MAX_LENGTH, MAX_METRICS};

/// Why there is no report. `Display` gives Envoy's text; bytes of the input that are not UTF-8 are
/// written as `\xe9`.
///
/// It borrows from the input, so that a report that is refused costs no more than one that is
/// taken. [`reason`](Self::reason) is for counting.
///
/// ```
/// use plimsoll::orca::{Headers, Parser, Reason, ReportError};
///
/// let mut parser = Parser::new();
/// let headers = Headers::find([("endpoint-load-metrics", "text eps=1")]);
/// let error = parser.read(headers, None).unwrap_err();
/// assert_eq!(error, ReportError::UnsupportedFormat(b"text"));
/// assert_eq!(error.to_string(), "unsupported ORCA header format: text");
/// assert_eq!(error.reason(), Reason::UnsupportedFormat);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReportError<'a> {
    /// The backend sent none. It is not a mistake, and not worth counting.
    NoData,
    /// The header starts with none of `TEXT `, `JSON ` and `BIN `; what it starts with, up to the
    /// first blank and at most 5 bytes.
    UnsupportedFormat(&'a [u8]),
    /// A binary header has no value.
    EmptyBinary,
    /// The value of a binary header is not base64, or stands for no bytes.
    Base64(&'a [u8]),
    /// The value of a binary header is base64, but not of a report.
    Protobuf(&'a [u8]),
    /// A message without base64 around it is not a report.
    Message,
    /// A metric in TEXT is wrong.
    Text(TextError<'a>),
    /// JSON is not a report.
    Json(InvalidJson),
    /// More than [`MAX_LENGTH`] bytes: how many.
    TooLong(usize),
    /// More than [`MAX_METRICS`] metrics in its maps.
    TooManyMetrics,
}

/// What is wrong with a metric in TEXT. Names and values are as they were written.
///
/// ```
/// use plimsoll::orca::{Parser, ReportError, TextError};
///
/// let mut parser = Parser::new();
/// let error = parser.text(b"eps=1,foo=1").unwrap_err();
/// assert_eq!(error, ReportError::Text(TextError::UnsupportedName(b"foo")));
/// assert_eq!(error.to_string(), "unsupported metric name: foo");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextError<'a> {
    /// The name stands there for the second time.
    Duplicate(&'a [u8]),
    /// No name.
    EmptyName,
    /// No value, or no `=` or `:`.
    EmptyValue,
    /// The value is not a number.
    Syntax {
        /// The metric's name.
        name: &'a [u8],
        /// What stands after it.
        value: &'a [u8],
    },
    /// The value is not a number, and says so.
    NotANumber(&'a [u8]),
    /// The value is infinite, or too large for a double.
    Infinite(&'a [u8]),
    /// The value is less than 0.
    Negative(&'a [u8]),
    /// `named_metrics.` without a key.
    EmptyNamedMetricKey,
    /// `utilization.` without a key.
    EmptyUtilizationKey,
    /// A metric that TEXT does not have.
    UnsupportedName(&'a [u8]),
}

/// What a reader of JSON has to say about JSON that is not a report; see
/// [`ReadJson`](super::ReadJson).
///
/// ```
/// use plimsoll::orca::InvalidJson;
///
/// let error = InvalidJson::new("eps", "expected a number");
/// assert_eq!(
///     error.to_string(),
///     "invalid JSON in xds.data.orca.v3.OrcaLoadReport @ eps: expected a number"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidJson {
    field: String,
    problem: String,
}

/// The kind of an error, for counters.
///
/// ```
/// use plimsoll::orca::{Reason, ReportError};
///
/// assert_eq!(ReportError::Base64(b"!").reason(), Reason::Base64);
/// assert_eq!(Reason::Base64.name(), "base64");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// No report.
    NoData,
    /// A header in an unknown format.
    UnsupportedFormat,
    /// A binary header that is empty or not base64.
    Base64,
    /// Bytes that are not a report.
    Protobuf,
    /// A wrong metric in TEXT.
    Text,
    /// Wrong JSON.
    Json,
    /// Too long, or too many metrics.
    TooLarge,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::NoData,
        Self::UnsupportedFormat,
        Self::Base64,
        Self::Protobuf,
        Self::Text,
        Self::Json,
        Self::TooLarge,
    ];

    /// A stable name: `no_data`, `unsupported_format`, `base64`, `protobuf`, `text`, `json` or
    /// `too_large`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoData => "no_data",
            Self::UnsupportedFormat => "unsupported_format",
            Self::Base64 => "base64",
            Self::Protobuf => "protobuf",
            Self::Text => "text",
            Self::Json => "json",
            Self::TooLarge => "too_large",
        }
    }
}

impl ReportError<'_> {
    /// The error's kind.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::NoData => Reason::NoData,
            Self::UnsupportedFormat(_) => Reason::UnsupportedFormat,
            Self::EmptyBinary | Self::Base64(_) => Reason::Base64,
            Self::Protobuf(_) | Self::Message => Reason::Protobuf,
            Self::Text(_) => Reason::Text,
            Self::Json(_) => Reason::Json,
            Self::TooLong(_) | Self::TooManyMetrics => Reason::TooLarge,
        }
    }
}

impl InvalidJson {
    /// A problem with the value at `field`; with the text as a whole if that is empty.
    #[must_use]
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

impl fmt::Display for ReportError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoData => f.write_str("no ORCA data sent from the backend"),
            Self::UnsupportedFormat(start) => {
                write!(f, "unsupported ORCA header format: {}", Lossy(start))
            }
            Self::EmptyBinary => f.write_str("ORCA binary header value is empty"),
            Self::Base64(value) => {
                write!(f, "unable to decode ORCA binary header value: {}", Lossy(value))
            }
            Self::Protobuf(value) => {
                write!(f, "unable to parse binaryheader to OrcaLoadReport: {}", Lossy(value))
            }
            Self::Message => f.write_str("invalid OrcaLoadReport payload"),
            Self::Text(error) => error.fmt(f),
            Self::Json(error) => error.fmt(f),
            Self::TooLong(length) => {
                write!(f, "an ORCA report of {length} bytes: more than {MAX_LENGTH}")
            }
            Self::TooManyMetrics => write!(f, "an ORCA report of more than {MAX_METRICS} metrics"),
        }
    }
}

impl fmt::Display for TextError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut value_cannot_be = |name: &[u8], what| {
            write!(f, "custom backend load metric value({}) cannot be {what}.", Lossy(name))
        };
        match self {
            Self::NotANumber(name) => value_cannot_be(name, "NaN"),
            Self::Infinite(name) => value_cannot_be(name, "infinity"),
            Self::Negative(name) => value_cannot_be(name, "negative"),
            Self::Syntax { name, value } => {
                let (name, value) = (Lossy(name), Lossy(value));
                write!(f, "unable to parse custom backend load metric value({name}): {value}")
            }
            Self::Duplicate(name) => {
                write!(f, "endpoint-load-metrics contains duplicate metric: {}", Lossy(name))
            }
            Self::EmptyName => f.write_str("metric names cannot be empty strings"),
            Self::EmptyValue => f.write_str("metric values cannot be empty strings"),
            Self::EmptyNamedMetricKey => f.write_str("named metric key is empty."),
            Self::EmptyUtilizationKey => f.write_str("utilization metric key is empty."),
            Self::UnsupportedName(name) => write!(f, "unsupported metric name: {}", Lossy(name)),
        }
    }
}

impl fmt::Display for InvalidJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, problem } = self;
        let at = if field.is_empty() { "" } else { " @ " };
        write!(f, "invalid JSON in xds.data.orca.v3.OrcaLoadReport{at}{field}: {problem}")
    }
}

impl std::error::Error for ReportError<'_> {}
impl std::error::Error for TextError<'_> {}
impl std::error::Error for InvalidJson {}

impl<'a> From<TextError<'a>> for ReportError<'a> {
    fn from(error: TextError<'a>) -> Self {
        Self::Text(error)
    }
}

/// Bytes as text: what is UTF-8 as it is, and other bytes as `\xe9`.
pub(super) struct Lossy<'a>(pub(super) &'a [u8]);

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            write!(f, "{}", chunk.invalid().escape_ascii())
        })
    }
}
