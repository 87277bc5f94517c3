//! The C++ layer: it has everything that C has, compiles in every dialect that it promises, and
//! does what its documentation says.

mod support;

use std::collections::HashSet;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const WARNINGS: [&str; 6] =
    ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];
const STANDARDS: [&str; 2] = ["-std=c++17", "-std=c++20"];

/// The files of a folder with this ending, by name.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = support::root().join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    assert!(!files.is_empty(), "{} has no {extension}", folder.display());
    files
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of all headers of the layer.
fn layer() -> String {
    files("include/plimsoll/cpp", "hpp").iter().map(|path| read(path)).collect()
}

fn example() -> PathBuf {
    support::root().join("ffi/examples/cpp/balancer.cpp")
}

fn compiler(name: &str, standard: &str) -> Command {
    let mut compiler = Command::new(name);
    compiler
        .arg(standard)
        .args(WARNINGS)
        .args(support::words("CXXFLAGS"))
        .arg("-I")
        .arg(support::include());
    compiler
}

/// The C++ compiler of the environment.
fn usual() -> String {
    support::compilers("c++").swap_remove(0)
}

/// Compiles C++ sources with the archive into a program, and runs it.
fn run_cpp(sources: &[PathBuf], name: &str, standard: &str, flags: &[&str]) -> String {
    support::run_program(&build(sources, name, standard, flags))
}

fn build(sources: &[PathBuf], name: &str, standard: &str, flags: &[&str]) -> PathBuf {
    let program = support::scratch("cpp").join(name);
    let mut compiler = compiler(&usual(), standard);
    compiler.args(flags).args(sources).arg(support::archive());
    compiler.args(support::LIBRARIES).arg("-o").arg(&program);
    support::run(&mut compiler);
    program
}

#[test]
fn a_cpp_program_gets_what_the_header_promises() {
    let output = run_cpp(&two_units("api"), "api", STANDARDS[1], &[]);
    assert!(output.ends_with("all passed\n"), "{output}");
}

/// The sources of the program: `main.cpp`, and one that includes all others, since the headers of
/// the standard library take most of a compiler's time.
fn two_units(name: &str) -> [PathBuf; 2] {
    let source = support::scratch("cpp").join(name).with_extension("cpp");
    let main = support::root().join("ffi/tests/cpp/main.cpp");
    let others = files("ffi/tests/cpp", "cpp").into_iter().filter(|path| *path != main);
    let includes = others.map(|path| format!("#include \"{}\"\n", path.display()));
    std::fs::write(&source, includes.collect::<String>()).expect("target is writable");
    [source, main]
}

const SANITIZERS: [&str; 3] = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Whether a program can be compiled with sanitizers here, and runs. It does not under valgrind.
fn has_sanitizers() -> bool {
    if !support::words("PLIMSOLL_C_RUNNER").is_empty() {
        return false;
    }
    let source = support::scratch("cpp").join("probe.cpp");
    std::fs::write(&source, "int main() {}\n").expect("the target folder can be written to");
    let program = source.with_extension("");
    let mut compiler = compiler(&usual(), STANDARDS[0]);
    compiler.args(SANITIZERS).arg(&source).arg("-o").arg(&program);
    let succeeds = |mut command: Command| command.output().is_ok_and(|it| it.status.success());
    succeeds(compiler) && succeeds(Command::new(&program))
}

#[test]
fn it_gets_it_without_an_error_of_memory_in_the_older_standard() {
    let flags: &[&str] = if has_sanitizers() { &SANITIZERS } else { &[] };
    let output = run_cpp(&two_units("sanitized"), "sanitized", STANDARDS[0], flags);
    assert!(output.ends_with("all passed\n"), "{output}");
}

#[test]
fn an_exception_never_leaves_a_callback() {
    let source = support::root().join("ffi/tests/cpp/throwing/main.cpp");
    let program = build(&[source], "throwing", STANDARDS[0], &[]);
    for callback in ["accept", "set_cookie", "host", "locality"] {
        let output = support::run(Command::new(&program).arg(callback));
        assert_eq!(output, "terminated\n", "{callback}");
    }
}

