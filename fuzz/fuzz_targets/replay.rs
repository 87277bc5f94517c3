//! Any text as a replay. It gives one result for each operation up to the first line that is none,
//! and the same bytes each time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_cli::replay::{Options, run};

/// Counts of picks that would take the fuzzer's time: 10 000 to 99 999 999. Seeds, weights and
/// times are longer or shorter.
fn has_large_counts(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).any(|digits| (5..=8).contains(&digits.len()))
}

fn output_of(text: &str) -> (Vec<u8>, Option<u64>) {
    let mut output = Vec::new();
    let summary = run(text.as_bytes(), &mut output, &Options::named("fuzz"));
    (output, summary.ok().map(|summary| summary.operations))
}

fuzz_target!(|text: &str| {
    if has_large_counts(text) {
        return;
    }
    let (output, operations) = output_of(text);
    if let Some(operations) = operations {
        let results = output.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(results as u64, operations, "a result for each operation");
    }
    assert_eq!(output_of(text).0, output, "the same bytes each time");
});
