//! Any text as an Envoy `Cluster`. It gives a cluster that the engine accepts, or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_envoy_config::{ParseError, cluster_from_value, parse_cluster};

fuzz_target!(|text: &str| {
    match parse_cluster(text) {
        Ok(file) => {
            file.config.validate().expect("settings in their ranges");
            if let Some(assignment) = &file.assignment {
                assignment.validate().expect("hosts in their ranges");
            }
            // The same message, parsed by a library that is less strict about its text.
            if let Ok(value) = serde_json::from_str(text) {
                assert_eq!(cluster_from_value(&value), Ok(file));
            }
        }
        Err(ParseError::Syntax { line, column, .. }) => {
            assert!(line <= text.len() + 1, "line {line}, column {column}");
        }
        Err(ParseError::Config(error)) => drop(error.to_string()),
    }
});
