//! Tables against Envoy's tests, against tables that Envoy logged, and against naive ones.

#![allow(clippy::cast_possible_truncation)]

use super::fill::Members;
use super::slots::Slots;
use super::*;
use crate::hashing::{Group, normalized};
use crate::rng::splitmix64;
use proptest::prelude::*;
use std::collections::HashSet;

/// A table as Envoy makes it, and which host each of its members is.
struct Built {
    table: Maglev,
    hosts: Vec<u32>,
}

impl Built {
    /// Of hosts in any order; groups give their weights.
    fn of(keys: &[String], groups: &[Group<'_>], size: u32) -> Self {
        let weights = normalized(groups).weights;
        let mut hosts: Vec<u32> = (0..weights.len() as u32).collect();
        hosts.sort_by_key(|&host| &keys[host as usize]);
        let modulus = Modulus::new(size);
        let permutations: Vec<Permutation> =
            hosts.iter().map(|&host| Permutation::new(&keys[host as usize], modulus)).collect();
        let weights: Vec<f64> = hosts.iter().map(|&host| weights[host as usize]).collect();
        Self { table: Maglev::new(modulus, &permutations, &weights), hosts }
    }

    fn flat(keys: &[String], weights: &[u32], size: u32) -> Self {
        Self::of(keys, &[Group { weight: 1, hosts: weights }], size)
    }

    /// Least and most slots of a host.
    fn gauges(&self) -> [u32; 2] {
        let counts = self.table.counts();
        [counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0)]
    }

    fn slots(&self) -> Vec<u32> {
        self.table.iter().map(|member| self.hosts[member as usize]).collect()
    }

    /// All slots as bytes, hashed.
    fn digest(&self) -> u64 {
        let bytes = self.table.iter().flat_map(|member| (member as u16).to_le_bytes());
        xxhash64(&bytes.collect::<Vec<u8>>(), 0)
    }
}

fn addresses(ports: impl IntoIterator<Item = u32>) -> Vec<String> {
    ports.into_iter().map(|port| format!("127.0.0.1:{port}")).collect()
}

