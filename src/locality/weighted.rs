//! Weights of localities, cut to what is available in them.

use super::WHOLE;

/// The hosts of one locality as its weight sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Available {
    /// What the assignment gave the locality, or 0.
    pub(crate) weight: u32,
    /// Hosts, or their weights, that are eligible.
    pub(crate) eligible: u64,
    /// Hosts, or their weights, that percentages are taken of.
    pub(crate) considered: u64,
}

/// The effective weight in Envoy, in its order of operations.
//= envoy v1.40 source/extensions/load_balancing_policies/common/locality_wrr.cc#effectiveLocalityWeight
#[allow(clippy::cast_precision_loss)] // as in Envoy
pub(crate) fn envoy(available: Available, overprovisioning_factor: u32) -> f64 {
    let Available { weight, eligible, considered } = available;
    if considered == 0 {
        return 0.0;
    }
    let availability = eligible as f64 / considered as f64;
    let factor = f64::from(overprovisioning_factor) / 100.0;
    f64::from(weight) * f64::min(1.0, factor * availability)
}

/// The same in whole numbers: a locality whose hosts are all there has its weight times [`WHOLE`].
pub(crate) fn native(available: Available, overprovisioning_factor: u32) -> u128 {
    let Available { weight, eligible, considered } = available;
    let whole = u128::from(WHOLE);
    let factor = u128::from(overprovisioning_factor) * u128::from(eligible);
    let availability = (factor * whole).checked_div(100 * u128::from(considered)).unwrap_or(0);
    u128::from(weight) * availability.min(whole)
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // exact
mod tests {
    use super::*;

    #[test]
    fn a_locality_keeps_its_weight_until_too_few_are_available() {
        let table = [
            ((1, 5, 5, 140), 1.0),
            ((1, 4, 5, 140), 1.0),
            ((1, 3, 5, 140), 0.84),
            ((1, 2, 5, 140), 0.559_999_999_999_999_9),
            ((1, 1, 5, 140), 0.279_999_999_999_999_97),
            ((3, 0, 5, 140), 0.0),
            ((3, 1, 2, 100), 1.5),
            ((3, 1, 2, 200), 3.0),
            ((3, 0, 0, 140), 0.0),
            ((0, 1, 1, 140), 0.0),
        ];
        for ((weight, eligible, considered, factor), expected) in table {
            let available = Available { weight, eligible, considered };
            assert_eq!(envoy(available, factor), expected, "{available:?}");
            let native = native(available, factor) as f64 / WHOLE as f64;
            assert!((native - expected).abs() < 1e-8, "{available:?}: {native}");
        }
    }
}
