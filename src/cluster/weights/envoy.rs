//! Weights from reports as Envoy makes them.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_weight_manager.cc#updateWeightsOnMainThread

use super::{Weighed, median};

/// Whole weights of at least 1; the median for hosts without. A stored 0 never equals what is
/// made of it, so that Envoy finds a change each time. Says whether there is a change.
pub(super) fn weigh(hosts: &[Weighed], weights: &mut [f64]) -> bool {
    let mut known: Vec<f64> = hosts.iter().filter_map(|host| host.verdict.value()).collect();
    let default = match median(&mut known) {
        Some((low, high)) => ((low + high) / 2.0).floor(),
        None => 1.0,
    };
    let mut changed = false;
    for host in hosts {
        let weight = host.verdict.value().unwrap_or(default);
        let place = &mut weights[host.slot as usize];
        let present = if *place > 0.0 { *place } else { host.configured };
        changed |= weight.to_bits() != present.to_bits();
        *place = weight.max(1.0);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::super::tests::hosts;
    use super::*;

    fn pass(usable: &[Option<f64>], before: &[f64]) -> (Vec<f64>, bool) {
        let mut weights = before.to_vec();
        let changed = weigh(&hosts(usable), &mut weights);
        (weights, changed)
    }

    #[test]
    fn the_default_is_the_median_rounded_down() {
        type Row = (&'static [Option<f64>], &'static [f64], bool);
        let table: [Row; 7] = [
            (&[Some(40.0), Some(41.0), Some(42.0)], &[40.0, 41.0, 42.0], true),
            (&[Some(42.0), None, None], &[42.0; 3], true),
            (&[None, None], &[1.0, 1.0], false),
            (&[Some(5.0), Some(42.0), None], &[5.0, 42.0, 23.0], true),
            (&[Some(5.0), Some(42.0), None, None, None], &[5.0, 42.0, 23.0, 23.0, 23.0], true),
            (&[Some(10.0), Some(20.0), Some(30.0), None], &[10.0, 20.0, 30.0, 20.0], true),
            (
                &[Some(5.0), Some(42.0), Some(5000.0), None, None],
                &[5.0, 42.0, 5000.0, 42.0, 42.0],
                true,
            ),
        ];
        for (usable, expected, change) in table {
            let (weights, changed) = pass(usable, &vec![0.0; usable.len()]);
            assert_eq!((weights.as_slice(), changed), (expected, change), "{usable:?}");
            assert!(!pass(usable, &weights).1, "{usable:?} a second time");
        }
    }

    #[test]
    fn a_weight_of_nothing_changes_each_time() {
        assert_eq!(pass(&[Some(0.0)], &[1.0]), (vec![1.0], true));
    }
}
