//! Why a text was refused.

use std::fmt;

use plimsoll::config::{ConfigError, Problem};

/// What is wrong with a text: its syntax, or a value in it.
///
/// ```
/// let error = plimsoll_envoy_config::parse_cluster("{\n  \"name\": }").unwrap_err();
/// assert_eq!(error.code(), "parse_error");
/// assert_eq!(error.to_string(), "line 2, column 11: expected value");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ParseError {
    /// The text is not JSON or YAML, has a key twice, or is too large or too deep for YAML.
    Syntax {
        /// The line, from 1; 0 when no place is known.
        line: usize,
        /// The column, from 1; 0 when no place is known.
        column: usize,
        /// What was found there.
        message: String,
    },
    /// The text is well-formed, and a value in it is refused.
    Config(ConfigError),
}

impl ParseError {
    /// The error's kind: `parse_error`, `unsupported` or `invalid_argument`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "parse_error",
            Self::Config(error) if matches!(error.problem(), Problem::Unsupported { .. }) => {
                "unsupported"
            }
            Self::Config(_) => "invalid_argument",
        }
    }

    /// The path of the refused value, as [`ConfigError::field`]; empty for a syntax error.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::Syntax { .. } => "",
            Self::Config(error) => error.field(),
        }
    }
}

impl fmt::Display for ParseError {
    /// The place, a colon, and the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line: 0, message, .. } => f.write_str(message),
            Self::Syntax { line, column, message } => {
                write!(f, "line {line}, column {column}: {message}")
            }
            Self::Config(error) if error.field().is_empty() => error.fmt(f),
            Self::Config(error) => write!(f, "{}: {error}", error.field()),
        }
    }
}

impl std::error::Error for ParseError {}

impl From<ConfigError> for ParseError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}
