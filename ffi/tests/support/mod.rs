//! What the tests that leave Rust share: where things are, the C compiler, and the archive.

// Each test program uses its own part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a workspace").into()
}

/// The folder that C code includes from.
pub(crate) fn include() -> PathBuf {
    root().join("include")
}

/// The committed header.
pub(crate) fn header() -> String {
    let path = include().join("plimsoll/plimsoll.h");
    std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; PLIMSOLL_BLESS=1 cargo test -p plimsoll-ffi --test header writes it",
            path.display()
        )
    })
}

/// A folder of this test's own.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the target folder can be written to");
    path
}

/// The C compiler: `CC`, or `cc`.
pub(crate) fn cc() -> Command {
    Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()))
}

/// The compilers of a language, `c` or `c++`: that of the environment, and clang where it is
/// installed.
pub(crate) fn compilers(language: &str) -> Vec<String> {
    let [variable, usual, other] =
        if language == "c" { ["CC", "cc", "clang"] } else { ["CXX", "c++", "clang++"] };
    let mut compilers = vec![std::env::var(variable).unwrap_or_else(|_| usual.to_owned())];
    if Command::new(other).arg("--version").output().is_ok() {
        compilers.push(other.to_owned());
    }
    compilers
}

/// The archive that C links, built in this test's own profile and target folder.
///
/// A test runs without the build lock, so that it may call cargo again; most of the time there is
/// nothing left to build.
pub(crate) fn archive() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("tmp is in the target");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--package", "plimsoll-ffi", "--message-format", "json"]);
    cargo.arg("--target-dir").arg(target).current_dir(root());
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = run(&mut cargo);
    let artifact = output.split('"').find(|text| text.ends_with("libplimsoll_ffi.a"));
    PathBuf::from(artifact.expect("cargo names the archive among what it built"))
}

/// Runs a command and gives its standard output; panics with all its output if it fails.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{stdout}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    stdout.into_owned()
}

/// Compiles C sources with the archive into a program, and runs it.
///
/// `CFLAGS` is added to the compiler's command line, and `PLIMSOLL_C_RUNNER`, such as
/// `valgrind -q --error-exitcode=1`, goes before the program's.
pub(crate) fn run_c(sources: &[PathBuf], name: &str) -> String {
    run_program(&build_c(sources, name))
}

/// The same with a header from another folder.
pub(crate) fn run_c_with(include: &Path, sources: &[PathBuf], name: &str) -> String {
    run_program(&build_c_with(include, sources, name))
}

/// Compiles C sources with the archive into a program.
pub(crate) fn build_c(sources: &[PathBuf], name: &str) -> PathBuf {
    build_c_with(&include(), sources, name)
}

fn build_c_with(include: &Path, sources: &[PathBuf], name: &str) -> PathBuf {
    let program = scratch("c").join(name);
    let mut compiler = cc();
    compiler
        .args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-g"])
        .args(words("CFLAGS"));
    compiler.arg("-I").arg(include).args(sources).arg(archive());
    compiler.args(LIBRARIES).arg("-o").arg(&program);
    run(&mut compiler);
    program
}

/// What rustc's `--print native-static-libs` says, without what a C compiler adds by itself.
pub(crate) const LIBRARIES: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

/// Runs a program that was compiled, behind `PLIMSOLL_C_RUNNER`.
pub(crate) fn run_program(program: &Path) -> String {
    let mut line = words("PLIMSOLL_C_RUNNER");
    line.push(program.to_str().expect("the target folder has a plain name").to_owned());
    run(Command::new(&line[0]).args(&line[1..]))
}

/// The words of an environment variable; none if it is not set.
pub(crate) fn words(variable: &str) -> Vec<String> {
    let value = std::env::var(variable).unwrap_or_default();
    value.split_whitespace().map(str::to_owned).collect()
}

/// The functions that a header declares.
pub(crate) fn declared(header: &str) -> Vec<String> {
    let mut names: Vec<String> = functions(header).map(|(name, _)| name).collect();
    names.sort();
    names
}

/// Each function of a header, with the comment before it.
pub(crate) fn functions(header: &str) -> impl Iterator<Item = (String, &str)> {
    // A declaration ends in `);`, and so does nothing else outside of comments but a member that is
    // a pointer to a function.
    header.split("/**").filter_map(|item| {
        let (comment, code) = item.split_once("*/")?;
        let code = &code[..code.find(");")?];
        let before = &code[..code.find('(')?];
        let name = before.rsplit([' ', '*', '\n']).next()?;
        name.starts_with("plimsoll_").then(|| (name.to_owned(), comment))
    })
}
