//! What a cluster's configuration does with traffic: a readable answer for a person.
//!
//! The figures are the engine's own, from a cluster that is opened for the purpose; nothing is
//! computed a second time here.

mod notes;
mod requests;

use std::fmt::{self, Write as _};
use std::time::Duration;

use plimsoll::config::{
    Assignment, Behavior, ClusterConfig, LeastRequest, LocalityRouting, Policy, SelectionMethod,
    SlowStart,
};
use plimsoll::{
    Cluster, CoarseHealth, Error, HealthEvent, HostView, LocalCluster, Locality, Options,
    PriorityView, Update, View, Warmup,
};
use plimsoll_envoy_config::{ParseError, parse_cluster};

pub use self::requests::Requests;

use crate::table::{BAD, Cell, DOUBTFUL, FAINT, GOOD, HEADING, Side, Table};

/// What to assume about the cluster besides its configuration.
#[derive(Debug, Clone, Default)]
pub struct Assumptions {
    /// Whose decisions the cluster makes.
    pub behavior: Behavior,
    /// Health events, in order; the address `*` stands for every host.
    pub health: Vec<(String, HealthEvent)>,
    /// Where the proxy is.
    pub node_locality: Option<Locality>,
    /// The cluster that the proxies belong to, in Envoy's form, for zone-aware routing.
    pub local_cluster: Option<String>,
    /// Hosts that came up so long ago, for slow start. All others have been up for long.
    pub up: Vec<(String, Duration)>,
    /// Requests to show the hosts of.
    pub requests: Requests,
}

/// Why nothing can be explained. `Display` is `field: message`, or the message alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The path of the value at fault; empty when no single value is.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.message),
            field => write!(f, "{field}: {}", self.message),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { field: error.field().to_owned(), message: error.to_string() }
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Config(error) => Error::from(error).into(),
            syntax @ ParseError::Syntax { .. } => {
                Self { field: String::new(), message: syntax.to_string() }
            }
        }
    }
}

/// Explains an Envoy `Cluster` in YAML or JSON. The text has colours; print it through `anstream`.
///
/// # Errors
///
/// What is wrong with the configuration, an assumption about a host that is not there, or requests
/// that have no hash.
///
/// ```
/// let text = "
/// name: api
/// load_assignment:
///   cluster_name: api
///   endpoints:
///   - lb_endpoints:
///     - endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: 80 } } }
/// ";
/// let explained = plimsoll_cli::explain::explain(text, &Default::default())?;
/// assert!(explained.contains("10.0.0.1:80"));
/// # Ok::<(), plimsoll_cli::explain::Failure>(())
/// ```
pub fn explain(text: &str, assumptions: &Assumptions) -> Result<String, Failure> {
    let file = parse_cluster(text)?;
    let config = ClusterConfig { behavior: assumptions.behavior, ..file.config };
    let window = config.policy.slow_start().map_or(Duration::ZERO, |slow_start| slow_start.window);
    let options = Options {
        node_locality: assumptions.node_locality.clone(),
        local_cluster: assumptions.local_cluster.as_deref().map(local_cluster).transpose()?,
        ..Options::default()
    };
    let assignment = file.assignment.unwrap_or_default();
    let cluster = Cluster::open(config, &assignment, options)?;
    cluster.apply(&health(&cluster.view(), &assumptions.health))?;
    warm_up(&cluster, &assignment, assumptions, window)?;
    let requests = requests::table(&cluster, &assumptions.requests)?;
    Ok(page(&cluster.view(), requests))
}

/// The local cluster in a text. It need not stay: it will not change.
fn local_cluster(text: &str) -> Result<LocalCluster, Failure> {
    let open = || {
        let file = parse_cluster(text)?;
        let hosts = file.assignment.unwrap_or_default();
        Ok::<_, Failure>(Cluster::open(file.config, &hosts, Options::default())?)
    };
    let cluster = open().map_err(|Failure { field, message }| Failure {
        field: format!("local cluster: {field}").trim_end_matches(": ").to_owned(),
        message,
    })?;
    Ok(cluster.as_local_cluster())
}

