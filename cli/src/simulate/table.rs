//! The summary of all runs side by side, for a terminal.

use super::Run;
use super::expect::Bound;
use super::scenario::Scenario;
use super::summary::{FIGURES, Figure};
use crate::table::{BAD, Cell, FAINT, GOOD, HEADING, Side, Table};

/// See the module.
pub(crate) fn table(scenario: &Scenario, runs: &[Run]) -> String {
    let seconds = scenario.duration.seconds();
    let warm_up = scenario.warm_up.seconds();
    let requests = runs.first().map_or(0, |run| run.summary.requests);
    format!(
        "{HEADING}{}{HEADING:#}: {seconds} s, {requests} requests, seed {}; figures from second \
         {warm_up} on\n\n{}\n{}",
        scenario.title.escape_debug(),
        scenario.seed,
        figures(scenario, runs),
        zones(scenario, runs),
    )
}

/// A column for each run.
fn heading(first: &'static str, runs: &[Run]) -> Table {
    let mut columns = vec![(first, Side::Left)];
    for run in runs {
        columns.push((run.behavior.name(), Side::Right));
        columns.push(("", Side::Left));
    }
    Table::new(&columns)
}

fn figures(scenario: &Scenario, runs: &[Run]) -> Table {
    let mut table = heading("FIGURE", runs);
    for (index, figure) in FIGURES.iter().enumerate() {
        let mut row = vec![Cell::plain(figure.words)];
        for run in runs {
            let bounds = scenario.expectations.of(run.behavior);
            let (value, verdict) = cells(figure, index, run, bounds);
            row.extend([value, verdict]);
        }
        table.row(row);
    }
    table
}

/// A figure, and what was expected of it.
fn cells(figure: &Figure, index: usize, run: &Run, bounds: &[Bound]) -> (Cell, Cell) {
    let text = figure.unit.text(run.summary.figures[index]);
    let about: Vec<&Bound> =
        bounds.iter().filter(|bound| bound.figure().name == figure.name).collect();
    if about.is_empty() {
        return (Cell::plain(text), Cell::plain(""));
    }
    let kept = about.iter().all(|bound| bound.is_kept(&run.summary));
    let words: Vec<String> = about.iter().map(|bound| bound.words()).collect();
    let style = if kept { GOOD } else { BAD };
    (Cell::new(text, style), Cell::new(format_args!("({})", words.join(", ")), FAINT))
}

fn zones(scenario: &Scenario, runs: &[Run]) -> Table {
    let mut table = heading("UTILIZATION: mean ± sd (min to max)", runs);
    for (index, zone) in scenario.zones_with_hosts() {
        let mut row = vec![Cell::plain(format_args!("zone {}", zone.name))];
        for run in runs {
            let spread = run.summary.zones[index];
            row.push(Cell::plain(format_args!("{:.3} ± {:.3}", spread.mean, spread.sd)));
            row.push(Cell::new(format_args!("({:.3} to {:.3})", spread.min, spread.max), FAINT));
        }
        table.row(row);
    }
    table
}
