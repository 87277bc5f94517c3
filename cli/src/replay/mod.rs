//! Runs a replay: JSON Lines in, one operation a line; JSON Lines out, one result an operation.
//!
//! Operations run in order and on virtual time, so that the same file gives the same bytes
//! everywhere. One that fails gives an error result, has no effect, and the file goes on; a line
//! that is not an operation at all stops the run.

mod cluster;
mod expect;
mod hash;
mod line;
mod names;
mod op;
mod picks;
mod reports;
mod session;

use std::fmt;
use std::io::{self, BufRead, Write};

use plimsoll_json::text;
use serde_json::Value;

use self::line::Line;
use self::session::Session;

/// How a replay is run.
///
/// ```
/// let input = br#"{"op":"advance","ms":1,"cluster":"nowhere"}"#;
/// let mut output = Vec::new();
/// let options = plimsoll_cli::replay::Options::named("example");
/// plimsoll_cli::replay::run(&input[..], &mut output, &options).unwrap();
/// assert!(output.starts_with(br#"{"error":{"code":"invalid_argument","field":"cluster","#));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// What messages call the input.
    pub name: &'a str,
    /// Compare results with what the operations expect, and report mismatches in the output.
    pub check: bool,
    /// Leave results out of the output.
    pub quiet: bool,
    /// Hand each result on before the next line is read, for programs that wait for it.
    pub flush_each: bool,
}

impl<'a> Options<'a> {
    /// Plain options for an input of this name.
    #[must_use]
    pub fn named(name: &'a str) -> Self {
        Self { name, check: false, quiet: false, flush_each: false }
    }
}

/// What came of a whole replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Operations that ran, with or without success.
    pub operations: u64,
    /// Results that are not as expected; 0 unless checked.
    pub mismatches: u64,
}

/// Why a replay stopped before its end. What was printed so far stays.
#[derive(Debug)]
pub enum Stop {
    /// A line is not an operation.
    Malformed {
        /// The input's name.
        name: String,
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// The input could not be read.
    Read {
        /// The input's name.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The output could not be written.
    Write(io::Error),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { name, line, message } => write!(f, "{name}:{line}: {message}"),
            Self::Read { name, error } => write!(f, "{name}: {error}"),
            Self::Write(error) => write!(f, "cannot write results: {error}"),
        }
    }
}

impl std::error::Error for Stop {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Malformed { .. } => None,
            Self::Read { error, .. } | Self::Write(error) => Some(error),
        }
    }
}

impl From<io::Error> for Stop {
    /// Errors of the output; those of the input know its name.
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Runs a replay to its end, or to the first line that is not an operation.
///
/// # Errors
///
/// Why it stopped early.
pub fn run(
    mut input: impl BufRead,
    mut output: impl Write,
    options: &Options<'_>,
) -> Result<Summary, Stop> {
    let result = operations(&mut input, &mut output, options);
    output.flush()?;
    result
}

fn operations(
    input: &mut impl BufRead,
    output: &mut impl Write,
    options: &Options<'_>,
) -> Result<Summary, Stop> {
    let mut session = Session::default();
    let mut summary = Summary::default();
    let (mut text, mut number) = (Vec::new(), 0);
    loop {
        text.clear();
        let name = || options.name.to_owned();
        let read = input.read_until(b'\n', &mut text);
        if read.map_err(|error| Stop::Read { name: name(), error })? == 0 {
            return Ok(summary);
        }
        number += 1;
        let malformed = |message| Stop::Malformed { name: name(), line: number, message };
        let Some(line) = Line::parse(&text).map_err(malformed)? else { continue };
        summary.operations += 1;
        let mismatch = execute(&mut session, line, output, options, number)?;
        summary.mismatches += u64::from(mismatch);
        if options.flush_each {
            output.flush()?;
        }
    }
}

/// Runs one operation and writes what came of it. Returns whether it is not as expected.
fn execute(
    session: &mut Session,
    line: Line,
    output: &mut impl Write,
    options: &Options<'_>,
    number: u64,
) -> io::Result<bool> {
    let Line { id, cluster, expect, operation } = line;
    let (key, payload) = match session.execute(cluster.as_deref(), operation) {
        Ok((key, payload)) => (key, payload),
        Err(refused) => ("error", refused.to_json()),
    };
    let mismatch = expect.filter(|expect| options.check && !expect::matches(expect, &payload));
    let expected = mismatch.as_ref().map(|expect| {
        let (expected, got) = (text(expect), text(&payload));
        format!("{}:{number}: expected {expected} got {got}", options.name)
    });
    if !options.quiet {
        let id = id.map(|id| ("id".to_owned(), id));
        let result = id.into_iter().chain([(key.to_owned(), payload)]).collect();
        writeln!(output, "{}", text(&Value::Object(result)))?;
    }
    if let Some(expected) = &expected {
        writeln!(output, "{expected}")?;
    }
    Ok(expected.is_some())
}
