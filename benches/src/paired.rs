//! Paired slices: contenders take turns in one process, a millisecond or so each, round after
//! round.
//!
//! Times on a shared machine move by a factor of two between minutes; the ratio of two slices of
//! one round does not. So a claim rests on the median of the ratios of all rounds, and the best
//! slice says what a contender takes when nothing disturbs it.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Something to time.
pub struct Contender<'a> {
    name: String,
    /// Does so many operations and returns the nanoseconds that each took.
    run: Box<dyn FnMut(u64) -> f64 + 'a>,
    /// Operations in a slice; found by calibration if not given.
    operations: Option<u64>,
}

impl<'a> Contender<'a> {
    /// A loop that is timed from outside. It returns a sum of its results, so that no compiler
    /// leaves them out.
    pub fn looping(name: impl Into<String>, mut run: impl FnMut(u64) -> u64 + 'a) -> Self {
        Self::timing(name, move |operations| {
            let start = Instant::now();
            black_box(run(operations));
            per_operation(start.elapsed(), operations)
        })
    }

    /// A loop that takes its own time.
    pub fn timing(name: impl Into<String>, run: impl FnMut(u64) -> f64 + 'a) -> Self {
        Self { name: name.into(), run: Box::new(run), operations: None }
    }

    /// A long operation, done once in a slice. It takes its own time, so that it can prepare.
    pub fn single(name: impl Into<String>, mut run: impl FnMut() -> Duration + 'a) -> Self {
        let run = move |_| per_operation(run(), 1);
        Self { name: name.into(), run: Box::new(run), operations: Some(1) }
    }
}

/// The nanoseconds of one operation.
#[must_use]
#[allow(clippy::cast_precision_loss)] // far below 2^53
pub fn per_operation(elapsed: Duration, operations: u64) -> f64 {
    elapsed.as_secs_f64() * 1e9 / operations as f64
}

/// How long something takes.
pub fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How often each contender takes its turn.
    pub rounds: usize,
    /// How long a turn is.
    pub slice: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self { rounds: 41, slice: Duration::from_millis(1) }
    }
}

/// What came out for one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The contender.
    pub name: String,
    /// Nanoseconds an operation in the best slice.
    pub best: f64,
    /// Nanoseconds an operation in the median slice.
    pub median: f64,
    /// How many times faster than the first contender: the median of all rounds.
    pub times: f64,
}

/// Times contenders against the first of them.
#[must_use]
pub fn compare(mut contenders: Vec<Contender<'_>>, plan: Plan) -> Vec<Row> {
    let operations: Vec<u64> =
        contenders.iter_mut().map(|contender| calibrate(contender, plan.slice)).collect();
    let mut times = vec![Vec::with_capacity(plan.rounds); contenders.len()];
    for _ in 0..plan.rounds {
        for (index, contender) in contenders.iter_mut().enumerate() {
            times[index].push((contender.run)(operations[index]));
        }
    }
    let row = |(contender, own): (&Contender<'_>, &Vec<f64>)| Row {
        name: contender.name.clone(),
        best: own.iter().copied().fold(f64::INFINITY, f64::min),
        median: median(own.clone()),
        times: median(times[0].iter().zip(own).map(|(first, own)| first / own).collect()),
    };
    contenders.iter().zip(&times).map(row).collect()
}

/// How many operations fill a slice.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small and positive
fn calibrate(contender: &mut Contender<'_>, slice: Duration) -> u64 {
    let Some(operations) = contender.operations else {
        let mut operations = 64;
        loop {
            let each = (contender.run)(operations).max(0.01);
            let wanted = (slice.as_secs_f64() * 1e9 / each) as u64;
            if operations * 4 >= wanted {
                // Whole batches of 64.
                return wanted.div_ceil(64) * 64;
            }
            operations *= 4;
        }
    };
    (contender.run)(operations);
    operations
}

/// The middle of the values.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_round_by_round() {
        let mut slow = [10.0, 1000.0, 10.0].into_iter().cycle();
        let mut fast = [5.0, 500.0, 5.0].into_iter().cycle();
        let contenders = vec![
            Contender {
                operations: Some(1),
                ..Contender::timing("slow", move |_| slow.next().unwrap())
            },
            Contender {
                operations: Some(1),
                ..Contender::timing("fast", move |_| fast.next().unwrap())
            },
        ];
        let rows = compare(contenders, Plan { rounds: 9, slice: Duration::ZERO });
        assert!((rows[1].times - 2.0).abs() < 1e-9);
        assert!((rows[1].best - 5.0).abs() < 1e-9);
    }
}
