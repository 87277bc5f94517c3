//! Why a configuration or an update was refused.

use std::fmt;

/// A value that the engine does not accept: where it stands and what is wrong with it.
///
/// [`field`](Self::field) is the path of the value in Envoy's own messages, such as
/// `endpoints[2].lb_endpoints[0].load_balancing_weight`; `Display` gives Envoy's text where Envoy
/// has one.
///
/// ```
/// use plimsoll::config::ClusterConfig;
///
/// let config = ClusterConfig { healthy_panic_threshold: 101.0, ..ClusterConfig::new("api") };
/// let error = config.validate().unwrap_err();
/// assert_eq!(error.field(), "common_lb_config.healthy_panic_threshold");
/// assert_eq!(
///     error.to_string(),
///     "PercentValidationError.Value: value must be inside range [0, 100]"
/// );
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigError {
    field: String,
    problem: Problem,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// Smaller than Envoy's rule allows.
    BelowMinimum {
        /// Envoy's name of the violated rule.
        rule: &'static str,
        /// The smallest value that is accepted.
        minimum: u64,
    },
    /// Not larger than Envoy's rule demands.
    NotAbove {
        /// Envoy's name of the violated rule.
        rule: &'static str,
        /// Every accepted value is larger than this.
        bound: u64,
    },
    /// Larger than Envoy's rule allows.
    AboveMaximum {
        /// Envoy's name of the violated rule.
        rule: &'static str,
        /// The largest value that is accepted.
        maximum: u64,
    },
    /// Outside the range that Envoy's rule allows.
    OutsideRange {
        /// Envoy's name of the violated rule.
        rule: &'static str,
        /// The smallest value that is accepted.
        minimum: u64,
        /// The largest value that is accepted.
        maximum: u64,
    },
    /// A text that may not be empty.
    Empty {
        /// Envoy's name of the violated rule.
        rule: &'static str,
    },
    /// A percentage outside 0 to 100.
    PercentOutOfRange,
    /// A percentage that is not a number.
    PercentNotANumber,
    /// A value that must be there and is not.
    Required,
    /// A name that already stands elsewhere in the same message.
    Duplicate,
    /// Accepted by Envoy, not by this version: traffic would silently go elsewhere without it.
    Unsupported {
        /// What is not supported.
        what: String,
    },
    /// A field that Envoy's message does not have.
    UnknownField {
        /// The field's name as it was written.
        name: String,
    },
    /// A value of the wrong JSON type or form.
    WrongType {
        /// What stands in that place in a valid message.
        expected: &'static str,
    },
    /// Anything else, in Envoy's words where it has them.
    Invalid {
        /// The whole message.
        message: String,
    },
}

impl Problem {
    /// What is wrong with a percentage, if anything.
    ///
    /// ```
    /// use plimsoll::config::Problem;
    ///
    /// assert_eq!(Problem::of_percent(100.0), None);
    /// assert_eq!(Problem::of_percent(101.0), Some(Problem::PercentOutOfRange));
    /// ```
    #[must_use]
    pub fn of_percent(percent: f64) -> Option<Self> {
        match percent {
            _ if percent.is_nan() => Some(Self::PercentNotANumber),
            _ if !(0.0..=100.0).contains(&percent) => Some(Self::PercentOutOfRange),
            _ => None,
        }
    }
}

impl ConfigError {
    /// A problem with the value at `field`.
    #[must_use]
    pub fn new(field: impl Into<String>, problem: Problem) -> Self {
        Self { field: field.into(), problem }
    }

    /// The path of the value in Envoy's messages; empty when the text as a whole is at fault.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with the value.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The same problem one level further out: `prefix` goes before the path.
    ///
    /// ```
    /// use plimsoll::config::{ConfigError, Problem};
    ///
    /// let inner = ConfigError::new("priority", Problem::Required);
    /// assert_eq!(inner.within("endpoints[3]").field(), "endpoints[3].priority");
    /// ```
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        self.field = match (prefix.is_empty(), self.field.is_empty()) {
            (true, _) => self.field,
            (false, true) => prefix.to_owned(),
            (false, false) => format!("{prefix}.{}", self.field),
        };
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::BelowMinimum { rule, minimum } => {
                write!(f, "{rule}: value must be greater than or equal to {minimum}")
            }
            Problem::NotAbove { rule, bound } => {
                write!(f, "{rule}: value must be greater than {bound}")
            }
            Problem::AboveMaximum { rule, maximum } => {
                write!(f, "{rule}: value must be less than or equal to {maximum}")
            }
            Problem::OutsideRange { rule, minimum, maximum } => {
                write!(f, "{rule}: value must be inside range [{minimum}, {maximum}]")
            }
            Problem::Empty { rule } => {
                write!(f, "{rule}: value length must be at least 1 characters")
            }
            Problem::PercentOutOfRange => {
                f.write_str("PercentValidationError.Value: value must be inside range [0, 100]")
            }
            Problem::PercentNotANumber => f.write_str("Value not in the range of 0..100 range."),
            Problem::Required => f.write_str("value is required"),
            Problem::Duplicate => f.write_str("value appears twice"),
            Problem::Unsupported { what } => write!(f, "{what} is not supported"),
            Problem::UnknownField { name } => write!(f, "no such field: {name}"),
            Problem::WrongType { expected } => write!(f, "expected {expected}"),
            Problem::Invalid { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for ConfigError {}
