//! The header compiles under every dialect that it promises, alone and included twice, and its
//! structs lie where the Rust side says.

mod support;

use std::path::Path;
use std::process::Command;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

fn compile(language: &str, standards: &[&str], source: &Path) {
    for compiler in support::compilers(language) {
        for standard in standards {
            let mut command = Command::new(&compiler);
            command.arg(format!("-std={standard}")).args(WARNINGS).args(["-x", language]);
            command.arg("-I").arg(support::include()).args(["-fsyntax-only"]).arg(source);
            support::run(&mut command);
        }
    }
}

const C: [&str; 3] = ["c99", "c11", "c17"];
const CXX: [&str; 4] = ["c++11", "c++14", "c++17", "c++20"];

#[test]
fn the_header_compiles_alone_and_twice() {
    for (name, times) in [("once.c", 1), ("twice.c", 2)] {
        let source = support::scratch("dialects").join(name);
        let text = "#include \"plimsoll/plimsoll.h\"\n".repeat(times);
        std::fs::write(&source, text).expect("the target folder can be written to");
        compile("c", &C, &source);
        compile("c++", &CXX, &source);
    }
}

#[test]
fn the_macros_work_and_the_structs_lie_where_they_should() {
    let source = support::root().join("ffi/tests/c/layout.c");
    compile("c", &C, &source);
    compile("c++", &CXX, &source);
}
