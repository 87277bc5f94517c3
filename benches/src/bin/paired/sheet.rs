//! A table with two columns for each number of hosts: a time, and how many times faster than the
//! first line that is.

use plimsoll_benches::paired::Row;
use plimsoll_benches::table;

/// See the module.
pub(crate) struct Sheet {
    heading: Vec<String>,
    lines: Vec<Vec<String>>,
}

/// One line's part of two columns.
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) ns: f64,
    pub(crate) times: f64,
}

impl From<Row> for Cell {
    fn from(row: Row) -> Self {
        Self { name: row.name, ns: row.best, times: row.times }
    }
}

impl Sheet {
    pub(crate) fn new() -> Self {
        Self { heading: vec!["contender".into()], lines: Vec::new() }
    }

    /// Adds two columns. The first ones name the lines.
    pub(crate) fn add(&mut self, hosts: usize, cells: Vec<Cell>) {
        if self.lines.is_empty() {
            self.lines = cells.iter().map(|cell| vec![cell.name.clone()]).collect();
        }
        self.heading.extend([table::count(hosts), "times".into()]);
        for line in &mut self.lines {
            let cell = cells.iter().find(|cell| cell.name == line[0]);
            line.push(cell.map_or("-".into(), |cell| table::ns(cell.ns)));
            line.push(cell.map_or("-".into(), |cell| table::times(cell.times)));
        }
    }

    pub(crate) fn print(&self, title: &str) {
        let heading: Vec<&str> = self.heading.iter().map(String::as_str).collect();
        table::print(title, &heading, &self.lines);
    }
}
