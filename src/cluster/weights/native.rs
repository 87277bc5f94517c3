//! Weights from reports as native makes them: real numbers that follow reports without leaps.
//!
//! A host that says how many requests it serves weighs what it can serve. One that says only how
//! busy it is weighs what is configured for it, more if it is less busy than the others of its kind
//! and less if it is busier. A host that says nothing weighs what is configured; next to nothing
//! while it fails.

use super::smoothing::Step;
use super::{Weighed, median};
use crate::records::Verdict;
use crate::reports::Weighable;

/// Weights move by more than this part of themselves before tables are made anew.
const MATERIAL: f64 = 1.0 / 128.0;

/// No host weighs less than this part of the average, so that it is asked now and then and can
/// report something else.
const LEAST: f64 = 0.01;

/// How strongly a host that says only how busy it is reacts to that, as an exponent: at a utilization
/// of 0.75 as headroom would, without its end at 1.
const STEEPNESS: f64 = 4.0;

/// No further than this, which is a factor of a hundred: a host whose unit is another one must not
/// take everything from the rest, or give it everything.
const MOST: f64 = 4.6;

/// A weight follows what a host serves with a gain of at most 1, and how busy it is with at most
/// [`STEEPNESS`]. It goes as much more slowly, to be as steady.
const CAUTION: f64 = STEEPNESS;

/// Where the weight of a host is on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Course {
    /// No report counts.
    #[default]
    None,
    /// It weighs this, by what it serves.
    Weight(f64),
    /// It weighs what is configured times this, by how busy it is.
    Factor(f64),
}

impl Course {
    /// At `value` on the way to what such a report says.
    pub(super) fn new(report: Weighable, value: f64) -> Self {
        match report {
            Weighable::Weight(_) => Self::Weight(value),
            Weighable::Utilization(_) => Self::Factor(value),
        }
    }

    /// Where it is, if it heads for what such a report says.
    pub(super) fn of_kind(self, report: Weighable) -> Option<f64> {
        match (self, report) {
            (Self::Weight(value), Weighable::Weight(_))
            | (Self::Factor(value), Weighable::Utilization(_)) => Some(value),
            _ => None,
        }
    }
}

/// What hosts are compared with: those that the same pick may go to.
#[derive(Debug, Clone, Default)]
struct Group {
    /// Of those that say what they serve, the weight for each configured 1.
    units: Vec<f64>,
    /// Of those that say only how busy they are.
    utilizations: f64,
    configured: f64,
}

impl Group {
    /// How busy the hosts are on average that say only that.
    fn utilization(&self) -> f64 {
        if self.configured > 0.0 { self.utilizations / self.configured } else { 0.0 }
    }

    /// The weight for each configured 1.
    fn unit(&mut self) -> Option<f64> {
        median(&mut self.units).map(|(low, high)| f64::midpoint(low, high))
    }
}

/// Weighs the hosts of a priority. Says whether a weight has changed.
pub(super) fn weigh(
    hosts: &[Weighed],
    step: Step,
    courses: &mut [Course],
    weights: &mut [f64],
) -> bool {
    let mut groups = compare(hosts);
    for host in hosts {
        let course = &mut courses[host.slot as usize];
        let group = &mut groups[host.group];
        *course = follow(host, *course, group.utilization(), step);
        if let Course::Weight(weight) = *course {
            group.units.push(weight / host.configured);
        }
    }
    let units = units(&mut groups);
    let is_silent = hosts.iter().all(|host| courses[host.slot as usize] == Course::None);
    let weigh = |host: &Weighed| match courses[host.slot as usize] {
        Course::Weight(weight) => weight,
        Course::Factor(factor) => host.configured * units[host.group] * factor,
        Course::None if host.verdict == Verdict::Failing && !is_silent => 0.0,
        Course::None => host.configured * units[host.group],
    };
    settle(hosts, weigh, weights)
}

/// The hosts' groups, with how busy they are.
fn compare(hosts: &[Weighed]) -> Vec<Group> {
    let count = hosts.iter().map(|host| host.group + 1).max().unwrap_or(0);
    let mut groups = vec![Group::default(); count];
    for host in hosts {
        if let Some((Weighable::Utilization(utilization), _)) = host.report() {
            let group = &mut groups[host.group];
            group.utilizations += host.configured * utilization;
            group.configured += host.configured;
        }
    }
    groups
}