#[test]
fn a_result_that_is_asked_for_what_it_does_not_have_says_what_it_has() {
    let source = support::root().join("ffi/tests/cpp/aborting/main.cpp");
    let program = build(&[source], "aborting", STANDARDS[0], &[]);
    let cases = [
        ("cluster", "no value: load_assignment: expected an object"),
        ("pick", "no value: no_host"),
        ("success", "no error: the call succeeded"),
        ("success without a value", "no error: the call succeeded"),
    ];
    for (which, expected) in cases {
        let output = Command::new(&program).arg(which).output().expect("the program starts");
        assert_eq!(output.status.signal(), Some(SIGABRT), "{which}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, format!("plimsoll::Result: {expected}\n"), "{which}");
    }
}

/// On every Unix.
const SIGABRT: i32 = 6;

#[test]
fn an_older_standard_is_told_what_is_needed() {
    let source = support::scratch("cpp").join("older.cpp");
    std::fs::write(&source, "#include \"plimsoll/plimsoll.hpp\"\n").expect("target is writable");
    for name in support::compilers("c++") {
        let mut compiler = compiler(&name, "-std=c++14");
        let output = compiler.arg("-fsyntax-only").arg(&source).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}");
        assert!(said.contains("plimsoll.hpp needs C++17"), "{name}: {said}");
    }
}

#[test]
fn it_compiles_everywhere_and_without_exceptions_and_type_information() {
    let sources = two_units("syntax");
    for name in support::compilers("c++") {
        for standard in STANDARDS {
            let mut compiler = compiler(&name, standard);
            compiler.args(["-fno-exceptions", "-fno-rtti", "-fsyntax-only"]);
            support::run(compiler.args(&sources).arg(example()));
        }
    }
}

/// None relies on what another one happens to include.
#[test]
fn each_header_stands_alone() {
    for header in files("include/plimsoll/cpp", "hpp") {
        for name in support::compilers("c++") {
            let mut compiler = compiler(&name, STANDARDS[0]);
            compiler.args(["-fsyntax-only", "-x", "c++", "-include"]).arg(&header);
            support::run(compiler.arg("/dev/null"));
        }
    }
}

#[test]
fn the_example_balances() {
    let output = run_cpp(&[example()], "balancer", STANDARDS[0], &[]);
    let expected = "6000 requests served\n10.0.0.1:80 gets 50 %\n10.0.0.2:80 gets 50 %\n\
                    10.0.0.3:80 gets 0 %\n";
    assert_eq!(output, expected);
}

/// The blocks of a page in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    page.split(&start).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_program_of_the_documentation_runs() {
    let page = read(&support::root().join("docs/cpp-api.md"));
    let source = support::scratch("cpp").join("documented.cpp");
    std::fs::write(&source, blocks(&page, "cpp")[0]).expect("target is writable");
    let output = run_cpp(&[source], "documented", STANDARDS[0], &[]);
    assert_eq!(output, blocks(&page, "text")[0]);
}

/// The examples in the comments of a header: what is between `@code{.cpp}` and `@endcode`.
fn examples(header: &str) -> Vec<String> {
    let mut examples = Vec::new();
    for block in header.split("@code{.cpp}\n").skip(1) {
        let (code, _) = block.split_once("@endcode").expect("each @code has an @endcode");
        let lines = code.lines().map(|line| line.trim_start().trim_start_matches("///"));
        examples.push(lines.collect::<Vec<_>>().join("\n"));
    }
    examples
}

