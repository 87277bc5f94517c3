//! Compiles the peers (C++) and the loops that call the C interface (C).

fn main() {
    let peers = ["peers/balancer.cc", "peers/entry.cc", "peers/hosts.cc"];
    let headers = ["peers/balancer.h", "peers/edf.h", "peers/hosts.h", "peers/random.h"];
    let callers = "peers/c_loops.c";
    let interface = "../include/plimsoll/plimsoll.h";
    for file in peers.iter().chain(&headers).chain(&[callers, interface]) {
        println!("cargo::rerun-if-changed={file}");
    }
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .warnings_into_errors(true)
        .extra_warnings(true)
        .files(peers)
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
