//! YAML text, within limits: aliases cannot multiply a small file into a large one, and nesting
//! is bounded.

use serde_saphyr::{MessageFormatter, NonFiniteFloatPolicy, Options, UserMessageFormatter};

use crate::error::ParseError;
use crate::json::Document;

/// Enough for a million hosts; plain text, so the size of the file bounds it as well.
const MAX_NODES: usize = 50_000_000;
/// Envoy's deepest configuration of a cluster has about twenty levels.
const MAX_DEPTH: usize = 64;
/// What all aliases together may add. Ordinary files share a health check or two.
const MAX_ALIASED: usize = 1_000_000;

/// Reads one YAML document.
pub(crate) fn parse(text: &str) -> Result<serde_json::Value, ParseError> {
    match serde_saphyr::from_str_with_options::<Document>(text, options()) {
        Ok(Document(value)) => Ok(value),
        Err(error) => Err(syntax(&error)),
    }
}

/// Numbers that YAML 1.1 and 1.2 read differently (`0755`, `1_000`) stay text, which an integer
/// field then refuses; the booleans of YAML 1.1 stay booleans, as in Envoy. A float that JSON
/// cannot hold is an error, because it may be a name (`12e1234`) that lacks its quotes.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * MAX_NODES,
            max_nodes: MAX_NODES,
            max_depth: MAX_DEPTH,
            max_total_scalar_bytes: usize::MAX,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_ALIASED },
        strict_booleans: false,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    }
}

fn syntax(error: &serde_saphyr::Error) -> ParseError {
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (line, column) =
        error.location().map_or((0, 0), |at| (place(at.line()), place(at.column())));
    let message = UserMessageFormatter.format_message(error.without_snippet()).into_owned();
    ParseError::Syntax { line, column, message }
}