/// Lets all hosts become old, and those that came up lately come and grow to their age.
fn warm_up(
    cluster: &Cluster,
    assignment: &Assignment,
    assumptions: &Assumptions,
    window: Duration,
) -> Result<(), Error> {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let old = window.saturating_add(Duration::from_millis(1));
    let mut young: Vec<&(String, Duration)> = assumptions.up.iter().collect();
    young.sort_by_key(|(_, age)| std::cmp::Reverse(*age));
    let oldest = young.first().map_or(Duration::ZERO, |(_, age)| *age);
    let end = old.saturating_add(oldest);
    for (address, age) in young {
        cluster.tick(nanoseconds(end.saturating_sub(*age)))?;
        cluster.apply(&Update::new().remove(address.as_str()))?;
        cluster.assign(assignment)?;
        cluster.apply(&health(&cluster.view(), &assumptions.health))?;
    }
    cluster.tick(nanoseconds(end))
}

/// The assumed events as one batch.
fn health(view: &View, events: &[(String, HealthEvent)]) -> Update {
    let hosts = view.hosts();
    let mut update = Update::new();
    for (address, event) in events {
        if address != "*" {
            update = update.health(address.as_str(), *event);
            continue;
        }
        for host in &hosts {
            update = update.health(host.host.address().clone(), *event);
        }
    }
    update
}

fn page(view: &View, requests: Option<Table>) -> String {
    let config = view.config();
    let ClusterConfig { name, behavior, policy, healthy_panic_threshold, .. } = config;
    let mut page = String::new();
    let mut add = |part: fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = page.write_fmt(part);
    };
    add(format_args!(
        "Cluster {HEADING}{}{HEADING:#}: {}, behavior {}, panic threshold \
         {healthy_panic_threshold} %\n",
        name.escape_debug(),
        settings(policy) + among_localities(&config.locality_routing),
        behavior.name()
    ));
    add(format_args!("\n{}", priorities(view)));
    if !view.hosts().is_empty() {
        add(format_args!("\n{}", localities(view)));
        add(format_args!("\n{}", hosts(view)));
    }
    if let Some(requests) = requests {
        add(format_args!("\n{requests}"));
    }
    let notes = notes::notes(view);
    if !notes.is_empty() {
        add(format_args!("\n{HEADING}Notes{HEADING:#}\n"));
    }
    notes.iter().for_each(|note| add(format_args!("* {note}\n")));
    page
}

/// A policy and what it was told.
fn settings(policy: &Policy) -> String {
    let mut text = policy.name().to_owned();
    if let Policy::LeastRequest(LeastRequest { choice_count, selection_method, .. }) = policy {
        text += &match selection_method {
            SelectionMethod::NChoices => format!(" of {choice_count} choices"),
            SelectionMethod::FullScan => " of all hosts".to_owned(),
        };
    }
    if let Some(SlowStart { window, .. }) = policy.slow_start() {
        text += &format!(", slow start in {} s", window.as_secs_f64());
    }
    text
}

/// What comes before the policy.
fn among_localities(routing: &LocalityRouting) -> &'static str {
    match routing {
        LocalityRouting::Unset => "",
        LocalityRouting::ZoneAware(_) => ", nearest zone first",
        LocalityRouting::Weighted => ", localities by their weights",
        LocalityRouting::LoadAware(_) => ", localities by their load",
    }
}

