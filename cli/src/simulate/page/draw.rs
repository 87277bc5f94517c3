//! What stands in a frame: lines, stacked areas, and strips.

use std::fmt::Write as _;

use super::frame::Frame;

/// Values by second; `None` where there is none.
pub(super) type Series = Vec<Option<f64>>;

/// A line of a plot.
#[derive(Debug)]
pub(super) struct Line {
    /// What it is called when one points at it.
    pub(super) name: String,
    /// Its colour, by class.
    pub(super) class: String,
    pub(super) values: Series,
}

/// More points than this show nothing more; a longer series becomes means.
const MAX_POINTS: usize = 600;

/// A series that is short enough, and how many seconds each of its values stands for.
pub(super) fn thin(values: &[Option<f64>]) -> (usize, Series) {
    let length = values.len().div_ceil(MAX_POINTS).max(1);
    let mean = |chunk: &[Option<f64>]| {
        let there: Vec<f64> = chunk.iter().copied().flatten().collect();
        super::super::summary::mean(&there)
    };
    (length, values.chunks(length).map(mean).collect())
}

/// Draws lines, the first one on top.
pub(super) fn lines(frame: &mut Frame<'_>, lines: &[Line]) {
    for line in lines.iter().rev() {
        let (length, values) = thin(&line.values);
        let mut path = String::new();
        let mut pen = 'M';
        for (index, value) in values.iter().enumerate() {
            let Some(value) = value else {
                pen = 'M';
                continue;
            };
            let (x, y) = (frame.x(middle(index, length)), frame.y(*value));
            let _ = write!(path, "{pen}{x:.1} {y:.1}");
            pen = 'L';
        }
        let Line { name, class, .. } = line;
        frame.add(format_args!(
            "<path class=\"line {class}\" d=\"{path}\"><title>{name}</title></path>"
        ));
    }
}

/// Draws areas on top of each other, the first one at the bottom.
pub(super) fn stack(frame: &mut Frame<'_>, layers: &[Line]) {
    let Some(first) = layers.first() else { return };
    let mut below = vec![0.0; thin(&first.values).1.len()];
    for Line { name, class, values } in layers {
        let (length, values) = thin(values);
        let above: Vec<f64> =
            below.iter().zip(values).map(|(below, value)| below + value.unwrap_or(0.0)).collect();
        let mut path = String::new();
        let edge = above.iter().enumerate();
        let back = below.iter().enumerate().rev();
        for (number, (index, value)) in edge.chain(back).enumerate() {
            let pen = if number == 0 { 'M' } else { 'L' };
            let (x, y) = (frame.x(middle(index, length)), frame.y(*value));
            let _ = write!(path, "{pen}{x:.1} {y:.1}");
        }
        frame.add(format_args!(
            "<path class=\"area {class}\" d=\"{path}Z\"><title>{name}</title></path>"
        ));
        below = above;
    }
}

/// Draws a row of stretches: from, to and class, in seconds.
pub(super) fn strip(frame: &mut Frame<'_>, row: usize, name: &str, parts: &[(usize, usize, &str)]) {
    let top = frame.y(0.0) - 18.0 * count(row + 1) + 3.0;
    frame.add(format_args!(
        "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
        frame.x(0.0) - 6.0,
        top + 10.0
    ));
    for &(from, to, class) in parts {
        let (left, right) = (frame.x(count(from)), frame.x(count(to)));
        frame.add(format_args!(
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" \
             height=\"13\"/>",
            right - left
        ));
    }
}

/// A small number as a coordinate.
#[expect(clippy::cast_precision_loss, reason = "seconds and rows are few")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}

/// The middle of the seconds that a value stands for.
fn middle(index: usize, length: usize) -> f64 {
    (count(index) + 0.5) * count(length)
}