#[test]
fn every_example_compiles() {
    let page = read(&support::root().join("docs/cpp-api.md"));
    let mut all = examples(&layer());
    assert!(all.len() > 20, "the headers were not understood");
    all.extend(blocks(&page, "cpp").into_iter().skip(1).map(str::to_owned));
    let page = read(&support::root().join("README.md"));
    all.extend(blocks(&page, "cpp").into_iter().map(str::to_owned));
    let mut source = String::new();
    for header in ["array", "cassert", "iostream", "memory", "string", "thread"] {
        writeln!(source, "#include <{header}>").expect("a string can be written to");
    }
    source.push_str("#include \"plimsoll/plimsoll.hpp\"\n");
    for (number, example) in all.iter().enumerate() {
        let arguments = "[[maybe_unused]] plimsoll::Cluster& cluster, \
                         [[maybe_unused]] plimsoll::Worker& worker";
        writeln!(source, "void example_{number}({arguments}) {{\n{example}\n}}")
            .expect("a string can be written to");
    }
    let path = support::scratch("cpp").join("examples.cpp");
    std::fs::write(&path, source).expect("the target folder can be written to");
    for name in support::compilers("c++") {
        let mut compiler = compiler(&name, STANDARDS[0]);
        // Examples end where it is clear how they go on.
        compiler.args(["-Wno-unused-variable", "-Wno-unused-but-set-variable"]);
        support::run(compiler.arg("-fsyntax-only").arg(&path));
    }
}

/// In the comment before it. What two lines explain needs none.
#[test]
fn every_class_has_an_example() {
    let layer = layer();
    let lines: Vec<&str> = layer.lines().collect();
    let mut silent = String::new();
    for (number, line) in lines.iter().enumerate() {
        let declares = line.starts_with("class ") || line.starts_with("struct ");
        if !declares || line.ends_with(';') {
            continue;
        }
        let before = lines[..number].iter().rev();
        let comment = before.take_while(|line| line.starts_with("///") || line.starts_with("temp"));
        let comment: Vec<&str> = comment.copied().collect();
        if comment.len() > 2 && !comment.iter().any(|line| line.contains("@code")) {
            writeln!(silent, "{line}").expect("a string can be written to");
        }
    }
    assert!(silent.is_empty(), "no example:\n{silent}");
}

/// The members of the structures of the C header, but for those that only make room.
fn members(header: &str) -> Vec<&str> {
    let structs = header.split("typedef struct plimsoll_").skip(1);
    let bodies = structs.filter_map(|text| text.split_once(" {\n")?.1.split_once("\n}"));
    let lines = bodies.flat_map(|(body, _)| body.lines());
    let declared = lines.filter(|line| line.starts_with("    ") && line.ends_with(';'));
    let names = declared.filter_map(|line| match line.split_once("(*") {
        Some((_, function)) => function.split(')').next(),
        None => line.trim_end_matches(';').rsplit([' ', '*']).next(),
    });
    names.filter(|name| *name != "size" && *name != "reserved").collect()
}

#[test]
fn everything_that_c_has_is_there() {
    let (header, layer) = (support::header(), layer());
    let mut missing = String::new();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: HashSet<&str> = layer.split(|letter| !is_part(letter)).collect();
    let mut check = |name: &str| {
        if !words.contains(name) {
            writeln!(missing, "{name}").expect("a string can be written to");
        }
    };
    for function in support::declared(&header) {
        check(&function);
    }
    let constants = header.lines().filter_map(|line| {
        let name = line.trim().strip_prefix("#define ").unwrap_or(line.trim());
        let name = name.split([' ', '(', ',']).next()?;
        name.starts_with("PLIMSOLL_").then_some(name)
    });
    // The first are C's own way, and the versions are the header's.
    let own = ["_H", "_MUST_USE", "_STR", "_STR_INIT", "_VERSION_MAJOR", "_VERSION_MINOR"];
    for constant in constants.filter(|name| !name.starts_with("PLIMSOLL_VERSION_PATCH")) {
        if !own.iter().any(|name| constant == format!("PLIMSOLL{name}")) {
            check(constant);
        }
    }
    let members = members(&header);
    assert!(members.len() > 60, "the header was not understood: {members:?}");
    for member in members {
        check(member);
    }
    assert!(missing.is_empty(), "not in the C++ layer:\n{missing}");
}
