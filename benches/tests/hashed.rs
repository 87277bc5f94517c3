//! What is compared is the same table.

use plimsoll_benches::hashed::{
    Hosts, MAGLEVS, MaglevTable, PeerTable, RINGS, RingTable, SLOTS, Table, filled_literally, hash,
};
use plimsoll_benches::scenario::weight;

#[test]
fn all_maglev_tables_are_the_one_of_the_rule() {
    let weights: [fn(u32) -> u32; 3] =
        [|_| 1, weight, |host| if host == 3 { 1_000_000 } else { 1 }];
    for hosts in weights.map(|weight| Hosts::new(50, weight)) {
        assert_eq!(MaglevTable::native(&hosts).members(), filled_literally(&hosts, false));
        let expected = filled_literally(&hosts, true);
        assert_eq!(MaglevTable::envoy(&hosts).members(), expected);
        assert_eq!(PeerTable::pointer_maglev(&hosts).members(), expected);
        assert_eq!(PeerTable::compact_maglev(&hosts).members(), expected);
    }
}

#[test]
fn rings_of_both_languages_have_the_same_points_and_find_the_same_hosts() {
    // The second one hashes keys of more than 32 bytes.
    let mut long = Hosts::new(40, |_| 1);
    long.keys.iter_mut().for_each(|key| key.insert_str(0, "a-rather-long-name-of-a-host."));
    for hosts in [Hosts::new(40, |_| 1), long] {
        let (ours, theirs) = (RingTable::envoy(&hosts, 1_000), PeerTable::ring(&hosts, 1_000));
        assert_eq!(ours.members(), theirs.members());
        for number in 0..100_000 {
            assert_eq!(ours.find(hash(number)), theirs.find(hash(number)), "of {number}");
        }
        let sum: u64 = (5..1_000).map(|number| u64::from(ours.find(hash(number)))).sum();
        assert_eq!(theirs.finds(5, 995), sum);
        assert_eq!(ours.finds(5, 995), sum);
    }
}

#[test]
fn a_ring_that_lost_a_host_and_got_it_back_is_the_same() {
    for count in [100, 1_000] {
        let hosts = Hosts::new(count, |_| 1);
        let full = RingTable::native(&hosts, 65_536);
        let fewer = full.without(&hosts, 65_536);
        let points = full.members().len();
        assert_eq!(fewer.members().len(), points - points / count as usize);
        assert_eq!(fewer.with(&hosts, 65_536).members(), full.members());
    }
}

#[test]
fn every_table_uses_all_of_its_hosts() {
    let hosts = Hosts::new(20, |_| 1);
    for (kinds, size) in [(MAGLEVS, SLOTS), (RINGS, 20_000)] {
        for kind in kinds {
            let table = (kind.make)(&hosts, size);
            let mut found: Vec<u32> = (0..10_000).map(|number| table.find(hash(number))).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), 20, "{}", kind.name);
        }
    }
}
