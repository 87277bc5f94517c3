//! The frame of a plot: where values stand, its axes, and what it shows of the scenario.

use std::fmt::Write as _;

use super::super::scenario::Scenario;

/// Pixels at full size; the page scales them.
pub(super) const WIDTH: f64 = 560.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 22.0;

/// Steps between labels of time, in seconds.
const STEPS: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0, 14_400.0];

/// How values are written on the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// 0.5
    Plain,
    /// 50 %
    Percent,
    /// Nothing: rows stand for themselves.
    Rows,
}

/// A plot that is being drawn.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    scenario: &'a Scenario,
    height: f64,
    /// The largest value that fits.
    top: f64,
    svg: String,
}

impl<'a> Frame<'a> {
    /// An empty plot of values up to `top`; `label` is for those who cannot see it.
    pub(super) fn new(
        scenario: &'a Scenario,
        label: &str,
        (height, top): (f64, f64),
        scale: Scale,
    ) -> Self {
        let mut frame = Self { scenario, height, top, svg: String::new() };
        frame.add(format_args!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">"
        ));
        frame.warm_up();
        if scale != Scale::Rows {
            frame.values(scale);
        }
        frame.times();
        frame
    }

    /// Draws something.
    pub(super) fn add(&mut self, part: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.svg.write_fmt(part);
    }

    /// The finished plot.
    pub(super) fn finish(mut self) -> String {
        self.events();
        self.svg.push_str("</svg>");
        self.svg
    }

    /// Where a time stands, in seconds.
    pub(super) fn x(&self, second: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * second / self.scenario.duration.seconds()
    }

    /// Where a value stands; what is too large stands at the top.
    pub(super) fn y(&self, value: f64) -> f64 {
        let part = (value / self.top).clamp(0.0, 1.0);
        self.height - BOTTOM - (self.height - BOTTOM - TOP) * part
    }

    /// A dashed line at a value.
    pub(super) fn limit(&mut self, value: f64) {
        self.across(value, "limit");
    }

    fn across(&mut self, value: f64, class: &str) {
        let (y, right) = (self.y(value), WIDTH - RIGHT);
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        ));
    }

    fn warm_up(&mut self) {
        let (width, bottom) = (self.x(self.scenario.warm_up.seconds()) - LEFT, self.y(0.0));
        if width > 0.0 {
            self.add(format_args!(
                "<rect class=\"warm\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{width:.1}\" \
                 height=\"{:.1}\"><title>warm-up</title></rect>",
                bottom - TOP
            ));
        }
    }

    fn values(&mut self, scale: Scale) {
        let step = step(self.top);
        let mut value = 0.0;
        while value <= self.top + step * 1e-6 {
            self.across(value, if value > 0.0 { "grid" } else { "axis" });
            let text = match scale {
                Scale::Percent => format!("{:.0} %", value * 100.0),
                _ if step < 0.1 => format!("{value:.2}"),
                _ => format!("{value:.1}"),
            };
            let (x, y) = (LEFT - 6.0, self.y(value) + 3.5);
            self.add(format_args!("<text class=\"end\" x=\"{x}\" y=\"{y:.1}\">{text}</text>"));
            value += step;
        }
    }

    fn times(&mut self) {
        let duration = self.scenario.duration.seconds();
        let step = STEPS.into_iter().find(|step| duration / step <= 8.0).unwrap_or(duration);
        let y = self.height - 6.0;
        let mut second = 0.0;
        while second <= duration {
            let unit = if second + step > duration { " s" } else { "" };
            let end = if self.x(second) > WIDTH - RIGHT - 12.0 { "end" } else { "middle" };
            let x = if end == "end" { WIDTH - RIGHT } else { self.x(second) };
            self.add(format_args!(
                "<text class=\"{end}\" x=\"{x:.1}\" y=\"{y}\">{second}{unit}</text>"
            ));
            second += step;
        }
    }

    /// Numbered marks where something happens.
    fn events(&mut self) {
        let scenario = self.scenario;
        for (index, event) in scenario.events.iter().enumerate() {
            let (x, bottom) = (self.x(event.at.seconds()), self.y(0.0));
            self.add(format_args!(
                "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                TOP - 6.0,
                index + 1
            ));
        }
    }
}

/// A round step that makes a few labels.
fn step(top: f64) -> f64 {
    let power = 10_f64.powf((top / 4.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| top / step <= 5.0).unwrap_or(top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_make_a_few_labels() {
        for (top, expected) in [(1.0, 0.2), (1.2, 0.5), (2.0, 0.5), (0.03, 0.01), (47.0, 10.0)] {
            assert!((step(top) - expected).abs() < 1e-9, "{top}: {}", step(top));
        }
    }
}
