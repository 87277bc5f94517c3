//! The look that a pick begins with against the way for any pool and selection.

use super::*;
use crate::host::Table;
use crate::policy::native::{Chunk, Layout, Weights};
use crate::priority::native::SCALE;
use crate::sync::Arc;
use proptest::prelude::*;

const TWO: Selection =
    Selection { choices: Some(2), active_request_bias: 1.0, counts_pending: false };

/// Two priorities at 3 : 1; the first has two localities.
fn least_request(weights: &[Vec<u32>; 3], loads: &[u32], selection: Selection) -> LeastRequest {
    let table = Table::new();
    let cells = table.grow(loads.len());
    (0..).zip(loads).for_each(|(slot, &load)| table.set_load(slot, load, None));
    let mut slots = 0..;
    let mut chunk = |weights: &Vec<u32>| {
        let host = |slot| HostId { slot, generation: 0 };
        let hosts: Vec<HostId> = slots.by_ref().take(weights.len()).map(host).collect();
        let chunk = Chunk::new(&hosts, Weights::Whole(weights.clone()), Layout::Lottery);
        [Some(Arc::new(chunk)), None, None]
    };
    let [first, second, third] = weights;
    let chunks = [vec![chunk(first), chunk(second)], vec![chunk(third)]]
        .map(|localities| Chunks { localities, ..Chunks::default() });
    let healthy = [SCALE / 4 * 3, SCALE / 4].into();
    let (degraded, panic) = ([0, 0].into(), [false, false].into());
    let loads = Loads { healthy, degraded, panic, healthy_hosts: 8 };
    LeastRequest::new(false, &loads, &chunks, cells, selection)
}

fn picks(tables: &LeastRequest, numbers: &[u64]) -> Vec<Chosen> {
    let mut state = State::new(1, 0, 0, Arc::default());
    state.draws.queue(numbers);
    let pick = |_: &u64| tables.pick(&mut state, &mut (), |chosen, _| chosen);
    numbers.iter().map(pick).collect()
}

/// The same tables without what is at hand.
fn in_the_long_way(mut tables: LeastRequest) -> LeastRequest {
    let portions = tables.portions.items().iter().map(|it| Pooled {
        start: it.start,
        last: it.last,
        choice: it.choice,
        ordinary: None,
        pool: it.pool.clone(),
    });
    tables.portions = Guide::new(portions.collect());
    tables
}

fn hosts() -> impl Strategy<Value = [Vec<u32>; 3]> {
    let some = |weight: fn() -> BoxedStrategy<u32>| prop::collection::vec(weight(), 1..20);
    let weights = || {
        prop_oneof![
            some(|| Just(3).boxed()),
            some(|| (1..=9_u32).boxed()),
            some(|| (1..=u32::MAX).boxed()),
        ]
    };
    [weights(), weights(), weights()]
}

proptest! {
    #[test]
    fn a_look_and_the_long_way_come_to_the_same_host(
        weights in hosts(),
        loads in prop_oneof![
            prop::collection::vec(0..4_u32, 60),
            prop::collection::vec(0..=1_u32 << 30, 60),
        ],
        numbers in prop::collection::vec(any::<u64>(), 200),
    ) {
        let tables = || least_request(&weights, &loads, TWO);
        let expected = picks(&in_the_long_way(tables()), &numbers);
        prop_assert_eq!(picks(&tables(), &numbers), expected);
    }
}

#[test]
fn only_two_choices_by_active_requests_are_ordinary() {
    let weights = [vec![1, 2], vec![3], vec![1]];
    let is_ordinary = |selection| {
        let tables = least_request(&weights, &[0; 4], selection);
        tables.portions.items().iter().map(|it| it.ordinary.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(is_ordinary(TWO), [true, false], "one host is no choice");
    let others = [
        Selection { choices: Some(3), ..TWO },
        Selection { choices: None, ..TWO },
        Selection { active_request_bias: 0.5, ..TWO },
        Selection { counts_pending: true, ..TWO },
    ];
    for selection in others {
        assert_eq!(is_ordinary(selection), [false, false], "{selection:?}");
    }
}
