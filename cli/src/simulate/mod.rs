//! A closed loop on virtual time: proxies send requests to hosts that report how busy they are, and
//! the proxies' engines go by it.
//!
//! The engine is the real one, through its public interface; the hosts, the clients and the clock
//! are simulated. See docs/simulate.md for what a scenario says and what comes out.

mod agenda;
mod csv;
mod curve;
mod event;
mod expect;
mod host;
mod page;
mod proxy;
mod random;
mod record;
mod scenario;
mod summary;
mod table;
mod text;
mod units;
mod world;
mod written;

use plimsoll::config::Behavior;

use self::record::Record;
use self::scenario::Scenario;
use self::summary::Summary;
pub use self::text::Mistake;
use self::world::World;

/// What came of a scenario.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    /// The scenario as it was written.
    text: String,
    runs: Vec<Run>,
}

/// One behavior's part of it.
#[derive(Debug)]
struct Run {
    behavior: Behavior,
    record: Record,
    summary: Summary,
}

/// A bound that a scenario expects and a run does not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// In which behavior.
    pub behavior: Behavior,
    /// What is wrong, with the figure and the bound.
    pub message: String,
}

/// Runs a scenario in each of these behaviors. The same text always gives the same result.
///
/// # Errors
///
/// What is wrong with the scenario, and where.
///
/// ```
/// use plimsoll::config::Behavior;
///
/// let text = "
/// title: One zone
/// duration: 10s
/// cluster: { name: api }
/// zones: [{ name: a, hosts: 2, capacity: 100 }]
/// proxies: [{ name: edge, zone: a, demand: 50 }]
/// ";
/// let simulation = plimsoll_cli::simulate::simulate(text, &[Behavior::Native])?;
/// assert!(simulation.table().contains("requests beyond a host's capacity"));
/// # Ok::<(), plimsoll_cli::simulate::Mistake>(())
/// ```
pub fn simulate(text: &str, behaviors: &[Behavior]) -> Result<Simulation, Mistake> {
    let scenario = Scenario::parse(text)?;
    let run = |&behavior: &Behavior| {
        let refused = |error: plimsoll::Error| Mistake::new(error.field(), &error);
        let record = World::run(&scenario, behavior).map_err(refused)?;
        let summary = Summary::of(&record, &scenario);
        Ok(Run { behavior, record, summary })
    };
    let runs = behaviors.iter().map(run).collect::<Result<_, _>>()?;
    Ok(Simulation { scenario, text: text.to_owned(), runs })
}

impl Simulation {
    /// The summary for a terminal. It has colours; print it through `anstream`.
    #[must_use]
    pub fn table(&self) -> String {
        table::table(&self.scenario, &self.runs)
    }

    /// The files to write: their names, and what is in them.
    #[must_use]
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = csv::files(&self.scenario, &self.runs);
        files.push(("index.html", page::page(&self.scenario, &self.text, &self.runs)));
        files.push(("utilization.svg", page::figure(&self.scenario, &self.runs)));
        files
    }

    /// Whether the scenario expects anything of the behaviors that were run.
    #[must_use]
    pub fn has_expectations(&self) -> bool {
        let expectations = &self.scenario.expectations;
        self.runs.iter().any(|run| !expectations.of(run.behavior).is_empty())
    }

    /// What is not as the scenario expects.
    #[must_use]
    pub fn misses(&self) -> Vec<Miss> {
        let of_run = |run: &Run| {
            let bounds = self.scenario.expectations.of(run.behavior).iter();
            let messages = bounds.filter_map(|bound| bound.miss(&run.summary));
            let behavior = run.behavior;
            messages.map(|message| Miss { behavior, message }).collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of_run).collect()
    }
}
