//! The committed header is what the sources say, and says what it has to.

// A text of the library is a pointer, as for C.
#![allow(unsafe_code)]

mod support;

use std::ffi::CStr;
use std::fmt::Write;

use plimsoll_ffi::status::plimsoll_status_name;

/// In the order of the header.
const SOURCES: [&str; 37] = [
    "version",
    "status",
    "text",
    "failure",
    "error",
    "options",
    "request_hash",
    "hash_policy",
    "override_sources",
    "settings/policy",
    "settings/weighted",
    "settings/hashing",
    "settings/locality",
    "settings/override_host",
    "settings/mod",
    "assignment",
    "cluster",
    "control",
    "runtime",
    "health",
    "change",
    "load",
    "host_data",
    "hosts",
    "localities",
    "dump",
    "prometheus",
    "worker",
    "worker_options",
    "pick",
    "batch",
    "override_host",
    "picked",
    "reports",
    "streams",
    "handover",
    "json",
];

fn generated() -> String {
    let folder = support::root().join("ffi");
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(folder.join("src").join(source).with_extension("rs"));
    }
    let mut header = Vec::new();
    builder.generate().expect("the sources can be read").write(&mut header);
    String::from_utf8(header).expect("the sources are UTF-8")
}

#[test]
fn the_committed_header_is_what_the_sources_say() {
    let generated = generated();
    let path = support::include().join("plimsoll/plimsoll.h");
    if std::env::var_os("PLIMSOLL_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("include/ is writable");
        std::fs::write(&path, &generated).expect("include/ is writable");
    }
    let committed = support::header();
    let difference = committed.lines().zip(generated.lines()).find(|(old, new)| old != new);
    assert!(
        committed == generated,
        "{} is not what the sources say, first difference: {difference:?}\n\
         PLIMSOLL_BLESS=1 cargo test -p plimsoll-ffi --test header  writes it",
        path.display()
    );
}

#[test]
fn every_function_says_who_may_call_it_and_what_it_costs() {
    let header = support::header();
    let mut silent = String::new();
    for (name, comment) in support::functions(&header) {
        let cost = comment.split("Thread: ").nth(1).unwrap_or_default();
        if !(cost.contains("Allocates: ") && cost.contains("Blocks: ")) {
            writeln!(silent, "{name}").expect("a string can be written to");
        }
    }
    assert!(silent.is_empty(), "no line Thread, Allocates, Blocks:\n{silent}");
}

#[test]
fn every_constant_and_type_bears_the_prefix() {
    let header = support::header();
    for line in header.lines().map(str::trim_start) {
        if let Some(macro_name) = line.strip_prefix("#define ") {
            assert!(macro_name.starts_with("PLIMSOLL_"), "{line}");
        }
        if let Some((constant, _)) = line.split_once(" = ").filter(|_| line.ends_with(',')) {
            assert!(constant.starts_with("PLIMSOLL_STATUS_"), "{line}");
        }
        if let Some(kind) = line.strip_prefix("typedef ") {
            assert!(kind.split(' ').nth(1).is_some_and(|name| name.starts_with("plimsoll_")));
        }
    }
}

#[test]
fn every_status_of_the_header_has_its_name() {
    let header = support::header();
    let statuses = header.lines().filter_map(|line| {
        let (name, number) = line.trim().strip_prefix("PLIMSOLL_STATUS_")?.split_once(" = ")?;
        Some((number.trim_end_matches(',').parse().expect("a number"), name.to_lowercase()))
    });
    let statuses: Vec<(u32, String)> = statuses.collect();
    assert!(statuses.len() >= 22, "the header was not understood: {statuses:?}");
    for number in (0..1000).chain([u32::MAX]) {
        let known = statuses.iter().find(|status| status.0 == number);
        let expected = known.map_or("unknown", |status| &status.1);
        // SAFETY: the function gives a text that ends in a NUL and is never freed.
        let name = unsafe { CStr::from_ptr(plimsoll_status_name(number)) };
        assert_eq!(name.to_str(), Ok(expected), "status {number}");
    }
}
