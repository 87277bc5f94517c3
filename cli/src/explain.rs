//! What a cluster's configuration does with traffic: a readable answer for a person.
//!
//! The figures are the engine's own, from a cluster that is opened for the purpose; nothing is
//! computed a second time here.

mod notes;

use std::fmt::{self, Write as _};

use plimsoll::config::{Behavior, ClusterConfig};
use plimsoll::{
    Cluster, CoarseHealth, Error, HealthEvent, HostView, Locality, Options, PriorityView, Update,
    View,
};
use plimsoll_envoy_config::{ParseError, parse_cluster};

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
/// What is wrong with the configuration, or an assumption about a host that is not there.
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
    let options =
        Options { node_locality: assumptions.node_locality.clone(), ..Options::default() };
    let cluster = Cluster::open(config, &file.assignment.unwrap_or_default(), options)?;
    cluster.apply(&health(&cluster.view(), &assumptions.health))?;
    Ok(page(&cluster.view()))
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

fn page(view: &View) -> String {
    let ClusterConfig { name, behavior, policy, healthy_panic_threshold, .. } = view.config();
    let mut page = String::new();
    let mut add = |part: fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = page.write_fmt(part);
    };
    add(format_args!(
        "Cluster {HEADING}{}{HEADING:#}: {}, behavior {}, panic threshold \
         {healthy_panic_threshold} %\n",
        name.escape_debug(),
        policy.name(),
        behavior.name()
    ));
    add(format_args!("\n{}", priorities(view)));
    if !view.hosts().is_empty() {
        add(format_args!("\n{}", localities(view)));
        add(format_args!("\n{}", hosts(view)));
    }
    let notes = notes::notes(view);
    if !notes.is_empty() {
        add(format_args!("\n{HEADING}Notes{HEADING:#}\n"));
    }
    notes.iter().for_each(|note| add(format_args!("* {note}\n")));
    page
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
                Cell::plain(place(locality.locality)),
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
    let mut table = Table::new(&[
        ("PRIORITY", Side::Right),
        ("LOCALITY", Side::Left),
        ("HOST", Side::Left),
        ("HEALTH", Side::Left),
        ("WEIGHT", Side::Right),
        ("EFFECTIVE", Side::Right),
        ("TRAFFIC", Side::Right),
    ]);
    for host in &view.hosts() {
        let color = match host.host.coarse_health() {
            CoarseHealth::Healthy => GOOD,
            CoarseHealth::Degraded => DOUBTFUL,
            CoarseHealth::Unhealthy => BAD,
        };
        table.row(vec![
            Cell::plain(host.host.priority()),
            Cell::plain(place(host.host.locality())),
            Cell::plain(host.host.address()),
            Cell::new(host.host.health(), color),
            Cell::plain(host.host.weight()),
            Cell::plain(host.effective_weight),
            share(host.share),
        ]);
    }
    table
}

/// The parts that a locality has.
fn place(locality: &Locality) -> String {
    let Locality { region, zone, sub_zone } = locality;
    let parts = match (region.as_str(), zone.as_str(), sub_zone.as_str()) {
        ("", "", "") => return "-".to_owned(),
        (region, "", "") => vec![region],
        (region, zone, "") => vec![region, zone],
        (region, zone, sub_zone) => vec![region, zone, sub_zone],
    };
    parts.join("/")
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
