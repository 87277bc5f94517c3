//! Any text as an Envoy `ClusterLoadAssignment`. It gives hosts that the engine accepts, or an
//! error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_envoy_config::{ParseError, assignment_from_value, parse_assignment};

fuzz_target!(|text: &str| {
    match parse_assignment(text) {
        Ok(assignment) => {
            assignment.validate().expect("hosts in their ranges");
            for endpoint in assignment.endpoints.iter().flat_map(|group| &group.endpoints) {
                assert!(!endpoint.address.as_str().is_empty(), "a host without an address");
                assert!(endpoint.health_check_address.as_ref() != Some(&endpoint.address));
            }
            // The same message, parsed by a library that is less strict about its text.
            if let Ok(value) = serde_json::from_str(text) {
                assert_eq!(assignment_from_value(&value), Ok(assignment));
            }
        }
        Err(ParseError::Syntax { line, column, .. }) => {
            assert!(line <= text.len() + 1, "line {line}, column {column}");
        }
        Err(ParseError::Config(error)) => drop(error.to_string()),
    }
});
