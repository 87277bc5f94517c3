//! Envoy's rings, entry by entry.

use super::*;
use crate::hashing::xxhash64;

/// A ring as Envoy makes it, and what its gauges tell.
struct Built {
    ring: Ring,
    size: u64,
    counts: Vec<u32>,
}

impl Built {
    fn of(keys: &[String], groups: &[Group<'_>], sizes: [u32; 2], function: HashFunction) -> Self {
        let parts = normalized(groups);
        let (counts, size) = envoy_counts(&parts.weights, sizes[0], sizes[1]);
        let ring = Ring::new(&borrowed(keys), &counts, function, None);
        Self { ring, size, counts }
    }

    /// One locality, xxHash.
    fn flat(keys: &[String], weights: &[u32], sizes: [u32; 2]) -> Self {
        Self::of(keys, &[Group { weight: 1, hosts: weights }], sizes, HashFunction::XxHash)
    }

    /// Size, least and most points of a host.
    fn gauges(&self) -> [u64; 3] {
        let least = self.counts.iter().min().copied().unwrap_or(0);
        let most = self.counts.iter().max().copied().unwrap_or(0);
        [self.size, least.into(), most.into()]
    }

    fn points(&self) -> Vec<(u64, u32)> {
        self.ring.iter().collect()
    }

    fn choose(&self, hash: u64) -> u32 {
        self.ring.member(self.ring.find(hash))
    }

    /// How many of `keys` evenly spread hashes go to each host.
    fn histogram(&self, keys: u64) -> Vec<u32> {
        let mut counts = vec![0; self.ring.members()];
        (0..keys).for_each(|key| counts[self.choose(key * (u64::MAX / keys)) as usize] += 1);
        counts
    }

    /// All points as bytes, hashed.
    fn digest(&self) -> u64 {
        let bytes = self.ring.iter().flat_map(|(hash, member)| {
            hash.to_le_bytes().into_iter().chain((member as u16).to_le_bytes())
        });
        xxhash64(&bytes.collect::<Vec<u8>>(), 0)
    }
}

const DEFAULT: [u32; 2] = [1024, 8_388_608];
const AT_LEAST: fn(u32) -> [u32; 2] = |minimum| [minimum, 8_388_608];

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn six_hosts_have_two_points_each() {
    let built = Built::flat(&addresses(90..96), &[1; 6], AT_LEAST(12));
    assert_eq!(built.gauges(), [12, 2, 2]);
    let expected = [
        (833_437_586_790_550_860, 4),
        (928_266_305_478_181_108, 2),
        (1_033_482_794_131_418_490, 0),
        (3_551_244_743_356_806_947, 5),
        (3_851_675_632_748_031_481, 3),
        (5_583_722_120_771_150_861, 1),
        (6_311_230_543_546_372_928, 1),
        (7_700_377_290_971_790_572, 3),
        (13_144_177_310_400_110_813, 5),
        (13_444_792_449_719_432_967, 2),
        (15_516_499_411_664_133_160, 4),
        (16_117_243_373_044_804_889, 0),
    ];
    assert_eq!(built.points(), expected);
    for (hash, host) in [
        (0, 4),
        (u64::MAX, 4),
        (3_551_244_743_356_806_947, 5),
        (3_551_244_743_356_806_948, 3),
        (16_117_243_373_044_804_880, 0),
    ] {
        assert_eq!(built.choose(hash), host, "the host of {hash}");
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#chooseHost
#[test]
fn attempts_go_from_point_to_point() {
    let built = Built::flat(&addresses(90..96), &[1; 6], AT_LEAST(12));
    for (attempt, host) in [(0, 4), (1, 2), (2, 0), (6, 1), (11, 0), (12, 4), (14, 0)] {
        assert_eq!(built.ring.attempt(0, attempt), host, "attempt {attempt}");
    }
    // Thirteen retries, all refused, end at the fourteenth point.
    assert_eq!(built.ring.attempt(0, 13), 2);
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn murmur_hash_makes_another_ring() {
    let group = Group { weight: 1, hosts: &[1; 6] };
    let keys = addresses(80..86);
    let built = Built::of(&keys, &[group], AT_LEAST(12), HashFunction::MurmurHash2);
    let expected = [
        (1_358_027_074_129_602_068, 5),
        (4_361_834_613_929_391_114, 3),
        (7_224_494_972_555_149_682, 4),
        (7_701_421_856_454_313_576, 1),
        (8_649_315_368_077_433_379, 2),
        (8_739_448_859_063_030_639, 4),
        (9_887_544_217_113_020_895, 1),
        (10_150_910_876_324_007_731, 2),
        (15_168_472_011_420_622_455, 3),
        (15_427_156_902_705_414_897, 0),
        (16_375_050_414_328_759_093, 5),
        (17_613_279_263_364_193_813, 0),
    ];
    assert_eq!(built.points(), expected);
    for (hash, host) in [
        (0, 5),
        (u64::MAX, 5),
        (1_358_027_074_129_602_068, 5),
        (1_358_027_074_129_602_069, 3),
        (10_150_910_876_324_007_730, 2),
    ] {
        assert_eq!(built.choose(hash), host, "the host of {hash}");
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn names_make_another_ring_than_addresses() {
    let names: Vec<String> = (90..96).map(|name: u32| name.to_string()).collect();
    let built = Built::flat(&names, &[1; 6], AT_LEAST(12));
    let expected = [
        (1_975_508_444_536_362_413, 5),
        (2_376_063_919_839_173_711, 5),
        (2_386_806_903_309_390_596, 3),
        (6_749_904_478_991_551_885, 4),
        (6_803_900_775_736_438_537, 3),
        (7_225_015_537_174_310_577, 2),
        (8_787_465_352_164_086_522, 0),
        (11_282_020_843_382_717_940, 2),
        (13_723_418_369_486_627_818, 1),
        (13_776_502_110_861_797_421, 0),
        (14_338_313_586_354_474_791, 1),
        (15_364_271_037_087_512_980, 4),
    ];
    assert_eq!(built.points(), expected);
    for (hash, host) in
        [(0, 5), (u64::MAX, 5), (7_225_015_537_174_310_577, 2), (6_803_900_775_736_438_537, 3)]
    {
        assert_eq!(built.choose(hash), host, "the host of {hash}");
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn a_size_that_does_not_divide_grows() {
    let built = Built::flat(&addresses(80..82), &[1, 1], AT_LEAST(3));
    assert_eq!(built.gauges(), [4, 2, 2]);
    let expected = [
        (5_454_692_015_285_649_509, 0),
        (7_859_399_908_942_313_493, 1),
        (13_838_424_394_637_650_569, 0),
        (16_064_866_803_292_627_174, 1),
    ];
    assert_eq!(built.points(), expected);
    let built = Built::flat(&addresses(81..83), &[1, 1], AT_LEAST(3));
    let expected = [
        (7_859_399_908_942_313_493, 0),
        (8_241_336_090_459_785_962, 1),
        (12_882_406_409_176_325_258, 1),
        (16_064_866_803_292_627_174, 0),
    ];
    assert_eq!(built.points(), expected);
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn weights_of_hosts_and_of_localities_count_alike() {
    let keys = addresses(90..93);
    let one = |weight| Group { weight, hosts: &[1] };
    let localities = [one(1), one(2), one(3), one(0)];
    let flat = Built::flat(&keys, &[1, 2, 3], [6, 6]);
    let weighted = Built::of(&keys, &localities, [6, 6], HashFunction::XxHash);
    let expected = [
        (928_266_305_478_181_108, 2),
        (4_443_673_547_860_492_590, 2),
        (5_583_722_120_771_150_861, 1),
        (6_311_230_543_546_372_928, 1),
        (13_444_792_449_719_432_967, 2),
        (16_117_243_373_044_804_889, 0),
    ];
    for built in [flat, weighted] {
        assert_eq!(built.gauges(), [6, 1, 3]);
        assert_eq!(built.points(), expected);
    }
}

/// Two localities, the second one with twice the weight, and in each a host with twice the weight.
const NESTED: [Group<'static>; 2] =
    [Group { weight: 1, hosts: &[1, 2] }, Group { weight: 2, hosts: &[1, 2] }];

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn weights_of_hosts_and_localities_multiply() {
    let built = Built::of(&addresses(90..94), &NESTED, [9, 9], HashFunction::XxHash);
    assert_eq!(built.gauges(), [9, 1, 4]);
    let expected = [
        (928_266_305_478_181_108, 2),
        (3_851_675_632_748_031_481, 3),
        (5_583_722_120_771_150_861, 1),
        (6_311_230_543_546_372_928, 1),
        (7_700_377_290_971_790_572, 3),
        (12_559_126_875_973_811_811, 3),
        (13_444_792_449_719_432_967, 2),
        (13_784_988_426_630_141_778, 3),
        (16_117_243_373_044_804_889, 0),
    ];
    assert_eq!(built.points(), expected);
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#chooseHost
#[test]
fn keys_are_spread_as_envoy_spreads_them() {
    let built = Built::flat(&addresses(90..93), &[1, 2, 3], AT_LEAST(6144));
    assert_eq!(built.gauges(), [6144, 1024, 3072]);
    assert_eq!(built.histogram(6000), [987, 1932, 3081]);
    let built = Built::of(&addresses(90..94), &NESTED, AT_LEAST(9216), HashFunction::XxHash);
    assert_eq!(built.gauges(), [9216, 1024, 4096]);
    assert_eq!(built.histogram(9000), [924, 2009, 2053, 4014]);
    let built = Built::flat(&addresses(90..92), &[1, 1], [1023, 1023]);
    assert_eq!(built.gauges(), [1023, 511, 512]);
    assert_eq!(built.histogram(1023), [526, 497]);
    let built = Built::flat(&addresses(90..94), &[1; 4], [2, 2]);
    assert_eq!(built.gauges(), [2, 0, 1]);
    let histogram = built.histogram(1024);
    assert_eq!([histogram[1], histogram[3]], [0, 0], "two hosts have no point: {histogram:?}");
    assert_eq!(histogram.iter().sum::<u32>(), 1024);
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn a_lopsided_ring_leaves_most_hosts_without_a_point() {
    let groups = [Group { weight: 127, hosts: &[1] }, Group { weight: 1, hosts: &[1; 1023] }];
    let built = Built::of(&addresses(0..1024), &groups, [1024, 1024], HashFunction::XxHash);
    assert_eq!(built.gauges(), [1024, 0, 1016]);
    let others: Vec<(u64, u32)> = built.ring.iter().filter(|&(_, host)| host != 0).collect();
    let mut expected = [
        (11_664_790_346_325_243_808, 1),
        (15_894_554_872_961_148_518, 128),
        (13_958_138_884_277_627_155, 256),
        (15_803_774_069_438_192_949, 384),
        (3_829_253_010_855_396_576, 512),
        (17_918_147_347_826_565_154, 640),
        (6_442_769_608_292_299_103, 768),
        (5_881_074_926_069_334_434, 896),
    ];
    expected.sort_unstable();
    assert_eq!(others, expected);
}

//= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[test]
fn the_rings_that_envoy_logged_come_out_again() {
    let six = addresses(90..96);
    let hundred: Vec<String> = (0..100).map(|host| format!("10.1.0.{host}:8080")).collect();
    let weights: Vec<u32> = (0..100).map(|host| 1 + 7 * host % 10).collect();
    let flat = |weights| [Group { weight: 1, hosts: weights }];
    let (near, far) = weights.split_at(60);
    let localities = [Group { weight: 3, hosts: near }, Group { weight: 1, hosts: far }];
    let (xx, murmur) = (HashFunction::XxHash, HashFunction::MurmurHash2);
    let full = [4096, 4096];
    type Row<'a> = (&'a str, &'a [String], &'a [Group<'a>], [u32; 2], HashFunction, [u64; 3], u64);
    let rows: [Row<'_>; 7] = [
        ("r1", &six, &flat(&[1; 6]), DEFAULT, xx, [1026, 171, 171], 10_951_225_729_894_937_324),
        (
            "r2",
            &six,
            &flat(&[1, 2, 3, 4, 5, 6]),
            DEFAULT,
            xx,
            [1029, 49, 294],
            6_287_014_336_277_903_540,
        ),
        ("r3", &hundred, &flat(&[1; 100]), DEFAULT, xx, [1100, 11, 11], 10_660_665_542_121_487_364),
        ("r4", &hundred, &flat(&weights), DEFAULT, xx, [1100, 2, 20], 1_315_685_809_509_358_834),
        ("r5", &hundred, &flat(&weights), full, xx, [4096, 7, 75], 9_851_683_582_975_688_578),
        ("r6", &hundred, &localities, DEFAULT, xx, [1760, 2, 40], 5_513_480_223_097_348_220),
        (
            "r7",
            &hundred,
            &flat(&weights),
            DEFAULT,
            murmur,
            [1100, 2, 20],
            13_865_071_609_057_266_034,
        ),
    ];
    for (name, keys, groups, sizes, function, gauges, digest) in rows {
        // A digest numbers hosts in the order of their keys.
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&host| &keys[host]);
        let mut built = Built::of(keys, groups, sizes, function);
        assert_eq!(built.gauges(), gauges, "sizes of {name}");
        let sorted: Vec<String> = order.iter().map(|&host| keys[host].clone()).collect();
        let counts: Vec<u32> = order.iter().map(|&host| built.counts[host]).collect();
        built.ring = Ring::new(&borrowed(&sorted), &counts, function, None);
        assert_eq!(built.digest(), digest, "points of {name}");
    }
}

#[test]
fn header_values_go_where_envoy_sent_them() {
    let built = Built::flat(&addresses(9101..9104), &[1; 3], AT_LEAST(100));
    assert_eq!(built.size, 102);
    let mut counts = [0; 3];
    for value in 0..200 {
        let hash = xxhash64(value.to_string().as_bytes(), 0);
        counts[built.choose(hash) as usize] += 1;
    }
    assert_eq!(counts, [65, 78, 57]);
}

/// What Envoy's source says, point by point.
fn naive_counts(weights: &[f64], minimum: u32, maximum: u32) -> Vec<u32> {
    let least = weights.iter().copied().fold(1.0, f64::min);
    let scale = f64::min((least * f64::from(minimum)).ceil() / least, f64::from(maximum));
    let (mut current, mut target) = (0.0, 0.0);
    let mut counts = Vec::new();
    for weight in weights {
        target += scale * weight;
        let mut count = 0;
        while current < target {
            count += 1;
            current += 1.0;
        }
        counts.push(count);
    }
    counts
}

proptest::proptest! {
    #[test]
    fn points_are_counted_as_if_one_by_one(
        weights in proptest::collection::vec(1..1000_u32, 1..60),
        minimum in 1..3000_u32,
        more in 0..3000_u32,
    ) {
        let parts = normalized(&[Group { weight: 1, hosts: &weights }]).weights;
        let (counts, size) = envoy_counts(&parts, minimum, minimum + more);
        let expected = naive_counts(&parts, minimum, minimum + more);
        proptest::prop_assert_eq!(&counts, &expected);
        let points: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        proptest::prop_assert!(points <= size + 1, "{} points in a ring of {}", points, size);
    }
}

#[test]
fn one_host_among_many_light_ones_is_left_without_a_point() {
    let mut weights = vec![1; 5000];
    weights[0] = 1000;
    let parts = normalized(&[Group { weight: 1, hosts: &weights }]);
    let (counts, _) = envoy_counts(&parts.weights, 1024, 8_388_608);
    assert_eq!(counts.iter().min(), Some(&0), "sums of floats drift in Envoy");
    let counts =
        native_counts(&weights.iter().copied().map(u64::from).collect::<Vec<_>>(), 128, 8_388_608);
    assert_eq!(counts.iter().min(), Some(&128), "native has no sums to drift");
}

#[test]
fn odd_weights_and_sizes_do_no_harm() {
    for weights in [&[][..], &[0.0], &[f64::NAN, 0.5], &[f64::INFINITY, 1.0], &[-1.0, 0.5], &[7.0]]
    {
        for sizes in [[0, 0], [0, 5], [10, 5], [10, 20]] {
            let (counts, _) = envoy_counts(weights, sizes[0], sizes[1]);
            assert_eq!(counts.len(), weights.len());
            let points: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            assert!(points <= 21, "{points} points for {weights:?} and sizes {sizes:?}");
        }
    }
}
