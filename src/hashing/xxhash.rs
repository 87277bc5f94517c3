//! xxHash64 (XXH64), byte for byte: what Envoy hashes keys of hosts and of requests with.
//!
//! Four lanes take 32 bytes at a time; what is left over goes into the merged lanes in words of
//! eight, one of four, and bytes.
//!
//! //= envoy v1.40 source/common/common/hash.h#HashUtil

const PRIME_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME_5: u64 = 0x27D4_EB2F_1656_67C5;

/// The hash of `bytes`.
pub(crate) fn xxhash64(bytes: &[u8], seed: u64) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<32>();
    let merged = if blocks.is_empty() { seed.wrapping_add(PRIME_5) } else { lanes(blocks, seed) };
    avalanche(tail(merged.wrapping_add(bytes.len() as u64), rest))
}

/// The hash of several values, such as those of one header: each is hashed with the hash so far
/// as its seed.
///
/// //= envoy v1.40 source/common/common/hash.h#HashUtil
pub(crate) fn xxhash64_of_list<'a>(parts: impl IntoIterator<Item = &'a [u8]>, seed: u64) -> u64 {
    parts.into_iter().fold(seed, |hash, part| xxhash64(part, hash))
}

/// All whole blocks, in four lanes that are merged in the end.
fn lanes(blocks: &[[u8; 32]], seed: u64) -> u64 {
    let mut lanes = [
        seed.wrapping_add(PRIME_1).wrapping_add(PRIME_2),
        seed.wrapping_add(PRIME_2),
        seed,
        seed.wrapping_sub(PRIME_1),
    ];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = round(*lane, u64::from_le_bytes(*word));
        }
    }
    let turns = [1, 7, 12, 18];
    let sum = |sum: u64, (lane, turn): (&u64, u32)| sum.wrapping_add(lane.rotate_left(turn));
    let merged = lanes.iter().zip(turns).fold(0, sum);
    lanes.iter().fold(merged, |merged, &lane| {
        (merged ^ round(0, lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4)
    })
}

/// What is left over after whole blocks: fewer than 32 bytes.
fn tail(hash: u64, rest: &[u8]) -> u64 {
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
    rest.iter().fold(hash, |hash, &byte| {
        (hash ^ u64::from(byte).wrapping_mul(PRIME_5)).rotate_left(11).wrapping_mul(PRIME_1)
    })
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

fn avalanche(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 33).wrapping_mul(PRIME_2);
    let hash = (hash ^ hash >> 29).wrapping_mul(PRIME_3);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input, hash with seed 0, hash with seed 1.
    const VECTORS: [(&str, u64, u64); 5] = [
        ("foo", 3_728_699_739_546_630_719, 14_071_536_367_944_281_277),
        ("bar", 5_234_164_152_756_840_025, 7_333_723_550_717_575_792),
        ("foo\nbar", 8_917_841_378_505_826_757, 17_220_693_101_030_355_644),
        ("lyft", 4_400_747_396_090_729_504, 81_692_559_072_577_057),
        ("", 17_241_709_254_077_376_921, 15_397_730_242_686_860_875),
    ];

    /// The definition, one byte at a time: a word is read as its bytes come.
    fn naive(bytes: &[u8], seed: u64) -> u64 {
        let word = |at: usize, length: usize| -> u64 {
            bytes[at..at + length].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
        };
        let mul = u64::wrapping_mul;
        let mix = |lane: u64, word: u64| {
            mul((lane.wrapping_add(mul(word, PRIME_2))).rotate_left(31), PRIME_1)
        };
        let (mut at, end) = (0, bytes.len());
        let mut hash = seed.wrapping_add(PRIME_5);
        if end >= 32 {
            let mut a = seed.wrapping_add(PRIME_1).wrapping_add(PRIME_2);
            let (mut b, mut c, mut d) =
                (seed.wrapping_add(PRIME_2), seed, seed.wrapping_sub(PRIME_1));
            while at + 32 <= end {
                a = mix(a, word(at, 8));
                b = mix(b, word(at + 8, 8));
                c = mix(c, word(at + 16, 8));
                d = mix(d, word(at + 24, 8));
                at += 32;
            }
            hash = a.rotate_left(1).wrapping_add(b.rotate_left(7));
            hash = hash.wrapping_add(c.rotate_left(12)).wrapping_add(d.rotate_left(18));
            for lane in [a, b, c, d] {
                hash = mul(hash ^ mix(0, lane), PRIME_1).wrapping_add(PRIME_4);
            }
        }
        hash = hash.wrapping_add(end as u64);
        while at < end {
            if end - at >= 8 {
                hash ^= mix(0, word(at, 8));
                hash = mul(hash.rotate_left(27), PRIME_1).wrapping_add(PRIME_4);
                at += 8;
            } else if end - at >= 4 {
                hash ^= mul(word(at, 4), PRIME_1);
                hash = mul(hash.rotate_left(23), PRIME_2).wrapping_add(PRIME_3);
                at += 4;
            } else {
                hash = mul((hash ^ mul(word(at, 1), PRIME_5)).rotate_left(11), PRIME_1);
                at += 1;
            }
        }
        hash = mul(hash ^ hash >> 33, PRIME_2);
        hash = mul(hash ^ hash >> 29, PRIME_3);
        hash ^ hash >> 32
    }

    //= envoy v1.40 source/common/common/hash.h#HashUtil
    #[test]
    fn known_inputs_have_their_known_hashes() {
        for (input, zero, one) in VECTORS {
            assert_eq!(xxhash64(input.as_bytes(), 0), zero, "{input:?} with seed 0");
            assert_eq!(xxhash64(input.as_bytes(), 1), one, "{input:?} with seed 1");
        }
    }

    //= envoy v1.40 source/common/common/hash.h#HashUtil
    #[test]
    fn a_list_is_hashed_part_by_part() {
        let list = |parts: [&'static str; 2]| xxhash64_of_list(parts.map(str::as_bytes), 0);
        assert_eq!(list(["foo", "bar"]), 17_745_830_980_996_999_794);
        assert_eq!(list(["bar", "foo"]), 6_648_465_492_906_218_751);
        assert_eq!(xxhash64_of_list([], 7), 7, "nothing leaves the seed as it is");
    }

    #[test]
    fn every_length_up_to_a_hundred_is_hashed_as_defined() {
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(157) ^ 0x5A).collect();
        for length in 0..=bytes.len() {
            for seed in [0, 1, 2_654_435_761, u64::MAX] {
                let part = &bytes[..length];
                assert_eq!(xxhash64(part, seed), naive(part, seed), "{length} bytes, seed {seed}");
            }
        }
    }
}