/// The weight for each configured 1 in each group. Where nobody says what he serves it is that of
/// all, so that weights can be compared if a pick goes to any group after all.
fn units(groups: &mut [Group]) -> Vec<f64> {
    let mut all = Group::default();
    if groups.len() > 1 {
        all.units = groups.iter().flat_map(|group| group.units.iter().copied()).collect();
    }
    let of_all = all.unit().unwrap_or(1.0);
    groups.iter_mut().map(|group| group.unit().unwrap_or(of_all)).collect()
}

/// The next step of a host's course. The first weight counts in full, since there is nothing that
/// it could follow; the first factor does not, since all of a kind would leap at once.
fn follow(host: &Weighed, course: Course, busy: f64, step: Step) -> Course {
    match (host.report(), course) {
        (None, _) => Course::None,
        (Some((Weighable::Weight(weight), age)), Course::Weight(before)) => {
            Course::Weight(step.follow(before, weight, age))
        }
        (Some((Weighable::Weight(weight), _)), _) => Course::Weight(weight),
        (Some((Weighable::Utilization(utilization), age)), _) => {
            let before = if let Course::Factor(factor) = course { factor } else { 1.0 };
            let target = (STEEPNESS * (busy - utilization)).clamp(-MOST, MOST).exp();
            Course::Factor(step.slower(CAUTION).follow(before, target, age))
        }
    }
}

/// Takes over the weights that differ by enough. None is too small.
fn settle(hosts: &[Weighed], weigh: impl Fn(&Weighed) -> f64, weights: &mut [f64]) -> bool {
    let weighed: Vec<f64> = hosts.iter().map(weigh).collect();
    let least = weighed.iter().sum::<f64>() / length(hosts) * LEAST;
    let mut changed = false;
    for (host, weight) in hosts.iter().zip(weighed) {
        let weight = weight.max(least);
        let place = &mut weights[host.slot as usize];
        if (weight - *place).abs() > MATERIAL * *place {
            *place = weight;
            changed = true;
        }
    }
    changed
}

