//! Which header counts, and what form it has.
//!
//! //= envoy v1.40 source/common/orca/orca_parser.cc#parseOrcaLoadReportHeaders

use super::entries::Table;
use super::number::trim;
use super::wire::Failure;
use super::{InvalidJson, LoadReport, MAX_LENGTH, MAX_METRICS, MetricMap, Report, ReportError};
use super::{base64, text, wire};

/// The header that holds a report in one of three forms.
pub const HEADER: &str = "endpoint-load-metrics";

/// The header that holds a report in protobuf, and gRPC's metadata of that name.
pub const HEADER_BIN: &str = "endpoint-load-metrics-bin";

/// Bytes of a message that fit before the first one makes a parser's buffer larger.
const ROOM: usize = 1_024;
/// How much of a header in an unknown format is told.
const FORMAT_LENGTH: usize = 5;

/// A reader of JSON, which the engine does not have. It takes what follows `JSON `, at most
/// [`MAX_LENGTH`] bytes and not always UTF-8.
///
/// `plimsoll_envoy_config::parse_load_report` is one.
///
/// ```
/// use plimsoll::orca::{Headers, InvalidJson, LoadReport, Parser, ReadJson};
///
/// // Knows one report only.
/// fn read(json: &[u8]) -> Result<LoadReport, InvalidJson> {
///     if json == b"{}" { Ok(LoadReport::default()) } else { Err(InvalidJson::new("", "not {}")) }
/// }
/// let reader: &ReadJson = &read;
/// let headers = Headers::find([("endpoint-load-metrics", "JSON {}")]);
/// assert!(Parser::new().read(headers, Some(reader)).is_ok());
/// ```
pub type ReadJson = dyn Fn(&[u8]) -> Result<LoadReport, InvalidJson>;

/// The values of a response's headers, or trailers, that matter. Of several headers with the same
/// name only the first counts.
///
/// ```
/// use plimsoll::orca::Headers;
///
/// let response = [("Date", "today"), ("Endpoint-Load-Metrics", "TEXT eps=1")];
/// let headers = Headers::find(response);
/// assert_eq!(headers, Headers { text: Some(b"TEXT eps=1"), ..Headers::default() });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers<'a> {
    /// The first [`HEADER_BIN`]. Where there is one, nothing else counts, good or bad.
    pub binary: Option<&'a [u8]>,
    /// The first [`HEADER`].
    pub text: Option<&'a [u8]>,
}

impl<'a> Headers<'a> {
    /// Goes through names and values; the case of the names does not matter.
    #[must_use]
    pub fn find<N, V>(headers: impl IntoIterator<Item = (&'a N, &'a V)>) -> Self
    where
        N: AsRef<[u8]> + ?Sized + 'a,
        V: AsRef<[u8]> + ?Sized + 'a,
    {
        let mut found = Self::default();
        for (name, value) in headers {
            let is = |header: &str| name.as_ref().eq_ignore_ascii_case(header.as_bytes());
            if is(HEADER_BIN) {
                found.binary.get_or_insert(value.as_ref());
            } else if is(HEADER) {
                found.text.get_or_insert(value.as_ref());
            }
        }
        found
    }

    /// Whether neither header is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.binary.is_none() && self.text.is_none()
    }
}

/// Reads reports, one at a time. It owns the memory that this takes: about 2 KiB at first, and up
/// to 90 KiB after the largest reports that it takes, apart from the last report in JSON.
///
/// Thread: one at a time, like a worker. A report borrows its parser, so the next one can be read
/// when the last one is done with.
///
/// ```
/// use plimsoll::orca::{Headers, Parser, ReportError};
///
/// let mut parser = Parser::new();
/// let headers = Headers { binary: Some(b"CTMzMzMzM9M/"), text: Some(b"TEXT eps=1") };
/// assert_eq!(parser.read(headers, None).unwrap().cpu_utilization(), 0.3);
/// assert_eq!(parser.read(Headers::default(), None).unwrap_err(), ReportError::NoData);
/// ```
#[derive(Debug)]
pub struct Parser {
    /// What base64 stood for.
    message: Vec<u8>,
    /// The maps of the last report.
    table: Table,
    /// The last report that came in JSON.
    json: LoadReport,
}

impl Parser {
    /// A parser with room for common reports.
    #[must_use]
    pub fn new() -> Self {
        Self { message: Vec::with_capacity(ROOM), table: Table::new(), json: LoadReport::default() }
    }

