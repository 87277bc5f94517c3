//! Numbers that scenarios write in two forms: the capacity of hosts, and demand over time.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor, value::SeqAccessDeserializer};

use super::units::Time;

/// Requests per second that hosts can take: one number for all, or one for each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Capacity {
    Same(f64),
    Each(Vec<f64>),
}

/// Requests per second that come: one number for ever, or points in time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Demand {
    Constant(f64),
    Points(Vec<Point>),
}

/// The demand at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "{at, rps}")]
pub(crate) struct Point {
    pub(crate) at: Time,
    pub(crate) rps: f64,
}

/// How demand gets from one point to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// It stays, then leaps.
    #[default]
    Step,
    /// In a straight line.
    Linear,
}

/// A number or a list.
struct NumberOr<T>(&'static str, fn(f64) -> T);

impl<'de, T: FromList<'de>> Visitor<'de> for NumberOr<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    #[expect(clippy::cast_precision_loss, reason = "ranges are checked later, and are smaller")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Ok(self.1(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "ranges are checked later, and are smaller")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok(self.1(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok(self.1(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        T::from_list(SeqAccessDeserializer::new(items))
    }
}

/// What a list makes.
trait FromList<'de>: Sized {
    fn from_list<D: Deserializer<'de>>(list: D) -> Result<Self, D::Error>;
}

impl<'de> FromList<'de> for Capacity {
    fn from_list<D: Deserializer<'de>>(list: D) -> Result<Self, D::Error> {
        Vec::deserialize(list).map(Self::Each)
    }
}

impl<'de> FromList<'de> for Demand {
    fn from_list<D: Deserializer<'de>>(list: D) -> Result<Self, D::Error> {
        Vec::deserialize(list).map(Self::Points)
    }
}

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "requests per second, or a list of them, one for each host";
        deserializer.deserialize_any(NumberOr(expected, Self::Same))
    }
}

impl<'de> Deserialize<'de> for Demand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "requests per second, or a list of {at, rps}";
        deserializer.deserialize_any(NumberOr(expected, Self::Constant))
    }
}

/// Demand from the start to the end of a scenario.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    points: Vec<Point>,
    shape: Shape,
}

impl Curve {
    /// The curve through points that are in order, the first of them at 0.
    pub(crate) fn new(points: Vec<Point>, shape: Shape) -> Self {
        Self { points, shape }
    }

    /// The largest demand.
    pub(crate) fn peak(&self) -> f64 {
        self.points.iter().map(|point| point.rps).fold(0.0, f64::max)
    }

    /// When so many requests have come since `from`, in seconds; `None` if never.
    pub(crate) fn after(&self, from: f64, requests: f64) -> Option<f64> {
        let (mut from, mut left) = (from, requests);
        let first = self.points.partition_point(|point| point.at.seconds() <= from).max(1) - 1;
        for index in first..self.points.len() {
            let (end, rate, slope) = self.piece(index, from);
            let length = end - from;
            // With a slope, of the two solutions the one that does not cancel digits.
            let root = (rate * rate + 2.0 * slope * left).max(0.0).sqrt();
            let needed = if rate + root > 0.0 { 2.0 * left / (rate + root) } else { f64::INFINITY };
            let coming = (rate + 0.5 * slope * length) * length;
            if needed <= length && (length.is_infinite() || left <= coming) {
                return Some(from + needed).filter(|at| at.is_finite());
            }
            left = (left - coming).max(0.0);
            from = end;
        }
        None
    }

    /// From `from` on, which is in the piece that starts with this point: the piece's end, the rate
    /// now and how fast it grows.
    fn piece(&self, index: usize, from: f64) -> (f64, f64, f64) {
        let Point { at, rps } = self.points[index];
        let Some(next) = self.points.get(index + 1) else { return (f64::INFINITY, rps, 0.0) };
        let end = next.at.seconds();
        if self.shape == Shape::Step {
            return (end, rps, 0.0);
        }
        let slope = (next.rps - rps) / (end - at.seconds());
        (end, rps + slope * (from - at.seconds()), slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::units::SECOND;

    fn curve(points: &[(u64, f64)], shape: Shape) -> Curve {
        let point = |&(at, rps): &(u64, f64)| Point { at: Time(at * SECOND), rps };
        Curve::new(points.iter().map(point).collect(), shape)
    }

    #[test]
    fn requests_come_where_the_area_under_the_curve_says() {
        let constant = curve(&[(0, 10.0)], Shape::Step);
        let steps = curve(&[(0, 10.0), (2, 0.0), (5, 1.0)], Shape::Step);
        let ramp = curve(&[(0, 0.0), (10, 10.0)], Shape::Linear);
        let fall = curve(&[(0, 10.0), (10, 0.0)], Shape::Linear);
        for (curve, from, requests, expected) in [
            (&constant, 0.0, 1.0, Some(0.1)),
            (&constant, 3.0, 5.0, Some(3.5)),
            (&steps, 1.95, 1.0, Some(5.5)),
            (&steps, 6.0, 2.0, Some(8.0)),
            (&ramp, 0.0, 0.5, Some(1.0)),
            (&ramp, 0.0, 50.0, Some(10.0)),
            (&ramp, 0.0, 60.0, Some(11.0)),
            (&fall, 0.0, 50.0, Some(10.0)),
            (&fall, 0.0, 37.5, Some(5.0)),
            (&fall, 0.0, 50.1, None),
        ] {
            let got = curve.after(from, requests);
            let close = match (got, expected) {
                (Some(got), Some(expected)) => (got - expected).abs() < 1e-9,
                (got, expected) => got == expected,
            };
            assert!(close, "{curve:?} from {from}, {requests}: {got:?}");
        }
    }
}
