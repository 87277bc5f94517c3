//! Compiles the peers (C++) and the loops that call the C interface (C).

fn main() {
    let peers =
        ["balancer.cc", "choosers.cc", "entry.cc", "hosts.cc", "least_request.cc", "tables.cc"];
    let callers = "peers/c_loops.c";
    for path in ["peers", "../include/plimsoll/plimsoll.h"] {
        println!("cargo::rerun-if-changed={path}");
    }
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .warnings_into_errors(true)
        .extra_warnings(true)
        .files(peers.map(|file| format!("peers/{file}")))
        .compile("peers");
    cc::Build::new()
        .std("c11")
        .opt_level(2)
        .warnings_into_errors(true)
        .extra_warnings(true)
        .include("../include")
        .file(callers)
        .compile("c_loops");
}