    /// The report in a response's headers, or trailers. JSON is left to `json`, and refused without
    /// it. Blanks around a value are not part of it.
    ///
    /// # Errors
    ///
    /// [`ReportError::NoData`] if there is none, which is no mistake; any other if the one that
    /// counts is wrong. Others are not tried then.
    pub fn read<'a>(
        &'a mut self,
        headers: Headers<'a>,
        json: Option<&ReadJson>,
    ) -> Result<Report<'a>, ReportError<'a>> {
        let value = match headers {
            Headers { binary: Some(value), .. } => return self.binary(value),
            Headers { text, .. } => text.ok_or(ReportError::NoData)?,
        };
        check_length(value)?;
        match trim(value) {
            [b'T', b'E', b'X', b'T', b' ', text @ ..] => self.text(text),
            [b'B', b'I', b'N', b' ', base64 @ ..] => self.base64(base64),
            [b'J', b'S', b'O', b'N', b' ', text @ ..] => self.json(text, json),
            value => Err(ReportError::UnsupportedFormat(format_of(value))),
        }
    }

    /// The report in the value of an `endpoint-load-metrics-bin` header. Blanks around the value
    /// are not part of it.
    ///
    /// # Errors
    ///
    /// If the value is empty, too long, not base64 or not of a report.
    ///
    /// ```
    /// let mut parser = plimsoll::orca::Parser::new();
    /// assert_eq!(parser.binary(b"CTMzMzMzM9M/").unwrap().cpu_utilization(), 0.3);
    /// assert_eq!(
    ///     parser.binary(b"!").unwrap_err().to_string(),
    ///     "unable to decode ORCA binary header value: !"
    /// );
    /// ```
    pub fn binary<'a>(&'a mut self, value: &'a [u8]) -> Result<Report<'a>, ReportError<'a>> {
        check_length(value)?;
        self.base64(trim(value))
    }

    /// The report in TEXT, without the word.
    ///
    /// # Errors
    ///
    /// [`ReportError::Text`], or if there is too much.
    ///
    /// ```
    /// let mut parser = plimsoll::orca::Parser::new();
    /// assert_eq!(parser.text(b"eps=1").unwrap().eps(), 1.0);
    /// ```
    pub fn text<'a>(&'a mut self, text: &'a [u8]) -> Result<Report<'a>, ReportError<'a>> {
        check_length(text)?;
        self.table.clear();
        let report = text::parse(text, &mut self.table)?;
        Ok(report.with(self.table.entries(text)))
    }

    /// The report in a message of protobuf: gRPC metadata `endpoint-load-metrics-bin`, which comes
    /// decoded, or a message of an out-of-band stream. Where metadata has several values, gRPC
    /// takes none of them.
    ///
    /// # Errors
    ///
    /// [`ReportError::Message`], or if there is too much.
    ///
    /// ```
    /// use plimsoll::orca::{Parser, ReportError};
    ///
    /// let mut parser = Parser::new();
    /// let half = b"\x09\0\0\0\0\0\0\xe0\x3f";
    /// assert_eq!(parser.grpc(half).unwrap().cpu_utilization(), 0.5);
    /// assert_eq!(parser.grpc(b"foo-bar").unwrap_err(), ReportError::Message);
    /// ```
    pub fn grpc<'a>(&'a mut self, message: &'a [u8]) -> Result<Report<'a>, ReportError<'a>> {
        check_length(message)?;
        read(message, &mut self.table, ReportError::Message)
    }

    fn base64<'a>(&'a mut self, value: &'a [u8]) -> Result<Report<'a>, ReportError<'a>> {
        if value.is_empty() {
            return Err(ReportError::EmptyBinary);
        }
        if !base64::decode(value, &mut self.message) || self.message.is_empty() {
            return Err(ReportError::Base64(value));
        }
        read(&self.message, &mut self.table, ReportError::Protobuf(value))
    }

    fn json<'a>(
        &'a mut self,
        text: &'a [u8],
        read: Option<&ReadJson>,
    ) -> Result<Report<'a>, ReportError<'a>> {
        let none = || InvalidJson::new("", "nothing reads it here");
        let report =
            read.ok_or_else(none).and_then(|read| read(text)).map_err(ReportError::Json)?;
        let lengths = MetricMap::ALL.map(|map| report.map(map).len());
        if lengths.iter().sum::<usize>() > MAX_METRICS {
            return Err(ReportError::TooManyMetrics);
        }
        self.json = report;
        Ok(self.json.as_report())
    }
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

/// What a value in an unknown format starts with.
fn format_of(value: &[u8]) -> &[u8] {
    let start = &value[..value.len().min(FORMAT_LENGTH)];
    start.split(|&byte| byte == b' ').next().unwrap_or(start)
}

fn check_length(text: &[u8]) -> Result<(), ReportError<'_>> {
    if text.len() > MAX_LENGTH { Err(ReportError::TooLong(text.len())) } else { Ok(()) }
}

fn read<'a>(
    message: &'a [u8],
    table: &'a mut Table,
    malformed: ReportError<'a>,
) -> Result<Report<'a>, ReportError<'a>> {
    table.clear();
    match wire::parse(message, table) {
        Ok(report) => Ok(report.with(table.entries(message))),
        Err(Failure::Malformed) => Err(malformed),
        Err(Failure::TooManyMetrics) => Err(ReportError::TooManyMetrics),
    }
}
