//! The committed header is what the sources say, and says what it has to.

mod support;

use std::fmt::Write;

/// In the order of the header.
const SOURCES: [&str; 13] = [
    "version",
    "status",
    "text",
    "error",
    "options",
    "cluster",
    "control",
    "change",
    "host_data",
    "dump",
    "worker",
    "pick",
    "batch",
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
