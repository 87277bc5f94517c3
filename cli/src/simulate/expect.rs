//! What a scenario expects of a run: bounds to its figures.

use std::collections::BTreeMap;

use plimsoll::config::Behavior;

use super::summary::{FIGURES, Figure, Summary, Unit};
use super::text::Mistake;
use super::written::WrittenExpectations;

/// All bounds of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    envoy: Vec<Bound>,
    native: Vec<Bound>,
}

/// One bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    figure: usize,
    relation: Relation,
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Below,
    Above,
    AtMost,
    AtLeast,
}

/// How the names of bounds end, and how a person reads them.
const RELATIONS: [(&str, &str, Relation); 4] = [
    ("_below", "below", Relation::Below),
    ("_above", "above", Relation::Above),
    ("_at_most", "at most", Relation::AtMost),
    ("_at_least", "at least", Relation::AtLeast),
];

impl Expectations {
    /// Reads bounds such as `utilization_sd_below: 0.05`.
    pub(crate) fn parse(written: &WrittenExpectations) -> Result<Self, Mistake> {
        let WrittenExpectations { envoy, native } = written;
        Ok(Self { envoy: bounds("envoy", envoy)?, native: bounds("native", native)? })
    }

    /// What is expected in one behavior.
    pub(crate) fn of(&self, behavior: Behavior) -> &[Bound] {
        match behavior {
            Behavior::Envoy => &self.envoy,
            Behavior::Native => &self.native,
        }
    }
}

fn bounds(behavior: &str, written: &BTreeMap<String, f64>) -> Result<Vec<Bound>, Mistake> {
    let bound = |(name, &limit): (&String, &f64)| {
        let unknown = || Mistake::new(format!("expect.{behavior}.{name}"), names());
        let (figure, relation) = split(name).ok_or_else(unknown)?;
        Ok(Bound { figure, relation, limit })
    };
    written.iter().map(bound).collect()
}

fn split(name: &str) -> Option<(usize, Relation)> {
    RELATIONS.iter().find_map(|&(end, _, relation)| {
        let name = name.strip_suffix(end)?;
        let figure = FIGURES.iter().position(|figure| figure.name == name)?;
        Some((figure, relation))
    })
}

fn names() -> String {
    let figures: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
    let ends: Vec<&str> = RELATIONS.iter().map(|(end, ..)| *end).collect();
    format!("a bound is one of {}, with one of {}", figures.join(", "), ends.join(", "))
}

impl Bound {
    /// The figure that it is about.
    pub(crate) fn figure(&self) -> &'static Figure {
        &FIGURES[self.figure]
    }

    /// Whether a run keeps it.
    pub(crate) fn is_kept(&self, summary: &Summary) -> bool {
        let value = summary.figures[self.figure];
        match self.relation {
            Relation::Below => value < self.limit,
            Relation::Above => value > self.limit,
            Relation::AtMost => value <= self.limit,
            Relation::AtLeast => value >= self.limit,
        }
    }

    /// `below 0.05`, or `below 5 %`.
    pub(crate) fn words(&self) -> String {
        match self.figure().unit {
            Unit::Plain => format!("{} {}", self.relation(), self.limit),
            // Without the digits that a multiplication adds.
            Unit::Percent => format!("{} {} %", self.relation(), (self.limit * 1e8).round() / 1e6),
        }
    }

    fn relation(&self) -> &'static str {
        let relation = RELATIONS.iter().find(|(.., relation)| *relation == self.relation);
        relation.map_or("", |(_, words, _)| words)
    }

    /// What is wrong, if the run does not keep it.
    pub(crate) fn miss(&self, summary: &Summary) -> Option<String> {
        let value = summary.figures[self.figure];
        let Self { limit, .. } = self;
        let (name, relation) = (self.figure().name, self.relation());
        let miss = || format!("{name} is {value:.4}, expected {relation} {limit}");
        (!self.is_kept(summary)).then(miss)
    }
}
