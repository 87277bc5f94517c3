//! How fast a weight follows the reports of its host.
//!
//! What hosts say of a moment depends on what they were sent some time before. A weight that
//! leaps to what each report says feeds that back at full gain and swings; one that follows slowly
//! comes to rest. docs/load-reports.md has the figures.

/// The step from one pass to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Seconds since the pass before.
    elapsed: f64,
    /// Seconds in which a weight goes most of its way; 0 for at once.
    time_constant: f64,
    /// What a weight may grow to, as a multiple.
    growth: f64,
}

impl Step {
    /// The step of `elapsed` seconds. No weight more than doubles in a second.
    pub(super) fn new(elapsed: f64, time_constant: f64) -> Self {
        Self { elapsed, time_constant, growth: elapsed.exp2() }
    }

    /// The same for what reacts more strongly and has to go as much more slowly.
    pub(super) fn slower(self, times: f64) -> Self {
        Self { time_constant: self.time_constant * times, ..self }
    }

    /// Where a value goes that heads for `target`, as a report said that is `age` seconds old. An old
    /// report pulls as much less as it is older than the time constant. No step is longer than the
    /// way, however late it comes, and none more than doubles a value in a second.
    pub(super) fn follow(self, value: f64, target: f64, age: f64) -> f64 {
        let Self { elapsed, time_constant, growth } = self;
        if time_constant <= 0.0 {
            return target;
        }
        let part = elapsed / (elapsed + time_constant.max(age));
        (value + (target - value) * part).min(value * growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second() -> Step {
        Step::new(1.0, 4.0)
    }

    #[test]
    fn a_value_goes_a_part_of_its_way_and_gets_there() {
        assert!((second().follow(100.0, 200.0, 0.5) - 120.0).abs() < 1e-9);
        assert!((second().follow(200.0, 100.0, 0.5) - 180.0).abs() < 1e-9);
        let after = |seconds| (0..seconds).fold(100.0, |it, _| second().follow(it, 200.0, 0.5));
        assert!(after(4) > 155.0 && after(4) < 165.0, "{}", after(4));
        assert!(after(40) > 199.9 && after(400) <= 200.0, "{}", after(40));
    }

    #[test]
    fn a_late_step_does_not_leap_over_its_end_and_none_at_all_changes_nothing() {
        let late = Step::new(1e6, 4.0);
        assert!((late.follow(100.0, 200.0, 0.0) - 200.0).abs() < 1e-2);
        let at_once = Step::new(0.0, 4.0);
        assert!((at_once.follow(100.0, 200.0, 0.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn an_old_report_pulls_less() {
        let way = |age| second().follow(100.0, 200.0, age) - 100.0;
        assert!((way(0.0) - way(4.0)).abs() < 1e-9, "fresh enough");
        assert!(way(4.0) > 1.9 * way(9.0) && way(9.0) > 9.0 * way(99.0));
    }

    #[test]
    fn a_value_at_most_doubles_in_a_second() {
        assert!((second().follow(1.0, 1e9, 0.0) - 2.0).abs() < 1e-9);
        let in_tenths = (0..10).fold(1.0, |it, _| Step::new(0.1, 4.0).follow(it, 1e9, 0.0));
        assert!((in_tenths - 2.0).abs() < 1e-9, "however often it is looked at");
        assert!(second().follow(1e9, 1.0, 0.0) > 0.79e9, "down it is slow anyway");
    }

    #[test]
    fn without_a_time_constant_a_value_is_there_at_once() {
        for elapsed in [0.0, 1.0] {
            let step = Step::new(elapsed, 0.0);
            assert!((step.follow(1.0, 1e9, 50.0) - 1e9).abs() < 1.0);
            assert!((step.slower(4.0).follow(1.0, 1e9, 50.0) - 1e9).abs() < 1.0);
        }
    }
}
