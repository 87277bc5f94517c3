//! The TEXT form: `name=value` or `name:value`, with commas between.
//!
//! //= envoy v1.40 source/common/orca/orca_parser.cc#tryCopyMetricToOrcaLoadReport
//!
//! The order of the checks shows in which error comes out: a name that stands there twice, then the
//! value, then whether there is such a metric.

use super::entries::Table;
use super::name::{Name, Scalar};
use super::number::{self, is_blank, trim};
use super::{MetricMap, Report, ReportError, TextError};

/// Reads a report; `table` is over `text` afterwards.
pub(super) fn parse<'a>(
    text: &'a [u8],
    table: &mut Table,
) -> Result<Report<'static>, ReportError<'a>> {
    let mut report = Report::default();
    let mut is_seen = [false; Scalar::COUNT];
    for Metric { name, start, value } in (Metrics { text, position: 0 }) {
        match Name::of(name) {
            Name::Scalar(scalar) => {
                if std::mem::replace(&mut is_seen[scalar as usize], true) {
                    return Err(TextError::Duplicate(name).into());
                }
                report.set(scalar, number(name, value)?);
            }
            Name::Entry(map @ (MetricMap::Utilization | MetricMap::NamedMetrics), key) => {
                let start = start + name.len() - key.len();
                let entry = table.entry(text, map, key, start);
                if matches!(entry, Ok((_, false))) {
                    return Err(TextError::Duplicate(name).into());
                }
                let number = number(name, value)?;
                match (map, entry) {
                    (MetricMap::Utilization, _) if key.is_empty() => {
                        return Err(TextError::EmptyUtilizationKey.into());
                    }
                    (_, _) if key.is_empty() => return Err(TextError::EmptyNamedMetricKey.into()),
                    (_, Ok((place, _))) => *place = number,
                    (_, Err(_)) => return Err(ReportError::TooManyMetrics),
                }
            }
            // It is there for the first time: otherwise the first one would have been the error.
            Name::Entry(..) | Name::Unknown => {
                number(name, value)?;
                return Err(TextError::UnsupportedName(name).into());
            }
        }
    }
    Ok(report)
}

/// The value of a metric, if it is one that TEXT takes.
#[inline]
fn number<'a>(name: &'a [u8], value: &'a [u8]) -> Result<f64, TextError<'a>> {
    if name.is_empty() {
        return Err(TextError::EmptyName);
    }
    if value.is_empty() {
        return Err(TextError::EmptyValue);
    }
    match number::parse(value).ok_or(TextError::Syntax { name, value })? {
        number if number.is_nan() => Err(TextError::NotANumber(name)),
        number if number.is_infinite() => Err(TextError::Infinite(name)),
        number if number < 0.0 => Err(TextError::Negative(name)),
        number => Ok(number),
    }
}

/// A metric as it stands in a text.
struct Metric<'a> {
    name: &'a [u8],
    /// Where the name starts.
    start: usize,
    value: &'a [u8],
}

/// The metrics of a text, from a position on.
struct Metrics<'a> {
    text: &'a [u8],
    position: usize,
}

impl<'a> Iterator for Metrics<'a> {
    type Item = Metric<'a>;

    #[inline]
    fn next(&mut self) -> Option<Metric<'a>> {
        loop {
            let rest = self.text.get(self.position..)?;
            let length = rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
            let token = &rest[..length];
            let blanks = token.iter().take_while(|&&byte| is_blank(byte)).count();
            let start = self.position + blanks;
            self.position += length + 1;
            let token = trim(&token[blanks..]);
            if !token.is_empty() {
                return Some(Metric::of(token, start));
            }
        }
    }
}

impl<'a> Metric<'a> {
    /// Splits a token at the first separator. Where nothing stands before it, what stands after
    /// it is the name.
    #[inline]
    fn of(token: &'a [u8], start: usize) -> Self {
        let is_separator = |&byte: &u8| matches!(byte, b'=' | b':');
        match token.iter().position(is_separator) {
            Some(0) => Self { name: &token[1..], start: start + 1, value: &[] },
            Some(index) => Self { name: &token[..index], start, value: &token[index + 1..] },
            None => Self { name: token, start, value: &[] },
        }
    }
}
