//! The summary of a page.

use std::fmt::Write as _;

use super::super::Run;
use super::super::scenario::Scenario;
use super::super::summary::{FIGURES, Figure};

/// All figures of all runs, with what was expected of them, and how busy each zone was.
pub(super) fn summary(scenario: &Scenario, runs: &[Run]) -> String {
    let mut html = String::from("<div class=\"scroll\">\n<table>\n");
    heading(&mut html, "after the warm-up", runs);
    for (index, figure) in FIGURES.iter().enumerate() {
        let cells: String = runs.iter().map(|run| cell(scenario, run, index, figure)).collect();
        let _ = writeln!(html, "<tr><td>{}</td>{cells}</tr>", figure.words);
    }
    for (index, zone) in scenario.zones_with_hosts() {
        let cell = |run: &Run| {
            let spread = run.summary.zones[index];
            format!(
                "<td>{:.3}</td><td class=\"bound\">\u{b1} {:.3}, {:.3} to {:.3}</td>",
                spread.mean, spread.sd, spread.min, spread.max
            )
        };
        let cells: String = runs.iter().map(cell).collect();
        let _ = writeln!(html, "<tr><td>utilization of zone {}</td>{cells}</tr>", zone.name);
    }
    html.push_str("</table>\n</div>\n");
    html
}

fn heading(html: &mut String, first: &str, runs: &[Run]) {
    let _ = write!(html, "<tr><th>{first}</th>");
    for run in runs {
        let _ = write!(html, "<th>{}</th><th></th>", run.behavior.name());
    }
    html.push_str("</tr>\n");
}

/// A figure of a run, and what was expected of it.
fn cell(scenario: &Scenario, run: &Run, index: usize, figure: &Figure) -> String {
    let text = figure.unit.text(run.summary.figures[index]);
    let bounds = scenario.expectations.of(run.behavior).iter();
    let about: Vec<_> = bounds.filter(|bound| bound.figure().name == figure.name).collect();
    if about.is_empty() {
        return format!("<td>{text}</td><td></td>");
    }
    let kept = about.iter().all(|bound| bound.is_kept(&run.summary));
    let (class, mark) = if kept { ("kept", '\u{2713}') } else { ("missed", '\u{2717}') };
    let words: Vec<String> = about.iter().map(|bound| bound.words()).collect();
    let words = words.join(", ");
    format!("<td class=\"{class}\">{text}</td><td class=\"bound\">{mark} {words}</td>")
}