fn priorities(view: &View) -> Table {
    let mut table = Table::new(&[
        ("PRIORITY", Side::Right),
        ("HOSTS", Side::Right),
        ("HEALTHY", Side::Right),
        ("DEGRADED", Side::Right),
        ("EXCLUDED", Side::Right),
        ("TO HEALTHY", Side::Right),
        ("TO DEGRADED", Side::Right),
        ("PANIC", Side::Left),
    ]);
    for (index, priority) in view.priorities().enumerate() {
        let PriorityView { healthy_load, degraded_load, panic, tally, .. } = priority;
        table.row(vec![
            Cell::plain(index),
            Cell::plain(tally.hosts),
            Cell::plain(tally.healthy),
            Cell::plain(tally.degraded),
            Cell::plain(tally.excluded),
            share(healthy_load / 100.0),
            share(degraded_load / 100.0),
            if panic { Cell::new("yes", BAD) } else { Cell::plain("no") },
        ]);
    }
    table
}

fn localities(view: &View) -> Table {
    let mut table = Table::new(&[
        ("PRIORITY", Side::Right),
        ("LOCALITY", Side::Left),
        ("WEIGHT", Side::Right),
        ("HOSTS", Side::Right),
        ("HEALTHY", Side::Right),
        ("DEGRADED", Side::Right),
        ("TRAFFIC", Side::Right),
    ]);
    let hosts = view.hosts();
    for (index, priority) in view.priorities().enumerate() {
        for locality in priority.localities() {
            let is_inside = |host: &&HostView<'_>| {
                let same_priority = usize::try_from(host.host.priority()) == Ok(index);
                same_priority && host.host.locality() == locality.locality
            };
            table.row(vec![
                Cell::plain(index),
                Cell::plain(locality.locality),
                weight(locality.weight),
                Cell::plain(locality.tally.hosts),
                Cell::plain(locality.tally.healthy),
                Cell::plain(locality.tally.degraded),
                share(hosts.iter().filter(is_inside).map(|host| host.share).sum()),
            ]);
        }
    }
    table
}

fn hosts(view: &View) -> Table {
    let mut columns = vec![
        ("PRIORITY", Side::Right),
        ("LOCALITY", Side::Left),
        ("HOST", Side::Left),
        ("HEALTH", Side::Left),
        ("WEIGHT", Side::Right),
        ("EFFECTIVE", Side::Right),
        ("TRAFFIC", Side::Right),
    ];
    let hosts = view.hosts();
    let warms_up = hosts.iter().any(|host| host.slow_start.is_some());
    if warms_up {
        columns.push(("SLOW START", Side::Left));
    }
    let mut table = Table::new(&columns);
    for host in &hosts {
        let color = match host.host.coarse_health() {
            CoarseHealth::Healthy => GOOD,
            CoarseHealth::Degraded => DOUBTFUL,
            CoarseHealth::Unhealthy => BAD,
        };
        let mut row = vec![
            Cell::plain(host.host.priority()),
            Cell::plain(host.host.locality()),
            Cell::plain(host.host.address()),
            Cell::new(host.host.health(), color),
            Cell::plain(host.host.weight()),
            Cell::plain((host.effective_weight * 1e6).round() / 1e6),
            share(host.share),
        ];
        if warms_up {
            row.push(slow_start(host.slow_start));
        }
        table.row(row);
    }
    table
}

/// How far a host is with its slow start, if it is in it.
fn slow_start(warmup: Option<Warmup>) -> Cell {
    let Some(Warmup { factor, seconds_left, .. }) = warmup else { return Cell::plain("") };
    let percent = factor * 100.0;
    Cell::new(format_args!("{percent:.2} %, {seconds_left} s left"), DOUBTFUL)
}

/// A locality's weight; the assignment may give none.
fn weight(weight: u32) -> Cell {
    if weight == 0 { Cell::new("-", FAINT) } else { Cell::plain(weight) }
}

/// A part of all traffic. What is not zero does not look like it.
fn share(share: f64) -> Cell {
    if share <= 0.0 {
        Cell::new("0 %", FAINT)
    } else if share < 0.000_005 {
        Cell::plain("<0.001 %")
    } else {
        Cell::plain(format_args!("{:.3} %", share * 100.0))
    }
}
