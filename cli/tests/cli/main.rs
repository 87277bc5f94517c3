//! The tool as a person or a program meets it: arguments, files and standard input in; standard
//! output, standard error and exit code out.

mod arguments;
mod closed_loop;
mod explain;
mod malformed;
mod never_panics;
mod results;
mod sessions;
mod simulate;
mod support;
mod vectors;
