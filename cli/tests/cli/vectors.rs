//! Every ready-made replay gives what it expects.

use std::fs;
use std::path::Path;

use crate::support::{run, stderr, stdout};

#[test]
fn every_vector_gives_what_it_expects() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors"));
    let entries = fs::read_dir(folder).expect("the folder of vectors");
    let mut files: Vec<String> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| path.to_str().expect("a name in UTF-8").to_owned())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no vectors in {}", folder.display());

    let options = ["replay", "--check", "--quiet"];
    let arguments: Vec<&str> =
        options.into_iter().chain(files.iter().map(String::as_str)).collect();
    let output = run(&arguments, "");
    let (mismatches, errors) = (stdout(&output), stderr(&output));
    assert!(output.status.success(), "{}\n{errors}{mismatches}", output.status);
    assert_eq!(mismatches, "");
}
