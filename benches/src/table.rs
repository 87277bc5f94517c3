//! Aligned tables that are Markdown at the same time.

use crate::paired::Row;

/// Prints a table; every line has as many cells as the heading.
pub fn print(title: &str, heading: &[&str], lines: &[Vec<String>]) {
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
        })
        .collect();
    println!("\n### {title}\n");
    println!("{}", line(heading.iter().copied(), &widths));
    let rule = widths.iter().enumerate().map(|(column, &width)| {
        if column == 0 { "-".repeat(width) } else { format!("{}:", "-".repeat(width - 1)) }
    });
    println!("| {} |", rule.collect::<Vec<_>>().join(" | "));
    for cells in lines {
        println!("{}", line(cells.iter().map(String::as_str), &widths));
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, widths: &[usize]) -> String {
    let cells = cells.zip(widths).enumerate().map(|(column, (cell, &width))| {
        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Prints what [`compare`](crate::paired::compare) found; the first row is the reference.
pub fn print_rows(title: &str, rows: &[Row]) {
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| vec![row.name.clone(), ns(row.best), ns(row.median), times(row.times)])
        .collect();
    print(title, &["contender", "best ns", "median ns", "times faster"], &lines);
}

/// The same for what takes microseconds.
pub fn print_durations(title: &str, what: &str, rows: &[Row]) {
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| vec![row.name.clone(), us(row.best), us(row.median), times(row.times)])
        .collect();
    print(title, &[what, "best us", "median us", "times faster"], &lines);
}

/// A time in nanoseconds.
#[must_use]
pub fn ns(value: f64) -> String {
    if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// A time in microseconds, from nanoseconds.
#[must_use]
pub fn us(value: f64) -> String {
    if value < 100_000.0 { format!("{:.1}", value / 1e3) } else { format!("{:.0}", value / 1e3) }
}

/// A ratio.
#[must_use]
pub fn times(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// A number of things, in groups of three digits.
#[must_use]
pub fn count(value: usize) -> String {
    let digits = value.to_string();
    let places = digits.char_indices().flat_map(|(index, digit)| {
        let ends_group = index > 0 && (digits.len() - index).is_multiple_of(3);
        ends_group.then_some(' ').into_iter().chain([digit])
    });
    places.collect()
}
