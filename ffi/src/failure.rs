//! What a call that failed knows of it.

use plimsoll::Error;
use plimsoll::config::ConfigError;
use plimsoll_envoy_config::ParseError;

use crate::status::Status;

/// Why a control call failed. Any thread may read and free it.
///
/// A call that takes `plimsoll_error **error` stores one there when it fails and NULL when it
/// succeeds; give NULL if the status is enough. It must be freed with `plimsoll_error_free`.
#[derive(Debug)]
pub struct Failure {
    pub(crate) status: Status,
    // Both end in a NUL that is not part of the text, so that C can print them with %s.
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Failure {
    /// Which value is at fault, as `plimsoll_error_field` says it.
    #[must_use]
    pub fn field(&self) -> &str {
        self.field.trim_end_matches('\0')
    }

    pub(crate) fn new(status: Status, field: &str, message: impl Into<String>) -> Self {
        Self { status, field: format!("{field}\0"), message: message.into() + "\0" }
    }

    pub(crate) fn null(argument: &str) -> Self {
        Self::new(Status::NullArgument, argument, format!("{argument} is NULL"))
    }

    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::new(Status::InvalidArgument, field, message)
    }

    /// What the engine says of a value, which is the member `member` for the caller.
    pub(crate) fn of_member(member: &str, error: &ConfigError) -> Self {
        let code = Error::Config(error.clone()).code();
        Self::new(Status::of_code(code), member, error.to_string())
    }

    /// A number that stands for nothing; `expected` says what does.
    pub(crate) fn unknown_number(field: &str, number: u32, expected: &str) -> Self {
        Self::invalid(field, format!("{number} stands for nothing here: {expected} is expected"))
    }

    /// A number that is larger than it may be.
    pub(crate) fn too_large(field: &str, maximum: u32) -> Self {
        Self::invalid(field, format!("value must be less than or equal to {maximum}"))
    }
}

impl From<Status> for Failure {
    /// A failure that is all said by its status.
    fn from(status: Status) -> Self {
        Self::new(status, "", status.code().to_string_lossy())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(Status::of_code(error.code()), error.field(), error.to_string())
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Config(error) => Error::Config(error).into(),
            other => Self::new(Status::of_code(other.code()), "", other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poisoned_engine_is_a_status_of_its_own() {
        let failure = Failure::from(Error::Poisoned);
        assert_eq!(failure.status, Status::Poisoned);
        assert_eq!(failure.status.code(), c"poisoned");
    }

    #[test]
    fn every_error_of_the_engine_keeps_its_code() {
        let address = plimsoll::Address::from("10.0.0.1:80");
        let (why, other) = (plimsoll::ReportRejected::Qps, plimsoll::ReportRejected::NotWanted);
        let errors = [
            Error::UnknownHost { address: address.clone() },
            Error::HasData { address: address.clone() },
            Error::ReportRejected { address: address.clone(), why },
            Error::ReportRejected { address, why: other },
        ];
        for error in errors {
            let code = error.code();
            assert_eq!(Failure::from(error).status.code().to_str(), Ok(code));
        }
    }
}
