//! Aligned text tables with coloured cells.
//!
//! Colours are always written; whoever prints the text takes them out where nobody sees them.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// What the eye should notice.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// See [`GOOD`].
pub(crate) const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
/// See [`GOOD`].
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// What the eye may skip.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Headings.
pub(crate) const HEADING: Style = Style::new().bold();

/// One cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell in this style. Control characters, which could drive a terminal, are replaced.
    pub(crate) fn new(text: impl fmt::Display, style: Style) -> Self {
        let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        Self { text: text.to_string().chars().map(visible).collect(), style }
    }

    /// A cell without a style.
    pub(crate) fn plain(text: impl fmt::Display) -> Self {
        Self::new(text, Style::new())
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// On which side of its column a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table with a heading; `Display` writes it.
#[derive(Debug)]
pub(crate) struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new(columns: &[(&str, Side)]) -> Self {
        let heading = columns.iter().map(|(name, _)| Cell::new(name, HEADING)).collect();
        let sides = columns.iter().map(|&(_, side)| side).collect();
        Self { sides, rows: vec![heading] }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.sides.len(), "cells of a row");
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].width()).max();
        (0..self.sides.len()).map(|column| width(column).unwrap_or(0)).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            // Spaces are written before the next text only, so that no line ends with any.
            let mut pending = 0;
            for ((cell, &side), &width) in row.iter().zip(&self.sides).zip(&widths) {
                let Cell { text, style } = cell;
                if text.is_empty() {
                    pending += width + 2;
                    continue;
                }
                let spaces = width - cell.width();
                let (before, after) = if side == Side::Left { (0, spaces) } else { (spaces, 0) };
                write!(f, "{:1$}{style}{text}{style:#}", "", pending + before)?;
                pending = after + 2;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stands_left_and_numbers_right_and_no_line_ends_with_a_space() {
        let mut table = Table::new(&[("HOST", Side::Left), ("N", Side::Right), ("X", Side::Left)]);
        table.row(vec![Cell::plain("a"), Cell::plain(1), Cell::plain("é")]);
        table.row(vec![Cell::plain("longer"), Cell::plain(100), Cell::plain("y")]);
        table.row(vec![Cell::plain("b"), Cell::plain(""), Cell::plain("z")]);
        table.row(vec![Cell::plain("c"), Cell::plain(2), Cell::plain("")]);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        let expected =
            "HOST      N  X\na         1  é\nlonger  100  y\nb            z\nc         2\n";
        assert_eq!(plain, expected);
    }

    #[test]
    fn a_cell_cannot_drive_the_terminal() {
        assert_eq!(Cell::plain("a\u{1b}[31m\n").text, "a\u{fffd}[31m\u{fffd}");
    }
}
