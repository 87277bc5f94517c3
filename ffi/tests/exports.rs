//! The archive exports what the header declares: no function too few, none too many.

mod support;

use std::process::Command;

#[test]
fn the_archive_exports_exactly_what_the_header_declares() {
    // An optimized archive carries LLVM's bitcode beside its code, and where clang is installed nm
    // would give each member to clang's linker plugin, which cannot read the bitcode of another
    // LLVM. Without a plugin nm reads the code.
    let mut nm = Command::new("nm");
    nm.args(["--plugin", "/dev/null", "--defined-only", "--extern-only"]).arg(support::archive());
    let symbols = support::run(&mut nm);
    let mut exported: Vec<String> = symbols
        .lines()
        .filter_map(|line| line.rsplit_once(" T "))
        .map(|(_, name)| name.trim_start_matches('_').to_owned())
        .filter(|name| name.starts_with("plimsoll_"))
        .collect();
    exported.sort();
    let declared = support::declared(&support::header());
    assert!(declared.len() > 20, "the header was not understood: {declared:?}");
    assert_eq!(exported, declared);
}
