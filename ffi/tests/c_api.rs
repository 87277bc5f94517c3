//! C programs against the archive: every function, and the program of the documentation.

mod support;

use std::path::PathBuf;

fn sources(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| support::root().join("ffi/tests/c").join(name)).collect()
}

#[test]
fn a_c_program_gets_what_the_header_promises() {
    let names = [
        "api.c",
        "open.c",
        "picks.c",
        "control.c",
        "runtime.c",
        "loads.c",
        "slow_start.c",
        "reports.c",
        "hosts.c",
        "localities.c",
        "buffers.c",
        "arguments.c",
        "growable.c",
        "growable_settings.c",
        "settings.c",
        "host_data.c",
        "threads.c",
        "hashes.c",
        "overrides.c",
        "logs.c",
        "scrapes.c",
        "streams.c",
        "json.c",
        "repeat.c",
        "layout.c",
    ];
    let output = support::run_c(&sources(&names), "api");
    assert!(output.ends_with("all passed\n"), "{output}");
}

/// A block of a page in this language.
fn block<'a>(page: &'a str, language: &str, number: usize) -> &'a str {
    let start = format!("```{language}\n");
    let block = page.split(&start).nth(number + 1).and_then(|rest| rest.split("```").next());
    block.unwrap_or_else(|| panic!("the page has a block {number} of {language}"))
}

/// Compiles and runs a C program of a page of the documentation.
fn run_program_of(page: &str, number: usize, name: &str) -> String {
    let source = support::scratch("c").join(format!("{name}.c"));
    std::fs::write(&source, block(page, "c", number)).expect("target is writable");
    support::run_c(&[source], name)
}

#[test]
fn the_programs_of_the_documentation_run() {
    let page = std::fs::read_to_string(support::root().join("docs/c-api.md")).expect("the page");
    for (number, name) in ["documented", "from_structs"].into_iter().enumerate() {
        assert_eq!(run_program_of(&page, number, name), block(&page, "text", number));
    }
}

#[test]
fn the_program_of_the_front_page_runs() {
    let page = std::fs::read_to_string(support::root().join("README.md")).expect("the page");
    assert_eq!(run_program_of(&page, 0, "front_page"), "send the request to 10.0.0.1:80\n");
}
