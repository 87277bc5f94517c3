//! How busy zones are, as one picture on its own, for documents.

use std::fmt::Write as _;

use super::plots::{self, TALL, colour};
use super::{Run, STYLE, Scenario, escape};
use crate::simulate::page::draw::count;
use crate::simulate::page::frame::WIDTH;

const TITLE: f64 = 24.0;
const LEGEND: f64 = 24.0;
/// Names in the legend are this far from each other.
const NAME: f64 = 90.0;

/// What the page's style has of its surroundings.
const GROUND: &str = "svg svg { overflow: visible; } .ground { fill: var(--ground); } \
                      svg text.title { fill: var(--ink); font-weight: 600; font-size: 13px; } \
                      svg { font-family: system-ui, sans-serif; } .name { fill: var(--c); }";

/// The plots of all runs side by side.
pub(crate) fn figure(scenario: &Scenario, runs: &[Run]) -> String {
    let (width, height) = (WIDTH * count(runs.len()), TITLE + TALL + LEGEND);
    let title = escape(&scenario.title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}: utilization of zones\">\n<style>\n{STYLE}{GROUND}\n</style>\n\
         <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    let top = plots::top(runs);
    for (index, run) in runs.iter().enumerate() {
        let x = WIDTH * count(index);
        let plot = plots::utilization(scenario, run, top);
        let place = format!("<svg x=\"{x}\" y=\"{TITLE}\" width=\"{WIDTH}\" height=\"{TALL}\" ");
        let plot = plot.replacen("<svg ", &place, 1);
        let name = run.behavior.name();
        // Writing to a string does not fail.
        let _ =
            writeln!(svg, "<text class=\"title\" x=\"{}\" y=\"16\">{name}</text>{plot}", x + 8.0);
    }
    for (place, (index, zone)) in scenario.zones_with_hosts().enumerate() {
        let (x, y, class) = (NAME.mul_add(count(place), 44.0), height - 14.0, colour(index));
        let name = escape(&zone.name);
        let _ = writeln!(
            svg,
            "<rect class=\"name {class}\" x=\"{x}\" y=\"{y}\" width=\"11\" height=\"11\" rx=\"3\"/>\
             <text x=\"{}\" y=\"{}\">zone {name}</text>",
            x + 16.0,
            y + 10.0
        );
    }
    svg.push_str("</svg>\n");
    svg
}
