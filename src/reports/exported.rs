//! What hosts have reported, on its way to another cluster.

use std::fmt;
use std::str::FromStr;

use crate::config::{ConfigError, Problem};
use crate::host::Address;
use crate::records::Kept;

/// The first line; the number changes with the form.
const HEAD: &str = "plimsoll-reports 1";

/// What the hosts of a cluster have reported, for a cluster that takes its place: in the process
/// after a restart, or under another name. See [`Cluster::export_reports`](crate::Cluster::export_reports).
///
/// `Display` writes it as text, and `FromStr` reads that again: a head, and a line for each host
/// and policy. Times are ages, so that the clocks need not agree. Only the text's first line is
/// sure to stay; a library that writes another form refuses this one by it.
///
/// ```
/// use plimsoll::ExportedReports;
///
/// let none: ExportedReports = "plimsoll-reports 1\n".parse()?;
/// assert!(none.is_empty());
/// let error = "plimsoll-reports 9\n".parse::<ExportedReports>().unwrap_err();
/// assert_eq!(error.field(), "line 1");
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExportedReports {
    pub(crate) lines: Vec<Exported>,
}

/// The record of one host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exported {
    pub(crate) consumer: Consumer,
    pub(crate) address: Address,
    pub(crate) kept: Kept,
    /// How far the host's weight has followed its reports; `None` if it has not begun to.
    pub(crate) course: Option<f64>,
}

/// The policy that goes by a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consumer {
    /// Client-side weighted round robin.
    Weights,
    /// Load-aware routing by locality.
    Localities,
}

impl Consumer {
    pub(super) const ALL: [Self; 2] = [Self::Weights, Self::Localities];

    fn name(self) -> &'static str {
        match self {
            Self::Weights => "weight",
            Self::Localities => "locality",
        }
    }
}

impl ExportedReports {
    /// How many records there are: one for each host and policy.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether nobody has reported anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl fmt::Display for ExportedReports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { consumer, address, kept, course } = self;
        let Kept { value, utilization, age_ns, known_ns } = kept;
        write!(f, "{} {value:?} {utilization:?} {age_ns} {known_ns} ", consumer.name())?;
        match course {
            Some(course) => write!(f, "{course:?}")?,
            None => f.write_str("-")?,
        }
        write!(f, " {address}")
    }
}

impl FromStr for ExportedReports {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(mistake(1, "", format!("expected `{HEAD}`")));
        }
        let lines = (2..).zip(lines).map(|(number, line)| parse(number, line));
        Ok(Self { lines: lines.collect::<Result<_, _>>()? })
    }
}

/// Which numbers are right, and how that is said.
type Range = (fn(f64) -> bool, &'static str);

const ANY: Range = (|_| true, "");
const FROM_0: Range = (|value| value >= 0.0, " from 0");
const ABOVE_0: Range = (|value| value > 0.0, " above 0");

fn parse(number: usize, line: &str) -> Result<Exported, ConfigError> {
    let mut words = line.splitn(7, ' ');
    let mut word = |name| {
        let missing = || mistake(number, name, "missing".to_owned());
        words.next().filter(|word| !word.is_empty()).ok_or_else(missing).map(|word| (name, word))
    };
    let float = |(name, word): (&str, &str), (is_right, range): Range| {
        let value = word.parse().ok().filter(|&value: &f64| value.is_finite() && is_right(value));
        value.ok_or_else(|| mistake(number, name, format!("expected a finite number{range}")))
    };
    let whole = |(name, word): (&str, &str)| {
        let message = || "expected a whole number below 2^64".to_owned();
        word.parse().map_err(|_| mistake(number, name, message()))
    };
    let (_, consumer) = word("policy")?;
    let consumer = Consumer::ALL.into_iter().find(|it| it.name() == consumer);
    let unknown = || mistake(number, "policy", "expected weight or locality".to_owned());
    let consumer = consumer.ok_or_else(unknown)?;
    // A weight below 0 stands for a utilization alone.
    let of_value = if consumer == Consumer::Weights { ANY } else { FROM_0 };
    let kept = Kept {
        value: float(word("value")?, of_value)?,
        utilization: float(word("utilization")?, FROM_0)?,
        age_ns: whole(word("age_ns")?)?,
        known_ns: whole(word("known_ns")?)?,
    };
    let course = match word("course")? {
        (_, "-") => None,
        course => Some(float(course, ABOVE_0)?),
    };
    let (_, address) = word("address")?;
    Ok(Exported { consumer, address: address.into(), kept, course })
}

fn mistake(line: usize, column: &str, message: String) -> ConfigError {
    let error = ConfigError::new(column, Problem::Invalid { message });
    error.within(&format!("line {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(consumer: Consumer, course: Option<f64>, address: &str) -> Exported {
        let kept = Kept { value: 0.1 + 0.2, utilization: 1e-300, age_ns: u64::MAX, known_ns: 0 };
        Exported { consumer, address: address.into(), kept, course }
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let lines = vec![
            exported(Consumer::Weights, Some(123.456), "10.0.0.1:80"),
            exported(Consumer::Weights, None, "[::1]:80"),
            exported(Consumer::Localities, None, "a name with blanks "),
        ];
        let exported = ExportedReports { lines };
        assert_eq!(exported.to_string().parse(), Ok(exported));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let table = [
            ("", "line 1", "expected `plimsoll-reports 1`"),
            ("weight 1 1 1 1 - a", "line 1", "expected `plimsoll-reports 1`"),
            ("plimsoll-reports 1\n\n", "line 2.policy", "missing"),
            (
                "plimsoll-reports 1\nmood 1 1 1 1 - a",
                "line 2.policy",
                "expected weight or locality",
            ),
            (
                "plimsoll-reports 1\nweight NaN 1 1 1 - a",
                "line 2.value",
                "expected a finite number",
            ),
            (
                "plimsoll-reports 1\nweight 1 inf 1 1 - a",
                "line 2.utilization",
                "expected a finite number from 0",
            ),
            (
                "plimsoll-reports 1\nlocality -1 1 1 1 - a",
                "line 2.value",
                "expected a finite number from 0",
            ),
            (
                "plimsoll-reports 1\nweight 1 1 -1 1 - a",
                "line 2.age_ns",
                "expected a whole number below 2^64",
            ),
            (
                "plimsoll-reports 1\nweight 1 1 1 1.5 - a",
                "line 2.known_ns",
                "expected a whole number below 2^64",
            ),
            (
                "plimsoll-reports 1\nweight 1 1 1 1 x a",
                "line 2.course",
                "expected a finite number above 0",
            ),
            ("plimsoll-reports 1\nweight 1 1 1 1 - ", "line 2.address", "missing"),
            ("plimsoll-reports 1\nweight 1 1 1 1 -", "line 2.address", "missing"),
        ];
        for (text, field, message) in table {
            let error = text.parse::<ExportedReports>().unwrap_err();
            assert_eq!((error.field(), error.to_string().as_str()), (field, message), "{text:?}");
        }
    }
}
