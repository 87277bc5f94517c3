//! Parts of a whole for the members of a table, in floats in exactly Envoy's order.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#normalizeWeights

/// A locality's weight and those of its hosts that take part. Without locality weights all hosts
/// are those of one locality of weight 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) weight: u32,
    pub(crate) hosts: &'a [u32],
}

/// What [`normalized`] returns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Normalized {
    /// The part of each host of each group that has a weight, in order.
    pub(crate) weights: Vec<f64>,
    /// The least part; 1 if there is none.
    pub(crate) minimum: f64,
    /// The greatest part; 0 if there is none.
    pub(crate) maximum: f64,
}

/// The parts of all hosts. Groups of weight 0 have none; a group with a weight but without hosts
/// leaves its part to nobody, so that the sum is less than 1.
pub(crate) fn normalized(groups: &[Group<'_>]) -> Normalized {
    let total = sum(groups.iter().map(|group| group.weight));
    let mut weights = Vec::with_capacity(groups.iter().map(|group| group.hosts.len()).sum());
    for group in groups.iter().filter(|group| group.weight > 0) {
        let part = f64::from(group.weight) / total;
        let hosts = sum(group.hosts.iter().copied());
        weights.extend(group.hosts.iter().map(|&host| f64::from(host) * part / hosts));
    }
    let minimum = weights.iter().copied().fold(1.0, f64::min);
    let maximum = weights.iter().copied().fold(0.0, f64::max);
    Normalized { weights, minimum, maximum }
}

#[allow(clippy::cast_precision_loss)]
fn sum(weights: impl Iterator<Item = u32>) -> f64 {
    weights.map(u64::from).sum::<u64>() as f64
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // equal to the bit is what is asked for
mod tests {
    use super::*;

    //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#normalizeWeights
    #[test]
    fn hosts_share_what_their_locality_has() {
        let near = Group { weight: 1, hosts: &[1, 2] };
        let far = Group { weight: 2, hosts: &[1, 2] };
        let off = Group { weight: 0, hosts: &[7] };
        let parts = normalized(&[near, off, far]);
        let third = 1.0 / 3.0;
        let expected = [third / 3.0, 2.0 * third / 3.0, 2.0 / 3.0 / 3.0, 2.0 * (2.0 / 3.0) / 3.0];
        assert_eq!(parts.weights, expected, "a host of a locality without weight has no part");
        assert_eq!([parts.minimum, parts.maximum], [expected[0], expected[3]]);
    }

    #[test]
    fn the_part_of_a_locality_without_hosts_is_lost() {
        let parts =
            normalized(&[Group { weight: 1, hosts: &[] }, Group { weight: 1, hosts: &[5] }]);
        assert_eq!(parts.weights, [0.5]);
    }

    #[test]
    fn nothing_to_share_leaves_the_limits_where_they_start() {
        for groups in [&[][..], &[Group { weight: 0, hosts: &[1] }]] {
            let parts = normalized(groups);
            assert_eq!(parts, Normalized { weights: vec![], minimum: 1.0, maximum: 0.0 });
        }
    }
}
