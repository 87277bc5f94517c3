//! A debug build of the library notices what a release build trusts its callers with.

#![cfg(debug_assertions)]

mod support;

use std::process::{Command, Output};

fn make(mistake: &str) -> Output {
    let source = support::root().join("ffi/tests/c/misuse.c");
    let program = support::build_c(&[source], mistake);
    Command::new(&program).arg(mistake).output().expect("the program runs")
}

fn answers(mistake: &str) -> String {
    let output = make(mistake);
    assert!(output.status.success(), "{mistake}: {output:?}");
    String::from_utf8(output.stdout).expect("the program prints names")
}

#[test]
fn a_handle_that_is_not_alive_is_refused() {
    let expected = "misuse\ncluster: cluster is not a handle that is alive\n";
    assert_eq!(answers("use_after_free"), expected);
    assert_eq!(answers("take_one_for_another"), "misuse\n");
    let expected = "misuse: settings.ring_hash.hash_policies\nmisuse: cluster\n";
    assert_eq!(answers("configure_with_a_freed_handle"), expected);
}

#[test]
fn two_threads_in_one_worker_are_noticed_and_one_after_the_other_may() {
    assert_eq!(answers("use_from_two_threads"), "misuse\nok\n");
}

#[test]
fn a_child_process_may_open_its_own_and_not_use_what_it_inherits() {
    assert_eq!(answers("use_after_fork"), "misuse\nok\n");
}

#[test]
fn freeing_twice_ends_the_program() {
    let output = make("free_twice");
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("is freed, but is not a handle that is alive"), "{said}");
}
