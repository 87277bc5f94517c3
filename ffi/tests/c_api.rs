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
        "hosts.c",
        "buffers.c",
        "arguments.c",
        "growable.c",
        "host_data.c",
        "threads.c",
        "layout.c",
    ];
    let output = support::run_c(&sources(&names), "api");
    assert!(output.ends_with("all passed\n"), "{output}");
}

#[test]
fn the_program_of_the_documentation_runs() {
    let page = support::root().join("docs/c-api.md");
    let page = std::fs::read_to_string(&page).expect("docs/c-api.md");
    let program = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    let source = support::scratch("c").join("documented.c");
    std::fs::write(&source, program.expect("the page has a program")).expect("target is writable");
    let output = support::run_c(&[source], "documented");
    let expected = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(output, expected.expect("the page says what the program prints"));
}
