//! Times the engine against its peers, in paired slices: `paired [GROUP...]`, all groups without
//! arguments.

mod c;
mod cold;
mod evenness;
mod hashing;
mod layouts;
mod least_request;
mod localities;
mod locality_tails;
mod locality_ticks;
mod pick;
mod rebuild;
mod recomputation;
mod reports;
mod sheet;
mod snapshot;
mod stalled;
mod stores;
mod threads;
mod weighted;

use std::process::ExitCode;

const GROUPS: [(&str, fn()); 13] = [
    ("snapshot", snapshot::run),
    ("stalled", stalled::run),
    ("weighted", weighted::run),
    ("evenness", evenness::run),
    ("pick", pick::run),
    ("cold", cold::run),
    ("least_request", least_request::run),
    ("rebuild", rebuild::run),
    ("reports", reports::run),
    ("localities", localities::run),
    ("hashing", hashing::run),
    ("threads", threads::run),
    ("c", c::run),
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = asked.iter().find(|name| GROUPS.iter().all(|(group, _)| group != name)) {
        let known = GROUPS.map(|(group, _)| group).join(" ");
        eprintln!("there is no group {unknown}; there are: {known}");
        return ExitCode::FAILURE;
    }
    for (group, run) in GROUPS {
        if asked.is_empty() || asked.iter().any(|name| name == group) {
            println!("\n## {group}");
            run();
        }
    }
    ExitCode::SUCCESS
}