#[allow(clippy::cast_precision_loss)] // hosts are far fewer than 2^53
fn length(hosts: &[Weighed]) -> f64 {
    hosts.len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{host, hosts};
    use super::*;

    /// A step that goes all the way.
    fn at_once() -> Step {
        Step::new(1.0, 0.0)
    }

    /// Some hosts over several passes.
    #[derive(Debug, Default)]
    struct Pool {
        courses: Vec<Course>,
        weights: Vec<f64>,
    }

    impl Pool {
        fn pass(&mut self, hosts: &[Weighed], step: Step) -> bool {
            self.courses.resize(hosts.len(), Course::None);
            self.weights.resize(hosts.len(), 0.0);
            weigh(hosts, step, &mut self.courses, &mut self.weights)
        }
    }

    /// The weights after one pass.
    fn pass(usable: &[Option<f64>]) -> Vec<f64> {
        let mut pool = Pool::default();
        pool.pass(&hosts(usable), at_once());
        pool.weights
    }

    fn are_near(weights: &[f64], expected: &[f64]) -> bool {
        weights.iter().zip(expected).all(|(weight, e)| (weight / e - 1.0).abs() < 1e-6)
    }

    #[test]
    fn weights_are_real_and_none_is_too_small() {
        assert_eq!(pass(&[Some(2.2), Some(10.0)]), [2.2, 10.0]);
        let weights = pass(&[Some(1e-10), Some(100.0)]);
        assert!(are_near(&weights, &[0.5, 100.0]), "a hundredth of 50: {weights:?}");
    }

    #[test]
    fn weights_that_hardly_move_stay() {
        let mut pool = Pool::default();
        assert!(pool.pass(&hosts(&[Some(100.0), Some(200.0)]), at_once()));
        assert!(!pool.pass(&hosts(&[Some(100.5), Some(199.0)]), at_once()));
        assert_eq!(pool.weights, [100.0, 200.0]);
        assert!(pool.pass(&hosts(&[Some(101.0), Some(200.0)]), at_once()));
    }

    #[test]
    fn small_moves_add_up() {
        let mut pool = Pool::default();
        let step = Step::new(1.0, 200.0);
        pool.pass(&hosts(&[Some(100.0)]), step);
        let changes = (0..200).filter(|_| pool.pass(&hosts(&[Some(110.0)]), step)).count();
        assert!((4..=9).contains(&changes), "{changes} of the 200 steps");
        assert!(pool.weights[0] > 105.0, "{:?}", pool.weights);
    }

    #[test]
    fn configured_weights_hold_without_reports_and_scale_beside_them() {
        let silent = [host(0, None, 3.0), host(1, None, 5.0), host(2, None, 9.0)];
        let mut pool = Pool::default();
        pool.pass(&silent, at_once());
        assert_eq!(pool.weights, [3.0, 5.0, 9.0]);
        let two = [host(0, Some(300.0), 3.0), host(1, Some(500.0), 5.0), host(2, None, 9.0)];
        pool.pass(&two, at_once());
        assert_eq!(pool.weights, [300.0, 500.0, 900.0]);
    }

    #[test]
    fn a_host_without_a_report_weighs_as_those_that_it_is_compared_with() {
        let place = |group, host: Weighed| Weighed { group, ..host };
        let far = [
            place(0, host(0, Some(1000.0), 1.0)),
            place(0, host(1, None, 1.0)),
            place(1, host(2, Some(100.0), 1.0)),
            place(1, host(3, Some(120.0), 1.0)),
            place(1, host(4, None, 2.0)),
            place(2, host(5, None, 1.0)),
        ];
        let mut pool = Pool::default();
        pool.pass(&far, at_once());
        let expected = [1000.0, 1000.0, 100.0, 120.0, 220.0, 120.0];
        assert!(are_near(&pool.weights, &expected), "the median of all at last: {pool:?}");
        let near = far.map(|host| place(0, host));
        pool.pass(&near, at_once());
        let expected = [1000.0, 120.0, 100.0, 120.0, 240.0, 120.0];
        assert!(are_near(&pool.weights, &expected), "{pool:?}");
    }

    #[test]
    fn a_host_that_fell_silent_starts_afresh() {
        let mut pool = Pool::default();
        let slow = Step::new(1.0, 9.0);
        pool.pass(&hosts(&[Some(100.0), Some(100.0)]), slow);
        pool.pass(&hosts(&[Some(200.0), Some(100.0)]), slow);
        assert!(are_near(&pool.weights, &[110.0, 100.0]), "{:?}", pool.weights);
        pool.pass(&hosts(&[None, Some(100.0)]), slow);
        pool.pass(&hosts(&[Some(200.0), Some(100.0)]), slow);
        assert!(are_near(&pool.weights, &[200.0, 100.0]), "{:?}", pool.weights);
    }

    #[test]
    fn hosts_that_say_only_how_busy_they_are_weigh_more_the_less_they_are() {
        let mut pool = Pool::default();
        pool.pass(&hosts(&[Some(-0.4), Some(-0.6)]), at_once());
        let expected = [0.4_f64.exp(), (-0.4_f64).exp()];
        assert!(are_near(&pool.weights, &expected), "{:?}", pool.weights);
        // In the unit of those that say more, and by what is configured.
        let mixed = [host(0, Some(300.0), 1.0), host(1, Some(-0.5), 2.0), host(2, Some(-0.5), 1.0)];
        pool.pass(&mixed, at_once());
        assert!(are_near(&pool.weights, &[300.0, 600.0, 300.0]), "{:?}", pool.weights);
    }

    #[test]
    fn a_utilization_in_another_unit_takes_nothing_over() {
        let mut pool = Pool::default();
        let with = |utilization: f64| hosts(&[Some(-utilization), Some(-0.5), Some(100.0), None]);
        for utilization in [95.0, 1000.0, f64::from(f32::MAX)] {
            pool.pass(&with(utilization), at_once());
            let weights = &pool.weights;
            assert!(weights.iter().all(|weight| weight.is_finite()), "{utilization}: {weights:?}");
            assert!(
                weights[1] < 101.0 * 100.0 && weights[2] >= 100.0,
                "{utilization}: {weights:?}"
            );
        }
        pool.pass(&with(0.5), at_once());
        assert!(are_near(&pool.weights, &[100.0; 4]), "{:?}", pool.weights);
    }

    #[test]
    fn a_host_that_begins_to_say_what_it_serves_weighs_that_at_once() {
        let mut pool = Pool::default();
        let slow = Step::new(1.0, 9.0);
        pool.pass(&hosts(&[Some(-0.4), Some(-0.6)]), slow);
        assert!(pool.weights[0] > 1.0 && pool.weights[0] < 1.02, "{:?}", pool.weights);
        pool.pass(&hosts(&[Some(500.0), Some(-0.6)]), slow);
        let [first, second] = pool.weights[..] else { panic!("{:?}", pool.weights) };
        assert!((first - 500.0).abs() < 1e-6 && (490.0..500.0).contains(&second), "{second}");
    }
}
