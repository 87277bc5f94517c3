//! The exact shares against counting numbers one by one.

use super::*;
use std::collections::BTreeMap;

fn two_priorities(method: Method) -> Tables {
    let lists = |healthy, all| Arc::new(Lists { healthy, all, ..Lists::default() });
    let hosts = List::of_equal_weight;
    Tables {
        method,
        weighing: Weighing { selection: None, slow_start: None },
        cells: Cells::default(),
        fail_traffic_on_panic: false,
        loads: Loads {
            healthy: vec![70, 30],
            degraded: vec![0, 0],
            panic: vec![false, false],
            healthy_hosts: 42,
        },
        lists: [lists(hosts(0..30), hosts(0..60)), lists(hosts(60..72), hosts(60..72))].into(),
        localities: [Localities::default(), Localities::default()].into(),
        updates: [1, 1].into(),
        children: 0,
    }
}

#[test]
fn random_shares_are_those_of_every_number() {
    let tables = two_priorities(Method::Random);
    let mut shares = BTreeMap::new();
    tables.shares(0, |slot, share| *shares.entry(slot).or_insert(0.0) += share);
    let mut state = State::new(0, 0, 0, Arc::default());
    let mut counts = BTreeMap::new();
    // 300 is a multiple of 100, 30 and 12, so these numbers are all there is to see.
    for number in 0..300 {
        state.draws.queue(&[number]);
        let candidate = tables.pick(&mut state, &mut ()).unwrap();
        *counts.entry(candidate.host.slot).or_insert(0) += 1;
    }
    for (slot, share) in shares {
        let counted = f64::from(counts.get(&slot).copied().unwrap_or(0)) / 300.0;
        assert!((share - counted).abs() < 1e-12, "slot {slot}: {share} but counted {counted}");
    }
}

#[test]
fn round_robin_shares_are_equal_within_a_list() {
    let tables = two_priorities(Method::RoundRobin);
    let mut shares = vec![0.0; 72];
    tables.shares(0, |slot, share| shares[slot as usize] += share);
    assert!((shares[0] - 0.7 / 30.0).abs() < 1e-12 && (shares[60] - 0.3 / 12.0).abs() < 1e-12);
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}
