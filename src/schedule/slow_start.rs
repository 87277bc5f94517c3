//! What share of its weight a host has that has just come up. Arithmetic only: ages in, factors
//! out.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#applySlowStartFactor

/// How weights grow inside the window. All numbers are as checked or put right by the caller:
/// the window is at least 1 ms, `aggression` more than 0, `min_weight` 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ramp {
    pub(crate) window_ms: u64,
    pub(crate) aggression: f64,
    /// The least factor.
    pub(crate) min_weight: f64,
}

impl Ramp {
    /// The factor of a host that came up `age_ms` ago: 1 from the end of the window on.
    ///
    /// The order of operations is Envoy's; its first millisecond counts as a whole one.
    #[allow(clippy::float_cmp)] // Envoy's shortcuts around `pow`
    pub(crate) fn factor(&self, age_ms: u64) -> f64 {
        if age_ms >= self.window_ms {
            return 1.0;
        }
        let time = float(age_ms.max(1)) / float(self.window_ms);
        let grown = if self.aggression == 1.0 || time == 1.0 {
            time
        } else {
            time.powf(1.0 / self.aggression)
        };
        grown.max(self.min_weight)
    }

    /// The age from which on the factor of a host of this age is about a hundredth larger, or 1.
    pub(crate) fn next_step(&self, age_ms: u64) -> u64 {
        const STEP: f64 = 1.0 + 1.0 / 128.0;
        let grown = (self.factor(age_ms) * STEP).powf(self.aggression) * float(self.window_ms);
        // Saturates, and what is not a number becomes 0.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let next = grown.ceil() as u64;
        next.max(age_ms.saturating_add(1)).min(self.window_ms)
    }
}

/// Windows and ages are below 2^53 wherever it matters.
#[allow(clippy::cast_precision_loss)]
fn float(ms: u64) -> f64 {
    ms as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ramp(aggression: f64) -> Ramp {
        Ramp { window_ms: 60_000, aggression, min_weight: 0.1 }
    }

    //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#applySlowStartFactor
    #[test]
    #[allow(clippy::approx_constant)] // numbers of a table
    fn factors_are_envoys() {
        let table = [
            (0, [0.1, 0.1, 0.1, 0.1]),
            (1, [0.1, 0.1, 0.1, 0.1]),
            (999, [0.1, 0.1, 0.1, 0.129_034_879_005_639_4]),
            (1000, [0.1, 0.1, 0.1, 0.129_099_444_873_580_55]),
            (5999, [0.1, 0.1, 0.215_419_530_174_967_57, 0.316_201_412_604_898_6]),
            (6000, [0.1, 0.1, 0.215_443_469_003_188_4, 0.316_227_766_016_837_94]),
            (
                6001,
                [0.1, 0.100_016_666_666_666_67, 0.215_467_406_501_511_25, 0.316_254_117_232_751_1],
            ),
            (15000, [0.1, 0.25, 0.396_850_262_992_049_9, 0.5]),
            (30000, [0.25, 0.5, 0.629_960_524_947_436_6, 0.707_106_781_186_547_6]),
            (45000, [0.5625, 0.75, 0.825_481_812_223_656_7, 0.866_025_403_784_438_6]),
            (
                59999,
                [
                    0.999_966_666_944_444_5,
                    0.999_983_333_333_333_3,
                    0.999_988_888_858_024_5,
                    0.999_991_666_631_944_2,
                ],
            ),
            (60000, [1.0; 4]),
            (u64::MAX, [1.0; 4]),
        ];
        for (age, factors) in table {
            for (aggression, expected) in [0.5, 1.0, 1.5, 2.0].into_iter().zip(factors) {
                let factor = ramp(aggression).factor(age);
                assert_eq!(
                    factor.to_bits(),
                    f64::to_bits(expected),
                    "{age} ms, {aggression}: {factor}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn factors_never_leave_the_unit_interval_or_shrink(
            window_ms in 1..=u64::MAX,
            aggression in prop_oneof![Just(5e-321), Just(f64::MAX), 1e-30..1e30_f64, 0.1..10.0_f64],
            min_weight in 0.0..=1.0_f64,
            ages: [u64; 2],
        ) {
            let ramp = Ramp { window_ms, aggression, min_weight };
            let [younger, older] = [ages[0].min(ages[1]), ages[0].max(ages[1])].map(|age| age % window_ms);
            let (less, more) = (ramp.factor(younger), ramp.factor(older));
            let ordered = younger > older || less <= more;
            prop_assert!(min_weight <= less && less <= 1.0 && ordered, "{less}, then {more}");
        }

        #[test]
        fn steps_go_on_to_the_end_of_the_window(
            window_ms in 1..=10_000_000_u64,
            aggression in 0.2..5.0_f64,
            min_weight in 0.0..=1.0_f64,
        ) {
            let ramp = Ramp { window_ms, aggression, min_weight };
            let (mut age, mut steps) = (0, 0);
            while age < window_ms {
                let next = ramp.next_step(age);
                prop_assert!(next > age && next <= window_ms);
                // One millisecond before the step the factor is not yet that much larger.
                prop_assert!(next == age + 1 || ramp.factor(next - 1) <= ramp.factor(age) * 1.008);
                (age, steps) = (next, steps + 1);
            }
            prop_assert!(steps <= 20_000, "{steps} steps");
        }
    }
}
