//! The `plimsoll` command: arguments in, exit code out. What it does is in the library.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind as UsageError;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use plimsoll::config::Behavior;
use plimsoll::{HealthEvent, Locality};
use plimsoll_cli::explain::{Assumptions, Requests, explain};
use plimsoll_cli::replay::{self, Options, Stop, Summary};
use plimsoll_cli::simulate::{Miss, Simulation, simulate};

const EXAMPLES: &str = "\
Examples:
  plimsoll explain cluster.yaml
  plimsoll explain cluster.yaml --behavior envoy --health 10.0.0.1:80=fail
  plimsoll replay incident.jsonl
  plimsoll replay --check --quiet tests/vectors/*.jsonl
  plimsoll simulate examples/scenarios/uneven-demand.yaml --out figures";

const REPLAY_HELP: &str = "\
Run operations from a file and print what comes of each.

Each line of FILE is one operation, a JSON object such as {\"op\":\"pick\",\"n\":3}; blank lines and \
lines that start with # are skipped. Each operation prints one JSON line of result. Time is \
virtual: it passes with {\"op\":\"advance\",\"ms\":…} only, so that the same file always gives the same \
output.

Exit codes: 0 when all went well, also when operations gave error results; 1 when a result was not \
as expected (--check); 2 when a line is not an operation, a file cannot be read, or an argument is \
wrong.";

const REPLAY_EXAMPLES: &str = "\
Examples:
  plimsoll replay incident.jsonl            print the result of each operation
  some-program | plimsoll replay -          each result is written before the next line is read
  plimsoll replay --check --quiet *.jsonl   print only what is not as expected";

const EXPLAIN_HELP: &str = "\
Show what a cluster's configuration does with traffic.

FILE is one Cluster of Envoy's, with its load_assignment, in YAML or JSON; - is standard input. The \
output shows how traffic is spread over priorities, localities and hosts, and why a host gets none. \
Shares are exact, not measured.

Exit codes: 0, or 1 when the file cannot be read or is refused; 2 when an argument is wrong.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  plimsoll explain cluster.yaml
  plimsoll explain cluster.yaml --health '*=pass' --health 10.0.0.1:80=fail
  plimsoll explain cluster.yaml --up 10.0.0.1:80=30
  plimsoll explain cluster.yaml --header x-session:3f2a --attempt 2
  plimsoll explain cluster.yaml --behavior envoy --node-region eu --node-zone eu-1";

const SIMULATE_HELP: &str = "\
Run proxies and hosts in a closed loop, and see how load settles.

SCENARIO is a YAML file: a cluster, zones of hosts, proxies with their demand over time, and what \
happens to them; - is standard input. The engine is the real one, time is virtual, and the same \
file always gives the same figures. They are summed up on standard output; with --out, DIR gets \
files of comma-separated values and a page with plots, index.html. See docs/simulate.md.

Exit codes: 0; 1 when a figure is not as the scenario expects (--check); 2 when the scenario cannot \
be read or is refused, a file cannot be written, or an argument is wrong.";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  plimsoll simulate scenario.yaml
  plimsoll simulate scenario.yaml --out figures
  plimsoll simulate scenario.yaml --behavior native --check";

/// Plimsoll: see, replay and simulate what a load balancer decides.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, after_help = EXAMPLES)]
struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run operations from a file and print what comes of each.
    #[command(long_about = REPLAY_HELP, after_help = REPLAY_EXAMPLES)]
    Replay(Replay),
    /// Show what a cluster's configuration does with traffic.
    #[command(long_about = EXPLAIN_HELP, after_help = EXPLAIN_EXAMPLES)]
    Explain(Box<Explain>),
    /// Run proxies and hosts in a closed loop, and see how load settles.
    #[command(long_about = SIMULATE_HELP, after_help = SIMULATE_EXAMPLES)]
    Simulate(Simulate),
}

#[derive(Debug, Args)]
struct Replay {
    /// Also compare each result with the operation's "expect", and print what differs; takes
    /// several files.
    #[arg(long)]
    check: bool,
    /// Do not print results, only what --check finds.
    #[arg(short, long, requires = "check")]
    quiet: bool,
    /// A file of operations; - is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct Explain {
    /// A cluster in Envoy's form, YAML or JSON; - is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Whose decisions the cluster makes.
    #[arg(long, value_enum, default_value_t = BehaviorName::Native)]
    behavior: BehaviorName,
    /// Assume that a host's health changed: pass, fail, degraded, eject or uneject. ADDR is
    /// IP:PORT, or * for every host. May be given several times; later ones come after.
    #[arg(long, value_name = "ADDR=EVENT", value_parser = health_event)]
    health: Vec<(String, HealthEvent)>,
    /// Assume that a host came up SECONDS ago, for slow start; all others have been up for long.
    /// ADDR is IP:PORT. May be given several times.
    #[arg(long, value_name = "ADDR=SECONDS", value_parser = up)]
    up: Vec<(String, Duration)>,
    /// The region that the proxy is in.
    #[arg(long, value_name = "NAME")]
    node_region: Option<String>,
    /// The zone that the proxy is in.
    #[arg(long, value_name = "NAME")]
    node_zone: Option<String>,
    /// The sub-zone that the proxy is in.
    #[arg(long, value_name = "NAME")]
    node_sub_zone: Option<String>,
    /// The cluster that the proxies belong to, in Envoy's form, for zone-aware routing.
    #[arg(long, value_name = "FILE")]
    local_cluster: Option<PathBuf>,
    /// Show where a request with this hash goes, with ring_hash and maglev. May be given several
    /// times.
    #[arg(long, value_name = "N")]
    hash: Vec<u64>,
    /// Show where a request with this header goes, by the hash_policy of the cluster. Several
    /// headers are one request's.
    #[arg(long, value_name = "NAME:VALUE", value_parser = header)]
    header: Vec<(String, String)>,
    /// The path of that request, with its query.
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// The IP address that it comes from.
    #[arg(long, value_name = "IP")]
    source_ip: Option<String>,
    /// Also show where its attempts after the first go, up to number N.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(..=128))]
    attempt: u32,
}

#[derive(Debug, Args)]
struct Simulate {
    /// What to simulate; - is standard input.
    #[arg(value_name = "SCENARIO")]
    file: PathBuf,
    /// Whose decisions the proxies make.
    #[arg(long, value_enum, default_value_t = Behaviors::Both)]
    behavior: Behaviors,
    /// Write files into this directory, which is made if need be.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compare the figures with what the scenario expects.
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Behaviors {
    /// Envoy 1.40's choices.
    Envoy,
    /// Plimsoll's own choices.
    Native,
    /// One after the other, on the same requests.
    Both,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BehaviorName {
    /// Plimsoll's own choices: the same configuration and weights as Envoy, spread better.
    Native,
    /// Envoy 1.40's choices, number for number.
    Envoy,
}

fn main() -> ExitCode {
    match Command::parse().task {
        Task::Replay(arguments) => replay_all(&arguments),
        Task::Explain(arguments) => explain_file(*arguments),
        Task::Simulate(arguments) => simulate_file(&arguments),
    }
}

fn replay_all(arguments: &Replay) -> ExitCode {
    if arguments.files.len() > 1 && !arguments.check {
        let message = "several files are only for --check";
        Command::command().error(UsageError::TooManyValues, message).exit();
    }
    let mut mismatches = 0;
    for file in &arguments.files {
        match replay_file(file, arguments) {
            Ok(summary) => mismatches += summary.mismatches,
            Err(stop) => return stopped(&stop),
        }
    }
    if mismatches == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn replay_file(file: &Path, arguments: &Replay) -> Result<Summary, Stop> {
    let name = file.display().to_string();
    let &Replay { check, quiet, .. } = arguments;
    let is_stdin = file == Path::new("-");
    let options = Options { name: &name, check, quiet, flush_each: is_stdin };
    let output = BufWriter::new(io::stdout().lock());
    if is_stdin {
        return replay::run(io::stdin().lock(), output, &options);
    }
    match File::open(file) {
        Ok(file) => replay::run(BufReader::new(file), output, &options),
        Err(error) => Err(Stop::Read { name, error }),
    }
}

/// Says why, unless whoever reads the results has had enough of them.
fn stopped(stop: &Stop) -> ExitCode {
    let closed = matches!(stop, Stop::Write(error) if error.kind() == ErrorKind::BrokenPipe);
    if !closed {
        complain(stop);
    }
    ExitCode::from(2)
}

fn explain_file(arguments: Explain) -> ExitCode {
    let local_cluster = match arguments.local_cluster.as_deref().map(read_named).transpose() {
        Ok(text) => text,
        Err(message) => return failed(message),
    };
    let name = arguments.file.display().to_string();
    let assume = |arguments| Assumptions { local_cluster, ..Assumptions::from(arguments) };
    let explained = read_named(&arguments.file).and_then(|text| {
        explain(&text, &assume(arguments)).map_err(|failure| format!("{name}: {failure}"))
    });
    match explained {
        Ok(page) => print(&page),
        Err(message) => failed(message),
    }
}

/// The text of a file, or a message that names it.
fn read_named(file: &Path) -> Result<String, String> {
    read(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn failed(message: String) -> ExitCode {
    complain(message);
    ExitCode::from(1)
}

fn simulate_file(arguments: &Simulate) -> ExitCode {
    let name = arguments.file.display();
    let behaviors = match arguments.behavior {
        Behaviors::Envoy => &[Behavior::Envoy][..],
        Behaviors::Native => &[Behavior::Native],
        Behaviors::Both => &[Behavior::Envoy, Behavior::Native],
    };
    let simulated = match read(&arguments.file) {
        Ok(text) => simulate(&text, behaviors).map_err(|mistake| mistake.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let simulation = match simulated {
        Ok(simulation) => simulation,
        Err(message) => {
            complain(format_args!("{name}: {message}"));
            return ExitCode::from(2);
        }
    };
    let printed = print(&simulation.table());
    if let Some(folder) = &arguments.out
        && let Err(error) = write_files(folder, &simulation)
    {
        complain(format_args!("{}: {error}", folder.display()));
        return ExitCode::from(2);
    }
    if arguments.check { check(&arguments.file, &simulation) } else { printed }
}

fn write_files(folder: &Path, simulation: &Simulation) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut files = simulation.files().into_iter();
    files.try_for_each(|(name, text)| fs::write(folder.join(name), text))
}

fn check(file: &Path, simulation: &Simulation) -> ExitCode {
    let name = file.display();
    if !simulation.has_expectations() {
        complain(format_args!("{name}: expect: nothing is expected, so nothing can be checked"));
        return ExitCode::from(2);
    }
    let misses = simulation.misses();
    for Miss { behavior, message } in &misses {
        complain(format_args!("{name}: {}: {message}", behavior.name()));
    }
    if misses.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn read(file: &Path) -> io::Result<String> {
    if file != Path::new("-") {
        return fs::read_to_string(file);
    }
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}

/// Prints with colours where somebody sees them and nobody has said no.
fn print(page: &str) -> ExitCode {
    match anstream::stdout().write_all(page.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if error.kind() != ErrorKind::BrokenPipe {
                complain(format_args!("cannot write: {error}"));
            }
            ExitCode::from(1)
        }
    }
}

/// A message about what went wrong, on standard error. If that is closed, nobody wants to know.
fn complain(message: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

impl From<Explain> for Assumptions {
    fn from(arguments: Explain) -> Self {
        let Explain { behavior, health, up, node_region, node_zone, node_sub_zone, .. } = arguments;
        let Explain { hash: hashes, header: headers, path, source_ip, attempt, .. } = arguments;
        let requests = Requests { hashes, headers, path, source_ip, attempt };
        let parts = [node_region, node_zone, node_sub_zone];
        let given = parts.iter().any(Option::is_some);
        let [region, zone, sub_zone] = parts.map(Option::unwrap_or_default);
        let node_locality = given.then(|| Locality::new(region, zone, sub_zone));
        let behavior = match behavior {
            BehaviorName::Native => Behavior::Native,
            BehaviorName::Envoy => Behavior::Envoy,
        };
        Self { behavior, health, node_locality, up, local_cluster: None, requests }
    }
}

/// `ADDR=EVENT`; addresses may have a `=` of their own.
fn health_event(argument: &str) -> Result<(String, HealthEvent), String> {
    let (address, event) = argument.rsplit_once('=').ok_or("expected ADDR=EVENT")?;
    let event = match event {
        "pass" => HealthEvent::Pass,
        "fail" => HealthEvent::Fail,
        "degraded" => HealthEvent::Degraded,
        "eject" => HealthEvent::Eject,
        "uneject" => HealthEvent::Uneject,
        other => return Err(format!("{other:?} is not pass, fail, degraded, eject or uneject")),
    };
    Ok((address.to_owned(), event))
}

/// `NAME:VALUE`; the names of pseudo-headers begin with a colon.
fn header(argument: &str) -> Result<(String, String), String> {
    let colon = argument.char_indices().skip(1).find(|&(_, c)| c == ':');
    let (at, _) = colon.ok_or("expected NAME:VALUE")?;
    let (name, value) = (&argument[..at], &argument[at + 1..]);
    Ok((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()))
}

/// `ADDR=SECONDS`.
fn up(argument: &str) -> Result<(String, Duration), String> {
    let (address, seconds) = argument.rsplit_once('=').ok_or("expected ADDR=SECONDS")?;
    let age = seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let age = age.ok_or_else(|| format!("{seconds:?} is not a number of seconds"))?;
    Ok((address.to_owned(), age))
}
