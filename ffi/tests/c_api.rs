//! C programs against the archive: every function, and the program of the documentation.

mod support;

use std::fmt::Write;
use std::path::PathBuf;

fn sources(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| support::root().join("ffi/tests/c").join(name)).collect()
}

/// What is called, and what comes of it.
const CALLS: [&str; 24] = [
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
];

/// How the structs of the header lie in memory.
const LAYOUT: &str = "layout.c";

#[test]
fn a_c_program_gets_what_the_header_promises() {
    let names = [&CALLS[..], &[LAYOUT]].concat();
    let output = support::run_c(&sources(&names), "api");
    assert!(output.ends_with("all passed\n"), "{output}");
}

/// As a later version of this series might: every struct that may grow has.
#[test]
fn a_program_with_a_later_header_gets_the_same() {
    let folder = support::scratch("later");
    std::fs::create_dir_all(folder.join("plimsoll")).expect("target is writable");
    std::fs::write(folder.join("plimsoll/plimsoll.h"), grown(support::header()))
        .expect("target is writable");
    let output = support::run_c_with(&folder, &sources(&CALLS), "later");
    assert!(output.ends_with("all passed\n"), "{output}");
}

/// The header with another member at the end of each struct that a caller may start from a macro.
fn grown(mut header: String) -> String {
    let structs: Vec<String> = header
        .split("{sizeof(")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
        .collect();
    assert!(structs.len() > 20, "{structs:?}");
    for name in structs {
        let end = format!("\n}} {name};");
        assert_eq!(header.matches(&end).count(), 1, "{name} is declared");
        header = header.replace(&end, &format!("\n    uint64_t came_later;{end}"));
        let from = header.find(&format!("{{sizeof({name})")).expect("it was found there");
        header.insert_str(from + end_of_braces(&header[from..]), ", 0");
    }
    header
}

/// Where the brace is closed that the text begins with.
fn end_of_braces(text: &str) -> usize {
    let mut open = 0;
    let closes = |(_, letter): &(usize, char)| {
        open += i32::from(*letter == '{') - i32::from(*letter == '}');
        open == 0
    };
    text.char_indices().find(closes).expect("a macro is whole").0
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

/// The indented pieces of C of a page, without what is to be typed into a shell.
fn fragments(page: &str) -> Vec<String> {
    // Every other part is a program of its own.
    let text: Vec<&str> = page.split("```").step_by(2).collect();
    let lines = text.iter().flat_map(|part| part.lines());
    let mut fragments = vec![String::new()];
    for line in lines {
        let code = line.strip_prefix("    ");
        if code.is_none() && !line.is_empty() {
            fragments.push(String::new());
        } else if let Some(last) = fragments.last_mut() {
            last.push_str(code.unwrap_or_default());
            last.push('\n');
        }
    }
    fragments.retain(|fragment| fragment.contains(';'));
    fragments
}

/// The functions of a fragment, and the rest of it.
fn parted(fragment: &str) -> (String, String) {
    let (mut functions, mut rest, mut is_function) = (String::new(), String::new(), false);
    for line in fragment.lines() {
        is_function |= line.starts_with("static ");
        let part = if is_function { &mut functions } else { &mut rest };
        part.push_str(line);
        part.push('\n');
        is_function &= line != "}";
    }
    (functions, rest)
}

#[test]
fn the_fragments_of_the_documentation_compile() {
    let page = std::fs::read_to_string(support::root().join("docs/c-api.md")).expect("the page");
    let fragments = fragments(&page);
    assert!(fragments.len() > 15, "the page was not understood: {fragments:?}");
    let (functions, rests): (Vec<_>, Vec<_>) =
        fragments.iter().map(|fragment| parted(fragment)).unzip();
    let mut unit = format!("#include \"fragments.h\"\n{}", functions.concat());
    for (number, rest) in rests.iter().enumerate() {
        write!(unit, "int fragment_{number}(void) {{\n{rest}return 0;\n}}\n")
            .expect("a string can be written to");
    }
    let source = support::scratch("c").join("fragments.c");
    std::fs::write(&source, unit).expect("target is writable");
    let mut compiler = support::cc();
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"]);
    // They end where it is clear how they go on.
    compiler.args(["-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-but-set-variable"]);
    compiler.arg("-I").arg(support::include());
    compiler.arg("-I").arg(support::root().join("ffi/tests/c"));
    // Only a whole compilation looks for results that are not used.
    support::run(compiler.arg("-c").arg(&source).arg("-o").arg(source.with_extension("o")));
}

#[test]
fn the_program_of_the_front_page_runs() {
    let page = std::fs::read_to_string(support::root().join("README.md")).expect("the page");
    assert_eq!(run_program_of(&page, 0, "front_page"), "send the request to 10.0.0.1:80\n");
}
