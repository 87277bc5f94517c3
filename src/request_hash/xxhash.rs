//! xxHash64, which Envoy hashes the parts of a request with.

const PRIME_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME_5: u64 = 0x27D4_EB2F_1656_67C5;

/// The hash of some bytes.
pub(super) fn xxhash64(bytes: &[u8], seed: u64) -> u64 {
    let (stripes, rest) = bytes.as_chunks::<32>();
    let hash = if stripes.is_empty() { seed.wrapping_add(PRIME_5) } else { long(stripes, seed) };
    let hash = hash.wrapping_add(bytes.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| {
        let mixed = hash ^ round(0, u64::from_le_bytes(*word));
        mixed.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4)
    });
    let (halves, rest) = rest.as_chunks::<4>();
    let hash = halves.iter().fold(hash, |hash, half| {
        let mixed = hash ^ u64::from(u32::from_le_bytes(*half)).wrapping_mul(PRIME_1);
        mixed.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3)
    });
    let hash = rest.iter().fold(hash, |hash, &byte| {
        let mixed = hash ^ u64::from(byte).wrapping_mul(PRIME_5);
        mixed.rotate_left(11).wrapping_mul(PRIME_1)
    });
    let hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
    let hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
    hash ^ (hash >> 32)
}

fn long(stripes: &[[u8; 32]], seed: u64) -> u64 {
    let mut lanes = [
        seed.wrapping_add(PRIME_1).wrapping_add(PRIME_2),
        seed.wrapping_add(PRIME_2),
        seed,
        seed.wrapping_sub(PRIME_1),
    ];
    for stripe in stripes {
        let (words, _) = stripe.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = round(*lane, u64::from_le_bytes(*word));
        }
    }
    let rotations = [1, 7, 12, 18];
    let sum = |sum: u64, (lane, by): (&u64, u32)| sum.wrapping_add(lane.rotate_left(by));
    let hash = lanes.iter().zip(rotations).fold(0, sum);
    lanes.iter().fold(hash, |hash, &lane| {
        (hash ^ round(0, lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4)
    })
}

fn round(lane: u64, word: u64) -> u64 {
    let lane = lane.wrapping_add(word.wrapping_mul(PRIME_2));
    lane.rotate_left(31).wrapping_mul(PRIME_1)
}

#[cfg(test)]
mod tests {
    use super::xxhash64;

    #[test]
    fn xxhash64_gives_the_published_values() {
        let all: Vec<u8> = (0..100).collect();
        for (bytes, seed_0, seed_1) in [
            (&b"foo"[..], 3_728_699_739_546_630_719, 14_071_536_367_944_281_277),
            (b"bar", 5_234_164_152_756_840_025, 7_333_723_550_717_575_792),
            (b"foo\nbar", 8_917_841_378_505_826_757, 17_220_693_101_030_355_644),
            (b"lyft", 4_400_747_396_090_729_504, 81_692_559_072_577_057),
            (b"", 17_241_709_254_077_376_921, 15_397_730_242_686_860_875),
            (b"\xff\x00\xfe", 14_485_268_273_754_389_769, 13_346_086_005_443_594_505),
            (&all, 7_692_681_977_284_421_015, 4_402_730_027_071_467_555),
        ] {
            assert_eq!((xxhash64(bytes, 0), xxhash64(bytes, 1)), (seed_0, seed_1), "{bytes:?}");
        }
        // As a list, each value seeds the next.
        assert_eq!(xxhash64(b"bar", xxhash64(b"foo", 0)), 17_745_830_980_996_999_794);
    }
}