fn permutations(members: usize, modulus: Modulus) -> Vec<Permutation> {
    (0..members).map(|member| Permutation::new(&format!("10.0.0.1:{member}"), modulus)).collect()
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevTable
#[test]
fn permutations_are_those_of_envoy() {
    type Sizes = [(u32, u32, u32); 3];
    let rows: [(&str, Sizes); 6] = [
        ("127.0.0.1:90", [(65_537, 58_304, 65_526), (7, 2, 4), (17, 1, 6)]),
        ("127.0.0.1:91", [(65_537, 57_809, 30_622), (7, 3, 6), (17, 9, 14)]),
        ("127.0.0.1:92", [(65_537, 22_927, 26_902), (7, 0, 2), (17, 9, 6)]),
        ("127.0.0.1:93", [(65_537, 41_206, 29_297), (7, 3, 3), (17, 10, 1)]),
        ("127.0.0.1:94", [(65_537, 36_712, 34_665), (7, 1, 3), (17, 15, 9)]),
        ("127.0.0.1:95", [(65_537, 28_013, 53_317), (7, 1, 5), (17, 5, 5)]),
    ];
    let names =
        [("90", 6, 6), ("91", 5, 5), ("92", 0, 2), ("93", 3, 2), ("94", 4, 1), ("95", 4, 1)];
    let names = names.map(|(name, offset, skip)| (name, (7, offset, skip)));
    let all = rows.iter().flat_map(|(key, sizes)| sizes.iter().map(|size| (*key, *size)));
    for (key, (size, offset, skip)) in all.chain(names) {
        let permutation = Permutation::new(key, Modulus::new(size));
        assert_eq!(permutation, Permutation { offset, skip }, "of {key} in {size} slots");
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevTable
#[test]
fn the_hashes_behind_the_permutations_are_those_of_envoy() {
    for (key, zero, one) in [
        ("127.0.0.1:90", 13_180_206_916_909_469_397, 1_521_841_302_816_948_213),
        ("127.0.0.1:91", 14_287_957_416_708_962_143, 17_357_142_112_957_331_357),
        ("127.0.0.1:92", 8_423_055_348_948_895_690, 17_793_378_079_088_142_613),
        ("127.0.0.1:93", 9_686_654_070_074_522_551, 2_659_385_765_327_237_744),
        ("127.0.0.1:94", 7_799_375_222_174_194_912, 2_739_684_680_390_772_584),
        ("127.0.0.1:95", 2_722_563_676_200_318_021, 10_218_045_428_051_726_404),
        ("90", 8_813_077_733_200_909_832, 8_301_112_513_129_868_363),
        ("91", 1_044_322_560_583_387_888, 3_404_148_227_752_305_922),
        ("92", 15_189_097_823_690_670_831, 8_767_378_614_548_596_669),
        ("93", 9_312_877_567_425_344_755, 16_618_241_806_556_997_775),
        ("94", 10_755_174_171_366_658_954, 4_212_998_931_296_579_130),
        ("95", 4_502_351_689_043_014_937, 3_740_899_585_284_999_558),
    ] {
        let hashes = [0, 1].map(|seed| xxhash64(key.as_bytes(), seed));
        assert_eq!(hashes, [zero, one], "of {key} with seeds 0 and 1");
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#constructImplementationInternals
#[test]
fn small_tables_are_filled_as_in_envoys_tests() {
    let six = addresses(90..96);
    let names: Vec<String> = (90..96).map(|name: u32| name.to_string()).collect();
    let flat = |weights| [Group { weight: 1, hosts: weights }];
    let one = |weight, hosts| Group { weight, hosts };
    let equal = [1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1];
    let double = [1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1];
    let mixed = [1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0];
    let skipping = [one(8, &[1]), one(0, &[3]), one(2, &[2])];
    type Row<'a> = (&'a [String], &'a [Group<'a>], u32, [u32; 2], &'a [u32]);
    let rows: [Row<'_>; 5] = [
        (&six, &flat(&[1; 6]), 7, [1, 2], &[2, 4, 0, 1, 5, 0, 3]),
        (&names, &flat(&[1; 6]), 7, [1, 2], &[2, 5, 0, 3, 4, 1, 0]),
        (&six, &flat(&[1, 2]), 17, [6, 11], &double),
        (&six, &[one(1, &[1]), one(1, &[2])], 17, [8, 9], &equal),
        // The host of the locality without weight takes no part: the second one has port 91.
        (&six, &skipping, 17, [4, 13], &mixed),
    ];
    for (keys, groups, size, gauges, slots) in rows {
        let built = Built::of(keys, groups, size);
        assert_eq!(built.gauges(), gauges, "least and most slots of {groups:?}");
        assert_eq!(built.slots(), slots, "slots of {groups:?}");
    }
}

#[test]
fn a_table_that_is_too_small_leaves_hosts_out() {
    for size in [2, 3] {
        let built = Built::flat(&addresses(90..94), &[1; 4], size);
        assert_eq!(built.gauges(), [0, 1], "least and most slots of four hosts in {size} slots");
        assert_eq!(built.table.counts()[size as usize..], vec![0; 4 - size as usize]);
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevTable
#[test]
fn the_order_in_which_hosts_are_known_does_not_matter() {
    let shuffled = addresses([94, 90, 93, 95, 91, 92]);
    let slots = Built::flat(&shuffled, &[1; 6], 7).slots();
    let ports: Vec<&str> = slots.iter().map(|&host| &shuffled[host as usize][10..]).collect();
    assert_eq!(ports, ["92", "94", "90", "91", "95", "90", "93"]);
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#MaglevTable
#[test]
fn a_single_host_has_no_table() {
    for size in [2, 7, 17] {
        let built = Built::flat(&addresses([90]), &[7], size);
        assert_eq!(built.gauges(), [1, 1]);
        let table = &built.table;
        assert_eq!([table.owners.len(), table.len()], [0, size as usize]);
        assert_eq!(table.iter().collect::<Vec<u32>>(), vec![0; size as usize]);
        assert_eq!(
            [table.attempt(9, 3), table.distinct(9, 3), table.member(table.find(9))],
            [0; 3]
        );
    }
}

#[test]
fn an_empty_table_does_no_harm() {
    for groups in [&[][..], &[Group { weight: 0, hosts: &[1] }]] {
        let built = Built::of(&addresses([90]), groups, 17);
        let table = &built.table;
        assert_eq!([table.members, table.iter().len(), table.counts().len()], [0; 3]);
        assert_eq!(
            [table.attempt(9, 3), table.distinct(9, 3), table.member(table.find(9))],
            [0; 3]
        );
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#constructImplementationInternals
#[test]
fn a_lopsided_table_has_a_slot_for_everyone() {
    let groups = [Group { weight: 127, hosts: &[1] }, Group { weight: 1, hosts: &[1; 1023] }];
    let built = Built::of(&addresses(0..1024), &groups, 65_537);
    assert_eq!(built.gauges(), [1, 64_514]);
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#chooseHost
#[test]
fn attempts_go_where_envoys_go() {
    let built = Built::flat(&addresses(90..96), &[1; 6], 7);
    let tried = [0, 1, 2].map(|attempt| built.table.attempt(10, attempt));
    assert_eq!(tried, [1, 0, 5]);
}

//= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#constructImplementationInternals
#[test]
fn the_tables_that_envoy_logged_come_out_again() {
    let six = addresses(90..96);
    let hundred: Vec<String> = (0..100).map(|host| format!("10.1.0.{host}:8080")).collect();
    let weights: Vec<u32> = (0..100).map(|host| 1 + 7 * host % 10).collect();
    let flat = |weights| [Group { weight: 1, hosts: weights }];
    let (near, far) = weights.split_at(60);
    let localities = [Group { weight: 3, hosts: near }, Group { weight: 1, hosts: far }];
    type Row<'a> = (&'a str, &'a [String], &'a [Group<'a>], u32, [u32; 2], u64, [u32; 6]);
    let rows: [Row<'_>; 6] = [
        (
            "m1",
            &six,
            &flat(&[1; 6]),
            65_537,
            [10_922, 10_923],
            1_704_324_591_524_071_582,
            [5, 4, 4, 0, 5, 1],
        ),
        (
            "m2",
            &six,
            &flat(&[1, 2, 3, 4, 5, 6]),
            65_537,
            [3121, 18_724],
            13_507_787_381_654_473_283,
            [5, 4, 4, 4, 5, 2],
        ),
        (
            "m3",
            &hundred,
            &flat(&[1; 100]),
            65_537,
            [655, 656],
            18_108_289_970_747_728_274,
            [32, 44, 60, 55, 19, 75],
        ),
        (
            "m4",
            &hundred,
            &flat(&weights),
            65_537,
            [120, 1191],
            12_976_815_273_134_692_884,
            [32, 44, 62, 64, 87, 75],
        ),
        (
            "m5",
            &hundred,
            &flat(&weights),
            1009,
            [2, 18],
            11_425_652_108_225_720_937,
            [47, 64, 62, 15, 87, 57],
        ),
        (
            "m6",
            &hundred,
            &localities,
            65_537,
            [75, 1489],
            17_108_053_602_905_828_504,
            [32, 44, 62, 55, 11, 75],
        ),
    ];
    for (name, keys, groups, size, gauges, digest, spots) in rows {
        let built = Built::of(keys, groups, size);
        assert_eq!(built.gauges(), gauges, "least and most slots of {name}");
        let slots = built.slots();
        let found = [slots[0], slots[1], slots[2], slots[3], slots[4], slots[slots.len() - 1]];
        assert_eq!(found, spots, "the first five slots and the last one of {name}");
        assert_eq!(built.digest(), digest, "all slots of {name}");
    }
}

/// What Envoy's source says, slot by slot; weights have been made sound.
fn naive(size: u32, permutations: &[Permutation], weights: &[f64]) -> Vec<u32> {
    let heaviest = weights.iter().copied().fold(0.0, f64::max);
    let mut table = vec![None; size as usize];
    let mut members = vec![(0.0_f64, 0_u64); weights.len()];
    let mut free = size;
    for turn in 1.. {
        for (index, weight) in weights.iter().enumerate() {
            let (target, next) = &mut members[index];
            if f64::from(turn) * weight < *target {
                continue;
            }
            *target += heaviest;
            let Permutation { offset, skip } = permutations[index];
            let slot =
                |next| ((u64::from(offset) + u64::from(skip) * next) % u64::from(size)) as usize;
            while table[slot(*next)].is_some() {
                *next += 1;
            }
            table[slot(*next)] = Some(index as u32);
            *next += 1;
            free -= 1;
            if free == 0 {
                return table.into_iter().flatten().collect();
            }
        }
    }
    unreachable!("the heaviest member claims a slot in each turn");
}

/// Weights of members that have slowed tables down or confused them.
fn weights() -> impl Strategy<Value = Vec<f64>> {
    let one = prop_oneof![
        3 => (1..100_u32).prop_map(f64::from),
        2 => 0.0..1.0,
        1 => Just(1e9),
        1 => Just(1.0),
        1 => Just(0.0),
        1 => (1..9_u64).prop_map(f64::from_bits),
        1 => Just(f64::MIN_POSITIVE),
    ];
    let odd =
        prop_oneof![Just(f64::NAN), Just(-1.0), Just(f64::INFINITY), Just(f64::MAX), Just(0.0)];
    prop_oneof![
        4 => prop::collection::vec(one, 2..60),
        1 => (2..60_usize).prop_map(|members| vec![1.0 / members as f64; members]),
        1 => (2..200_usize).prop_map(|members| {
            let mut weights = vec![1.0; members];
            weights[members / 2] = 1e9;
            weights
        }),
        1 => prop::collection::vec(odd, 2..20),
    ]
}

fn sizes() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![2, 3, 5, 7, 17, 31, 101, 251, 1009, 4099])
}

proptest! {
    #[test]
    fn both_ways_of_filling_give_the_naive_table(weights in weights(), size in sizes()) {
        let modulus = Modulus::new(size);
        let permutations = permutations(weights.len(), modulus);
        let mut sound: Vec<f64> = weights.iter().map(|weight| weight.sound()).collect();
        if !sound.iter().any(|&weight| weight > 0.0) {
            sound.fill(1.0);
        }
        let expected = naive(size, &permutations, &sound);
        let members = || Members::new(modulus, &permutations, &weights);
        prop_assert_eq!(&members().by_asking(Slots::new(modulus)), &expected, "by asking");
        prop_assert_eq!(&members().by_calendar(Slots::new(modulus)), &expected, "by calendar");
        let table = Maglev::new(modulus, &permutations, &weights);
        prop_assert_eq!(table.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn both_ways_agree_about_whole_numbers(
        weights in prop::collection::vec((any::<u64>(), 0..64_u32), 2..60),
        size in sizes(),
    ) {
        let weights: Vec<u64> = weights.iter().map(|&(weight, shift)| weight >> shift).collect();
        let modulus = Modulus::new(size);
        let permutations = permutations(weights.len(), modulus);
        let members = || Members::new(modulus, &permutations, &weights);
        let asked = members().by_asking(Slots::new(modulus));
        prop_assert_eq!(&members().by_calendar(Slots::new(modulus)), &asked);
        let owners: HashSet<&u32> = asked.iter().collect();
        prop_assert_eq!(owners.len(), weights.len().min(size as usize), "members with a slot");
        if weights.iter().all(|&weight| weight < 1 << 30) {
            // Floats are exact as well.
            let floats: Vec<f64> = weights.iter().map(|&weight| weight as f64).collect();
            let table = Maglev::new(modulus, &permutations, &floats);
            prop_assert_eq!(table.iter().collect::<Vec<_>>(), asked);
        }
    }

    #[test]
    fn attempts_go_to_all_members_in_turn(weights in weights(), size in sizes(), hash: u64) {
        let members = weights.len().min(129) as u32;
        let modulus = Modulus::new(size);
        let permutations = permutations(weights.len(), modulus);
        let table = Maglev::new(modulus, &permutations, &weights);
        let order: Vec<u32> = (0..members).map(|attempt| table.distinct(hash, attempt)).collect();
        let all: HashSet<&u32> = order.iter().collect();
        prop_assert_eq!(all.len(), order.len(), "a member twice: {:?}", order);
        prop_assert_eq!(order[0], table.member(table.find(hash)), "the first one is the pick");
        prop_assert_eq!(table.distinct(hash, members), order[0], "then all begins again");
    }
}

#[test]
fn both_ways_of_filling_agree_about_full_tables() {
    let modulus = Modulus::new(65_537);
    let permutations = permutations(100, modulus);
    let weights: [fn(u64) -> f64; 4] = [
        |member| if member == 50 { 1e9 } else { 1.0 },
        |member| 1.0 / (member + 1) as f64,
        |member| (splitmix64(member) % 100 + 1) as f64 / 5050.0,
        |member| 0.7_f64.powi(member as i32),
    ];
    for (set, weight) in weights.iter().enumerate() {
        let weights: Vec<f64> = (0..100).map(weight).collect();
        let members = || Members::new(modulus, &permutations, &weights);
        let asked = members().by_asking(Slots::new(modulus));
        let is_same = asked == members().by_calendar(Slots::new(modulus));
        assert!(is_same, "tables of the set {set} of weights differ");
    }
}

#[test]
fn a_heavy_member_takes_no_more_than_its_share() {
    let modulus = Modulus::new(65_537);
    let mut weights = vec![1_u64; 5000];
    weights[17] = 1000;
    let table = Maglev::new(modulus, &permutations(5000, modulus), &weights);
    // A light one deserves 10.9 slots. All of them round up, which the heavy one pays for: it
    // deserves 10 924.
    let mut counts = table.counts();
    assert_eq!(counts.swap_remove(17), 10_548, "slots of the heavy member");
    assert_eq!(counts, [11; 4999], "slots of the light members");
}

#[test]
fn a_permutation_for_another_size_does_no_harm() {
    let strange = Permutation { offset: u32::MAX, skip: 0 };
    let other = Permutation::new("a", Modulus::new(65_537));
    let table = Maglev::new(Modulus::new(7), &[strange, other], &[1_u64, 1]);
    let mut counts = table.counts();
    counts.sort_unstable();
    assert_eq!(counts, [3, 4]);
}

#[test]
fn the_largest_table_and_many_members_work() {
    let modulus = Modulus::new(655_373);
    let permutations = permutations(70_000, modulus);
    let table = Maglev::new(modulus, &permutations, &vec![1_u64; 70_000]);
    let counts = table.counts();
    let (least, most) = (counts.iter().min(), counts.iter().max());
    assert_eq!((least, most), (Some(&9), Some(&10)), "slots of equal members");
    for hash in (0..1000).map(splitmix64) {
        let slot = (hash % 655_373) as usize;
        assert_eq!(table.find(hash), slot);
    }
}
